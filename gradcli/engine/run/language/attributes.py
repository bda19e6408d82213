"""Attribute access: methods and attributes of own rules and their contexts, and of all that
`members` knows.
"""

from __future__ import annotations

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
