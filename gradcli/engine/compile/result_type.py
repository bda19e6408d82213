"""Of which types are results of ops on arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.compile.typed import DTYPES, NotCompilable, along, array_type
from gradcli.engine.ops.op import Op
from gradcli.engine.values.carrier import Carrier, like_of
from gradcli.engine.values.data import NUMBERS, Quiet, np, plain, shape_of
from gradcli.engine.values.sizes import broadcast
from gradcli.errors import GradError
from gradcli.source import Span

_NUMBER_TYPES = {dtype: name for name, dtype in DTYPES.items()}


def result_type(op: Op, args: Sequence[Any], params: Mapping[str, Any], span: Span | None) -> str:
    """The type of what an op gives, of which dtype and shape of the arguments tell.

    Raises:
        NotCompilable: If they do not tell.
    """
    dtype, shape = _dtype_and_shape(op, args, params, span)
    if shape or not _is_number(op, args, params, span):
        return array_type(dtype, shape)
    return _NUMBER_TYPES[dtype]


def type_along(
    op: Op, args: Sequence[Any], params: Mapping[str, Any], count: int, span: Span | None
) -> str:
    """The type of what an op gives along several directions.

    Raises:
        NotCompilable: If the arguments do not tell.
    """
    return along(array_type(*_dtype_and_shape(op, args, params, span)), count)


def _dtype_and_shape(
    op: Op, args: Sequence[Any], params: Mapping[str, Any], span: Span | None
) -> tuple[str, tuple[int, ...]]:
    if op.array is None or op.host is not None or isinstance(op.dtype, list):
        raise NotCompilable(f"`{op.name}` of a tensor", span)
    try:
        shape, dtype = _shape(op, args, params), op.dtype(*args, **params)
    except (GradError, TypeError, AttributeError) as error:
        raise NotCompilable(f"`{op.name}` of these tensors: {error}", span) from None
    if isinstance(shape, list):
        raise NotCompilable(f"`{op.name}` of a tensor gives several", span)
    if shape is None or dtype not in _NUMBER_TYPES:
        raise NotCompilable(f"`{op.name}` gives a tensor of what is known only when it runs", span)
    return dtype, shape


def _shape(op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    shapes = [None if a is None else shape_of(a) for a in args]
    if op.shape is not None:
        return op.shape(*shapes, **params)
    return broadcast(*(s for s in shapes if s is not None)) if op.elementwise else None


def _is_number(op: Op, args: Sequence[Any], params: Mapping[str, Any], span: Span | None) -> bool:
    """Whether a result without dimensions is a number, and no array that shows a part of another:
    tried on ones.
    """
    ones = [_ones(a) for a in args]
    try:
        with Quiet():
            found = op.array(*ones, **params)  # type: ignore[misc]  # it has one
    except (GradError, TypeError, ValueError, ArithmeticError):
        raise NotCompilable(f"`{op.name}` of a tensor", span) from None
    return type(plain(found)) in NUMBERS


def _ones(x: Any) -> Any:
    if not isinstance(x, Carrier):
        return x
    if x.is_number and like_of(x).dtype == "int64":  # it may be a place
        return 0
    one = {"float64": 1.0, "int64": 1, "bool": True}[x.dtype]  # type: ignore[attr-defined]
    return np.broadcast_to(one, (1, *x.shape))[0, ...] if x.is_number is False else one  # type: ignore[attr-defined]
