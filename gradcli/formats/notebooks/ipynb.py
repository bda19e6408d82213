"""Read notebooks of Jupyter, format 4 (nbformat.readthedocs.io), as plain JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from gradcli.errors import Diagnostic, ProgramError
from gradcli.formats.notebooks.magics import pass_over
from gradcli.lesson import Lesson, Part, Stored
from gradcli.source import Cell, Span

_RUN = ("%%time",)  # magics of whole cells whose code is run
_PROGRAM = "%%grad"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def is_notebook(text: str) -> bool:
    """True if a text is meant as a notebook."""
    return text.lstrip("\ufeff \t\r\n").startswith("{") and '"nbformat"' in text


def read_notebook(name: str, text: str) -> Lesson:
    """A notebook.

    Raises:
        ProgramError: If it is none of format 4.
    """
    notebook = _notebook(name, text)
    codes: list[str] = []
    texts: list[str] = []
    cells: list[Cell] = []
    passed: list[Span] = []
    parts: list[Part] = []
    at = number = 0
    for raw in notebook["cells"]:
        written = _text(raw, "source")
        if raw.get("cell_type") != "code":
            kind = "text" if raw.get("cell_type") == "markdown" else "raw"
            parts.append(Part(kind, written, 0, (), False))
            continue
        number += bool(written.strip())  # Jupyter does not count empty cells
        kind, code, others = _code(written)
        tags = _field(_field(raw, "metadata", dict), "tags", list)
        stored = tuple(map(_stored, _field(raw, "outputs", list)))
        parts.append(Part(kind, written, number, stored, "raises-exception" in tags))
        if not written.strip():
            continue
        end = "" if code.endswith("\n") else "\n"
        code, written = code + end, written + end
        cells.append(Cell(at, at + len(code), number, f"cell {number}", 1, 0))
        passed += [Span(at + span.start, at + span.end) for span in others]
        codes.append(code)
        texts.append(written)
        at += len(code)
    whole = ("".join(codes), "".join(texts), tuple(cells))
    return Lesson(name, *whole, tuple(parts), tuple(passed), notebook)


def _notebook(name: str, text: str) -> Any:
    try:
        found = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise _refused(f"`{name}` is no notebook: its JSON ends or breaks off", error) from None
    if not isinstance(found, dict) or "nbformat" not in found:
        raise _refused(f"`{name}` is no notebook: it has no `nbformat`")
    if found["nbformat"] != 4:
        help = "`jupyter nbconvert --to notebook` writes format 4"
        raise _refused(f"`{name}` is a notebook of format {found['nbformat']}, not 4", help=help)
    cells = found.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise _refused(f"`{name}` is no notebook: it has no list `cells`")
    return found


def _refused(message: str, error: Exception | None = None, help: str | None = None) -> ProgramError:
    notes = () if error is None else (str(error),)
    return ProgramError(Diagnostic("bad-notebook", message, notes=notes, help=help))


def _field(of: Any, name: str, kind: type[Any]) -> Any:
    """A field of an object in a notebook; an empty one if it is left out.

    Raises:
        ProgramError: If it is of another kind, or `of` is no object.
    """
    if not isinstance(of, dict):
        raise _refused(f"the notebook has {of!r} where format 4 has an object")
    value = of.get(name, kind())
    if not isinstance(value, kind):
        wanted = "an object" if kind is dict else "a list"
        raise _refused(f"`{name}` of a cell of the notebook is {value!r}, not {wanted}")
    return value


def _text(of: Any, name: str) -> str:
    """A field that is a text, or the lines that it is stored as.

    Raises:
        ProgramError: If it is something else.
    """
    value = of.get(name, "")
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    if not isinstance(value, str):
        raise _refused(f"`{name}` of a cell of the notebook is {value!r}, not a text")
    return value


def _code(written: str) -> tuple[str, str, list[Span]]:
    """The kind of a cell, its code with all that is no Python left out, and the places of that."""
    first = written.lstrip().partition("\n")[0]
    if first.startswith("%%") and first.split()[0] not in _RUN:
        blank = re.sub(r"[^\r\n]", " ", written)
        if first.split()[0] == _PROGRAM:
            return "program", blank, []
        return "passed", blank, [Span(0, len(written.rstrip()))]
    code, passed = pass_over(written)
    return "code", code, passed


def _stored(output: Any) -> Stored:
    data = _field(output, "data", dict)
    kind = output.get("output_type")
    if kind == "stream":
        return Stored(
            "other" if output.get("name") == "stderr" else "stream", _text(output, "text")
        )
    if kind == "error":
        return Stored("error", f"{output.get('ename', '')}: {output.get('evalue', '')}")
    if kind == "execute_result" and "text/plain" in data:
        return Stored("result", _COLOURS.sub("", _text(data, "text/plain")))
    return Stored("other", "")
