"""A zero of a function near a start by SciPy, and of one number between two by Brent's method.

SciPy searches; the end is judged here: Newton's step is within the rounding of the point, or the
residuals are within the rounding of their terms.

Source: Brent, Algorithms for Minimization without Derivatives (1973), chapter 4; Powell, A hybrid
method for nonlinear equations (1970).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from gradcli.models.extra import optimize
from gradcli.models.triangle import Array

_STEP = 1e-9  # of an unknown: Newton's step at the end
_EPS = float(np.finfo(np.float64).eps)
_VANISHED = 1e-11  # of the largest residual: an end where the Jacobian is singular
_POLISHED = 50
_BESIDE = 1e-4  # of the unknowns: how far a place beside a point is
_UNLIKE = 1e3  # times the slope at the root
_CONDITION = 1e-13  # the least part of the largest singular value


class Local(NamedTuple):
    """Residuals and their Jacobian at a point."""

    residuals: Array
    jacobian: Array


Evaluate: TypeAlias = Callable[[Array], Local]


class Search(NamedTuple):
    """Where a search has ended.

    Fields:
        point: The unknowns.
        local: The residuals there.
        reason: Why the search failed; "" if it is at a root.
        evaluations: How often the function was evaluated.
    """

    point: Array
    local: Local
    reason: str
    evaluations: int


class _Ended(Exception):
    """The end, out of SciPy's iteration."""


def zero(at: Evaluate, start: Array, most: int, labels: list[str]) -> Search:
    """The zero near a start. Arguments as of `minimum.least`."""
    with np.errstate(all="ignore"):
        return _Searcher(at, start, most, labels).search()


def between(at: Evaluate, low: float, high: float, most: int, label: str) -> Search:
    """The zero of one number between two at which it has different signs."""
    count = 0

    def value(x: float) -> float:
        nonlocal count
        count += 1
        return float(at(np.array([x])).residuals[0])

    first, last = value(low), value(high)
    if not (np.isfinite(first) and np.isfinite(last)):
        return _none(at, low if not np.isfinite(first) else high, "not finite at its end", count)
    if first * last > 0.0:
        reason = f"no bracket: the result is {first:.6g} at {label}={low:g}"
        nearer = low if abs(first) <= abs(last) else high
        return _none(at, nearer, f"{reason} and {last:.6g} at {label}={high:g}", count)
    tolerance = 4.0 * _EPS
    root, about = optimize("root").brentq(
        value, low, high, xtol=1e-300, rtol=tolerance, maxiter=most, full_output=True, disp=False
    )
    local = at(np.array([root]))
    reason = "" if about.converged else f"no end within {most} evaluations"
    if not np.isfinite(local.residuals[0]) or abs(local.residuals[0]) > max(abs(first), abs(last)):
        reason = f"the result jumps across zero at {label}={root:.6g}: it is no root"
    return Search(np.array([root]), local, reason, count + 1)


def _none(at: Evaluate, x: float, reason: str, count: int) -> Search:
    point = np.array([x])
    return Search(point, at(point), reason, count)


class _Searcher:
    def __init__(self, at: Evaluate, start: Array, most: int, labels: list[str]) -> None:
        self._at, self._start, self._most, self._labels = at, start, most, labels
        self._count, self._largest = 0, 0.0
        self._cache: tuple[bytes, Local] | None = None
        self._best: tuple[Array, Local] | None = None
        self._nan: Array | None = None

    def search(self) -> Search:
        first = self._local(self._start)
        if not np.isfinite(first.residuals).all():
            reason = "the start is not finite"
            return Search(self._start, first, reason, self._count)
        reason = ""
        try:
            for method in ("hybr", "lm"):
                self._searched(method)
                if self._is_end():
                    break
                self._polish()
                if self._is_end():
                    break
        except _Ended:
            reason = f"no end within {self._most} evaluations"
        point, local = self._there
        if self._is_end():
            reason = ""
        elif not reason:
            reason = self._why()
        return Search(point, local, reason, self._count)

    @property
    def _there(self) -> tuple[Array, Local]:
        assert self._best is not None, "the start is evaluated"
        return self._best

    def _why(self) -> str:
        point, local = self._there
        pairs = [*zip(self._labels, point.tolist(), strict=True)]
        place = ", ".join(f"{name}={x:.6g}" for name, x in pairs[:3])
        size = float(np.abs(local.residuals).max())
        if self._nan is not None:
            nan = [*zip(self._labels, self._nan.tolist(), strict=True)][:3]
            return f"the result is nan at {', '.join(f'{name}={x:.6g}' for name, x in nan)}"
        return f"no root found: the least residual is {size:.3g}, at {place}"

    def _local(self, point: Array) -> Local:
        key = point.tobytes()
        if self._cache is not None and key == self._cache[0]:
            return self._cache[1]
        if self._count >= self._most:
            raise _Ended
        self._count += 1
        found = self._at(point)
        self._cache = key, found
        if np.isnan(found.residuals).any():
            self._nan = point.copy()
        size = float(np.abs(found.residuals).max(initial=0.0))
        if np.isfinite(size) and np.isfinite(found.jacobian).all():
            self._largest = max(self._largest, size)
            if self._best is None or _norm(found) <= _norm(self._best[1]):
                self._best = point.copy(), found
        elif self._best is None:
            self._best = point.copy(), found
        return found

    def _searched(self, method: str) -> None:
        def value(x: Array) -> Array:
            found = self._local(x).residuals
            return np.where(np.isfinite(found), found, 1e100)

        def slope(x: Array) -> Array:
            found = self._local(x).jacobian
            return np.where(np.isfinite(found), found, 0.0)

        point, _ = self._there
        optimize("root").root(value, point, jac=slope, method=method, options={"xtol": 1e-14})

    def _polish(self) -> None:
        """Newton's steps, as long as they lower the residuals."""
        for _ in range(_POLISHED):
            point, local = self._there
            if self._is_end():
                return
            step = np.linalg.lstsq(local.jacobian, -local.residuals, rcond=None)[0]
            for part in (1.0, 0.5, 0.125):
                self._local(point + part * step)
                if self._there[0] is not point:
                    break
            else:
                return

    def _is_end(self) -> bool:
        point, local = self._there
        if not local.residuals.any():
            return True
        terms = np.abs(local.jacobian) @ np.abs(point)
        if (np.abs(local.residuals) <= 8.0 * _EPS * terms).all():
            return True
        if np.linalg.cond(local.jacobian) * _EPS < 1e-3:
            step = np.linalg.solve(local.jacobian, local.residuals)
            size = np.maximum(np.abs(point), 1e-3 * np.abs(self._start))
            if (np.abs(step) <= _STEP * np.maximum(size, 1e-300)).all():
                return True
        return _norm(local) <= _VANISHED * self._largest


def is_singular(at: Evaluate, point: Array, local: Local, start: Array) -> bool:
    """True if the Jacobian is singular at a root: by its condition, or because its least singular
    value is not that of a place beside the root, as of x ** 2, where rounding leaves some.
    """
    size = np.maximum(np.abs(point), np.abs(start))
    size = np.where(size > 0.0, size, 1.0) * _BESIDE
    _, lengths, rows = np.linalg.svd(local.jacobian * size)
    if not lengths[-1] > _CONDITION * lengths[0]:
        return True
    there = at(point + rows[-1] * size).jacobian * size
    if not np.isfinite(there).all():
        return False
    return float(np.linalg.norm(there @ rows[-1])) > _UNLIKE * float(lengths[-1])


def _norm(local: Local) -> float:
    return float(np.linalg.norm(local.residuals))
