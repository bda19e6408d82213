"""NumPy's new arrays. Those of values that are differentiated are connected to them, as in JAX and
autograd.
"""

from __future__ import annotations

from typing import Any

from gradcli.engine.builtins.create import (
    OPTIONS,
    constant_data,
    dtype_of_range,
    filled,
    filled_like,
    inferred,
    like,
    made,
    numeric,
    range_of,
    size_of,
)
from gradcli.engine.builtins.names.numpy import moves
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, host
from gradcli.engine.ops.statics import UNSURE, Statics
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import dtype_of, np, shape_of
from gradcli.engine.values.dtypes import dtype_name
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import flag, number, sizes, whole

FAMILY = 353, "NumPy's new arrays"


def _cast(session: Any, found: Any, dtype: Any) -> Any:
    name = dtype_name(dtype)
    return found if name is None else session.do(ops.cast, [found], {"dtype": name})


# of given elements ------------------------------------------------------------------------------


def _array(session: Any, value: Any, dtype: Any, ndmin: Any, **options: Any) -> Any:
    least = whole(ndmin, "ndmin")
    if not moves(session, value):
        data = constant_data(value)
        data = np.array(data, ndmin=least) if least > np.ndim(data) else data
        return made(data, dtype_of(data) if dtype is None else dtype, None, False)
    if isinstance(value, Tensor):
        found = session.do(ops.clone, [value], {})
    else:
        found = session.array(value)
    found = _cast(session, found, dtype)
    shape = shape_of(found)
    if least <= len(shape):
        return found
    return session.do(ops.reshape, [found], {"shape": (*[1] * (least - len(shape)), *shape)})


def _array_of(known: Statics, value: Any, dtype: Any, ndmin: Any, **options: Any) -> Any:
    found = known.tensor(value)
    shape, own = like(found)
    least = known.static(ndmin)
    if shape is None or least is UNSURE:
        return known.unknown(value)
    shape = (*[1] * (least - len(shape)), *shape)
    return known.like(known.itself(found), shape, known.dtype(dtype, own))


array: Op = host(
    "numpy_array",
    _array,
    args=("object",),
    params={"dtype": None, "copy": True, "ndmin": 0},
    infer=_array_of,
    doc="`np.array`: a new tensor of numbers, lists and tensors, connected to them.",
    source="NumPy: array",
)


def _itself(session: Any, value: Any, dtype: Any, copy: Any, **options: Any) -> Any:
    is_it = type(value) is Tensor and (dtype is None or dtype_name(dtype) == value.dtype)
    if is_it and copy is not True:
        return value
    return _array(session, value, dtype, 0)


def _itself_of(known: Statics, value: Any, dtype: Any, copy: Any, **options: Any) -> Any:
    given = getattr(value, "kind", "tensor")  # a list has none and is no array yet
    if given == "number" or not hasattr(value, "kind"):
        return _array_of(known, value, dtype, 0)
    alone = given == "tensor" and known.static(dtype) is None and known.static(copy) is not True
    return value if alone else known.unknown(value)


def _itself_traced(code: Any, value: Any, dtype: Any, copy: Any, **options: Any) -> Any:
    if type(value) is list or not code.are_tensors(value) or dtype is not None or copy is True:
        raise code.refused("an array is made of a value known only at run time")
    return value


asarray: Op = host(
    "numpy_asarray",
    _itself,
    traced=_itself_traced,
    args=("a",),
    params={"dtype": None, "order": None, "copy": None, "device": None},
    infer=_itself_of,
    doc="`np.asarray`: an array itself, and an array of anything else, connected to it.",
    source="NumPy: asarray",
)


def _full(session: Any, shape: Any, value: Any, dtype: Any, **options: Any) -> Any:
    found = session.array(value)
    if not isinstance(found, Tensor):
        return filled(session, shape, value, dtype=dtype, **options)
    size = sizes(shape, "shape")
    check_memory(size)
    spread = session.do(ops.broadcast_to, [found], {"size": size})
    return session.do(ops.clone, [_cast(session, spread, dtype)], {})


def _full_like(session: Any, given: Any, value: Any, dtype: Any, **options: Any) -> Any:
    given = numeric(session, session.array(given))
    if not isinstance(session.array(value), Tensor):
        return filled_like(session, given, value, dtype=dtype, **options)
    return _full(session, shape_of(given), value, dtype_of(given) if dtype is None else dtype)


full_: Op = host(
    "numpy_full",
    _full,
    args=("shape", "fill_value"),
    params=OPTIONS,
    infer=lambda known, size, value, **options: inferred(
        known, size_of(known, size), like(value)[1], options
    ),
    doc="`np.full`: a new tensor of the shape, filled with a number or with the elements of a row.",
    source="NumPy: full",
)
full_like_: Op = host(
    "numpy_full_like",
    _full_like,
    args=("input", "fill_value"),
    params=OPTIONS,
    infer=lambda known, input, value, **options: inferred(
        known, *like(known.tensor(input)), options
    ),
    doc="`np.full_like`: a new tensor of the input's shape and dtype, filled with a number.",
    source="NumPy: full_like",
)


def _new(name: str, value: float, text: str) -> Op:
    return host(
        f"numpy_{name}",
        lambda session, shape, **options: filled(session, shape, value, **options),
        args=("shape",),
        params=OPTIONS,
        infer=lambda known, shape, **options: inferred(
            known, size_of(known, shape), "float64", options
        ),
        doc=f"`np.{name}`: a new tensor of the shape, {text}.",
        source=f"NumPy: {name}",
        sees=False,
    )


zeros_: Op = _new("zeros", 0.0, "filled with zeros")
ones_: Op = _new("ones", 1.0, "filled with ones")
empty_: Op = _new("empty", 0.0, "filled with zeros (NumPy leaves the values open)")


# at equal distances -----------------------------------------------------------------------------


def _linspace(session: Any, start: Any, stop: Any, num: Any, endpoint: Any, dtype: Any) -> Any:
    (count,) = sizes((whole(num, "num"),), "num")
    check_memory((count,))
    closed = flag(endpoint, "endpoint")
    if moves(session, start, stop):
        return _cast(session, _spaced(session, start, stop, count, closed), dtype)
    first, last = float(number(start, "start")), float(number(stop, "stop"))
    found = np.linspace(first, last, count, closed)
    return made(found, "float64" if dtype is None else dtype, None, False)


def _spaced(session: Any, start: Any, stop: Any, count: int, closed: bool) -> Any:
    """Numbers at equal distances by ops, in NumPy's order of rounding."""

    def do(op: Op, *args: Any) -> Any:
        return session.do(op, [*args], op.defaults)

    start, stop = (do(ops.mul, *session.operands(ops.mul, [v, 1.0])) for v in (start, stop))
    places = Tensor(np.arange(0, count, dtype=float))
    gaps = count - 1 if closed else count
    distance = do(ops.sub, stop, start)
    step = do(ops.div, distance, float(gaps)) if gaps > 0 else distance
    found = do(ops.add, do(ops.mul, places, step), start)
    if not closed or count < 2:
        return found
    but_last = session.do(ops.getitem, [found], {"index": slice(None, -1)})
    end = session.do(ops.reshape, [stop], {"shape": (1,)})
    return session.do(ops.cat, [but_last, end], {"dim": 0})


def _counted(known: Statics, start: Any, stop: Any, num: Any, **options: Any) -> Any:
    count = known.static(num)
    return inferred(known, None if count is UNSURE else (count,), "float64", options)


linspace: Op = host(
    "numpy_linspace",
    _linspace,
    args=("start", "stop"),
    params={"num": 50, "endpoint": True, "dtype": None},
    infer=lambda known, start, stop, num, endpoint, dtype: _counted(
        known, start, stop, num, dtype=dtype
    ),
    doc="`np.linspace`: `num` (50) numbers at equal distances from start to stop.",
    source="NumPy: linspace",
)


def _logspace(
    session: Any, start: Any, stop: Any, num: Any, endpoint: Any, base: Any, dtype: Any
) -> Any:
    exponents = _linspace(session, start, stop, num, endpoint, None)
    if moves(session, start, stop, base):
        return _cast(session, session.do(ops.pow, [base, exponents], ops.pow.defaults), dtype)
    found = number(base, "base") ** exponents.data
    return made(found, "float64" if dtype is None else dtype, None, False)


logspace: Op = host(
    "numpy_logspace",
    _logspace,
    args=("start", "stop"),
    params={"num": 50, "endpoint": True, "base": 10.0, "dtype": None},
    infer=lambda known, start, stop, num, endpoint, base, dtype: _counted(
        known, start, stop, num, dtype=dtype
    ),
    doc="`np.logspace`: powers of `base` with exponents at equal distances.",
    source="NumPy: logspace",
)


def _arange(session: Any, start: Any, stop: Any, step: Any, **options: Any) -> Any:
    first, by, count = range_of(start, stop, step)
    check_memory((max(count, 0),))
    second = first + by
    found = np.asarray(first) + np.arange(max(count, 0)) * np.asarray(second - first)
    return made(found, **options)


def _arange_of(known: Statics, start: Any, stop: Any, step: Any, **options: Any) -> Any:
    given = [known.static(n) for n in (start, stop, step)]
    shape = None if UNSURE in given else (max(range_of(*given)[2], 0),)
    return inferred(known, shape, dtype_of_range(start, stop, step), options)


arange: Op = host(
    "numpy_arange",
    _arange,
    args=("start", "stop=None", "step=None"),
    params=OPTIONS,
    infer=_arange_of,
    sees=False,
    doc="`np.arange`: the numbers from `start` (0) on by `step` (1) up to `stop`, without it; none "
    "if the step leads away from it.",
    source="NumPy: arange",
)
