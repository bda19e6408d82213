"""What is known of values before a program runs: shapes, dtypes, constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.arrays import NUMBERS, dtype_of
from gradcli.engine.ops.registry import Op
from gradcli.engine.ops.sizes import Shape, broadcast, sizes
from gradcli.engine.tensor import Abstract, Tensor

UNSURE = object()
"""The known value of what has none."""

FLAT = frozenset({"floor", "ceil", "round", "trunc", "sign", "floor_divide", "argmax", "argmin"})
_BOOLS = frozenset(
    [
        *("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "isclose"),
        *("logical_and", "logical_or", "logical_not", "logical_xor", "all", "any"),
    ]
)
_INTS = frozenset(
    [
        *("argmax", "argmin", "argsort", "count_nonzero"),
        *("nonzero", "searchsorted", "bucketize"),
    ]
)


class Value(Abstract):
    """What is known of a value. `shape` and `dtype` are None where they are not known, `known` is
    its value where it is a constant; `varies` says that it depends on what is differentiated.
    """

    __slots__ = ("dtype", "known", "shape", "varies")

    def __init__(
        self,
        shape: Shape | None = None,
        dtype: str | None = None,
        varies: bool = False,
        known: Any = UNSURE,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.varies = varies
        self.known = known

    @property
    def ndim(self) -> int:
        assert self.shape is not None
        return len(self.shape)

    def apply(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """What the op gives, of which the shape at most is known."""
        return inferred(op, args, params)


def unknown(varies: bool = False) -> Value:
    """A value of which nothing is known."""
    return Value(varies=varies)


def of_data(data: Any, varies: bool = False) -> Any:
    """What is known of a value from outside: of a tensor not its numbers."""
    if isinstance(data, Tensor):
        data = data.data
    if isinstance(data, (list, tuple)) and not _is_array(data):
        return [of_data(item, varies) for item in data]
    if isinstance(data, (list, tuple)):
        import numpy as np

        array: Any = np.asarray(data)
        data = array
    if type(data) in NUMBERS:
        known = UNSURE if varies or type(data) is float else data
        return Value((), dtype_of(data), varies, known)
    if hasattr(data, "dtype"):
        return Value(tuple(data.shape), dtype_of(data), varies and data.dtype.kind == "f")
    return Value(known=data) if isinstance(data, str) or data is None else unknown()


def _is_array(items: Any) -> bool:
    """Whether nested lists are of numbers only, and rows of one length."""
    if all(type(i) in NUMBERS for i in items):
        return bool(items)
    rows = [i for i in items if isinstance(i, (list, tuple))]
    return (
        len(rows) == len(items) and len({len(r) for r in rows}) == 1 and all(map(_is_array, rows))
    )


def inferred(op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    """What an op gives for what is known of its arguments.

    Raises:
        GradError: If the sizes cannot fit, whatever the values.
    """
    varies = any(isinstance(a, Value) and a.varies for a in args)
    plain = [_constant(a) for a in args]
    if op.number is not None and not varies and all(type(p) in NUMBERS for p in plain):
        found = op.number(*plain, **params)
        return Value((), dtype_of(found), False, found)
    shapes = [_shape_of(a) for a in args]
    if any(s is None and a is not None for s, a in zip(shapes, args, strict=True)):
        return unknown(varies)
    if op.body is not None:
        return op.body(*args, **params)
    given = [s for s in shapes if s is not None]
    shape: Any = op.shape(*shapes, **params) if op.shape else broadcast(*given)
    differentiable = op.differentiable and op.name not in FLAT
    if isinstance(shape, tuple) and shape and isinstance(shape[0], tuple):
        return tuple(Value(s, None, varies) for s in shape)
    if not isinstance(shape, tuple):
        return unknown(varies)
    return Value(shape, _dtype(op, args), varies and (differentiable or op.name in _BOOLS))


def _dtype(op: Op, args: Sequence[Any]) -> str | None:
    if op.name in _BOOLS:
        return "bool"
    if op.name in _INTS:
        return "int64"
    kinds = [a.dtype if isinstance(a, Value) else dtype_of(a) for a in args if a is not None]
    for kind in ("float64", "float32"):
        if kind in kinds:
            return kind
    return None


def _constant(a: Any) -> Any:
    return a.known if isinstance(a, Value) else a if type(a) in NUMBERS else UNSURE


def _shape_of(a: Any) -> tuple[int, ...] | None:
    if isinstance(a, Value):
        return a.shape
    return () if type(a) in NUMBERS else getattr(a, "shape", None)


def merged(a: Any, b: Any) -> Any:
    """What is known whichever of the two a value is."""
    if a is b:
        return a
    if isinstance(a, Value) and isinstance(b, Value):
        shape = a.shape if a.shape == b.shape else None
        same = type(a.known) is type(b.known) and a.known == b.known
        return Value(
            shape,
            a.dtype if a.dtype == b.dtype else None,
            a.varies or b.varies,
            a.known if same else UNSURE,
        )
    if type(a) is type(b) and isinstance(a, (list, tuple)) and len(a) == len(b):
        return type(a)(merged(x, y) for x, y in zip(a, b, strict=True))
    return unknown(varies_any(a) or varies_any(b))


def varies_any(a: Any) -> bool:
    """Whether a value, or an item of a list, depends on what is differentiated."""
    if isinstance(a, (list, tuple)):
        return any(map(varies_any, a))
    return isinstance(a, Value) and a.varies


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


def stacked(value: Any) -> Any:
    """A list of numbers and tensors of one shape as the tensor that it becomes; else None."""
    if not isinstance(value, list):
        return None
    items = [stacked(v) if isinstance(v, list) else v for v in value]
    if not items or not all(isinstance(v, Value) and v.shape is not None for v in items):
        return None
    if len({v.shape for v in items}) != 1:
        return None
    floats = [v.dtype for v in items if v.dtype in ("float64", "float32")]
    dtype = floats[0] if floats else items[0].dtype
    return Value((len(items), *items[0].shape), dtype, any(v.varies for v in items))


# built-ins that work on the program's own values ------------------------------------------------


def _made(args: list[Any], keywords: dict[str, Any]) -> Any:
    """A new tensor of a size that is written out."""
    given = static(keywords.get("size", args))
    if given is UNSURE:
        return unknown()
    return Value(sizes(given), "float64", static(keywords.get("requires_grad")) is True)


def _copied(args: list[Any], keywords: dict[str, Any]) -> Any:
    value = stacked(args[0]) or args[0] if args else unknown()
    if not isinstance(value, Value):
        return unknown()
    return Value(value.shape, value.dtype, static(keywords.get("requires_grad")) is True)


def _range(args: list[Any], keywords: dict[str, Any]) -> Any:
    ends = [static(a) for a in args]
    fine = all(type(e) is int for e in ends) and 0 < len(ends) < 4
    return Value(known=range(*ends)) if fine and 0 not in ends[2:] else Value(known=range(1 << 20))


def _length(args: list[Any], keywords: dict[str, Any]) -> Any:
    value = args[0] if args else None
    if isinstance(value, (list, tuple)):
        return Value((), "int64", False, len(value))
    if isinstance(value, Value) and value.shape:
        return Value((), "int64", False, value.shape[0])
    return Value((), "int64")


def _extreme(args: list[Any], keywords: dict[str, Any]) -> Any:
    varies = any(map(varies_any, args))
    if len(args) == 1 and not keywords and isinstance(args[0], Value) and args[0].shape is not None:
        return Value((), args[0].dtype, varies)
    return unknown(varies)


def _printed(args: list[Any], keywords: dict[str, Any]) -> Any:
    return Value(known=None)


HOSTS: dict[str, Callable[[list[Any], dict[str, Any]], Any]] = {
    **dict.fromkeys(("zeros", "ones", "empty", "rand", "randn"), _made),
    **dict.fromkeys(("tensor", "as_tensor", "Variable", "FloatTensor"), _copied),
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"), _copied),
    **dict.fromkeys(("max", "min"), _extreme),
    "range": _range,
    "len": _length,
    "print": _printed,
}
