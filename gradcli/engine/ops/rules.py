"""From the rules in an op's entry to cotangents and tangents of its arguments.

Everything here is made of ops, so that it works on plain values, on recorded tensors (higher
order) and under forward mode alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.carrier import Like, like_of
from gradcli.engine.values.data import NUMBERS, SCALARS, dtype_of, np, shape_of

if TYPE_CHECKING:  # making a protocol takes as long as importing a room
    from gradcli.engine.values.entry import Derivatives

    class Differentiable(Protocol):
        """An op with derivative rules."""

        derivatives: Derivatives
        variadic: bool


def pull(
    op: Differentiable,
    g: Any,
    out: Any,
    args: Sequence[Any],
    params: Mapping[str, Any],
    wanted: Sequence[bool],
    still: Sequence[Any] | None = None,
) -> list[Any]:
    """Cotangents of the arguments from the cotangent of the result: the vector-Jacobian product.

    Args:
        op: The op, with derivative rules.
        g: Cotangent, shaped as the result; a tuple for several results.
        out: The result as the rules read it (None where the op does not save it).
        args: The arguments, or their `Like` where the op does not save them.
        params: Static parameters.
        wanted: Which arguments' cotangents to compute.
        still: Of an element-wise op, for each argument where its cotangent cannot but be zero, be
            the slope or the cotangent of the result infinite. A pass that meets nan asks for it.

    Returns:
        One cotangent an argument, shaped as it and of its dtype; None where it is not wanted or
        where the op is not differentiable.
    """
    partials: tuple[Any, ...] | None = op.derivatives.partials
    vjp, chooses = op.derivatives.vjp, op.derivatives.chooses
    if partials is not None and type(g) is float and type(out) is float:
        numbers: list[Any] = []  # the fast path, where all values are: the steps of scalar loops
        for i, partial in enumerate(partials):
            if not wanted[i] or partial is None:
                numbers.append(None)
                continue
            p = partial if type(partial) is float else partial(out, *args, **params)
            if type(p) is not float:
                break
            if g and p:
                numbers.append(g * p)
            elif (still and still[i]) or (not p and p is partial) or chooses:
                numbers.append(0.0)  # an unused argument gets 0, even beside inf
            else:
                numbers.append(g * p)
        else:
            return numbers
    result: list[Any] = [None] * len(args)
    read = _widened(args, g)
    for i, want in enumerate(wanted):
        if not want:
            continue
        if partials is not None:
            partial = partials[i]
            product = ops.gate if chooses else _beside(still[i]) if still else ops.mul
            c = None if partial is None else _times(g, partial, product, out, read, params)
        elif op.variadic:
            assert vjp is not None
            rule = vjp[0]
            c = None if rule is None else rule(g, out, i, *read, **params)
        else:
            assert vjp is not None
            rule = vjp[i]
            c = None if rule is None else rule(g, out, *read, **params)
        if c is not None:
            result[i] = fit(c, args[i])
    return result


def _beside(still: Any) -> Any:
    """The product of a cotangent and a partial, with zeros where the cotangent of the argument must
    be zero.
    """
    if still is False:
        return ops.mul
    return lambda g, p: ops.where(still, 0.0, ops.mul(g, p))


def push(
    op: Differentiable,
    dots: Sequence[Any],
    out: Any,
    args: Sequence[Any],
    params: Mapping[str, Any],
) -> Any:
    """Tangent of the result from the tangents of the arguments: the Jacobian-vector product.

    `dots` holds one tangent an argument, shaped as it, or None for zero. Returns None when all that
    matter are None; for several results a tuple. A tangent of zero makes nan beside an infinite
    slope; by `moving` a pass tells those that cannot but be zero.
    """
    total: Any = None
    partials, jvp = op.derivatives.partials, op.derivatives.jvp
    args, dots = _widened(args, out), _widened(dots, out)
    for i, dot in enumerate(dots):
        if dot is None:
            continue
        if partials is not None:
            partial = partials[i]
            product = _along if op.derivatives.chooses else ops.mul
            c = None if partial is None else _times(dot, partial, product, out, args, params)
            if c is not None:
                c = _spread(c, out)
        elif op.variadic:
            assert jvp is not None
            rule = jvp[0]
            c = None if rule is None else rule(dot, out, i, *args, **params)
        else:
            assert jvp is not None
            rule = jvp[i]
            c = None if rule is None else rule(dot, out, *args, **params)
        if c is not None:
            total = c if total is None else plus(total, c)
    return total if partials is not None else _typed(total, out)


def _widened(values: Sequence[Any], out: Any) -> Sequence[Any]:
    """The values that a rule reads, cast to float64 if the result or its cotangent is float64, so
    that no slope is rounded to float32 on its way to a float64.
    """
    for x in values:
        if type(x) not in SCALARS and type(x) is not Like and dtype_of(x) in _NARROW:
            break
    else:
        return values
    if not _is_double(out):
        return values
    return [x if type(x) in SCALARS or type(x) is Like else _double(x) for x in values]


def _is_double(out: Any) -> bool:
    """True if a result, or one of several, is of float64."""
    if type(out) is tuple:
        return any(map(_is_double, out))
    return out is not None and dtype_of(out) == "float64"


def _double(x: Any) -> Any:
    return ops.cast(x, dtype="float64") if dtype_of(x) in _NARROW else x


_NARROW = ("float32", "float16")


def _typed(c: Any, out: Any) -> Any:
    """A tangent, or one for each of several results, brought to the dtype of the result."""
    if type(c) is tuple:
        return tuple(map(_typed, c, out))
    return _cast(c, dtype_of(out)) if c is not None else None


def moving(
    op: Differentiable,
    marks: Sequence[Any],
    out: Any,
    args: Sequence[Any],
    params: Mapping[str, Any],
    idle: Sequence[Any],
) -> Any:
    """Marks of the elements of the result that depend on marked elements of the arguments. A mark
    is a nonzero number. `marks` are those of the arguments, `idle` is the result of the function of
    that name; the other parameters are those of `push`.

    An element-wise op moves with each argument that has a partial, even if the partial is zero at
    this point, unless it is zero everywhere. For any other op, the marks go through its rule.
    """
    if op.derivatives.partials is None or op.derivatives.chooses:
        return push(op, marks, out, args, params)
    total: Any = None
    for i, mark in enumerate(marks):
        if mark is not None:
            each = _spread(_marked(mark, idle[i]), out)
            total = each if total is None else plus(total, each)
    return total


def reaching(
    op: Differentiable,
    mark: Any,
    out: Any,
    args: Sequence[Any],
    params: Mapping[str, Any],
    wanted: Sequence[bool],
    idle: Sequence[Any],
) -> list[Any]:
    """Marks of the elements of the arguments on which marked elements of the result depend: the
    transpose of `moving`.
    """
    if op.derivatives.partials is None or op.derivatives.chooses:
        return pull(op, mark, out, args, params, wanted)
    return [
        fit(_marked(mark, still), a) if want else None
        for a, want, still in zip(args, wanted, idle, strict=True)
    ]


def _marked(mark: Any, still: Any) -> Any:
    """A mark, and zero where nothing moves."""
    return mark if still is False else ops.where(still, 0.0, mark)


def idle(
    op: Differentiable,
    out: Any,
    args: Sequence[Any],
    elsewhere: Callable[[], Sequence[Any]],
    params: Mapping[str, Any],
    connected: Sequence[bool],
) -> list[Any]:
    """Marks of the elements at which the partial by each connected argument of an element-wise op
    is zero for all values of these arguments, as that of `0.0 * x` is; False if there are none.
    `elsewhere` gives other values in their place.
    """
    found: list[Any] = []
    for partial, moves in zip(op.derivatives.partials or (), connected, strict=True):
        if not moves or not callable(partial):
            found.append(not partial)
            continue
        here = partial(out, *args, **params)
        if has_no_zero(here):  # the usual case
            found.append(False)
            continue
        zeros = (ops.eq(p, 0.0) for p in (here, partial(out, *elsewhere(), **params)))
        found.append(ops.logical_and(*zeros))
    return found


def has_no_zero(x: Any) -> bool:
    """True for a float or an array without a zero; false for other values."""
    return bool(x) if type(x) is float else type(x) is np.ndarray and bool(x.all())


def _spread(c: Any, out: Any) -> Any:
    """A tangent brought to the shape and dtype of the result."""
    if type(c) is float and type(out) is float:
        return c
    if shape_of(c) != shape_of(out):
        c = ops.expand(c, size=shape_of(out))
    return _cast(c, dtype_of(out))


def _cast(c: Any, dtype: str) -> Any:
    """A cotangent or tangent in a dtype of floats."""
    if dtype_of(c) == dtype or not dtype.startswith("float"):
        return c
    return ops.cast(c, dtype=dtype)


def _times(g: Any, partial: Any, product: Any, out: Any, args: Sequence[Any], params: Any) -> Any:
    """A cotangent or tangent times a partial."""
    if type(partial) is float:
        if partial == 1.0:
            return g
        if partial == 0.0:
            return ops.zeros_of(like=g) if shape_of(g) else 0.0
        return ops.neg(g) if partial == -1.0 else ops.mul(g, partial)
    p = partial(out, *args, **params)
    if type(p) is float and p == 1.0 and product is not ops.gate:  # a zero of `gate` is never -0.
        return g
    return product(g, p)


def _along(dot: Any, p: Any) -> Any:
    """Tangent times partial. A partial of zero adds nothing, even to a tangent of inf, because the
    cotangent of the argument is zero there and adds nothing further back.
    """
    return ops.weigh(p, dot)


def plus(a: Any, b: Any) -> Any:
    """Sum of two tangents, or of those of several results."""
    if type(a) is tuple:
        return tuple(
            y if x is None else x if y is None else ops.add(x, y) for x, y in zip(a, b, strict=True)
        )
    return ops.add(a, b)


def fit(c: Any, x: Any) -> Any:
    """A cotangent brought to the shape and dtype of the argument it belongs to.

    Broadcasting an argument copies it, so its cotangent is the sum over the copies.
    """
    like = x
    if type(x) in NUMBERS:
        if type(c) is float:
            return c
        like = like_of(x)
    if shape_of(c) != like.shape:
        c = ops.sum_to(c, size=like.shape)
    return _cast(c, dtype_of(like))
