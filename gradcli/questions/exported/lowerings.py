"""Questions as typed programs whose source code people read: without prints, with plain zeros."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.differentiate.tangent import tangents
from gradcli.engine.compile.export.flags import silent, unflagged
from gradcli.engine.compile.export.shared import unwarned
from gradcli.engine.compile.export.sweeps import Layout, Sweep, Swept, swept
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
    type_of,
)
from gradcli.engine.compile.walk import Renamer
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
        swept: the program with its derivatives by or of whole arrays; None if it has them as
            results.
    """

    order = 0
    is_forward = False
    swept: Swept | None = None

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
        return self.plain(silent(program), request)

    def _with_leaves(self, program: Program) -> Program:
        """A program whose arrays that are leaves, if it is differentiated by them, are inputs. A
        leaf that is a copy of an input is that input.
        """
        body, inputs, constants = list[Instruction](), [*program.inputs], [*self.constants]
        points, known = {v.number for v in self.points if is_array(v.type)}, set()
        given = {v.number for v in program.inputs}
        same: dict[int, Operand] = {}
        for i in program.block.body:
            if isinstance(i, Do) and i.op == ops.held.name:
                known.add(i.target.number)
            is_leaf = isinstance(i, Do) and i.target.number in points
            x = i.args[0] if isinstance(i, Do) and i.op == ops.copied.name else None
            if isinstance(i, Do) and is_leaf and _is_one_of(x, given):
                assert isinstance(x, Value)
                same[i.target.number] = x
            elif isinstance(i, Do) and is_leaf and _is_one_of(x, known):
                inputs.append(i.target)
                constants.append(0.0)
            else:
                body.append(i)
        self.constants = constants
        renamer = Renamer(same)
        self.points = [x for v in self.points if isinstance(x := renamer.operand(v), Value)]
        block = renamer.block(Block(tuple(body), program.block.results))
        return Program(tuple(inputs), block, program.texts)

    def plain(self, program: Program, request: Request) -> Program:
        """The derivatives of a program that prints nothing."""
        raise NotImplementedError

    def seeds(self, request: Request) -> Sequence[float | None]:
        return self._seeds

    def sweeps(self, program: Program, several: Sequence[Sweep], size: int) -> Program:
        """The program with a matrix of derivatives behind it, of so many numbers."""
        self.swept = swept(program, several, size)
        return self.swept.program

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
        sizes = [prod(shape) for _, shape in self.axes()]
        shape = self.shape
        is_wide = bool(shape) and sum(sizes) <= prod(shape)
        self.is_forward = is_wide if request.mode == "auto" else request.mode == "forward"
        if self.whole and self.is_forward:
            return self._by_columns(program, sizes)
        if self._is_whole and shape:
            return self._by_rows(program, sizes)
        if self.is_forward:
            self._seeds = [1.0] * len(self.points)
            self.derivative = unflagged(tangents(program, _each(self.points)))
            return self.derivative.program
        self._seeds = [1.0] * self.width
        return self.first(unflagged(adjoint(program, self.points, [(k,) for k in self.every])))

    def _by_rows(self, program: Program, sizes: Sequence[int]) -> Program:
        """Reverse mode for one element of the result after the other."""
        found = self.first(unflagged(adjoint(program, self.points, (self.every,))))
        across = sum(sizes)
        layout = Layout(_starts(sizes), _shapes(self.points), across, 1)
        wanted = found.block.results[self.before :]
        sweep = Sweep(_giving(found, wanted), found.inputs[-1], layout)
        return self.sweeps(program, [sweep], prod(self.shape) * across)

    def _by_columns(self, program: Program, sizes: Sequence[int]) -> Program:
        """Forward mode by one element of the points after the other."""
        across, sweeps = sum(sizes), []
        values = program.block.results[: self.width]
        rows = _starts([prod(shape) for shape in self.shapes])
        for point, start in zip(self.points, _starts(sizes), strict=True):
            self.derivative = found = unflagged(tangents(program, [[point]]))
            wanted = found.program.block.results[self.before :][: self.width]
            layout = Layout(
                tuple([start + row * across for row in rows]), _shapes(values), 1, across
            )
            made = _giving(found.program, wanted)
            sweeps.append(Sweep(made, made.inputs[-1], layout))
        return self.sweeps(program, sweeps, sum(map(prod, self.shapes)) * across)


class PlainHessian(Plain):
    """The value, the gradient, and the Hessian: forward mode over reverse mode."""

    order = 2

    def plain(self, program: Program, request: Request) -> Program:
        slopes = unflagged(adjoint(program, self.points, (self.every,), self.points))
        self._seeds = self.weights(request)
        first = self.first(slopes)
        if self.whole:
            return self._swept_by(first)
        self._seeds = [*self._seeds, *[1.0] * len(self.points)]
        return unflagged(tangents(first, _each(self.points))).program

    def _swept_by(self, first: Program) -> Program:
        """The derivatives of a gradient by one element of the points after the other."""
        sizes = [prod(shape) for _, shape in self.axes()]
        across, starts, sweeps = sum(sizes), _starts(sizes), []
        behind = len(first.block.results) + self.before
        for point, row in zip(self.points, starts, strict=True):
            found = unflagged(tangents(first, [[point]])).program
            wanted = found.block.results[behind:][: len(self.points)]
            layout = Layout(
                tuple([row * across + start for start in starts]), _shapes(self.points), across, 1
            )
            sweeps.append(Sweep(_giving(found, wanted), found.inputs[-1], layout))
        return self.sweeps(first, sweeps, across * across)


def _giving(program: Program, results: Sequence[Operand]) -> Program:
    """A program with some of its results alone, without tests of any of them for nan."""
    every = {x.number for x in program.block.results if isinstance(x, Value)}
    body = unwarned(program.block.body, every)
    return Program(program.inputs, Block(body, tuple(results)), program.texts)


def _starts(sizes: Sequence[int]) -> tuple[int, ...]:
    """The places of the first numbers of values of these sizes, one behind the other."""
    return tuple([sum(sizes[:k]) for k in range(len(sizes))])


def _shapes(values: Sequence[Operand]) -> tuple[tuple[int, ...], ...]:
    return tuple([dtype_and_shape(type_of(x))[1] for x in values])


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
