"""The written form: functions of statements on named variables, as C and Python both have them.

It stands between the typed program, whose values have numbers, and the text of a language. An
operation is a primitive of the scalar form, a function of C's math library, or a call of another
function of the form. A function refuses its arguments where the interpreter would give an error or
a warning.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, TypeAlias

from gradcli.engine.compile.scalar.form import PRIMITIVES
from gradcli.record import Record


class Variable(Record):
    """A number that has a name; its type is "float", "int" or "bool", or "size" for an int that is
    a free size of the function.
    """

    __slots__ = ("name", "type")
    name: str
    type: str


class Apply(Record):
    """A primitive of the scalar form, on expressions."""

    __slots__ = ("primitive", "args")
    primitive: str
    args: tuple[Expression, ...]


class Math(Record):
    """A function of C's math library, on expressions."""

    __slots__ = ("function", "args")
    function: str
    args: tuple[Expression, ...]


class Called(Record):
    """A call of a function of the form that refuses nothing."""

    __slots__ = ("function", "args", "type")
    function: str
    args: tuple[Expression, ...]
    type: str


class Item(Record):
    """The element of an array at a place."""

    __slots__ = ("array", "at", "type")
    array: str
    at: Expression
    type: str


class Whole(Record):
    """All elements of an array, from its beginning on."""

    __slots__ = ("array", "type", "count")
    array: str
    type: str
    count: int


class Total(Record):
    """The sum of elements of an array of floats in NumPy's order: `count` of them from the place
    `start` in steps.
    """

    __slots__ = ("array", "start", "count", "step")
    array: str
    start: Expression
    count: Expression
    step: Expression


Expression: TypeAlias = "Variable | Apply | Math | Called | Item | Total | float | int | bool"


class Statement(Record):
    """Base of the statements."""

    __slots__ = ()


class Remark(Statement):
    """A comment of one or more lines."""

    __slots__ = ("lines",)
    lines: tuple[str, ...]


class Let(Statement):
    """Declare a variable, with a value; `is_fixed` if it is never assigned again."""

    __slots__ = ("variable", "value", "is_fixed")
    variable: Variable
    value: Expression
    is_fixed: bool


class Declare(Statement):
    """Declare a variable, which each path behind assigns before it is read."""

    __slots__ = ("variable",)
    variable: Variable


class Assign(Statement):
    """Assign a variable that has been declared."""

    __slots__ = ("variable", "value")
    variable: Variable
    value: Expression


class Room(Statement):
    """Declare an array; `at` is its place in the work memory, None for one of the function's own.
    Each path behind gives its elements a value before they are read.
    """

    __slots__ = ("array", "type", "count", "at")
    array: str
    type: str
    count: Expression
    at: Expression | None


class Table(Statement):
    """Declare an array of constants."""

    __slots__ = ("array", "type", "values")
    array: str
    type: str
    values: tuple[float | int | bool, ...]


class Store(Statement):
    """Give the element of an array at a place a value."""

    __slots__ = ("array", "at", "value")
    array: str
    at: Expression
    value: Expression


class Attempt(Statement):
    """Declare a variable with the value of a function of the form that may refuse."""

    __slots__ = ("variable", "function", "args")
    variable: Variable
    function: str
    args: tuple[Expression, ...]


class When(Statement):
    """A branch; `orelse` may be empty."""

    __slots__ = ("test", "then", "orelse")
    test: Expression
    then: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


class Count(Statement):
    """A loop that counts a variable from `start` in steps, as long as it has not come to `stop`."""

    __slots__ = ("variable", "start", "stop", "step", "body")
    variable: Variable
    start: Expression
    stop: Expression
    step: int
    body: tuple[Statement, ...]


class While(Statement):
    """A loop as long as a test holds, which comes before each turn."""

    __slots__ = ("test", "body")
    test: Expression
    body: tuple[Statement, ...]


class Until(Statement):
    """A loop whose test for another turn comes after each turn."""

    __slots__ = ("test", "body")
    test: Expression
    body: tuple[Statement, ...]


class Leave(Statement):
    """Leave the innermost loop."""

    __slots__ = ()


class Refuse(Statement):
    """Refuse the arguments if a test holds."""

    __slots__ = ("test", "why")
    _defaults: ClassVar[dict[str, str]] = {"why": ""}
    test: Expression
    why: str


class Keep(Statement):
    """Put numbers on the tape."""

    __slots__ = ("values",)
    values: tuple[Expression, ...]


class Take(Statement):
    """Declare variables with the numbers that were put on the tape last. A variable without a name
    is not read.
    """

    __slots__ = ("variables",)
    variables: tuple[Variable, ...]


class KeepAll(Statement):
    """Put all elements of an array on the tape."""

    __slots__ = ("array", "type", "count")
    array: str
    type: str
    count: Expression


class TakeAll(Statement):
    """Give the elements of an array the numbers that were put on the tape last."""

    __slots__ = ("array", "type", "count")
    array: str
    type: str
    count: Expression


class Return(Statement):
    """Return the result of a function."""

    __slots__ = ("value",)
    value: Expression


class Function(Record):
    """A function on numbers: its documentation, parameters, type, body, and whether it refuses."""

    __slots__ = ("name", "about", "parameters", "type", "body", "refuses")
    name: str
    about: str
    parameters: tuple[Variable, ...]
    type: str
    body: tuple[Statement, ...]
    refuses: bool


_TYPES = {float: "float", int: "int", bool: "bool"}


def type_of(x: Expression) -> str:
    """The type of an expression."""
    if isinstance(x, Variable) and x.type == "size":
        return "int"
    if isinstance(x, (Variable, Called, Item)):
        return x.type
    if isinstance(x, Apply):
        return PRIMITIVES[x.primitive].gives
    return "float" if isinstance(x, (Math, Total)) else _TYPES[type(x)]


def applied(primitive: str, args: tuple[Expression, ...]) -> Expression:
    """A primitive of expressions; a conversion or choice of constants is done at once."""
    x = args[0]
    if primitive in _KNOWN and type(x) in _TYPES:
        found = _KNOWN[primitive](*args)
        return Apply(primitive, args) if found is None else found
    if primitive in _TESTS and all(type(y) in _TYPES for y in args):
        return _TESTS[primitive](*args)
    if primitive in ("bool_and", "bool_or") and any(type(y) is bool for y in args):
        decides = primitive == "bool_or"
        if any(y is decides for y in args):
            return decides
        return args[1] if type(x) is bool else x
    if primitive == "bool_not" and isinstance(x, Apply) and x.primitive == "bool_not":
        return x.args[0]
    if primitive == "bool_select":
        _, then, orelse = args
        if orelse is False or orelse == x:
            return applied("bool_and", (x, then))
        if then is True or then == x:
            return applied("bool_or", (x, orelse))
    if primitive in ("bool_and", "bool_or") and x == args[1]:
        return x
    if primitive in _SIGNS and type(args[1]) is int:
        return _moved(x, _SIGNS[primitive] * args[1])
    if primitive == "float_mul":
        for one, other in (args, args[::-1]):
            if type(one) is float and one == 1.0:
                return other
    return Apply(primitive, args)


_SIGNS = {"int_add": 1, "int_sub": -1}


def _moved(x: Expression, by: int) -> Expression:
    """The sum of an int and a known one, which stays within 64 bits, as does `x`."""
    if type(x) is int:
        return x + by
    if isinstance(x, Apply) and x.primitive in _SIGNS and type(x.args[1]) is int:
        return _moved(x.args[0], by + _SIGNS[x.primitive] * x.args[1])
    if not by:
        return x
    return Apply("int_add", (x, by)) if by > 0 else Apply("int_sub", (x, -by))


def of_library(function: str, args: tuple[Expression, ...]) -> Expression:
    """A function of C's math library; a power by 1 or 0 is done at once."""
    if function == "pow" and args[1] in (0.0, 1.0) and type(args[1]) is float:
        return args[0] if args[1] == 1.0 else 1.0
    return Math(function, args)


_KNOWN: dict[str, Callable[..., Any]] = {
    "int_to_float": lambda x: float(x) if abs(x) <= 2**53 else None,
    "bool_to_float": float,
    "bool_to_int": int,
    "bool_not": lambda x: not x,
    "float_is_nan": math.isnan,
    **{f"{t}_select": lambda test, x, y: x if test else y for t in ("float", "int", "bool")},
}
_TESTS: dict[str, Callable[..., bool]] = {
    name: getattr(operator, name.partition("_")[2])
    for name, of in PRIMITIVES.items()
    if of.gives == "bool" and of.takes in (("float", "float"), ("int", "int"))
}


def added(x: Expression, y: Expression) -> Expression:
    """The sum of two ints; a sum of constants is done at once."""
    if type(x) is int and type(y) is int:
        return x + y
    if type(y) is int:
        if y == 0:
            return x
        is_sum = isinstance(x, Apply) and x.primitive in ("int_add", "int_sub")
        if is_sum and isinstance(x, Apply) and type(x.args[1]) is int:
            y += x.args[1] if x.primitive == "int_add" else -x.args[1]
            return added(x.args[0], y)
        return Apply("int_add", (x, y)) if y > 0 else Apply("int_sub", (x, -y))
    return y if x == 0 else Apply("int_add", (x, y))


def size_text(x: Expression) -> str:
    """The text of a size, which is a polynomial of free ones, in any language."""
    if isinstance(x, Apply):
        signs = {"int_add": "+", "int_sub": "-", "int_mul": "*"}
        return f" {signs[x.primitive]} ".join(map(size_text, x.args))
    return x.name if isinstance(x, Variable) else str(x)


def parts(x: Expression) -> tuple[Expression, ...]:
    """The operands of an expression."""
    if isinstance(x, (Apply, Math, Called)):
        return x.args
    if isinstance(x, Total):
        return x.start, x.count, x.step
    return (x.at,) if isinstance(x, Item) else ()


def every(x: Expression) -> Iterator[Expression]:
    """An expression and all expressions in it."""
    yield x
    for part in parts(x):
        yield from every(part)


def is_atom(x: Expression) -> bool:
    """True for a variable or a constant."""
    return not isinstance(x, (Apply, Math, Called, Item, Total))


def size(x: Expression) -> int:
    """The number of operations in an expression."""
    return sum(not is_atom(part) for part in every(x))


def variables(x: Expression) -> set[str]:
    """The names of the variables that an expression reads."""
    return {part.name for part in every(x) if isinstance(part, Variable)}


def names_in(x: Expression) -> Iterator[str]:
    """The names of the variables and arrays that an expression reads, each as often as it does."""
    for part in every(x):
        if isinstance(part, Variable):
            yield part.name
        elif isinstance(part, (Item, Total)):
            yield part.array


def names_read(body: Sequence[Statement]) -> set[str]:
    """The names of the variables and arrays that statements read."""
    return {name for s in statements(body) for x in read(s) for name in names_in(x)}


def replaced(x: Expression, value: Callable[[Variable], Expression]) -> Expression:
    """An expression with its variables replaced."""
    if isinstance(x, Variable):
        return value(x)
    inner = tuple([replaced(part, value) for part in parts(x)])
    match x:
        case Apply(primitive=primitive):
            return applied(primitive, inner)
        case Math(function=function):
            return of_library(function, inner)
        case Called(function=function, type=type):
            return Called(function, inner, type)
        case Item(array=array, type=type):
            return Item(array, inner[0], type)
        case Total(array=array):
            return Total(array, *inner)
    return x


def inner(s: Statement) -> Sequence[tuple[Statement, ...]]:
    """The blocks of a statement."""
    if isinstance(s, When):
        return s.then, s.orelse
    return (s.body,) if isinstance(s, (Count, While, Until)) else ()


def read(s: Statement) -> tuple[Expression, ...]:
    """The expressions of a statement itself."""
    match s:
        case Let() | Assign() | Return():
            return (s.value,)
        case Attempt():
            return s.args
        case When() | While() | Until() | Refuse():
            return (s.test,)
        case Count():
            return s.start, s.stop
        case Store():
            return s.at, s.value
        case Keep():
            return s.values
    return ()


def statements(body: Sequence[Statement]) -> Iterator[Statement]:
    """Each statement of a block, each followed by those of its blocks."""
    for s in body:
        yield s
        for block in inner(s):
            yield from statements(block)
