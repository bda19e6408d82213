"""Turn a typed program into Python code: the back end that needs no further library.

Values become local variables, and loops and branches Python's own. An op becomes a Python operator
if it has one on floats, else a call of its `number`. There are two versions of the code. The quick
one calls functions of `math` that raise at the edges of their domains. If it raises, the careful
one, which calls the ops' own functions, runs. If that raises, too, the code has bailed out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from gradcli.engine.compile.array_calls import function, several
from gradcli.engine.compile.contiguity import dense
from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.python.buffers import Scratch
from gradcli.engine.compile.typed import (
    Block,
    Do,
    DoSeveral,
    If,
    Instruction,
    Leave,
    Listed,
    Loop,
    NotCompilable,
    Operand,
    Places,
    Pop,
    Program,
    Push,
    Ruled,
    Tell,
    Value,
    bytes_of,
    dtype_and_shape,
    is_array,
    nothing,
    type_of,
)
from gradcli.engine.compile.walk import has_arrays, instructions, read
from gradcli.engine.numerics import ieee
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language.operators import OPS
from gradcli.engine.values.data import INT64_MAX, INT64_MIN, Data, Quiet, np

Function: TypeAlias = Callable[..., Any]
Tail: TypeAlias = Callable[[Sequence[Operand]], list[ast.stmt]]
"""Makes the statements that use the results of a block."""

MOST_BLOCKS = 19
"""Loops within each other that Python's compiler takes, with room for that over rows."""

_ARITHMETIC: dict[str, ast.operator] = {
    OPS["+", 2]: ast.Add(),
    OPS["-", 2]: ast.Sub(),
    OPS["*", 2]: ast.Mult(),
}
_COMPARISONS: dict[str, ast.cmpop] = {
    OPS["<", 2]: ast.Lt(),
    OPS["<=", 2]: ast.LtE(),
    OPS[">", 2]: ast.Gt(),
    OPS[">=", 2]: ast.GtE(),
    OPS["==", 2]: ast.Eq(),
    OPS["!=", 2]: ast.NotEq(),
}
_QUOTIENT, _NEGATIVE = OPS["/", 2], OPS["-", 1]


class Code:
    """The Python code of a typed program. Any number of threads may run it at once.

    Raises:
        NotCompilable: If its loops are nested too deeply.
    """

    calls_python = True

    def __init__(self, program: Program) -> None:
        self.program = program
        self._has_arrays = has_arrays(program)
        self.made = "Python code" + " with calls of NumPy" * self._has_arrays
        self._quick = _Writer(program, ieee.RAISING).one()

    @cached_property
    def _careful(self) -> Function:
        return _Writer(self.program, {}).one()

    @cached_property
    def _rows(self) -> Function:
        return _Writer(self.program, ieee.RAISING).rows()

    def call(self, inputs: Sequence[Any], control: Control) -> tuple[Any, ...]:
        """Return the results for one set of inputs.

        Raises:
            Left: If the code bails out.
        """
        if not self._has_arrays:
            return self._called(inputs, control)
        with Quiet():
            return self._called(inputs, control)

    def _called(self, inputs: Sequence[Any], control: Control) -> tuple[Any, ...]:
        given = control.echo, control.turns, control.memory, control.more, *inputs
        if not self.program.texts:  # each text may be printed only once
            try:
                return self._quick(*given)  # type: ignore[no-any-return]
            except Left:
                raise
            except Exception:
                pass
        try:
            return self._careful(*given)  # type: ignore[no-any-return]
        except Left:
            raise
        except Exception as error:
            raise Left(f"{type(error).__name__}: {error}") from None

    @property
    def source(self) -> str:
        """The text of the code for one set of inputs."""
        return text(self.program)

    def at(
        self, inputs: Sequence[Any], point: Places, chosen: Places
    ) -> Callable[[Data], Data | None]:
        """The code as a function of elements of its inputs that gives elements of its results, or
        None where it bails out.
        """
        listed = self.listed(inputs, point, chosen)

        def found(x: Data) -> Data | None:
            made = listed(x.tolist())
            return None if made is None else np.array(made, np.float64)

        return found

    def listed(self, inputs: Sequence[Any], point: Places, chosen: Places) -> Listed:
        """The code as such a function from numbers to numbers."""
        return partial(_listed, self, inputs, point, chosen)

    def rows(self, columns: Sequence[Any], control: Control) -> tuple[list[Any], Any]:
        """The results for many sets of inputs.

        Args:
            columns: An array of the values of each input.
            control: The limits of the run.

        Returns:
            An array of the values of each result, and a mask of the rows that bailed out, as a row
                that prints does. Their results mean nothing.
        """
        count = len(columns[0]) if columns else 0
        left = np.zeros(count, np.bool_)
        inputs = zip(self.program.inputs, columns, strict=True)
        found = {x.number: np.asarray(column) for x, column in inputs}
        places = computed(self.program)
        results = {k: [_nothing(type_of(x))] * count for k, x in places.items()}

        def again(i: int, row: Sequence[Any]) -> None:
            try:
                numbers = self._careful(_untold, control.turns, control.memory, control.more, *row)
            except Exception:
                left[i] = True
            else:
                for k, result in results.items():
                    result[i] = numbers[k]

        given = [x.tolist() if x.ndim == 1 else list(x) for x in found.values()]
        kept = control.turns, control.memory, control.more
        with Quiet():
            self._rows(_untold, *kept, again, zip(*given, strict=True), *results.values())
        return [
            found[x.number]
            if isinstance(x, Value) and x.number in found
            else np.array(results[k], dtype_and_shape(type_of(x))[0])
            for k, x in enumerate(self.program.block.results)
        ], left


def _listed(
    code: Code,
    inputs: Sequence[Any],
    point: Places,
    chosen: Places,
    numbers: Sequence[float],
) -> list[float] | None:
    """Elements of the results for elements of the inputs; the other inputs are as given."""
    given = [np.array(value) if isinstance(value, np.ndarray) else value for value in inputs]
    for (k, element), number in zip(point, numbers, strict=True):
        if isinstance(given[k], np.ndarray):
            given[k].flat[element] = number
        else:
            given[k] = float(number)
    try:
        results = code.call(given, Control())
    except Left:
        return None
    return [float(np.asarray(results[k], np.float64).flat[element]) for k, element in chosen]


def _nothing(type: str) -> Any:
    """The placeholder for the result of a row that bailed out."""
    return np.zeros(dtype_and_shape(type)[1]) if is_array(type) else nothing(type)


def text(program: Program) -> str:
    """Return the text of the Python code of a typed program for one set of inputs.

    Raises:
        NotCompilable: If its loops are nested too deeply.
    """
    return f"{ast.unparse(_Writer(program, ieee.RAISING).tree())}\n"


def computed(program: Program) -> dict[int, Operand]:
    """Return the results that are not inputs, by index."""
    given = {x.number for x in program.inputs}
    return {
        k: x
        for k, x in enumerate(program.block.results)
        if not isinstance(x, Value) or x.number not in given
    }


def _untold(text: str) -> None:
    raise Left("a row tells something")


class _Writer:
    """Writes one function. `raising` maps functions on numbers to faster ones that are equal where
    they do not raise.
    """

    def __init__(self, program: Program, raising: Mapping[Function, Function]) -> None:
        self.program = program
        self.raising = raising
        self.names: dict[int, str] = {}
        self.bound: dict[str, Any] = {"Left": Left, "Exception": Exception, "enumerate": enumerate}
        self.bound.update((f"text{i}", made) for i, made in enumerate(program.texts))
        self.loops = 0
        self.temporaries = 0
        self.counted = {x.number for x in read(program.block)}
        self.dense = dense(program)
        self.scratch = Scratch(program, self.dense)

    # --- functions ---------------------------------------------------------------------

    def one(self) -> Function:
        """Return the function from one set of inputs to the results."""
        return self.function(self.tree())

    def tree(self) -> ast.Module:
        """Return the function of one set of inputs as Python's syntax tree."""
        inputs = [self.name(value) for value in self.program.inputs]
        body = self.block(self.program.block, lambda found: [ast.Return(self.tuple(found))])
        return self.module(["echo", "turns", "room", "more", *inputs], body)

    def rows(self) -> Function:
        """Return the function that takes an iterator of rows and stores the results in lists. It
        passes a row that raises to `again`.
        """
        inputs = [ast.Name(self.name(value), ast.Store()) for value in self.program.inputs]
        outputs = {k: f"out{k}" for k in computed(self.program)}

        def put(found: Sequence[Operand]) -> list[ast.stmt]:
            return [
                ast.Assign(
                    [ast.Subscript(_load(name), _load("row"), ast.Store())], self.operand(found[k])
                )
                for k, name in outputs.items()
            ]

        self.loops += 1
        body = self.block(self.program.block, put) or [ast.Pass()]
        if any(isinstance(i, Loop) for i in instructions(self.program.block.body)):
            body.insert(0, _store("turns", _load("allowed")))
        called = _call(
            "again", [_load("row"), ast.Tuple([_load(n.id) for n in inputs], ast.Load())]
        )
        handler = ast.ExceptHandler(_load("Exception"), None, [ast.Expr(called)])
        items: ast.expr = ast.Tuple([*inputs], ast.Store())
        loop = ast.For(
            ast.Tuple([ast.Name("row", ast.Store()), items], ast.Store()),
            _call("enumerate", [_load("given")]),
            [ast.Try(body, [handler], [], [])],
            [],
        )
        names = ["echo", "allowed", "room", "more", "again", "given", *outputs.values()]
        return self.function(self.module(names, [loop]))

    def module(self, names: Sequence[str], body: list[ast.stmt]) -> ast.Module:
        """Return a module of one function with these parameters and this body."""
        made: list[ast.stmt] = []
        for i in sorted(
            {i.stack for i in instructions(self.program.block.body) if type(i) is Push}
        ):
            made.append(_store("stack", ast.List([], ast.Load())))
            for name, method in ((f"push{i}", "append"), (f"pop{i}", "pop")):
                made.append(_store(name, ast.Attribute(_load("stack"), method, ast.Load())))
        for k, type_ in enumerate(self.scratch.types):
            dtype, shape = dtype_and_shape(type_)
            empty = self.bind("empty", partial(np.empty, shape, dtype))
            made.append(_store(f"scratch{k}", ast.Call(empty, [], [])))
        parameters = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        body = [*made, *body] or [ast.Pass()]
        defined = ast.FunctionDef("compiled", parameters, body, [], **_LATER)
        return ast.fix_missing_locations(ast.Module([defined], []))

    def function(self, module: ast.Module) -> Function:
        """Return the Python function that a module defines."""
        whole = compile(module, "<compiled>", "exec")
        (found,) = (c for c in whole.co_consts if isinstance(c, CodeType))
        return FunctionType(found, {**self.bound, "__builtins__": {}})

    # --- blocks ------------------------------------------------------------------------

    def block(self, block: Block, tail: Tail) -> list[ast.stmt]:
        """The statements of a block, with those that use its results. A branch at its end uses them
        on each side, which saves assignments.
        """
        *body, last = block.body or (None,)
        made = [s for i in body if i is not None for s in self.instruction(i)]
        if not isinstance(last, If):
            return [*made, *(() if last is None else self.instruction(last)), *tail(block.results)]

        def end(found: Sequence[Operand]) -> list[ast.stmt]:
            given = {t.number: x for t, x in zip(last.targets, found, strict=True)}
            return tail(
                [given.get(x.number, x) if isinstance(x, Value) else x for x in block.results]
            )

        return [*made, *self.branch(last, end)]

    def branch(self, i: If, tail: Tail) -> list[ast.stmt]:
        """A branch, each side of which uses its own results."""
        then, orelse = self.block(i.then, tail), self.block(i.orelse, tail)
        if not then and not orelse:
            return []
        if then:
            return [ast.If(self.operand(i.test), then, orelse)]
        return [ast.If(ast.UnaryOp(ast.Not(), self.operand(i.test)), orelse, [])]

    def instruction(self, i: Instruction) -> list[ast.stmt]:
        """The statements of one instruction."""
        match i:
            case Do():
                return [_store(self.name(i.target), self.done(i)), *self.checked(i)]
            case DoSeveral():
                found = ast.Call(self.bind(i.op, several(i)), [self.operand(x) for x in i.args], [])
                made: list[ast.expr] = [ast.Name(self.name(t), ast.Store()) for t in i.targets]
                return [ast.Assign([ast.Tuple(made, ast.Store())], found)]
            case If():
                targets = [self.name(target) for target in i.targets]
                return self.branch(i, lambda found: self.moves(targets, found))
            case Loop():
                return self.loop(i)
            case Push():
                put = self.operand(i.values[0]) if len(i.values) == 1 else self.tuple(i.values)
                return [*self.taken(i), ast.Expr(_call(f"push{i.stack}", [put]))]
            case Pop():
                names: list[ast.expr] = [ast.Name(self.name(t), ast.Store()) for t in i.targets]
                to = names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())
                return [ast.Assign([to], _call(f"pop{i.stack}", []))]
            case Ruled():
                return self.moves([self.name(t) for t in i.targets], i.values)
            case Leave():
                return [ast.If(self.operand(i.when), [_leave(i.reason)], [])]
            case Tell():
                said = _call(f"text{i.text}", [self.operand(x) for x in i.args])
                return [ast.Expr(_call("echo", [said]))]
        raise AssertionError(f"no Python of {type(i).__name__}")

    def taken(self, i: Push) -> list[ast.stmt]:
        """Count the memory of pushed arrays; bail out if the limit is reached."""
        size = sum(map(bytes_of, map(type_of, i.values)))
        if not size:
            return []
        left = ast.AugAssign(ast.Name("room", ast.Store()), ast.Sub(), ast.Constant(size))
        test = ast.Compare(_load("room"), [ast.Lt()], [ast.Constant(0)])
        again = ast.BinOp(_call("more", []), ast.Sub(), ast.Constant(size))
        asked = [_store("room", again), ast.If(test, [_leave("memory")], [])]
        return [left, ast.If(test, asked, [])]

    def loop(self, i: Loop) -> list[ast.stmt]:
        """Return a loop whose variables are its params and, after it, its targets."""
        if self.loops == MOST_BLOCKS:
            raise NotCompilable("loops are nested too deeply", i.span)
        params = [self.name(param) for param in i.params]
        for target, name in zip(i.targets, params, strict=True):
            self.names[target.number] = name

        def turn(found: Sequence[Operand]) -> list[ast.stmt]:
            again, *following = found
            moves = self.moves(params, following)
            if again is True:
                return moves
            if again is False:
                return [*moves, ast.Break()]
            done = ast.UnaryOp(ast.Not(), self.operand(again))
            if isinstance(again, Value) and self.name(again) in params:
                return [ast.If(done, [*moves, ast.Break()], []), *moves]
            return [*moves, ast.If(done, [ast.Break()], [])]

        self.loops += 1
        body = self.block(i.body, turn)
        self.loops -= 1
        start = self.moves(params, i.initial)
        if i.turns.number in self.counted:
            turns = self.name(i.turns)
            start.append(_store(turns, ast.Constant(0)))
            body.insert(0, ast.AugAssign(ast.Name(turns, ast.Store()), ast.Add(), ast.Constant(1)))
        return [*start, ast.While(ast.Constant(True), [*_COUNTED, *body], [])]

    def moves(self, names: Sequence[str], found: Sequence[Operand]) -> list[ast.stmt]:
        """Assign values to variables in parallel."""
        waiting = {
            name: self.operand(x)
            for name, x in zip(names, found, strict=True)
            if not (isinstance(x, Value) and self.name(x) == name)
        }
        made: list[ast.stmt] = []
        while waiting:
            read = {x.id for x in waiting.values() if isinstance(x, ast.Name)}
            free = next((name for name in waiting if name not in read), None)
            if free is not None:
                made.append(_store(free, waiting.pop(free)))
                continue
            name = next(iter(waiting))  # a cycle: one value is kept aside
            self.temporaries += 1
            kept = f"t{self.temporaries}"
            made.append(_store(kept, _load(name)))
            waiting = {
                n: _load(kept) if isinstance(x, ast.Name) and x.id == name else x
                for n, x in waiting.items()
            }
        return made

    # --- values ------------------------------------------------------------------------

    def done(self, i: Do) -> ast.expr:
        """The expression of an op: some are Python's operators on floats."""
        args = [self.operand(x) for x in i.args]
        op = ops[i.op]
        if op.value.number is None or any(map(is_array, map(type_of, (i.target, *i.args)))):
            return self.on_arrays(i, args)
        params = {name: value for name, value in i.params if value != op.params[name]}
        types = [type_of(x) for x in i.args]
        if not params:
            if op.name in _ARITHMETIC:
                return ast.BinOp(args[0], _ARITHMETIC[op.name], args[1])
            if op.name in _COMPARISONS:
                return ast.Compare(args[0], [_COMPARISONS[op.name]], [args[1]])
            if op.name == _NEGATIVE and types == ["float"]:
                return ast.UnaryOp(ast.USub(), args[0])
            if op.name == _QUOTIENT and isinstance(i.args[1], Value):
                quotient = ast.BinOp(args[0], ast.Div(), args[1])
                return ast.IfExp(self.operand(i.args[1]), quotient, self.called(i, args, params))
        return self.plain(i, args, types) or self.called(i, args, params)

    def on_arrays(self, i: Do, args: list[ast.expr]) -> ast.expr:
        """The expression of an op with arrays."""
        op = ops[i.op]
        if op is ops.held:
            (constant,) = (value for _, value in i.params)
            return self.bind(i.op, constant.data)  # type: ignore[attr-defined]  # it is one
        if op in (ops.detached, ops.copied, ops.passed) and type_of(i.args[0]) == i.target.type:
            return args[0]
        if op is ops.laid_as and self.is_dense(i.args[0]) and self.is_dense(i.args[1]):
            return args[0]
        found = function(i, self.dense)
        if isinstance(found, np.ufunc):
            args = [self.unboxed(x, arg) for x, arg in zip(i.args, args, strict=True)]
            place = self.scratch.places.get(i.target.number)
            if place is not None:
                out = ast.keyword("out", _load(f"scratch{place}"))
                return ast.Call(self.bind(i.op, found), args, [out])
        return ast.Call(self.bind(i.op, found), args, [])

    def is_dense(self, x: Operand | None) -> bool:
        """True if an operand is a contiguous array."""
        return isinstance(x, Value) and x.number in self.dense

    def unboxed(self, x: Operand | None, arg: ast.expr) -> ast.expr:
        """An argument of a NumPy function. A constant becomes an array once, not at each call."""
        return arg if isinstance(x, Value) else self.bind("number", np.asarray(x))

    def plain(self, i: Do, args: list[ast.expr], types: list[str]) -> ast.expr | None:
        """A Python expression for an op on these types, or None. An int does not count as a bool
        here, and the two values of `where` have one type.
        """
        op = ops[i.op]
        if op in (ops.detached, ops.copied):
            return args[0]
        if op is ops.isnan and types == ["float"]:
            return ast.Compare(args[0], [ast.NotEq()], [self.operand(i.args[0])])
        if op is ops.logical_not and types == ["bool"]:
            return ast.UnaryOp(ast.Not(), args[0])
        if op is ops.where and types[0] == "bool" and types[1] == types[2]:
            return ast.IfExp(*args)
        return None

    def checked(self, i: Do) -> list[ast.stmt]:
        """Bail out if a Python operator has made an int of more than 64 bits."""
        if i.target.type != "int" or not self.is_operator(i):
            return []
        fits = ast.Compare(
            ast.Constant(INT64_MIN), [ast.LtE(), ast.LtE()],
            [_load(self.name(i.target)), ast.Constant(INT64_MAX)],
        )  # fmt: skip
        return [ast.If(ast.UnaryOp(ast.Not(), fits), [_leave("number")], [])]

    def is_operator(self, i: Do) -> bool:
        """True if an op is Python's sum, difference or product."""
        op = ops[i.op]
        return op.name in _ARITHMETIC and all(value == op.params[n] for n, value in i.params)

    def called(self, i: Do, args: list[ast.expr], params: Mapping[str, object]) -> ast.expr:
        """Return a call of the op's value on numbers."""
        number = ops[i.op].value.number
        assert number is not None
        if number in (ops.alone.value.number, ops.inner_product.value.number):
            # slower than interpreting
            of = dict(i.params).get("of", ops.matmul.name)
            reason = f"`{of}` of a tensor with dimensions, without machine code"
            raise NotCompilable(reason, i.span)
        if not params and "float" in map(type_of, i.args):
            number = self.raising.get(number, number)
        name = f"{i.op}_"
        if self.bound.setdefault(name, number) is not number:  # compiled for other types
            name = f"{i.op}_{len(self.bound)}"
            self.bound[name] = number
        return ast.Call(
            _load(name), args, [ast.keyword(n, self.bind(n, x)) for n, x in params.items()]
        )

    def bind(self, name: str, x: object) -> ast.expr:
        """Bind a constant to a new global name of the function."""
        bound = f"{name}_{len(self.bound)}"
        self.bound[bound] = x
        return _load(bound)

    def tuple(self, found: Iterable[Operand]) -> ast.expr:
        return ast.Tuple([self.operand(x) for x in found], ast.Load())

    def operand(self, x: Operand | None) -> ast.expr:
        return _load(self.name(x)) if isinstance(x, Value) else ast.Constant(x)

    def name(self, value: Value) -> str:
        """Return the variable of a value."""
        return self.names.get(value.number) or f"v{value.number}"


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _store(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _leave(reason: str) -> ast.stmt:
    return ast.Raise(_call("Left", [ast.Constant(reason)]))


def _call(name: str, args: list[ast.expr]) -> ast.Call:
    return ast.Call(_load(name), args, [])


_COUNTED = ast.parse("turns -= 1\nif turns < 0: raise Left('steps')").body
"""The first statements of each turn of a loop."""


_LATER: Any = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}
