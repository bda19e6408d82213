"""Attribute access: methods and attributes of own rules and their contexts, and of all that
`members` knows.

`getter`, `setter` and `caller` make the functions for places of the program. They have fast paths
for objects of the program's classes, and for methods of Python's own values, that give the same
results as `get`, `put` and `method`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import MethodType
from typing import Any

from gradcli.engine.run.code.functions import called
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.derivatives.own import Context, OwnFunction
from gradcli.engine.run.language import members
from gradcli.engine.run.session import classes
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.objects import Object
from gradcli.engine.values.sizes import describe
from gradcli.errors import run_error

_ABSENT = object()
_OF_EXCEPTIONS = frozenset(dir(Exception))
"""Names that Python finds in exceptions, where the program has only those of its own classes."""


def _is_plain(name: str) -> bool:
    """True if Python finds an attribute of that name in objects only if their class or they
    themselves hold it.
    """
    return not name.startswith("__") and name not in _OF_EXCEPTIONS


@cache
def getter(name: str) -> Callable[..., Any]:
    """The function of `x.name` at a place."""
    if not _is_plain(name):
        return get

    def get_attribute(session: Evaluator, value: Any, name: str) -> Any:
        if isinstance(value, Object):
            found = getattr(value, name, _ABSENT)
            if found is not _ABSENT:
                return found
        return get(session, value, name)

    return get_attribute


@cache
def setter(name: str) -> Callable[..., None]:
    """The function of `x.name = v` at a place."""
    if not _is_plain(name):
        return put

    def put_attribute(session: Evaluator, value: Any, name: str, new: Any) -> None:
        if isinstance(value, Object) and not hasattr(value, classes.SET_HOOK):
            classes.assign(value, name, new)
        else:
            put(session, value, name, new)

    return put_attribute


def caller(name: str, site: Site | None) -> Callable[..., Any]:
    """The function of `x.name(...)` at a place."""
    is_plain = _is_plain(name)

    def call(session: Session, receiver: Any, /, *args: Any, **keywords: Any) -> Any:
        if is_plain and isinstance(receiver, Object):
            function = getattr(receiver, name, None)
            if type(function) is MethodType:
                try:
                    return function(*args, **keywords)
                except TypeError as error:
                    raise classes.misfit(error) or error from None
        elif type(receiver) in members.OF_PYTHON:
            member = members.method_of_python(type(receiver), name)
            if member is not None:
                return members.answer(member, (), receiver, name, args, keywords)
        return method(session, site, receiver, name, args, keywords)

    return call


def method(
    session: Session, site: Site | None, receiver: Any, name: str, args: Any, keywords: Any
) -> Any:
    """The result of a method."""
    if isinstance(receiver, OwnFunction):
        function = receiver.method(name, site) if name == "apply" else receiver.get(name)
        return called(function, args, f"{receiver.name}.{name}", keywords)
    if isinstance(receiver, Context):
        return receiver.call(name, args, keywords)
    if isinstance(receiver, (Object, type, super, property)):
        return classes.called(receiver, name, args, keywords)
    return members.call(session, site, receiver, name, args, keywords)


def get(session: Evaluator, value: Any, name: str) -> Any:
    """The value of an attribute."""
    if isinstance(value, Context):
        return value.get(name)
    if isinstance(value, OwnFunction):
        return value.get(name)
    if isinstance(value, (Object, type, super, property)):
        return classes.get(value, name)
    return members.get(session, value, name)


def check_name(name: Any) -> None:
    """Refuse a computed name of an attribute that is no string."""
    if type(name) is not str:
        message = f"the name of an attribute is a string, got {describe(name)}"
        raise run_error("wrong-type", message)


def put(session: Evaluator, value: Any, name: str, new: Any) -> None:
    """Give an attribute a value."""
    if isinstance(value, Context):
        value.fields[name] = new
    elif isinstance(value, OwnFunction):
        value.put(name, new)
    elif isinstance(value, (Object, type)):
        classes.put(value, name, new)
    else:
        members.put(session, value, name, new)


def delete(value: Any, name: str) -> None:
    """`del value.name`."""
    if isinstance(value, Tensor) and name == "grad":
        value.grad = None
    elif isinstance(value, Object) and name in value.__dict__:
        del value.__dict__[name]
    elif isinstance(value, Object):
        message = f"{kind_of(value)} holds no `{name}` of its own"
        raise run_error("unknown-attribute", message)
    else:
        message = f"`{name}` of {kind_of(value)} cannot be deleted"
        raise run_error("bad-assignment", message)
