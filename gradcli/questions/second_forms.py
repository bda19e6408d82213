"""How second derivatives are put to code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.adjoint import adjoint
from gradcli.engine.compile.delta import without_zeros
from gradcli.engine.compile.spreading import REASON, is_read_again
from gradcli.engine.compile.tangent import tangent, tangents
from gradcli.engine.compile.typed import (
    Do,
    NotCompilable,
    Program,
)
from gradcli.engine.compile.walk import instructions
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import np
from gradcli.questions.differentiated import Differentiated
from gradcli.questions.loaded import Loaded
from gradcli.questions.request import Request
from gradcli.questions.seeds import along, columns, seed, weight
from gradcli.questions.wanted import candidates, named
from gradcli.results import (
    HessianResult,
    HvpResult,
)


class Twice(Differentiated):
    """Base of what is asked of second derivatives: the gradient, differentiated again."""

    def derived(self, program: Program, request: Request) -> Program:
        self.hold_single()
        slopes = adjoint(program, self.points, ((0,),), self.points)
        return self.again(self.first(slopes), request)

    def again(self, program: Program, request: Request) -> Program:
        """The program of the gradient with its derivatives behind it."""
        raise NotImplementedError

    @property
    def slopes(self) -> int:
        """Where the gradient begins, behind the value and the points."""
        return self.before


class Hessian(Twice):
    """The matrix of second derivatives."""

    def again(self, program: Program, request: Request) -> Program:
        self.hold_elements()
        self._mode = "reverse" if request.mode == "auto" else request.mode
        if self._mode == "forward":
            by, self._seeds = columns(program, self.points)
            return tangents(program, by).program
        if is_read_again(program, self.points):
            raise NotCompilable(REASON)
        rows = [self.points_of([name]) for name in self.names]  # of one tensor all have a cotangent
        self._seeds = [1.0 if j == k else 0.0 for own in rows for k in own for j in own]
        places = [[self.slopes + j for j in own] for own in rows for _ in own]
        made = adjoint(program, self.points, places).program
        # of numbers put together, zeros that come to the others are not there to be added
        is_stacked = any(
            isinstance(i, Do) and i.op == ops.among.name for i in instructions(program.block.body)
        )
        return without_zeros(made, self.slopes + len(self.points)) if is_stacked else made

    def seeds(self, request: Request) -> Sequence[float | None]:
        return [seed(request), *self._seeds]

    def more(self, request: Request) -> list[float]:
        return weight(request)

    def blocks(self, numbers: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """The second derivatives by two names."""
        count, start = len(self.points), self.slopes + len(self.points)
        found = numbers[start:]
        if self._mode == "forward":
            rows = [found[self.slopes + k :: start] for k in range(count)]
        else:
            rows = [found[k * count :] for k in range(count)]
        return {name: self._block(rows, name, shape) for name, shape in self.axes()}

    def _block(
        self, rows: Sequence[Sequence[Any]], name: str, shape: tuple[int, ...]
    ) -> dict[str, Any]:
        """The second derivatives by a name and each other one."""
        several = [self.by_name(rows[k], 0) for k in self.points_of([name])]
        return {n: _nested([row[n] for row in several], shape) for n in self.names}

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> HessianResult:
        return self._result(numbers, self.blocks(numbers), None, printed)

    def _result(
        self, numbers: Sequence[Any], blocks: Any, diagonal: Any, printed: tuple[str, ...]
    ) -> HessianResult:
        return HessianResult(
            output=self.output,
            value=self.value(numbers),
            grad=self.by_name(numbers, self.slopes),
            hessian=blocks,
            diagonal=diagonal,
            mode=self._mode,
            printed=printed,
            warnings=self.warnings(),
        )


class Diagonal(Hessian):
    """The second derivatives by one name twice."""

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> HessianResult:
        diagonal = {name: row[name] for name, row in self.blocks(numbers).items()}
        return self._result(numbers, None, diagonal, printed)


class Hvp(Twice):
    """The gradient and its derivative along a direction."""

    def names_of(self, loaded: Loaded, request: Request) -> tuple[Sequence[str], Sequence[str]]:
        self._along = along(loaded, request)
        if request.wrt is None:
            self._rows: Sequence[str] | None = None
            return [*candidates(loaded.program), *self._along], self._along
        self._rows = named(loaded.program, request.wrt)
        both = [*dict.fromkeys([*self._rows, *self._along])]
        return both, both

    def again(self, program: Program, request: Request) -> Program:
        self._mode = "forward" if request.mode == "auto" else request.mode
        if self._mode != "forward":
            raise NotCompilable("a product with the Hessian by reverse mode")
        along = [self.points[k] for k in self.points_of(self._along)]
        return tangent(program, along, 1).program

    def seeds(self, request: Request) -> Sequence[float | None]:
        return [seed(request), *[None] * len(self.points_of(self._along))]

    def more(self, request: Request) -> list[float]:
        return [*weight(request), *self.direction(request, self._along)]

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> HvpResult:
        rows = self.names if self._rows is None else self._rows
        grad = self.by_name(numbers, self.slopes)
        width = self.slopes + len(self.points)
        found = self.by_name(numbers, width + self.slopes)
        grad, found = ({name: each[name] for name in rows} for each in (grad, found))
        return HvpResult(
            output=self.output,
            value=self.value(numbers),
            grad=grad,
            hvp=found,
            mode=self._mode,
            printed=printed,
            warnings=self.warnings(),
        )


def _nested(rows: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The rows of a matrix as one, with the axes of a tensor in front."""
    if not shape:
        return rows[0]
    found = np.array(rows)
    return found.reshape(*shape, *found.shape[1:])
