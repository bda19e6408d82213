"""New tensors."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from gradcli.engine.ops.binding import static
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, host, torch_host
from gradcli.engine.ops.statics import UNSURE, Statics
from gradcli.engine.ops.tracing import Tracing
from gradcli.engine.tape.tensor import Tensor, leaf
from gradcli.engine.values import memory, refusals
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.conversion import converted, default_for, fitting
from gradcli.engine.values.data import NUMBERS, Data, dtype_of, np, plain, shape_of
from gradcli.engine.values.dtypes import dtype_name
from gradcli.engine.values.limits import QUESTION, check_memory
from gradcli.engine.values.sizes import (
    Shape,
    Size,
    common_dtype,
    describe,
    flag,
    number,
    sizes,
    whole,
)
from gradcli.errors import run_error

FAMILY = 310, "Making tensors"

OPTIONS: dict[str, Any] = {"dtype": None, "device": None, "requires_grad": False}
"""What every creation function takes."""


def made(data: Data, dtype: Any, device: Any, requires_grad: Any) -> Tensor:
    """A new tensor of the data, with the options that every creation function takes. Without a
    dtype floats get the default one.
    """
    check_device(device)
    name = dtype_name(dtype) or default_for(data)
    if name is not None and name != dtype_of(data):
        data = plain(fitting(data, name))
    if not flag(requires_grad, "requires_grad"):
        return Tensor(data)
    if not dtype_of(data).startswith("float"):
        raise refusals.needs_float(dtype_of(data), _with_points(data))
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


def inferred(known: Statics, shape: Any, dtype: Any, options: Mapping[str, Any]) -> Any:
    """A new tensor of that shape, if it is known, with the options."""
    leaf = known.static(options.get("requires_grad", False))
    return known.made(shape, known.dtype(options.get("dtype"), dtype), leaf)


def size_of(known: Statics, size: Any) -> Shape | None:
    """A size, None where it is not known."""
    asked = known.static(size)
    return None if asked is UNSURE or asked is None else sizes(asked)


# from values ------------------------------------------------------------------------------------


def constant_data(value: Any) -> Data:
    """Data of a number, a tensor or nested lists of them, apart from every graph."""
    if isinstance(value, (list, tuple, range)):
        return _joined([constant_data(item) for item in value])
    return _data_of_one(value)


def tensor_data(value: Any) -> Data:
    """The same where PyTorch makes a tensor: in a list with tensors that have dimensions, those of
    one element count as numbers.
    """
    if not isinstance(value, (list, tuple, range)):
        return _data_of_one(value)
    parts = [tensor_data(item) for item in value]
    if any(isinstance(item, Tensor) and item.ndim for item in value):
        pairs = zip(value, parts, strict=True)
        parts = [_single(part) if isinstance(item, Tensor) else part for item, part in pairs]
    return _joined(parts)


def _data_of_one(value: Any) -> Data:
    if isinstance(value, Tensor):
        return value.data if type(value.data) in NUMBERS else plain(np.array(value.data))
    if type(value) in NUMBERS:
        return value
    raise run_error(
        "wrong-type", f"a tensor is made of numbers and lists of them, got {describe(value)}"
    )


def _own_dtype(value: Any, data: Data) -> str | None:
    """The dtype of a tensor's values, or of a list's that holds tensors of floats; None of those
    that the program writes.
    """
    return dtype_of(data) if _holds_floats(value) else None


def _holds_floats(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.dtype.startswith("float") and not value.is_number
    return isinstance(value, (list, tuple)) and any(map(_holds_floats, value))


def made_of(
    value: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False
) -> Tensor:
    """A new tensor of a number, a tensor or nested lists of them."""
    data = tensor_data(value)
    if dtype is None and QUESTION.default_dtype != "float64":
        dtype = _own_dtype(value, data)
    return made(data, dtype, device, requires_grad)


def _single(data: Data) -> Data:
    """A tensor in a list: a number if it has one element, as in PyTorch."""
    return data.reshape(()) if type(data) not in NUMBERS and data.size == 1 else data


def _joined(parts: list[Data]) -> Data:
    if not parts:
        return np.zeros(0)
    shapes = {shape_of(part) for part in parts}
    if len(shapes) > 1:
        raise refusals.ragged(shapes)
    try:
        return np.array(parts, common_dtype(*parts))
    except OverflowError:
        raise run_error("integer-overflow", "an int in the list is outside 64 bits") from None


def _tensor(session: Any, data: Any, **options: Any) -> Any:
    if session.transparent and not any(options.values()):  # the values stay connected
        shape = shape_of(tensor_data(data))
        return session.do(ops.reshape, [session.tensor(data)], {"shape": shape})
    return made_of(data, **options)


def _tensor_of(known: Statics, data: Any, **options: Any) -> Any:
    value = known.of_numbers(data)
    return inferred(known, *like(value), options)


def like(value: Any) -> tuple[Any, Any]:
    """Shape and dtype of a value, as far as they are known."""
    return getattr(value, "shape", None), getattr(value, "dtype", None)


tensor: Op = torch_host(
    "tensor",
    _tensor,
    args=("data",),
    params=OPTIONS,
    infer=_tensor_of,
    traced=lambda code, data, dtype, device, requires_grad: code.cell(data, dtype, requires_grad),
    doc="A new tensor of a number, a list (of lists) of numbers, or a tensor's values. Ints make "
    "int64, floats float64, bools bool; `requires_grad=True` makes it a leaf to differentiate.",
)


def _as_tensor(known: Statics, data: Any, dtype: Any, device: Any) -> Any:
    value = known.of_numbers(data)
    shape, found = like(value)
    asked = known.dtype(dtype, found)
    if shape is None or found is None or asked is None:
        return known.unknown(data)
    return known.itself(value) if asked == found else known.made(shape, asked)


def _itself(code: Tracing, data: Any, dtype: Any, device: Any) -> Any:
    """The tensor itself; a number, of which a new tensor is made, has no code here."""
    if dtype is not None or type(code.like(data)) is not Tensor:
        raise code.refused("`as_tensor` makes a new tensor")
    return data


as_tensor: Op = torch_host(
    "as_tensor",
    lambda session, data, dtype, device: (
        data
        if isinstance(data, Tensor) and dtype_name(dtype) in (None, data.dtype)
        else made_of(data, dtype, device)
    ),
    args=("data",),
    params={"dtype": None, "device": None},
    infer=_as_tensor,
    traced=_itself,
    doc="The tensor itself, or a new one of a number or list.",
)


def _variable(session: Any, data: Any, requires_grad: Any, volatile: Any) -> Tensor:
    if isinstance(data, Tensor) and not flag(requires_grad, "requires_grad"):
        return data
    return made_of(data, requires_grad=requires_grad)


def _variable_of(known: Statics, data: Any, requires_grad: Any, volatile: Any) -> Any:
    value = known.of_numbers(data)
    leaf = known.static(requires_grad)
    if leaf is UNSURE or like(value)[0] is None:
        return known.unknown(data)
    return known.made(*like(value), leaf) if leaf else known.itself(value)


variable: Op = host(
    "Variable",
    _variable,
    args=("data",),
    params={"requires_grad": False, "volatile": False},
    infer=_variable_of,
    doc="Older name of making a tensor: `Variable(x, requires_grad=True)`. `volatile` has no "
    "effect, as in PyTorch today.",
    sees=False,
    source="PyTorch: autograd.Variable",
)


def of_dtype(name: str, dtype: str | None, doc: str) -> Op:
    """The entry of an older name for a tensor of a dtype, of the default one if it is None: of
    numbers, or of zeros of a size.
    """

    def call(session: Any, *values: Any, device: Any) -> Tensor:
        check_device(device)
        kind = dtype or QUESTION.default_dtype
        if len(values) == 1 and isinstance(values[0], (list, tuple, Tensor)):
            return Tensor(plain(converted(tensor_data(values[0]), kind)))
        size = sizes(values)
        check_memory(size)
        return Tensor(plain(np.zeros(size, kind)))

    def infer(known: Statics, *values: Any, device: Any) -> Any:
        given = known.of_numbers(values[0]) if len(values) == 1 else None
        if known.items(given) is None and getattr(given, "shape", None) == ():
            given = None  # one number is a size
        shape = like(given)[0] if given is not None else size_of(known, values)
        return known.made(shape, dtype or "float64")

    return torch_host(
        name,
        call,
        args=("*values=None",),
        params={"device": None},
        infer=infer,
        doc=doc,
    )


float_tensor: Op = of_dtype(
    "FloatTensor",
    None,
    "Older name of a tensor of floats: `FloatTensor([1, 2])`, or of zeros: `FloatTensor(2, "
    "3)`, of the default dtype.",
)
default_tensor: Op = of_dtype(
    "Tensor",
    None,
    "The type of all tensors, and an older name of a tensor of floats: `Tensor([1, 2])`, or of "
    "zeros: `Tensor(2, 3)`, of the default dtype.",
)


def _device(session: Any, type: Any) -> str:
    check_device(type)
    return "cpu"


device: Op = torch_host(
    "device",
    _device,
    args=("type",),
    infer=lambda known, type: known.constant("cpu"),
    doc='The device "cpu", the only one.',
)


def _size(session: Any, *values: Any) -> Size:
    items = session.items(values[0]) if values else []
    found = [static(item) for item in items]
    wrong = next((i for i, item in enumerate(found) if type(item) is not int), None)
    if wrong is not None:
        message = f"`Size` takes ints, item {wrong} is {describe(items[wrong])}"
        raise run_error("wrong-type", message)
    return Size(found)


size: Op = torch_host(
    "Size",
    _size,
    args=("*values=None",),
    infer=lambda known, *values: known.unknown(*values),
    doc="The size with these ints, as `x.shape` gives it: a tuple that prints as "
    "`torch.Size([2, 3])`.",
)


# of a size --------------------------------------------------------------------------------------


def filled(session: Any, size: Any, value: Any, **options: Any) -> Tensor:
    """A new tensor of the size, filled with one number."""
    size = sizes(size)
    check_memory(size)
    value = number(value, "fill_value")
    value = fitting(value, dtype_name(options["dtype"]) or dtype_of(value))
    return made(plain(np.full(size, value, dtype_of(value))), **options)


def of_size(known: Statics, size: Any, **options: Any) -> Any:
    """A new tensor of floats of the size."""
    return inferred(known, size_of(known, size), "float64", options)


def _filled(name: str, value: float, text: str) -> Op:
    return torch_host(
        name,
        lambda session, size, **options: filled(session, size, value, **options),
        params={"*size": REQUIRED, **OPTIONS},
        infer=of_size,
        doc=f"A new tensor of the size, {text}.",
    )


zeros: Op = _filled("zeros", 0.0, "filled with zeros")
ones: Op = _filled("ones", 1.0, "filled with ones")
empty: Op = _filled("empty", 0.0, "filled with zeros (PyTorch leaves the values open)")

full: Op = torch_host(
    "full",
    filled,
    args=("size", "fill_value"),
    params=OPTIONS,
    infer=lambda known, size, value, **options: inferred(
        known, size_of(known, size), like(value)[1], options
    ),
    doc="A new tensor of the size, filled with one number, whose dtype it gets.",
)


def numeric(session: Any, value: Any) -> Any:
    """The tensor or number that a value is; any other is refused."""
    found = session.operand(value)
    if not isinstance(found, Tensor) and type(found) not in NUMBERS:
        raise run_error("wrong-type", f"a tensor is needed, got {describe(found)}")
    return found


def filled_like(session: Any, like: Any, value: Any, **options: Any) -> Tensor:
    """A new tensor of the size and dtype of another, filled with one number."""
    like = numeric(session, like)
    if options["dtype"] is None:
        options["dtype"] = dtype_of(like)
    return laid_as(filled(session, shape_of(like), value, **options), like)


def laid_as(made: Tensor, like: Any) -> Tensor:
    """A new tensor whose elements have the order in memory of another's."""
    if made.ndim:
        made.data = memory.as_first(made.data, [data_of(like)])
    return made


def like_input(known: Statics, input: Any, *value: Any, **options: Any) -> Any:
    """A new tensor of the input's size and dtype."""
    return inferred(known, *like(known.tensor(input)), options)


def _filled_like(name: str, value: float, text: str) -> Op:
    return torch_host(
        name,
        lambda session, input, **options: filled_like(session, input, value, **options),
        args=("input",),
        params=OPTIONS,
        infer=like_input,
        doc=f"A new tensor of the input's size and dtype, filled with {text}.",
    )


zeros_like: Op = _filled_like("zeros_like", 0.0, "zeros")
ones_like: Op = _filled_like("ones_like", 1.0, "ones")
empty_like: Op = _filled_like("empty_like", 0.0, "zeros")

full_like: Op = torch_host(
    "full_like",
    filled_like,
    args=("input", "fill_value"),
    params=OPTIONS,
    infer=like_input,
    doc="A new tensor of the input's size and dtype, filled with one number.",
)


def _square(n: Any, m: Any) -> Shape:
    return sizes((n, n if m is None else m), "n")


def _eye(session: Any, n: Any, m: Any, **options: Any) -> Tensor:
    rows, columns = _square(n, m)
    check_memory((rows, columns))
    return made(np.eye(rows, columns), **options)


def _eye_of(known: Statics, n: Any, m: Any, **options: Any) -> Any:
    rows = known.static(n)
    columns = rows if m is None else known.static(m)
    shape = None if UNSURE in (rows, columns) else _square(rows, columns)
    return inferred(known, shape, "float64", options)


eye: Op = torch_host(
    "eye",
    _eye,
    args=("n", "m=None"),
    params=OPTIONS,
    infer=_eye_of,
    doc="The identity matrix of n rows (and m columns).",
)


# ranges -----------------------------------------------------------------------------------------


def range_of(start: Any, end: Any, step: Any) -> tuple[Any, Any, int]:
    """The first number of a range, the step and how many there are: fewer than none if the step
    leads away from the end.
    """
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
    exact = type(first) is int  # where a quotient of floats may miss one
    return first, by, -((first - last) // by) if exact else -int(-span // 1)


def _count(start: Any, end: Any, step: Any) -> tuple[Any, Any, int]:
    """A range that leads to its end, as PyTorch wants it."""
    first, by, count = range_of(start, end, step)
    if count < 0:
        last = start if end is None else end
        raise run_error("bad-argument", f"from {first} a step of {by} does not lead to {last}")
    return first, by, count


def _arange(session: Any, start: Any, end: Any, step: Any, **options: Any) -> Tensor:
    first, by, count = _count(start, end, step)
    check_memory((count,))
    return made(np.asarray(first) + np.arange(count) * np.asarray(by), **options)


def _arange_of(known: Statics, start: Any, end: Any, step: Any, **options: Any) -> Any:
    given = [known.static(n) for n in (start, end, step)]
    shape = None if UNSURE in given else (_count(*given)[2],)
    return inferred(known, shape, dtype_of_range(start, end, step), options)


def dtype_of_range(*bounds: Any) -> str | None:
    """The dtype of a range of what is known of its ends and its step."""
    dtypes = {like(n)[1] for n in bounds if n is not None}
    floats = any(str(dtype).startswith("float") for dtype in dtypes)
    return "float64" if floats else None if None in dtypes else "int64"


arange: Op = torch_host(
    "arange",
    _arange,
    args=("start", "end=None", "step=None"),
    params=OPTIONS,
    infer=_arange_of,
    doc="The numbers from `start` (0) on by `step` (1) up to `end`, without it. Ints make int64.",
)


def _linspace(session: Any, start: Any, end: Any, steps: Any, **options: Any) -> Tensor:
    (count,) = sizes((whole(steps, "steps"),), "steps")
    check_memory((count,))
    first, last = float(number(start, "start")), float(number(end, "end"))
    return made(np.linspace(first, last, count), **options)


def _steps(known: Statics, start: Any, end: Any, steps: Any, **options: Any) -> Any:
    count = known.static(steps)
    shape = None if count is UNSURE else sizes((whole(count, "steps"),), "steps")
    return inferred(known, shape, "float64", options)


linspace: Op = torch_host(
    "linspace",
    _linspace,
    args=("start", "end", "steps"),
    params=OPTIONS,
    infer=_steps,
    doc="`steps` numbers at equal distances from `start` to `end`, with both.",
)


def _logspace(
    session: Any, start: Any, end: Any, steps: Any, base: Any = 10.0, **options: Any
) -> Tensor:
    (count,) = sizes((whole(steps, "steps"),), "steps")
    check_memory((count,))
    first, last = float(number(start, "start")), float(number(end, "end"))
    exponents = np.linspace(first, last, count)
    return made(np.power(float(number(base, "base")), exponents), **options)


logspace: Op = torch_host(
    "logspace",
    _logspace,
    args=("start", "end", "steps"),
    params={"base": 10.0, **OPTIONS},
    infer=_steps,
    doc="`steps` powers of `base`, their exponents at equal distances from `start` to `end`.",
)
