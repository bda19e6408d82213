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

from gradcli.models.counted import INTERRUPTED, Counted, Ended, place
from gradcli.models.extra import optimize
from gradcli.models.triangle import Array

_STEP = 1e-9  # of an unknown: Newton's step at the end
_EPS = float(np.finfo(np.float64).eps)
_VANISHED = 1e-11  # of the largest residual: an end where the Jacobian is singular
_NEARER = 1e-3  # of the way from the start: Newton's step near a multiple root
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


def zero(at: Evaluate, start: Array, most: int, labels: list[str]) -> Search:
    """The zero near a start. Arguments as of `minimum.least`."""
    with np.errstate(all="ignore"):
        return _Searcher(at, start, most, labels).search()


def between(at: Evaluate, low: float, high: float, most: int, label: str) -> Search:
    """The zero of one number between two at which it has different signs."""
    met: dict[float, float] = {}

    def value(x: float) -> float:
        met[x] = float(at(np.array([x])).residuals[0])
        return met[x]

    try:
        root, reason = _bracketed(value, low, high, most, label)
    except KeyboardInterrupt:
        if not met:
            raise
        root, reason = min(met, key=lambda x: abs(met[x])), INTERRUPTED
    point = np.array([root])
    return Search(point, at(point), reason, len(met) + 1)


def _bracketed(
    value: Callable[[float], float], low: float, high: float, most: int, label: str
) -> tuple[float, str]:
    """A root between two numbers, and why it is none, or ""."""
    first, last = value(low), value(high)
    if not (np.isfinite(first) and np.isfinite(last)):
        return low if not np.isfinite(first) else high, "not finite at its end"
    if first * last > 0.0:
        reason = f"no bracket: the result is {first:.6g} at {label}={low:g}"
        nearer = low if abs(first) <= abs(last) else high
        return nearer, f"{reason} and {last:.6g} at {label}={high:g}"
    tolerances = {"xtol": 1e-300, "rtol": 4.0 * _EPS}
    root, about = optimize("root").brentq(
        value, low, high, **tolerances, maxiter=most, full_output=True, disp=False
    )
    there = value(root)
    if not np.isfinite(there) or abs(there) > max(abs(first), abs(last)):
        return root, f"the result jumps across zero at {label}={root:.6g}: it is no root"
    return root, "" if about.converged else f"no end within {most} evaluations"


class _Searcher:
    def __init__(self, at: Evaluate, start: Array, most: int, labels: list[str]) -> None:
        self._start, self._most, self._labels = start, most, labels
        self._asked, self._largest = Counted(at, most), 0.0
        self._best: tuple[Array, Local] | None = None

    def search(self) -> Search:
        first = self._local(self._start)
        if not np.isfinite(first.residuals).all():
            reason = "the start is not finite"
            return Search(self._start, first, reason, self._asked.count)
        reason = ""
        try:
            for method in ("hybr", "lm"):
                self._searched(method)
                if self._is_end():
                    break
                self._polish()
                if self._is_end():
                    break
        except Ended:
            reason = f"no end within {self._most} evaluations"
        except KeyboardInterrupt:
            reason = INTERRUPTED
        point, local = self._there
        if self._is_end():
            reason = ""
        elif not reason:
            reason = self._why()
        return Search(point, local, reason, self._asked.count)

    @property
    def _there(self) -> tuple[Array, Local]:
        assert self._best is not None, "the start is evaluated"
        return self._best

    def _why(self) -> str:
        point, local = self._there
        if self._asked.nan is not None:
            return f"the result is nan at {place(self._labels, self._asked.nan)}"
        size = float(np.abs(local.residuals).max())
        return f"no root found: the least residual is {size:.3g}, at {place(self._labels, point)}"

    def _local(self, point: Array) -> Local:
        found, is_new = self._asked(point)
        if not is_new:
            return found
        if np.isnan(found.residuals).any():
            self._asked.nan = point.copy()
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
        if _norm(local) > _VANISHED * self._largest:
            return False
        step = np.linalg.lstsq(local.jacobian, local.residuals, rcond=None)[0]
        moved = float(np.linalg.norm(point - self._start))
        return bool(np.linalg.norm(step) <= _NEARER * moved)  # exp(x) is small, and no step is


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
