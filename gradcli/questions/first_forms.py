"""How first derivatives are put to code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.adjoint import adjoint
from gradcli.engine.compile.typed import (
    Program,
)
from gradcli.engine.values.data import np
from gradcli.questions.differentiated import Differentiated, output
from gradcli.questions.loaded import Loaded
from gradcli.questions.request import Request
from gradcli.questions.seeds import along, columns, seed, units, weight
from gradcli.results import (
    GradResult,
    JacobianResult,
    JvpResult,
    VjpResult,
)


class Gradient(Differentiated):
    """Value and gradient."""

    def derived(self, program: Program, request: Request) -> Program:
        self.hold_single()
        return self.first(adjoint(program, self.points, ((0,),)))

    def seeds(self, request: Request) -> Sequence[float | None]:
        return [seed(request)]

    def more(self, request: Request) -> list[float]:
        return weight(request)

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> GradResult:
        return GradResult(
            output=self.output,
            value=self.value(numbers),
            grad=self.by_name(numbers, self.before),
            inputs=self.by_name(numbers, self.width),
            printed=printed,
            warnings=self.warnings(),
            kinks=None,
        )


class Vjp(Gradient):
    """The gradient as the product of the cotangent with the Jacobian."""

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> Any:
        found = super().result(numbers, printed)
        return VjpResult(
            output=found.output,
            value=found.value,
            vjp=found.grad,
            inputs=found.inputs,
            printed=found.printed,
            warnings=found.warnings,
        )


class Jvp(Differentiated):
    """The derivative along a direction."""

    def names_of(self, loaded: Loaded, request: Request) -> tuple[Sequence[str], Sequence[str]]:
        found = along(loaded, request)
        return found, found

    def derived(self, program: Program, request: Request) -> Program:
        return self.pushed(program, [self.points])

    def seeds(self, request: Request) -> Sequence[float | None]:
        return [None] * len(self.points)

    def more(self, request: Request) -> list[float]:
        return self.direction(request, self.names)

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> JvpResult:
        dot = self.stacked(numbers[self.before :][: self.width])
        return JvpResult(
            output=self.output,
            value=self.value(numbers),
            jvp=dot,
            printed=printed,
            warnings=self.warnings(),
        )


class Jacobian(Differentiated):
    """The matrix of first derivatives."""

    def derived(self, program: Program, request: Request) -> Program:
        self.hold_elements()
        count = len(self.points)
        self._mode = request.mode
        if self._mode == "auto":
            self._mode = "forward" if count <= self.width else "reverse"
        if self._mode == "forward":
            by, self._seeds = columns(program, self.points)
            return self.pushed(program, by)
        self._seeds = units(self.width)
        every = tuple(range(self.width))
        return self.first(adjoint(program, self.points, [every] * self.width))

    def seeds(self, request: Request) -> Sequence[float | None]:
        return self._seeds

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> JacobianResult:
        found, count = numbers[self.before :], len(self.points)
        if self._mode == "forward":
            columns = [found[k * self.before :][: self.width] for k in range(count)]
            parts = [*map(self.stacked, columns)]
        else:
            parts = [output(self._tree, iter(found[k::count])) for k in range(count)]
        blocks = {
            name: _stacked([parts[k] for k in self.points_of([name])], shape)
            for name, shape in self.axes()
        }
        return JacobianResult(
            output=self.output,
            value=self.value(numbers),
            jacobian=blocks,
            mode=self._mode,
            printed=printed,
            warnings=self.warnings(),
        )


def _stacked(parts: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """A derivative by each element of a tensor as one, with the axes of the tensor behind."""
    if not shape:
        return parts[0]
    found = np.stack([*map(np.asarray, parts)], -1)
    return found.reshape(*found.shape[:-1], *shape)
