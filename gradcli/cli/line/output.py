"""Where a command's result goes, and in which form."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gradcli.cli.line.options import PRECISION, Line
from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.cli.terminal.terminal import (
    is_terminal,
    print_output,
    wants_colour,
    width,
    write_output,
)
from gradcli.formats.writers.forms import FORMS, Parts, fits, suffixes
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.render.text import Line as Drawn

_WIDTH = 80  # where no terminal says
_DRAWN = ("human", "plain", "tree")  # forms that may have colours of their own


class Target(Record):
    """A form, the value of an option or a suffix, and a file, or None for standard output."""

    __slots__ = ("form", "path", "color")
    form: str
    path: str | None
    color: str

    def whole(self, parts: Parts) -> str | bytes:
        """A result as a whole, in a form that is not drawn for people."""
        writer = FORMS[self.form].whole
        assert writer is not None, f"`{self.form}` is drawn"
        return writer(parts, self.path or "")

    def write(self, content: str | bytes) -> None:
        """Write the whole of a result, or the last of what goes to standard output."""
        if self.path is None:
            assert isinstance(content, str)
            self._written(content)
            return
        if isinstance(content, str):
            content = content.encode("utf-8", "backslashreplace")
        from gradcli.formats.texts.file import write_atomically

        with self._named():
            write_atomically(self.path, content)

    @contextmanager
    def stream(self) -> Iterator[Callable[[str | bytes], None]]:
        """A function that writes a piece of a result: at once to standard output; a file is there
        when the work inside has ended, and as before if it fails.
        """
        if self.path is None:
            yield self._written
            return
        from gradcli.formats.texts.file import replacing

        with self._named(), replacing(self.path) as file:

            def write(piece: str | bytes) -> None:
                if isinstance(piece, str):
                    piece = piece.encode("utf-8", "backslashreplace")
                file.write(piece)

            yield write

    def _written(self, text: str | bytes) -> None:
        """Write to standard output."""
        assert isinstance(text, str), "files alone are of bytes"
        (write_output if self.form in _DRAWN else print_output)(text)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """What fails inside fails for this target's file."""
        try:
            yield
        except OSError as error:
            raise unwritable(f"`{self.path}`", error.strerror or str(error)) from None

    def draw(self, lines: list[Drawn]) -> str:
        """Lines as the text to write, coloured if the target takes colour."""
        from gradcli.render.theme import text_of

        colour = self.path is None and wants_colour(sys.stdout, self.color)
        return text_of(lines, colour=colour)

    @property
    def width(self) -> int:
        """Cells in a line of what is drawn for people."""
        return self.terminal or _WIDTH

    @property
    def terminal(self) -> int | None:
        """Cells in a line of the terminal that is drawn on, None where there is none."""
        return width(None if self.path else sys.stdout)


def choose(line: Line, forms: Sequence[str]) -> Target:
    """The target that a command line asks for.

    Args:
        line: What it asks for.
        forms: The forms of the command.

    Raises:
        UsageError: If the options contradict each other or the suffix is unknown.
    """
    target = _chosen(line, forms)
    form = target.form
    if form == "auto" and "plain" in forms and (target.path or not is_terminal(sys.stdout)):
        form = "plain"
    if form in FORMS and FORMS[form].whole and line.precision != PRECISION and not line.graph:
        help = "`-f human` shows what `--precision` rounds"
        raise usage(f"`--precision` does not go with {form} output, which has all digits", help)
    return target


def _chosen(line: Line, forms: Sequence[str]) -> Target:
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
        return Target(chosen, None, line.color)
    from gradcli.formats.texts.file import name_fault

    fault = name_fault(path)
    if fault is not None:
        raise unwritable(f"`{path}`", fault)
    suffix = os.path.splitext(path)[1].lower()
    known = suffixes(forms)
    if suffix not in known:
        raise usage(
            f"`{path}` does not say what to write: its suffix is "
            + (f"`{suffix}`" if suffix else "missing"),
            f"known suffixes are {', '.join(known)}",
        )
    if chosen == "auto":
        return Target(known[suffix], path, line.color)
    if not fits(chosen, suffix):
        raise usage(f"`{asked[chosen]}` does not go with a file named `{path}`")
    return Target(chosen, path, line.color)


def resolve_auto(target: Target) -> Target:
    """The target with `auto` decided: human on a terminal, plain elsewhere."""
    if target.form != "auto":
        return target
    form = "human" if is_terminal(sys.stdout) else "plain"
    return Target(form, target.path, target.color)


class Echo:
    """Takes the texts that a program prints and hands them on.

    `begun` tells whether there was one, `unfinished` whether the last line still wants its end.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self.begun = False
        self.unfinished = False

    def __call__(self, text: str) -> None:
        if text:
            self.begun = True
            self.unfinished = not text.endswith("\n")
            self._write(text)
