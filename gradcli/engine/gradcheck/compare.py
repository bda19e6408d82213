"""Checks derivatives: each mode against numeric differences, and the modes against each other.

A small Jacobian is compared entry by entry, a large one through products with random directions.
Order 2 checks the gradient of the function's randomly weighted sum in the same way. An entry is
wrong only if differences with wide and with narrow steps both say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from gradcli.engine.gradcheck.differences import Line, Slopes
from gradcli.engine.gradcheck.trace import Trace
from gradcli.engine.values.data import np, shape_of
from gradcli.errors import GradError, LimitError
from gradcli.record import Record

Function: TypeAlias = Callable[[Mapping[int, Any]], Trace]
"""Evaluates a function at its point, plain data in the place of the inputs of some numbers."""

SMALL = 64
"""The most elements of an input, and of the output, for which the whole Jacobian is compared; and
how many entries of a larger input are looked at where a kink spoils a random direction."""

OK, KINK, NON_FINITE, UNSURE, WRONG = range(5)
NOTES = ("", "kink", "non-finite", "unsure", "")


class Check(Record):
    """One comparison of derivatives by one input.

    Fields:
        input: Number of the input.
        order: 1 for the function, 2 for its gradient.
        mode: "reverse" or "forward", each against differences; "dot" for one against the other.
        index: The entry with the largest difference: the output's number if there are several, then
            an index of the output, then one of the input; empty for a random projection.
        analytic, numeric: The two values of that entry; for "dot" <v, J u> and <J'v, u>.
        error: Their distance.
        truncation, rounding: The parts of the distance that these errors explain.
        note: Why the check is void: "kink" for a corner or a jump, "non-finite" if the function or
            its derivative is not finite, "unsure" if no difference is accurate enough; "symmetric"
            for a matrix that was moved symmetrically; else "".
        passed: True if the error is within `allowed`, or there is a note.
    """

    __slots__ = (
        "input",
        "order",
        "mode",
        "index",
        "analytic",
        "numeric",
        "error",
        "truncation",
        "rounding",
        "note",
        "passed",
    )
    input: int
    order: int
    mode: str
    index: tuple[int, ...]
    analytic: float
    numeric: float
    error: float
    truncation: float
    rounding: float
    note: str
    passed: bool

    @property
    def allowed(self) -> float:
        """The distance that truncation and rounding explain."""
        return self.truncation + self.rounding

    def noted(self, note: str) -> Check:
        """A copy with a note, unless there is one."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return Check(**{**fields, "note": self.note or note})


def gradcheck(
    function: Function,
    *,
    order: int = 1,
    seed: int = 0,
    small: int = SMALL,
    symmetric: bool = False,
) -> list[Check]:
    """Check the derivatives of a function at its point.

    Args:
        function: Must return the same for the same point.
        order: 1, or 2 to check the second derivatives as well.
        seed: Seed of the random directions.
        small: The most elements for which the whole Jacobian is compared.
        symmetric: True to move each element of a square matrix with its mirror image.
    """
    rng = np.random.default_rng(seed)
    base = function({})
    inputs = range(len(base.points))
    checks = [
        c for i in inputs for c in _Input(function, base, i, 1, rng, small, symmetric).checks()
    ]
    if order > 1:
        weights = rng.uniform(0.5, 1.5, base.values.shape)

        def slope(moved: Mapping[int, Any]) -> Trace:
            return function(moved).slope(weights)

        base = base.slope(weights)
        checks += [
            c for i in inputs for c in _Input(slope, base, i, 2, rng, small, symmetric).checks()
        ]
    return checks


class _Compared(Record):
    """Compared entries: their indices, both derivatives and the verdict on each."""

    __slots__ = ("places", "analytic", "slopes", "verdict")
    places: list[tuple[int, ...]]
    analytic: Any
    slopes: Slopes
    verdict: Any

    def worst(self) -> tuple[int, float, int]:
        """Verdict, error as a multiple of the allowed one, and number of the worst entry."""
        error = _distance(self.analytic, self.slopes.value)
        excess = np.nan_to_num(error / np.maximum(self.slopes.allowed, 1e-300), nan=np.inf)
        at = int(np.lexsort((excess, self.verdict))[-1])
        return int(self.verdict[at]), float(excess[at]), at

    def check(self, i: int, order: int, mode: str) -> Check:
        """A check that reports the worst entry."""
        verdict, _, at = self.worst()
        found = self.slopes
        analytic, numeric = float(self.analytic[at]), float(found.value[at])
        return Check(
            i,
            order,
            mode,
            self.places[at],
            analytic,
            numeric,
            float(_distance(analytic, numeric)),
            float(found.truncation[at]),
            float(found.rounding[at]),
            NOTES[verdict],
            verdict != WRONG,
        )


class _Input:
    """The checks by one input."""

    def __init__(
        self,
        function: Function,
        base: Trace,
        i: int,
        order: int,
        rng: Any,
        small: int,
        symmetric: bool,
    ) -> None:
        self.function = function
        self.base = base
        self.i = i
        self.order = order
        self.rng = rng
        self.small = small
        self.point = np.asarray(base.points[i], np.float64).ravel()
        self.eps, self.tiny = base.precision(), base.tiny()
        shape = shape_of(base.points[i])
        self.mirrored = symmetric and len(shape) > 1 and shape[-1] == shape[-2]
        self.by_rows = base.values.size <= small
        self.neighbours: list[Trace] | None = None

    def checks(self) -> list[Check]:
        """One check of each mode against differences, and one of the modes against each other."""
        if self.point.size == 0 or self.base.values.size == 0:
            return []
        small = self.point.size <= self.small
        units: list[int | None] = list(range(self.point.size)) if small else [None]
        found = []
        for unit in units:
            found.append(self._compared(unit))
            if unit is None and (found[0][1].verdict == KINK).any():
                units += self.rng.choice(self.point.size, self.small, replace=False).tolist()
        checks = []
        for mode, parts in zip(("reverse", "forward"), zip(*found, strict=True), strict=True):
            worst = max(parts, key=_Compared.worst)
            checks.append(worst.check(self.i, self.order, mode))
        return [*checks, self._dot()]

    # --- one direction -----------------------------------------------------------------

    def _compared(self, unit: int | None) -> tuple[_Compared, _Compared]:
        """Reverse and forward mode, each compared with differences along one element of the input,
        or along a random direction if `unit` is None.
        """
        u = self._direction(unit)
        v = self.rng.uniform(-1, 1, self.base.values.shape)

        def pushed(trace: Trace) -> Any:
            return trace.pushed(self.i, u)

        def pulled(trace: Trace) -> Any:
            return trace.jacobian()[self.i] @ u

        def contracted(trace: Trace) -> Any:
            return np.array([np.sum(trace.pulled(weights)[self.i] * u)])

        line = self._line(unit, u)
        found = second = line.slopes()
        doubtful = ~found.settled | line.suspects() | ~_agree(pushed(self.base), found)
        if self.by_rows:
            doubtful |= ~_agree(pulled(self.base), found)
        else:
            weights = v * ~doubtful
            doubtful |= ~_agree(contracted(self.base), found.weighed(weights))
        if doubtful.any():
            found, second = line.closer(doubtful)
        places = self._places(unit)
        forward = self._judged(places, pushed, found, second)
        if self.by_rows:
            return self._judged(places, pulled, found, second), forward
        weights = v * ((forward.verdict == OK) | (forward.verdict == WRONG))
        return (
            self._judged([()], contracted, found.weighed(weights), second.weighed(weights)),
            forward,
        )

    def _judged(
        self,
        places: list[tuple[int, ...]],
        derivative: Callable[[Trace], Any],
        found: Slopes,
        second: Slopes,
    ) -> _Compared:
        """Derivatives compared with the differences `found`, or `second` where these agree.

        Rounding of the derivatives themselves is measured only if some seem wrong.
        """
        analytic = derivative(self.base)
        finite = np.isfinite(self.base.values) if len(analytic) == len(self.base.values) else True
        used, verdict = _verdict(analytic, finite, found, second)
        if (verdict == WRONG).any():
            noise = self._spread(derivative)
            used, verdict = _verdict(analytic, finite, found.looser(noise), second.looser(noise))
        return _Compared(places, analytic, used, verdict)

    def _dot(self) -> Check:
        """The check that <v, J u> equals <J'v, u>. Allowed are the rounding of both sums and the
        change of the derivatives where the point moves by some ulps.
        """
        u = self.rng.uniform(-1, 1, self.point.shape)
        v = self.rng.uniform(-1, 1, self.base.values.shape)
        pushed, pulled = v * self.base.pushed(self.i, u), self.base.pulled(v)[self.i] * u
        forward, reverse = float(np.sum(pushed)), float(np.sum(pulled))
        rounding = 64 * self.eps * float(np.sum(abs(pushed)) + np.sum(abs(pulled)))
        error = float(_distance(forward, reverse))
        if error > rounding:
            for derivative in (
                lambda trace: np.sum(v * trace.pushed(self.i, u)),
                lambda trace: np.sum(trace.pulled(v)[self.i] * u),
            ):
                rounding += float(self._spread(derivative))
        finite = math.isfinite(forward) and math.isfinite(reverse)
        note = "" if finite else NOTES[NON_FINITE]
        passed = not finite or error <= rounding
        return Check(
            self.i, self.order, "dot", (), forward, reverse, error, 0.0, rounding, note, passed
        )

    # --- around the point --------------------------------------------------------------

    def _direction(self, unit: int | None) -> Any:
        size = abs(self.point)
        if unit is None:
            least = np.max(size, initial=0.0, where=np.isfinite(size)) / 16 or 1.0
            u = self.rng.uniform(-1, 1, self.point.shape) * np.maximum(size, least)
        else:
            u = np.zeros(self.point.shape)
            u[unit] = 1.0
        return np.maximum(u, self._mirror(u)) if self.mirrored else u

    def _mirror(self, u: Any) -> Any:
        """A direction with its matrices transposed."""
        return np.swapaxes(u.reshape(shape_of(self.base.points[self.i])), -1, -2).ravel()

    def _line(self, unit: int | None, u: Any) -> Line:
        def at(step: float) -> tuple[float, Any]:
            moved = self._data(self.point + step * u)
            by = np.asarray(moved, np.float64).ravel() - self.point
            step = float(by @ u / (u @ u))
            trace = self._moved({self.i: moved}) if math.isfinite(step) else None
            return step, np.full(self.base.values.shape, np.nan) if trace is None else trace.values

        if unit is None:
            return Line(at, self.base.values, 1.0, 1.0 / float(np.max(abs(u))), self.eps, self.tiny)
        sizes = abs(self.point[np.isfinite(self.point)])
        reach = float(abs(self.point[unit])) or float(np.max(sizes, initial=0.0)) or 1.0
        reach = reach if math.isfinite(reach) else 1.0
        return Line(at, self.base.values, reach, max(reach, 1.0), self.eps, self.tiny)

    def _data(self, flat: Any, i: int | None = None) -> Any:
        """A flat array as plain data of an input's shape and dtype."""
        like = self.base.points[self.i if i is None else i]
        if type(like) is float:
            return float(flat[0])
        return flat.reshape(like.shape).astype(like.dtype)

    def _moved(self, moved: Mapping[int, Any]) -> Trace | None:
        """The function at moved points; None if it fails or returns other shapes."""
        try:
            trace = self.function(moved)
        except LimitError:
            raise
        except GradError:
            return None
        return trace if trace.shapes == self.base.shapes else None

    def _spread(self, derivative: Callable[[Trace], Any]) -> Any:
        """An estimate of a derivative's rounding: its change where all inputs move by some ulps."""
        if self.neighbours is None:
            traces = [self._moved(self._jittered()) for _ in range(4)]
            self.neighbours = [trace for trace in traces if trace is not None]
        here = derivative(self.base)
        away = [4 * _distance(derivative(trace), here) for trace in self.neighbours]
        return np.max(away, axis=0, initial=0.0)

    def _jittered(self) -> dict[int, Any]:
        moved = {}
        for i, point in enumerate(self.base.points):
            flat = np.asarray(point, np.float64).ravel()
            ulps = self.rng.integers(-4, 5, flat.shape)
            moved[i] = self._data(flat * (1 + ulps * self.eps), i)
        return moved

    def _places(self, unit: int | None) -> list[tuple[int, ...]]:
        """The index of each compared entry."""
        if unit is None:
            return [()] * self.base.values.size
        inner = _unraveled(unit, shape_of(self.base.points[self.i]))
        several = len(self.base.shapes) > 1
        return [
            (*((k,) if several else ()), *_unraveled(at, shape), *inner)
            for k, shape in enumerate(self.base.shapes)
            for at in range(math.prod(shape))
        ]


def _agree(analytic: Any, found: Slopes) -> Any:
    return _distance(analytic, found.value) <= found.allowed


def _verdict(analytic: Any, finite: Any, found: Slopes, second: Slopes) -> tuple[Slopes, Any]:
    """The slopes to report and the verdict on each entry; `finite` masks finite results."""
    other = ~_agree(analytic, found) & _agree(analytic, second) & second.settled
    used = Slopes(
        *(np.where(other, getattr(second, k), getattr(found, k)) for k in Slopes.__slots__)
    )
    error = _distance(analytic, used.value)
    verdict = np.where(error <= used.allowed, OK, WRONG)
    verdict = np.where(used.settled | (error > 8 * used.allowed), verdict, UNSURE)
    verdict = np.where(~np.isfinite(analytic) & ~used.settled, NON_FINITE, verdict)
    verdict = np.where(used.kink, KINK, verdict)
    return used, np.where(finite, verdict, NON_FINITE)


def _distance(x: Any, y: Any) -> Any:
    """|x - y|; 0 for equal infinities, nan if one of them is nan."""
    return np.where(np.equal(x, y), 0.0, abs(np.subtract(x, y)))


def _unraveled(at: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(at, shape))) if shape else ()
