"""Python's functions that ask values and classes for what they are and have."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.op import Op, python_host
from gradcli.engine.values.dtypes import builtin_name
from gradcli.engine.values.sizes import describe
from gradcli.errors import run_error

FAMILY = 331, "Python's attributes and classes"

callable_: Op = python_host(
    "callable",
    lambda session, value: callable(value),
    args=("value",),
    infer=lambda known, value: known.number("bool"),
    doc="True if a value can be called.",
)


def _hash(session: Any, value: Any) -> int:
    from gradcli.engine.run.language.containers import hashed

    return hash(hashed(value))


hash_: Op = python_host(
    "hash",
    _hash,
    args=("value",),
    infer=lambda known, value: known.number("int64"),
    pure=False,
    doc="The number by which dictionaries and sets find a value: the same of equal values.",
)


def _attribute(session: Any, value: Any, name: Any) -> tuple[bool, Any]:
    """True if a value has an attribute, and the attribute."""
    from gradcli.engine.run.language import attributes
    from gradcli.engine.run.session import exceptions
    from gradcli.errors import RunError

    attributes.check_name(name)
    try:
        return True, attributes.get(session, value, name)
    except RunError as error:
        if error.diagnostics[0].code != "unknown-attribute":
            raise
        return False, None
    except exceptions.named("AttributeError"):  # of the program's own `__getattr__`
        return False, None


def _has(session: Any, value: Any, name: Any) -> bool:
    from gradcli.engine.builtins.python import names_in

    return _attribute(session, value, name)[0] or name in names_in(value)


hasattr_: Op = python_host(
    "hasattr",
    _has,
    args=("value", "name"),
    infer=lambda known, value, name: known.number("bool"),
    doc="True if a value has an attribute or method of that name.",
    pure=False,
    sees=True,
)


def _get(session: Any, value: Any, name: Any, *default: Any) -> Any:
    found, attribute = _attribute(session, value, name)
    if not found and not default:
        raise run_error("unknown-attribute", f"{describe(value)} has no `{name}`")
    return attribute if found else default[0]


getattr_: Op = python_host(
    "getattr",
    _get,
    args=("*values",),
    keeps=True,
    pure=False,
    doc="The attribute of a value by its name, or else the third argument if there is one.",
    sees=True,
)


vars_: Op = python_host(
    "vars",
    lambda session, value: _get(session, value, "__dict__"),
    args=("value",),
    keeps=True,
    pure=False,
    doc="The dictionary of the attributes of an object.",
    sees=True,
)


def _delete(session: Any, value: Any, name: Any) -> None:
    from gradcli.engine.run.language import attributes

    attributes.check_name(name)
    attributes.delete(value, name)


delattr_: Op = python_host(
    "delattr",
    _delete,
    args=("value", "name"),
    infer=lambda known, value, name: known.constant(None),
    pure=False,
    doc="Takes an attribute away from an object by its name, as `del value.name` does.",
    sees=True,
)


def _is_subclass(session: Any, kind: Any, of: Any) -> bool:
    from gradcli.engine.builtins.python import Kind

    kinds = of if isinstance(of, tuple) else (of,)
    if not all(isinstance(k, (type, Kind)) or callable(k) for k in (kind, *kinds)):
        raise run_error("wrong-type", "`issubclass` asks of classes", raises=TypeError)
    if isinstance(kind, type):
        return any(isinstance(k, type) and issubclass(kind, k) for k in kinds)
    return any(k is kind or k == kind or _OVER.get(_name(kind)) == _name(k) for k in kinds)


_OVER = {"bool": "int"}
"""Python's own kinds that inherit from others."""


def _name(kind: Any) -> str:
    return getattr(kind, "name", None) or builtin_name(kind)


issubclass_: Op = python_host(
    "issubclass",
    _is_subclass,
    args=("kind", "of"),
    infer=lambda known, kind, of: known.number("bool"),
    doc="True if a class is another one, or one of several, or inherits from it.",
    sees=True,
)
