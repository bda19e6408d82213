"""Signatures of ops, and the binding of arguments to their names by position and by name.

Calls that a program writes out are bound by the signature during lowering. This module binds the
others during a run: calls of built-ins that are values, or that take any number of arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from inspect import CO_VARARGS
from typing import Any

from gradcli.engine.ops.op import REQUIRED, Op
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import NUMBERS
from gradcli.engine.values.sizes import describe
from gradcli.errors import RunError, counted, run_error
from gradcli.ir.signature import Signature, written

SPELLINGS = {
    "axis": ("dim", "dims"),
    "axes": ("dim", "dims"),
    "keepdims": ("keepdim",),
    "shape": ("size",),
    "a_min": ("min",),
    "a_max": ("max",),
    "in_axes": ("in_dims",),
    "out_axes": ("out_dims",),
    "self": ("input",),
    "x": ("input",),
    "y": ("other",),
}
"""Keyword names that are accepted for others."""


def _kind(constant: Any) -> str:
    """What the value of a built-in name is, in the words of a message; "" if it has none."""
    if constant is REQUIRED:
        return ""
    kinds = {str: "a string", type(None): "None"}
    said: str = getattr(constant, "said", "a number")
    return kinds.get(type(constant), said)


def signature(op: Op) -> Signature:
    """The signature of an op, for the checks before a run."""
    params = [p.removeprefix("*") for p in op.params]
    names = [*op.args, *params]
    several = any(p.startswith("*") for p in op.params)
    variadic = op.variadic or several
    by_place = len(names)
    if several:  # parameters after "*size" are keyword-only
        by_place = len(op.args) + 1
    elif op.variadic and op.host.call is not None:
        by_place = len(op.args)
    required = len(op.args) - op.optional
    required += sum(v is REQUIRED and not p.startswith("*") for p, v in op.params.items())
    if op.order:
        names = list(op.order)
        by_place = len(names)
        optional = {*op.args[len(op.args) - op.optional :]}
        optional.update(p for p, v in op.params.items() if v is not REQUIRED)
        required = next((i for i, n in enumerate(names) if n in optional), len(names))
    aliases = {
        given: name
        for given, others in SPELLINGS.items()
        for name in reversed(others)
        if name in names and given not in names
    }
    if op.args:
        aliases["self"] = op.args[0]
        if "input" not in names:
            aliases["input"] = op.args[0]
    return Signature(
        aliases=aliases,
        any_name=op.host.any_name,
        gathers=op.host.gathers,
        constant=_kind(op.constant),
        keywords=tuple(names[by_place:]),
        method=op.method,
        name=written(op.name),
        positional=tuple(names[:by_place]),
        pure=op.host.pure,
        required=required,
        variadic=variadic,
    )


def bind(
    op: Op, args: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments and static parameters of an op from what a call gives by position and by name.

    Raises:
        RunError: If one is missing, unknown, given twice, or too many are given.
    """
    if op.order:
        args, keywords = (), _ordered(op, args, keywords)
    given = list(args)
    bound: list[Any] = []
    params: dict[str, Any] = {}
    named = {_spelling(op, name): value for name, value in keywords.items()}
    if op.variadic:
        first = given.pop(0) if given else named.pop(op.args[0], ())
        if isinstance(first, (list, tuple)):
            bound.extend(first)
        else:
            bound.append(first)
            while given and isinstance(given[0], Tensor):
                bound.append(given.pop(0))
    else:
        for i, name in enumerate(op.args):
            if i < len(given):
                bound.append(given[i])
            elif name in named:
                bound.append(named.pop(name))
            elif i >= len(op.args) - op.optional:
                bound.append(None)
            else:
                raise _missing(op, name)
        given = given[len(op.args) :]
    for key, default in op.params.items():
        name = key.removeprefix("*")
        if name in named:
            params[name] = static(named.pop(name))
        elif key.startswith("*"):
            if given or default is REQUIRED:
                params[name] = _several(given)
            else:
                params[name] = default
            given = []
        elif given:
            params[name] = static(given.pop(0))
        elif default is REQUIRED:
            raise _missing(op, name)
        else:
            params[name] = default
    if given:
        raise _too_many(op, len(op.args) + len(op.params), len(args) + len(keywords))
    if named:
        raise run_error(
            "wrong-arity",
            f"`{written(op.name)}` has no argument `{next(iter(named))}`",
            notes=(f"it is called as {op.usage}",),
        )
    check_params(op, params)
    return bound, params


def needs_no_binding(op: Op) -> bool:
    """True if exactly its arguments, given by place, are all that a call of the op has to give."""
    if op.host.call is not None or op.variadic or op.order:
        return False
    return all(v is not REQUIRED and not k.startswith("*") for k, v in op.params.items())


def bind_host(
    op: Op, args: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of a host op: its "*values" take any number, everything as it was written."""
    if op.host.any_name:
        _check_count(op, len(args))
        return list(args), {"named": keywords}
    if op.variadic and not keywords:
        _check_count(op, len(args))
        return list(args), dict(op.params)
    if op.variadic:
        keywords = {_spelling(op, name): value for name, value in keywords.items()}
        args = [*args]
        while (name := op.args[min(len(args), len(op.args) - 1)]) in keywords:
            args.append(keywords.pop(name))
        params = {k: keywords.get(k, d) for k, d in op.params.items()}
        unknown = [k for k in keywords if k not in op.params]
        if unknown:
            raise run_error("wrong-arity", f"`{written(op.name)}` has no argument `{unknown[0]}`")
        _check_count(op, len(args))
        return list(args), params
    return bind(op, args, keywords)


def _check_count(op: Op, got: int) -> None:
    """Refuse fewer or more values than a host with a variable number of arguments takes."""
    least, most = _counts(op)
    if got < least:
        raise run_error(
            "wrong-arity",
            f"`{written(op.name)}` needs at least {counted(least, 'argument')}, got {got}",
        )
    if most is not None and got > most:
        raise _too_many(op, most, got)


@cache
def _counts(op: Op) -> tuple[int, int | None]:
    """The least and the largest number of values that a host takes; None if it takes any number."""
    host: Any = op.host.call
    if not hasattr(host, "__code__"):
        return 0, None
    code = host.__code__
    most = code.co_argcount - 1  # without the session
    least = most - len(host.__defaults__ or ())
    return least, None if code.co_flags & CO_VARARGS else most


def _ordered(op: Op, args: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, of an op whose places mix arguments and parameters. The
    receiver of a method call comes as `self`.
    """
    places = [name for name in op.order if "self" not in keywords or name != op.args[0]]
    if len(args) > len(places):
        raise _too_many(op, len(op.order), len(args) + len(keywords))
    named = dict(zip(places, args, strict=False))
    for name, value in keywords.items():
        if _spelling(op, name) in named:
            message = f"`{written(op.name)}` gets `{name}` by position and by name"
            raise run_error("wrong-arity", message)
        named[_spelling(op, name)] = value
    return named


def _too_many(op: Op, most: int, got: int) -> RunError:
    return run_error(
        "wrong-arity", f"`{written(op.name)}` takes at most {counted(most, 'argument')}, got {got}"
    )


def _spelling(op: Op, name: str) -> str:
    if name in op.args or name in op.params:
        return name
    names = {*op.args, *(p.removeprefix("*") for p in op.params)}
    if name in names:
        return name
    if name in ("input", "self") and op.args:
        return op.args[0]
    other = next((other for other in SPELLINGS.get(name, ()) if other in names), name)
    if other not in names and name == "dim" and "axis" in names:
        return "axis"
    return other


def _missing(op: Op, name: str) -> Exception:
    message = f"`{written(op.name)}` needs `{name}`"
    return run_error("wrong-arity", message, notes=(f"it is called as {op.usage}",))


def _several(given: Sequence[Any]) -> tuple[Any, ...]:
    if len(given) == 1 and isinstance(given[0], (list, tuple)):
        given = given[0]
    return tuple(map(static, given))


def static(value: Any) -> Any:
    """A static parameter: tensors and differentiated numbers as plain data, lists as tuples."""
    if isinstance(value, Tensor):
        return value.data
    if isinstance(value, (list, tuple)):
        return tuple(map(static, value))
    return value


def check_params(op: Op, params: Mapping[str, Any]) -> None:
    """Refuse what cannot be a parameter, as far as the kind of its default tells: functions
    anywhere, arrays where it is one value, text and nothing where it is a number, several where it
    is a bool, and all but one number where it is a float.
    """
    for key, default in op.params.items():
        name = key.removeprefix("*")
        kind, value = type(default), params.get(name, default)
        if op.host.call is not None and kind is not bool:  # it takes values of its own kinds
            continue
        number = kind in NUMBERS
        if (
            (kind is float and type(value) not in NUMBERS and not hasattr(value, "shape"))
            or ((number or kind is str) and _is_array(value) and value.ndim)
            or (number and value is None)
            or (kind is bool and type(value) is tuple)
            or (callable(value) and name != "dtype")  # `float` names a dtype
        ):
            what = "one number" if number else "one text or number" if kind is str else "a value"
            message = f"`{written(op.name)}` needs {what} as `{name}`, got {describe(value)}"
            raise run_error("wrong-type", message)


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype") and not isinstance(value, Carrier)
