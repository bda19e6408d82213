"""Methods for facts about a tensor: its memory layout, size and history."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import (
    Tensor,
    array_of,
    counter,
    is_inference,
    shared,
    show,
    version_of,
)
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.conversion import converted
from gradcli.engine.values.data import np, plain
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import axis, sizes
from gradcli.errors import run_error


def _array(x: Tensor) -> Any:
    return np.asarray(x.data)


def stride(x: Tensor, dim: Any = None) -> Any:
    """`x.stride()`: the number of elements between neighbours, by dimension."""
    data = _array(x)
    steps = tuple(
        n // data.itemsize if size > 1 and data.size else own
        for n, size, own in zip(data.strides, data.shape, _dense(data.shape), strict=True)
    )
    if dim is not None and not steps:
        raise run_error("index-out-of-range", "a 0-d tensor has no dimension and no stride")
    return steps if dim is None else steps[axis(dim, x.ndim)]


def _dense(shape: tuple[int, ...]) -> list[int]:
    """The strides of contiguous elements."""
    steps, step = [], 1
    for n in reversed(shape):
        steps.append(step)
        step *= max(n, 1)
    return steps[::-1]


def is_contiguous(x: Tensor) -> bool:
    """`x.is_contiguous()`: true if the last dimension is the fastest in memory."""
    return bool(_array(x).flags.c_contiguous)


def numel(x: Tensor) -> int:
    """`x.numel()`: how many elements there are."""
    return int(_array(x).size)


def element_size(x: Tensor) -> int:
    """`x.element_size()`: bytes of an element."""
    return int(_array(x).itemsize)


def data_ptr(x: Tensor) -> int:
    """`x.data_ptr()`: the address of the first element; 0 if there is none."""
    data = array_of(x)
    return int(data.ctypes.data) if data.size else 0


def storage_offset(x: Tensor) -> int:
    """`x.storage_offset()`: how many elements of its memory come before the first."""
    data = array_of(x)
    owner = data
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return int((data.ctypes.data - owner.ctypes.data) // data.itemsize) if data.size else 0


def numpy(session: Any, site: Site | None, x: Tensor) -> Tensor:
    """`x.numpy()`: another tensor on the same memory, without a history."""
    if session.transparent:
        return x
    if x.requires_grad and session.recording:
        raise run_error(
            "not-differentiable",
            "`numpy` of a tensor that requires grad would lose its history",
            help="write `x.detach().numpy()`",
        )
    made = Tensor(array_of(x))
    made.version = shared(x)
    return made


def new(session: Any, site: Site | None, x: Tensor, *given: Any) -> Tensor:
    """`x.new(size)`, `x.new([1.0, 2.0])`: a tensor of the dtype of `x`."""
    data = given[0] if len(given) == 1 else None
    if type(data) is list or type(data) is tuple:
        return Tensor(converted(plain(np.asarray(data_of(session.tensor([*data])))), x.dtype))
    shape = sizes(given) if given else (0,)
    check_memory(shape)
    return Tensor(plain(np.zeros(shape, x.dtype)))


def _base(x: Tensor) -> Tensor:
    """The tensor that a view shows, which is not a view itself."""
    while x.view is not None:
        x = x.view.parent
    return x


def _version(x: Tensor) -> int:
    if is_inference(x):
        said = "Inference tensors do not track version counter."
        message = "a tensor that was made in inference mode has no version"
        raise run_error("inference-tensor", message, raises=RuntimeError(said))
    return version_of(x)


ATTRIBUTES: dict[str, Any] = {
    "is_cuda": lambda x: False,
    "is_sparse": lambda x: False,
    "itemsize": element_size,
    "nbytes": lambda x: int(_array(x).nbytes),
    "_version": _version,
    "output_nr": lambda x: x.index if x.grad_fn is not None else 0,
    "_base": lambda x: None if x.view is None else _base(x),
    "retains_grad": lambda session, x: (
        not x.is_leaf and any(x is r for r in session.passes.retained)
    ),
}


def resize(x: Tensor, *shape: Any) -> Tensor:
    """`x.resize_(2, 3)`: the same memory in another shape, with zeros behind it if it is too short.

    Raises:
        RunError: If `x` requires grad.
    """
    if x.requires_grad:
        message = "a tensor that requires grad cannot be resized"
        help = "`x.reshape(...)` gives another tensor on the same memory"
        raise run_error("leaf-in-place", message, help=help)
    wanted = sizes(shape[0] if len(shape) == 1 else shape)
    count, flat = prod(wanted), _array(x).ravel(order="K")
    if count > flat.size:
        check_memory(wanted, flat.itemsize)
        flat = np.concatenate([flat, np.zeros(count - flat.size, flat.dtype)])
    x.data = plain(flat[:count].reshape(wanted))
    counter(x).count += 1
    return x


def resize_as(x: Tensor, other: Any) -> Tensor:
    """`x.resize_as_(other)`: `resize_` to the shape of another tensor.

    Raises:
        RunError: If `x` requires grad, or `other` is no tensor.
    """
    if not isinstance(other, Tensor):
        raise run_error("wrong-type", f"`resize_as_` needs a tensor, got {kind_of(other)}")
    return resize(x, other.shape)


def set_(session: Any, site: Site | None, x: Tensor, source: Any) -> Tensor:
    """`x.set_(source)`: show the memory of another tensor, in its shape.

    Raises:
        RunError: If `source` is no tensor of its dtype, or x has a history that recording would
            lose.
    """
    if not isinstance(source, Tensor):
        raise run_error("wrong-type", f"`set_` needs a tensor, got {kind_of(source)}")
    if source.dtype != x.dtype:
        message = f"`set_` of a tensor of dtype {x.dtype} needs that dtype, got {source.dtype}"
        raise run_error("dtype-mismatch", message)
    if session.recording and x.requires_grad:
        message = "a tensor that requires grad is set to other memory"
        raise run_error("leaf-in-place", message, help="put it under `with no_grad():`")
    if x.view is not None or not x.is_leaf:
        message = "`set_` needs a tensor that is neither computed nor a view"
        raise run_error("not-a-leaf", message, help="assign the other tensor")
    show(x, source)
    session.watched.leaf_changed(x)
    return x


def resized(session: Any, site: Site | None, x: Tensor, *shape: Any) -> Any:
    """`x.resize(2, 3)`, an old name of `reshape`."""
    wanted = sizes(shape[0] if len(shape) == 1 else shape)
    return session.do(ops.reshape, [x], {"shape": wanted}, site)


METHODS: dict[str, Any] = {
    "set_": set_,
    "resize": resized,
    "resize_": resize,
    "resize_as_": resize_as,
    "stride": stride,
    "is_contiguous": is_contiguous,
    "numel": numel,
    "ndimension": lambda x: x.ndim,
    "storage_offset": storage_offset,
    "nelement": numel,
    "element_size": element_size,
    "data_ptr": data_ptr,
    "is_inference": is_inference,
    "_is_view": lambda x: x.view is not None,
    "new": new,
    "get_device": lambda x: -1,
    "numpy": numpy,
}
