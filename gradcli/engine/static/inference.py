"""What built-ins give for what is known of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.ops.binding import bind, check_params, signature
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op
from gradcli.engine.run.session import Session
from gradcli.engine.static.lists import linked
from gradcli.engine.static.value import (
    LINKED,
    UNLINKED,
    UNSURE,
    Value,
    constant,
    inferred,
    tensor,
    unknown,
)
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import NUMBERS
from gradcli.engine.values.dtypes import dtype_name
from gradcli.engine.values.sizes import filled, sizes
from gradcli.errors import run_error


def result(name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """What a built-in gives. Lists among its arguments are Python's.

    Raises:
        GradError: If it cannot work, whatever the values are that are not known.
    """
    everything = [*args, *keywords.values()]
    special = _HOSTS.get(name)
    if special is not None:
        return special(list(args), dict(keywords))
    if name not in ops or ops[name].constant is not REQUIRED:
        return unknown(linked(everything))
    op = ops[name]
    if op.host is not None:
        return unknown(linked(everything))
    given = list(args) if op.variadic else [_tensor(a) for a in args]
    bound, params = bind(op, given, keywords)
    return _result(op, bound, params)


def bound_result(name: str, named: Mapping[str, Any]) -> Any:
    """What a built-in gives for arguments that are bound to their names.

    Raises:
        GradError: If it cannot work, whatever the values are that are not known.
    """
    op = ops[name]
    if op.host is not None:
        return result(name, *unbound(name, named))
    params = {n: named.get(n, default) for n, default in op.params.items()}
    if REQUIRED in params.values():
        return unknown(linked(named.values()))
    return _result(op, [_tensor(named.get(a)) for a in op.args], params)


def unbound(name: str, named: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Bound arguments by place, as far as they are there in order, and the others by name."""
    places = signature(ops[name]).positional
    by_place = [n for n, place in zip(named, places, strict=False) if n == place]
    return [named[n] for n in by_place], {n: named[n] for n in named if n not in by_place}


def _result(op: Op, bound: list[Any], params: Mapping[str, Any]) -> Any:
    link = linked(bound)
    bound = [None if isinstance(a, Value) and a.known is None else _tensor(a) for a in bound]
    clean = {k: static(v) for k, v in params.items()}
    if UNSURE in clean.values() or any(a is not None and type(a) is not Value for a in bound):
        return unknown(link)
    check_params(op, clean)
    return inferred(op, bound, clean)


def indexed(name: str, args: Sequence[Any], index: Any) -> Any:
    """What `getitem` or `set_at` gives for an index as the program writes it, lists as Python's.

    Raises:
        GradError: If it cannot work, whatever the values are that are not known.
    """
    tensors = [_tensor(a) for a in args]
    link = linked(tensors)
    at = _index(index)
    if at is UNSURE or not all(isinstance(t, Value) and t.shape is not None for t in tensors):
        return unknown(link)
    if any(
        hasattr(p, "dtype") and p.dtype.kind == "b" for p in (at if type(at) is tuple else (at,))
    ):
        inferred(ops.getitem, tensors[:1], {"index": at})
        return unknown(link)  # the mask's numbers tell how many elements there are
    return inferred(ops[name], tensors, {"index": at})


def _index(value: Any) -> Any:
    """An index that picks as many elements as one does, and is in range if any is; UNSURE if that
    is not known.
    """
    if isinstance(value, (list, tuple)):
        parts = [_index(v) for v in value]
        if any(p is UNSURE for p in parts):
            return UNSURE
        return parts if isinstance(value, list) else tuple(parts)
    if not isinstance(value, Value):
        return UNSURE
    if value.known is not UNSURE:
        return UNSURE if isinstance(value.known, (float, str)) else value.known
    if value.shape is None or value.dtype not in ("int64", "bool"):
        return UNSURE
    if value.dtype == "bool":
        return filled(value.shape, False)
    return filled(value.shape, 0) if value.shape else 0


def static(value: Any) -> Any:
    """A static parameter as an op takes it; UNSURE if it is not known."""
    if isinstance(value, Value):
        return value.known
    if isinstance(value, (list, tuple)):
        parts = [static(v) for v in value]
        if any(p is UNSURE for p in parts):
            return UNSURE
        return parts if isinstance(value, list) else tuple(parts)
    if type(value) in NUMBERS or value is None or isinstance(value, (str, slice, type(Ellipsis))):
        return value
    return UNSURE


def stand_in(value: Any) -> Any:
    """A tensor of the shape of a value, to ask what its shape alone tells; None if that is not
    known, or may be a number's.
    """
    if not isinstance(value, Value) or not value.shape:
        return None
    return Tensor(filled(value.shape, 0 if value.dtype == "int64" else 0.0))


def stacked(value: Any) -> Any:
    """A list of numbers and tensors as the tensor that it becomes, None if that is not known.

    Raises:
        GradError: If they are not of one shape.
    """
    items = [stacked(v) if isinstance(v, list) else v for v in value]
    if not all(isinstance(v, Value) and v.shape is not None for v in items):
        return None
    if not items:
        return tensor((0,), "float64")
    shapes = {v.shape for v in items}
    if len(shapes) > 1:
        shown = " and ".join(str(list(s)) for s in sorted(shapes)[:2])
        raise run_error(
            "ragged-list",
            f"a list becomes a tensor only if its rows are of one shape, got the shapes {shown}",
        )
    floats = [v.dtype for v in items if v.dtype in ("float64", "float32")]
    dtype = floats[0] if floats else items[0].dtype
    return tensor((len(items), *items[0].shape), dtype, linked(items))


def _tensor(value: Any) -> Any:
    return (stacked(value) or unknown(linked(value))) if isinstance(value, list) else value


# built-ins that work on the program's own values ------------------------------------------------


def _made(args: list[Any], keywords: dict[str, Any]) -> Any:
    """A new tensor of a size that is written out."""
    given = static(keywords.get("size", args))
    leaf = static(keywords.get("requires_grad")) is True
    link = LINKED if leaf else UNLINKED
    return unknown(link) if given is UNSURE else Value(sizes(given), _dtype(keywords), link)


def _dtype(keywords: Mapping[str, Any], other: str | None = "float64") -> str | None:
    if "dtype" not in keywords:
        return other
    asked = keywords["dtype"]
    known = asked.known if isinstance(asked, Value) else UNSURE
    return None if known is UNSURE else dtype_name(known) or other


def _copied(args: list[Any], keywords: dict[str, Any]) -> Any:
    leaf = static(keywords.get("requires_grad")) is True
    link = LINKED if leaf else UNLINKED
    value = _tensor(args[0]) if args else None
    if not isinstance(value, Value):
        return unknown(link)
    dtype = _dtype(keywords, value.dtype)
    if leaf and dtype in ("int64", "bool"):
        raise run_error(
            "needs-float",
            f"a tensor of dtype {dtype} cannot require grad: only floats have derivatives",
            help="write its numbers with a point, as in `tensor([1.0, 2.0], requires_grad=True)`",
        )
    return Value(value.shape, dtype, link)


def _like(args: list[Any], keywords: dict[str, Any]) -> Any:
    found = _copied(args, keywords)
    return Value(found.shape, None, found.link)


def _range(args: list[Any], keywords: dict[str, Any]) -> Any:
    ends = [static(a) for a in args]
    fine = all(type(e) is int for e in ends) and 0 < len(ends) < 4
    return Value(known=range(*ends)) if fine and 0 not in ends[2:] else unknown()


def _length(args: list[Any], keywords: dict[str, Any]) -> Any:
    value = args[0] if args else None
    if isinstance(value, (list, tuple)):
        return constant(len(value))
    if isinstance(value, Value):
        if value.shape:
            return constant(value.shape[0])
        if isinstance(value.known, (str, range)):
            return constant(len(value.known))
    return Value((), "int64")


def _extreme(name: str) -> Callable[[list[Any], dict[str, Any]], Any]:
    """`max` or `min`: of all elements, along a dimension, or of several values."""

    def extreme(args: list[Any], keywords: dict[str, Any]) -> Any:
        given = [_tensor(a) for a in args]
        link = linked([*given, *keywords.values()])
        if not given or not all(isinstance(a, Value) and a.shape is not None for a in given):
            return unknown(link)
        first, *others = given
        by_place = bool(others) and others[0].dtype not in ("float64", "float32")
        if by_place or (not others and "dim" in keywords):
            dim = others[0] if others else keywords["dim"]
            if not first.shape or type(static(dim)) is not int:
                return unknown(link)  # a number's, or of a dimension that is not known
            flags = {k: v for k, v in keywords.items() if k == "keepdim"}
            values = result(f"{name}_along", [first], {"dim": dim, **flags})
            if type(values) is not tuple:
                return unknown(link)
            return values[0], Value(values[1].shape, "int64", link.cut())
        if keywords:
            return unknown(link)
        if not others:
            return Value((), first.dtype, link)
        found = first
        for other in others:
            found = result(f"{name}imum", [found, other], {})
        return found

    return extreme


def _printed(args: list[Any], keywords: dict[str, Any]) -> Any:
    return constant(None)


def _scalar(name: str, dtype: str) -> Callable[[list[Any], dict[str, Any]], Any]:
    """`int`, `float` or `bool` of a value."""

    def scalar(args: list[Any], keywords: dict[str, Any]) -> Any:
        value = args[0] if args else constant(0)
        tensor = stand_in(value)
        if tensor is not None:
            _on(name, tensor)
        if not isinstance(value, Value):
            return Value((), dtype)
        if type(value.known) in NUMBERS:
            return constant(_on(name, value.known))
        smooth = name == "float" and value.shape == ()
        return Value((), dtype, value.link if smooth else value.link.cut())

    return scalar


def _on(name: str, value: Any) -> Any:
    call = ops[name].host
    assert call is not None
    return call(Session(), value)


def _einsum(args: list[Any], keywords: dict[str, Any]) -> Any:
    equation, *tensors = args
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = list(tensors[0])
    return result("contraction", [tensors], {"equation": equation})


def _round(args: list[Any], keywords: dict[str, Any]) -> Any:
    value = _tensor(args[0]) if args else unknown()
    return Value(value.shape, None, value.link) if isinstance(value, Value) else unknown()


def _isinstance(args: list[Any], keywords: dict[str, Any]) -> Any:
    return Value((), "bool")


_HOSTS: dict[str, Callable[[list[Any], dict[str, Any]], Any]] = {
    **dict.fromkeys(("zeros", "ones", "empty", "rand", "randn"), _made),
    **dict.fromkeys(("tensor", "as_tensor"), _copied),
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"), _like),
    "max": _extreme("max"),
    "min": _extreme("min"),
    "range": _range,
    "len": _length,
    "print": _printed,
    "int": _scalar("int", "int64"),
    "float": _scalar("float", "float64"),
    "bool": _scalar("bool", "bool"),
    "round": _round,
    "einsum": _einsum,
    "isinstance": _isinstance,
}

READERS = frozenset({*_HOSTS, "str", "allclose", "equal", "type", "dir", "id", "median"})
"""Built-ins on the program's own values that keep nothing of them."""
