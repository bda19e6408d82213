"""Faults in the text, by offsets, and the codes that they bear. The parser adds the source."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.errors import Diagnostic, Label, ProgramError
from gradcli.source import Source, Span

CODES = {
    "bad-assignment": "the left side of `=` is nothing that can be assigned",
    "bad-attribute": "an attribute that no value has",
    "bad-character": "a character that no program holds",
    "bad-class": "a class that is no own differentiable function",
    "bad-context": "`with` of anything but `no_grad()` and `enable_grad()`",
    "bad-declaration": "an `input` or `param` in the wrong place, twice, or of an unknown type",
    "bad-decorator": "a decorator that means nothing here",
    "bad-encoding": "bytes that are not UTF-8 text",
    "bad-import": "an import of a module that is not there",
    "bad-indent": "a line whose indentation fits no block",
    "bad-number": "a number that cannot be read or held",
    "bad-operand": "an operand that the operator can never take",
    "bad-string": "a string that is not closed or holds an unknown escape",
    "builtin-as-value": "a built-in function where a value is needed",
    "duplicate-name": "a parameter or keyword that is given twice",
    "misplaced-statement": "a `break`, `continue` or `return` outside its loop or function",
    "nested-too-deep": "more levels of expressions or blocks than a program may have",
    "not-callable": "a call of something that is no function",
    "syntax-error": "text that is no program",
    "unclosed-bracket": "a bracket without its partner",
    "unknown-name": "a name that is never given a value",
    "unsupported": "a part of Python that is no part of the language",
    "used-before-assigned": "a name that is read before anything is assigned to it",
    "wrong-arity": "a call with too many, too few or unknown arguments",
}
"""Every code that this package's diagnostics bear, with what it is about."""


class Fault(Exception):
    """A fault in the text, at the offsets from `start` to `end`."""

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
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = Span(start, end)
        self.label = label
        self.labels = labels
        self.notes = notes
        self.help = help

    def error(self, source: Source) -> ProgramError:
        """The error to raise, with the source in which the offsets are."""
        return ProgramError(
            Diagnostic(
                self.code,
                self.message,
                source,
                self.span,
                label=self.label,
                labels=self.labels,
                notes=self.notes,
                help=self.help,
            )
        )
