"""Where a command's result goes, and in which form."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from gradcli.cli.failures import unwritable, usage
from gradcli.cli.terminal import is_terminal, wants_colour, width, write_output

if TYPE_CHECKING:
    from gradcli.render.text import Line

_WIDTH = 80  # where no terminal says
_TEXT_FORMS = frozenset({"human", "plain", "raw", "tree"})  # of one suffix, .txt
_JSON_FORMS = frozenset({"json", "ndjson"})


class Target(NamedTuple):
    """A form, the value of an option or a suffix, and a file, or None for standard output."""

    form: str
    path: str | None
    color: str

    def write(self, content: str | bytes) -> None:
        """Write the whole of a result, or the last of what goes to standard output."""
        if self.path is None:
            assert isinstance(content, str)
            write_output(content)
            return
        if isinstance(content, str):
            content = content.encode("utf-8", "backslashreplace")
        from gradcli.formats.file import write_atomically

        with self._named():
            write_atomically(self.path, content)

    @contextmanager
    def stream(self) -> Iterator[Callable[[str], None]]:
        """A function that writes a piece of a result: at once to standard output; a file is there
        when the work inside has ended, and as before if it fails.
        """
        if self.path is None:
            yield write_output
            return
        from gradcli.formats.file import replacing

        with self._named(), replacing(self.path) as file:

            def write(text: str) -> None:
                file.write(text.encode("utf-8", "backslashreplace"))

            yield write

    @contextmanager
    def _named(self) -> Iterator[None]:
        """What fails inside fails for this target's file."""
        try:
            yield
        except OSError as error:
            raise unwritable(f"`{self.path}`", error.strerror or str(error)) from None

    def draw(self, lines: list[Line]) -> str:
        """Lines as the text to write, coloured if the target takes colour."""
        from gradcli.render.theme import text_of

        colour = self.path is None and wants_colour(sys.stdout, self.color)
        return text_of(lines, colour=colour)

    @property
    def width(self) -> int:
        """Cells in a line of what is drawn for people."""
        return width(None if self.path else sys.stdout, _WIDTH)


def choose(
    form: str,
    *,
    json: bool,
    raw: bool = False,
    output: str | None,
    color: str,
    suffixes: Mapping[str, str],
) -> Target:
    """The target that the options ask for.

    Args:
        form: Value of --format.
        json: Whether --json was given.
        raw: Whether --raw was given.
        output: The file of --output.
        color: Value of --color.
        suffixes: The form that each known suffix of a file stands for.

    Raises:
        UsageError: If the options contradict each other or the suffix is unknown.
    """
    asked = {"json": "--json"} if json else {}
    if raw:
        asked["raw"] = "--raw"
    if form != "auto":
        asked[form] = f"--format {form}"
    if len(asked) > 1:
        first, second, *_ = asked.values()
        raise usage(f"`{first}` and `{second}` exclude each other")
    chosen = next(iter(asked), "auto")
    if output is None:
        return Target(chosen, None, color)
    suffix = os.path.splitext(output)[1].lower()
    if suffix not in suffixes:
        raise usage(
            f"`{output}` does not say what to write: its suffix is "
            + (f"`{suffix}`" if suffix else "missing"),
            f"known suffixes are {', '.join(suffixes)}",
        )
    fits = any(
        chosen in forms and suffixes[suffix] in forms for forms in (_TEXT_FORMS, _JSON_FORMS)
    )
    if chosen not in ("auto", suffixes[suffix]) and not fits:
        raise usage(f"`{asked[chosen]}` does not go with a file named `{output}`")
    return Target(chosen if fits else suffixes[suffix], output, color)


def resolve_auto(target: Target) -> Target:
    """The target with `auto` decided: human on a terminal, plain elsewhere."""
    if target.form != "auto":
        return target
    return target._replace(form="human" if is_terminal(sys.stdout) else "plain")


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
