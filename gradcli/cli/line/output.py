"""Decide where a command's result goes, and in which form."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gradcli.cli.line.options import FIELDS, PRECISION, Line
from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.cli.terminal.terminal import (
    is_terminal,
    print_bytes,
    print_message,
    print_output,
    wants_colour,
    width,
    write_output,
)
from gradcli.errors import ErrorText
from gradcli.formats.writers.forms import FORMS, VIEWS, fits, parts_of, suffixes
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.render.text import Line as Drawn
    from gradcli.results import Answer, Look
    from gradcli.source import Source

_WIDTH = 80  # without a terminal
_DRAWN = ("human", "plain", "tree")  # forms that may be coloured


class Target(Record):
    """A form of output and a file, or None for standard output."""

    __slots__ = ("form", "path", "color")
    form: str
    path: str | None
    color: str

    @property
    def is_for_person(self) -> bool:
        """True if the form is for people only."""
        return self.form == "human"

    @property
    def is_text(self) -> bool:
        """True if the form consists of lines of text."""
        return FORMS[self.form].room == "around"

    def content(self, result: Answer, look: Look) -> str | bytes:
        """The text or bytes of all views of a result that have the form."""
        views = [VIEWS[name] for name in result.views if self.form in VIEWS[name].forms]
        drawn = [view.name for view in views if self.form in view.drawn]
        whole = FORMS[self.form].whole
        content = [
            whole(parts_of(view.name, result, look), self.path or "")
            for view in views
            if whole is not None and view.name not in drawn
        ]
        if drawn:
            from gradcli.render import looks

            found = looks.drawn(result, drawn, self.form, look)
            content.append(self.draw(found) if isinstance(found, list) else found)
        texts = [part for part in content if isinstance(part, str)]
        return "".join(texts) if texts else content[0]

    def write(self, content: str | bytes) -> None:
        """Write a whole result, or the last part of one to standard output."""
        if self.path is None:
            self._written(content)
            return
        if isinstance(content, str):
            content = content.encode("utf-8", "backslashreplace")
        from gradcli.formats.files.compressed import Packer
        from gradcli.formats.files.places import putting

        packer = Packer(self.path)
        with self._named(), putting(self.path) as file:
            file.write(packer.add(content) + packer.end())

    @contextmanager
    def stream(self) -> Iterator[Callable[[str | bytes], None]]:
        """A function that writes a piece of a result. Standard output gets it at once; a file is
        replaced when the block ends, and stays unchanged if it fails.
        """
        if self.path is None:
            yield self._written
            return
        from gradcli.formats.files.compressed import Packer
        from gradcli.formats.files.places import putting

        packer = Packer(self.path)
        with self._named(), putting(self.path) as file:

            def write(piece: str | bytes) -> None:
                if isinstance(piece, str):
                    piece = piece.encode("utf-8", "backslashreplace")
                file.write(packer.add(piece))

            yield write
            file.write(packer.end())

    def _written(self, text: str | bytes) -> None:
        """Write to standard output."""
        if isinstance(text, bytes):
            print_bytes(text)
            return
        (write_output if self.form in _DRAWN else print_output)(text)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Turn an OSError into an error that names this target."""
        try:
            yield
        except OSError as error:
            raise unwritable(f"`{self.path}`", error.strerror or str(error)) from None

    def draw(self, lines: list[Drawn]) -> str:
        """Lines as text to write, coloured if the target has colours."""
        from gradcli.render.theme import text_of

        colour = self.path is None and wants_colour(sys.stdout, self.color)
        return text_of(lines, colour=colour)

    @property
    def width(self) -> int:
        """Cells in a line of output for people."""
        return self.terminal or _WIDTH

    @property
    def terminal(self) -> int | None:
        """Cells in a line of the terminal; None without one."""
        return width(None if self.path else sys.stdout)


def look(line: Line, target: Target, source: Source | None = None) -> Look:
    """Settings for showing a result."""
    from gradcli.results import Look

    asked = {name: getattr(line, name) for name in Look._fields if name in FIELDS}
    return Look(width=target.width, terminal=target.terminal, source=source, **asked)


def choose(line: Line) -> Target:
    """The target of a command line.

    Raises:
        UsageError: If the options contradict each other or the suffix is unknown.
    """
    target, forms = _chosen(line), line.forms
    form = target.form
    if form == "auto" and "plain" in forms and (target.path or not is_terminal(sys.stdout)):
        form = "plain"
    is_whole = form in FORMS and FORMS[form].whole and form not in line.drawn
    if is_whole and line.precision != PRECISION and not line.graph:
        help = "`-f human` shows what `--precision` rounds"
        raise usage(f"`--precision` does not go with {form} output, which has all digits", help)
    return target


def _chosen(line: Line) -> Target:
    asked = {"json": "--json"} if line.json else {}
    if line.raw:
        asked["raw"] = "--raw"
    if line.form != "auto":
        asked[line.form] = f"--format {line.form}"
    if len(asked) > 1:
        first, second, *_ = asked.values()
        raise usage(f"`{first}` and `{second}` exclude each other")
    chosen, path = next(iter(asked), "auto"), line.output
    if path is None:
        if chosen in ("parquet", "arrow"):
            raise usage(f"{chosen} is no text", f"`-o FILE.{chosen}` writes a file")
        return Target(chosen, None, line.color)
    from gradcli.formats.texts.file import name_fault

    fault = name_fault(path)
    if fault is not None:
        raise unwritable(f"`{path}`", fault)
    if line.rows:
        from gradcli.formats.files.places import is_folder

        if is_folder(path):
            return Target(chosen, path, line.color)  # a file for each part of the rows
    from gradcli.formats.files.compressed import bare_name

    suffix = os.path.splitext(bare_name(path))[1].lower()
    known = suffixes(line.forms)
    if not suffix and chosen in FORMS and FORMS[chosen].suffix in known:
        return Target(chosen, path, line.color)  # `-f` says what to write
    if suffix not in known:
        raise usage(
            f"`{path}` does not say what to write: its suffix is "
            + (f"`{suffix}`" if suffix else "missing"),
            f"known suffixes are {', '.join(known)}" + ("" if suffix else "; or give `-f`"),
        )
    if chosen == "auto":
        return Target(known[suffix], path, line.color)
    if not fits(chosen, suffix):
        raise usage(f"`{asked[chosen]}` does not go with a file named `{path}`")
    return Target(chosen, path, line.color)


def decided(target: Target, forms: tuple[str, ...]) -> Target:
    """The target with `auto` replaced: by the first form on a terminal, by `plain` elsewhere."""
    if target.form != "auto":
        return target
    plain = "plain" in forms and not is_terminal(sys.stdout)
    return Target("plain" if plain else forms[0], target.path, target.color)


class Echo:
    """Passes on the texts that a program prints.

    `begun` is true once there was one, `unfinished` while the last line has no end.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self.begun = False
        self.unfinished = False

    def __call__(self, text: str) -> None:
        if isinstance(text, ErrorText):
            print_message(text)
        elif text:
            self.begun = True
            self.unfinished = not text.endswith("\n")
            self._write(text)
