"""Base of the questions about derivatives as typed programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from gradcli.engine.compile.differentiate.differentials import Derived, certain
from gradcli.engine.compile.differentiate.tangent import connected, tangents
from gradcli.engine.compile.passes.activity import Flow
from gradcli.engine.compile.passes.finalize import final
from gradcli.engine.compile.specialize.program import Items, Leaf, Specialized, Tree, specialize
from gradcli.engine.compile.typed import (
    Block,
    Do,
    Instruction,
    NotCompilable,
    Operand,
    Program,
    Ruled,
    Value,
    dtype_and_shape,
    is_array,
    is_floating,
    type_of,
)
from gradcli.engine.compile.walk import Fresh, instructions
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import NUMBERS, np
from gradcli.ir import program as ir
from gradcli.ir.visit import everything
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.names import candidates, requested
from gradcli.questions.asked.request import Request
from gradcli.questions.coded.lowered import Lowered, Plan, inputs_of
from gradcli.questions.coded.seeds import numbers_of, value_of
from gradcli.questions.remarks.warnings import unused_input
from gradcli.source import Span

Result = TypeVar("Result")


class LoweredDerivatives(Lowered):
    """Base of questions about derivatives: of a float, or a list or tuple of floats, by names.

    Fields:
        specialized: the program without derivatives.
        derivative: the first derivatives of reverse mode; None if there are none.
    """

    specialized: Specialized
    derivative: Derived | None = None

    def __init__(self, loaded: Loaded, request: Request, plan: Plan) -> None:
        program = loaded.program
        wanted = self.wanted(request)
        if None in wanted and program.result is None:
            raise NotCompilable("the program has no result")
        if any(name not in program.names for name in wanted if name is not None):
            raise NotCompilable("the result is no name of the program")
        self.loaded = loaded
        self.output = program.output if request.of is None else request.of
        watched, asked = self.names_of(loaded, request)
        how = plan.tensors, plan.most_inlined, plan.budget
        made = specialize(program, request.shapes, watched, wanted, asked, *how)
        self.specialized = made
        self.names = self.differentiated(request, made, watched, asked)
        self.draws = made.draws
        self.tree = self.structure(made.outputs)
        self._results = made.program.block.results
        self.width = len(self._results)
        leaves = self.tree.items if isinstance(self.tree, Items) else (self.tree,)
        if not all(isinstance(x, Leaf) and is_floating(x.type) for x in leaves):
            raise NotCompilable("the result is no float, nor a list of them that are computed")
        self._is_whole = any(is_array(type_of(x)) for x in self._results)
        if isinstance(self.tree, Items) and self._is_whole:
            raise NotCompilable("the result is a list of tensors")
        self._shapes = [made.arrays[n].shape if n in made.arrays else () for n in self.names]
        own_points = [_points(made, name) for name in self.names]
        self._counts = [*map(len, own_points)]
        points = [v for own in own_points for v in own]
        of = zip(self.names, own_points, strict=True)
        self.whole = {name for name, own in of if is_array(own[0].type)}
        plain, self.constants = _with_points(made, points)
        self.inputs, self.effort = inputs_of(made), made.effort
        if any(isinstance(i, ir.DefineRule) for i in everything(program)):  # each pass calls them
            self.effort = made.effort.times((2 + self.width) * (1 + len(points)))
        self.points = points
        self.unused: list[str] = []
        _hold_rules(plain, points)
        self.program = self.finished(self.derived(plain, request), request)

    def wanted(self, request: Request) -> Sequence[str | None]:
        """The results: top-level names, None for the program's result."""
        return [request.of]

    def structure(self, outputs: Sequence[Tree]) -> Tree:
        """The structure of the results."""
        (found,) = outputs
        return found

    def names_of(self, loaded: Loaded, request: Request) -> tuple[Sequence[str], Sequence[str]]:
        """The watched names, and those of them that the user has named."""
        if request.wrt is None:
            return candidates(loaded.program), ()
        found = requested(loaded.program, request.wrt)
        return found, found

    def differentiated(
        self, request: Request, made: Specialized, watched: Sequence[str], asked: Sequence[str]
    ) -> list[str]:
        """The names to differentiate by, of the watched and those that the user has named."""
        return _differentiated(self.loaded, request, made, watched, asked)

    def derived(self, program: Program, request: Request) -> Program:
        """The program with the derivatives as results, after the value and the points."""
        raise NotImplementedError

    def finished(self, program: Program, request: Request) -> Program:
        """The program in the form that becomes code."""
        return final(program, self.seeds(request))

    @property
    def before(self) -> int:
        """The number of results before the derivatives."""
        return self.width + len(self.points)

    def first(self, found: Derived) -> Program:
        """A program with first derivatives; what nothing leads to is noted."""
        self.derivative = found
        count = len(self.points)
        several = [found.absent[k::count] for k in range(count)]
        self.unused = [
            name
            for name in self.names
            if all(x is True for k in self.points_of([name]) for x in several[k])
        ]
        return certain(found)

    def direction(self, request: Request, names: Sequence[str]) -> list[float]:
        """The numbers of the direction that is given for names."""
        shapes = dict(self.axes())
        return [
            x
            for n in names
            for x in numbers_of(request.tangents[n], shapes[n], is_whole=n in self.whole)
        ]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result; a list of numbers is a vector."""
        if isinstance(self.tree, Items):
            return (self.width,)
        return self.shapes[0]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the result, of each item of a list."""
        return [dtype_and_shape(type_of(x))[1] for x in self._results]

    @property
    def every(self) -> tuple[int, ...]:
        """The places of the result, of all items of a list, among the results of the program."""
        return tuple(range(self.width))

    def weights(self, request: Request) -> Sequence[float | None]:
        """The weight of the result, or of each item of a list; None if each request has its own."""
        if request.cotangent is not None:
            return [None] * self.width
        if self.shape:
            raise NotCompilable("the result is not a single number")
        return [1.0]

    def given_weights(self, request: Request) -> list[Any]:
        """The weights that a request gives; a single number weighs each element."""
        given = value_of(request.cotangent)
        if given is None:
            return []
        if type(given) in NUMBERS and self.shape:
            given = np.full(self.shape, float(given))
        return numbers_of(given, self.shape, is_whole=not isinstance(self.tree, Items))

    def pushed(
        self,
        program: Program,
        directions: Sequence[Sequence[Value]],
        counts: Sequence[int] | None = None,
    ) -> Program:
        """A program with tangents of the result along directions. Each moves some of the points,
        and stands for `counts` of them if given.
        """
        if len(self.names) > 1:
            program = self._connected(program)
        found = tangents(program, directions, (), counts)
        made, are_added = found.program, self._are_added(found.absent)
        if len(self.names) == 1:
            if all(x is True for x in found.absent[: self.width]):
                self.unused = [*self.names]
            elif self.width > 1 and all(x is not False for x in found.absent[: self.width]):
                raise NotCompilable("whether the result depends on the input depends on the path")
            made = certain(found) if self.width == 1 else made
        return self._added_up(made) if are_added else made

    def _connected(self, program: Program) -> Program:
        """A program that leaves where its result does not depend on one of the names; names on
        which it never does are noted.
        """
        for name in self.names:
            own = [self.points[k] for k in self.points_of([name])]
            found = connected(program, own, self.width)
            if found is None:
                self.unused.append(name)
            program = found or program
        return program

    def _are_added(self, absent: Sequence[Operand]) -> bool:
        """True if a run adds up the tangents of several items of a list."""
        several = [x for x in absent[: self.width] if x is not True]
        if len(several) > 1 and not all(x is False for x in several):
            raise NotCompilable("which items of the result move depends on the path")
        return len(several) > 1

    def _added_up(self, program: Program) -> Program:
        """A program that adds zero to each tangent of an item, as a run that adds them up does: it
        makes a positive zero of a negative one.
        """
        fresh, results = Fresh(program), [*program.block.results]
        body = [*program.block.body]
        for start in range(self.before, len(results), self.before):
            for k in range(start, start + self.width):
                made = fresh(type_of(results[k]))
                body.append(Do(Span(0, 0), made, ops.add.name, (results[k], 0.0), ()))
                results[k] = made
        return Program(program.inputs, Block(tuple(body), tuple(results)), program.texts)

    def value(self, numbers: Sequence[Any]) -> Any:
        """The value of the result."""
        return output(self.tree, iter(numbers))

    def made(
        self,
        kind: Callable[..., Result],
        numbers: Sequence[Any],
        printed: tuple[str, ...],
        **fields: Any,
    ) -> Result:
        """An answer of a kind: these fields, and those that every kind has."""
        warnings = tuple(unused_input(self.loaded, name, self.output) for name in self.unused)
        common = {"output": self.output, "value": self.value(numbers), "printed": printed}
        return kind(**common, warnings=warnings, **fields)

    def by_name(self, numbers: Sequence[Any], start: int) -> dict[str, Any]:
        """A number for each name, or an array."""
        found, at = {}, start
        for (name, shape), count in zip(self.axes(), self._counts, strict=True):
            if name in self.whole:
                found[name] = np.array(numbers[at])
            else:
                found[name] = shaped(numbers[at : at + count], shape)
            at += count
        return found

    def axes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The names with their shapes."""
        return zip(self.names, self._shapes, strict=True)

    def points_of(self, names: Sequence[str]) -> list[int]:
        """The places of some names' points among all points."""
        found, at = dict[str, range](), 0
        for name, count in zip(self.names, self._counts, strict=True):
            found[name] = range(at, at := at + count)
        return [k for name in names for k in found[name]]


def _points(made: Specialized, name: str) -> Sequence[Value]:
    return made.arrays[name].values if name in made.arrays else (made.points[name],)


def _with_points(made: Specialized, points: Sequence[Value]) -> tuple[Program, Sequence[float]]:
    """A program with the points among its results. Constants that are points, or may differ in
    another question, become inputs, so that nothing folds them.
    """
    body: list[Instruction] = []
    program, known = made.program, {v.number for v in (*points, *made.points.values())}
    inputs, constants = [*program.inputs], []
    for i in program.block.body:
        if isinstance(i, Do) and i.target.number in known and isinstance(i.args[0], float):
            inputs.append(i.target)
            constants.append(i.args[0])
        else:
            body.append(i)
    block = Block(tuple(body), (*program.block.results, *points))
    return Program(tuple(inputs), block, program.texts), constants


def _differentiated(
    loaded: Loaded,
    request: Request,
    made: Specialized,
    watched: Sequence[str],
    asked: Sequence[str],
) -> list[str]:
    """The names to differentiate by, as `names.differentiated` finds them after a run."""
    program = loaded.program
    points = {*made.points, *made.arrays}
    for name in asked:
        if name not in points:
            raise NotCompilable(f"`{name}`, which is differentiated, is not a number")
    if asked and {*asked} == {*watched}:
        return list(asked)
    kinds = {i.name: i.kind for i in program.inputs}
    found = [name for name in program.names if name in points]
    if all(kinds.get(name, "constant") == "constant" for name in found):
        origins = loaded.origins(request.of)
        if origins.leafy:
            raise NotCompilable("a name that is assigned more than once may hold a leaf")
        inferred = origins.names
        if made.leaves or origins.leaves:
            inferred = inferred.intersection(made.leaves)
        found = [name for name in found if name in inferred or name in asked]
    if not found:
        raise NotCompilable("there is nothing to differentiate by")
    return found


def _hold_rules(program: Program, points: Sequence[Value]) -> None:
    """Hold rules to give a derivative for all that moves: what they say nothing of does not count
    as unused.
    """
    ruled = [i for i in instructions(program.block.body) if isinstance(i, Ruled)]
    if not ruled:
        return
    moving = Flow(program).moving(points)
    for i in ruled:
        rule = i.rule
        still: list[Operand] = []
        if isinstance(rule.pull, Program):
            still += [a for k, a in enumerate(i.args) if k not in rule.given]
        if isinstance(rule.push, Program):
            still += [t for k, t in enumerate(i.targets) if k not in rule.moved]
        if any(x in moving for x in still):
            raise NotCompilable("a rule gives no derivative", i.span)


def shaped(numbers: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """A number, or an array of several; for many answers, each number is an array."""
    if not shape:
        return numbers[0]
    return np.array(numbers).reshape(*shape, *np.shape(numbers[0]))


def output(tree: Tree, numbers: Iterator[Any]) -> Any:
    """A number, or an array of the numbers of a list."""
    if isinstance(tree, Items):
        return np.array([next(numbers) for _ in tree.items])
    return next(numbers)
