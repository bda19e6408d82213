"""Ops that put tensors together and take them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, TRANSPOSED, Op, bad, composite, linear, op, sample
from gradcli.engine.ops.promotion import common, of_first
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Data, np, shape_of
from gradcli.engine.values.limits import check_items, check_memory
from gradcli.engine.values.sizes import Shape, axis, common_dtype, unsqueezed, whole, wholes
from gradcli.errors import run_error

FAMILY = 180, "Joining and splitting"

_VIEW: dict[str, Any] = {"view": True, "source": "PyTorch: views"}

# several tensors ----------------------------------------------------------------------------------


def _cat_shape(*shapes: Shape, dim: Any) -> Shape:
    if not shapes:
        raise run_error("bad-argument", "`cat` needs at least one tensor", raises=ValueError)
    if any(not s for s in shapes):
        raise run_error(
            "shape-mismatch",
            "0-d tensors cannot be joined by `cat`",
            help="use `stack`, which makes a new dimension",
        )
    joined = [s for s in shapes if s != (0,)] or [shapes[0]]
    first = joined[0]
    at = axis(dim, len(first))
    for s in joined:
        if len(s) != len(first) or any(
            a != b for i, (a, b) in enumerate(zip(first, s, strict=True)) if i != at
        ):
            raise run_error(
                "shape-mismatch",
                f"`cat` along dimension {at} needs equal sizes in the others, got {list(first)} "
                f"and {list(s)}",
            )
    return (*first[:at], sum(s[at] for s in joined), *first[at + 1 :])


def _cat(*tensors: Data, dim: Any) -> Data:
    shape = _cat_shape(*map(shape_of, tensors), dim=dim)
    joined = [x for x in tensors if shape_of(x) != (0,)] or tensors[:1]
    dtype = common_dtype(*tensors)
    return np.concatenate(joined, axis(dim, len(shape)), dtype=dtype)


def _cat_directly(*shapes: Shape, dim: Any) -> Any:
    shape = _cat_shape(*shapes, dim=dim)
    at = axis(dim, len(shape))
    return None if (0,) in shapes else lambda *tensors: np.concatenate(tensors, at)


def _cat_part(c: Any, i: int, tensors: Any, dim: Any) -> Any:
    """The part of c that lies where the i-th of the joined tensors lies."""
    mine = shape_of(tensors[i])
    if mine == (0,) and c.ndim > 1:
        return ops.zeros_of(like=tensors[i])
    at = axis(dim, c.ndim)
    start = sum(shape_of(x)[at] for x in tensors[:i] if shape_of(x) != (0,))
    return narrow(c, dim=at, start=start, length=mine[at])


def _for_all(values: Sequence[Data]) -> list[Data]:
    """Values with an axis in front, repeated along it to one size."""
    count = max(map(len, values))
    return [np.broadcast_to(x, (count, *x.shape[1:])) for x in values]


def _cat_each(*tensors: Data, dim: Any) -> Data:
    for_all = _for_all(tensors)
    joined = [x for x in for_all if x.shape[1:] != (0,)] or for_all[:1]
    return np.concatenate(joined, axis(dim, joined[0].ndim - 1) + 1)


cat: Op = op(
    "cat",
    aliases=("concat", "concatenate"),
    args=("*tensors",),
    params={"dim": 0},
    doc="The tensors one after the other along the dimension `dim`; the other sizes are equal.",
    source=TRANSPOSED,
    array=_cat,
    of_shapes=_cat_directly,
    shape=_cat_shape,
    dtype=common,
    batch=_cat_each,
    vjp=(lambda g, out, i, *tensors, dim: _cat_part(g, i, tensors, dim),),
    jvp=(
        lambda dot, out, i, *tensors, dim: cat(
            *(dot if k == i else ops.zeros_of(like=x) for k, x in enumerate(tensors)), dim=dim
        ),
    ),
    samples=lambda: (
        sample([1.0, 2.0], [3.0], dim=0),
        sample([[1.0], [2.0]], [[3.0], [4.0]], dim=1),
        sample([[1.0], [2.0]], [[3.0, 5.0], [4.0, 6.0]], dim=-1),
        sample([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]], dim=0),
        sample([1.0], [2.0], [3.0, 4.0], dim=0),
        sample([1.0, 2.0], dim=0),
        sample([], [1.0], dim=0),
        sample([[2.0]], [[-2.0]], dim=1),
    ),
    bad=lambda: (
        bad((2, 3), (2, 4), dim=0, says="equal sizes"),
        bad((), (2,), dim=0, says="stack"),
        bad((2,), (2,), dim=1, says="no dimension 1"),
        bad((2,), (2, 1), dim=0, says="equal sizes"),
    ),
)


def _stack_shape(*shapes: Shape, dim: Any) -> Shape:
    if not shapes:
        raise run_error("bad-argument", "`stack` needs at least one tensor")
    for s in shapes:
        if s != shapes[0]:
            raise run_error(
                "shape-mismatch",
                f"`stack` needs tensors of one shape, got {list(shapes[0])} and {list(s)}",
            )
    made = list(unsqueezed(shapes[0], dim))
    made[_stack_at(len(shapes[0]), dim)] = len(shapes)
    return tuple(made)


def _stack_at(ndim: int, dim: Any) -> int:
    return whole(dim, "dim") % (ndim + 1)


def _stack(*tensors: Data, dim: Any) -> Data:
    shape = _stack_shape(*map(shape_of, tensors), dim=dim)
    dtype = common_dtype(*tensors)
    if len(shape) == 1:
        return np.array(tensors, dtype)
    return np.stack(tensors, _stack_at(len(shape) - 1, dim), dtype=dtype)


def _stack_directly(*shapes: Shape, dim: Any) -> Any:
    first = shapes[0]
    if not first:
        double = np.dtype(np.float64)
        return lambda *tensors: np.array(tensors, double)
    part, at = unsqueezed(first, dim), _stack_at(len(first), dim)
    return lambda *tensors: np.concatenate([x.reshape(part) for x in tensors], at)


stack: Op = op(
    "stack",
    args=("*tensors",),
    params={"dim": 0},
    by_elements=lambda code, *tensors, dim: code.stacked(tensors, dim),
    doc="Tensors of one shape side by side along a new dimension `dim`.",
    source=TRANSPOSED,
    array=_stack,
    of_shapes=_stack_directly,
    shape=_stack_shape,
    dtype=common,
    batch=lambda *tensors, dim: np.stack(
        _for_all(tensors), _stack_at(tensors[0].ndim - 1, dim) + 1
    ),
    vjp=(lambda g, out, i, *tensors, dim: select(g, dim=dim, index=i),),
    jvp=(
        lambda dot, out, i, *tensors, dim: stack(
            *(dot if k == i else ops.zeros_of(like=x) for k, x in enumerate(tensors)), dim=dim
        ),
    ),
    samples=lambda: (
        sample([1.0, 2.0], [3.0, 4.0], dim=0),
        sample([1.0, 2.0], [3.0, 4.0], dim=1),
        sample([1.0, 2.0], [3.0, 4.0], dim=-1),
        sample([[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]], dim=1),
        sample(1.0, 2.0, dim=0),
        sample(1.0, dim=0),
        sample([], [], dim=0),
        sample([[7.0]], dim=2),
    ),
    bad=lambda: (
        bad((2,), (3,), dim=0, says="one shape"),
        bad((2,), (2,), dim=2, says="between -2 and 1"),
    ),
)


def _joined(ndim: int, dim: int) -> Any:
    """Tensors made at least `ndim`-dimensional and joined along `dim`."""

    def joined(*tensors: Any) -> Any:
        grown = [ops[f"atleast_{ndim}d"](x) for x in tensors]
        return cat(*grown, dim=min(dim, len(shape_of(grown[0])) - 1) if grown else 0)

    return joined


def _joining(name: str, ndim: int, dim: int, doc: str, **more: Any) -> Op:
    return composite(
        name,
        _joined(ndim, dim),
        args=("*tensors",),
        doc=doc,
        source="PyTorch: cat",
        samples=lambda: (
            sample([1.0, 2.0], [3.0, 4.0]),
            sample([[1.0], [2.0]], [[3.0], [4.0]]),
            sample([[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]),
            sample(1.0, 2.0),
        ),
        bad=lambda: (bad((2, 3), (3, 2), says="equal sizes"),),
        **more,
    )


hstack: Op = _joining(
    "hstack", 1, 1, "Tensors side by side: vectors one after the other, others along dimension 1."
)
vstack: Op = _joining(
    "vstack",
    2,
    0,
    "Tensors one below the other, along the first dimension; a vector is a row.",
    aliases=("row_stack",),
)
dstack: Op = _joining(
    "dstack", 3, 2, "Tensors one behind the other, along the third dimension, made if need be."
)


def _columns(*tensors: Any) -> Any:
    grown = [ops.reshape(x, shape=(-1, 1)) if len(shape_of(x)) < 2 else x for x in tensors]
    return cat(*grown, dim=1)


column_stack: Op = composite(
    "column_stack",
    _columns,
    args=("*tensors",),
    doc="Vectors as the columns of a matrix; matrices side by side.",
    source="PyTorch: cat",
    samples=lambda: (
        sample([1.0, 2.0], [3.0, 4.0]),
        sample([1.0, 2.0], [[3.0, 5.0], [4.0, 6.0]]),
        sample(1.0, 2.0),
    ),
    bad=lambda: (bad((2,), (3,), says="equal sizes"),),
)


# parts of one tensor ------------------------------------------------------------------------------


def _at(dim: Any, ndim: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * axis(dim, ndim), index)


select: Op = composite(
    "select",
    lambda x, dim, index: ops.getitem(x, index=_at(dim, len(shape_of(x)), whole(index, "index"))),
    params={"dim": REQUIRED, "index": REQUIRED},
    doc="The part of the input at one index of the dimension `dim`, without that dimension.",
    **_VIEW,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], dim=0, index=1),
        sample([[1.0, 2.0], [3.0, 4.0]], dim=1, index=-1),
        sample([5.0], dim=0, index=0),
    ),
    bad=lambda: (
        bad((2, 3), dim=1, index=3, says="size 3"),
        bad((2, 3), dim=2, index=0, says="no dimension 2"),
    ),
)


def _narrow(x: Any, dim: Any, start: Any, length: Any) -> Any:
    if not shape_of(x):
        raise run_error("shape-mismatch", "a 0-d tensor has no places to choose from")
    at = axis(dim, len(shape_of(x)))
    size = shape_of(x)[at]
    first, count = whole(start, "start"), whole(length, "length")
    if first < 0:
        first += size
    if count < 0 or not 0 <= first <= first + count <= size:
        raise run_error(
            "index-out-of-range",
            f"{count} places from {first} on do not lie in dimension {at} of size {size}",
            raises=RuntimeError,
        )
    return ops.getitem(x, index=_at(at, len(shape_of(x)), slice(first, first + count)))


narrow: Op = composite(
    "narrow",
    _narrow,
    params={"dim": REQUIRED, "start": REQUIRED, "length": REQUIRED},
    doc="The part of the input of `length` places from `start` on in the dimension `dim`.",
    **_VIEW,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], dim=0, start=1, length=1),
        sample([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]], dim=1, start=-2, length=2),
        sample([5.0], dim=0, start=0, length=0),
    ),
    bad=lambda: (
        bad((2, 3), dim=1, start=2, length=2, says="size 3"),
        bad((2, 3), dim=1, start=0, length=-1, says="size 3"),
    ),
)


_OF_PART = 400  # bytes that a view takes


def _unbound(shape: Shape, dim: Any) -> list[Shape]:
    if not shape:
        raise run_error("shape-mismatch", "a 0-d tensor has no rows to take apart")
    at = axis(dim, len(shape))
    check_items(shape[at], _OF_PART)
    return [(*shape[:at], *shape[at + 1 :])] * shape[at]


def _unbind(x: Data, dim: Any) -> tuple[Data, ...]:
    count = len(_unbound(shape_of(x), dim))
    rows = np.moveaxis(x, axis(dim, x.ndim), 0)
    return tuple(rows[i, ...] for i in range(count))


unbind: Op = linear(
    "unbind",
    params={"dim": 0},
    doc="The parts of the input along the dimension `dim`, as a tuple.",
    array=_unbind,
    shape=_unbound,
    dtype=[of_first],
    vjp=(lambda g, out, x, dim: stack(*g, dim=dim) if g else ops.zeros_of(like=x),),
    view=True,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], dim=0),
        sample([[1.0, 2.0], [3.0, 4.0]], dim=1),
        sample([[1.0, 2.0], [3.0, 4.0]], dim=-2),
        sample([[[1.0], [2.0]], [[3.0], [4.0]]], dim=1),
        sample([1.0, 2.0, 3.0], dim=0),
        sample([5.0], dim=0),
        sample([[-1.0]], dim=1),
        sample([[], []], dim=0),
    ),
    bad=lambda: (bad((), dim=0, says="0-d"), bad((2,), dim=1, says="no dimension 1")),
)


def _split_sizes(size: int, asked: Any) -> Shape:
    if isinstance(asked, (list, tuple)):
        parts = wholes(asked, "split_size_or_sections")
        if any(n < 0 for n in parts) or sum(parts) != size:
            raise run_error(
                "shape-mismatch",
                f"the sections {list(parts)} must add up to the size {size} of the dimension",
            )
        return parts
    step = whole(asked, "split_size_or_sections")
    if step < 0 or (step == 0 and size > 0):
        raise run_error("bad-argument", f"`split_size_or_sections` must be positive, got {step}")
    if size == 0:
        return (0,)
    return tuple(min(step, size - i) for i in range(0, size, step))


def _split_shapes(shape: Shape, split_size_or_sections: Any, dim: Any) -> list[Shape]:
    if not shape:
        raise run_error("shape-mismatch", "a 0-d tensor cannot be split")
    at = axis(dim, len(shape))
    sizes = _split_sizes(shape[at], split_size_or_sections)
    return [(*shape[:at], n, *shape[at + 1 :]) for n in sizes]


def _split(x: Data, split_size_or_sections: Any, dim: Any) -> tuple[Data, ...]:
    at = axis(dim, np.ndim(x))
    parts = []
    start = 0
    for shape in _split_shapes(np.shape(x), split_size_or_sections, dim):
        parts.append(x[_at(at, x.ndim, slice(start, start + shape[at]))])
        start += shape[at]
    return tuple(parts)


split: Op = linear(
    "split",
    params={"split_size_or_sections": REQUIRED, "dim": 0},
    doc="The input in parts along the dimension `dim`: of one size (the last may be smaller), or "
    "of the sizes in a list.",
    array=_split,
    shape=_split_shapes,
    dtype=[of_first],
    vjp=(lambda g, out, x, split_size_or_sections, dim: cat(*g, dim=dim),),
    node=lambda args, params: (
        "SplitWithSizesBackward0"
        if isinstance(params["split_size_or_sections"], (list, tuple))
        else "SplitBackward0"
    ),
    view=True,
    samples=lambda: (
        sample([1.0, 2.0, 3.0], split_size_or_sections=2, dim=0),
        sample([1.0, 2.0, 3.0], split_size_or_sections=[1, 2], dim=0),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], split_size_or_sections=1, dim=1),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], split_size_or_sections=2, dim=-1),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], split_size_or_sections=5, dim=0),
        sample([5.0], split_size_or_sections=1, dim=0),
        sample([1.0, 2.0], split_size_or_sections=[2, 0], dim=0),
        sample([[-1.0], [3.0]], split_size_or_sections=[1, 1], dim=0),
    ),
    bad=lambda: (
        bad((3,), split_size_or_sections=0, dim=0, says="positive"),
        bad((3,), split_size_or_sections=[1, 1], dim=0, says="add up"),
        bad((), split_size_or_sections=1, dim=0, says="0-d"),
    ),
)


def _split_with_sizes(x: Any, split_sizes: Any, dim: Any) -> Any:
    return split(x, split_size_or_sections=[*wholes(split_sizes, "split_sizes")], dim=dim)


split_with_sizes: Op = composite(
    "split_with_sizes",
    _split_with_sizes,
    view=True,
    params={"split_sizes": REQUIRED, "dim": 0},
    doc="The input in parts of the sizes in a list along the dimension `dim`.",
    source="PyTorch: split_with_sizes",
    samples=lambda: (
        sample([1.0, 2.0, 3.0], split_sizes=[1, 2], dim=0),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], split_sizes=[2, 1], dim=-1),
        sample([1.0, 2.0], split_sizes=[2, 0], dim=0),
    ),
    bad=lambda: (
        bad((3,), split_sizes=[1, 1], dim=0, says="add up"),
        bad((), split_sizes=[1], dim=0, says="0-d"),
    ),
)

unsafe_split: Op = composite(
    "unsafe_split",
    lambda x, split_size, dim: split(
        x, split_size_or_sections=whole(split_size, "split_size"), dim=dim
    ),
    params={"split_size": REQUIRED, "dim": 0},
    doc="The input in parts of one size along the dimension `dim`; the last may be smaller. They "
    "are no views, so each may be changed in place.",
    source="PyTorch: unsafe_split",
    node="UnsafeSplitBackward0",
    samples=lambda: (
        sample([1.0, 2.0, 3.0], split_size=2, dim=0),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], split_size=1, dim=1),
        sample([5.0], split_size=1, dim=0),
    ),
    bad=lambda: (bad((3,), split_size=0, dim=0, says="positive"),),
)

unsafe_split_with_sizes: Op = composite(
    "unsafe_split_with_sizes",
    _split_with_sizes,
    params={"split_sizes": REQUIRED, "dim": 0},
    doc="The input in parts of the sizes in a list along the dimension `dim`. They are no views, "
    "so each may be changed in place.",
    source="PyTorch: unsafe_split_with_sizes",
    node="UnsafeSplitWithSizesBackward0",
    samples=lambda: (
        sample([1.0, 2.0, 3.0], split_sizes=[1, 2], dim=0),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], split_sizes=[2, 1], dim=-1),
    ),
    bad=lambda: (bad((3,), split_sizes=[1, 1], dim=0, says="add up"),),
)


def _size_of_chunks(x: Any, chunks: Any, dim: Any) -> int:
    """The size of each but the last of the parts."""
    count = whole(chunks, "chunks")
    if count < 1:
        raise run_error("bad-argument", f"`chunks` must be positive, got {count}")
    if not shape_of(x):
        raise run_error("shape-mismatch", "a 0-d tensor cannot be split")
    return -(-shape_of(x)[axis(dim, len(shape_of(x)))] // count)


def _chunk(x: Any, chunks: Any, dim: Any) -> Any:
    size = _size_of_chunks(x, chunks, dim)
    parts: Any = size or (0,) * chunks
    return split(x, split_size_or_sections=parts, dim=dim)


def _unsafe_chunk(x: Any, chunks: Any, dim: Any) -> Any:
    size = _size_of_chunks(x, chunks, dim)
    if size == 0:
        return unsafe_split_with_sizes(x, split_sizes=(0,) * chunks, dim=dim)
    return unsafe_split(x, split_size=size, dim=dim)


unsafe_chunk: Op = composite(
    "unsafe_chunk",
    _unsafe_chunk,
    params={"chunks": REQUIRED, "dim": 0},
    doc="As `chunk`, but the parts are no views, so each may be changed in place.",
    source="PyTorch: unsafe_chunk",
    samples=lambda: (
        sample([1.0, 2.0, 3.0], chunks=2, dim=0),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], chunks=3, dim=1),
    ),
    bad=lambda: (bad((3,), chunks=0, dim=0, says="positive"),),
)

chunk: Op = composite(
    "chunk",
    _chunk,
    view=True,
    params={"chunks": REQUIRED, "dim": 0},
    doc="The input in at most `chunks` parts of one size along the dimension `dim`; the last may "
    "be smaller.",
    source="PyTorch: chunk",
    samples=lambda: (
        sample([1.0, 2.0, 3.0], chunks=2, dim=0),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], chunks=3, dim=1),
        sample([5.0], chunks=4, dim=0),
    ),
    bad=lambda: (bad((3,), chunks=0, dim=0, says="positive"),),
)


def _tensor_split(x: Any, indices_or_sections: Any, dim: Any) -> Any:
    if not shape_of(x):
        raise run_error("shape-mismatch", "a 0-d tensor cannot be split")
    at = axis(dim, len(shape_of(x)))
    size = shape_of(x)[at]
    asked = indices_or_sections
    name = "indices_or_sections"
    if isinstance(asked, (list, tuple)) or getattr(data_of(asked), "shape", None):
        cuts = [min(max(n + size if n < 0 else n, 0), size) for n in wholes(asked, name)]
    else:
        count = whole(asked, name)
        if count < 1:
            raise run_error("bad-argument", f"`{name}` must be positive, got {count}")
        check_memory((count,))
        each, more = divmod(size, count)
        cuts = [i * each + min(i, more) for i in range(1, count)]
    ends = zip([0, *cuts], [*cuts, size], strict=True)
    return tuple(narrow(x, dim=at, start=a, length=max(b - a, 0)) for a, b in ends)


tensor_split: Op = composite(
    "tensor_split",
    _tensor_split,
    view=True,
    params={"indices_or_sections": REQUIRED, "dim": 0},
    doc="The input in so many parts along the dimension `dim`, the first ones larger by one where "
    "it does not come out even; or cut at the indices of a list.",
    source="PyTorch: tensor_split",
    samples=lambda: (
        sample([1.0, 2.0, 3.0], indices_or_sections=2, dim=0),
        sample([1.0, 2.0, 3.0], indices_or_sections=(1, 2), dim=0),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], indices_or_sections=3, dim=1),
        sample([1.0, 2.0, 3.0], indices_or_sections=(-1,), dim=0),
        sample([5.0], indices_or_sections=2, dim=0),
    ),
    bad=lambda: (
        bad((3,), indices_or_sections=0, dim=0, says="positive"),
        bad((), indices_or_sections=1, dim=0, says="0-d"),
    ),
)
