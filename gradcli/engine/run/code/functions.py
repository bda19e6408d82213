"""Functions of the program that the engine calls: for transforms, hooks and own rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

from gradcli.cpython import PROGRAM
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.values import refusals
from gradcli.errors import Diagnostic, RunError, counted
from gradcli.source import Span

PARAMETERS = "its parameters"
RESULT = "what it returns"
"""Labels of parts of a function."""

_ANY_NUMBER, _ANY_NAME = 0x04, 0x08  # of arguments: `inspect.CO_VARARGS`, `CO_VARKEYWORDS`

NO_KEYWORDS: Mapping[str, Any] = {}


def called(
    function: Any, args: Sequence[Any], by: str, keywords: Mapping[str, Any] = NO_KEYWORDS
) -> Any:
    """The result of a function of the program, which the engine calls for `by`.

    Raises:
        RunError: If it is not a function, or takes other arguments.
    """
    if not callable(function):
        raise refusals.not_callable(kind_of(function))
    wrong = misfit(function, len(args), keywords)
    if wrong is not None:
        message = f"{wrong}, and `{by}` calls it with {len(args) + len(keywords)}"
        raise wrong_function(function, "wrong-arity", message, label=PARAMETERS)
    return function(*args, **keywords)


def misfit(function: Any, count: int, keywords: Mapping[str, Any] = NO_KEYWORDS) -> str | None:
    """A text about the parameters of a function of the program if a call does not fit them; None if
    it fits, or if the program did not write the function.
    """
    name = getattr(function, "__name__", "")
    taken = isinstance(function, (type, MethodType))  # the first argument: the object
    function = getattr(function, "__init__" if isinstance(function, type) else "__func__", function)
    if function is object.__init__:
        return f"`{name}` takes 0 arguments" if count or keywords else None
    if type(function) is not FunctionType or function.__code__.co_filename != PROGRAM:
        return None
    code = function.__code__
    if count == code.co_argcount - taken and not keywords and not code.co_kwonlyargcount:
        return None
    names = code.co_varnames[taken : code.co_argcount]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = len(function.__defaults__ or ())
    twice = [name for name in keywords if name in names[:count]]
    if twice:
        return f"`{name}` gets its argument `{twice[0]}` by position and by name"
    unknown = [name for name in keywords if name not in (*names[count:], *named)]
    if unknown and not code.co_flags & _ANY_NAME:
        return f"`{name}` has no parameter `{unknown[0]}` for an argument by name"
    needed = [n for n in names[count : len(names) - defaults] if n not in keywords]
    needed += [n for n in named if n not in (*keywords, *(function.__kwdefaults__ or ()))]
    if not needed and (count <= len(names) or code.co_flags & _ANY_NUMBER):
        return None
    least = f"{len(names) - defaults} to " if defaults else ""
    return f"`{name}` takes {least}{counted(len(names), 'argument')}"


def parameters(function: Any) -> tuple[str, ...] | None:
    """The names of a program's function's arguments by place; None of any other function, and of
    one with any number of arguments, or with arguments by name alone.
    """
    if type(function) is not FunctionType or function.__code__.co_filename != PROGRAM:
        return None
    code = function.__code__
    if code.co_kwonlyargcount or code.co_flags & (_ANY_NUMBER | _ANY_NAME):
        return None
    return code.co_varnames[: code.co_argcount]


def wrong_function(
    function: Any, code: str, message: str, help: str | None = None, *, label: str = ""
) -> RunError:
    """The error about a function of the program, at its place or where the label points."""
    return RunError(Diagnostic(code, message, None, place_of(function), label=label, help=help))


def place_of(function: Any) -> Span | None:
    """The place where the program makes a function, taken from its docstring."""
    if type(function) is not FunctionType or function.__code__.co_filename != PROGRAM:
        return None
    return function_span(function.__doc__)


def function_span(docstring: str | None) -> Span:
    """The place in the docstring of a function of the program."""
    start, _, end = (docstring or "0 0").partition("\n")[0].partition(" ")
    return Span(int(start), int(end))


def docstring_of(function: Any) -> str | None:
    """The text of a program's function, a built-in or a derivative about itself."""
    if type(function) is not FunctionType:
        return None
    if function.__code__.co_filename != PROGRAM:
        return function.__doc__
    _, newline, said = (function.__doc__ or "").partition("\n")
    return said if newline else None
