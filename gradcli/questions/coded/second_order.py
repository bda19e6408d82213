"""Questions about second derivatives as typed programs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.differentiate.broadcast_numbers import REASON, is_read_again
from gradcli.engine.compile.differentiate.differentials import without_zeros
from gradcli.engine.compile.differentiate.tangent import tangent, tangents
from gradcli.engine.compile.passes.activity import Flow
from gradcli.engine.compile.typed import Do, NotCompilable, Program, Value, is_array
from gradcli.engine.compile.walk import instructions, values
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import np
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.names import candidates, requested
from gradcli.questions.asked.request import Request
from gradcli.questions.coded.derivatives import LoweredDerivatives
from gradcli.questions.coded.directions import (
    Shape,
    by_columns,
    by_rows,
    count_of,
    hold_together,
    units,
)
from gradcli.questions.coded.seeds import columns
from gradcli.results import HessianResult, HvpResult


class SecondOrder(LoweredDerivatives):
    """Base of questions about second derivatives: the gradient, differentiated again."""

    def derived(self, program: Program, request: Request) -> Program:
        self._weights = self.weights(request)
        slopes = adjoint(program, self.points, (self.every,), self.points)
        return self.again(self.first(slopes), request)

    def again(self, program: Program, request: Request) -> Program:
        """The program of the gradient with its derivatives behind it."""
        raise NotImplementedError


class Hessian(SecondOrder):
    """The matrix of second derivatives."""

    def again(self, program: Program, request: Request) -> Program:
        moving = Flow(program).moving(self.points)
        self._are_together = any(v in moving and is_array(v.type) for v in values(program))
        self._mode = self.auto() if request.mode == "auto" else request.mode
        self._given: list[Any] = []
        self._seeds: Sequence[float | None]
        if self._are_together:
            return self._together(program)
        if self._mode == "forward":
            slopes = program.block.results[self.before :][: len(self.points)]
            found = [columns(program, own, slopes) for own in self.moved()]
            self._seeds = [seed for _, seeds in found for seed in seeds]
            return tangents(program, [moved for by, _ in found for moved in by]).program
        if is_read_again(program, self.points):
            raise NotCompilable(REASON)
        rows = [self.points_of([name]) for name in self.names]  # of one tensor all have a cotangent
        self._seeds = [1.0 if j == k else 0.0 for own in rows for k in own for j in own]
        places = [[self.before + j for j in own] for own in rows for _ in own]
        made = adjoint(program, self.points, places).program
        return sure_of_zeros(program, made, self.before + len(self.points))

    def auto(self) -> str:
        """The mode in which the gradient is differentiated if none is asked for."""
        return "reverse"

    def _together(self, program: Program) -> Program:
        """A program whose second derivatives have all directions, or in reverse mode all of each
        name, in one array.
        """
        shapes = [shape for _, shape in self.axes()]
        hold_together(program, count_of(shapes))
        is_forward = self._mode == "forward"
        several = _divided(shapes, self.moved()) if is_forward else [[shape] for shape in shapes]
        self._given = [part for axes in several for part in units(axes)]
        self._seeds = [None] * len(self._given)
        counts = [*map(count_of, several)]
        if self._mode == "forward":
            return tangents(program, self.moved(), (), counts).program
        places = [(self.before + j,) for j in range(len(shapes))]
        return adjoint(program, self.points, places, counts=counts).program

    def moved(self) -> list[Sequence[Value]]:
        """The points that move together in forward mode."""
        return [self.points]

    def seeds(self, request: Request) -> Sequence[float | None]:
        return [*self._weights, *self._seeds]

    def more(self, request: Request) -> list[Any]:
        return [*self.given_weights(request), *self._given]

    def blocks(self, numbers: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """The second derivatives by two names."""
        count, start = len(self.points), self.before + len(self.points)
        found = numbers[start:]
        if self._are_together:
            return self.blocks_together(found)
        if self._mode == "forward":
            rows = [found[self.before + k :: start] for k in range(count)]
        else:
            rows = [found[k * count :] for k in range(count)]
        return {name: self._block(rows, name, shape) for name, shape in self.axes()}

    def blocks_together(self, found: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """The second derivatives by two names, where one array has all directions."""
        names, shapes = self.names, [shape for _, shape in self.axes()]
        if self._mode == "forward":
            slopes = zip(found[self.before :], shapes, strict=False)
            rows = [by_columns(x, shape, shapes) for x, shape in slopes]
        else:
            parts = [found[k * len(names) :] for k in range(len(names))]
            rows = [
                [by_rows(x, out, shape) for x, shape in zip(part, shapes, strict=False)]
                for part, out in zip(parts, shapes, strict=True)
            ]
        return {n: dict(zip(names, row, strict=True)) for n, row in zip(names, rows, strict=True)}

    def _block(
        self, rows: Sequence[Sequence[Any]], name: str, shape: tuple[int, ...]
    ) -> dict[str, Any]:
        """The second derivatives by a name and each other one."""
        several = [self.by_name(rows[k], 0) for k in self.points_of([name])]
        return {n: _nested([row[n] for row in several], shape) for n in self.names}

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> HessianResult:
        return self._result(numbers, printed, hessian=self.blocks(numbers), diagonal=None)

    def _result(
        self, numbers: Sequence[Any], printed: tuple[str, ...], **found: Any
    ) -> HessianResult:
        grad = self.by_name(numbers, self.before)
        return self.made(HessianResult, numbers, printed, grad=grad, mode=self._mode, **found)


class CheapestHessian(Hessian):
    """The matrix of second derivatives, in the mode whose code takes less time: numbers have all
    directions side by side in forward mode, arrays take fewer steps in reverse mode.
    """

    def auto(self) -> str:
        return "reverse" if self._are_together else "forward"


class HessianDiagonal(Hessian):
    """The second derivatives by one name twice."""

    def moved(self) -> list[Sequence[Value]]:
        return [[self.points[k] for k in self.points_of([name])] for name in self.names]

    def blocks_together(self, found: Sequence[Any]) -> dict[str, dict[str, Any]]:
        if self._mode == "reverse":
            return super().blocks_together(found)
        start = self.before + len(self.points)  # the number of results of a direction
        rows = {}
        for k, (name, shape) in enumerate(self.axes()):
            (block,) = by_columns(found[k * start + self.before + k], shape, [shape])
            rows[name] = {name: block}
        return rows

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> HessianResult:
        blocks, shapes = self.blocks(numbers), dict(self.axes())
        diagonal = {name: _diagonal(row[name], shapes[name]) for name, row in blocks.items()}
        return self._result(numbers, printed, hessian=None, diagonal=diagonal)


class Hvp(SecondOrder):
    """The gradient and its derivative along a direction."""

    def names_of(self, loaded: Loaded, request: Request) -> tuple[Sequence[str], Sequence[str]]:
        self._along = loaded.along(request)
        if request.wrt is None:
            self._rows: Sequence[str] | None = None
            return [*candidates(loaded.program), *self._along], self._along
        self._rows = requested(loaded.program, request.wrt)
        both = [*dict.fromkeys([*self._rows, *self._along])]
        return both, both

    def again(self, program: Program, request: Request) -> Program:
        self._mode = "forward" if request.mode == "auto" else request.mode
        along = self.points_of(self._along)
        if self._mode == "forward":
            return tangent(program, [self.points[k] for k in along]).program
        if is_read_again(program, self.points):
            raise NotCompilable(REASON)
        places = [self.before + k for k in along]
        made = adjoint(program, self.points, [places]).program
        return sure_of_zeros(program, made, self.before + len(self.points))

    def seeds(self, request: Request) -> Sequence[float | None]:
        return [*self._weights, *[None] * len(self.points_of(self._along))]

    def more(self, request: Request) -> list[Any]:
        return [*self.given_weights(request), *self.direction(request, self._along)]

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> HvpResult:
        rows = self.names if self._rows is None else self._rows
        grad = self.by_name(numbers, self.before)
        width = self.before + len(self.points)
        start = width + self.before if self._mode == "forward" else width
        found = self.by_name(numbers, start)
        grad, found = ({name: each[name] for name in rows} for each in (grad, found))
        return self.made(HvpResult, numbers, printed, grad=grad, hvp=found, mode=self._mode)


def _divided(shapes: Sequence[Shape], parts: Sequence[Sequence[Any]]) -> list[Sequence[Shape]]:
    """The shapes of points in parts, one behind the other."""
    left = iter(shapes)
    return [[next(left) for _ in part] for part in parts]


def sure_of_zeros(program: Program, made: Program, start: int) -> Program:
    """The second derivatives of a program by reverse mode, from a result on: where it puts numbers
    together, zeros that come to the others are not there to be added.
    """
    puts = any(
        isinstance(i, Do) and i.op == ops.among.name for i in instructions(program.block.body)
    )
    return without_zeros(made, start) if puts else made


def _diagonal(block: Any, shape: Shape) -> Any:
    """The derivatives by each element of a tensor twice."""
    if not shape:
        return block
    size = prod(shape)
    return np.diagonal(block.reshape(size, size)).reshape(shape).copy()


def _nested(rows: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The rows of a matrix as one, with the axes of a tensor in front."""
    if not shape:
        return rows[0]
    found = np.array(rows)
    return found.reshape(*shape, *found.shape[1:])
