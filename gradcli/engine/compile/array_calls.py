"""The functions that generated Python code calls for ops on arrays: the interpreter's own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.compile.contiguity import Function, direct
from gradcli.engine.compile.typed import (
    Do,
    DoSeveral,
    Placed,
    PlacedSeveral,
    dtype_and_shape,
    is_array,
    type_of,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.extent import FEW
from gradcli.engine.ops.op import Op
from gradcli.engine.tape.tensor import placed
from gradcli.engine.values.data import np, plain


def function(i: Do, dense: frozenset[int]) -> Function:
    """Return the function that computes an op on arrays. The `dense` arrays are contiguous."""
    op, params = ops[i.op], dict(i.params)
    found = direct(i, dense)
    if found is not None:
        return found
    value = _value(op, params, [type_of(x) for x in (*i.args, i.target)])
    return _placed(op, value) if isinstance(i, Placed) and is_array(i.target.type) else value


def several(i: DoSeveral) -> Function:
    """Return the function that computes the several results of an op on arrays."""
    op, params = ops[i.op], dict(i.params)

    def values(*args: Any) -> Any:
        return op.on_arrays(args, params)

    if not isinstance(i, PlacedSeveral):
        return values

    def on_tensors(*args: Any) -> Any:
        return [placed(op, out, args, k) for k, out in enumerate(values(*args))]

    return on_tensors


def _value(op: Op, params: Mapping[str, Any], types: Sequence[str]) -> Function:
    array = op.value.array
    assert array is not None
    if math.prod(math.prod(dtype_and_shape(t)[1]) for t in types if t != "none") > FEW:
        return lambda *args: op.on_arrays(args, params)
    if not params:
        return lambda *args: plain(array(*args))
    return lambda *args: plain(array(*args, **params))


def _placed(op: Op, value: Function) -> Function:
    if not op.memory.view:
        return lambda *args: placed(op, value(*args), args, 0)

    def view(x: Any, *rest: Any) -> Any:
        x = np.asarray(x)  # a view of a number uses the memory of the array
        return placed(op, value(x, *rest), (x, *rest), 0)

    return view
