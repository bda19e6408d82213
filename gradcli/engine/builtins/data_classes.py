"""`dataclasses`: Python's own, of the program's classes."""

from __future__ import annotations

import dataclasses
from typing import Any

from gradcli.engine.ops.op import Op, host
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.tape.tensor import truth
from gradcli.engine.values.objects import Object
from gradcli.errors import run_error

FAMILY = 336, "Data classes"

_SETTINGS = frozenset({"init", "repr", "eq", "order", "unsafe_hash", "frozen", "kw_only"})


def _made(session: Any, *classes: Any, named: Any) -> Any:
    if not _SETTINGS.issuperset(named):
        unknown = min(named.keys() - _SETTINGS)
        raise run_error("wrong-arity", f"`dataclass` takes no argument `{unknown}`")
    settings = {name: truth(value) for name, value in named.items()}

    def decorate(made: Any) -> Any:
        if not (isinstance(made, type) and issubclass(made, Object)):
            raise run_error("bad-class", f"`dataclass` takes a class, got {kind_of(made)}")
        try:
            return dataclasses.dataclass(**settings)(made)
        except (TypeError, ValueError) as error:
            raise run_error(
                "bad-class", f"`{made.__name__}` is not a data class: {error}"
            ) from None

    return decorate(classes[0]) if classes else decorate


def _field(session: Any, *values: Any, named: Any) -> Any:
    try:
        return dataclasses.field(*values, **named)
    except (TypeError, ValueError) as error:
        raise run_error("wrong-arity", f"`field`: {error}") from None


def _object(value: Any, name: str) -> Any:
    if not isinstance(value, Object) or not dataclasses.is_dataclass(value):
        raise run_error("wrong-type", f"`{name}` takes an object of a data class")
    return value


def _fields(value: Any) -> Any:
    """The fields of data classes in a value, as dictionaries."""
    if isinstance(value, Object) and dataclasses.is_dataclass(value):
        return {f.name: _fields(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if type(value) in (list, tuple):
        return type(value)([_fields(item) for item in value])
    if type(value) is dict:
        return {key: _fields(item) for key, item in value.items()}
    return value


class _Described:
    """What is known of a field of a data class."""

    said = "a field of a data class"
    _members: tuple[dict[str, Any], dict[str, Any]] = (
        {
            "name": lambda described: described.field.name,
            "init": lambda described: described.field.init,
            "metadata": lambda described: {**described.field.metadata},
        },
        {},
    )

    def __init__(self, field: dataclasses.Field[Any]) -> None:
        self.field = field


def _described(session: Any, value: Any) -> tuple[_Described, ...]:
    if not dataclasses.is_dataclass(value):
        raise run_error("wrong-type", "`fields` takes a data class or an object of one")
    return tuple(_Described(field) for field in dataclasses.fields(value))


def _replaced(session: Any, *objects: Any, named: Any) -> Any:
    if len(objects) != 1:
        raise run_error("wrong-arity", f"`replace` takes one object, got {len(objects)}")
    try:
        return dataclasses.replace(_object(objects[0], "replace"), **named)
    except (TypeError, ValueError) as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            raise
        raise run_error("wrong-arity", f"`replace`: {error}") from None


def _of_dataclasses(name: str, call: Any, doc: str, **fields: Any) -> Op:
    return host(
        f"python_dataclasses_{name}",
        call,
        keeps=True,
        pure=False,
        sees=False,
        doc=f"`dataclasses.{name}`: {doc}.",
        source=f"Python: dataclasses.{name}",
        **fields,
    )


_SEVERAL: dict[str, Any] = {"args": ("*values=None",), "any_name": True}

dataclass: Op = _of_dataclasses(
    "dataclass",
    _made,
    "a class whose fields are the names that stand with a type in its body",
    **_SEVERAL,
)
field: Op = _of_dataclasses(
    "field", _field, "a field with a `default`, a `default_factory` or settings", **_SEVERAL
)
asdict: Op = _of_dataclasses(
    "asdict",
    lambda session, value: _fields(_object(value, "asdict")),
    "the fields of an object and what they hold, as a dictionary",
    args=("value",),
)
fields: Op = _of_dataclasses(
    "fields",
    _described,
    "the fields of a data class, each with its `name`, `init` and `metadata`",
    args=("value",),
)
is_dataclass: Op = _of_dataclasses(
    "is_dataclass",
    lambda session, value: dataclasses.is_dataclass(value),
    "true of data classes and their objects",
    args=("value",),
)
replace: Op = _of_dataclasses(
    "replace", _replaced, "another object with some fields changed", **_SEVERAL
)
