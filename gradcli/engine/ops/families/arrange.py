"""Repeating, turning, rolling and padding."""

from __future__ import annotations

from itertools import combinations as _subsets
from itertools import combinations_with_replacement
from math import comb, prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.places import EVERY
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, op, sample
from gradcli.engine.ops.promotion import of_first, promoted
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.memory import in_order
from gradcli.engine.values.sizes import Shape, axis, describe, number, sizes, whole, wholes
from gradcli.errors import run_error

FAMILY = 160, "Repeating, turning and rolling"

_VIEW = "PyTorch: views"

# other shapes -------------------------------------------------------------------------------------


def _unflatten(x: Any, dim: Any, sizes: Any) -> Any:
    shape = shape_of(x)
    if not shape:
        raise run_error("shape-mismatch", "a 0-d tensor has no dimension to take apart")
    at = axis(dim, len(shape))
    parts = wholes(sizes, "sizes")
    known = 1
    for n in parts:
        known *= n if n >= 0 else 1
    if parts.count(-1) == 1 and known and shape[at] % known == 0:
        parts = tuple(shape[at] // known if n < 0 else n for n in parts)
    count = 1
    for n in parts:
        count *= n
    if count != shape[at] or any(n < 0 for n in parts):
        raise run_error(
            "shape-mismatch",
            f"the size {shape[at]} of dimension {at} cannot be taken apart as {list(parts)}",
        )
    return ops.view(x, shape=(*shape[:at], *parts, *shape[at + 1 :]))


unflatten: Op = composite(
    "unflatten",
    _unflatten,
    view=True,
    args=("input",),
    params={"dim": REQUIRED, "sizes": REQUIRED},
    doc="The input with the dimension `dim` taken apart into dimensions of the given sizes, of "
    "which one may be -1.",
    source=_VIEW,
    samples=lambda: (
        sample([1.0, 2.0, 3.0, 4.0], dim=0, sizes=(2, 2)),
        sample([[1.0, 2.0, 3.0, 4.0]], dim=-1, sizes=(2, -1)),
        sample([5.0], dim=0, sizes=(1, 1)),
    ),
    bad=lambda: (
        bad((4,), dim=0, sizes=(3, 2), says="cannot be taken apart"),
        bad((), dim=0, sizes=(1,), says="0-d"),
    ),
)

ravel: Op = composite(
    "ravel",
    lambda x: ops.reshape(ops.contiguous(x), shape=(-1,)),
    shape=lambda x: (prod(x),),
    view=True,
    args=("input",),
    doc="The elements in their order, as a vector.",
    source=_VIEW,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample(5.0),
        sample([1.0]),
    ),
)


def _moved(x: Any, source: Any, destination: Any) -> Any:
    ndim = len(shape_of(x))
    taken = [axis(d, ndim) for d in wholes(source, "source")]
    placed = [axis(d, ndim) for d in wholes(destination, "destination")]
    if len(taken) != len(placed) or len({*taken}) != len(taken) or len({*placed}) != len(placed):
        raise run_error(
            "bad-argument",
            f"`source` {taken} and `destination` {placed} must name as many dimensions, each once",
        )
    rest = iter(d for d in range(ndim) if d not in taken)
    order = [taken[placed.index(d)] if d in placed else next(rest) for d in range(ndim)]
    return ops.permute(x, dims=tuple(order))


movedim: Op = composite(
    "movedim",
    _moved,
    view=True,
    aliases=("moveaxis",),
    args=("input",),
    params={"source": REQUIRED, "destination": REQUIRED},
    doc="The input with the dimensions `source` moved to the places `destination`; the others keep "
    "their order.",
    source=_VIEW,
    samples=lambda: (
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], source=0, destination=1),
        sample([[[1.0, 2.0]], [[3.0, 4.0]]], source=(0, 2), destination=(1, 0)),
        sample([[[1.0, 2.0]], [[3.0, 4.0]]], source=-1, destination=0),
        sample([5.0], source=0, destination=0),
    ),
    bad=lambda: (bad((2, 3), source=(0, 1), destination=0, says="as many dimensions"),),
)


def _at_least(ndim: int) -> Any:
    def grown(*tensors: Any) -> Any:
        found = tuple(_grown(x, ndim) for x in tensors)
        return found[0] if len(found) == 1 else found

    return grown


def _grown(x: Any, ndim: int) -> Any:
    shape = shape_of(x)
    if len(shape) >= ndim:
        return x
    if not shape:
        return ops.reshape(x, shape=(1,) * ndim)
    for rank in range(len(shape), ndim):  # first a row, then a row of columns
        x = ops.unsqueeze(x, dim=0 if rank == 1 else -1)
    return x


def _at_least_op(ndim: int) -> Op:
    return composite(
        f"atleast_{ndim}d",
        _at_least(ndim),
        view=True,
        args=("*tensors",),
        doc=f"The tensor with at least {ndim} dimension{'s' * (ndim > 1)}, new ones of size "
        "1; of several tensors a tuple.",
        source=_VIEW,
        samples=lambda: (
            sample(5.0),
            sample([1.0, 2.0]),
            sample([[1.0, 2.0]]),
            sample(5.0, [1.0]),
        ),
    )


atleast_1d: Op = _at_least_op(1)
atleast_2d: Op = _at_least_op(2)
atleast_3d: Op = _at_least_op(3)

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
    args=("input",),
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
    args=("input",),
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
    args=("input",),
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
        args=("input",),
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


def _opposite(shifts: Any) -> tuple[int, ...]:
    return tuple(-n for n in wholes(shifts, "shifts"))


def _roll_shape(x: Shape, shifts: Any, dims: Any) -> Shape:
    if not _dimensions(dims):
        if len(wholes(shifts, "shifts")) != 1:
            raise run_error("bad-argument", "several shifts need as many `dims`")
    else:
        _rolls(len(x), shifts, dims)
    return x


roll: Op = op(
    "roll",
    args=("input",),
    params={"shifts": REQUIRED, "dims": None},
    doc="The elements moved on by so many places along the dimensions `dims` (of the flattened "
    "input without them); what leaves at the end comes in at the start.",
    source="PyTorch: roll",
    array=_roll,
    shape=_roll_shape,
    vjp=(lambda g, out, x, shifts, dims: roll(g, shifts=_opposite(shifts), dims=dims),),
    jvp=(lambda dot, out, x, shifts, dims: roll(dot, shifts=shifts, dims=dims),),
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
    args=("input",),
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
    """How much comes before and after in each dimension; `pad` counts from the last."""
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
    """Where the elements along a dimension come from; None where it stays as it is."""
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
    start, stop = max(places[0], 0), min(places[-1] + 1, n)  # what is cut off is cut off before
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
    args=("input",),
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

# grids and choices --------------------------------------------------------------------------------


def _meshgrid(*tensors: Any, indexing: Any) -> Any:
    if indexing not in ("ij", "xy"):
        raise run_error("bad-argument", f"`indexing` must be 'ij' or 'xy', got {indexing!r}")
    if any(len(shape_of(x)) > 1 for x in tensors):
        raise run_error("shape-mismatch", "`meshgrid` needs vectors")
    count = len(tensors)
    lengths = [shape_of(x)[0] if shape_of(x) else 1 for x in tensors]
    order = list(range(count))
    if indexing == "xy" and count > 1:
        order[:2] = [1, 0]
    size = tuple(lengths[i] for i in order)
    check_memory(size)
    return tuple(
        ops.expand(
            ops.reshape(x, shape=tuple(lengths[i] if k == i else 1 for k in order)), size=size
        )
        for i, x in enumerate(tensors)
    )


meshgrid: Op = composite(
    "meshgrid",
    _meshgrid,
    view=True,
    args=("*tensors",),
    params={"indexing": "ij"},
    doc="The coordinates of the grid that vectors span: for each of them a tensor that changes "
    "along its dimension only. With `indexing='xy'` the first two dimensions are swapped.",
    source="PyTorch: meshgrid",
    samples=lambda: (
        sample([1.0, 2.0], [3.0, 4.0, 5.0], indexing="ij"),
        sample([1.0, 2.0], [3.0, 4.0, 5.0], indexing="xy"),
        sample([1.0, 2.0], indexing="ij"),
        sample([1.0], 2.0, [3.0, 4.0], indexing="ij"),
    ),
    bad=lambda: (
        bad((2, 2), indexing="ij", says="vectors"),
        bad((2,), indexing="ji", says="'ij' or 'xy'"),
    ),
)


def _product(*tensors: Any) -> Any:
    if any(len(shape_of(x)) != 1 for x in tensors):
        raise run_error("shape-mismatch", "`cartesian_prod` needs vectors")
    if len(tensors) == 1:
        return tensors[0]
    grid = _meshgrid(*tensors, indexing="ij")
    return ops.stack(*(ops.reshape(x, shape=(-1,)) for x in grid), dim=1)


cartesian_prod: Op = composite(
    "cartesian_prod",
    _product,
    view=True,
    args=("*tensors",),
    doc="All combinations of one element of each vector, a row each.",
    source="PyTorch: cartesian_prod",
    samples=lambda: (
        sample([1.0, 2.0], [3.0, 4.0, 5.0]),
        sample([1.0, 2.0]),
        sample([1.0, 2.0], [3.0], [4.0, 5.0]),
    ),
    bad=lambda: (bad((2, 2), (2,), says="vectors"),),
)


def _combinations(x: Any, r: Any, with_replacement: Any) -> Any:
    if len(shape_of(x)) != 1:
        raise run_error("shape-mismatch", "`combinations` needs a vector")
    count = whole(r, "r")
    if count < 0:
        raise run_error("bad-argument", f"`r` cannot be negative, got {count}")
    size = shape_of(x)[0]
    number_of = comb(size + count - 1 if with_replacement and size else size, count)
    check_memory((number_of, count))
    if not number_of:
        return ops.getitem(x, index=np.zeros((0, count), np.int64))
    chosen = combinations_with_replacement if with_replacement else _subsets
    rows = list(chosen(range(shape_of(x)[0]), count))
    return ops.getitem(x, index=np.array(rows, np.int64).reshape(len(rows), count))


combinations: Op = composite(
    "combinations",
    _combinations,
    guards=("input",),
    args=("input",),
    params={"r": 2, "with_replacement": False},
    doc="All combinations of r elements of a vector, a row each, in their order.",
    source="PyTorch: combinations",
    samples=lambda: (
        sample([1.0, 2.0, 3.0], r=2, with_replacement=False),
        sample([1.0, 2.0, 3.0], r=2, with_replacement=True),
        sample([1.0, 2.0, 3.0], r=3, with_replacement=False),
        sample([1.0], r=1, with_replacement=False),
    ),
    bad=lambda: (bad((2, 2), r=2, with_replacement=False, says="a vector"),),
)


def _blocks(*tensors: Any) -> Any:
    if any(len(shape_of(x)) > 2 for x in tensors):
        raise run_error("shape-mismatch", "`block_diag` needs matrices")
    dtype = promoted(*tensors)
    same = [x if dtype in (None, dtype_of(x)) else ops.cast(x, dtype=dtype) for x in tensors]
    matrices = [_grown(x, 2) for x in same]
    width = sum(shape_of(m)[1] for m in matrices)
    rows, start = [], 0
    for m in matrices:
        n = shape_of(m)[1]
        margins = (start, width - start - n)
        rows.append(_padded(m, margins, "constant", None))
        start += n
    return ops.cat(*rows, dim=0)


block_diag: Op = composite(
    "block_diag",
    _blocks,
    args=("*tensors",),
    node="BlockDiagBackward0",
    doc="The matrices along the diagonal of a larger one, with zeros elsewhere; a vector is a row.",
    source="PyTorch: block_diag",
    samples=lambda: (
        sample([[1.0, 2.0]], [[3.0], [4.0]]),
        sample([[1.0]], 2.0, [3.0, 4.0]),
        sample([[1.0, 2.0]]),
    ),
    bad=lambda: (bad((2, 2, 2), says="matrices"),),
)
