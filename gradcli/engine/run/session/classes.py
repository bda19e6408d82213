"""The program's own classes: making them, attributes, operators and iteration."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from gradcli.cpython import is_of_program
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.values import refusals
from gradcli.engine.values.objects import Object
from gradcli.errors import RunError, nearest, run_error

_HIDDEN = frozenset(
    {
        *("__dict__", "__weakref__", "__module__", "__doc__", "__annotations__"),
        *("__dataclass_fields__", "__dataclass_params__", "__match_args__"),
    }
)
SET_HOOK = "set attribute"
_HOOKS = {"__getattr__": "get attribute", "__setattr__": SET_HOOK}
"""Names under which hooks are stored, so that Python does not find them: they answer for the
program's attributes, not for those that the engine looks up.
"""
_OF_PROPERTIES = ("setter", "getter", "deleter")
_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "matmul": operator.matmul,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "pow": operator.pow,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "bitwise_left_shift": operator.lshift,
    "bitwise_right_shift": operator.rshift,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "getitem": operator.getitem,
    "positive": operator.pos,
    "neg": operator.neg,
    "bitwise_not": operator.invert,
    "abs": operator.abs,
}
"""What Python does where an operator's op meets an object, by the op's name."""


def made(name: str, bases: Sequence[Any], members: Mapping[str, Any]) -> type[Object]:
    """A class of the program."""
    for base in bases:
        if not (isinstance(base, type) and issubclass(base, Object)):
            raise run_error("bad-class", f"{kind_of(base)} cannot be the base of `{name}`")
    held = {_HOOKS.get(key, key): _unbound(value) for key, value in members.items()}
    if "__annotations__" in held:  # the names alone, in order: types mean nothing here
        held["__annotations__"] = dict.fromkeys(held["__annotations__"], object)
    try:
        kind = type(name, (*bases,) or (Object,), {**held, "__module__": "__main__"})
    except TypeError as error:
        raise run_error(
            "bad-class", f"these bases of `{name}` do not go together: {error}"
        ) from None
    if (take_fields := getattr(kind, "_take_fields", None)) is not None:  # `NamedTuple` has it
        names = [*held.get("__annotations__", ())]
        take_fields(kind, names, {field: held[field] for field in names if field in held})
    return kind


def _unbound(value: Any) -> Any:
    """A member of a class: only functions of the program become methods."""
    if type(value) is FunctionType and not is_of_program(value.__code__):
        return staticmethod(value)
    return value


def behind(owner: Any, receiver: Any) -> Any:
    """`super(owner, receiver)`."""
    try:
        return super(owner, receiver)
    except TypeError:
        message = f"`super` needs an object of its class, got {kind_of(receiver)}"
        raise run_error("wrong-type", message) from None


# attributes ---------------------------------------------------------------------------------------


def get(value: Any, name: str) -> Any:
    """`value.name` of an object, a class, `super()` or a property."""
    if isinstance(value, Object):
        own = value.__dict__
        if name in own and not isinstance(getattr(type(value), name, None), property):
            return own[name]
        if name == "__dict__":
            return own
        if name == "__class__":
            return type(value)
    if name == "__name__" and isinstance(value, type):
        return value.__name__
    if not has(value, name):
        if name == "__setattr__" and (value is Object or isinstance(value, (Object, super))):
            return _setter(value)
        if isinstance(value, Object) and has(value, "__getattr__"):
            return called(value, "__getattr__", (name,), {})
        message = f"{kind_of(value)} has no `{name}`"
        raise run_error("unknown-attribute", message, help=nearest(name, names_of(value)))
    return getattr(value, _HOOKS.get(name, name))


def names_of(value: Any) -> set[str]:
    """The names of the attributes of an object, its classes' included, or of a class."""
    names = {name for kind in _classes(value) for name in vars(kind)}
    names.update(value.__dict__ if isinstance(value, Object) else ())
    return {name for name in names - _HIDDEN if name.isidentifier()}


def _setter(value: Any) -> Callable[..., None]:
    """`__setattr__` as every object has it: behind `super()`, of an object, or of `object`."""
    around: Any = value
    if isinstance(value, super):
        return partial(_set, around.__self__)
    return partial(_set, value) if isinstance(value, Object) else _set


def has(value: Any, name: str) -> bool:
    """True if an object, a class, `super()` or a property has an attribute of that name."""
    if isinstance(value, property):
        return name in _OF_PROPERTIES
    if isinstance(value, Object) and name in value.__dict__:
        return True
    if name == "__init__" or (name == "args" and isinstance(value, BaseException)):
        return True
    held = _HOOKS.get(name, name)
    return name not in _HIDDEN and any(held in vars(k) for k in _classes(value))


def _classes(value: Any) -> Iterator[type]:
    """The classes of the program in which an attribute is looked up, in order."""
    if isinstance(value, super):
        around: Any = value
        order = list(around.__self_class__.__mro__)
        order = order[order.index(around.__thisclass__) + 1 :]
    else:
        order = list((value if isinstance(value, type) else type(value)).__mro__)
    return (k for k in order if issubclass(k, Object) and k is not Object)


def put(value: Any, name: str, new: Any) -> None:
    """`value.name = new` of an object or a class."""
    if name.startswith("__") and name.endswith("__"):
        raise run_error("unknown-attribute", f"`{name}` of {kind_of(value)} cannot be assigned")
    if isinstance(value, type) and _is_shared(value):
        raise run_error("unknown-attribute", f"{kind_of(value)} cannot be changed")
    if isinstance(value, Object) and has(value, "__setattr__"):
        called(value, "__setattr__", (name, new), {})
    else:
        assign(value, name, new)


def _set(value: Any, name: str, new: Any) -> None:
    """`object.__setattr__(value, name, new)`: past a `__setattr__` of the program."""
    if name.startswith("__") and name.endswith("__"):
        raise run_error("unknown-attribute", f"`{name}` of {kind_of(value)} cannot be assigned")
    if not isinstance(value, Object):
        raise run_error("wrong-type", f"{kind_of(value)} is no object whose attributes are set")
    assign(value, name, new)


def assign(value: Any, name: str, new: Any) -> None:
    """`value.name = new` of an object or a class, past a `__setattr__` of the program."""
    try:
        setattr(value, name, new)
    except AttributeError:
        message = f"`{name}` of {kind_of(value)} is a property without a setter"
        raise run_error("unknown-attribute", message) from None
    except TypeError as error:  # the arguments of an exception, which are a tuple
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
        message = f"`{name}` of {kind_of(value)} cannot be {kind_of(new)}"
        raise run_error("wrong-type", message) from None


def _is_shared(value: type) -> bool:
    """True if a class is the same in all runs, not made by one."""
    return value is Object or value.__module__ == "builtins"


def called(receiver: Any, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """`receiver.name(args)`."""
    function = get(receiver, name)
    if not callable(function):
        raise refusals.not_callable(kind_of(function))
    try:
        return function(*args, **keywords)
    except TypeError as error:
        raise misfit(error) or error from None


def misfit(error: TypeError) -> RunError | None:
    """The error for wrong arguments of a call, from Python's; None if it comes from inside the
    callee.
    """
    trace = error.__traceback__
    return arguments(error) if trace is None or trace.tb_next is None else None


def misfit_within(error: TypeError) -> RunError | None:
    """The error for wrong arguments of a call that a function of the program or of the library
    makes, from Python's; None if it comes from inside the engine.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not is_of_program(trace.tb_frame.f_code):
        return None
    return arguments(error)


def returned(error: Exception) -> RunError | None:
    """The error for a wrong result of a method such as `__len__`, or for a generator that asks
    itself for an item, from Python's; None for another one.
    """
    if str(error) == "generator already executing":
        message = "the generator asks itself for an item, while it makes one"
        return run_error("bad-argument", message, raises=error)
    if "object cannot be interpreted as an integer" in str(error):
        message = f"a method such as `__len__` must return an int: {error}"
        return run_error("wrong-type", message, raises=error)
    found = re.fullmatch(r"(__\w+__)(?: method|\(\))? (should return|returned) (.+)", str(error))
    return found and run_error("wrong-type", f"`{found[1]}` {found[2]} {found[3]}", raises=error)


def arguments(error: TypeError) -> RunError:
    """The error for wrong arguments, from Python's."""
    _, _, said = str(error).rpartition("<locals>.")
    name, call, rest = said.partition("()")
    return run_error("wrong-arity", f"`{name}`{rest}" if call else said)


def is_sequence(value: Any) -> bool:
    """True if a `for` can iterate over an object."""
    return isinstance(value, Object) and (has(value, "__iter__") or has(value, "__getitem__"))


# operators --------------------------------------------------------------------------------------


def updated(op: Any, x: Object, y: Any) -> Any:
    """`x += y` and similar operators on an object: its own method, else the operator."""
    method = f"__i{_OPERATORS[op.name].__name__.strip('_')}__"
    if not has(x, method):
        return operated(op, (x, y), {})
    return called(x, method, (y,), {})


def operated(op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    """The result of an op on objects: Python's operator, else their method of that name."""
    way = _OPERATORS.get(op.name)
    if way is not None:
        try:
            return way(*args)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise
            kinds = " and ".join(map(kind_of, args))
            raise run_error("wrong-type", f"`{op.name}` has no meaning for {kinds}") from None
    receiver, *rest = args
    if not isinstance(receiver, Object) or not has(receiver, op.name):
        found = next(a for a in args if isinstance(a, Object))
        raise run_error("wrong-type", f"`{op.name}` needs a number or tensor, got {kind_of(found)}")
    given = {name: value for name, value in params.items() if value is not op.params.get(name)}
    return called(receiver, op.name, rest, given)
