"""Indexing: the elements of a tensor that an index selects.

An index follows PyTorch: its ints, slices, `...` and None are applied first and give a view, then
its lists, index tensors and masks, which give a copy. Before an index is recorded it is made
static: tensors in it become arrays of their own, so that later changes do not reach the gradient.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from gradcli.engine.ops.families.along import shaped
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values import memory
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import USUAL, Data, np
from gradcli.engine.values.sizes import Shape, broadcast, describe, filled, whole
from gradcli.errors import RunError, run_error

EVERY = slice(None)


def static_index(index: Any) -> Any:
    """The index with its tensors and lists as arrays, its numbers as ints.

    Raises:
        RunError: If something in it is no index.
    """
    kind = type(index)
    if kind is int or index is None or index is Ellipsis:
        return index
    if kind is slice:
        return _static_slice(index)
    if kind is tuple:
        return tuple(static_index(list(i) if type(i) is tuple else i) for i in index)
    if kind is bool:
        return np.asarray(index)
    if isinstance(index, Tensor):
        data = index.data
        if type(data) is int:
            return data
        if type(data) not in (bool, float) and data.shape == () and data.dtype.kind == "i":
            return int(data)
        return _static_array(np.array(data))
    if kind is list:
        return _static_array(_list_array(index))
    if hasattr(index, "dtype"):
        return _static_array(index)
    raise run_error(
        "bad-index",
        f"an index must be an int, a slice, a list or an index tensor, got {describe(index)}",
    )


def places_of(index: Any, name: str = "index") -> Any:
    """The index argument of a named op as an array of ints."""
    listed = list(index) if isinstance(index, tuple) else index
    if type(listed) in (int, list) or hasattr(data_of(listed), "dtype"):
        found = static_index(listed)
        if type(found) is int:
            return np.asarray(found)
        if found.dtype.kind == "i":
            return found
    raise run_error("bad-index", f"`{name}` must be a tensor or list of ints")


def _static_slice(index: slice) -> slice:
    if type(index.start) in _PLACES and type(index.stop) in _PLACES and index.step is None:
        return index
    start, stop, step = (
        None if part is None else whole(part, name)
        for part, name in ((index.start, "start"), (index.stop, "stop"), (index.step, "step"))
    )
    if step == 0:
        said = ValueError("slice step cannot be zero")
        raise run_error("bad-index", "the step of a slice cannot be 0", raises=said)
    return slice(start, stop, step)


_PLACES = frozenset({int, type(None)})


def _list_array(items: list[Any]) -> Any:
    def plainly(item: Any) -> Any:
        if isinstance(item, (list, tuple)):
            return [plainly(i) for i in item]
        return np.asarray(data_of(item))

    if not items:
        return np.zeros(0, np.int64)
    try:
        return np.array([plainly(i) for i in items])
    except ValueError:
        raise run_error("bad-index", "the lists of an index must have one length") from None


def _static_array(array: Any) -> Any:
    if array.dtype.kind not in "iub":
        kind = "floats" if array.dtype.kind == "f" else "something else"
        raise run_error("bad-index", f"an index must hold ints or bools, got {kind}")
    if array.dtype.kind == "u":
        message = "an index of uint8 is a mask in PyTorch and places in NumPy"
        raise run_error("bad-index", message, help="`.bool()` makes a mask, `.long()` places")
    return array if array.dtype.char in USUAL else array.astype(np.int64)


def parts(index: Any, shape: Shape) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The index in its two parts, checked against the shape: for a view, then for a copy."""
    if type(index) is int and shape:
        return (_checked(index, 0, shape[0]), Ellipsis), ()
    index = static_index(index)
    entries = index if type(index) is tuple else (index,)
    entries = complete(entries, shape)
    basic: list[Any] = []
    advanced: list[Any] = []
    at = 0
    for entry in entries:
        if entry is None:
            basic.append(None)
            advanced.append(EVERY)
        elif type(entry) is int:
            basic.append(_checked(entry, at, shape[at]))
            at += 1
        elif type(entry) is slice:
            basic.append(entry)
            advanced.append(EVERY)
            at += 1
        else:
            span = _span(entry)
            basic += [EVERY] * span if span else [None]
            advanced.append(_checked_array(entry, at, shape) if span else entry[None])
            at += span
    if all(type(entry) is slice for entry in advanced):
        return (*basic, Ellipsis), ()
    _check_together([a for a in advanced if type(a) is not slice])
    return (*basic, Ellipsis), tuple(advanced)


def _span(entry: Any) -> int:
    """The number of dimensions that an entry of an index takes."""
    if entry is None:
        return 0
    if type(entry) is int or type(entry) is slice or entry.dtype.kind != "b":
        return 1
    return int(entry.ndim)


def parts_behind(index: Any, shape: Shape) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """The index in its two parts behind an axis in front; None where what its arrays pick would
    come before that axis.
    """
    basic, advanced = parts(index, shape)
    if not advanced:
        return (EVERY, *basic), ()
    at = [i for i, entry in enumerate(advanced) if type(entry) is not slice]
    return ((EVERY, *basic), (EVERY, *advanced)) if at[-1] - at[0] == len(at) - 1 else None


def taken_each(x: Data, index: Any) -> Data | None:
    """x[index] of several values with an axis in front; None where `parts_behind` knows none."""
    found = parts_behind(index, x.shape[1:])
    if found is None:
        return None
    basic, advanced = found
    return x[basic][advanced] if advanced else x[basic]


def by_arrays(index: Any) -> bool:
    """True if a list, tensor or mask is in the index, which PyTorch saves."""
    index = static_index(index)
    return any(hasattr(p, "dtype") for p in (index if type(index) is tuple else (index,)))


def is_whole(entry: slice, size: int) -> bool:
    """True if a slice is written so that it takes a whole dimension."""
    return entry.start in (None, 0) and entry.stop in (None, size) and entry.step in (None, 1)


def complete(entries: tuple[Any, ...], shape: Shape) -> tuple[Any, ...]:
    """The index with its `...` written out."""
    places = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(places) > 1:
        raise run_error("bad-index", "an index can have one `...` only")
    taken = sum(_span(entry) for entry in entries if entry is not Ellipsis)
    if taken > len(shape):
        if not shape:
            raise run_error(
                "bad-index", "a 0-d tensor cannot be indexed", help="`x.item()` gives its number"
            )
        raise run_error(
            "index-out-of-range",
            f"too many indices: {taken} for a tensor of shape {list(shape)}",
        )
    if not places:
        return entries
    rest = (EVERY,) * (len(shape) - taken)
    return (*entries[: places[0]], *rest, *entries[places[0] + 1 :])


def _checked(index: int, at: int, size: int) -> int:
    if not -size <= index < size:
        raise _outside(index, at, size)
    return index


def _outside(index: int, at: int, size: int) -> RunError:
    return run_error(
        "index-out-of-range", f"index {index} is out of range for dimension {at} of size {size}"
    )


def _checked_array(entry: Any, at: int, shape: Shape) -> Any:
    if entry.dtype.kind == "b":
        sizes = shape[at : at + entry.ndim]
        if entry.shape != sizes:
            raise run_error(
                "shape-mismatch",
                f"the mask has shape {list(entry.shape)}, and the dimensions that it masks "
                f"{list(sizes)}",
                raises=IndexError,
            )
        return entry
    check_range(entry, at, shape[at])
    return entry


def check_range(places: Any, at: int, size: int) -> None:
    """Refuse places outside of the dimension `at`."""
    if places.size:
        low, high = int(places.min()), int(places.max())
        if low < -size or high >= size:
            raise _outside(high if high >= size else low, at, size)


def _check_together(arrays: list[Any]) -> None:
    if len(arrays) > 1:
        shapes = [(int(np.count_nonzero(a)),) if a.dtype.kind == "b" else a.shape for a in arrays]
        broadcast(*shapes)


def region_of(x: Data, index: Any) -> tuple[Any, tuple[Any, ...]]:
    """The view that the index's first part shows, and its second part."""
    basic, advanced = parts(index, x.shape)
    return x[basic], advanced


def taken_shape(x: Shape, index: Any) -> Shape:
    """Shape of x[index]."""
    view, advanced = region_of(filled(x, False), index)
    return tuple(view[advanced].shape) if advanced else tuple(view.shape)


def has_repeats(advanced: tuple[Any, ...]) -> bool:
    """True if an index may name a place twice: masks and slices do not."""
    return any(type(a) is not slice and a.dtype.kind == "i" for a in advanced)


def taken(x: Data, index: Any) -> Data:
    """x[index], a view where it can be."""
    x = shaped(x)
    if type(index) is int and x.ndim:
        return x[_checked(index, 0, x.shape[0]), ...]
    view, advanced = region_of(x, index)
    return _laid(view[advanced], view, advanced) if advanced else view


def taken_directly(x: Shape, index: Any) -> Any:
    """A function that computes x[index] for this shape if that is a view, else None."""
    basic, advanced = parts(index, x)
    return itemgetter(basic) if x and not advanced else None


def _laid(out: Data, view: Data, advanced: tuple[Any, ...]) -> Data:
    """Order the result of an index with arrays as PyTorch does: dimensions that the index does not
    pick from keep their order in memory.
    """
    if out.ndim < 2 or view.flags.c_contiguous:
        return memory.in_order(out)
    kept: list[int] = []  # strides of the dimensions that it does not pick from
    before = []  # for each array how many of these are before it
    at = 0
    for a in advanced:
        if type(a) is slice:
            kept.append(view.strides[at])
        else:
            before.append(len(kept))
        at += max(_span(a), 1)
    kept += view.strides[at:]
    first = before[0] if len(set(before)) == 1 else 0  # apart, what they pick comes in front
    picked = (0,) * (out.ndim - len(kept))
    return memory.permuted(out, [(*kept[:first], *picked, *kept[first:])])


def fitting(value: Shape, region: Shape) -> Shape:
    """Shape of the value with leading ones dropped, checked to fit into the region."""
    lead = len(value) - len(region)
    kept = value[lead:] if lead > 0 and all(n == 1 for n in value[:lead]) else value
    if len(kept) > len(region) or any(
        n not in (1, m) for n, m in zip(reversed(kept), reversed(region), strict=False)
    ):
        raise run_error(
            "shape-mismatch",
            f"a value of shape {list(value)} does not fit into the place of shape {list(region)}",
        )
    return kept
