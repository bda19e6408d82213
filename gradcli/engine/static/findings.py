"""Findings of the abstract run: the place, how certain it is, and the path that led there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.run.execution.operand_notes import Remarks, remarks
from gradcli.engine.run.session.messages import shortened
from gradcli.engine.static.kinds import example
from gradcli.engine.static.value import Link
from gradcli.errors import Diagnostic, GradError, Label
from gradcli.ir import program as ir
from gradcli.source import Span


class Findings:
    """The findings of one walk, in the order in which they were met.

    Fields:
        found: the findings so far.
        silent: nothing is reported while this is positive.
        unsure: how many blocks around the present place may not be reached.
        replaced: true if a tensor may have got data of another shape: all is unknown then.
        way: the calls and turns that lead to the present place, the outermost first.
    """

    def __init__(self, program: ir.Program, given: Mapping[str, Given]) -> None:
        self.source = program.source
        self._program = program
        self._given = given
        self.found: list[Diagnostic] = []
        self.silent = 0
        self.unsure = 0
        self.replaced = False
        self.way: list[str] = []
        self._told: set[tuple[str, int]] = set()

    def tell(
        self,
        code: str,
        message: str,
        span: Span,
        help: str | None = None,
        *,
        severity: str = "error",
        labels: Sequence[Label] = (),
        notes: Sequence[str] = (),
    ) -> None:
        """Take a finding down, each code at a place once."""
        if self.silent or self.replaced or (code, span.start) in self._told:
            return
        self._told.add((code, span.start))
        found = Diagnostic(
            code,
            message,
            self.source,
            span,
            labels=labels,
            notes=(*notes, *shortened(self.way[::-1])),
            help=help,
            severity=severity,
        )
        self.found.append(found)

    def line(self, span: Span) -> str:
        """The line at which a place starts, as `line 3`."""
        return self.source.line_name(span.start)

    def warn(self, code: str, message: str, span: Span, help: str) -> None:
        """Report a warning."""
        self.tell(code, message, span, help, severity="warning")

    def refuse(
        self,
        error: GradError,
        span: Span,
        operands: Sequence[ir.Operand] = (),
        values: Sequence[Any] = (),
    ) -> None:
        """Report a refused operation: an error if the program surely gets there.

        Args:
            error: The error.
            span: Its place.
            operands: The operands there.
            values: The abstract values of the first of these.
        """
        first = error.diagnostics[0]
        said = Remarks(first.message, first.span or span, first.labels, first.help)
        if first.span is None and not first.labels:
            pairs = [(o, example(v)) for o, v in zip(operands, values, strict=False)]
            said = remarks(first, self._program, span, pairs, self._given)
        self.tell(
            first.code,
            said.message,
            said.span,
            said.help,
            severity="warning" if self.unsure else "error",
            labels=said.labels,
            notes=first.notes,
        )

    def tell_flat(self, link: Link) -> None:
        """Report the flat operations on the way to the differentiated result."""
        for name, span in link.flats:
            self.warn(
                "flat-operation",
                f"`{name}` of a differentiated value: the gradient ends here, it is zero",
                span,
                "use a smooth function instead, or detach the value",
            )

    def ask(self, question: Callable[[], Any], span: Span) -> tuple[Any] | None:
        """The answer to a question about shapes, or None if it is refused."""
        try:
            return (question(),)
        except GradError as error:
            self.refuse(error, span)
            return None
