"""Evaluate a program at moved points with compiled code, which gives its values only."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from gradcli.engine.gradcheck.trace import Trace
from gradcli.record import Record


class Coded(Record):
    """Values and gradients that compiled code computes at moved points.

    Fields:
        values: The result's values, in its shape.
        shapes: Shapes of the points.
        gradients: Takes weights of the result's elements; returns the gradient of the weighted sum
            by all elements of the points, or None if only the interpreter has it.
    """

    __slots__ = ("values", "shapes", "gradients")
    values: Any
    shapes: list[tuple[int, ...]]
    gradients: Callable[[Any], Any]


class Elsewhere(Trace):
    """A trace with values by compiled code; derivatives run the whole evaluation `whole`."""

    def __init__(
        self, coded: Coded, shapes: list[tuple[int, ...]], whole: Callable[[], Trace]
    ) -> None:
        self.values = coded.values.ravel()
        self.shapes = shapes
        self._make = whole
        self._coded = coded

    @cached_property
    def _whole(self) -> Trace:
        return self._make()

    def pulled(self, weights: Any) -> list[Any]:
        return self._whole.pulled(weights)

    def jacobian(self) -> list[Any]:
        return self._whole.jacobian()

    def pushed(self, i: int, direction: Any) -> Any:
        return self._whole.pushed(i, direction)

    def slope(self, weights: Any) -> Trace:
        found = self._coded.gradients(weights)
        if found is None:
            return self._whole.slope(weights)
        shapes = self._coded.shapes
        return Elsewhere(Coded(found, shapes, _none), shapes, lambda: self._whole.slope(weights))


def _none(weights: Any) -> Any:
    """No gradient: compiled code gives no third derivatives."""
    return None
