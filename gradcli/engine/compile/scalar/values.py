"""Values and variables during translation: Python objects if known, else `Number`s."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from gradcli.engine.compile.scalar.builder import Number
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.sources import VARARGS, VARKEYWORDS
from gradcli.engine.compile.typed import TYPES
from gradcli.engine.numerics.piecewise import pieces


class Scope:
    """A call of a function: its variables, the label of its end, and the values returned there."""

    def __init__(self, function: FunctionType, variables: dict[str, Any]) -> None:
        self.function = function
        self.variables = variables
        self.wanted: str | None = None
        self.ends: list[tuple[Any, int]] = []
        self.end = 0
        cells = function.__closure__ or ()
        free = zip(function.__code__.co_freevars, cells, strict=True)
        self._outside = {name: cell.cell_contents for name, cell in free}

    def inner(self, variables: dict[str, Any]) -> Scope:
        """The scope of a lambda in this one."""
        return Scope(self.function, {**self.variables, **variables})

    def look_up(self, name: str) -> Any:
        for where in (self.variables, self._outside, self.function.__globals__, vars(builtins)):
            if name in where:
                return where[name]
        raise Untranslatable(f"`{name}` is not known")


class Lambda:
    """A lambda with its scope."""

    def __init__(self, names: list[str], body: ast.expr, scope: Scope) -> None:
        self.names = names
        self.body = body
        self.scope = scope


class Method:
    """A method of a number."""

    def __init__(self, of: Number, name: str) -> None:
        self.of = of
        self.name = name


def by_pieces(function: FunctionType) -> bool:
    """True if a function is piecewise: it calls `pieces`."""
    return pieces.__name__ in function.__code__.co_names


def moves(x: Any) -> bool:
    """True if a value depends on numbers that are unknown until the code runs."""
    if isinstance(x, tuple | list):
        return any(map(moves, x))
    return isinstance(x, Number | Lambda)


def evaluated(function: Callable[..., Any], *args: Any, **params: Any) -> Any:
    """The result of a call with known arguments."""
    if any(map(moves, args)):
        raise Untranslatable("a number in place of a known value")
    try:
        return function(*args, **params)
    except Exception as error:
        raise Untranslatable(f"it raises {error}") from None


def number(x: Any) -> Number:
    """A number, known or unknown, as an operand of the form."""
    found = x if isinstance(x, Number) else constant(x)
    if found is None:
        raise Untranslatable(f"{type(x).__name__} where a number of 64 bits must be")
    return found


def constant(x: Any) -> Number | None:
    """A Python number as an operand of the form; None if it is not a number of 64 bits."""
    if type(x) in (float, bool) or (type(x) is int and -(2**63) <= x < 2**63):
        return Number(x, TYPES[type(x)])
    return None


def operand(x: Any) -> Any:
    """An argument for a hand-written form: a `Number` if it is a number."""
    found = x if isinstance(x, Number) else constant(x)
    return x if found is None else found


def type_of(x: Any) -> str | None:
    """The type of a number; None for other values."""
    return x.type if isinstance(x, Number) else TYPES.get(type(x))


def same(x: Any, y: Any) -> bool:
    """True if two known values are the same, with signs of zeros and nan compared by their text."""
    return x is y or (type(x) is type(y) and repr(x) == repr(y))


def bind(function: FunctionType, args: Sequence[Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by parameter, including defaults."""
    code, rest = function.__code__, dict(params)
    places = code.co_varnames[: code.co_argcount]
    keywords = code.co_varnames[len(places) : len(places) + code.co_kwonlyargcount]
    defaults = function.__defaults__ or ()
    found = dict(zip(places[len(places) - len(defaults) :], defaults, strict=True))
    found |= function.__kwdefaults__ or {}
    found |= dict(zip(places, args, strict=False))
    found |= {name: rest.pop(name) for name in (*places, *keywords) if name in rest}
    behind = len(places) + len(keywords)
    if code.co_flags & VARARGS:
        found[code.co_varnames[behind]] = (*args[len(places) :],)
        behind += 1
    elif len(args) > len(places):
        raise Untranslatable(f"`{function.__name__}` takes fewer arguments")
    if code.co_flags & VARKEYWORDS:
        found[code.co_varnames[behind]] = rest
    elif rest or any(name not in found for name in (*places, *keywords)):
        raise Untranslatable(f"`{function.__name__}` takes other arguments")
    return found
