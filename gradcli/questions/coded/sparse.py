"""Sparse matrices of derivatives as typed programs: code for one product, called for each color."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.differentiate.broadcast_numbers import REASON, is_read_again
from gradcli.engine.compile.passes.activity import Flow
from gradcli.engine.compile.specialize.program import Items
from gradcli.engine.compile.typed import NotCompilable, Program, is_array
from gradcli.engine.compile.walk import values
from gradcli.engine.values.data import Data, np
from gradcli.questions.asked.request import Request
from gradcli.questions.asked.sparse_plan import Asked, Plan
from gradcli.questions.coded.derivatives import LoweredDerivatives
from gradcli.questions.coded.second_order import SecondOrder, sure_of_zeros
from gradcli.questions.coded.seeds import numbers_of
from gradcli.results import SparseHessianResult, SparseJacobianResult


class Products(LoweredDerivatives):
    """Base of the products that show the entries of a matrix of derivatives."""

    def directions(self, request: Request) -> Iterator[list[Any]]:
        """The inputs of the request for each call: a sum of directions for each group."""
        groups = _plan(request).groups
        for color in range(max((1, *(group.count for group in groups)))):
            yield [
                x for k, g in enumerate(groups) for x in self.along(k, g.seeds(color, color + 1)[0])
            ]

    def along(self, group: int, seed: Data) -> list[Any]:
        """The inputs for a sum of directions of one group."""
        raise NotImplementedError

    def products(self, numbers: Sequence[Any]) -> list[Data]:
        """The product of each group from the numbers of a call."""
        raise NotImplementedError

    def answer(
        self,
        request: Request,
        calls: Iterable[Sequence[Any]],
        printed: Callable[[], tuple[str, ...]],
    ) -> Any:
        plan = _plan(request)
        first: Sequence[Any] = ()
        values = np.zeros(len(plan.pattern.rows))
        for color, numbers in enumerate(calls):
            first = first or numbers
            for group, product in zip(plan.groups, self.products(numbers), strict=True):
                if color < group.count:
                    group.put(product[None], color, values)
        return self.of_entries(first, plan, values, printed())

    def of_entries(
        self, numbers: Sequence[Any], plan: Plan, values: Data, printed: tuple[str, ...]
    ) -> Any:
        """The answer from the numbers of one call and the values of all entries."""
        raise NotImplementedError

    def by_shapes(self, flat: Data) -> list[Any]:
        """The elements of all points as inputs of code."""
        found, start = [], 0
        for name, shape in self.axes():
            stop = start + int(np.prod(shape, dtype=int))
            part = flat[start:stop].reshape(shape)
            found += numbers_of(part if shape else part.item(), shape, is_whole=name in self.whole)
            start = stop
        return found

    def joined(self, numbers: Sequence[Any], start: int) -> Data:
        """The elements of the points' derivatives, one behind the other."""
        found = self.by_name(numbers, start).values()
        return np.concatenate([np.ravel(x) for x in found])


class SparseJacobian(Products):
    """A product of the Jacobian with a direction of its columns, or of its rows."""

    def derived(self, program: Program, request: Request) -> Program:
        self._mode = _plan(request).mode
        if self._mode == "forward":
            return self.pushed(program, [self.points])
        return self.first(adjoint(program, self.points, (self.every,)))

    def seeds(self, request: Request) -> Sequence[float | None]:
        return [None] * (len(self.points) if self._mode == "forward" else self.width)

    def along(self, group: int, seed: Data) -> list[Any]:
        if self._mode == "forward":
            return self.by_shapes(seed)
        given = seed.reshape(self.shape) if self.shape else seed.item()
        return numbers_of(given, self.shape, is_whole=not isinstance(self.tree, Items))

    def products(self, numbers: Sequence[Any]) -> list[Data]:
        if self._mode == "reverse":
            return [self.joined(numbers, self.before)]
        return [np.ravel(self.value(numbers[self.before :][: self.width]))]

    def of_entries(
        self, numbers: Sequence[Any], plan: Plan, values: Data, printed: tuple[str, ...]
    ) -> SparseJacobianResult:
        fields = {"jacobian": plan.coo(values), **plan.told}
        return self.made(SparseJacobianResult, numbers, printed, **fields)


class SparseHessian(Products, SecondOrder):
    """The products of the matrix of second derivatives with a direction of each name's rows."""

    def again(self, program: Program, request: Request) -> Program:
        _plan(request)
        moving = Flow(program).moving(self.points)
        are_together = any(v in moving and is_array(v.type) for v in values(program))
        if not are_together and is_read_again(program, self.points):
            raise NotCompilable(REASON)
        places = [[self.before + k for k in self.points_of([name])] for name in self.names]
        made = adjoint(program, self.points, places).program
        return (
            made if are_together else sure_of_zeros(program, made, self.before + len(self.points))
        )

    def seeds(self, request: Request) -> Sequence[float | None]:
        return [*self._weights, *[None] * len(self.points)]

    def directions(self, request: Request) -> Iterator[list[Any]]:
        given = self.given_weights(request)
        return ([*given, *found] for found in super().directions(request))

    def along(self, group: int, seed: Data) -> list[Any]:
        name, shape = [*self.axes()][group]
        given = seed.reshape(shape) if shape else seed.item()
        return numbers_of(given, shape, is_whole=name in self.whole)

    def products(self, numbers: Sequence[Any]) -> list[Data]:
        start, count = self.before + len(self.points), len(self.points)
        return [self.joined(numbers, start + k * count) for k in range(len(self.names))]

    def of_entries(
        self, numbers: Sequence[Any], plan: Plan, values: Data, printed: tuple[str, ...]
    ) -> SparseHessianResult:
        grad = self.by_name(numbers, self.before)
        fields = {"grad": grad, "hessian": plan.coo(values), **plan.told}
        return self.made(SparseHessianResult, numbers, printed, **fields)


def _plan(request: Request) -> Plan:
    """The plan of a request.

    Raises:
        NotCompilable: If it has none.
    """
    asked = request.question
    assert isinstance(asked, Asked), "made for it"
    if asked.plan is None:
        raise NotCompilable(asked.reason)
    return asked.plan
