"""Compiled programs at moved points: a check of derivatives runs them many times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.typed import NotCompilable, Program
from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request
from gradcli.questions.coded.compiled import Compiled, remark, tried
from gradcli.questions.coded.derivatives import LoweredDerivatives


class Values(LoweredDerivatives):
    """The values of the result.

    Fields:
        places: where the points of each name are among the inputs of the program.
    """

    def derived(self, program: Program, request: Request) -> Program:
        if self.draws:
            raise NotCompilable("random numbers are drawn")
        numbers = [v.number for v in program.inputs]
        several = [[self.points[k].number for k in self.points_of([n])] for n in self.names]
        for name, own in zip(self.names, several, strict=True):
            if not set(own) <= set(numbers):
                raise NotCompilable(f"`{name}` is computed, and moved")
        self.places = [[numbers.index(number) for number in own] for own in several]
        return program

    def moved(self, name: str, data: Any) -> list[Any]:
        """The inputs of the code for a name with this value."""
        return [np.array(data, np.float64)] if name in self.whole else np.ravel(data).tolist()

    def weighed(self, weights: Any) -> list[Any]:
        """The inputs of the code for the weights of the result, an array."""
        return [weights.reshape(self.shape)] if self._is_whole else weights.tolist()

    def found(self, numbers: Sequence[Any]) -> Any:
        """The values as an array of the shape of the result."""
        return np.array(self.value(numbers), np.float64)


class Gradients(Values):
    """The gradients of the weighted sum of the result's items, by the points."""

    def derived(self, program: Program, request: Request) -> Program:
        program = super().derived(program, request)
        return self.first(adjoint(program, self.points, (self.every,)))

    def seeds(self, request: Request) -> Sequence[float | None]:
        return [None] * self.width

    def found(self, numbers: Sequence[Any]) -> Any:
        several = self.by_name(numbers, self.before).values()
        return np.concatenate([np.ravel(x) for x in several]).astype(np.float64)


class Perturbed:
    """The code of a program whose points are moved.

    Fields:
        names: the names of the points.
        remark: a note about it for `verbose`.

    Raises:
        NotCompilable: If the program cannot be compiled.
    """

    def __init__(self, loaded: Loaded, request: Request, order: int) -> None:
        start = perf_counter()
        self._values = _Coded(loaded, Values, request)
        self._gradients = self._values if order == 1 else _Coded(loaded, Gradients, request)
        self.names = [*self._values.lowered.names]
        self.remark = remark(perf_counter() - start, self._values.code)

    def values(self, request: Request, moved: Mapping[str, Any]) -> Any:
        """The result where some names have other values; None where the interpreter has it."""
        return self._values.at(request, moved, [])

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the points."""
        return [shape for _, shape in self._values.lowered.axes()]

    def gradients(self, request: Request, moved: Mapping[str, Any], weights: Any) -> Any:
        """The gradients of the weighted sum of the result's items, at moved inputs."""
        return self._gradients.at(request, moved, self._gradients.lowered.weighed(weights))


def perturbed(loaded: Loaded, request: Request, order: int) -> Perturbed | Diagnostic:
    """The code for checks up to an order, or why there is none."""
    return tried(loaded, request, lambda: Perturbed(loaded, request, order))


class _Coded(Compiled):
    lowered: Values

    def at(self, request: Request, moved: Mapping[str, Any], more: Sequence[Any]) -> Any:
        """The answer with other values of some names; None if the interpreter has to answer."""
        inputs = self.inputs(request)
        if inputs is None:
            return None
        for name, places in zip(self.lowered.names, self.lowered.places, strict=True):
            if name in moved:
                for place, x in zip(places, self.lowered.moved(name, moved[name]), strict=True):
                    inputs[place] = x
        numbers = self.call(request, [*inputs, *more])
        return None if numbers is None else self.lowered.found(numbers)
