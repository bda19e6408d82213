"""Diagnostics on standard error, in the form that was asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from gradcli.cli.terminal.terminal import wants_colour, width, write_message
from gradcli.errors import Diagnostic
from gradcli.record import Record

_MOST_ERRORS = 5  # errors that a person is shown at once


class Telling(Record):
    """Writes messages to standard error.

    Fields:
        quiet: True if only errors are written.
        form: "full", "concise" or "json".
        color: "auto", "always" or "never".
    """

    __slots__ = ("quiet", "form", "color")
    quiet: bool
    form: str
    color: str

    def report(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Write diagnostics."""
        report(diagnostics, form=self.form, color=self.color)

    def warn(self, warnings: Iterable[Diagnostic]) -> None:
        """Write warnings, unless `quiet`."""
        if not self.quiet:
            self.report(warnings)


def report_failure(errors: Sequence[Diagnostic], *, form: str, color: str) -> None:
    """Write the errors that end a command. The full form shows the first ones and counts the
    others.
    """
    shown = errors[:_MOST_ERRORS] if form == "full" else errors
    report(shown, form=form, color=color)
    if len(shown) < len(errors):
        more = len(errors) - len(shown)
        write_message(f"\nand {more} more error{'s' * (more > 1)}\n")


def report_ending(errors: Sequence[Diagnostic], arguments: Sequence[str]) -> None:
    """Write the errors that end a command as its arguments ask for."""
    report_failure(
        errors,
        form=option_value(arguments, "--diagnostics", ("full", "concise", "json")),
        color=option_value(arguments, "--color", ("auto", "always", "never")),
    )


def report(diagnostics: Iterable[Diagnostic], *, form: str, color: str) -> None:
    """Write each diagnostic: `form` is full, concise or json, `color` auto, always or never."""
    diagnostics = tuple(diagnostics)
    if not diagnostics:
        return
    if form == "json":
        from gradcli.formats.texts.json_text import diagnostic_json

        write_message("".join(f"{diagnostic_json(d)}\n" for d in diagnostics))
        return
    from gradcli.render.diagnostic import concise, full
    from gradcli.render.theme import text_of

    colour = wants_colour(sys.stderr, color)
    room = width(sys.stderr)
    told: set[str] = set()
    for number, diagnostic in enumerate(diagnostics):
        new = room is not None and diagnostic.code not in told
        told.add(diagnostic.code)
        more = f"gradcli explain {diagnostic.code}" if new else None
        lines = concise(diagnostic) if form == "concise" else full(diagnostic, room, more)
        if number and form == "full":
            lines.insert(0, [])
        write_message(text_of(lines, colour=colour))


def option_value(arguments: Sequence[str], name: str, values: Sequence[str]) -> str:
    """The value of the option `name` in the command line, the first of `values` if it has none.

    Errors may occur before and while options are parsed, so their form is looked up here.
    """
    found = values[0]
    for index, argument in enumerate(arguments):
        if argument == "--":
            break
        following = arguments[index + 1] if index + 1 < len(arguments) else ""
        text = following if argument == name else argument.removeprefix(f"{name}=")
        if text != argument and text in values:
            found = text
    return found
