"""Negative log likelihoods as problems of a fit."""

from __future__ import annotations

from math import inf, nan
from typing import Any

from gradcli.engine.values.data import Data, np
from gradcli.questions.fitting.problem import Found, Interrupted, Problem, marked, spread_out
from gradcli.questions.fitting.sums import likelihood_of


class Likely(Problem):
    """A negative log likelihood, summed over the records if there are any."""

    def _local(self, point: Data) -> Any:
        from gradcli.models.likelihood import Local

        self.count()
        value, slope = 0.0, np.zeros(self.width)
        bend = np.zeros((self.width, self.width))
        for values, slopes, bends in self.sums(likelihood_of, point):
            value += values
            slope += slopes
            bend += bends
        is_finite = np.isfinite(value) and np.isfinite(slope).all() and np.isfinite(bend).all()
        return Local(value, slope, bend) if is_finite else None

    def search(self, start: Data) -> Found | None:
        from gradcli.models import likelihood

        every = np.ones(self.width, np.bool_)
        bounds = self.lower, self.upper
        try:
            found = likelihood.least(self._local, start, *bounds, every, self.most)
        except likelihood.Interrupted as stopped:
            raise Interrupted(self._found(stopped.best)) from None
        return None if found is None else self._found(found)

    def refit(self, held: int, value: float, start: Data) -> tuple[float, Data] | None:
        from gradcli.models.likelihood import least

        free = np.ones(self.width, np.bool_)
        free[held] = False
        point = start.copy()
        point[held] = value
        if not free.any():
            local = self._local(point)
            return None if local is None else (2.0 * local.value, point)
        found = least(self._local, point, self.lower, self.upper, free, self.most)
        return None if found is None else (2.0 * found.local.value, found.point)

    def _found(self, search: Any) -> Found:
        from gradcli.models.likelihood import condition, errors

        moved = search.moved
        part = search.local.hessian[np.ix_(moved, moved)]
        inverse, untold = errors(part) if moved.any() else (part, np.zeros(0, np.bool_))
        return Found(
            search.point,
            moved,
            search.converged,
            search.reason,
            search.evaluations,
            2.0 * search.local.value,
            nan,
            self.facts.count,
            inf,
            1.0,
            spread_out(inverse, moved),
            marked(untold, moved),
            condition(part) if moved.any() else 1.0,
            "hessian",
            None,
        )
