"""The largest and the smallest."""

from __future__ import annotations

from functools import reduce
from math import nan
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.along import DIMS, check_some, dim_samples, shaped, share, spread
from gradcli.engine.ops.op import Op, bad, host, known, op
from gradcli.engine.ops.promotion import integer
from gradcli.engine.ops.statics import UNSURE, Statics
from gradcli.engine.ops.tracing import Tracing
from gradcli.engine.tape.tensor import Tensor, truth
from gradcli.engine.values.data import NUMBERS, Data, is_whole, np
from gradcli.engine.values.sizes import axes, axis, describe, reduced, whole
from gradcli.errors import run_error

FAMILY = 100, "Largest and smallest"


def _extreme(x: Data, dim: Any, keepdim: Any, name: str) -> Data:
    x = shaped(x)
    check_some(x.shape, dim, name)
    function = np.max if name in ("amax", "max") else np.min
    return function(x, axis=axes(dim, x.ndim), keepdims=bool(keepdim))


def extreme_op(name: str, word: str, function: str, node: str) -> Op:
    """The entry of `amax` or `amin`, or of the form of `max` or `min` that does the same."""
    sign = 1.0 if function == "amax" else -1.0
    return op(
        name,
        ties=True,
        params=DIMS,
        doc=f"{word} of the elements, or of those along the dimensions `dim`. Elements that tie "
        "share the gradient evenly.",
        source="midpoint of the Clarke subdifferential",
        number=lambda x, dim=None, keepdim=False: x,
        array=lambda x, dim=None, keepdim=False: _extreme(x, dim, keepdim, function),
        shape=lambda x, dim=None, keepdim=False: reduced(x, dim, keepdim),
        vjp=(
            lambda g, out, x, dim=None, keepdim=False: ops.gate(
                spread(g, shaped(x), dim, keepdim), share(x, out, dim, keepdim)
            ),
        ),
        jvp=(
            lambda dot, out, x, dim=None, keepdim=False: ops.sum(
                ops.gate(dot, share(x, out, dim, keepdim)), dim=dim, keepdim=keepdim
            ),
        ),
        saves=("input", "out"),
        node=node,
        samples=dim_samples,
        known=lambda: (
            known([sign, 3 * sign, 3 * sign], grad=([0.0, 0.5, 0.5],)),
            known([1.0, nan, 3.0], grad=([0.0, 1.0, 0.0],)),
            known([[sign, sign], [0.0, sign]], dim=1, grad=([[0.5, 0.5], [0.0, 1.0]],)),
        ),
        bad=lambda: (
            bad((0,), says="of no elements"),
            bad((2, 3), dim=2, says="no dimension 2"),
        ),
    )


amax: Op = extreme_op("amax", "Largest", "amax", "AmaxBackward0")
amin: Op = extreme_op("amin", "Smallest", "amin", "AminBackward0")


def _choose(session: Any, values: tuple[Any, ...], dim: Any, keepdim: Any, name: str) -> Any:
    """`max` or `min`: of all elements, along a dimension, or of several values."""
    given = [session.tensor(v) for v in values]
    for v in given:
        if type(v) not in NUMBERS and not isinstance(v, Tensor):
            raise run_error("wrong-type", f"`{name}` needs numbers or tensors, got {describe(v)}")
    if not given:
        raise run_error("wrong-arity", f"`{name}` needs a tensor or numbers")
    if type(given[0]) is Tensor and len(given) > 1 and type(given[1]) is int:
        _, dim, *rest = given
        keepdim = rest[0] if rest else keepdim
        given = given[:1]
    if len(given) == 1:
        if dim is None:
            return session.do(ops[f"{name}_all"], given, dict(DIMS))
        params = {"dim": whole(dim, "dim"), "keepdim": truth(keepdim)}
        return session.do(ops[f"{name}_along"], given, params)
    best = given[0]
    for other in given[1:]:
        best = session.do(ops[f"{name}imum"], [best, other], {})
    return best


def _choice(name: str, word: str) -> Op:
    def infer(known: Statics, *values: Any, dim: Any, keepdim: Any) -> Any:
        given = [known.tensor(v) for v in values]
        if not given or any(getattr(v, "shape", None) is None for v in given):
            return known.unknown(*values)
        first, *others = given
        by_place = (
            bool(others)
            and others[0].shape == ()
            and (others[0].dtype is None or is_whole(others[0].dtype))
        )
        at = known.static(others[0]) if by_place else known.static(dim)
        kept = known.static(others[1] if by_place and len(others) > 1 else keepdim)
        if by_place or (not others and at is not None):
            if not first.shape or type(at) is not int or kept is UNSURE:
                return known.unknown(*values)  # a number's, or of a dimension that is not known
            return ops[f"{name}_along"](first, dim=at, keepdim=bool(kept))
        if not others:
            return ops[f"{name}_all"](first)
        return reduce(ops[f"{name}imum"], given)

    def traced(code: Tracing, *values: Any, dim: Any, keepdim: Any) -> Any:
        first, *others = code.operands(ops[f"{name}imum"], values)
        if code.are_tensors(first) and others and type(others[0]) is int:
            dim, *rest = others
            others, keepdim = [], rest[0] if rest else keepdim
        if others:
            return reduce(ops[f"{name}imum"], [first, *others])
        if dim is None:
            return ops[f"{name}_all"](first, dim=None, keepdim=keepdim)
        if type(dim) is not int or type(keepdim) is not bool:
            raise code.refused(f"along which dimension is the `{name}` is known only at run time")
        return code.do(ops[f"{name}_along"], [first], {"dim": dim, "keepdim": keepdim})

    return host(
        name,
        lambda session, *values, dim=None, keepdim=False: _choose(
            session, values, dim, keepdim, name
        ),
        infer=infer,
        traced=traced,
        by=(f"{name}_all", f"{name}_along", f"{name}imum"),
        args=("*values",),
        params=DIMS,
        doc=f"{word} element of a tensor; `{name}(x, dim)` gives the fields `values` and `indices` "
        f"along a dimension; `{name}(a, b, ...)` the {word.lower()} of several numbers, or of "
        "tensors element by element.",
        source=f"PyTorch: {name}",
        method=True,
    )


max_: Op = _choice("max", "Largest")
min_: Op = _choice("min", "Smallest")


def place_of(x: Data, dim: Any, keepdim: Any, name: str) -> Data:
    """The first place of the largest (`name` "max", "argmax") or smallest element."""
    x = shaped(x)
    check_some(x.shape, dim, name)
    function = np.argmax if name in ("argmax", "max") else np.argmin
    at = None if dim is None or not x.ndim else axis(dim, x.ndim)
    return function(x, axis=at, keepdims=bool(keepdim))


def _argument_op(name: str, word: str) -> Op:
    return op(
        name,
        params=DIMS,
        doc=f"Place of the {word} element, the first of several: in the flat tensor, or along the "
        "dimension `dim`.",
        source=f"PyTorch: {name}",
        array=lambda x, dim=None, keepdim=False: place_of(x, dim, keepdim, name),
        shape=lambda x, dim=None, keepdim=False: reduced(x, dim, keepdim),
        dtype=integer,
        flat=True,
        bad=lambda: (
            bad((0,), says="of no elements"),
            bad((2, 3), dim=2, says="no dimension 2"),
        ),
    )


argmax: Op = _argument_op("argmax", "largest")
argmin: Op = _argument_op("argmin", "smallest")
