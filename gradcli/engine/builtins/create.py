"""New tensors."""

from __future__ import annotations

from math import isfinite
from typing import Any

from gradcli.engine.ops.op import REQUIRED, Op, host
from gradcli.engine.tape.tensor import Tensor, leaf
from gradcli.engine.values.data import NUMBERS, Data, dtype_of, np, plain, shape_of
from gradcli.engine.values.dtypes import dtype_name
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import describe, number, sizes, whole
from gradcli.errors import run_error

FAMILY = 310, "Making tensors"

OPTIONS: dict[str, Any] = {"dtype": None, "device": None, "requires_grad": False}
"""What every creation function takes."""


def made(session: Any, data: Data, dtype: Any, device: Any, requires_grad: Any) -> Tensor:
    """A new tensor of the data, with the options that every creation function takes."""
    check_device(device)
    name = dtype_name(dtype)
    if name is not None and name != dtype_of(data):
        data = plain(np.asarray(data).astype(name))
    if not session.truth(requires_grad):
        return Tensor(data)
    if not dtype_of(data).startswith("float"):
        raise run_error(
            "needs-float",
            f"a tensor of dtype {dtype_of(data)} cannot require grad: only floats have derivatives",
            help=_with_points(data),
        )
    return leaf(data)


def _with_points(data: Data) -> str:
    if type(data) is int:
        return f"write the number with a point: `tensor({data}.0, requires_grad=True)`"
    return (
        "write the numbers with a point, as in `tensor([1.0, 2.0], requires_grad=True)`, or pass "
        "`dtype=float64`"
    )


def check_device(device: Any) -> None:
    """Refuse devices that are not there."""
    if device is not None and not (isinstance(device, str) and device.split(":")[0] == "cpu"):
        raise run_error("bad-argument", f'the only device is "cpu", got {describe(device)}')


# from values ------------------------------------------------------------------------------------


def constant_data(value: Any) -> Data:
    """Data of a number, a tensor or nested lists of them, apart from every graph."""
    if isinstance(value, Tensor):
        return value.data if type(value.data) in NUMBERS else plain(np.array(value.data))
    if type(value) in NUMBERS:
        return value
    if isinstance(value, (list, tuple, range)):
        return _from_items(value)
    raise run_error(
        "wrong-type", f"a tensor is made of numbers and lists of them, got {describe(value)}"
    )


def _from_items(items: Any) -> Any:
    parts = [constant_data(item) for item in items]
    if not parts:
        return np.zeros(0)
    shapes = {shape_of(part) for part in parts}
    if len(shapes) > 1:
        shown = " and ".join(str(list(s)) for s in sorted(shapes)[:2])
        raise run_error(
            "ragged-list",
            f"a list becomes a tensor only if its rows are of one shape, got the shapes {shown}",
        )
    try:
        return np.array(parts)
    except OverflowError:
        raise run_error("integer-overflow", "an int in the list is outside 64 bits") from None


def _tensor(session: Any, data: Any, **options: Any) -> Any:
    if session.transparent and not any(options.values()):  # the values stay connected
        return session.tensor(data)
    return made(session, constant_data(data), **options)


tensor: Op = host(
    "tensor",
    _tensor,
    args=("data",),
    params=OPTIONS,
    doc="A new tensor of a number, a list (of lists) of numbers, or a tensor's values. Ints make "
    "int64, floats float64, bools bool; `requires_grad=True` makes it a leaf to differentiate.",
    source="PyTorch: tensor",
)

as_tensor: Op = host(
    "as_tensor",
    lambda session, data, dtype, device: (
        data
        if isinstance(data, Tensor) and dtype_name(dtype) in (None, data.dtype)
        else made(session, constant_data(data), dtype, device, False)
    ),
    args=("data",),
    params={"dtype": None, "device": None},
    doc="The tensor itself, or a new one of a number or list.",
    source="PyTorch: as_tensor",
)


def _variable(session: Any, data: Any, requires_grad: Any, volatile: Any) -> Tensor:
    if isinstance(data, Tensor) and not session.truth(requires_grad):
        return data
    return made(session, constant_data(data), None, None, requires_grad)


variable: Op = host(
    "Variable",
    _variable,
    args=("data",),
    params={"requires_grad": False, "volatile": False},
    doc="Older name of making a tensor: `Variable(x, requires_grad=True)`. `volatile` has no "
    "effect, as in PyTorch today.",
    source="PyTorch: autograd.Variable",
)


def _float_tensor(session: Any, *values: Any) -> Tensor:
    if len(values) == 1 and isinstance(values[0], (list, tuple, Tensor)):
        data = np.asarray(constant_data(values[0])).astype(np.float64)
        return Tensor(plain(data))
    size = sizes(values)
    check_memory(size)
    return Tensor(plain(np.zeros(size)))


float_tensor: Op = host(
    "FloatTensor",
    _float_tensor,
    args=("*values=None",),
    doc="Older name of a tensor of floats: `FloatTensor([1, 2])`, or of zeros: `FloatTensor(2, "
    "3)`. It is float64, as all floats of the language.",
    source="PyTorch: FloatTensor",
    aliases=("DoubleTensor", "Tensor"),
)


def _device(session: Any, type: Any) -> str:
    check_device(type)
    return "cpu"


device: Op = host(
    "device",
    _device,
    args=("type",),
    doc='The device "cpu", the only one.',
    source="PyTorch: device",
)


# of a size --------------------------------------------------------------------------------------


def _full(session: Any, size: Any, value: Any, **options: Any) -> Tensor:
    size = sizes(size)
    check_memory(size)
    value = number(value, "fill_value")
    name = dtype_name(options["dtype"]) or dtype_of(value)
    return made(session, plain(np.full(size, value, name)), **options)


def _filled(name: str, value: float, text: str) -> Op:
    return host(
        name,
        lambda session, size, **options: _full(session, size, value, **options),
        params={"*size": REQUIRED, **OPTIONS},
        doc=f"A new tensor of the size, {text}.",
        source=f"PyTorch: {name}",
    )


zeros: Op = _filled("zeros", 0.0, "filled with zeros")
ones: Op = _filled("ones", 1.0, "filled with ones")
empty: Op = _filled("empty", 0.0, "filled with zeros (PyTorch leaves the values open)")

full: Op = host(
    "full",
    _full,
    args=("size", "fill_value"),
    params=OPTIONS,
    doc="A new tensor of the size, filled with one number, whose dtype it gets.",
    source="PyTorch: full",
)


def _full_like(session: Any, like: Any, value: Any, **options: Any) -> Tensor:
    like = session.tensor(like)
    if not isinstance(like, Tensor) and type(like) not in NUMBERS:
        raise run_error("wrong-type", f"a tensor is needed, got {describe(like)}")
    if options["dtype"] is None:
        options["dtype"] = dtype_of(like)
    return _full(session, shape_of(like), value, **options)


def _filled_like(name: str, value: float, text: str) -> Op:
    return host(
        name,
        lambda session, input, **options: _full_like(session, input, value, **options),
        args=("input",),
        params=OPTIONS,
        doc=f"A new tensor of the input's size and dtype, filled with {text}.",
        source=f"PyTorch: {name}",
        method=False,
    )


zeros_like: Op = _filled_like("zeros_like", 0.0, "zeros")
ones_like: Op = _filled_like("ones_like", 1.0, "ones")
empty_like: Op = _filled_like("empty_like", 0.0, "zeros")

full_like: Op = host(
    "full_like",
    _full_like,
    args=("input", "fill_value"),
    params=OPTIONS,
    doc="A new tensor of the input's size and dtype, filled with one number.",
    source="PyTorch: full_like",
)


def _eye(session: Any, n: Any, m: Any, **options: Any) -> Tensor:
    rows, columns = sizes((n, n if m is None else m), "n")
    check_memory((rows, columns))
    return made(session, np.eye(rows, columns), **options)


eye: Op = host(
    "eye",
    _eye,
    args=("n", "m=None"),
    params=OPTIONS,
    doc="The identity matrix of n rows (and m columns).",
    source="PyTorch: eye",
)


# ranges -----------------------------------------------------------------------------------------


def _arange(session: Any, start: Any, end: Any, step: Any, **options: Any) -> Tensor:
    if end is None:
        start, end = 0, start
    first, last = number(start, "start"), number(end, "end")
    by = number(1 if step is None else step, "step")
    if float in (type(first), type(last), type(by)):
        first = float(first)
    if by == 0:
        raise run_error("bad-argument", "`step` cannot be 0")
    span = (last - first) / by
    if not isfinite(span):
        raise run_error("bad-argument", f"there is no range from {first} to {last}")
    if span < 0:
        raise run_error("bad-argument", f"from {first} a step of {by} does not lead to {last}")
    count = -int(-span // 1)
    check_memory((count,))
    return made(session, np.asarray(first) + np.arange(count) * np.asarray(by), **options)


arange: Op = host(
    "arange",
    _arange,
    args=("start", "end=None", "step=None"),
    params=OPTIONS,
    doc="The numbers from `start` (0) on by `step` (1) up to `end`, without it. Ints make int64.",
    source="PyTorch: arange",
)


def _linspace(session: Any, start: Any, end: Any, steps: Any, **options: Any) -> Tensor:
    (count,) = sizes((whole(steps, "steps"),), "steps")
    check_memory((count,))
    first, last = float(number(start, "start")), float(number(end, "end"))
    return made(session, np.linspace(first, last, count), **options)


linspace: Op = host(
    "linspace",
    _linspace,
    args=("start", "end", "steps"),
    params=OPTIONS,
    doc="`steps` numbers at equal distances from `start` to `end`, with both.",
    source="PyTorch: linspace",
)


def _logspace(
    session: Any, start: Any, end: Any, steps: Any, base: Any = 10.0, **options: Any
) -> Tensor:
    (count,) = sizes((whole(steps, "steps"),), "steps")
    check_memory((count,))
    first, last = float(number(start, "start")), float(number(end, "end"))
    exponents = np.linspace(first, last, count)
    return made(session, np.power(float(number(base, "base")), exponents), **options)


logspace: Op = host(
    "logspace",
    _logspace,
    args=("start", "end", "steps"),
    params={"base": 10.0, **OPTIONS},
    doc="`steps` powers of `base`, their exponents at equal distances from `start` to `end`.",
    source="PyTorch: logspace",
)
