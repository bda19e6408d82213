"""The least negative log likelihood, by SciPy's trust region with exact second derivatives.

Its end is our own: the Newton decrement, which is the distance to the minimum in standard errors.

Source: Nocedal and Wright, Numerical Optimization, 2nd ed. (2006), sections 4.3 and 9.5; Boyd and
Vandenberghe, Convex Optimization (2004), section 9.5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradcli.models.extra import optimize
from gradcli.models.triangle import Array, Mask


class Local(NamedTuple):
    """A function at a point: its value, gradient and Hessian."""

    value: float
    gradient: Array
    hessian: Array


Evaluate: TypeAlias = Callable[[Array], "Local | None"]
"""The function at a point; None where it is not finite."""

_EXACT = 50  # parameters to which the trust region has the Hessian
_DECREMENT = 1e-6  # standard errors from the minimum, at the end
_ROUNDINGS = 16.0 * float(np.finfo(np.float64).eps)  # of the value: no step can lower it by less
_POLISHED = 8


class Search(NamedTuple):
    """Where a search has ended.

    Fields:
        point: The parameters.
        local: The function there.
        moved: The parameters that are neither held nor at a bound.
        converged: True if it is a minimum.
        reason: Why the search ended.
        evaluations: How often the function was evaluated.
    """

    point: Array
    local: Local
    moved: Mask
    converged: bool
    reason: str
    evaluations: int


class Interrupted(Exception):
    """Ctrl-C, with the best point so far."""

    def __init__(self, best: Search) -> None:
        super().__init__()
        self.best = best


class _Ended(Exception):
    """The end, out of SciPy's iteration."""


def least(
    at: Evaluate, start: Array, lower: Array, upper: Array, free: Mask, most: int
) -> Search | None:
    """The minimum near a start; None if the function is not finite there.

    Args:
        at: The function.
        start: Where the search begins.
        lower: The lower bounds.
        upper: The upper bounds.
        free: The parameters that are moved.
        most: The most evaluations.

    Raises:
        Interrupted: At Ctrl-C.
    """
    with np.errstate(all="ignore"):
        return _Searcher(at, lower, upper, free, most).search(start)


def decrement(local: Local, moved: Mask) -> float:
    """The distance to the minimum of the local parabola in standard errors; inf where it has
    none.
    """
    if not moved.any():
        return 0.0
    try:
        root = np.linalg.cholesky(local.hessian[np.ix_(moved, moved)])
    except np.linalg.LinAlgError:
        return inf
    return float(np.linalg.norm(np.linalg.solve(root, local.gradient[moved])))


class _Searcher:
    def __init__(self, at: Evaluate, lower: Array, upper: Array, free: Mask, most: int) -> None:
        self._at, self._lower, self._upper = at, lower, upper
        self._free, self._most = free, most
        self._optimize = optimize("fit")
        self._count = 0
        self._cache: tuple[bytes, Local | None] = b"", None
        self._best: tuple[Array, Local] | None = None

    def search(self, start: Array) -> Search | None:
        if self._local(start) is None:
            return None
        reason = ""
        try:
            reason = self._searched(start)
            self._polish()
        except _Ended:
            reason = "" if self._count < self._most else f"no end within {self._most} evaluations"
        except KeyboardInterrupt:
            raise Interrupted(self._found(False, "interrupted")) from None
        assert self._best is not None, "the start is finite"
        point, local = self._best
        converged = self._is_end(local, self._moved(point, local))
        if not converged and not reason:
            reason = "the likelihood has no minimum near here: its Hessian is not positive definite"
        return self._found(converged, _CONVERGED if converged else reason)

    def _found(self, converged: bool, reason: str) -> Search:
        assert self._best is not None, "the start is finite"
        point, local = self._best
        moved = self._moved(point, local)
        return Search(point, local, moved, converged, reason, self._count)

    def _local(self, point: Array) -> Local | None:
        key = point.tobytes()
        if key == self._cache[0]:
            return self._cache[1]
        if self._count >= self._most:
            raise _Ended
        self._count += 1
        found = self._at(point)
        self._cache = key, found
        if found is not None and (self._best is None or found.value <= self._best[1].value):
            self._best = point.copy(), found
        return found

    def _moved(self, point: Array, local: Local) -> Mask:
        """The parameters that are not held at a bound by the gradient."""
        low = (point <= self._lower) & (local.gradient > 0.0)
        high = (point >= self._upper) & (local.gradient < 0.0)
        found: Mask = self._free & ~low & ~high
        return found

    def _is_end(self, local: Local, moved: Mask) -> bool:
        distance = decrement(local, moved)
        return distance < _DECREMENT or distance**2 <= _ROUNDINGS * abs(local.value)

    def _searched(self, start: Array) -> str:
        """Search by SciPy; why it ended if it has not succeeded."""
        moved, whole = self._free, start.copy()

        def filled(part: Array) -> Array:
            point = whole.copy()
            point[moved] = part
            return np.clip(point, self._lower, self._upper)

        def there(part: Array) -> Local:
            point = filled(part)
            found = self._local(point)
            if found is None:
                return Local(inf, np.zeros(len(point)), np.eye(len(point)))
            if self._is_end(found, self._moved(point, found)):
                raise _Ended
            return found

        bounded = bool(np.isfinite(self._lower).any() or np.isfinite(self._upper).any())
        options: dict[str, Any]
        if bounded or moved.sum() > _EXACT:
            pairs = zip(self._lower[moved], self._upper[moved], strict=True)
            options = {"maxfun": self._most, "maxiter": self._most, "ftol": 1e-14, "gtol": 1e-10}
            found = self._optimize.minimize(
                lambda part: (there(part).value, there(part).gradient[moved]),
                start[moved],
                jac=True,
                method="L-BFGS-B",
                bounds=[*pairs],
                options=options,
            )
        else:
            options = {"maxiter": self._most, "gtol": 1e-12}
            found = self._optimize.minimize(
                lambda part: there(part).value,
                start[moved],
                jac=lambda part: there(part).gradient[moved],
                hess=lambda part: there(part).hessian[np.ix_(moved, moved)],
                method="trust-exact",
                options=options,
            )
        return "" if found.success else str(found.message)

    def _polish(self) -> None:
        """Newton's steps, as long as they lower the function."""
        for _ in range(_POLISHED):
            assert self._best is not None, "the start is finite"
            point, local = self._best
            moved = self._moved(point, local)
            if self._is_end(local, moved) or not moved.any():
                return
            step = np.zeros(len(point))
            part = local.hessian[np.ix_(moved, moved)]
            step[moved] = np.linalg.lstsq(part, -local.gradient[moved], rcond=None)[0]
            there = self._local(np.clip(point + step, self._lower, self._upper))
            if there is None or there.value > local.value:
                return


def errors(hessian: Array) -> tuple[Array, Mask]:
    """The covariance from a Hessian of the negative log likelihood, and the parameters that it does
    not tell.
    """
    scales = np.sqrt(np.abs(np.diag(hessian)))
    is_flat = ~(scales > 0.0)
    scales = np.where(is_flat, 1.0, scales)
    lengths, vectors = np.linalg.eigh(hessian / np.outer(scales, scales))
    is_told = lengths * 1e13 > max(float(lengths[-1]), 0.0)
    inverse = np.where(is_told, 1.0 / np.where(is_told, lengths, 1.0), 0.0)
    rows = vectors * np.sqrt(inverse) / scales[:, None]
    untold = is_flat | (np.abs(vectors[:, ~is_told]) > 0.01).any(axis=1)
    return rows @ rows.T, untold


def condition(hessian: Array) -> float:
    """The condition of a Hessian whose diagonal is scaled to one, as of the factor of J'J."""
    scales = np.sqrt(np.abs(np.diag(hessian)))
    if not (scales > 0.0).all():
        return inf
    lengths = np.linalg.eigvalsh(hessian / np.outer(scales, scales))
    return sqrt(float(lengths[-1] / lengths[0])) if lengths[0] > 0.0 else inf


_CONVERGED = "converged: the gradient is zero within rounding"
