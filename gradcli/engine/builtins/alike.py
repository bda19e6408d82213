"""New tensors of the dtype of another, tensors of a dtype by name, and type tests."""

from __future__ import annotations

from typing import Any

from gradcli.engine.builtins.create import (
    OPTIONS,
    constant_data,
    inferred,
    like,
    made,
    numeric,
    of_dtype,
    size_of,
    tensor_data,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, host, torch_host
from gradcli.engine.ops.statics import Statics
from gradcli.engine.run.language import members
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.engine.values.conversion import converted, fitting
from gradcli.engine.values.data import dtype_of, np, plain, shape_of
from gradcli.engine.values.dtypes import dtype_name
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import broadcast, number, sizes
from gradcli.errors import run_error

FAMILY = 312, "Tensors like others"


def _dtype(session: Any, x: Any, asked: Any) -> str:
    """The dtype that is asked for, that of the tensor if none is."""
    x = numeric(session, x)
    return dtype_name(asked) or dtype_of(x)


def _new_full(session: Any, x: Any, size: Any, value: Any, **options: Any) -> Tensor:
    dtype, size = _dtype(session, x, options["dtype"]), sizes(size)
    check_memory(size)
    value = fitting(number(value, "fill_value"), dtype)
    options["dtype"] = dtype
    return made(plain(np.full(size, value, dtype)), **options)


def _new_of(known: Statics, x: Any, size: Any, *value: Any, **options: Any) -> Any:
    return inferred(known, size_of(known, size), like(known.tensor(x))[1], options)


def _new_filled(name: str, value: float, text: str) -> Op:
    return torch_host(
        name,
        lambda session, x, size, **options: _new_full(session, x, size, value, **options),
        args=("input",),
        params={"*size": REQUIRED, **OPTIONS},
        infer=_new_of,
        doc=f"A new tensor of the size and of the input's dtype, filled with {text}.",
        method=True,
    )


new_zeros: Op = _new_filled("new_zeros", 0.0, "zeros")
new_ones: Op = _new_filled("new_ones", 1.0, "ones")
new_empty: Op = _new_filled("new_empty", 0.0, "zeros (PyTorch leaves the values open)")

new_full: Op = torch_host(
    "new_full",
    _new_full,
    args=("input", "size", "fill_value"),
    params=OPTIONS,
    infer=_new_of,
    doc="A new tensor of the size and of the input's dtype, filled with one number.",
    method=True,
)


def _new_tensor(session: Any, x: Any, data: Any, **options: Any) -> Tensor:
    dtype = _dtype(session, x, options["dtype"])
    options["dtype"] = dtype
    return made(plain(converted(tensor_data(data), dtype)), **options)


def _new_tensor_of(known: Statics, x: Any, data: Any, **options: Any) -> Any:
    shape = like(known.of_numbers(data))[0]
    return inferred(known, shape, like(known.tensor(x))[1], options)


new_tensor: Op = torch_host(
    "new_tensor",
    _new_tensor,
    args=("input", "data"),
    params=OPTIONS,
    infer=_new_tensor_of,
    doc="A new tensor of numbers or of a tensor's values, of the input's dtype.",
    method=True,
)


# of a dtype by name -----------------------------------------------------------------------------


def _typed(name: str, dtype: str) -> Op:
    doc = f"Older name of a tensor of dtype {dtype}: `{name}([1, 2])`, or of zeros: `{name}(2)`."
    return of_dtype(name, dtype, doc)


LongTensor: Op = _typed("LongTensor", "int64")
IntTensor: Op = _typed("IntTensor", "int32")
ShortTensor: Op = _typed("ShortTensor", "int16")
CharTensor: Op = _typed("CharTensor", "int8")
ByteTensor: Op = _typed("ByteTensor", "uint8")
DoubleTensor: Op = _typed("DoubleTensor", "float64")
HalfTensor: Op = _typed("HalfTensor", "float16")
BoolTensor: Op = _typed("BoolTensor", "bool")


# of the dtype of another ------------------------------------------------------------------------


def _type_as(session: Any, x: Any, other: Any) -> Any:
    x, dtype = session.tensor(x), _dtype(session, other, None)
    _dtype(session, x, None)
    return x if dtype_of(x) == dtype else session.do(ops.cast, [x], {"dtype": dtype})


def _type_as_of(known: Statics, x: Any, other: Any) -> Any:
    shape, dtype = like(known.tensor(x))
    asked = like(known.tensor(other))[1]
    if None in (shape, dtype, asked):
        return known.unknown(x)
    return known.itself(x) if dtype == asked else known.like(x, shape, asked)


type_as: Op = host(
    "type_as",
    _type_as,
    args=("input", "other"),
    infer=_type_as_of,
    doc="The input in the dtype of `other`.",
    source="PyTorch: type_as",
    method=True,
)


# what a value is --------------------------------------------------------------------------------

is_tensor: Op = torch_host(
    "is_tensor",
    lambda session, value: isinstance(value, Tensor) and not isinstance(value, Number),
    args=("value",),
    infer=lambda known, value: known.number("bool"),
    doc="True if a value is a tensor.",
)


def _floats_of(known: Statics, x: Any) -> Any:
    dtype = like(known.tensor(x))[1]
    return known.number("bool") if dtype is None else known.constant(dtype.startswith("float"))


is_floating_point: Op = torch_host(
    "is_floating_point",
    lambda session, x: _dtype(session, x, None).startswith("float"),
    args=("input",),
    infer=_floats_of,
    traced=lambda code, x: dtype_of(code.like(x)).startswith("float"),
    doc="True if the elements are floats.",
    method=True,
)

is_complex: Op = torch_host(
    "is_complex",
    lambda session, x: _dtype(session, x, None) is None,
    args=("input",),
    infer=lambda known, x: known.constant(False),
    doc="False: there are no complex numbers.",
    method=True,
)


scalar_tensor: Op = torch_host(
    "scalar_tensor",
    lambda session, value, **options: made(float(number(value, "s")), **options),
    args=("s",),
    params=OPTIONS,
    infer=lambda known, value, **options: inferred(known, (), "float64", options),
    doc="A new tensor of one number, without dimensions.",
)


def _sum_to_size(session: Any, x: Any, size: Any) -> Any:
    x, asked = session.tensor(x), sizes(size)
    _dtype(session, x, None)
    shape = shape_of(x)
    if broadcast(shape, asked) != shape:
        message = f"a tensor of shape {list(shape)} cannot be summed to {list(asked)}"
        raise run_error("shape-mismatch", message)
    extra = len(shape) - len(asked)
    dims = [i for i, n in enumerate(shape) if i < extra or (asked[i - extra] == 1 and n != 1)]
    if not dims:
        return x
    summed = session.do(ops.sum, [x], {"dim": tuple(dims), "keepdim": True, "dtype": None})
    return session.do(ops.reshape, [summed], {"shape": asked})


sum_to_size: Op = host(
    "sum_to_size",
    _sum_to_size,
    args=("input",),
    params={"*size": REQUIRED},
    infer=lambda known, x, size: known.unknown(x),
    doc="The sums of the input over the dimensions along which the size broadcasts to it.",
    source="PyTorch: sum_to_size",
    method=True,
)


# constants --------------------------------------------------------------------------------------


def _detach(session: Any, x: Any) -> Any:
    x = session.tensor(x)
    _dtype(session, x, None)
    return members.call(session, None, x, "detach", (), {}) if isinstance(x, Tensor) else x


detach: Op = host(
    "detach",
    _detach,
    args=("input",),
    doc="The value without its history, on the same memory: a constant.",
    source="PyTorch: detach",
)


# memory shared with arrays ----------------------------------------------------------------------


from_numpy: Op = torch_host(
    "from_numpy",
    lambda session, ndarray: (
        ndarray if isinstance(ndarray, Tensor) else Tensor(constant_data(ndarray))
    ),
    args=("ndarray",),
    infer=lambda known, ndarray: known.itself(known.tensor(ndarray)),
    doc="A tensor of an array, which is the array: there is one kind of both.",
)
