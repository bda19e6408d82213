"""The point at which a result is least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import Data, np
from gradcli.errors import AssertionFailed, Diagnostic, InputError, RunError
from gradcli.ir.program import Program as Ops
from gradcli.models.counted import INTERRUPTED
from gradcli.models.minimum import EXACT, MOST, Local, Search, curvature, least
from gradcli.questions.asked.request import Options
from gradcli.questions.coded.pointwise import parts
from gradcli.questions.fitting.bounded import limits
from gradcli.questions.solving.unknowns import Unknowns, by_names, check_number, flat_blocks
from gradcli.record import Record
from gradcli.views import MinimizeResult

_SAME = 1e-6  # of the value: two ends that are one
_ZERO = 1e-9  # of an unknown: how near to a bound it is at it
_CONDITION = 1e13  # of a Hessian that is singular


class Asked(Record):
    """What `minimize` is asked.

    Fields:
        wrt: The unknowns; None for the names that `grad` takes.
        of: The name of the result; None for that of the program.
        is_largest: True for the largest value in place of the least.
        bounds: The lower and upper bounds of unknowns, beside those that are declared.
        starts: How many starts are tried.
        sensitivity: The inputs by which the answer's movement is asked.
        most: The most evaluations of one search; None for 200 (n + 1).
        start: Values of unknowns to begin at, in place of those given.
    """

    __slots__ = ("wrt", "of", "is_largest", "bounds", "starts", "sensitivity", "most", "start")
    wrt: Sequence[str] | None
    of: str | None
    is_largest: bool
    bounds: Mapping[str, tuple[Any, Any]]
    starts: int
    sensitivity: Sequence[str]
    most: int | None
    start: Mapping[str, Any]


def minimize(
    program: Any, ops: Ops, given: Mapping[str, Given], asked: Asked, options: Options
) -> MinimizeResult:
    """The point at which a result of the program is least, or largest.

    Raises:
        GradError: If the program fails at the start, or bounds are wrong.
        UsageError: If SciPy is not installed.
    """
    unknowns = Unknowns(program, given, asked.wrt, asked.of, options)
    check_number(unknowns.first.value, unknowns.first.output)
    lower, upper = limits(ops, unknowns.layout, asked.bounds)
    first = unknowns.beginning(asked.start)
    outside = (first < lower) | (first > upper)
    if outside.any():
        label = unknowns.layout.labels[int(np.flatnonzero(outside)[0])]
        message = f"the start of `{label}` is outside of its bounds"
        raise InputError(Diagnostic("bad-input", message))
    function, others = _Function(unknowns, asked), unknowns.others(asked.sensitivity)
    most = asked.most or MOST * (len(first) + 1)
    points = [first, *unknowns.starts(asked.starts, options.seed, lower, upper)[1:]]
    ends: list[Search] = []
    is_stopped = False
    for number, point in enumerate(points):
        try:
            options.progress(number, len(points))
            ends.append(least(function, point, lower, upper, most, unknowns.layout.labels))
        except KeyboardInterrupt:  # between two searches
            if not ends:
                raise
            is_stopped = True
        if is_stopped or ends[-1].reason == INTERRUPTED:
            is_stopped = True
            break
    best = min(ends, key=lambda end: (bool(end.reason), end.local.value))
    best = best._replace(reason=INTERRUPTED) if is_stopped else best
    near = _SAME * max(abs(best.local.value), 1e-300)
    reached = sum(not e.reason and e.local.value - best.local.value <= near for e in ends)
    near_bounds = _at_bounds(best.point, lower, upper)
    starts = (reached, len(ends))
    return _result(unknowns, asked, best, function, starts, others, near_bounds)


class _Function:
    """The result at a point, with its derivatives; its negative, to find the largest."""

    def __init__(self, unknowns: Unknowns, asked: Asked) -> None:
        self._unknowns, self._of = unknowns, asked.of
        self._sign = -1.0 if asked.is_largest else 1.0
        self._is_exact = unknowns.layout.width <= EXACT

    def __call__(self, point: Data) -> Local:
        return self.of(point, is_exact=self._is_exact)

    def of(self, point: Data, *, is_exact: bool) -> Local:
        """The function at a point, with its Hessian if that is asked for."""
        unknowns, count = self._unknowns, len(point)
        asked = {"wrt": unknowns.names, "of": self._of, "options": unknowns.quiet}
        ask = unknowns.program.hessian if is_exact else unknowns.program.grad
        try:
            found = ask(unknowns.at(point), **asked)
        except (RunError, AssertionFailed):
            empty = np.full((count, count), nan) if is_exact else None
            return Local(nan, np.full(count, nan), empty)
        gradient = unknowns.layout.joined(found.grad) * self._sign
        value = float(np.asarray(found.value).item()) * self._sign
        if not is_exact:
            return Local(value, gradient, None)
        return Local(value, gradient, parts(found, unknowns.names)[2] * self._sign)


def _result(
    unknowns: Unknowns,
    asked: Asked,
    best: Search,
    function: _Function,
    starts: tuple[int, int],
    others: Sequence[str],
    near_bounds: Data,
) -> MinimizeResult:
    sign = -1.0 if asked.is_largest else 1.0
    local, kind = best.local, best.kind
    hessian = local.hessian
    if hessian is None and unknowns.layout.width <= 1000 and not best.reason:
        hessian = function.of(best.point, is_exact=True).hessian
        assert hessian is not None, "it was asked for"
        kind = curvature(hessian, best.moved)[0]
    said: list[Diagnostic] = []
    sensitivity = None
    if asked.sensitivity and hessian is not None and not best.reason:
        moves = hessian * sign, near_bounds
        sensitivity = _sensitivity(unknowns, asked, best, others, *moves, said)
    if asked.is_largest and kind == "minimum":
        kind = "maximum"
    reason = best.reason
    if asked.is_largest:
        above = "unbounded above: the value rises to "
        reason = reason.replace("unbounded below: the value falls to -", above)
    if reason:
        said.append(Diagnostic("not-found", reason, severity="warning"))
    layout = unknowns.layout
    if not best.reason:
        reason = "the gradient is zero within rounding"
        if not best.moved.all():
            reason = "no step within the bounds makes the value less"
    held = [label for label, free in zip(layout.labels, best.moved, strict=True) if not free]
    return MinimizeResult(
        output=unknowns.first.output,
        value=local.value * sign,
        values=layout.values(best.point),
        start=layout.values(unknowns.beginning(asked.start)),
        gradient=layout.values(local.gradient * sign + 0.0),  # 0.0 for -0.0
        hessian=None if hessian is None else _blocks(unknowns, hessian * sign),
        kind=kind or None,
        at_bounds=tuple(held),
        converged=not best.reason,
        reason=reason,
        evaluations=best.evaluations,
        starts=starts if starts[1] > 1 else None,
        sensitivity=sensitivity,
        printed=unknowns.printed,
        warnings=tuple(said),
    )


def _blocks(unknowns: Unknowns, hessian: Data) -> dict[str, dict[str, Any]]:
    names, shapes = unknowns.names, [*unknowns.layout.shapes.values()]
    told = np.ones(len(hessian), np.bool_)
    return by_names(unknowns.layout, hessian, names, shapes, told)


def _at_bounds(point: Data, lower: Data, upper: Data) -> Data:
    """True for the unknowns at a bound, within rounding."""
    size = _ZERO * np.maximum(np.abs(point), 1e-300)
    return np.asarray((point - lower <= size) | (upper - point <= size))


def _sensitivity(
    unknowns: Unknowns,
    asked: Asked,
    best: Search,
    others: Sequence[str],
    hessian: Data,
    near_bounds: Data,
    said: list[Diagnostic],
) -> dict[str, dict[str, Any]]:
    """How the point moves with other inputs: the implicit function theorem, with the unknowns at
    bounds held.
    """
    if not others:
        return {name: {} for name in unknowns.names}
    names, moved = [*unknowns.names, *others], best.moved
    found = unknowns.program.hessian(
        unknowns.at(best.point), wrt=names, of=asked.of, options=unknowns.quiet
    )
    shapes = [np.shape(found.grad[n]) for n in others]
    rows = [
        flat_blocks(found.hessian[n], others, int(np.size(found.grad[n]))) for n in unknowns.names
    ]
    mixed = np.concatenate(rows)
    told, matrix = np.ones(len(hessian), np.bool_), np.zeros_like(mixed)
    size = _ZERO * np.abs(np.diag(hessian) * best.point)
    is_loose = near_bounds & (moved | (np.abs(best.local.gradient) <= size))
    part, loose = hessian[np.ix_(moved, moved)], np.flatnonzero(is_loose)
    message = ""
    if len(loose):
        label = unknowns.layout.labels[int(loose[0])]
        message = f"`{label}` is at its bound and the gradient there is zero: it may leave it"
    elif best.kind == "flat" or (moved.any() and np.linalg.cond(part) > _CONDITION):
        message = "the Hessian is singular: the point moves in a way that cannot be told"
    elif moved.any():
        matrix[moved] = -np.linalg.solve(part, mixed[moved])
    if message:
        told[:] = False
        said.append(Diagnostic("no-sensitivity", message, severity="warning"))
    return by_names(unknowns.layout, matrix, others, shapes, told)
