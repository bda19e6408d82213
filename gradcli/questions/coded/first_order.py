"""Questions about first derivatives as typed programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.symbols import Builder, operand
from gradcli.engine.compile.typed import (
    Block,
    Do,
    If,
    Instruction,
    Loop,
    NotCompilable,
    Program,
)
from gradcli.engine.compile.walk import defined, has_arrays, instructions, unused, values
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import np
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.percent import percent
from gradcli.questions.asked.request import Request
from gradcli.questions.coded import directions
from gradcli.questions.coded.derivatives import LoweredDerivatives, output
from gradcli.questions.coded.directions import by_columns, by_rows, count_of, hold_together
from gradcli.questions.coded.seeds import columns, units
from gradcli.results import (
    ElasticityResult,
    GradResult,
    JacobianResult,
    JvpResult,
    ValueResult,
    VjpResult,
)
from gradcli.source import Span

_NOWHERE = Span(0, 0)


class Value(LoweredDerivatives):
    """The value alone."""

    def derived(self, program: Program, request: Request) -> Program:
        block = Block(program.block.body, program.block.results[: self.width])
        return Program(program.inputs, block, program.texts)

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> ValueResult:
        return self.made(ValueResult, numbers, printed)


class Gradient(LoweredDerivatives):
    """Value and gradient."""

    def derived(self, program: Program, request: Request) -> Program:
        self.weights(request)
        return self.first(adjoint(program, self.points, (self.every,)))

    def seeds(self, request: Request) -> Sequence[float | None]:
        return self.weights(request)

    def more(self, request: Request) -> list[Any]:
        return self.given_weights(request)

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> GradResult:
        return self.made(
            GradResult,
            numbers,
            printed,
            grad=self.by_name(numbers, self.before),
            inputs=self.by_name(numbers, self.width),
        )


class Elasticity(Gradient):
    """Value, gradient and elasticities, which follow the gradient among the numbers."""

    def derived(self, program: Program, request: Request) -> Program:
        if request.cotangent is not None:
            raise NotCompilable("the elasticity is that of a weighed result")
        found = super().derived(program, request)
        builder = Builder(_NOWHERE, unused(found))
        value, points, grad = (
            [*map(builder.known, part)]
            for part in (
                found.block.results[: self.width],
                self.points,
                found.block.results[self.before :],
            )
        )
        with builder.block() as behind:
            pairs = zip(points, grad, strict=True)
            made = [operand(percent(x, slope, *value)) for x, slope in pairs]
        block = Block((*found.block.body, *behind), (*found.block.results, *made))
        return Program(found.inputs, block, found.texts)

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> ElasticityResult:
        return self.made(
            ElasticityResult,
            numbers,
            printed,
            grad=self.by_name(numbers, self.before),
            inputs=self.by_name(numbers, self.width),
            elasticity=self.by_name(numbers, self.before + len(self.points)),
        )


class Vjp(Gradient):
    """The gradient as the product of the cotangent with the Jacobian."""

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> Any:
        return VjpResult.of(super().result(numbers, printed))


class Jvp(LoweredDerivatives):
    """The derivative along a direction."""

    def names_of(self, loaded: Loaded, request: Request) -> tuple[Sequence[str], Sequence[str]]:
        found = loaded.along(request)
        return found, found

    def derived(self, program: Program, request: Request) -> Program:
        return self.pushed(program, [self.points])

    def seeds(self, request: Request) -> Sequence[float | None]:
        return [None] * len(self.points)

    def more(self, request: Request) -> list[float]:
        return self.direction(request, self.names)

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> JvpResult:
        dot = self.value(numbers[self.before :][: self.width])
        return self.made(JvpResult, numbers, printed, jvp=dot)


class Jacobian(LoweredDerivatives):
    """The matrix of first derivatives."""

    def derived(self, program: Program, request: Request) -> Program:
        shapes = [shape for _, shape in self.axes()]
        self._mode = request.mode
        if self._mode == "auto":
            is_forward = count_of(shapes) <= count_of([self.shape])
            self._mode = "forward" if is_forward else "reverse"
        self._given: list[Any] = []
        self._seeds: Sequence[float | None]
        self._are_together = has_arrays(program)
        if self._are_together:
            alone = self._one_by_one(program, shapes)
            self._are_together = alone is None
            return self._together(program, shapes) if alone is None else alone
        if self._mode == "forward":
            return self._by_columns(program)
        self._seeds = units(self.width)
        return self.first(adjoint(program, self.points, [self.every] * self.width))

    def _by_columns(self, program: Program) -> Program:
        """A program whose derivatives by each number are values of their own."""
        results = program.block.results[: self.width]
        by, self._seeds = columns(program, self.points, results)
        return self.pushed(program, by)

    def _one_by_one(self, program: Program, shapes: Sequence[tuple[int, ...]]) -> Program | None:
        """The same for arrays that a loop changes place by place, as those of `odeint`, of which
        there is no machine code with all directions in one array; None if derivatives are by many
        numbers, or if their bits could be others than of all directions together.
        """
        has_loops = any(isinstance(i, Loop) for i in program.block.body)
        if self._mode != "forward" or any(shapes) or len(shapes) > _ALONE or not has_loops:
            return None
        before = {v.number for v in values(program)}
        found = self._by_columns(program)
        made = (
            i
            for i in instructions(found.block.body)
            if not before.issuperset(v.number for v in defined(i))
        )
        return found if all(map(_is_by_elements, made)) else None

    def _together(self, program: Program, shapes: Sequence[tuple[int, ...]]) -> Program:
        """A program whose derivatives have all directions in one array."""
        axes = shapes if self._mode == "forward" else self.shapes
        count = count_of(axes)
        hold_together(program, count)
        self._given = directions.units(axes)
        self._seeds = [None] * len(axes)
        if self._mode == "forward":
            return self.pushed(program, [self.points], [count])
        return self.first(adjoint(program, self.points, [self.every], counts=[count]))

    def seeds(self, request: Request) -> Sequence[float | None]:
        return self._seeds

    def more(self, request: Request) -> list[Any]:
        return self._given

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> JacobianResult:
        found = numbers[self.before :]
        blocks = self._blocks_together(found) if self._are_together else self._of_numbers(found)
        return self.made(JacobianResult, numbers, printed, jacobian=blocks, mode=self._mode)

    def _blocks_together(self, found: Sequence[Any]) -> dict[str, Any]:
        """The blocks of the matrix, whose directions are in one array."""
        names, shapes = self.names, [shape for _, shape in self.axes()]
        if self._mode == "reverse":
            pairs = zip(found, shapes, strict=False)
            return dict(zip(names, [by_rows(x, self.shape, s) for x, s in pairs], strict=True))
        whole = self.value(found[: self.width])
        if len(self.shapes) > 1:  # items of a list, each with its columns
            whole = np.moveaxis(whole, 0, -1)
        return dict(zip(names, by_columns(whole, self.shape, shapes), strict=True))

    def _of_numbers(self, found: Sequence[Any]) -> dict[str, Any]:
        """The blocks of the matrix, where each direction has numbers of its own."""
        count = len(self.points)
        if self._mode == "forward":
            each = [found[k * self.before :][: self.width] for k in range(count)]
            parts = [*map(self.value, each)]
        else:
            parts = [output(self.tree, iter(found[k::count])) for k in range(count)]
        return {
            name: _stacked([parts[k] for k in self.points_of([name])], shape)
            for name, shape in self.axes()
        }


def _is_by_elements(i: Instruction) -> bool:
    """True if an instruction computes each element from others in one way, whatever the shape."""
    if isinstance(i, Do):
        return ops[i.op].value.number is not None or ops[i.op] in _MOVES
    return isinstance(i, If | Loop)


_ALONE = 8  # numbers
_MOVES = frozenset(
    (ops.getitem, ops.stack, ops.held, ops.any, ops.row, ops.with_row, ops.set_at, ops.expand)
)


def _stacked(parts: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """A derivative by each element of a tensor as one, with the axes of the tensor behind."""
    if not shape:
        return parts[0]
    found = np.stack([*map(np.asarray, parts)], -1)
    return found.reshape(*found.shape[:-1], *shape)
