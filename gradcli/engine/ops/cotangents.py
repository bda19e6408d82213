"""Cotangents of element-wise ops where arguments and result are arrays of float64 of one shape.

What `rules.pull` does for values of any kind is done here without a look at what cannot be: the
partials are the entry's, each product is one call of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.direct import one_call
from gradcli.engine.values.data import np

Cotangents: TypeAlias = Callable[[Any, Any, Sequence[Any], Mapping[str, Any], bool], Sequence[Any]]
"""From the cotangent of the result, the result, the arguments, the parameters and whether the
cotangent is nobody else's, so that it may be written over, to those of the arguments.
"""


def cotangents(op: Any, wanted: Sequence[bool]) -> Cotangents:
    """How the op's cotangents are made, of the arguments that are wanted."""
    rules = [
        _product(op, partial) if want and partial is not None else None
        for partial, want in zip(op.derivatives.partials, wanted, strict=True)
    ]
    if len(rules) == 1:
        return _of_one(rules[0])
    return _of_two(*rules) if len(rules) == 2 else _of_many(rules)


Product: TypeAlias = Callable[[Any, Any, Sequence[Any], Mapping[str, Any], bool], Any]
"""Likewise, to that of one argument."""


def _of_one(rule: Product | None) -> Cotangents:
    if rule is None:
        return lambda g, out, args, params, own: (None,)
    return lambda g, out, args, params, own: (rule(g, out, args, params, own),)


def _of_two(left: Product | None, right: Product | None) -> Cotangents:
    if left is None:
        if right is None:
            return lambda g, out, args, params, own: (None, None)
        return lambda g, out, args, params, own: (None, right(g, out, args, params, own))
    if right is None:
        return lambda g, out, args, params, own: (left(g, out, args, params, own), None)

    def both(g: Any, out: Any, args: Sequence[Any], params: Mapping[str, Any], own: bool) -> Any:
        first = left(g, out, args, params, False)
        return first, right(g, out, args, params, own and first is not g)

    return both


def _of_many(rules: Sequence[Product | None]) -> Cotangents:
    def all_of_them(
        g: Any, out: Any, args: Sequence[Any], params: Mapping[str, Any], own: bool
    ) -> Any:
        return [None if rule is None else rule(g, out, args, params, False) for rule in rules]

    return all_of_them


def _product(op: Any, partial: Any) -> Product:
    """The cotangent times a partial, which is a function or a number."""
    if type(partial) is float:
        return _scaled(partial)
    if op.derivatives.chooses:
        return lambda g, out, args, params, own: ops.gate(g, partial(out, *args, **params))
    multiply, array = one_call(ops.mul), np.ndarray
    assert multiply is not None

    def times(g: Any, p: Any, own: bool) -> Any:
        if type(p) is float and p == 1.0:
            return g
        if type(p) is float:
            return multiply(g, p, g) if own else multiply(g, p)
        if type(p) is array:
            return multiply(g, p, g) if own and _lie_alike(g, p) else multiply(g, p)
        return ops.mul(g, p)

    if op.params:
        return lambda g, out, args, params, own: times(g, partial(out, *args, **params), own)

    def of_array(g: Any, out: Any, args: Any, params: Any, own: bool) -> Any:
        p = partial(out, *args)
        if type(p) is array:
            return multiply(g, p, g) if own and _lie_alike(g, p) else multiply(g, p)
        return times(g, p, own)

    return of_array


def _lie_alike(g: Any, p: Any) -> bool:
    """Whether the product would lie in memory as g does: what is added up later depends on that."""
    return g.ndim < 2 or g.strides == p.strides or g.flags.c_contiguous  # type: ignore[no-any-return]


def _scaled(number: float) -> Product:
    """The cotangent times a number."""
    if number == 1.0:
        return lambda g, out, args, params, own: g
    if number == 0.0:
        return lambda g, out, args, params, own: ops.zeros_of(like=g)
    multiply, negate = one_call(ops.mul), one_call(ops.neg)
    assert multiply is not None
    assert negate is not None
    if number == -1.0:
        return lambda g, out, args, params, own: negate(g, g) if own else negate(g)
    return lambda g, out, args, params, own: multiply(g, number, *((g,) if own else ()))
