"""What PyTorch tells where its functions are written by their definitions: its own formulas overflow,
or give nan or an arbitrary number at infinities, at nan and where the value itself is nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from . import by_pytorch
from .answers import Facts
from .program import Program

Replaced = Mapping[tuple[Any, str], Any]
_HUGE = 1e150


def _asked(replaced: Replaced) -> Callable[[Program], Facts]:
    def ask(program: Program) -> Facts:
        with by_pytorch.replacing(replaced):
            return by_pytorch.ask(program)

    return ask


def _places(*names: str) -> list[tuple[Any, str]]:
    """Where PyTorch has functions of these names."""
    rooms = (torch, torch.Tensor, F, torch.special)
    return [(room, name) for name in names for room in rooms if hasattr(room, name)]


def _wrapped(wrap: Callable[[Any], Any], places: Sequence[tuple[Any, str]]) -> Replaced:
    return {place: wrap(getattr(*place)) for place in places}


# --- where the value is nan ----------------------------------------------------------------------


def _nan_with_value(function: Any) -> Any:
    """The function with the derivative nan where its value is nan."""

    def wrapped(*args: Any, **named: Any) -> Any:
        return _marked(function(*args, **named))

    return wrapped


def _marked(out: Any, by: Any = None) -> Any:
    """A value times 1, or times nan where it or another tensor is nan."""
    held = (out if by is None else by).detach()
    return out * torch.where(held.isnan(), math.nan, 1.0)


_LOGARITHMS = (
    "log",
    "log2",
    "log10",
    "log1p",
    "atanh",
    "acosh",
    "asin",
    "acos",
    "xlogy",
    "xlog1py",
)
_SLOPES = _wrapped(_nan_with_value, _places(*_LOGARITHMS, "elu", "selu", "celu", "hardswish"))
ask_with_slopes_of_values = _asked(_SLOPES)


def _chosen(function: Any) -> Any:
    """`maximum` or `minimum` whose gradient goes to a nan alone, and half to each of two."""

    def choose(x: Any, y: Any) -> Any:
        x_nan, y_nan = x.isnan(), y.isnan()
        one = torch.where(x_nan & ~y_nan, x, torch.where(y_nan & ~x_nan, y, function(x, y)))
        return torch.where(x_nan & y_nan, (x + y) * 0.5, one)

    return choose


_CHOSEN = _wrapped(_chosen, _places("maximum", "minimum"))
ask_with_nan_chosen = _asked(_CHOSEN)


def _signed(function: Any) -> Any:
    def wrapped(x: Any, *args: Any) -> Any:
        return _marked(function(x, *args), x)

    return wrapped


def _l1_loss(x: Any, y: Any, reduction: str = "mean") -> Any:
    found = _marked((x - y).abs())
    return found if reduction == "none" else getattr(found, reduction)()


_SIGNS: Replaced = {
    **_wrapped(_signed, [*_places("sign", "abs", "heaviside"), (torch.Tensor, "__abs__")]),
    (F, "l1_loss"): _l1_loss,
}
ask_with_signs_of_nan = _asked(_SIGNS)

# --- values at infinities ------------------------------------------------------------------------


def _bounded(below: Any, above: Any) -> Callable[[Any], Any]:
    """An activation whose limits at both infinities, functions of the argument, are its values."""

    def wrap(function: Any) -> Any:
        def bounded(x: Any, *args: Any, **named: Any) -> Any:
            inside = function(torch.where(x.isinf(), 0.0, x), *args, **named)
            outside = torch.where(x == math.inf, above(x), inside)
            return torch.where(x == -math.inf, below(x), outside)

        return bounded

    return wrap


def _trapezoid(y: Any, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Any:
    n = max(y.shape[dim] - 1, 0)
    step = dx if x is None else x.diff(dim=dim)
    return ((y.narrow(dim, min(1, y.shape[dim]), n) + y.narrow(dim, 0, n)) * 0.5 * step).sum(dim)


def _quantile(x: Any, q: float, dim: Any = None) -> Any:
    whole, dim = (x.reshape(-1), 0) if dim is None else (x, dim)
    place = q * (whole.shape[dim] - 1)
    values = whole.sort(dim)[0]
    low, high = values.select(dim, math.floor(place)), values.select(dim, math.ceil(place))
    return torch.where(low == high, low, low + (high - low) * (place % 1))


def _powered(function: Any) -> Any:
    """A power whose root of -inf is inf, as any other power of it."""

    def power(x: Any, y: Any) -> Any:
        return function(x, torch.full_like(x, y) if type(y) is float and abs(y) == 0.5 else y)

    return power


_LIMITS: Replaced = {
    **_wrapped(_bounded(torch.zeros_like, lambda x: x), _places("gelu", "silu", "mish")),
    **_wrapped(_bounded(torch.sign, torch.sign), _places("softsign")),
    **_wrapped(lambda _: _trapezoid, _places("trapezoid")),
    **_wrapped(lambda _: _quantile, _places("quantile")),
    **_wrapped(_powered, [(torch.Tensor, "__pow__"), (torch.Tensor, "pow")]),
}
ask_with_limits = _asked(_LIMITS)


def _scaled(function: Any) -> Any:
    """A norm of numbers that are divided by the largest one, so that none overflows."""

    def norm(x: Any, *args: Any, **named: Any) -> Any:
        largest = x.detach().abs().max() if x.numel() and x.is_floating_point() else 0.0
        if not _HUGE < largest < math.inf:
            return function(x, *args, **named)
        return function(x / largest, *args, **named) * largest

    return norm


def _cosine_of_scaled(function: Any) -> Any:
    def cosine(x: Any, y: Any, dim: int = 1, eps: float = 1e-8) -> Any:
        return function(*(_of_ones(a, dim) for a in (x, y)), dim=dim, eps=eps)

    return cosine


def _of_ones(x: Any, dim: int) -> Any:
    """A vector of huge numbers, which has the same direction when it is divided by the largest."""
    largest = x.detach().abs().amax(dim, keepdim=True)
    return x / torch.where((largest > _HUGE) & largest.isfinite(), largest, 1.0)


_NORMS = [*_places("norm"), (torch.linalg, "norm"), (torch.linalg, "vector_norm")]
_SCALED: Replaced = {
    **_wrapped(_scaled, _NORMS),
    **_wrapped(_cosine_of_scaled, _places("cosine_similarity")),
}
ask_with_scaled_norms = _asked(_SCALED)

# --- statistics ----------------------------------------------------------------------------------


def _var(
    x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: Any = None
) -> Any:
    dims = tuple(range(x.dim())) if dim is None else dim
    rest = x - x.mean(dims, keepdim=True)
    total = (rest * rest).sum(dims, keepdim=keepdim)
    count = x.numel() // max(total.numel(), 1)
    return total / max(count - (int(unbiased) if correction is None else correction), 0)


def _std(*args: Any, **named: Any) -> Any:
    return _var(*args, **named).sqrt()


_MOMENTS: Replaced = {
    **_wrapped(lambda _: _var, _places("var")),
    **_wrapped(lambda _: _std, _places("std")),
}
ask_with_moments = _asked(_MOMENTS)
ask_by_definition = _asked({**_SLOPES, **_CHOSEN, **_SIGNS, **_LIMITS, **_SCALED, **_MOMENTS})


_FAR = 700.0  # where exp is still finite
_softplus = F.softplus


def _softened(x: Any, beta: float = 1, threshold: Any = None) -> Any:
    """`softplus` that becomes the argument itself only where it is that to all digits."""
    return _softplus(x, beta, _FAR if threshold is None else threshold)


ask_with_softplus_to_all_digits = _asked({(F, "softplus"): _softened})
_batch_norm = F.batch_norm


def _normed(
    x: Any,
    mean: Any,
    var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Batch norm that saves copies of the running statistics which it reads."""
    if not training:
        mean, var = mean.clone(), var.clone()
    return _batch_norm(x, mean, var, weight, bias, training, momentum, eps)


ask_with_own_statistics = _asked({(F, "batch_norm"): _normed})


def _cosine_loss(x: Any, y: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    squares = ((x * x).sum(-1) + 1e-12) * ((y * y).sum(-1) + 1e-12)
    cosine = (x * y).sum(-1) / squares.sqrt()
    found = torch.where(target == 1, 1 - cosine, (cosine - margin).clamp(min=0))
    return found if reduction == "none" else getattr(found, reduction)()


ask_with_cosines_in_parts = _asked({(F, "cosine_embedding_loss"): _cosine_loss})


def _log_softmax(x: Any, dim: Any = None, *_: Any, **__: Any) -> Any:
    return x - torch.logsumexp(x, dim, keepdim=True)


ask_with_sums_of_powers = _asked({(F, "log_softmax"): _log_softmax})

# --- memory and dtypes ---------------------------------------------------------------------------


def _stride(x: Any, dim: Any = None) -> Any:
    """The strides, with those of contiguous elements for dimensions without a second element."""
    steps, own = [], 1
    for n, step in zip(reversed(x.shape), reversed(_strides(x)), strict=True):
        steps.append(step if n > 1 and x.numel() else own)
        own *= max(n, 1)
    return tuple(steps[::-1]) if dim is None else steps[::-1][dim]


_strides = torch.Tensor.stride
ask_with_own_strides = _asked({(torch.Tensor, "stride"): _stride})


def _assigned(x: Any, place: Any, value: Any) -> None:
    parts = place if isinstance(place, tuple) else (place,)
    picks = any(isinstance(p, list | bool | torch.Tensor) for p in parts)
    changed = x if picks else x[place]
    if any(n > 1 and not step for n, step in zip(changed.shape, changed.stride(), strict=True)):
        raise RuntimeError("more than one element of the written-to tensor")
    _assign(x, place, value)


_assign = torch.Tensor.__setitem__
ask_without_expanded_changes = _asked({(torch.Tensor, "__setitem__"): _assigned})


def _in_wide(function: Any) -> Any:
    """`clamp` of ints whose bounds do not wrap around."""

    def clamp(x: Any, *bounds: Any, **named: Any) -> Any:
        are_ints = all(b is None or type(b) is int for b in (*bounds, *named.values()))
        if x.is_floating_point() or x.dtype == torch.bool or not are_ints:
            return function(x, *bounds, **named)
        found = _clamp(x.long(), *bounds, **named).to(x.dtype)
        return x.copy_(found) if function.__name__ == "clamp_" else found

    return clamp


_clamp = torch.clamp
ask_with_wide_bounds = _asked(_wrapped(_in_wide, [*_places("clamp"), (torch.Tensor, "clamp_")]))


def _multiplied(x: Any, y: Any, *, alpha: Any = 1) -> Any:
    """A sum in which multiples of bools are ints."""
    bools = all(getattr(a, "dtype", type(a)) in (bool, torch.bool) for a in (x, y))
    return x + alpha * y if bools and alpha != 1 else _add(x, y, alpha=alpha)


_add = torch.add
ask_with_multiples_of_bools = _asked({(torch, "add"): _multiplied})
