"""Questions as typed programs whose source code people read: without prints, with plain zeros."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.differentiate.tangent import tangents
from gradcli.engine.compile.export.flags import silent, unflagged
from gradcli.engine.compile.specialize.program import Elements, Items, Leaf, Specialized, Tree
from gradcli.engine.compile.typed import (
    Block,
    Do,
    Instruction,
    NotCompilable,
    Operand,
    Program,
    Value,
    dtype_and_shape,
    is_array,
)
from gradcli.engine.ops.catalog import ops
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request
from gradcli.questions.coded.derivatives import LoweredDerivatives
from gradcli.questions.coded.lowered import Plan


class OfWholeArrays(NotCompilable):
    """There is no source code on whole arrays; on their elements there may be."""


class Plain(LoweredDerivatives):
    """Base of these questions.

    Fields:
        order: the highest order of the derivatives.
        shapes_of_results: the shape of each result; the results are the elements of all of them.
        is_forward: True if the first derivatives are those of forward mode.
    """

    order = 0
    is_forward = False

    def __init__(
        self, loaded: Loaded, request: Request, plan: Plan, of: Sequence[str | None]
    ) -> None:
        self._of = of
        super().__init__(loaded, request, plan)

    def wanted(self, request: Request) -> Sequence[str | None]:
        return self._of

    def structure(self, outputs: Sequence[Tree]) -> Tree:
        self.shapes_of_results = []
        leaves: list[Tree] = []
        for output in outputs:
            items = output.items if isinstance(output, Items) else (output,)
            inner = [shape for item in items for shape in [_shape(item)]]
            alike = len(items) == 1 and not isinstance(output, Items)
            self.shapes_of_results.append(inner[0] if alike else (sum(map(prod, inner)),))
            for item in items:
                leaves += _leaves(item)
        is_single = len(leaves) == 1 and (self.shapes_of_results == [()] or _shape(leaves[0]) != ())
        return leaves[0] if is_single else Items(tuple, tuple(leaves))

    def derived(self, program: Program, request: Request) -> Program:
        program = self._with_leaves(program)
        given = {v.number for v in program.inputs}
        if any(v.number not in given for v in self.points):
            raise OfWholeArrays("it is differentiated by an array that it makes itself")
        if self.order and (self.order > 1 or self.shape) and (self.whole or self._is_whole):
            raise OfWholeArrays("a Jacobian or Hessian of whole arrays")
        return self.plain(silent(program), request)

    def _with_leaves(self, program: Program) -> Program:
        """A program whose arrays that are leaves, if it is differentiated by them, are inputs."""
        body, inputs, constants = list[Instruction](), [*program.inputs], [*self.constants]
        points, known = {v.number for v in self.points if is_array(v.type)}, set()
        for i in program.block.body:
            if isinstance(i, Do) and i.op == ops.held.name:
                known.add(i.target.number)
            x = i.args[0] if isinstance(i, Do) and i.op == ops.copied.name else None
            if isinstance(i, Do) and i.target.number in points and _is_one_of(x, known):
                inputs.append(i.target)
                constants.append(0.0)
            else:
                body.append(i)
        self.constants = constants
        return Program(tuple(inputs), Block(tuple(body), program.block.results), program.texts)

    def plain(self, program: Program, request: Request) -> Program:
        """The derivatives of a program that prints nothing."""
        raise NotImplementedError

    def seeds(self, request: Request) -> Sequence[float | None]:
        return self._seeds

    _seeds: Sequence[float | None] = ()


class PlainValue(Plain):
    """The value alone."""

    def plain(self, program: Program, request: Request) -> Program:
        return program


class PlainRun(PlainValue):
    """The value alone, of a program that may do what has no derivative."""

    def names_of(self, loaded: Loaded, request: Request) -> tuple[Sequence[str], Sequence[str]]:
        return (), ()

    def differentiated(
        self, request: Request, made: Specialized, watched: Sequence[str], asked: Sequence[str]
    ) -> list[str]:
        return []


class PlainDerivative(Plain):
    """The value, and the gradient or the Jacobian: all of it by rows or all by columns."""

    order = 1

    def plain(self, program: Program, request: Request) -> Program:
        is_wide = self.width > 1 and len(self.points) <= self.width
        self.is_forward = is_wide if request.mode == "auto" else request.mode == "forward"
        if self.is_forward:
            self._seeds = [1.0] * len(self.points)
            self.derivative = unflagged(tangents(program, _each(self.points)))
            return self.derivative.program
        self._seeds = [1.0] * self.width
        return self.first(unflagged(adjoint(program, self.points, [(k,) for k in self.every])))


class PlainHessian(Plain):
    """The value, the gradient, and the Hessian: forward mode over reverse mode."""

    order = 2

    def plain(self, program: Program, request: Request) -> Program:
        slopes = unflagged(adjoint(program, self.points, (self.every,), self.points))
        self._seeds = [*self.weights(request), *[1.0] * len(self.points)]
        return unflagged(tangents(self.first(slopes), _each(self.points))).program


def _is_one_of(x: Operand | None, numbers: Collection[int]) -> bool:
    return isinstance(x, Value) and x.number in numbers


def _shape(tree: Tree) -> tuple[int, ...]:
    if isinstance(tree, Leaf):
        return dtype_and_shape(tree.type)[1]
    return tree.shape if isinstance(tree, Elements) else ()


def _leaves(tree: Tree) -> Sequence[Tree]:
    """The numbers of a result, those of a tensor one by one."""
    if isinstance(tree, Elements):
        return [Leaf(tree.type, True, ("",))] * tree.count
    return [tree]


def _each(points: Sequence[Value]) -> list[Sequence[Value]]:
    """The directions that move one of the points each."""
    return [[point] for point in points]
