"""Faults by their offsets in the text; the parser adds the source."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.errors import Diagnostic, Label, ProgramError
from gradcli.source import Source, Span


class Fault(Exception):
    """A fault in the text from offset `start` to `end`. `instead` is a span and the text that would
    correct it, if that is known.
    """

    def __init__(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        *,
        label: str = "",
        labels: Sequence[Label] = (),
        notes: Sequence[str] = (),
        help: str | None = None,
        instead: tuple[Span, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = Span(start, end)
        self.label = label
        self.labels = labels
        self.notes = notes
        self.help = help
        self.instead = instead

    def diagnostic(self, source: Source) -> Diagnostic:
        """The diagnostic of the fault in its source."""
        return Diagnostic(
            self.code,
            self.message,
            source,
            self.span,
            label=self.label,
            labels=self.labels,
            notes=self.notes,
            help=self.help,
        )

    def error(self, source: Source) -> ProgramError:
        """The error to raise, with the source in which the offsets are."""
        return ProgramError(self.diagnostic(source))
