"""Evaluate a program at moved points by compiled code; it gives the values only."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from gradcli.engine.gradcheck.trace import Trace
from gradcli.record import Record


class Coded(Record):
    """Values and gradients by code at moved points.

    Fields:
        values: of the result, in its shape.
        shapes: those of the points.
        gradients: by all elements of the points, of the result whose items have weights; None where
            the interpreter has them.
    """

    __slots__ = ("values", "shapes", "gradients")
    values: Any
    shapes: list[tuple[int, ...]]
    gradients: Callable[[Any], Any]


class Elsewhere(Trace):
    """Values of results of some shapes, with what makes a whole evaluation."""

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
    """Third derivatives are not found by code."""
    return None
