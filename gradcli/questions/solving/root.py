"""The point at which results are zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import Data, np
from gradcli.errors import AssertionFailed, Diagnostic, InputError, RunError, UsageError
from gradcli.ir.program import Program
from gradcli.models.counted import INTERRUPTED
from gradcli.models.minimum import MOST
from gradcli.models.zero import Local, Search, between, is_singular, zero
from gradcli.questions.asked.request import Options
from gradcli.questions.solving.unknowns import Unknowns, by_names, flat_blocks
from gradcli.record import Record
from gradcli.views import RootResult


class Asked(Record):
    """What `root` is asked.

    Fields:
        wrt: The unknowns; None for the names that `grad` takes.
        of: The names of the results; [None] for that of the program.
        between: Two values of the only unknown, at which the result has different signs; None for
            a search from the start.
        starts: How many starts are tried.
        sensitivity: The inputs by which the answer's movement is asked.
        most: The most evaluations of one search; None for 200 (n + 1).
        start: Values of unknowns to begin at, in place of those given.
    """

    __slots__ = ("wrt", "of", "between", "starts", "sensitivity", "most", "start")
    wrt: Sequence[str] | None
    of: Sequence[str | None]
    between: tuple[float, float] | None
    starts: int
    sensitivity: Sequence[str]
    most: int | None
    start: Mapping[str, Any]


def root(program: Any, given: Mapping[str, Given], asked: Asked, options: Options) -> RootResult:
    """The point at which results of the program are zero.

    Raises:
        GradError: If the program fails at the start, or has not as many results as unknowns.
        UsageError: If SciPy is not installed.
    """
    unknowns = Unknowns(program, given, asked.wrt, asked.of[0], options)
    function, others = _Function(unknowns, asked), unknowns.others(asked.sensitivity)
    width = unknowns.layout.width
    results = len(function(unknowns.start).residuals)
    if results != width:
        message = f"{results} results cannot tell {width} unknowns: {', '.join(unknowns.names)}"
        help = "choose as many by --wrt, or name results by --of f,g"
        raise InputError(Diagnostic("shape-mismatch", message, help=help))
    labels, most = unknowns.layout.labels, asked.most or MOST * (width + 1)
    if asked.between is not None:
        if width != 1:
            message = f"--between brackets one unknown, and there are {width}"
            raise UsageError(Diagnostic("usage", message, help="choose one by --wrt"))
        ends = [between(function, *asked.between, most, labels[0])]
    else:
        first = unknowns.beginning(asked.start)
        none = np.full(width, np.inf)
        points = [first, *unknowns.starts(asked.starts, options.seed, -none, none)[1:]]
        ends = []
        for point in points:
            ends.append(zero(function, point, most, labels))
            if ends[-1].reason == INTERRUPTED:
                break
    is_stopped = ends[-1].reason == INTERRUPTED
    best = min(ends, key=lambda end: (bool(end.reason), float(np.linalg.norm(end.local.residuals))))
    best = best._replace(reason=INTERRUPTED) if is_stopped else best
    reached = sum(not end.reason for end in ends)
    return _result(unknowns, asked, best, reached, function, others)


def bracketed(
    program: Program,
    given: dict[str, Given],
    wrt: list[str] | None,
    ends: tuple[float, float],
) -> tuple[dict[str, Given], list[str] | None]:
    """The inputs and the unknown of a bracket: the only input without a value is in its middle."""
    missing = [i.name for i in program.inputs if i.is_missing(given)]
    if len(missing) != 1 or wrt not in (None, missing):
        return given, wrt
    return {**given, missing[0]: Given(sum(ends) / 2, missing[0])}, missing


class _Function:
    """The results at a point, with their Jacobian."""

    def __init__(self, unknowns: Unknowns, asked: Asked) -> None:
        self._unknowns, self._asked = unknowns, asked

    def __call__(self, point: Data) -> Local:
        unknowns, count = self._unknowns, len(point)
        try:
            return _local(unknowns, unknowns.at(point), self._asked.of, unknowns.names)
        except (RunError, AssertionFailed):
            return Local(np.full(count, nan), np.full((count, count), nan))


def _local(
    unknowns: Unknowns, given: Mapping[str, Any], of: Sequence[str | None], names: Sequence[str]
) -> Local:
    """All results, and their Jacobian by some names."""
    program, options = unknowns.program, unknowns.quiet
    if len(of) == 1:
        answers = [program.jacobian(given, wrt=names, of=of[0], options=options)]
    else:
        asked = {"question": "jacobian", "of": [*of], "wrt": names, "options": options}
        answers = [*program.several(given, **asked).answers]
    values = [np.asarray(answer.value, np.float64).ravel() for answer in answers]
    rows = [
        flat_blocks(answer.jacobian, names, len(value))
        for answer, value in zip(answers, values, strict=True)
    ]
    return Local(np.concatenate(values), np.concatenate(rows))


def _result(
    unknowns: Unknowns,
    asked: Asked,
    best: Search,
    reached: int,
    function: _Function,
    others: Sequence[str],
) -> RootResult:
    said: list[Diagnostic] = []
    sensitivity = None
    if asked.sensitivity and not best.reason:
        is_singular_there = is_singular(function, best.point, best.local, unknowns.start)
        sensitivity = _sensitivity(unknowns, asked, best, others, is_singular_there)
        if is_singular_there:
            message = "the Jacobian is singular: the root moves in a way that cannot be told"
            said.append(Diagnostic("no-sensitivity", message, severity="warning"))
    if best.reason:
        said.append(Diagnostic("not-found", best.reason, severity="warning"))
    layout = unknowns.layout
    return RootResult(
        value=_named(unknowns, asked, best),
        values=layout.values(best.point),
        start=layout.values(unknowns.beginning(asked.start)),
        gradient=layout.values(best.local.jacobian[0]) if layout.width == 1 else None,
        converged=not best.reason,
        reason=best.reason or "the residuals are zero within rounding",
        evaluations=best.evaluations,
        starts=(reached, asked.starts) if asked.starts > 1 else None,
        sensitivity=sensitivity,
        printed=unknowns.printed,
        warnings=tuple(said),
    )


def _named(unknowns: Unknowns, asked: Asked, best: Search) -> dict[str, Any]:
    """The residuals by the names of the results."""
    if len(asked.of) == 1:
        shape = np.shape(unknowns.first.value)
        whole = best.local.residuals.reshape(shape) if shape else best.local.residuals[0]
        return {unknowns.first.output: whole.tolist()}
    given, options = unknowns.at(best.point), unknowns.quiet
    values = unknowns.program.run(given, options=options).values
    return {name: values[name] for name in asked.of if name is not None}


def _sensitivity(
    unknowns: Unknowns, asked: Asked, best: Search, others: Sequence[str], is_singular_there: bool
) -> dict[str, dict[str, Any]]:
    """How the root moves with other inputs: the implicit function theorem."""
    if not others:
        return {name: {} for name in unknowns.names}
    given, width = unknowns.at(best.point), unknowns.layout.width
    whole = _local(unknowns, given, asked.of, [*unknowns.names, *others]).jacobian
    own, by = whole[:, :width], whole[:, width:]
    shapes = _shapes(unknowns, given, asked.of[0], others)
    told = np.full(width, not is_singular_there)
    matrix: Data = np.zeros_like(by) if is_singular_there else -np.linalg.solve(own, by)
    return by_names(unknowns.layout, matrix, others, shapes, told)


def _shapes(
    unknowns: Unknowns, given: Mapping[str, Any], of: str | None, names: Sequence[str]
) -> list[tuple[int, ...]]:
    found = unknowns.program.jacobian(given, wrt=names, of=of, options=unknowns.quiet)
    size = len(np.shape(found.value))
    return [np.shape(found.jacobian[name])[size:] for name in names]
