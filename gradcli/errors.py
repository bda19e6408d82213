"""Diagnostics, the kinds of errors and their exit statuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gradcli.record import Record
from gradcli.source import Source, Span


class Label(Record):
    """A remark on a stretch of the program beside the main one."""

    __slots__ = ("span", "text")
    span: Span
    text: str


class Diagnostic(Record):
    """One finding: a stable code, what is wrong, where, and the way out.

    ``message``, label texts, ``notes`` and ``help`` are lower case, without a full stop, names in
    backticks. ``span`` is None where there is no place, as for usage; ``label`` is the remark
    under the caret, or empty.
    """

    __slots__ = (
        "code",
        "help",
        "label",
        "labels",
        "message",
        "notes",
        "severity",
        "source",
        "span",
    )
    code: str
    message: str
    source: Source | None
    span: Span | None
    label: str
    labels: tuple[Label, ...]
    notes: tuple[str, ...]
    help: str | None
    severity: str

    def __init__(
        self,
        code: str,
        message: str,
        source: Source | None = None,
        span: Span | None = None,
        *,
        label: str = "",
        labels: Sequence[Label] = (),
        notes: Sequence[str] = (),
        help: str | None = None,
        severity: str = "error",
    ) -> None:
        self.code = code
        self.message = message
        self.source = source
        self.span = span
        self.label = label
        self.labels = tuple(labels)
        self.notes = tuple(notes)
        self.help = help
        self.severity = severity

    @property
    def place(self) -> tuple[str, int, int] | None:
        """Source name, line and column (from 1), or None where there is no place."""
        if self.source is None or self.span is None:
            return None
        return self.source.place(self.span.start)

    def __str__(self) -> str:
        """The message behind its place."""
        where = "" if self.place is None else f"{':'.join(map(str, self.place))}: "
        return f"{where}{self.message}"

    def __repr__(self) -> str:
        return f"<{self.severity}[{self.code}] {self}>"


class ErrorText(str):
    """A text that a program prints to standard error."""

    __slots__ = ()


class GradError(Exception):
    """Base of everything gradcli refuses. Carries one or more diagnostics and an exit status.

    `raises` is the exception of Python that a handler in the program sees, or its class; None: the
    diagnostic's code tells the class.
    """

    status = 70
    raises: Exception | type[Exception] | None = None

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))


class AssertionFailed(GradError):
    """The program's own `assert` was false."""

    status = 1


class UsageError(GradError):
    """An option, an argument, a name in --wrt or --of, a file that cannot be read or written."""

    status = 2


class ProgramError(GradError):
    """The program was refused before running: syntax, names, arity."""

    status = 3


class InputError(GradError):
    """A value from outside is missing, unknown, malformed or of the wrong type or shape."""

    status = 4


class RunError(GradError):
    """The program failed while running: shapes, types, values, autograd's rules.

    The engine raises it from wherever it finds the fault, often without a place; the executor
    fills in the place of the op that was running.
    """

    status = 5


class LimitError(GradError):
    """A limit on steps, time, memory or depth was reached.

    `last` has notes on what the program's variables were then.
    """

    status = 6
    last: tuple[str, ...] = ()


class DepthError(LimitError):
    """Calls are within each other more deeply than they may be: the one limit that a program can
    catch, as Python's `RecursionError`.
    """


def run_error(
    code: str,
    message: str,
    *,
    notes: Sequence[str] = (),
    help: str | None = None,
    raises: Exception | type[Exception] | None = None,
) -> RunError:
    """A run-time error without a place yet: what the engine's rooms raise.

    Args:
        code: The diagnostic's code.
        message: The message for a person.
        notes: Further lines under it.
        help: The way out.
        raises: What a handler of the program sees, if the code does not tell: an exception of
            Python with the words that Python has, or a class, which gets the message.
    """
    error = RunError(Diagnostic(code, message, notes=notes, help=help))
    error.raises = raises
    return error


def nearest(
    name: str, known: Iterable[str], fits: Callable[[str], bool] | None = None
) -> str | None:
    """A help line for a name that is not there: "did you mean", or None where none is near: a name
    of up to four letters is one slip away, a longer one two, one of nine letters three. Case, and
    dashes before options, do not count.

    Args:
        name: The name.
        known: Those that are there.
        fits: Whether one of them may stand at this place; asked of near ones only.
    """
    bare = {k.lstrip("-"): k for k in sorted(known) if k != name}
    wanted = name.lstrip("-")
    most = 1 if len(wanted) <= 4 else 2 if len(wanted) <= 8 else 3
    letters = set(wanted.lower())
    alike = (  # a slip changes a letter for another at most
        k
        for k in bare
        if abs(len(k) - len(wanted)) <= most
        and len(letters.symmetric_difference(k.lower())) <= 2 * most
    )
    apart = {k: slips(wanted.lower(), k.lower()) for k in alike}
    lengths = {k: max(len(k), len(wanted)) + _is_start(k, wanted) for k in apart}
    near = [k for k, n in apart.items() if n <= most and 2 * n < lengths[k]]
    near.sort(key=lambda k: (apart[k], _unlikely(wanted, k)))
    found = next((bare[k] for k in near if fits is None or fits(bare[k])), None)
    return None if found is None else f"did you mean `{found}`?"


def _is_start(a: str, b: str) -> bool:
    return a.startswith(b) or b.startswith(a)


def _unlikely(wanted: str, known: str) -> int:
    """An order of names that are as near: swapped letters first, then where one is the start of the
    other, then the same first letter.
    """
    if sorted(wanted) == sorted(known):
        return 0
    if _is_start(known, wanted):
        return 1
    return 2 if known[:1] == wanted[:1] else 3


def slips(a: str, b: str) -> int:
    """The number of letters left out, put in, wrong or swapped with the next: the optimal string
    alignment distance.
    """
    above: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, before, row = row, above, [i]
        for j, y in enumerate(b, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
    return row[-1]


def counted(n: int, noun: str) -> str:
    """A number with its noun: `1 argument`, `2 arguments`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def listed(names: Sequence[str]) -> str:
    """Names in backticks: "`a`, `b` and `c`"."""
    *before, last = [f"`{name}`" for name in names]
    return f"{', '.join(before)} and {last}" if before else last
