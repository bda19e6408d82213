"""Ops that arrange elements anew without changing them. Most give views of the same memory."""

from __future__ import annotations

from typing import Any

from gradcli.engine.arrays import Data, np, shape_of
from gradcli.engine.ops.registry import REQUIRED, Op, bad, composite, known, op, ops, sample
from gradcli.engine.ops.sizes import Shape, axis, common_dtype, sizes, whole, wholes
from gradcli.engine.tensor import data_of
from gradcli.errors import run_error

_VIEW = "PyTorch: views"
_ADJOINT = "a linear map; the cotangent goes back by its transpose"


# sizes ------------------------------------------------------------------------------------------


def _count(size: Shape) -> int:
    count = 1
    for n in size:
        count *= n
    return count


def _reshaped(shape: Shape, size: Any) -> Shape:
    asked = wholes(size, "size")
    count = _count(shape)
    free = [i for i, n in enumerate(asked) if n < 0]
    if len(free) > 1 or any(asked[i] != -1 for i in free):
        raise run_error(
            "bad-argument", f"a size has at most one -1 and nothing below it, got {list(asked)}"
        )
    rest = _count(tuple(n for n in asked if n >= 0))
    fits = (rest > 0 and count % rest == 0) if free else count == rest
    if not fits:
        raise run_error(
            "shape-mismatch",
            f"{count} elements of shape {list(shape)} cannot be arranged as {list(asked)}",
        )
    return tuple(count // rest if n < 0 else n for n in asked)


def _reshape(x: Data, size: Any) -> Data:
    return np.reshape(x, _reshaped(shape_of(x), size))


reshape: Op = op(
    "reshape",
    args=("input",),
    params={"*shape": REQUIRED},
    doc="The elements of the input, in their order, in another shape. One size may be -1: it is "
    "worked out from the others.",
    source=_VIEW,
    array=lambda x, shape: _reshape(x, shape),
    shape=lambda x, shape: _reshaped(x, shape),
    vjp=(lambda g, out, x, shape: reshape(g, shape=x.shape),),
    jvp=(lambda dot, out, x, shape: reshape(dot, shape=shape),),
    node="ViewBackward0",
    view=True,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], shape=(4,)),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], shape=(3, -1)),
        sample([1.0, 2.0, 3.0, 4.0], shape=(2, 2)),
        sample([1.0, 2.0], shape=(-1, 1)),
        sample(3.0, shape=(1, 1)),
        sample([3.0], shape=()),
        sample([], shape=(0, 3)),
        sample([[2.0], [-1.0]], shape=(1, 2, 1)),
    ),
    bad=lambda: (
        bad((2, 3), shape=(4,), says="6 elements"),
        bad((2, 3), shape=(-1, -1), says="at most one -1"),
        bad((2, 3), shape=(-2,), says="nothing below"),
        bad((0,), shape=(-1, 0), says="cannot be arranged"),
    ),
)


def _viewed(x: Data, shape: Any) -> Data:
    out = _reshape(x, shape)
    if isinstance(x, np.ndarray) and x.size and not np.may_share_memory(x, out):
        raise run_error(
            "bad-argument",
            f"a view of shape {list(out.shape)} cannot lie over this memory",
            help="use `reshape`, which copies where it must",
        )
    return out


view: Op = op(
    "view",
    args=("input",),
    params={"*shape": REQUIRED},
    doc="The same memory in another shape, as `reshape` does; refused where that needs a copy.",
    source=_VIEW,
    array=_viewed,
    shape=lambda x, shape: _reshaped(x, shape),
    vjp=(lambda g, out, x, shape: reshape(g, shape=x.shape),),
    jvp=(lambda dot, out, x, shape: reshape(dot, shape=shape),),
    view=True,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], shape=(4,)),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], shape=(3, -1)),
        sample([1.0, 2.0, 3.0, 4.0], shape=(2, 2)),
        sample([1.0, 2.0], shape=(-1, 1)),
        sample(3.0, shape=(1,)),
        sample([3.0], shape=()),
        sample([], shape=(3, 0)),
        sample([[2.0], [-1.0]], shape=(1, 2, 1)),
    ),
    bad=lambda: (bad((2, 3), shape=(4,), says="6 elements"),),
)


def _flattened(shape: Shape, start_dim: Any, end_dim: Any) -> Shape:
    if not shape:
        return (1,)
    start, end = axis(start_dim, len(shape)), axis(end_dim, len(shape))
    if start > end:
        raise run_error(
            "bad-argument", f"`start_dim` {start} comes after `end_dim` {end}, nothing is between"
        )
    return (*shape[:start], _count(shape[start : end + 1]), *shape[end + 1 :])


flatten: Op = op(
    "flatten",
    args=("input",),
    params={"start_dim": 0, "end_dim": -1},
    doc="The dimensions from `start_dim` to `end_dim` as one; without them a flat tensor.",
    source=_VIEW,
    array=lambda x, start_dim, end_dim: np.reshape(x, _flattened(np.shape(x), start_dim, end_dim)),
    shape=lambda x, start_dim, end_dim: _flattened(x, start_dim, end_dim),
    vjp=(lambda g, out, x, start_dim, end_dim: reshape(g, shape=x.shape),),
    jvp=(
        lambda dot, out, x, start_dim, end_dim: flatten(dot, start_dim=start_dim, end_dim=end_dim),
    ),
    node="ViewBackward0",
    view=True,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], start_dim=0, end_dim=-1),
        sample([[[1.0, 2.0], [3.0, 4.0]]], start_dim=1, end_dim=-1),
        sample([[[1.0, 2.0], [3.0, 4.0]]], start_dim=0, end_dim=1),
        sample([1.0, 2.0], start_dim=0, end_dim=-1),
        sample(2.0, start_dim=0, end_dim=-1),
        sample([[5.0]], start_dim=0, end_dim=-1),
        sample([[], []], start_dim=0, end_dim=-1),
        sample([[-1.0], [2.0]], start_dim=-2, end_dim=-1),
    ),
    bad=lambda: (
        bad((2, 3), start_dim=1, end_dim=0, says="comes after"),
        bad((2, 3), start_dim=2, end_dim=-1, says="no dimension 2"),
    ),
)


def _squeezed(shape: Shape, dim: Any) -> Shape:
    if dim is None:
        return tuple(n for n in shape if n != 1)
    gone = {axis(d, len(shape)) for d in wholes(dim, "dim")}
    return tuple(n for i, n in enumerate(shape) if n != 1 or i not in gone)


squeeze: Op = op(
    "squeeze",
    args=("input",),
    params={"dim": None},
    doc="The input without its dimensions of size 1, or without those of them that `dim` names.",
    source=_VIEW,
    array=lambda x, dim: np.reshape(x, _squeezed(np.shape(x), dim)),
    shape=lambda x, dim: _squeezed(x, dim),
    vjp=(lambda g, out, x, dim: reshape(g, shape=x.shape),),
    jvp=(lambda dot, out, x, dim: squeeze(dot, dim=dim),),
    node=lambda args, params: f"SqueezeBackward{0 if params['dim'] is None else 1}",
    view=True,
    samples=lambda: (
        sample([[1.0, 2.0]], dim=None),
        sample([[1.0, 2.0]], dim=0),
        sample([[1.0, 2.0]], dim=1),
        sample([[[1.0], [2.0]]], dim=(0, 2)),
        sample([[[1.0], [2.0]]], dim=-1),
        sample([[4.0]], dim=None),
        sample(4.0, dim=None),
        sample([[]], dim=0),
    ),
    bad=lambda: (bad((2, 1), dim=2, says="no dimension 2"),),
)


def _unsqueezed(shape: Shape, dim: Any) -> Shape:
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


unsqueeze: Op = op(
    "unsqueeze",
    args=("input",),
    params={"dim": REQUIRED},
    doc="The input with a new dimension of size 1 at `dim`.",
    source=_VIEW,
    array=lambda x, dim: np.reshape(x, _unsqueezed(np.shape(x), dim)),
    shape=lambda x, dim: _unsqueezed(x, dim),
    vjp=(lambda g, out, x, dim: reshape(g, shape=x.shape),),
    jvp=(lambda dot, out, x, dim: unsqueeze(dot, dim=dim),),
    view=True,
    samples=lambda: (
        sample([1.0, 2.0], dim=0),
        sample([1.0, 2.0], dim=1),
        sample([1.0, 2.0], dim=-1),
        sample([1.0, 2.0], dim=-2),
        sample([[1.0, 2.0], [3.0, 4.0]], dim=1),
        sample(3.0, dim=0),
        sample([], dim=0),
        sample([[1.0]], dim=2),
    ),
    bad=lambda: (bad((2,), dim=2, says="between -2 and 1"), bad((2,), dim=0.5, says="integer")),
)


# order of the dimensions ------------------------------------------------------------------------


def _order(ndim: int, dims: Any) -> tuple[int, ...]:
    order = tuple(axis(d, ndim) for d in wholes(dims, "dims"))
    if sorted(order) != list(range(ndim)):
        raise run_error(
            "bad-argument",
            f"`dims` must name each of the {ndim} dimensions once, got {list(order)}",
        )
    return order


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


permute: Op = op(
    "permute",
    args=("input",),
    params={"*dims": REQUIRED},
    doc="The dimensions of the input in the order `dims`.",
    source=_VIEW,
    array=lambda x, dims: np.transpose(x, _order(np.ndim(x), dims)),
    shape=lambda x, dims: tuple(x[d] for d in _order(len(x), dims)),
    vjp=(lambda g, out, x, dims: permute(g, dims=_inverse(_order(x.ndim, dims))),),
    jvp=(lambda dot, out, x, dims: permute(dot, dims=dims),),
    view=True,
    samples=lambda: (
        sample([[1.0, 2.0, 3.0]], dims=(1, 0)),
        sample([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]], dims=(2, 0, 1)),
        sample([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]], dims=(1, 2, 0)),
        sample([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]], dims=(-1, 1, 0)),
        sample([1.0, 2.0], dims=(0,)),
        sample(1.0, dims=()),
        sample([[], []], dims=(1, 0)),
        sample([[7.0]], dims=(0, 1)),
    ),
    bad=lambda: (
        bad((2, 3), dims=(0, 0), says="once"),
        bad((2, 3), dims=(0,), says="once"),
        bad((2, 3), dims=(0, 2), says="no dimension 2"),
    ),
)


def _swap(ndim: int, dim0: Any, dim1: Any) -> tuple[int, ...]:
    order = list(range(ndim))
    a, b = axis(dim0, ndim), axis(dim1, ndim)
    if ndim:
        order[a], order[b] = order[b], order[a]
    return tuple(order)


transpose: Op = op(
    "transpose",
    aliases=("swapaxes",),
    args=("input",),
    params={"dim0": REQUIRED, "dim1": REQUIRED},
    doc="The input with the dimensions `dim0` and `dim1` swapped.",
    source=_VIEW,
    array=lambda x, dim0, dim1: np.transpose(x, _swap(np.ndim(x), dim0, dim1)),
    shape=lambda x, dim0, dim1: tuple(x[d] for d in _swap(len(x), dim0, dim1)),
    vjp=(lambda g, out, x, dim0, dim1: transpose(g, dim0=dim0, dim1=dim1),),
    jvp=(lambda dot, out, x, dim0, dim1: transpose(dot, dim0=dim0, dim1=dim1),),
    view=True,
    samples=lambda: (
        sample([[1.0, 2.0, 3.0]], dim0=0, dim1=1),
        sample([[1.0, 2.0, 3.0]], dim0=1, dim1=0),
        sample([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]], dim0=0, dim1=2),
        sample([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]], dim0=-1, dim1=-2),
        sample([1.0, 2.0], dim0=0, dim1=0),
        sample(1.0, dim0=0, dim1=-1),
        sample([[], []], dim0=0, dim1=1),
        sample([[1.0]], dim0=0, dim1=1),
    ),
    bad=lambda: (bad((2, 3), dim0=0, dim1=2, says="no dimension 2"),),
)


def _backwards(ndim: int) -> tuple[int, ...]:
    if ndim > 2:
        raise run_error(
            "shape-mismatch",
            f"`t` takes a tensor of at most two dimensions, this one has {ndim}",
            help="name the dimensions: `transpose(x, 0, 1)` or `x.mT`",
        )
    return tuple(reversed(range(ndim)))


t: Op = op(
    "t",
    args=("input",),
    doc="Transpose of a matrix; a vector or a 0-d tensor stays as it is.",
    source=_VIEW,
    array=lambda x: np.transpose(x, _backwards(np.ndim(x))),
    shape=lambda x: tuple(x[d] for d in _backwards(len(x))),
    vjp=(lambda g, out, x: t(g),),
    jvp=(lambda dot, out, x: t(dot),),
    view=True,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([[1.0, 2.0, 3.0]]),
        sample([[1.0], [2.0]]),
        sample([[4.0]]),
        sample([1.0, 2.0]),
        sample(3.0),
        sample([[], []]),
        sample([[-1.0, 2.0], [0.0, 5.0], [1.0, 1.0]]),
    ),
    bad=lambda: (bad((2, 3, 4), says="at most two"),),
)


def _last_two(ndim: int) -> tuple[int, ...]:
    if ndim < 2:
        raise run_error(
            "shape-mismatch", f"`mT` needs at least two dimensions, this tensor has {ndim}"
        )
    return _swap(ndim, -1, -2)


matrix_t: Op = op(
    "mT",
    args=("input",),
    doc="The attribute `x.mT`: each matrix in the last two dimensions transposed.",
    source=_VIEW,
    array=lambda x: np.transpose(x, _last_two(np.ndim(x))),
    shape=lambda x: tuple(x[d] for d in _last_two(len(x))),
    vjp=(lambda g, out, x: matrix_t(g),),
    jvp=(lambda dot, out, x: matrix_t(dot),),
    node="TransposeBackward0",
    view=True,
    method=False,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([[1.0, 2.0, 3.0]]),
        sample([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]),
        sample([[4.0]]),
        sample([[1.0], [2.0]]),
        sample([[[1.0]], [[2.0]]]),
        sample([[], []]),
        sample([[-1.0, 2.0], [0.0, 5.0], [1.0, 1.0]]),
    ),
    bad=lambda: (bad((2,), says="at least two"), bad((), says="at least two")),
)


# copies by broadcasting -------------------------------------------------------------------------


def _expanded(shape: Shape, size: Any) -> Shape:
    asked = wholes(size, "size")
    lead = len(asked) - len(shape)
    fits = lead >= 0 and all(n >= 0 or (n == -1 and i >= lead) for i, n in enumerate(asked))
    if fits:
        kept = (*asked[:lead], *shape)
        asked = tuple(k if n == -1 else n for n, k in zip(asked, kept, strict=True))
        fits = all(k in (1, n) for n, k in zip(asked[lead:], shape, strict=True))
    if not fits:
        raise run_error(
            "shape-mismatch",
            f"a tensor of shape {list(shape)} cannot be expanded to {list(asked)}",
            notes=("only dimensions of size 1 are copied, and new ones come in front",),
        )
    return asked


def _expand(x: Data, size: Any) -> Data:
    out = np.broadcast_to(x, _expanded(shape_of(x), size))
    if isinstance(x, np.ndarray) and x.flags.writeable:
        out.flags.writeable = True  # where places overlap, a change in place is refused
    return out


expand: Op = op(
    "expand",
    args=("input",),
    params={"*size": REQUIRED},
    doc="The input seen as having the shape `size`: dimensions of size 1 are repeated without a "
    "copy, new ones come in front, -1 keeps a size.",
    source=_VIEW,
    array=_expand,
    shape=lambda x, size: _expanded(x, size),
    vjp=(lambda g, out, x, size: g,),  # fitted to x by the caller: summed over the copies
    jvp=(lambda dot, out, x, size: expand(dot, size=size),),
    view=True,
    samples=lambda: (
        sample([1.0, 2.0], size=(3, 2)),
        sample([[1.0], [2.0]], size=(2, 3)),
        sample([[1.0], [2.0]], size=(-1, 3)),
        sample([[1.0], [2.0]], size=(4, -1, 3)),
        sample(5.0, size=(2, 2)),
        sample([1.0], size=(0,)),
        sample([[3.0]], size=(1, 1)),
        sample(2.0, size=()),
    ),
    bad=lambda: (
        bad((2,), size=(3,), says="cannot be expanded"),
        bad((2,), size=(), says="cannot be expanded"),
        bad((2,), size=(-1, 2), says="cannot be expanded"),
    ),
)

broadcast_to: Op = composite(
    "broadcast_to",
    lambda x, size: expand(x, size=size),
    args=("input",),
    params={"*size": REQUIRED},
    doc="The input seen as having the shape `size`, as `expand` does.",
    source=_VIEW,
    samples=lambda: (
        sample([1.0, 2.0], size=(3, 2)),
        sample([[1.0], [2.0]], size=(2, 3)),
        sample(5.0, size=(2, 2)),
    ),
    bad=lambda: (bad((2,), size=(3,), says="cannot be expanded"),),
)

expand_as: Op = composite(
    "expand_as",
    lambda x, other: expand(x, size=shape_of(other)),
    args=("input", "other"),
    doc="The input expanded to the shape of `other`.",
    source=_VIEW,
    samples=lambda: (sample([1.0, 2.0], [[1.0, 1.0]] * 3), sample(5.0, [1.0, 2.0])),
    bad=lambda: (bad((2,), (3,), says="cannot be expanded"),),
)


# several tensors --------------------------------------------------------------------------------


def _cat_shape(*shapes: Shape, dim: Any) -> Shape:
    if not shapes:
        raise run_error("bad-argument", "`cat` needs at least one tensor")
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


def _cat_part(c: Any, i: int, tensors: Any, dim: Any) -> Any:
    """The part of c that lies where the i-th of the joined tensors lies."""
    mine = shape_of(tensors[i])
    if mine == (0,) and c.ndim > 1:
        return ops.zeros_of(like=tensors[i])
    at = axis(dim, c.ndim)
    start = sum(shape_of(x)[at] for x in tensors[:i] if shape_of(x) != (0,))
    return narrow(c, dim=at, start=start, length=mine[at])


def _cat_tangent(dot: Any, i: int, tensors: Any, dim: Any) -> Any:
    """The tangent of the whole from that of the i-th: zeros elsewhere."""
    return cat(*(dot if k == i else ops.zeros_of(like=x) for k, x in enumerate(tensors)), dim=dim)


cat: Op = op(
    "cat",
    aliases=("concat", "concatenate"),
    args=("*tensors",),
    params={"dim": 0},
    doc="The tensors one after the other along the dimension `dim`; the other sizes are equal.",
    source=_ADJOINT,
    array=_cat,
    shape=_cat_shape,
    vjp=(lambda g, out, i, *tensors, dim: _cat_part(g, i, tensors, dim),),
    jvp=(lambda dot, out, i, *tensors, dim: _cat_tangent(dot, i, tensors, dim),),
    method=False,
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
    made = list(_unsqueezed(shapes[0], dim))
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


def _stack_tangent(dot: Any, i: int, tensors: Any, dim: Any) -> Any:
    """The tangent of the whole from that of the i-th: zeros elsewhere."""
    return stack(*(dot if k == i else ops.zeros_of(like=x) for k, x in enumerate(tensors)), dim=dim)


stack: Op = op(
    "stack",
    args=("*tensors",),
    params={"dim": 0},
    doc="Tensors of one shape side by side along a new dimension `dim`.",
    source=_ADJOINT,
    array=_stack,
    shape=_stack_shape,
    vjp=(lambda g, out, i, *tensors, dim: select(g, dim=dim, index=i),),
    jvp=(lambda dot, out, i, *tensors, dim: _stack_tangent(dot, i, tensors, dim),),
    method=False,
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


# parts of one tensor ----------------------------------------------------------------------------


def _at(dim: Any, ndim: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * axis(dim, ndim), index)


select: Op = composite(
    "select",
    lambda x, dim, index: ops.getitem(x, index=_at(dim, len(shape_of(x)), whole(index, "index"))),
    args=("input",),
    params={"dim": REQUIRED, "index": REQUIRED},
    doc="The part of the input at one index of the dimension `dim`, which goes away.",
    source=_VIEW,
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
    at = axis(dim, len(shape_of(x)))
    size = shape_of(x)[at]
    first, count = whole(start, "start"), whole(length, "length")
    if first < 0:
        first += size
    if count < 0 or not 0 <= first <= first + count <= size:
        raise run_error(
            "index-out-of-range",
            f"{count} places from {first} on do not lie in dimension {at} of size {size}",
        )
    return ops.getitem(x, index=_at(at, len(shape_of(x)), slice(first, first + count)))


narrow: Op = composite(
    "narrow",
    _narrow,
    args=("input",),
    params={"dim": REQUIRED, "start": REQUIRED, "length": REQUIRED},
    doc="The part of the input of `length` places from `start` on in the dimension `dim`.",
    source=_VIEW,
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


def _unbound(shape: Shape, dim: Any) -> tuple[Shape, ...]:
    if not shape:
        raise run_error("shape-mismatch", "a 0-d tensor has no rows to take apart")
    at = axis(dim, len(shape))
    return ((*shape[:at], *shape[at + 1 :]),) * shape[at]


def _unbind(x: Data, dim: Any) -> tuple[Data, ...]:
    count = len(_unbound(shape_of(x), dim))
    rows = np.moveaxis(x, axis(dim, x.ndim), 0)
    return tuple(rows[i, ...] for i in range(count))


unbind: Op = op(
    "unbind",
    args=("input",),
    params={"dim": 0},
    doc="The parts of the input along the dimension `dim`, as a tuple.",
    source=_ADJOINT,
    array=_unbind,
    shape=_unbound,
    vjp=(lambda g, out, x, dim: stack(*g, dim=dim) if g else ops.zeros_of(like=x),),
    jvp=(lambda dot, out, x, dim: unbind(dot, dim=dim),),
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
    step = whole(asked, "split_size")
    if step < 0 or (step == 0 and size > 0):
        raise run_error("bad-argument", f"`split_size` must be positive, got {step}")
    if size == 0:
        return (0,)
    return tuple(min(step, size - i) for i in range(0, size, step))


def _split_shapes(shape: Shape, asked: Any, dim: Any) -> tuple[Shape, ...]:
    if not shape:
        raise run_error("shape-mismatch", "a 0-d tensor cannot be split")
    at = axis(dim, len(shape))
    return tuple((*shape[:at], n, *shape[at + 1 :]) for n in _split_sizes(shape[at], asked))


def _split(x: Data, asked: Any, dim: Any) -> tuple[Data, ...]:
    at = axis(dim, np.ndim(x))
    parts = []
    start = 0
    for shape in _split_shapes(np.shape(x), asked, dim):
        parts.append(x[_at(at, x.ndim, slice(start, start + shape[at]))])
        start += shape[at]
    return tuple(parts)


split: Op = op(
    "split",
    args=("input",),
    params={"split_size_or_sections": REQUIRED, "dim": 0},
    doc="The input in parts along the dimension `dim`: of one size (the last may be smaller), or "
    "of the sizes in a list.",
    source=_ADJOINT,
    array=lambda x, split_size_or_sections, dim: _split(x, split_size_or_sections, dim),
    shape=lambda x, split_size_or_sections, dim: _split_shapes(x, split_size_or_sections, dim),
    vjp=(lambda g, out, x, split_size_or_sections, dim: cat(*g, dim=dim),),
    jvp=(
        lambda dot, out, x, split_size_or_sections, dim: split(
            dot, split_size_or_sections=split_size_or_sections, dim=dim
        ),
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


def _chunk(x: Any, chunks: Any, dim: Any) -> Any:
    count = whole(chunks, "chunks")
    if count < 1:
        raise run_error("bad-argument", f"`chunks` must be positive, got {count}")
    if not shape_of(x):
        raise run_error("shape-mismatch", "a 0-d tensor cannot be split")
    size = shape_of(x)[axis(dim, len(shape_of(x)))]
    return split(x, split_size_or_sections=max(-(-size // count), 1), dim=dim)


chunk: Op = composite(
    "chunk",
    _chunk,
    args=("input",),
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


# copies -----------------------------------------------------------------------------------------


def _flip_axes(ndim: int, dims: Any) -> tuple[int, ...]:
    found = tuple(axis(d, ndim) for d in wholes(dims, "dims"))
    if len(set(found)) != len(found):
        raise run_error("bad-argument", f"`dims` names a dimension twice: {list(found)}")
    return found if ndim else ()


flip: Op = op(
    "flip",
    args=("input",),
    params={"*dims": REQUIRED},
    doc="A copy of the input with the order reversed in the dimensions `dims`.",
    source=_ADJOINT,
    array=lambda x, dims: np.flip(x, _flip_axes(np.ndim(x), dims)).copy(),
    shape=lambda x, dims: x,
    vjp=(lambda g, out, x, dims: flip(g, dims=dims),),
    jvp=(lambda dot, out, x, dims: flip(dot, dims=dims),),
    samples=lambda: (
        sample([1.0, 2.0, 3.0], dims=(0,)),
        sample([[1.0, 2.0], [3.0, 4.0]], dims=(0,)),
        sample([[1.0, 2.0], [3.0, 4.0]], dims=(1,)),
        sample([[1.0, 2.0], [3.0, 4.0]], dims=(0, -1)),
        sample([[1.0, 2.0], [3.0, 4.0]], dims=()),
        sample([5.0], dims=(0,)),
        sample([], dims=(0,)),
        sample(2.0, dims=()),
    ),
    bad=lambda: (
        bad((2,), dims=(1,), says="no dimension 1"),
        bad((2, 2), dims=(0, 0), says="twice"),
    ),
)

clone: Op = op(
    "clone",
    args=("input",),
    doc="A copy of the input, which passes the gradient on.",
    source="identity",
    number=lambda x: x,
    array=lambda x: np.array(x, order="C"),
    shape=lambda x: x,
    vjp=(lambda g, out, x: g,),
    jvp=(lambda dot, out, x: dot,),
    samples=lambda: (
        sample(2.0),
        sample(-0.5),
        sample([1.0, -2.0]),
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([[1.0], [2.0]]),
        sample([5.0]),
        sample([]),
        sample([[[1.0, 2.0]]]),
    ),
    known=lambda: (known([0.0, 1.0], grad=([1.0, 1.0],)),),
)


def _contiguous(x: Any) -> Any:
    data = data_of(x)
    return x if not shape_of(x) or data.flags.c_contiguous else clone(x)


contiguous: Op = composite(
    "contiguous",
    _contiguous,
    args=("input",),
    doc="The input itself when its elements lie in order in memory, else a copy.",
    source="PyTorch: contiguous",
    samples=lambda: (sample([1.0, 2.0]), sample([[1.0, 2.0], [3.0, 4.0]]), sample(1.0)),
)
