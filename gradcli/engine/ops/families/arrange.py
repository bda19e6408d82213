"""Repeating, turning, rolling and padding."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.places import EVERY
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, linear, sample
from gradcli.engine.ops.promotion import of_first
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.memory import in_order
from gradcli.engine.values.sizes import Shape, axis, describe, number, sizes, whole, wholes
from gradcli.errors import run_error

FAMILY = 160, "Repeating, turning and rolling"

# repeating ----------------------------------------------------------------------------------------


def _repeated(x: Any, repeats: Shape) -> Any:
    shape = shape_of(x)
    lead = len(repeats) - len(shape)
    full = (*(1,) * lead, *shape)
    check_memory([n * m for n, m in zip(full, repeats, strict=True)])
    size = tuple(k for n, m in zip(full, repeats, strict=True) for k in (m, n))
    once = tuple(k for n in full for k in (1, n))
    wide = ops.expand(ops.reshape(x, shape=once), size=size)
    return ops.reshape(wide, shape=tuple(n * m for n, m in zip(full, repeats, strict=True)))


def _repeat(x: Any, repeats: Any) -> Any:
    counts = sizes(repeats, "repeats")
    if len(counts) < len(shape_of(x)):
        raise run_error(
            "shape-mismatch",
            f"`repeat` needs a count for each of the {len(shape_of(x))} dimensions, got "
            f"{len(counts)}",
        )
    return _repeated(x, counts)


repeat: Op = composite(
    "repeat",
    _repeat,
    params={"*repeats": REQUIRED},
    node="RepeatBackward0",
    doc="The input repeated so many times along each dimension; further counts in front make new "
    "dimensions.",
    source="PyTorch: Tensor.repeat",
    samples=lambda: (
        sample([1.0, 2.0], repeats=(2,)),
        sample([1.0, 2.0], repeats=(3, 2)),
        sample([[1.0], [2.0]], repeats=(1, 2)),
        sample(5.0, repeats=(2,)),
        sample([1.0], repeats=(0,)),
    ),
    bad=lambda: (
        bad((2, 3), repeats=(2,), says="a count for each"),
        bad((2,), repeats=(-1,), says="negative"),
    ),
)


def _tile(x: Any, dims: Any) -> Any:
    counts = sizes(dims, "dims")
    return _repeated(x, (*(1,) * (len(shape_of(x)) - len(counts)), *counts))


tile: Op = composite(
    "tile",
    _tile,
    params={"*dims": REQUIRED},
    node="RepeatBackward0",
    doc="The input repeated so many times along each dimension, counted from the last.",
    source="PyTorch: tile",
    samples=lambda: (
        sample([1.0, 2.0], dims=(2,)),
        sample([[1.0, 3.0], [2.0, 4.0]], dims=(2,)),
        sample([1.0, 2.0], dims=(2, 2)),
        sample(5.0, dims=(3,)),
    ),
    bad=lambda: (bad((2,), dims=(-1,), says="negative"),),
)


def _interleaved(x: Any, repeats: Any, dim: Any, output_size: Any) -> Any:
    out = _in_a_row(x, repeats, dim)
    made = shape_of(out)[0 if dim is None else axis(dim, len(shape_of(x)))]
    if output_size is not None and whole(output_size, "output_size") != made:
        raise run_error("shape-mismatch", f"`output_size` is {output_size}, and there are {made}")
    return out


def _in_a_row(x: Any, repeats: Any, dim: Any) -> Any:
    if dim is None:
        x, dim = ops.reshape(x, shape=(-1,)), 0
    if not shape_of(x):
        raise run_error("shape-mismatch", "a 0-d tensor has no dimension to repeat along")
    at = axis(dim, len(shape_of(x)))
    several = isinstance(repeats, (list, tuple))
    counts = np.asarray(wholes(repeats, "repeats") if several else data_of(repeats))
    size = shape_of(x)[at]
    if counts.dtype.kind != "i" or counts.ndim > 1 or (counts < 0).any():
        raise run_error("bad-argument", f"`repeats` must be counts, got {describe(repeats)}")
    if counts.ndim and counts.size not in (1, size):
        raise run_error(
            "shape-mismatch",
            f"`repeats` has {counts.size} counts for dimension {at} of size {size}",
        )
    if not counts.ndim:
        return _each_repeated(x, at, int(counts))
    each = np.broadcast_to(counts, (size,))
    check_memory([*shape_of(x)[:at], int(each.sum()), *shape_of(x)[at + 1 :]])
    places = np.repeat(np.arange(size), each)
    return ops.index_select(x, dim=at, index=places)


def _each_repeated(x: Any, at: int, count: int) -> Any:
    shape = shape_of(x)
    check_memory((*shape[:at], shape[at] * count, *shape[at + 1 :]))
    size = (*shape[: at + 1], count, *shape[at + 1 :])
    wide = ops.clone(ops.expand(ops.unsqueeze(x, dim=at + 1), size=size))
    return ops.reshape(wide, shape=(*shape[:at], shape[at] * count, *shape[at + 1 :]))


repeat_interleave: Op = composite(
    "repeat_interleave",
    _interleaved,
    layout=in_order,
    params={"repeats": REQUIRED, "dim": None, "output_size": None},
    doc="Each element of the dimension `dim` (of the flattened input without it) so many times in "
    "a row; `repeats` is one count or one for each.",
    source="PyTorch: repeat_interleave",
    samples=lambda: (
        sample([1.0, 2.0], repeats=2, dim=None, output_size=None),
        sample([[1.0, 2.0], [3.0, 4.0]], repeats=2, dim=None, output_size=None),
        sample([[1.0, 2.0], [3.0, 4.0]], repeats=[1, 2], dim=1, output_size=None),
        sample([[1.0, 2.0], [3.0, 4.0]], repeats=[0, 2], dim=0, output_size=None),
        sample([5.0], repeats=3, dim=0, output_size=None),
    ),
    bad=lambda: (
        bad((2,), repeats=[1, 2, 3], dim=0, output_size=None, says="3 counts"),
        bad((2,), repeats=-1, dim=0, output_size=None, says="must be counts"),
    ),
)

# turning and rolling ------------------------------------------------------------------------------


def _flipped(name: str, dim: int, meaning: str) -> Op:
    def flipped(x: Any) -> Any:
        if len(shape_of(x)) <= dim:
            raise run_error(
                "shape-mismatch",
                f"`{name}` needs at least {dim + 1} dimensions, got {len(shape_of(x))}",
            )
        return ops.flip(x, dims=(dim,))

    return composite(
        name,
        flipped,
        doc=f"The input with its {meaning} in reverse order.",
        source="PyTorch: flip",
        samples=lambda: (
            sample([[1.0, 2.0], [3.0, 4.0]]),
            sample([[1.0, 2.0, 5.0]]),
            sample([[1.0], [2.0]]),
        ),
        bad=lambda: (bad((), says="dimension"),),
    )


fliplr: Op = _flipped("fliplr", 1, "columns")
flipud: Op = _flipped("flipud", 0, "rows")


def _dimensions(dims: Any) -> Any:
    """The dimensions to roll along: none of them, or ints."""
    return () if dims is None else wholes(dims, "dims")


def _rolls(ndim: int, shifts: Any, dims: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if not ndim:
        raise run_error("shape-mismatch", "`roll` along `dims` needs a dimension, got a 0-d tensor")
    by = wholes(shifts, "shifts")
    along = tuple(axis(d, ndim) for d in wholes(dims, "dims"))
    if len(by) != len(along):
        raise run_error("bad-argument", f"{len(by)} shifts are given for {len(along)} dimensions")
    return by, along


def _roll(x: Data, shifts: Any, dims: Any) -> Data:
    _roll_shape(np.shape(x), shifts, dims)
    if not np.ndim(x):
        return x
    if not _dimensions(dims):
        return np.roll(x, wholes(shifts, "shifts")[0])
    return np.roll(x, *_rolls(np.ndim(x), shifts, dims))


def _roll_shape(x: Shape, shifts: Any, dims: Any) -> Shape:
    if not _dimensions(dims):
        if len(wholes(shifts, "shifts")) != 1:
            raise run_error("bad-argument", "several shifts need as many `dims`")
    else:
        _rolls(len(x), shifts, dims)
    return x


roll: Op = linear(
    "roll",
    params={"shifts": REQUIRED, "dims": None},
    doc="The elements moved on by so many places along the dimensions `dims` (of the flattened "
    "input without them); what leaves at the end comes in at the start.",
    source="PyTorch: roll",
    array=_roll,
    shape=_roll_shape,
    vjp=(
        lambda g, out, x, shifts, dims: roll(
            g, shifts=tuple(-n for n in wholes(shifts, "shifts")), dims=dims
        ),
    ),
    samples=lambda: (
        sample([1.0, 2.0, 3.0], shifts=1, dims=None),
        sample([1.0, 2.0, 3.0], shifts=-2, dims=0),
        sample([[1.0, 2.0], [3.0, 4.0]], shifts=1, dims=None),
        sample([[1.0, 2.0], [3.0, 4.0]], shifts=1, dims=1),
        sample([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]], shifts=(1, 2), dims=(0, -1)),
        sample([5.0], shifts=3, dims=0),
        sample([], shifts=1, dims=0),
        sample([1.0, 2.0], shifts=0, dims=0),
    ),
    bad=lambda: (
        bad((2, 2), shifts=(1, 1), dims=0, says="2 shifts"),
        bad((2, 2), shifts=(1, 1), dims=None, says="as many `dims`"),
        bad((2,), shifts=1, dims=1, says="no dimension 1"),
    ),
)


def _turned(x: Any, k: Any, dims: Any) -> Any:
    ndim = len(shape_of(x))
    along = tuple(axis(d, ndim) for d in wholes(dims, "dims"))
    if ndim < 2 or len(along) != 2 or along[0] == along[1]:
        raise run_error(
            "bad-argument", f"`rot90` needs two dimensions to turn in, got {list(along)} of {ndim}"
        )
    first, second = along
    match whole(k, "k") % 4:
        case 1:
            return ops.transpose(ops.flip(x, dims=(second,)), dim0=first, dim1=second)
        case 2:
            return ops.flip(x, dims=along)
        case 3:
            return ops.transpose(ops.flip(x, dims=(first,)), dim0=first, dim1=second)
    return ops.clone(x)


rot90: Op = composite(
    "rot90",
    _turned,
    params={"k": 1, "dims": (0, 1)},
    node="Rot90Backward0",
    doc="The input turned by k quarter turns from the first of `dims` to the second.",
    source="PyTorch: rot90",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], k=1, dims=(0, 1)),
        sample([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]], k=-1, dims=(0, 1)),
        sample([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]], k=2, dims=(0, 1)),
        sample([[[1.0, 2.0]], [[3.0, 4.0]]], k=3, dims=(1, 2)),
        sample([[1.0, 2.0]], k=4, dims=(0, 1)),
    ),
    bad=lambda: (bad((2,), k=1, dims=(0, 1), says="no dimension 1"),),
)

# padding ------------------------------------------------------------------------------------------


def _margins(ndim: int, pad: Any) -> list[tuple[int, int]]:
    """The numbers of elements before and after in each dimension; `pad` counts from the last."""
    flat = wholes(pad, "pad")
    if len(flat) % 2 or len(flat) // 2 > ndim:
        raise run_error(
            "bad-argument",
            f"`pad` has two numbers for each of at most {ndim} dimensions, got {len(flat)}",
        )
    margins = [(0, 0)] * ndim
    for i in range(len(flat) // 2):
        margins[ndim - 1 - i] = (flat[2 * i], flat[2 * i + 1])
    return margins


def _padded_shape(shape: Shape, pad: Any, mode: Any, value: Any) -> Shape:
    margins = _margins(len(shape), pad)
    size = tuple(n + before + after for n, (before, after) in zip(shape, margins, strict=True))
    if any(n < 0 for n in size):
        raise run_error(
            "shape-mismatch", f"`pad` {margins} takes more than the shape {list(shape)}"
        )
    check_memory(size)
    if mode == "constant":
        number(0 if value is None else value, "value")
    elif isinstance(mode, str) and mode in _EDGES:
        for at in range(len(shape)):
            _edge(mode, shape, margins, at)
    else:
        raise run_error(
            "bad-argument",
            f"`mode` must be 'constant', 'reflect', 'replicate' or 'circular', got {mode!r}",
        )
    return size


def _edge(mode: Any, shape: Shape, margins: Any, at: int) -> Any:
    """The places from which the elements along a dimension come; None if the dimension stays as it
    is.
    """
    before, after = margins[at]
    if not (before or after):
        return None
    return _EDGES[mode](shape[at], np.arange(-before, shape[at] + after), at)


def _padded(x: Any, pad: Any, mode: Any, value: Any) -> Any:
    shape = shape_of(x)
    size = _padded_shape(shape, pad, mode, value)
    margins = _margins(len(shape), pad)
    if mode == "constant":
        inner = tuple(
            slice(max(before, 0), n - max(after, 0))
            for n, (before, after) in zip(size, margins, strict=True)
        )
        kept = tuple(
            slice(max(-before, 0), n - max(-after, 0))
            for n, (before, after) in zip(shape, margins, strict=True)
        )
        filler = np.full(size, 0 if value is None else number(value, "value"), dtype_of(x))
        return ops.set_at(filler, ops.getitem(x, index=kept), index=inner)
    for at in range(len(shape)):
        places = _edge(mode, shape, margins, at)
        if places is not None:
            x = ops.getitem(x, index=(*(EVERY,) * at, places))
    return x


def _reflect(n: int, places: Any, at: int) -> Any:
    if places.size and (places[0] <= -n or places[-1] > 2 * n - 2):
        raise run_error(
            "shape-mismatch", f"a reflection reaches {n - 1} places in dimension {at} of size {n}"
        )
    return np.where(places < 0, -places, np.where(places >= n, 2 * n - 2 - places, places))


def _circular(n: int, places: Any, at: int) -> Any:
    if not places.size:
        return places
    if places[0] < -n or places[-1] >= 2 * n:
        raise run_error("shape-mismatch", f"a circle goes round once in dimension {at} of size {n}")
    start, stop = max(places[0], 0), min(places[-1] + 1, n)  # negative padding crops first
    if start >= stop:
        raise run_error("shape-mismatch", f"nothing is left of dimension {at} to go round")
    return start + (places - start) % (stop - start)


def _pad_node(args: Any, params: Any) -> str:
    names = {"reflect": "Reflection", "replicate": "Replication"}
    match params["mode"]:
        case "constant":
            return "ConstantPadNdBackward0"
        case "circular":
            return "CopySlices"
        case mode:
            return f"{names[mode]}Pad{len(wholes(params['pad'], 'pad')) // 2}DBackward0"


_EDGES = {
    "reflect": _reflect,
    "replicate": lambda n, places, at: np.clip(places, 0, max(n - 1, 0)),
    "circular": _circular,
}

pad: Op = composite(
    "pad",
    _padded,
    shape=_padded_shape,
    dtype=of_first,
    params={"pad": REQUIRED, "mode": "constant", "value": None},
    node=_pad_node,
    doc="The input with margins: `pad` holds, from the last dimension on, how much comes before "
    "and after, negative to cut. `mode` is 'constant' (of `value`, 0), 'reflect', 'replicate' or "
    "'circular'.",
    source="PyTorch: nn.functional.pad",
    samples=lambda: (
        sample([1.0, 2.0, 3.0], pad=(1, 2), mode="constant", value=None),
        sample([1.0, 2.0, 3.0], pad=(-1, 1), mode="constant", value=5.0),
        sample([[1.0, 2.0], [3.0, 4.0]], pad=(0, 1, 1, 0), mode="constant", value=0.0),
        sample([1.0, 2.0, 3.0], pad=(2, 1), mode="reflect", value=None),
        sample([[1.0, 2.0], [3.0, 4.0]], pad=(1, 1), mode="replicate", value=None),
        sample([1.0, 2.0, 3.0], pad=(1, 3), mode="circular", value=None),
        sample([5.0], pad=(0, 0), mode="constant", value=None),
        sample([], pad=(1, 1), mode="constant", value=None),
    ),
    bad=lambda: (
        bad((2,), pad=(1,), mode="constant", value=None, says="two numbers"),
        bad((2,), pad=(1, 1), mode="mirror", value=None, says="must be 'constant'"),
        bad((2,), pad=(2, 0), mode="reflect", value=None, says="reaches 1 places"),
        bad((2,), pad=(-3, 0), mode="constant", value=None, says="takes more"),
        bad((2,), pad=(-2, 1), mode="circular", value=None, says="nothing is left"),
    ),
)
