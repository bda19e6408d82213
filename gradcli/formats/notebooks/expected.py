"""Compare what the cells of a lesson give with the outputs that its file has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradcli.errors import Diagnostic
from gradcli.lesson import Lesson, Part, Stored
from gradcli.record import Record
from gradcli.source import Span
from gradcli.views import CellResult, NotebookResult

_MASKS = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"<function __main__\.([\w.<>]+)\(.*?\)>", r"<function \1>"),
        (r"<function ([\w.<>]+) at 0x[0-9a-fA-F]+>", r"<function \1>"),
        (r"<(?:__main__\.)?([\w.]+)(?: object)? at 0x[0-9a-fA-F]+>", r"<\1>"),
        (r"\b0x[0-9a-fA-F]{4,}\b", "0x..."),
        (r"\b\d+(?:\.\d+)?(?:e[-+]?\d+)? ?(?:ns|µs|μs|us|ms|s|sec|secs|seconds|min)\b", "(time)"),
        (r"\b\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\b", "(time)"),
    )
)
_PICTURE = re.compile(r"\[?<(matplotlib|mpl_toolkits|Figure|graphviz|Axes)|Text\(|\(?array\(\[<")

_ARRAY = re.compile(r"\b[Aa]rray\(|^\s*\[|\bnp\.\w+\(", re.MULTILINE)
_AS_NUMBERS = (
    "an array of NumPy or JAX is shown as a tensor here: print its numbers, as in "
    '`x.tolist()`, `float(x)` or `f"{x:.4f}"`'
)


class Comparison(Record):
    """A comparison of outputs.

    Fields:
        agree: The number of cells whose outputs agree.
        without: The number of cells that ran and have no stored output to compare.
        differences: A message for each cell whose outputs differ.
    """

    __slots__ = ("agree", "without", "differences")
    agree: int
    without: int
    differences: tuple[Diagnostic, ...]


def compared(lesson: Lesson, result: NotebookResult) -> Comparison:
    """The comparison of a run with the stored outputs. Addresses and times are masked."""
    parts = {part.number: part for part in lesson.parts if part.kind in ("code", "program")}
    agree, without, differences = 0, 0, []
    for cell in result.cells:
        part = parts.get(cell.number)
        stored = () if part is None else tuple(filter(_is_compared, part.stored))
        if part is None or not stored:
            without += 1
            continue
        is_page, pictured = lesson.notebook is None, len(stored) < len(part.stored)
        found = list(_differing(stored, cell, together=is_page, pictured=pictured))
        agree += not found
        if found:
            differences.append(_difference(lesson, part, found))
    return Comparison(agree, without, tuple(differences))


def _is_compared(output: Stored) -> bool:
    return output.kind != "other" and not (
        output.kind == "result" and _PICTURE.match(output.text.strip())
    )


def _differing(
    stored: tuple[Stored, ...], cell: CellResult, *, together: bool, pictured: bool
) -> Iterator[tuple[str, str]]:
    """Pairs of texts, stored and new, that differ.

    Args:
        stored: The outputs that are compared.
        cell: The new ones.
        together: True if what a cell prints and shows is stored as one text, as in a page.
        pictured: True if there are others, such as a picture in place of a value's text.
    """
    texts = {
        kind: "".join(o.text for o in stored if o.kind == kind) for kind in ("stream", "result")
    }
    new = {"stream": cell.printed, "result": cell.shown}
    if together:
        texts, new = {"result": texts["result"]}, {"result": cell.printed + cell.shown}
    for kind, text in texts.items():
        if any(o.kind == kind for o in stored) or new[kind].strip():
            before, now = _masked(text), _masked(new[kind])
            if before != now and not (kind == "result" and pictured and not text):
                yield before, now
    failed = [o.text for o in stored if o.kind == "error"]
    if bool(failed) != (cell.error is not None):
        yield failed[0] if failed else "", str(cell.error.message) if cell.error else ""


def _masked(text: str) -> str:
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def _difference(lesson: Lesson, part: Part, found: list[tuple[str, str]]) -> Diagnostic:
    notes = []
    for before, now in found:
        old, new = before.split("\n"), now.split("\n")
        at = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
        at = min(len(old), len(new)) if at is None else at
        where = f" in line {at + 1}" if max(len(old), len(new)) > 1 else ""
        notes.append(f"stored{where}: {_line(old, at)}\nnow{where}: {_line(new, at)}")
    message = f"the output of cell {part.number} is not the stored one"
    cell = next(cell for cell in lesson.cells if cell.number == part.number)
    code = lesson.text[cell.start : cell.end]
    begin = cell.start + len(code) - len(code.lstrip())
    last = lesson.text.rstrip().rfind("\n", begin, cell.start + len(code.rstrip())) + 1
    span = Span(max(last, begin), max(cell.start + len(code.rstrip()), begin))
    help = _AS_NUMBERS if any(_is_another_array(*pair) for pair in found) else None
    return Diagnostic("output-differs", message, lesson, span, notes=notes, help=help)


def _is_another_array(before: str, now: str) -> bool:
    """True if an array of NumPy or JAX is stored where a tensor is shown: `array([1.])`, or bare
    brackets as `print` writes them.
    """
    if "tensor(" not in now or "tensor(" in before:
        return False
    return bool(_ARRAY.search(before))


def _line(lines: list[str], at: int) -> str:
    return lines[at] if at < len(lines) and lines[at] else "(nothing)"
