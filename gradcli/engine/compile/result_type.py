"""Types of the results of ops on arrays."""

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
    """Return the type of the result of an op, from the dtypes and shapes of its arguments.

    Raises:
        NotCompilable: If they do not determine it.
    """
    dtype, shape = _dtype_and_shape(op, args, params, span)
    if shape or not _is_number(op, args, params, span):
        return array_type(dtype, shape)
    return _NUMBER_TYPES[dtype]


def result_types(
    op: Op, args: Sequence[Any], params: Mapping[str, Any], span: Span | None
) -> list[str]:
    """Return the types of the results of an op with several.

    Raises:
        NotCompilable: If its arguments do not determine them.
    """
    found = _told(op, args, params, span)
    if not isinstance(op.statics.dtype, list) or not isinstance(found, list):
        raise NotCompilable(f"`{op.name}` of these tensors", span)
    rules = op.statics.dtype * len(found) if len(op.statics.dtype) == 1 else op.statics.dtype
    dtypes = [rule(*args, **params) for rule in rules]
    if not _NUMBER_TYPES.keys() >= set(dtypes) or None in found:
        raise _unknown(op, span)
    numbers = [False] * len(found) if all(found) else _are_numbers(op, args, params, span)
    return [
        _NUMBER_TYPES[dtype] if is_number and not shape else array_type(dtype, shape)
        for dtype, shape, is_number in zip(dtypes, found, numbers, strict=True)
    ]


def type_along(
    op: Op, args: Sequence[Any], params: Mapping[str, Any], count: int, span: Span | None
) -> str:
    """Return the type of the result of an op along several directions.

    Raises:
        NotCompilable: If its arguments do not determine it.
    """
    return along(array_type(*_dtype_and_shape(op, args, params, span)), count)


def _dtype_and_shape(
    op: Op, args: Sequence[Any], params: Mapping[str, Any], span: Span | None
) -> tuple[str, tuple[int, ...]]:
    if isinstance(op.statics.dtype, list):
        raise NotCompilable(f"`{op.name}` of a tensor gives several", span)
    shape = _told(op, args, params, span)
    dtype = op.statics.dtype(*args, **params)
    if shape is None or dtype not in _NUMBER_TYPES:
        raise _unknown(op, span)
    return dtype, shape


def _told(op: Op, args: Sequence[Any], params: Mapping[str, Any], span: Span | None) -> Any:
    """Return the shape of the result of an op, or the shapes of its several results."""
    if op.value.array is None or op.host.call is not None:
        raise NotCompilable(f"`{op.name}` of a tensor", span)
    try:
        for rule in op.statics.dtype if isinstance(op.statics.dtype, list) else [op.statics.dtype]:
            rule(*args, **params)
        return _shape(op, args, params)
    except (GradError, TypeError, AttributeError) as error:
        raise NotCompilable(f"`{op.name}` of these tensors: {error}", span) from None


def _unknown(op: Op, span: Span | None) -> NotCompilable:
    return NotCompilable(f"`{op.name}` gives a tensor of a type known only at run time", span)


def _shape(op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    shapes = [None if a is None else shape_of(a) for a in args]
    if op.statics.shape is not None:
        return op.statics.shape(*shapes, **params)
    return broadcast(*(s for s in shapes if s is not None)) if op.elementwise else None


def _is_number(op: Op, args: Sequence[Any], params: Mapping[str, Any], span: Span | None) -> bool:
    (found,) = _are_numbers(op, args, params, span)
    return found


def _are_numbers(
    op: Op, args: Sequence[Any], params: Mapping[str, Any], span: Span | None
) -> list[bool]:
    """True if results without dimensions are numbers, and not views of an array; tried on ones."""
    ones = [_ones(a) for a in args]
    try:
        with Quiet():
            found = op.value.array(*ones, **params)  # type: ignore[misc]  # it has one
    except (GradError, TypeError, ValueError, ArithmeticError):
        raise NotCompilable(f"`{op.name}` of a tensor", span) from None
    return [type(plain(x)) in NUMBERS for x in (found if isinstance(found, tuple) else (found,))]


def _ones(x: Any) -> Any:
    if not isinstance(x, Carrier):
        return x
    if x.is_number and like_of(x).dtype == "int64":  # it may be an index
        return 0
    one = {"float64": 1.0, "int64": 1, "bool": True}[x.dtype]  # type: ignore[attr-defined]
    return np.broadcast_to(one, (1, *x.shape))[0, ...] if x.is_number is False else one  # type: ignore[attr-defined]
