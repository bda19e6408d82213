"""The derivative of shares of a whole, as softmax gives them."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.along import shaped
from gradcli.engine.ops.op import Op, linear, sample
from gradcli.engine.ops.promotion import floating
from gradcli.engine.values.data import Data, np
from gradcli.engine.values.sizes import axes


def _largest(p: Data, along: tuple[int, ...]) -> Data:
    """Equal parts of 1 at the largest elements along dimensions, else 0."""
    top = np.equal(p, np.max(p, axis=along, keepdims=True, initial=-inf))
    return top / np.maximum(np.sum(top, axis=along, keepdims=True, dtype=p.dtype), 1)


def _against(g: Data, p: Data, along: tuple[int, ...]) -> Data:
    part = _largest(p, along)
    return g - np.sum(np.where(part, g * part, 0), axis=along, keepdims=True)


def _gathered(g: Data, p: Data, along: tuple[int, ...]) -> Data:
    return g - _largest(p, along) * np.sum(g, axis=along, keepdims=True)


def _single(function: Callable[..., Data]) -> Callable[..., Data]:
    def call(g: Data, p: Data, dim: Any) -> Data:
        p = shaped(p)
        return function(shaped(g), p, axes(dim, p.ndim))

    return call


def _each(function: Callable[..., Data]) -> Callable[..., Data]:
    """The function for several g at once, with one more dimension in front."""
    return lambda g, p, dim: function(g, p, tuple(a + 1 for a in axes(dim, p.ndim - 1)))


def _about_largest(
    name: str, function: Callable[..., Data], doc: str, transpose: Callable[..., Any]
) -> Op:
    return linear(
        name,
        args=("g", "p"),
        params={"dim": None},
        doc=doc,
        said=lambda g, p, dim: g,
        array=_single(function),
        batch=_each(function),
        shape=lambda g, p, dim: g,
        dtype=floating,
        vjp=(lambda c, out, g, p, dim: transpose(c, p, dim=dim), None),
        saves=("p",),
        node="SubBackward0",
        samples=lambda: (
            sample([1.0, -2.0, 0.5], [0.2, 0.7, 0.1], dim=0),
            sample([[1.0, -2.0], [0.5, 3.0]], [[0.4, 0.2], [0.6, 0.8]], dim=-2),
            sample([[1.0, -2.0], [0.5, 3.0]], [[0.4, 0.2], [0.6, 0.8]], dim=(0, 1)),
            sample(3.0, 1.0, dim=0),
        ),
    )


against_largest: Op = _about_largest(
    "against_largest",
    _against,
    "g less what it is where p is largest, of which the slope of shares is the same, but has "
    "digits left of 1 - p.",
    lambda c, p, dim: gathered_at_largest(c, p, dim=dim),
)

gathered_at_largest: Op = _about_largest(
    "gathered_at_largest",
    _gathered,
    "g less its sum where p is largest: the transpose of `against_largest`.",
    lambda c, p, dim: against_largest(c, p, dim=dim),
)


def share_slope(g: Any, p: Any, dim: Any) -> Any:
    """The slope p (g - sum(p g)) of the shares p = exp(x) / sum(exp(x)): their tangent when g is
    that of x, and the cotangent of x when g is theirs. It is the same for g and a constant more.
    """
    g = ops.against_largest(g, p, dim=dim)
    return ops.mul(p, ops.sub(g, ops.sum(ops.mul(g, p), dim=dim, keepdim=True)))
