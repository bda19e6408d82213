"""`vmap`: apply a function to each part of its arguments, and join the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.functions import called
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, shape_of
from gradcli.engine.values.objects import parts_of, with_parts
from gradcli.engine.values.sizes import axis, whole
from gradcli.errors import run_error


def vmap(
    session: Evaluator,
    function: Any,
    in_dims: Any = 0,
    out_dims: Any = 0,
    axis_size: Any = None,
) -> Callable[..., Any]:
    """The function on batches: it is applied to each part along `in_dims`, and the results are
    joined along `out_dims`. Every part is recorded, so everything that is differentiable stays so.
    `axis_size` says how many parts there are where no argument has any.
    """

    def batched(*args: Any, **keywords: Any) -> Any:
        given = [_tensors(session, a) for a in args]
        dims = in_dims if isinstance(in_dims, (list, tuple)) else [in_dims] * len(given)
        if len(dims) != len(given):
            raise run_error(
                "wrong-count", f"`in_dims` is for {len(dims)} arguments, got {len(given)}"
            )
        sizes = {n for a, d in zip(given, dims, strict=True) for n in _sizes(a, d)}
        named = {name: _tensors(session, value) for name, value in keywords.items()}
        sizes.update(n for value in named.values() for n in _sizes(value, 0))
        if axis_size is not None:
            sizes.add(whole(axis_size, "axis_size"))
        if len(sizes) != 1:
            said = "none" if not sizes else " and ".join(map(str, sorted(sizes)))
            message = f"`vmap` needs batches of one size, got {said}"
            raise run_error("shape-mismatch", message, raises=ValueError)
        (size,) = sizes
        if size == 0:
            raise run_error("empty-reduction", "`vmap` needs at least one part")
        found = [
            called(
                function,
                [_part(session, a, d, i) for a, d in zip(given, dims, strict=True)],
                "vmap",
                {name: _part(session, value, 0, i) for name, value in named.items()},
            )
            for i in range(size)
        ]
        return _together(session, found, out_dims)

    return batched


def _tensors(session: Evaluator, value: Any) -> Any:
    """Lists of numbers as tensors, other lists and tuples part by part."""
    if type(value) is list and all(type(v) in NUMBERS for v in value):
        return session.tensor(value)
    if isinstance(value, (list, tuple)):
        return tuple(_tensors(session, v) for v in value)
    if type(value) is dict:
        return {key: _tensors(session, v) for key, v in value.items()}
    parts = parts_of(value)
    return value if parts is None else with_parts(value, [_tensors(session, v) for v in parts])


def _by_key(dim: Any, value: dict[Any, Any]) -> dict[Any, Any]:
    """The dimension of each value in a dictionary."""
    if type(dim) is not dict:
        return dict.fromkeys(value, dim)
    if dim.keys() != value.keys():
        raise run_error("wrong-count", "a dictionary of dims has the keys of that of the values")
    return dim


def _inner(dim: Any, count: int) -> Sequence[Any]:
    dim = dim if parts_of(dim) is None else parts_of(dim)
    if not isinstance(dim, (list, tuple)):
        return [dim] * count
    if len(dim) != count:
        raise run_error("wrong-count", f"`in_dims` is for {len(dim)} values, there are {count}")
    return dim


def _sizes(value: Any, dim: Any) -> list[int]:
    """The number of parts of each value."""
    if isinstance(value, tuple):
        return [
            n for v, d in zip(value, _inner(dim, len(value)), strict=True) for n in _sizes(v, d)
        ]
    if type(value) is dict:
        dims = _by_key(dim, value)
        return [n for key, v in value.items() for n in _sizes(v, dims[key])]
    if (parts := parts_of(value)) is not None:
        return _sizes(tuple(parts), dim)
    dim = data_of(dim)
    if dim is None:
        return []
    if type(dim) is not int:
        raise run_error("wrong-type", f"`in_dims` holds ints and None, got {kind_of(dim)}")
    if not isinstance(value, Tensor) or not value.ndim:
        message = f"`vmap` cannot map over {kind_of(value)}: pass None for it"
        raise run_error("wrong-type", message, raises=ValueError)
    return [value.shape[axis(dim, value.ndim)]]


def _part(session: Evaluator, value: Any, dim: Any, i: int) -> Any:
    if isinstance(value, tuple):
        pairs = zip(value, _inner(dim, len(value)), strict=True)
        return tuple(_part(session, v, d, i) for v, d in pairs)
    if type(value) is dict:
        dims = _by_key(dim, value)
        return {key: _part(session, v, dims[key], i) for key, v in value.items()}
    if (parts := parts_of(value)) is not None:
        return with_parts(value, _part(session, tuple(parts), dim, i))
    if dim is None:
        return value
    return session.do(ops.select, [value], {"dim": data_of(dim), "index": i})


def _together(session: Evaluator, found: Sequence[Any], dim: Any) -> Any:
    """The results of all parts, stacked."""
    first = found[0]
    if first is None:
        return None
    if isinstance(first, tuple):
        dims = dim if isinstance(dim, (list, tuple)) else [dim] * len(first)
        if len(dims) != len(first) or any(len(f) != len(first) for f in found):
            message = f"`out_dims` is for {len(dims)} results, the function returned {len(first)}"
            raise run_error("wrong-count", message)
        return tuple(_together(session, [f[k] for f in found], d) for k, d in enumerate(dims))
    if type(first) is dict:
        by_key = _by_key(dim, first)
        return {key: _together(session, [f[key] for f in found], by_key[key]) for key in first}
    if (parts := parts_of(first)) is not None:
        rows = [tuple(parts_of(f) or ()) for f in found]
        return with_parts(first, _together(session, rows, _inner(dim, len(parts))))
    values = [session.tensor(v) for v in found]
    for value in values:
        if not isinstance(value, Tensor) and type(value) not in NUMBERS:
            message = f"a function under `vmap` must return tensors, it returned {kind_of(value)}"
            raise run_error("wrong-type", message)
    if dim is None:
        return values[0]
    at = axis(data_of(dim), len(shape_of(values[0])) + 1)
    return session.do(ops.stack, values, {"dim": at})
