"""Checking derivatives: both modes against central differences and against each other.

Where input and output are small every entry of the Jacobian is compared; where they are large, its
products with random directions. Order 2 checks the gradient of the function, weighed by a random
cotangent, in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradcli.engine.arrays import np, shape_of
from gradcli.engine.ops.registry import ops
from gradcli.engine.session import Session
from gradcli.engine.tensor import Number, Tensor, data_of
from gradcli.engine.transforms import Traced
from gradcli.errors import run_error
from gradcli.record import Record

Function = Callable[..., Any]

SMALL = 64
"""The most elements of an input, and of the output, for which the whole Jacobian is compared."""

_EPS = 2.0**-52


class Check(Record):
    """One comparison of derivatives by one input.

    Fields:
        input: Number of the input.
        order: 1 for the function, 2 for its gradient.
        mode: "reverse" or "forward", each against differences; "dot" for one against the other.
        index: Where they differ most: an index of the output followed by one of the input; empty
            where a random projection was compared.
        analytic, numeric: The two values there; for "dot" <v, J u> and <J'v, u>.
        error: Their distance.
        allowed: The distance that truncation and rounding account for.
        rounding: The part of it that rounding accounts for; the rest is truncation.
        kink: The function has a corner or a jump here, so that differences say nothing.
        passed: Whether error is within what is allowed, or there is a kink.
    """

    __slots__ = (
        "input",
        "order",
        "mode",
        "index",
        "analytic",
        "numeric",
        "error",
        "allowed",
        "rounding",
        "kink",
        "passed",
    )
    input: int
    order: int
    mode: str
    index: tuple[int, ...]
    analytic: float
    numeric: float
    error: float
    allowed: float
    rounding: float
    kink: bool
    passed: bool


def gradcheck(
    function: Function,
    primals: Sequence[Any],
    *,
    order: int = 1,
    session: Session | None = None,
    seed: int = 0,
    small: int = SMALL,
) -> list[Check]:
    """Check the derivatives of a function of numbers and tensors at a point.

    Args:
        function: Of the values, returning a number or tensor; it must give the same each time.
        primals: Floating values, numbers or tensors.
        order: 1, or 2 to check the second derivatives as well.
        session: The run that the function belongs to.
        seed: Of the random directions.
        small: The most elements for which the whole Jacobian is compared.
    """
    session = Session() if session is None else session
    rng = np.random.default_rng(seed)
    points = [_array(p) for p in primals]
    kinds = [type(p) if isinstance(p, Tensor) else Number for p in primals]
    checks = _Order(session, function, points, kinds, 1, rng, small).checks()
    if order > 1:
        out = _plain(session, function(*_given(points, kinds)))
        slope = _slope(session, function, rng.uniform(0.5, 1.5, out.shape))
        for i in range(len(points)):
            checks += _Order(session, slope(i), points, kinds, 2, rng, small).checks()
    return checks


def _slope(session: Session, function: Function, weights: Any) -> Callable[[int], Function]:
    def weighed(*args: Any) -> Any:
        out = session.tensor(function(*args))
        return ops.sum(ops.mul(out, weights if weights.shape else float(weights)))

    def by(i: int) -> Function:
        def slope(*args: Any) -> Any:
            traced = Traced(session, weighed, args, [i])
            return traced.pulled(traced.output(), 1.0)[0]

        return slope

    return by


class _Order:
    """The checks of one order: the function, its values around the point, and both modes at it."""

    def __init__(
        self,
        session: Session,
        function: Function,
        points: Sequence[Any],
        kinds: Sequence[type[Tensor]],
        order: int,
        rng: Any,
        small: int,
    ) -> None:
        self.session = session
        self.function = function
        self.points = points
        self.kinds = kinds
        self.order = order
        self.rng = rng
        self.small = small
        self.traced = Traced(session, function, _given(points, kinds), range(len(points)))
        self.out = self.traced.output()
        self.shape = shape_of(self.out)

    def checks(self) -> list[Check]:
        found = []
        for i, point in enumerate(self.points):
            if point.size == 0 or 0 in self.shape:
                continue
            small = point.size <= self.small and int(np.prod(self.shape)) <= self.small
            found += self._entries(i) if small else self._projections(i)
            found.append(self._dot(i))
        return found

    def _entries(self, i: int) -> list[Check]:
        point = self.points[i]
        shape = (*self.shape, *point.shape)
        rows = [self._pulled(i, unit) for unit in _units(self.shape)]
        columns, differences = [], []
        for unit in _units(point.shape):
            columns.append(self._pushed(i, unit))
            differences.append(self._difference(i, unit))
        slopes, limit, rounding = (
            np.stack(parts, -1).reshape(shape) for parts in zip(*differences, strict=True)
        )
        found = [
            self._worst(i, "reverse", np.stack(rows, 0).reshape(shape), slopes, limit, rounding),
            self._worst(
                i, "forward", np.stack(columns, -1).reshape(shape), slopes, limit, rounding
            ),
        ]
        return [self._judged(check, self._unit_at(check)) for check in found]

    def _unit_at(self, check: Check) -> Any:
        """The direction of the element of the input in which a check found the worst."""
        unit = np.zeros(self.points[check.input].shape)
        unit[check.index[len(self.shape) :]] = 1.0
        return unit

    def _judged(self, check: Check, u: Any) -> Check:
        """The check, passed if there is a kink in the direction."""
        if check.passed or not self._has_kink(check.input, u):
            return check
        check.kink = check.passed = True
        return check

    def _has_kink(self, i: int, u: Any) -> bool:
        """Whether the slopes to either side differ more than those of a smooth function, whose
        difference shrinks with the width: a corner, a jump, or one of them within the width.
        """
        values = _plain(self.session, self.function(*_given(self.points, self.kinds)))
        wide = self._width(i, u)
        gaps = []
        for h in (wide, wide / 8):
            ahead, behind = self._moved(i, u, h), self._moved(i, u, -h)
            if (np.isfinite(values) & (np.isfinite(ahead) != np.isfinite(behind))).any():
                return True  # the edge of the domain
            gaps.append(float(np.max(abs(ahead - 2 * values + behind), initial=0.0)) / h)
        noise = 1e4 * _EPS * (float(np.max(abs(values), initial=0.0)) + 1.0) / wide
        stays = gaps[1] > gaps[0] / 2 and gaps[1] > noise
        goes = gaps[0] > noise and gaps[1] < gaps[0] / 64
        return stays or goes

    def _projections(self, i: int) -> list[Check]:
        u = self.rng.uniform(-1, 1, self.points[i].shape)
        v = self.rng.uniform(-1, 1, self.shape)
        slope, bound, noise = self._difference(i, u)
        numeric, allowed = np.sum(v * slope), np.sum(abs(v) * bound)
        rounding = np.sum(abs(v) * noise)
        found = [
            self._worst(i, "reverse", np.sum(self._pulled(i, v) * u), numeric, allowed, rounding),
            self._worst(i, "forward", np.sum(self._pushed(i, u) * v), numeric, allowed, rounding),
        ]
        return [self._judged(check, u) for check in found]

    def _dot(self, i: int) -> Check:
        u = self.rng.uniform(-1, 1, self.points[i].shape)
        v = self.rng.uniform(-1, 1, self.shape)
        pushed, pulled = v * self._pushed(i, u), self._pulled(i, v) * u
        allowed = 1e-10 * (np.sum(abs(pushed)) + np.sum(abs(pulled))) + 1e-14
        return self._worst(i, "dot", np.sum(pushed), np.sum(pulled), allowed, allowed)

    def _worst(
        self, i: int, mode: str, analytic: Any, numeric: Any, allowed: Any, rounding: Any
    ) -> Check:
        analytic, numeric, allowed = map(np.asarray, (analytic, numeric, allowed))
        same = (analytic == numeric) | (np.isnan(analytic) & np.isnan(numeric))
        error = np.where(same, 0.0, abs(analytic - numeric))
        excess = np.nan_to_num(error - allowed, nan=np.inf)
        at = np.unravel_index(int(excess.argmax()), excess.shape)
        return Check(
            i,
            self.order,
            mode,
            tuple(map(int, at)),
            float(analytic[at]),
            float(numeric[at]),
            float(error[at]),
            float(allowed[at]),
            float(np.asarray(rounding)[at]),
            False,
            bool(error[at] <= allowed[at] or error[at] == 0.0),
        )

    def _pulled(self, i: int, v: Any) -> Any:
        return _array(self.traced.pulled(self.out, v if v.shape else float(v))[i])

    def _pushed(self, i: int, u: Any) -> Any:
        dots = [Tensor(np.zeros(p.shape)) if p.shape else 0.0 for p in self.points]
        dots[i] = Tensor(u) if u.shape else float(u)
        return np.broadcast_to(_array(self.traced.pushed(self.out, dots)), self.shape)

    def _width(self, i: int, u: Any) -> float:
        """The wider step of the differences in a direction."""
        size = float(np.max(abs(self.points[i]) * (u != 0), initial=0.0))
        return 2.0**-10 * max(1.0, size)

    def _difference(self, i: int, u: Any) -> tuple[Any, Any, Any]:
        """Slope in a direction, how far it may be off, and how much of that is rounding.

        The differences of two widths give the one of fourth order, and by how much they differ
        bounds the truncation; rounding is that of the values, divided by the width.
        """
        h = self._width(i, u)
        wide, narrow = self._central(i, u, h), self._central(i, u, h / 2)
        values = _plain(self.session, self.function(*_given(self.points, self.kinds)))
        slope = (4 * narrow - wide) / 3
        rounding = 64 * _EPS * (abs(values) + 1.0) / h
        return slope, abs(narrow - wide) * 0.01 + rounding + 1e-9 * abs(slope), rounding

    def _central(self, i: int, u: Any, h: float) -> Any:
        return (self._moved(i, u, h) - self._moved(i, u, -h)) / (2 * h)

    def _moved(self, i: int, u: Any, step: float) -> Any:
        """The values a step away in a direction."""
        moved = list(self.points)
        moved[i] = moved[i] + step * u
        found = _plain(self.session, self.function(*_given(moved, self.kinds)))
        if found.shape != self.shape:
            raise run_error("shape-mismatch", "the shape of the result changes near this point")
        return found


def _units(shape: tuple[int, ...]) -> list[Any]:
    count = int(np.prod(shape))
    return list(np.eye(count).reshape((count, *shape)))


def _array(value: Any) -> Any:
    return np.asarray(data_of(value), dtype=np.float64)


def _plain(session: Session, value: Any) -> Any:
    return _array(session.tensor(value))


def _given(points: Sequence[Any], kinds: Sequence[type[Tensor]]) -> list[Any]:
    return [
        float(p) if kind is Number else Tensor(p.copy() if p.shape else float(p))
        for p, kind in zip(points, kinds, strict=True)
    ]
