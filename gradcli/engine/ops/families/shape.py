"""Ops that rearrange elements without changing them. Most give views of the same memory."""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, known, linear, op, sample
from gradcli.engine.values import memory
from gradcli.engine.values.carrier import Carrier, data_of
from gradcli.engine.values.data import Data, np, shape_of
from gradcli.engine.values.limits import check_memory, check_strides
from gradcli.engine.values.memory import as_first, shows_more
from gradcli.engine.values.sizes import Shape, axis, unsqueezed, wholes
from gradcli.errors import run_error

FAMILY = 150, "Shapes"

_VIEW: dict[str, Any] = {"view": True, "source": "PyTorch: views"}

# sizes --------------------------------------------------------------------------------------------


def _count(size: Shape) -> int:
    count = 1
    for n in size:
        count *= n
    return count


def _reshaped(old: Shape, shape: Any) -> Shape:
    asked = wholes(shape, "shape")
    count = _count(old)
    if min(asked, default=0) >= 0 and _count(asked) == count:
        return asked
    free = [i for i, n in enumerate(asked) if n < 0]
    if len(free) > 1 or any(asked[i] != -1 for i in free):
        raise run_error(
            "bad-argument", f"a shape has at most one -1 and nothing below it, got {list(asked)}"
        )
    rest = _count(tuple(n for n in asked if n >= 0))
    fits = (rest > 0 and count % rest == 0) if free else count == rest
    if not fits:
        raise run_error(
            "shape-mismatch",
            f"{count} elements of shape {list(old)} cannot be arranged as {list(asked)}",
        )
    return tuple(count // rest if n < 0 else n for n in asked)


def _by_method(x: Shape, name: str, *args: Any) -> Any:
    """The method of arrays of that shape; a number is made one."""
    method = methodcaller(name, *args)
    return method if x else lambda x: method(np.asarray(x))


def _each_in_shape(rule: Callable[..., Shape]) -> Callable[..., Data]:
    """Reshape a batch of values, each as the rule reshapes one."""
    return lambda x, **params: np.reshape(x, (len(x), *rule(x.shape[1:], **params)))


def _reshape(x: Data, shape: Any) -> Data:
    size = _reshaped(shape_of(x), shape)
    if shows_more(x):
        check_memory(size)  # unless it can be shown as well, it is a copy
    return np.reshape(x, size)


reshape: Op = linear(
    "reshape",
    params={"*shape": REQUIRED},
    doc="The elements of the input, in their order, in another shape. One size may be -1: it is "
    "worked out from the others.",
    **_VIEW,
    array=_reshape,
    of_shapes=lambda x, shape: _by_method(x, "reshape", _reshaped(x, shape)),
    shape=_reshaped,
    batch=_each_in_shape(_reshaped),
    vjp=(lambda g, out, x, shape: reshape(g, shape=x.shape),),
    node="ViewBackward0",
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


def _viewed(x: Any, shape: Any) -> Any:
    data = data_of(x)
    if isinstance(data, Carrier) and not data.in_order:
        raise AssertionError("a carrier knows of no other order")
    if isinstance(data, np.ndarray) and data.size:
        out = _reshape(data, shape)
        if not memory.shares(out, data):
            raise run_error(
                "bad-argument",
                f"a view of shape {list(out.shape)} cannot lie over this memory",
                help="use `reshape`, which copies where it must",
            )
    return reshape(x, shape=shape)


view: Op = composite(
    "view",
    _viewed,
    params={"*shape": REQUIRED},
    doc="The same memory in another shape, as `reshape` does; refused where that needs a copy.",
    **_VIEW,
    shape=_reshaped,
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
    start, end = axis(start_dim, len(shape), "start_dim"), axis(end_dim, len(shape), "end_dim")
    if start > end:
        raise run_error(
            "bad-argument", f"`start_dim` {start} comes after `end_dim` {end}, nothing is between"
        )
    return (*shape[:start], _count(shape[start : end + 1]), *shape[end + 1 :])


def _flat(x: Any, start_dim: Any, end_dim: Any) -> Any:
    size = _flattened(shape_of(x), start_dim, end_dim)
    return x if shape_of(x) == size else reshape(x, shape=size)


flatten: Op = composite(
    "flatten",
    _flat,
    params={"start_dim": 0, "end_dim": -1},
    doc="The dimensions from `start_dim` to `end_dim` as one; without them a flat tensor.",
    **_VIEW,
    shape=_flattened,
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


def _squeeze_node(args: Any, params: Any) -> str:
    dim = params["dim"]
    return f"SqueezeBackward{0 if dim is None else 2 if isinstance(dim, tuple) else 1}"


def _squeezed_in_place(params: Any) -> str:
    dim = params["dim"]
    return f"SqueezeBackward{3 if dim is None else 5 if isinstance(dim, tuple) else 4}"


squeeze: Op = linear(
    "squeeze",
    params={"dim": None},
    doc="The input without its dimensions of size 1, or without those of them that `dim` names.",
    **_VIEW,
    array=lambda x, dim: np.reshape(x, _squeezed(np.shape(x), dim)),
    of_shapes=lambda x, dim: _by_method(x, "reshape", _squeezed(x, dim)),
    shape=_squeezed,
    batch=_each_in_shape(_squeezed),
    vjp=(lambda g, out, x, dim: reshape(g, shape=x.shape),),
    node=_squeeze_node,
    turned=_squeezed_in_place,
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


unsqueeze: Op = linear(
    "unsqueeze",
    params={"dim": REQUIRED},
    doc="The input with a new dimension of size 1 at `dim`.",
    **_VIEW,
    array=lambda x, dim: np.reshape(x, unsqueezed(np.shape(x), dim)),
    of_shapes=lambda x, dim: _by_method(x, "reshape", unsqueezed(x, dim)),
    shape=unsqueezed,
    batch=_each_in_shape(unsqueezed),
    vjp=(lambda g, out, x, dim: reshape(g, shape=x.shape),),
    turned="UnsqueezeBackward1",
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


# order of the dimensions --------------------------------------------------------------------------


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


def _behind(order: tuple[int, ...]) -> tuple[int, ...]:
    """The given order of dimensions, after a new dimension in front."""
    return (0, *(d + 1 for d in order))


permute: Op = linear(
    "permute",
    params={"*dims": REQUIRED},
    doc="The dimensions of the input in the order `dims`.",
    **_VIEW,
    array=lambda x, dims: np.transpose(x, _order(np.ndim(x), dims)),
    of_shapes=lambda x, dims: _by_method(x, "transpose", _order(len(x), dims)),
    shape=lambda x, dims: tuple(x[d] for d in _order(len(x), dims)),
    batch=lambda x, dims: np.transpose(x, _behind(_order(x.ndim - 1, dims))),
    vjp=(lambda g, out, x, dims: permute(g, dims=_inverse(_order(x.ndim, dims))),),
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
    a, b = axis(dim0, ndim, "dim0"), axis(dim1, ndim, "dim1")
    if ndim:
        order[a], order[b] = order[b], order[a]
    return tuple(order)


transpose: Op = linear(
    "transpose",
    aliases=("swapaxes", "swapdims"),
    params={"dim0": REQUIRED, "dim1": REQUIRED},
    doc="The input with the dimensions `dim0` and `dim1` swapped.",
    **_VIEW,
    array=lambda x, dim0, dim1: np.transpose(x, _swap(np.ndim(x), dim0, dim1)),
    of_shapes=lambda x, dim0, dim1: _by_method(x, "transpose", _swap(len(x), dim0, dim1)),
    shape=lambda x, dim0, dim1: tuple(x[d] for d in _swap(len(x), dim0, dim1)),
    batch=lambda x, dim0, dim1: np.transpose(x, _behind(_swap(x.ndim - 1, dim0, dim1))),
    vjp=(lambda g, out, x, dim0, dim1: transpose(g, dim0=dim0, dim1=dim1),),
    turned="TransposeBackward1",
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


def _adjoint(x: Any) -> Any:
    rank = len(shape_of(x))
    if rank == 1:
        raise run_error("shape-mismatch", "`adjoint` takes matrices, this has one dimension")
    return transpose(x, dim0=-2, dim1=-1) if rank else t(x)


adjoint: Op = composite(
    "adjoint",
    _adjoint,
    doc="Transpose of each matrix, `x.mT`; a 0-d tensor stays as it is.",
    **_VIEW,
    samples=lambda: (
        sample([[1.0, 2.0, 3.0]]),
        sample([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]),
        sample([[], []]),
    ),
    bad=lambda: (bad((2,), says="takes matrices"),),
)


def _backwards(ndim: int) -> tuple[int, ...]:
    if ndim > 2:
        raise run_error(
            "shape-mismatch",
            f"`t` takes a tensor of at most two dimensions, this one has {ndim}",
            help="name the dimensions: `transpose(x, 0, 1)` or `x.mT`",
        )
    return tuple(reversed(range(ndim)))


t: Op = linear(
    "t",
    doc="Transpose of a matrix; a vector or a 0-d tensor stays as it is.",
    **_VIEW,
    array=lambda x: np.transpose(x, _backwards(np.ndim(x))),
    of_shapes=lambda x: _by_method(x, "transpose"),
    shape=lambda x: tuple(x[d] for d in _backwards(len(x))),
    batch=lambda x: np.transpose(x, _behind(_backwards(x.ndim - 1))),
    vjp=(lambda g, out, x: t(g),),
    node="TBackward0",
    turned="TBackward1",
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


# copies by broadcasting ---------------------------------------------------------------------------


def _expanded(shape: Shape, size: Any) -> Shape:
    asked = wholes(size, "size")
    check_strides(asked)
    lead = len(asked) - len(shape)
    if lead >= 0 and asked[lead:] == shape and min(asked, default=0) >= 0:
        return asked
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
    return _copied_by_strides(x, _expanded(shape_of(x), size))


def _copied_by_strides(x: Data, shape: Shape) -> Data:
    out = np.broadcast_to(x, shape)
    if isinstance(x, np.ndarray) and x.flags.writeable:
        out.flags.writeable = True  # a change in place of overlapping memory is refused
    return out


def _expand_directly(x: Shape, size: Any) -> Callable[[Data], Data]:
    size, double = _expanded(x, size), np.dtype(np.float64)
    strides = np.broadcast_to(np.empty(x), size).strides

    def expand(x: Data) -> Data:
        if type(x) is float or not (x.flags.c_contiguous and x.flags.writeable):
            return _expand(x, size)
        return np.ndarray(size, double, x, 0, strides)

    return expand


def _expand_each(x: Data, size: Any) -> Data:
    size = _expanded(x.shape[1:], size)
    lead = (1,) * (len(size) + 1 - x.ndim)
    return _copied_by_strides(np.reshape(x, (len(x), *lead, *x.shape[1:])), (len(x), *size))


expand: Op = linear(
    "expand",
    params={"*size": REQUIRED},
    doc="The input seen as having the shape `size`: dimensions of size 1 are repeated without a "
    "copy, new ones come in front, -1 keeps a size.",
    **_VIEW,
    said=lambda x, size: x if shape_of(x) == _expanded(shape_of(x), size) else None,
    array=_expand,
    of_shapes=_expand_directly,
    shape=_expanded,
    batch=_expand_each,
    vjp=(lambda g, out, x, size: g,),  # fitted to x by the caller: summed over the copies
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
    params={"*size": REQUIRED},
    doc="The input seen as having the shape `size`, as `expand` does.",
    **_VIEW,
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
    **_VIEW,
    samples=lambda: (sample([1.0, 2.0], [[1.0, 1.0]] * 3), sample(5.0, [1.0, 2.0])),
    bad=lambda: (bad((2,), (3,), says="cannot be expanded"),),
)


def _in_shape_of_other(name: str, body: Op) -> Op:
    return composite(
        name,
        lambda x, other: body(x, shape=shape_of(other)),
        args=("input", "other"),
        doc=f"The input in the shape of `other`, as `{body.name}` gives it.",
        **_VIEW,
        samples=lambda: (sample([1.0, 2.0, 3.0, 4.0], [[1.0, 1.0]] * 2), sample([5.0], 1.0)),
        bad=lambda: (bad((2,), (3,), says="cannot be arranged"),),
    )


view_as: Op = _in_shape_of_other("view_as", view)
reshape_as: Op = _in_shape_of_other("reshape_as", reshape)


# copies -------------------------------------------------------------------------------------------


def _flip_axes(ndim: int, dims: Any) -> tuple[int, ...]:
    found = tuple(axis(d, ndim) for d in wholes(dims, "dims"))
    if len(set(found)) != len(found):
        raise run_error("bad-argument", f"`dims` names a dimension twice: {list(found)}")
    return found if ndim else ()


flip: Op = linear(
    "flip",
    params={"*dims": REQUIRED},
    doc="A copy of the input with the order reversed in the dimensions `dims`.",
    source="PyTorch: flip",
    array=lambda x, dims: np.flip(x, _flip_axes(np.ndim(x), dims)).copy("K"),  # not backwards
    layout=as_first,
    shape=lambda x, dims: x,
    vjp=(lambda g, out, x, dims: flip(g, dims=dims),),
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
    doc="A copy of the input, which passes the gradient on.",
    source="identity",
    number=lambda x: x,
    array=lambda x: np.copy(x, order="K"),
    layout=as_first,
    shape=lambda x: x,
    batch=lambda x: x,
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


_CHANNELS_LAST = {4: ((0, 2, 3, 1), (0, 3, 1, 2)), 5: ((0, 2, 3, 4, 1), (0, 4, 1, 2, 3))}
"""By the number of dimensions: how channels come last, and back."""


def _contiguous(x: Any, memory_format: Any) -> Any:
    if memory_format is not None and not isinstance(memory_format, str):
        found = type(memory_format).__name__
        raise run_error("wrong-type", f"`contiguous` takes no {found} as `memory_format`")
    if memory_format in ("torch.channels_last", "torch.channels_last_3d"):
        count = 4 if memory_format == "torch.channels_last" else 5
        if len(shape_of(x)) != count:
            raise run_error("shape-mismatch", f"`{memory_format}` needs {count} dimensions")
        last, back = _CHANNELS_LAST[count]
        return permute(_contiguous(permute(x, dims=last), None), dims=back)
    if memory_format not in (None, "torch.contiguous_format"):
        raise run_error("bad-argument", f"`contiguous` has no `memory_format` {memory_format!r}")
    data = data_of(x)
    if isinstance(data, Carrier):
        return x if data.in_order else ops.ordered(x)
    if not isinstance(data, np.ndarray) or data.flags.c_contiguous:
        return x
    return ops.ordered(x)


contiguous: Op = composite(
    "contiguous",
    _contiguous,
    params={"memory_format": None},
    shape=lambda x, memory_format: x,
    view=True,
    doc="The input itself when its elements lie in order in memory, else a copy. The order is that "
    "of the dimensions, or with `torch.channels_last` as `memory_format` dimension 1 is the "
    "fastest.",
    source="PyTorch: contiguous",
    samples=lambda: (sample([1.0, 2.0]), sample([[1.0, 2.0], [3.0, 4.0]]), sample(1.0)),
)
