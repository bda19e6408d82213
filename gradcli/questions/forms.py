"""How questions are put to code: the typed program that answers each, and what its numbers mean."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from gradcli import ir
from gradcli.engine.compile.activity import Flow
from gradcli.engine.compile.adjoint import adjoint
from gradcli.engine.compile.delta import Derived, certain, without_zeros
from gradcli.engine.compile.effort import Effort
from gradcli.engine.compile.final import final
from gradcli.engine.compile.specialize import (
    Elements,
    Items,
    Known,
    Leaf,
    Specialized,
    Tree,
    Ways,
    specialize,
)
from gradcli.engine.compile.tangent import tangent, tangents
from gradcli.engine.compile.typed import (
    Block,
    Do,
    Instruction,
    NotCompilable,
    Operand,
    Program,
    Ruled,
    Value,
)
from gradcli.engine.compile.walk import has_rules, instructions
from gradcli.engine.ops.catalog import ops
from gradcli.engine.report.values import binding, is_data, is_numeric, plain_value
from gradcli.engine.run.inputs import Given
from gradcli.engine.run.session import Session
from gradcli.engine.tape.tensor import Tensor, leaf
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, np
from gradcli.errors import Diagnostic
from gradcli.ir.visit import everything
from gradcli.questions.given_elements import elements, shapes
from gradcli.questions.loaded import Loaded
from gradcli.questions.request import Request
from gradcli.questions.wanted import candidates, named
from gradcli.questions.warnings import unused_input
from gradcli.results import (
    GradResult,
    HessianResult,
    HvpResult,
    JacobianResult,
    JvpResult,
    RunResult,
    VjpResult,
)


class Form:
    """How one question is put to code.

    Fields:
        program: the typed program that answers it.
        inputs: name, type and shape of its inputs; `constants` and those of `more` follow, in
            their order.
        tests: where bools stand that tell what a result is, which is the same wherever they are
            true.
        constants: what is given for the points at which the program has a number of its own.
        effort: what a run of the program may take.

    Raises:
        NotCompilable: If the program, or this question about it, cannot be made into code.
    """

    program: Program
    inputs: Sequence[tuple[str, str, tuple[int, ...]]]
    constants: Sequence[float] = ()
    tests: Sequence[int] = ()
    effort: Effort

    def __init__(self, loaded: Loaded, request: Request) -> None:
        raise NotImplementedError

    def seeds(self, request: Request) -> Sequence[float | None]:
        """The inputs behind those of the program, None where each request has its own."""
        return []

    def more(self, request: Request) -> list[float]:
        """Those of the request."""
        return []

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> Any:
        """The answer that the numbers are."""
        raise NotImplementedError


class Run(Form):
    """The result and the top-level values."""

    def __init__(self, loaded: Loaded, request: Request) -> None:
        program = loaded.program
        names = [*program.names]
        wanted = [*names] if program.result is None else [*names, None]
        made = specialize(program, shapes(request), (), wanted)
        self._names = names
        self._params = {i.name for i in program.inputs if i.kind == "param"}
        trees = zip(names, made.outputs, strict=False)
        if request.options.grad_fn and any(
            _has_tensor(t) for n, t in trees if n not in self._params
        ):
            raise NotCompilable("tensors are shown with the operations that made them")
        self._output = program.output
        self._trees = made.outputs
        places = count()
        self.tests = [k for tree in made.outputs for k in _tests(tree, places)]
        self.program, self.inputs, self.effort = made.program, _inputs(made), made.effort

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> RunResult:
        found = iter(numbers)
        values = [_value(tree, found) for tree in self._trees]
        named = {**dict(zip(self._names, values, strict=False))}
        for name in self._params:
            named[name] = leaf(data_of(named[name]))
        bindings = tuple(binding(name, value) for name, value in named.items() if is_data(value))
        last = values[-1] if len(values) > len(self._names) else None
        result = Session().tensor(last) if is_numeric(last) else last
        return RunResult(
            output=self._output,
            result=plain_value(result),
            bindings=bindings,
            printed=printed,
            warnings=(),
            graph=None,
            kinks=None,
        )


class Differentiated(Form):
    """Base of what is asked of derivatives: a float, or a list or tuple of floats, and the names
    that it is differentiated by.
    """

    def __init__(self, loaded: Loaded, request: Request) -> None:
        program = loaded.program
        if request.of is None and program.result is None:
            raise NotCompilable("the program has no result")
        if request.of is not None and request.of not in program.names:
            raise NotCompilable("the result is no name of the program")
        self.loaded = loaded
        self.output = program.output if request.of is None else request.of
        watched, asked = self.names_of(loaded, request)
        made = specialize(program, shapes(request), watched, [request.of], asked)
        self.names = _differentiated(program, made, watched, asked)
        (self._tree,) = made.outputs
        self.width = len(made.program.block.results)
        leaves = self._tree.items if isinstance(self._tree, Items) else (self._tree,)
        if not all(isinstance(x, Leaf) and x.type == "float" for x in leaves):
            raise NotCompilable("the result is no float, nor a list of them that are computed")
        self._shapes = [made.arrays[n].shape if n in made.arrays else () for n in self.names]
        points = [v for name in self.names for v in _points(made, name)]
        plain, self.constants = _with_points(made.program, points)
        self.inputs, self.effort = _inputs(made), made.effort
        if any(isinstance(i, ir.DefineRule) for i in everything(program)):  # each pass calls them
            self.effort = made.effort.times((2 + self.width) * (1 + len(points)))
        self.points = points
        self.unused: list[str] = []
        _hold_rules(plain, points)
        self.program = final(self.derived(plain, request), self.seeds(request))

    def names_of(self, loaded: Loaded, request: Request) -> tuple[Sequence[str], Sequence[str]]:
        """The names that are watched, and those of them that the user has named."""
        if request.wrt is None:
            return candidates(loaded.program), ()
        found = named(loaded.program, request.wrt)
        return found, found

    def derived(self, program: Program, request: Request) -> Program:
        """The program with the derivatives among its results, behind those of the program: the
        value and the points.
        """
        raise NotImplementedError

    @property
    def before(self) -> int:
        """How many results stand before the derivatives."""
        return self.width + len(self.points)

    def first(self, found: Derived) -> Program:
        """A program with first derivatives; what nothing leads to is noted."""
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
        return [x for n in names for x in _numbers(request.tangents[n], shapes[n])]

    def hold_single(self) -> None:
        """Hold the result to be a single number."""
        if isinstance(self._tree, Items):
            raise NotCompilable("the result is not a single number")

    def pushed(self, program: Program, directions: Sequence[Sequence[Value]]) -> Program:
        """A program with tangents of the result along directions that move some of the points."""
        found = tangents(program, directions)
        self.hold_stacked(found.absent)
        if len(self.names) > 1:
            points = [[self.points[k] for k in self.points_of([name])] for name in self.names]
            self.unused = _unused(program, self.names, points, self.width)
            return found.program
        if all(x is True for x in found.absent[: self.width]):
            self.unused = [*self.names]
        elif self.width > 1 and all(x is not False for x in found.absent[: self.width]):
            raise NotCompilable("whether the result depends on the input hangs on the way")
        return certain(found) if self.width == 1 else found.program

    def hold_stacked(self, absent: Sequence[Operand]) -> None:
        """Note whether tangents of several items of a list are added up, as a run does: a zero that
        is added makes a positive one of a negative zero.
        """
        several = [x for x in absent[: self.width] if x is not True]
        if len(several) > 1 and not all(x is False for x in several):
            raise NotCompilable("which items of the result move hangs on the way")
        self._added = len(several) > 1

    def stacked(self, numbers: Sequence[Any]) -> Any:
        """Tangents of the result, of each item of a list."""
        moved = [x + 0.0 for x in numbers] if self._added else numbers
        return _output(self._tree, iter(moved))

    def value(self, numbers: Sequence[Any]) -> Any:
        """The value of the result."""
        return _output(self._tree, iter(numbers))

    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is to be said of names that nothing leads to."""
        return tuple(unused_input(self.loaded, name, self.output) for name in self.unused)

    def by_name(self, numbers: Sequence[Any], start: int) -> dict[str, Any]:
        """A number for each name, or an array."""
        found, at = {}, start
        for name, shape in self.axes():
            end = at + math.prod(shape)
            found[name] = _shaped(numbers[at:end], shape)
            at = end
        return found

    def axes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The names with their shapes."""
        return zip(self.names, self._shapes, strict=True)

    def points_of(self, names: Sequence[str]) -> list[int]:
        """Which of the points those of some names are."""
        found, at = dict[str, range](), 0
        for name, shape in self.axes():
            found[name] = range(at, at := at + math.prod(shape))
        return [k for name in names for k in found[name]]


class Gradient(Differentiated):
    """Value and gradient."""

    def derived(self, program: Program, request: Request) -> Program:
        self.hold_single()
        return self.first(adjoint(program, self.points, ((0,),)))

    def seeds(self, request: Request) -> Sequence[float | None]:
        return [_seed(request)]

    def more(self, request: Request) -> list[float]:
        return _weight(request)

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
        found = _along(loaded, request)
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
        count = len(self.points)
        self._mode = request.mode
        if self._mode == "auto":
            self._mode = "forward" if count <= self.width else "reverse"
        if self._mode == "forward":
            by, self._seeds = _columns(program, self.points)
            return self.pushed(program, by)
        self._seeds = _units(self.width)
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
            parts = [_output(self._tree, iter(found[k::count])) for k in range(count)]
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
        self._mode = "reverse" if request.mode == "auto" else request.mode
        if self._mode == "forward":
            by, self._seeds = _columns(program, self.points)
            return tangents(program, by).program
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
        return [_seed(request), *self._seeds]

    def more(self, request: Request) -> list[float]:
        return _weight(request)

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
        self._along = _along(loaded, request)
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
        return [_seed(request), *[None] * len(self.points_of(self._along))]

    def more(self, request: Request) -> list[float]:
        return [*_weight(request), *self.direction(request, self._along)]

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


FORMS: dict[str, type[Form]] = {
    "run": Run,
    "gradient": Gradient,
    "vjp": Vjp,
    "jvp": Jvp,
    "jacobian": Jacobian,
    "hessian": Hessian,
    "hessian_diagonal": Diagonal,
    "hvp": Hvp,
}
"""The form of each question, by the name of its function."""


# what stands between numbers and values ----------------------------------------------------------


def _inputs(made: Specialized) -> list[tuple[str, str, tuple[int, ...]]]:
    entries = [entry for entry in made.inputs if entry.at == 0]
    return [(entry.name, entry.value.type, entry.shape) for entry in entries]


def _points(made: Specialized, name: str) -> Sequence[Value]:
    return made.arrays[name].values if name in made.arrays else (made.points[name],)


def _shaped(numbers: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """A number, or an array of several; those of many answers are arrays themselves."""
    if not shape:
        return numbers[0]
    return np.array(numbers).reshape(*shape, *np.shape(numbers[0]))


def _stacked(parts: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """A derivative by each element of a tensor as one, with the axes of the tensor behind."""
    if not shape:
        return parts[0]
    found = np.stack([*map(np.asarray, parts)], -1)
    return found.reshape(*found.shape[:-1], *shape)


def _nested(rows: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The rows of a matrix as one, with the axes of a tensor in front."""
    if not shape:
        return rows[0]
    found = np.array(rows)
    return found.reshape(*shape, *found.shape[1:])


def _along(loaded: Loaded, request: Request) -> list[str]:
    return named(loaded.program, list(request.tangents), "--tangent")


def _with_points(program: Program, points: Sequence[Value]) -> tuple[Program, Sequence[float]]:
    """A program with the points among its results; those that are constants are further inputs."""
    body: list[Instruction] = []
    inputs, constants = [*program.inputs], []
    for i in program.block.body:
        if isinstance(i, Do) and i.target in points and isinstance(i.args[0], float):
            inputs.append(i.target)
            constants.append(i.args[0])
        else:
            body.append(i)
    block = Block(tuple(body), (*program.block.results, *points))
    return Program(tuple(inputs), block, program.texts), constants


def _differentiated(
    program: ir.Program, made: Specialized, watched: Sequence[str], asked: Sequence[str]
) -> list[str]:
    """The names to differentiate by: those asked for, or those that turned out to be floats."""
    points = {*made.points, *made.arrays}
    for name in asked:
        if name not in points:
            raise NotCompilable(f"`{name}`, which is differentiated, is no number")
    if asked and {*asked} == {*watched}:
        return list(asked)
    kinds = {i.name: i.kind for i in program.inputs}
    found = [name for name in program.names if name in points]
    if all(kinds.get(name, "constant") == "constant" for name in found):
        found = [name for name in found if name not in kinds or name in asked] or found
    if not found:
        raise NotCompilable("there is nothing to differentiate by")
    return found


def _unused(
    program: Program, names: Sequence[str], points: Sequence[Sequence[Value]], width: int
) -> list[str]:
    """The names that nothing of the result was made from.

    Raises:
        NotCompilable: If that hangs on the way that a run takes.
    """
    found = []
    for name, own in zip(names, points, strict=True):
        absent = tangent(program, own, 1).absent[:width]
        if all(x is True for x in absent):
            found.append(name)
        elif all(x is not False for x in absent):
            raise NotCompilable(f"whether the result depends on `{name}` hangs on the way")
    return found


def _tests(tree: Tree, places: Iterator[int]) -> Iterator[int]:
    """Where bools stand that tell what is in a result; its numbers have the next places."""
    match tree:
        case Leaf():
            next(places)
        case Elements():
            for _ in range(tree.count):
                next(places)
        case Items():
            for item in tree.items:
                yield from _tests(item, places)
        case Ways():
            yield next(places)
            yield from _tests(tree.then, places)
            yield from _tests(tree.orelse, places)


def _has_tensor(tree: Tree) -> bool:
    if isinstance(tree, Items):
        return any(map(_has_tensor, tree.items))
    if isinstance(tree, Ways):
        return _has_tensor(tree.then) or _has_tensor(tree.orelse)
    if isinstance(tree, Elements):
        return True
    return isinstance(tree.value, Tensor) if isinstance(tree, Known) else tree.tensor


def _units(count: int) -> list[float]:
    """The unit vectors of a space, one behind the other."""
    return [1.0 if i == k else 0.0 for i in range(count) for k in range(count)]


def _seed(request: Request) -> float | None:
    """The weight of the result where none is given."""
    return 1.0 if request.cotangent is None else None


def _columns(
    program: Program, points: Sequence[Value]
) -> tuple[Sequence[Sequence[Value]], list[float]]:
    """The directions of a matrix by columns: what each of them moves, and how. Those through a rule
    of the program's own go one at a time.
    """
    if has_rules(program):
        return [[point] for point in points], [1.0] * len(points)
    return [points] * len(points), _units(len(points))


def _hold_rules(program: Program, points: Sequence[Value]) -> None:
    """Hold rules to give a derivative for all that moves: what they say nothing of does not count
    as unused.
    """
    moving = Flow(program).moving(points)
    for i in instructions(program.block.body):
        if isinstance(i, Ruled):
            rule = i.rule
            still: list[Operand] = []
            if isinstance(rule.pull, Program):
                still += [a for k, a in enumerate(i.args) if k not in rule.given]
            if isinstance(rule.push, Program):
                still += [t for k, t in enumerate(i.targets) if k not in rule.moved]
            if any(x in moving for x in still):
                raise NotCompilable("a rule gives no derivative", i.span)


def _weight(request: Request) -> list[float]:
    return [] if request.cotangent is None else [_number(request.cotangent)]


def _number(given: Any) -> float:
    """A number that is given for a weight or direction."""
    value: Any = given.value if isinstance(given, Given) else given
    if type(value) not in NUMBERS:
        raise NotCompilable("a weight or direction is no single number")
    return float(value)


def _numbers(given: Any, shape: tuple[int, ...]) -> list[float]:
    """The numbers that are given for the direction of a tensor."""
    if not shape:
        return [_number(given)]
    found = elements(given.value if isinstance(given, Given) else given, shape)
    if found is None:
        raise NotCompilable("a direction is of another shape")
    return [*map(float, found)]


def _output(tree: Tree, numbers: Iterator[Any]) -> Any:
    """A number, or an array of those of a list."""
    if isinstance(tree, Items):
        return np.array([next(numbers) for _ in tree.items])
    return next(numbers)


def _value(tree: Tree, numbers: Iterator[Any]) -> Any:
    """A value of the program."""
    if isinstance(tree, Items):
        return tree.kind(_value(item, numbers) for item in tree.items)
    if isinstance(tree, Known):
        return tree.value
    if isinstance(tree, Elements):
        return Tensor(np.array([next(numbers) for _ in range(tree.count)]).reshape(tree.shape))
    if isinstance(tree, Ways):
        is_first = next(numbers)
        values = _value(tree.then, numbers), _value(tree.orelse, numbers)
        return values[0] if is_first else values[1]
    number = next(numbers)
    return Tensor(number) if tree.tensor else number
