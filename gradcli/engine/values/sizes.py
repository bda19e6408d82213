"""Check and normalize sizes and dimensions for ops."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, Data, dtype_of, joined, np
from gradcli.engine.values.objects import Object
from gradcli.errors import run_error

Shape = tuple[int, ...]
_INTS = frozenset({int})


def whole(value: Any, name: str) -> int:
    """An int from an argument that must be one: an int or a 0-d integer tensor."""
    if type(value) is int:
        return value
    data = data_of(value)
    if type(data) is int or type(data) is bool:
        return int(data)
    if getattr(data, "shape", None) == () and data.dtype.kind in "ib":
        return int(data)
    message = f"`{name}` must be an integer, got {describe(value)}"
    raise run_error("bad-argument", message, raises=TypeError)


def no_int(x: float) -> Exception:
    """What Python raises for the int of nan or an infinity."""
    if isnan(x):
        return ValueError("cannot convert float NaN to integer")
    return OverflowError("cannot convert float infinity to integer")


def number(value: Any, name: str) -> Any:
    """A Python number from an argument that must be one: a number or a 0-d tensor."""
    data = data_of(value)
    if type(data) not in NUMBERS and getattr(data, "shape", None) == ():
        data = data.item()
    if type(data) not in NUMBERS:
        message = f"`{name}` must be a number, got {describe(value)}"
        raise run_error("bad-argument", message, raises=TypeError)
    return data


def flag(value: Any, name: str) -> bool:
    """A truth from an argument that must be one: a bool or a number."""
    return bool(number(value, name))


def describe(value: Any) -> str:
    """A value in the words of a message: a number itself, of the rest the kind."""
    data = data_of(value)
    if type(data) in NUMBERS:
        return repr(data)
    if value is None or isinstance(value, str):
        return repr(value)
    if hasattr(data, "shape"):
        return f"a tensor of shape {list(data.shape)}"
    kind = _KINDS.get(type(value)) or getattr(value, "said", None)
    if isinstance(value, Object):
        kind = f"a `{type(value).__name__}`"
    return kind or "a function"


_KINDS = {
    list: "a list",
    tuple: "a tuple",
    slice: "a slice",
    dict: "a dictionary",
    set: "a set",
    range: "a range",
}


def wholes(value: Any, name: str) -> Shape:
    """Ints from one int or a list or tuple of them; one list inside a tuple counts as itself."""
    if type(value) is tuple and _INTS.issuperset(map(type, value)):
        return value
    if isinstance(value, (list, tuple)):
        if len(value) == 1 and isinstance(value[0], (list, tuple)):
            value = value[0]
        return tuple(whole(n, name) for n in value)
    data = data_of(value)
    if getattr(data, "ndim", 0) == 1:
        return tuple(whole(n, name) for n in data.tolist())
    return (whole(value, name),)


def sizes(value: Any, name: str = "size") -> Shape:
    """The size of a new tensor."""
    size = wholes(value, name)
    if any(n < 0 for n in size):
        raise run_error("bad-argument", f"sizes cannot be negative, got {list(size)}")
    return size


def axis(dim: Any, ndim: int, name: str = "dim") -> int:
    """A dimension counted from the front; 0-d tensors have the dimensions 0 and -1."""
    place = whole(dim, name)
    count = max(ndim, 1)
    if not -count <= place < count:
        raise run_error(
            "index-out-of-range",
            f"there is no dimension {place}: the tensor has {ndim}, so `dim` is between "
            f"{-count} and {count - 1}",
        )
    return place % count


def axes(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions that `dim` names: None or () is all of them."""
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, (list, tuple)):
        if not dim:
            return tuple(range(ndim))
        found = tuple(axis(d, ndim) for d in dim)
        if len(set(found)) != len(found):
            raise run_error("bad-argument", f"`dim` names a dimension twice: {list(dim)}")
    else:
        found = (axis(dim, ndim),)
    return found if ndim else ()


def reduced(shape: Shape, dim: Any, keepdim: bool) -> Shape:
    """Shape that is left when the dimensions `dim` are reduced."""
    gone = axes(dim, len(shape))
    if keepdim:
        return tuple(1 if i in gone else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in gone)


def unsqueezed(shape: Shape, dim: Any) -> Shape:
    """Shape with a new dimension of size 1 at `dim`."""
    count = len(shape) + 1
    at = whole(dim, "dim")
    if not -count <= at < count:
        raise run_error(
            "index-out-of-range",
            f"a new dimension {at} does not fit: of {count} dimensions it is between {-count} and "
            f"{count - 1}",
        )
    at %= count
    return (*shape[:at], 1, *shape[at:])


def broadcast(*shapes: Shape) -> Shape:
    """Common shape of shapes that fit each other."""
    if len(shapes) == 2 and shapes[0] == shapes[1]:
        return tuple(shapes[0])
    if shapes and all(s == shapes[0] for s in shapes):
        return tuple(shapes[0])
    result: list[int] = []
    for place in range(1, max(map(len, shapes), default=0) + 1):
        found = {s[-place] for s in shapes if len(s) >= place} - {1}
        if len(found) > 1:
            shown = " and ".join(str(list(s)) for s in shapes)
            raise run_error("shape-mismatch", f"the shapes {shown} do not broadcast")
        result.append(found.pop() if found else 1)
    return tuple(reversed(result))


def common_dtype(*values: Data) -> str:
    """The dtype that holds all of these."""
    return joined({dtype_of(v) for v in values})


def filled(size: Sequence[int], value: Any) -> Data:
    """Array of one value that takes no memory, for working out shapes."""
    return np.broadcast_to(np.asarray(value), tuple(size))


class Size(tuple[int, ...]):
    """A shape, as `x.shape` and `x.size()` give it; prints as `torch.Size([2, 3])`. Joined with a
    tuple, repeated or sliced it stays one.
    """

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"
