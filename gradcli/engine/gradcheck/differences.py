"""Numeric slopes of a function along a line, with bounds on their errors.

Central differences with steps that shrink by 4 are extrapolated to step 0 (Ridders' method). The
change by extrapolation bounds the truncation error; the rounding error is the noise of the values
divided by the step. Each result of the function is judged alone; an unknown one is nan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from gradcli.engine.values.data import np
from gradcli.record import Record

_FIRST = 0.0618  # of the reach: the widest step, not a fraction of any period that programs have
_SHRINK = 4.0
_LEVELS = 3  # steps that a smooth function needs
_CLOSER = 4  # more steps for a second opinion
_GOAL = 1e-6  # relative error of a slope that is good enough
_BESIDE = 0.71  # of a step: a second sample at about the same step
_LEAST = 2.0**20  # roundings of the values over the reach: a smaller slope counts as zero
_NEAR = 2.0**-20  # of the widest step: the least reach that bounds a slope
_SURE = 1e-3  # relative error up to which a slope says anything


class Slopes(Record):
    """Slopes of each result, with bounds on their truncation and rounding errors.

    Fields:
        least: The error that no step can avoid.
        kink: A mask of the results whose slopes on the two sides differ at any step.
    """

    __slots__ = ("value", "truncation", "rounding", "least", "kink")
    value: Any
    truncation: Any
    rounding: Any
    least: Any
    kink: Any

    @property
    def allowed(self) -> Any:
        """The distance at which another slope still agrees."""
        return self.truncation + self.rounding

    @property
    def settled(self) -> Any:
        """A mask of the slopes that are accurate enough to judge others by."""
        return (self.allowed <= _SURE * abs(self.value)) | (self.allowed <= self.least)

    def looser(self, more: Any) -> Slopes:
        """A copy with a larger rounding error."""
        return Slopes(self.value, self.truncation, self.rounding + more, self.least, self.kink)

    def where(self, these: Any, others: Slopes) -> Slopes:
        """These slopes where the mask is true, others elsewhere."""
        return Slopes(
            np.where(these, self.value, others.value),
            np.where(these, self.truncation, others.truncation),
            np.where(these, self.rounding, others.rounding),
            np.where(these, self.least, others.least),
            np.where(these, self.kink, others.kink),
        )

    def weighed(self, weights: Any) -> Slopes:
        """The weighted sum of the slopes; nan with weight 0 does not count."""
        used, size = weights != 0, abs(weights)

        def total(weight: Any, part: Any) -> Any:
            return np.array([np.sum(weight * np.where(used, part, 0.0))])

        return Slopes(
            total(weights, self.value),
            total(size, self.truncation),
            total(size, self.rounding),
            total(size, self.least),
            np.zeros(1, bool),
        )


Sample: TypeAlias = tuple[float, Any, Any]
"""A step, and the values at plus and minus that step."""


class Line:
    """A function along a line; each value is computed once.

    Args:
        at: Takes a step; returns the step as rounded, and the values there.
        center: The values at step 0.
        reach: The size of the argument, which scales the steps.
        outer: The widest step to try where rounding spoils smaller ones.
        eps: Relative spacing of the floating-point numbers in the function.
        tiny: The smallest positive one of these numbers.
    """

    def __init__(
        self,
        at: Callable[[float], tuple[float, Any]],
        center: Any,
        reach: float,
        outer: float,
        eps: float,
        tiny: float,
    ) -> None:
        self._at = at
        self._center = center
        self._reach = reach = max(reach, tiny / eps)
        self._outer = outer
        self._eps = eps
        self._tiny = tiny
        self._smallest = 256 * eps * reach
        self._next = _FIRST * reach
        self._samples: dict[float, Sample] = {}
        self._noise = np.zeros(center.shape)

    def slopes(self) -> Slopes:
        """The slopes, with ever smaller steps until they are good enough."""
        self._refine(_LEVELS)
        before = np.full(self._center.shape, np.inf)
        stalled = 0
        while (open := self._open()).any() and self._next > self._smallest:
            total = self._estimate().allowed
            better = open & (total < before / 2)
            stalled = 0 if better.any() else stalled + 1
            before = np.minimum(before, total)
            if stalled > _CLOSER and self._estimate().settled[open].all():
                break
            self._refine(1)
        if self._is_drowned():
            self._widen()
        return self._estimate()

    def closer(self, wanted: Any) -> tuple[Slopes, Slopes]:
        """The slopes with further, smaller steps for the results in `wanted` and with measured
        noise; and those of the smallest steps alone, as a second opinion.
        """
        self._noise = self._measured_noise()
        self._refine(_CLOSER)
        wanted = wanted & np.isfinite(self._center)
        while self._next > self._smallest:
            if not (wanted & (self._kinks() | ~self._estimate().settled)).any():
                break
            self._refine(1)
        again = self._beside()
        narrow = sorted(self._samples)[:_CLOSER][-1]
        found, second = self._estimate(beside=again), self._estimate(narrow, beside=again)
        found.kink = second.kink = self._kinks()
        return found, second

    def suspects(self) -> Any:
        """A mask of results whose slopes on the two sides differ by more than curvature."""
        h, ahead, behind, noise = self._table(self._samples)
        gap = abs(ahead - 2 * self._center + behind) / h
        with_noise = 8 * noise / h
        return (gap[-1] > 0.7 * gap[-2]) & (gap[-1] > with_noise[-1]) | ~np.isfinite(gap[-1])

    # --- samples -----------------------------------------------------------------------

    def _refine(self, count: int) -> None:
        for _ in range(count):
            if self._next > self._smallest:
                self._sample(self._next)
                self._next /= _SHRINK

    def _widen(self) -> None:
        """Add steps from the outer one down, until they settle the slopes."""
        h = _FIRST * self._outer
        widest = max(self._samples)
        done = 0
        while h > widest * _SHRINK and (done < _LEVELS or self._open().any()):
            self._sample(h)
            h /= _SHRINK
            done += 1

    def _sample(self, h: float) -> None:
        self._samples[h] = self._sampled(h)

    def _sampled(self, h: float) -> Sample:
        step, ahead = self._at(h)
        if not step > 0:  # infinite, or below the spacing of floating-point numbers
            nothing = np.full(self._center.shape, np.nan)
            return h, nothing, nothing
        return step, ahead, self._at(-step)[1]

    def _beside(self) -> dict[float, Sample]:
        """Samples at slightly smaller steps; their differences show the noise."""
        return {h: self._sampled(_BESIDE * h) for h in self._samples}

    def _table(self, samples: dict[float, Sample]) -> tuple[Any, Any, Any, Any]:
        """Steps, the widest first, with the values on either side and their noise."""
        rows = [samples[h] for h in sorted(samples, reverse=True)]
        steps, ahead, behind = (np.array(part) for part in zip(*rows, strict=True))
        size = np.maximum(np.maximum(abs(ahead), abs(behind)), abs(self._center))
        noise = np.maximum(4 * (self._eps * size + self._tiny), self._noise)
        return steps[:, None], ahead, behind, noise

    def _measured_noise(self) -> Any:
        """The noise of the values near the point: their fourth differences, which vanish for smooth
        functions. Each side is measured alone, so that a kink does not count as noise.
        """
        gap = 256 * self._eps * self._reach
        found = [np.zeros(self._center.shape)]
        for side in (-1, 1):
            values = np.array([self._at(side * gap * (16 + k))[1] for k in range(7)])
            fourth = abs(np.diff(values, 4, axis=0)).max(axis=0) / 4
            found.append(np.where(np.isfinite(fourth), fourth, 0.0))
        return np.max(found, axis=0)

    # --- estimates ---------------------------------------------------------------------

    def _open(self) -> Any:
        """A mask of the results for which smaller steps may still help."""
        found = self._estimate()
        good = found.allowed <= _GOAL * abs(found.value)
        return np.isfinite(self._center) & ~(good | (found.truncation <= found.rounding))

    def _is_drowned(self) -> bool:
        """True if rounding hides a slope and wider steps may help."""
        if _FIRST * self._outer <= _SHRINK * max(self._samples, default=np.inf):
            return False
        found = self._estimate()
        unknown = (found.value != 0) | (found.allowed > found.least)
        unknown &= np.isfinite(self._center) & (found.allowed > _GOAL * abs(found.value))
        return bool(unknown.any())

    def _estimate(self, below: float = np.inf, beside: dict[float, Sample] | None = None) -> Slopes:
        """The extrapolation with the least error, from steps up to `below`; samples in `beside`
        show its noise.
        """
        value, truncation, rounding = self._extrapolated(self._samples, below)
        if beside is not None:
            rounding = rounding + 4 * abs(value - self._extrapolated(beside, below)[0])
        total = np.nan_to_num(truncation + rounding, nan=np.inf)
        best = total.argmin(axis=0)[None]
        value, truncation, rounding = (
            np.take_along_axis(part, best, 0)[0] for part in (value, truncation, rounding)
        )
        rounding = rounding + 16 * self._eps * abs(value)
        reach = max(self._reach, _NEAR * self._outer)
        unit = self._eps * self._size() + self._tiny
        least = np.full(value.shape, _LEAST * unit / reach)
        return Slopes(value, truncation, rounding, least, np.zeros(least.shape, bool))

    def _extrapolated(self, samples: dict[float, Sample], below: float) -> tuple[Any, Any, Any]:
        """All extrapolated slopes, each with its truncation and its rounding error."""
        h, ahead, behind, noise = self._table(samples)
        keep = h[:, 0] <= 1.01 * below
        h, noise = h[keep], noise[keep]
        level = (ahead[keep] - behind[keep]) / (2 * h)
        values, truncations, roundings = [], [], []
        for j in range(1, min(len(h), 5)):
            ratio = (h[:-j] / h[j:]) ** 2
            better = level[1:] + (level[1:] - level[:-1]) / (ratio - 1)
            changes = np.maximum(abs(better - level[1:]), abs(better - level[:-1]))
            values.append(better)
            truncations.append(2 * changes)
            roundings.append(1.25 * noise[j:] / h[j:])
            level = better
        return np.concatenate(values), np.concatenate(truncations), np.concatenate(roundings)

    def _size(self) -> float:
        """The largest finite value, the scale by which a slope counts as zero."""
        _, ahead, behind, _ = self._table(self._samples)
        values = abs(np.array([self._center, ahead[0], behind[0]]))
        return float(np.max(values, where=np.isfinite(values), initial=0.0))

    def _kinks(self) -> Any:
        """A mask of results at a kink: the slopes or their gap between the sides do not shrink with
        the step, or one side has no value.
        """
        h, ahead, behind, noise = self._table(self._samples)
        center = self._center
        right, left = (ahead - center) / h, (center - behind) / h
        gap, size = abs(right - left), abs(right) + abs(left)
        blur = 4 * noise / h
        corner = _stays(gap, blur, 0.6)
        steep = _stays(size, blur, 1.4)
        edge = np.isfinite(ahead[-3:]).all(0) != np.isfinite(behind[-3:]).all(0)
        return np.isfinite(center) & (corner | steep | edge)


def _stays(amount: Any, blur: Any, ratio: float) -> Any:
    """A mask of amounts that shrink by no more than a ratio in the last steps in which they exceed
    their blur, and whose blur would hide them at smaller steps.
    """
    if len(amount) < 3:
        return np.zeros(amount.shape[1:], bool)
    amount = np.nan_to_num(amount, nan=0.0, posinf=0.0)
    clear = amount > 2 * blur
    last = np.maximum(len(clear) - 1 - clear[::-1].argmax(axis=0), 2)
    third, second, first = (np.take_along_axis(amount, last[None] - k, 0)[0] for k in (2, 1, 0))
    smaller = np.arange(len(amount)).reshape(-1, *[1] * last.ndim) > last
    gone = (smaller & (2 * blur < first / 4)).any(axis=0)
    return clear.any(axis=0) & ~gone & (second >= ratio * third) & (first >= ratio * second)
