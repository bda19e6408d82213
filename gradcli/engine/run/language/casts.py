"""Conversion of tensors to another dtype: `x.to`, `x.type` and similar methods. The CPU is the only
device.
"""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.dtypes import DTYPES, dtype_name
from gradcli.engine.values.sizes import flag
from gradcli.errors import run_error

_FORMS = "write `x.to(dtype)`, `x.to(device)`, `x.to(device, dtype)` or `x.to(other)`"
_REST = ("non_blocking", "copy", "memory_format")
_NAMES = frozenset({"device", "dtype", *_REST})


def cast(session: Evaluator, x: Tensor, dtype: str) -> Any:
    """A tensor in a dtype: itself if it has that."""
    return x if x.dtype == dtype else session.do(ops.cast, [x], {"dtype": dtype})


def to(session: Evaluator, site: Site | None, x: Tensor, *args: Any, **named: Any) -> Any:
    """`x.to(...)`: of a dtype, a device, both or the dtype of another tensor; itself if it has that
    dtype, unless `copy` is true.
    """
    given = _bound(args, named)
    if given.get("device") is not None:
        check_device(given["device"])
    wanted = given.get("dtype")
    dtype = wanted.dtype if isinstance(wanted, Tensor) else dtype_name(wanted)
    made = cast(session, x, dtype or x.dtype)
    copy, _ = (flag(given.get(name, False), name) for name in ("copy", "non_blocking"))
    if made is x and copy:
        made = session.do(ops.clone, [x], {}, site)
    layout = given.get("memory_format")
    if layout in (None, "torch.preserve_format"):
        return made
    return session.do(ops.contiguous, [made], {"memory_format": layout}, site)


def _bound(args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `to` by name; another tensor stands as the dtype."""
    first = args[0] if args else None
    if not args:
        order: tuple[str, ...] = ()
    elif type(first) is str or first is None:
        order = ("device", "dtype", *_REST)
    else:
        order = ("dtype", *_REST)
    by_place = dict(zip(order, args, strict=False))
    wrong = next((name for name in named if name not in _NAMES or name in by_place), None)
    tensors = [*named.values(), *args[1:]]
    if len(args) > len(order) or wrong or any(isinstance(v, Tensor) for v in tensors):
        message = "`to` does not take these arguments"
        raise run_error("wrong-arity", message, help=_FORMS)
    return {**by_place, **named}


def check_device(device: Any) -> None:
    """Refuse a device that is not there."""
    if type(device) is not str:
        message = f'a device is a text such as "cpu", got {kind_of(device)}'
        raise run_error("wrong-type", message)
    if device.partition(":")[0] == "cpu":
        return
    help = 'write `device = "cuda" if torch.cuda.is_available() else "cpu"` and `x.to(device)`'
    if device in DTYPES:
        help = f"for the dtype write `x.to(torch.{device})`"
    raise run_error("bad-argument", f'the only device is "cpu", not "{device}"', help=help)


def type_of(session: Evaluator, site: Site | None, x: Tensor, dtype: Any = None) -> Any:
    """`x.type()`: the name of its type; `x.type(dtype)`: the tensor in a dtype or type."""
    if dtype is None:
        return f"torch.{_TENSOR_TYPES[x.dtype]}"
    if type(dtype) is str:
        dtype = _OF_TYPES.get(dtype.removeprefix("torch."), dtype)
    return cast(session, x, dtype_name(dtype) or x.dtype)


def astype(
    session: Evaluator, site: Site | None, x: Tensor, dtype: Any, *, copy: Any = True
) -> Any:
    """NumPy's `x.astype(dtype)`: a copy, unless `copy` is false."""
    made = cast(session, x, dtype_name(dtype) or x.dtype)
    return session.do(ops.clone, [x], {}, site) if made is x and flag(copy, "copy") else made


_TENSOR_TYPES = {
    "float64": "DoubleTensor",
    "float32": "FloatTensor",
    "float16": "HalfTensor",
    "int64": "LongTensor",
    "int32": "IntTensor",
    "int16": "ShortTensor",
    "int8": "CharTensor",
    "uint8": "ByteTensor",
    "bool": "BoolTensor",
}
_OF_TYPES = {name: dtype for dtype, name in _TENSOR_TYPES.items()}
