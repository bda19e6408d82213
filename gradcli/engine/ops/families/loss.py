"""Losses: the distance of predictions from targets."""

from __future__ import annotations

import math
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, Sample, bad, composite, known, sample
from gradcli.engine.ops.promotion import floating
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import dtype_of, is_whole, np, shape_of
from gradcli.engine.values.sizes import Shape, broadcast, whole
from gradcli.errors import run_error

FAMILY = 280, "Losses"

_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_REDUCTION: dict[str, Any] = {"reduction": "mean"}


def reduced(loss: Any, reduction: Any) -> Any:
    """The mean or the sum of a loss's elements, or the elements."""
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        message = f"`reduction` must be 'mean', 'sum' or 'none', got {reduction!r}"
        raise run_error("bad-argument", message, raises=ValueError)
    return ops.mean(loss) if reduction == "mean" else ops.sum(loss)


def _left(shape: Shape, reduction: Any) -> Shape:
    """The shape of a loss of this shape, reduced."""
    return shape if reduction == "none" else ()


def _weighted(loss: Any, weight: Any) -> Any:
    return loss if weight is None else ops.mul(loss, weight)


def _pairs(**params: Any) -> tuple[Sample, ...]:
    """Two tensors that differ everywhere, with every reduction."""
    return (
        sample([1.0, -2.0], [0.5, 3.0], **{**_REDUCTION, **params}),
        sample(
            [[1.0, -2.0], [3.0, 4.5]], [[0.5, 1.0], [2.2, 2.3]], **{**params, "reduction": "sum"}
        ),
        sample([[1.0, -2.0], [3.0, 4.5]], [0.5, 1.0], **{**params, "reduction": "none"}),
        sample(2.0, -1.0, **{**_REDUCTION, **params}),
    )


def _refusals(*args: Any, **params: Any) -> Any:
    given = {**_REDUCTION, **params}
    return (
        bad((2,), (3,), *args, **given, says="broadcast"),
        bad((2,), (2,), *args, **{**given, "reduction": "max"}, says="must be 'mean'"),
    )


# of differences -----------------------------------------------------------------------------------

mse_loss: Op = composite(
    "mse_loss",
    lambda x, target, weight, reduction: reduced(
        _weighted(ops.square(ops.sub(x, target)), weight), reduction
    ),
    guards=("input", "target"),
    args=("input", "target", "weight=None"),
    params=_REDUCTION,
    order=("input", "target", "reduction", "weight"),
    node="MseLossBackward0(input, target)",
    doc="Mean of the squared differences of input and target; `reduction` may be 'mean', 'sum' or "
    "'none'.",
    samples=lambda: tuple(Sample((*s.args, None), s.params) for s in _pairs()),
    known=lambda: (
        known([1.0, 2.0], [1.0, 2.0], None, reduction="mean", grad=([0.0, 0.0], [0.0, 0.0], None)),
    ),
    bad=lambda: _refusals(None),
)

l1_loss: Op = composite(
    "l1_loss",
    lambda x, target, reduction: reduced(ops.abs(ops.sub(x, target)), reduction),
    args=("input", "target"),
    params=_REDUCTION,
    doc="Mean of the sizes of the differences of input and target; the derivative is 0 where they "
    "are equal.",
    samples=_pairs,
    known=lambda: (known([1.0, 2.0], [1.0, 3.0], reduction="sum", grad=([0.0, -1.0], [0.0, 1.0])),),
    bad=_refusals,
)


def _smooth(x: Any, target: Any, reduction: Any, beta: Any) -> Any:
    if beta < 0:
        raise run_error("bad-argument", f"`beta` cannot be negative, got {beta}")
    if beta == 0:
        return l1_loss(x, target, reduction=reduction)
    gap = ops.sub(x, target)
    size = ops.abs(gap)
    near = ops.mul(ops.square(gap), 0.5 / beta)
    return reduced(ops.where(ops.lt(size, beta), near, ops.sub(size, 0.5 * beta)), reduction)


smooth_l1_loss: Op = composite(
    "smooth_l1_loss",
    _smooth,
    guards=("input", "target"),
    args=("input", "target"),
    params={**_REDUCTION, "beta": 1.0},
    node="SmoothL1LossBackward0",
    doc="Mean of the sizes of the differences less beta / 2, or of half their squares over beta "
    "where they are below beta.",
    source="PyTorch: nn.functional.smooth_l1_loss",
    samples=lambda: (*_pairs(beta=1.0), *_pairs(beta=4.0)),
    bad=lambda: (
        *_refusals(beta=1.0),
        bad((2,), (2,), reduction="mean", beta=-1.0, says="cannot be negative"),
    ),
)


def _huber(x: Any, target: Any, weight: Any, reduction: Any, delta: Any) -> Any:
    if delta <= 0:
        raise run_error("bad-argument", f"`delta` must be positive, got {delta}")
    gap = ops.sub(x, target)
    size = ops.abs(gap)
    near = ops.mul(ops.square(gap), 0.5)
    far = ops.mul(ops.sub(size, 0.5 * delta), delta)
    return reduced(_weighted(ops.where(ops.lt(size, delta), near, far), weight), reduction)


huber_loss: Op = composite(
    "huber_loss",
    _huber,
    guards=("input", "target"),
    args=("input", "target", "weight=None"),
    params={**_REDUCTION, "delta": 1.0},
    order=("input", "target", "reduction", "delta", "weight"),
    node="HuberLossBackward0(input, target)",
    doc="Mean of half the squared differences, or of delta (size - delta / 2) where their size is "
    "above delta.",
    source="Huber, Robust estimation of a location parameter, 1964",
    samples=lambda: tuple(
        Sample((*s.args, None), s.params) for s in (*_pairs(delta=1.0), *_pairs(delta=4.0))
    ),
    bad=lambda: (
        *_refusals(None, delta=1.0),
        bad((2,), (2,), None, reduction="mean", delta=0.0, says="must be positive"),
    ),
)


# of probabilities ---------------------------------------------------------------------------------


binary_cross_entropy: Op = composite(
    "binary_cross_entropy",
    lambda x, target, weight, reduction: reduced(
        _weighted(ops.bernoulli_loss(x, target), weight), reduction
    ),
    args=("input", "target", "weight=None"),
    params=_REDUCTION,
    node="BinaryCrossEntropyBackward0(input, target)",
    doc="Mean of -target log(input) - (1 - target) log(1 - input) for probabilities, the "
    "logarithms being at least -100.",
    source="definition; the bound is PyTorch's",
    samples=lambda: (
        sample([0.3, 0.8], [1.0, 0.25], None, reduction="mean"),
        sample([[0.3, 0.8], [0.1, 0.6]], [1.0, 0.0], None, reduction="sum"),
        sample([0.3, 0.8], [1.0, 0.25], [2.0, 0.5], reduction="none"),
        sample(0.5, 1.0, None, reduction="mean"),
    ),
    bad=lambda: (
        bad([0.5, 1.5], [1.0, 1.0], None, reduction="mean", says="between 0 and 1"),
        bad((2,), (2,), None, reduction="max", says="must be 'mean'"),
    ),
)


def _with_logits(x: Any, target: Any, weight: Any, pos_weight: Any, reduction: Any) -> Any:
    rest = ops.mul(ops.sub(1, target), x)
    step = ops.neg(ops.logsigmoid(x))
    if pos_weight is not None:
        factor = ops.add(ops.mul(ops.sub(pos_weight, 1), target), 1)
        step = ops.mul(step, factor)
    return reduced(_weighted(ops.add(rest, step), weight), reduction)


binary_cross_entropy_with_logits: Op = composite(
    "binary_cross_entropy_with_logits",
    _with_logits,
    guards=("input", "target", "weight", "pos_weight"),
    args=("input", "target", "weight=None", "pos_weight=None"),
    params=_REDUCTION,
    order=("input", "target", "weight", "reduction", "pos_weight"),
    node="BinaryCrossEntropyWithLogitsBackward0(input, target)",
    doc="Binary cross entropy of sigmoid(input), without overflow or loss of digits; `pos_weight` "
    "multiplies the terms of the target.",
    samples=lambda: (
        sample([0.3, -0.8], [1.0, 0.25], None, None, reduction="mean"),
        sample([[0.3, 0.8], [-30.0, 0.6]], [1.0, 0.0], None, None, reduction="sum"),
        sample([0.3, 0.8], [1.0, 0.25], [2.0, 0.5], [3.0, 1.5], reduction="none"),
        sample(0.5, 1.0, None, None, reduction="mean"),
    ),
    known=lambda: (
        known(
            [1000.0, -1000.0],
            [1.0, 0.0],
            None,
            None,
            reduction="sum",
            grad=([0.0, 0.0], [-1000.0, 1000.0], None, None),
        ),
    ),
    bad=lambda: _refusals(None, None),
)


def _classes(shape: Shape, target: Shape, weight: Shape | None, name: str) -> int:
    """The dimension of the classes."""
    if not shape:
        raise run_error("shape-mismatch", f"`{name}` needs a score for each class, got a number")
    at = 0 if len(shape) == 1 else 1
    wanted = (*shape[:at], *shape[at + 1 :])
    if target != wanted:
        raise run_error(
            "shape-mismatch",
            f"for scores of shape {list(shape)} the target has the shape {list(wanted)}, got "
            f"{list(target)}",
            raises=ValueError,
        )
    if weight is not None and weight != (shape[at],):
        raise run_error(
            "shape-mismatch",
            f"`weight` has one element for each of the {shape[at]} classes, got the shape "
            f"{list(weight)}",
        )
    return at


def _shapes(x: Any, target: Any, weight: Any) -> tuple[Shape, Shape, Shape | None]:
    return shape_of(x), shape_of(target), None if weight is None else shape_of(weight)


def _numbered(target: Any, name: str) -> Any:
    """The classes that a target names, as an array of ints."""
    places = np.asarray(data_of(target))
    if places.dtype.kind != "i":
        raise run_error("dtype-mismatch", f"`{name}` needs class numbers, got {places.dtype.name}")
    return places


def _picked(x: Any, target: Any, weight: Any, ignore: Any, name: str) -> tuple[Any, Any, Any, int]:
    """For each target its score, its weight and whether it counts; and the dimension of classes."""
    at = _classes(*_shapes(x, target, weight), name)
    places = _numbered(target, name)
    counts = places != whole(ignore, "ignore_index")
    count = shape_of(x)[at]
    used = np.where(counts, places, 0)
    if used.size and (used.min() < 0 or used.max() >= count):
        raise run_error(
            "index-out-of-range",
            f"the target has class {int(used.max() if used.max() >= count else used.min())}, and "
            f"there are {count} classes",
        )
    index = np.expand_dims(used, at)
    scores = ops.squeeze(ops.pick(x, index, dim=at), dim=at)
    each = 1.0 if weight is None else ops.getitem(weight, index=used)
    return scores, each, counts, at


def _settled(losses: Any, each: Any, counts: Any, reduction: Any) -> Any:
    """Losses that count, reduced; the mean is weighed."""
    losses = ops.where(counts, losses, 0.0)
    if reduction != "mean":
        return reduced(losses, reduction)
    total = ops.sum(ops.where(counts, each, 0.0))
    return ops.div(ops.sum(losses), total)


def _nll_shape(
    x: Shape, target: Shape, weight: Shape | None, *, reduction: Any, **params: Any
) -> Shape:
    _classes(x, target, weight, "nll_loss")
    return _left(target, reduction)


def _weighed(scores: str | None, x: Any, weight: Any, reduction: Any) -> str | None:
    """The dtype of a loss from that of the scores and their weight, whose sum is a float."""
    if weight is None:
        return floating(x)
    if reduction == "mean" and is_whole(dtype_of(weight)):
        return "float64"
    return "float64" if scores == "float64" else floating(x, weight)


def _nll(x: Any, target: Any, weight: Any, ignore_index: Any, reduction: Any) -> Any:
    scores, each, counts, _ = _picked(x, target, weight, ignore_index, "nll_loss")
    losses = ops.neg(scores if weight is None else ops.mul(scores, each))
    return _settled(losses, each, counts, reduction)


def _class_samples(**params: Any) -> tuple[Sample, ...]:
    scores = [[1.0, -0.5, 0.25], [0.3, 2.0, -1.0]]
    return (
        sample(scores, [0, 2], None, **{**_REDUCTION, **params}),
        sample(scores, [1, 1], [0.5, 2.0, 1.0], **{**_REDUCTION, **params}),
        sample(scores, [0, 2], None, **{**params, "reduction": "sum"}),
        sample(scores, [0, 2], [0.5, 2.0, 1.0], **{**params, "reduction": "none"}),
        sample([1.0, -0.5, 0.25], 2, None, **{**_REDUCTION, **params}),
        sample([[[1.0, 0.5], [-0.5, 2.0]]], [[0, 1]], None, **{**_REDUCTION, **params}),
        sample(scores, [0, -100], None, **{**_REDUCTION, **params}),
    )


def _class_refusals(**params: Any) -> Any:
    given = {**_REDUCTION, **params}
    return (
        bad((2, 3), [0, 3], None, **given, says="there are 3 classes"),
        bad((2, 3), [0], None, **given, says="the target has the shape [2]"),
        bad((2, 3), [0, 1], (2,), **given, says="each of the 3 classes"),
        bad((), 0, None, **given, says="a score for each class"),
    )


nll_loss: Op = composite(
    "nll_loss",
    _nll,
    shape=_nll_shape,
    dtype=lambda x, target, weight, *, reduction, **params: _weighed(
        dtype_of(x), x, weight, reduction
    ),
    guards=("input", "target", "weight"),
    args=("input", "target", "weight=None"),
    params={"ignore_index": -100, **_REDUCTION},
    node=lambda args, params: (
        f"NllLoss{'2D' if len(shape_of(args[0])) > 2 else ''}Backward0(input)"
    ),
    doc="Mean of -input at the class that the target names, for logarithms of probabilities of the "
    "shape (batch, classes, ...) or (classes). `weight` weighs the classes; targets equal to "
    "`ignore_index` do not count.",
    source="PyTorch: nn.functional.nll_loss",
    samples=lambda: _class_samples(ignore_index=-100),
    bad=lambda: (
        *_class_refusals(ignore_index=-100),
        bad((2, 3), [0.5, 1.0], None, ignore_index=-100, reduction="mean", says="class numbers"),
    ),
)


def _cross_entropy_shape(
    x: Shape, target: Shape, weight: Shape | None, *, reduction: Any, **params: Any
) -> Shape:
    if x and target == x:  # probabilities
        return _left((*x[:1], *x[2:]) if len(x) > 1 else (), reduction)
    at = _classes(x, target, weight, "cross_entropy")
    return _left((*x[:at], *x[at + 1 :]), reduction)


def _cross_entropy_dtype(
    x: Any, target: Any, weight: Any, *, reduction: Any, **params: Any
) -> str | None:
    logs = floating(x)
    if shape_of(target) == shape_of(x):  # probabilities
        return logs if logs == "float64" else floating(x, target, weight)
    return logs if weight is None else _weighed(logs, x, weight, reduction)


def _cross_entropy(
    x: Any, target: Any, weight: Any, ignore_index: Any, reduction: Any, label_smoothing: Any
) -> Any:
    if not 0 <= label_smoothing <= 1:
        raise run_error(
            "bad-argument", f"`label_smoothing` is between 0 and 1, got {label_smoothing}"
        )
    shape = shape_of(x)
    at = 0 if len(shape) <= 1 else 1
    if not shape:
        raise run_error("shape-mismatch", "`cross_entropy` needs a score for each class")
    logs = ops.log_softmax(x, dim=at)
    spread = None
    if weight is not None and shape_of(weight) == (shape[at],):
        spread = ops.reshape(weight, shape=(shape[at], *(1,) * (len(shape) - at - 1)))
    if dtype_of(target).startswith("float") and shape_of(target) == shape:
        return _of_probabilities(logs, target, spread, at, reduction, label_smoothing)
    if not label_smoothing:
        _numbered(target, "cross_entropy")
        return nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    scores, each, counts, _ = _picked(logs, target, weight, ignore_index, "cross_entropy")
    losses = ops.neg(scores if weight is None else ops.mul(scores, each))
    even = ops.neg(ops.sum(logs if spread is None else ops.mul(logs, spread), dim=at))
    losses = ops.add(
        ops.mul(losses, 1.0 - label_smoothing), ops.mul(even, label_smoothing / shape[at])
    )
    return _settled(losses, each, counts, reduction)


def _of_probabilities(
    logs: Any, target: Any, spread: Any, at: int, reduction: Any, smoothing: Any
) -> Any:
    count = shape_of(logs)[at]
    if smoothing:
        target = ops.add(ops.mul(target, 1.0 - smoothing), smoothing / count)
    terms = ops.mul(logs, target)
    losses = ops.neg(ops.sum(terms if spread is None else ops.mul(terms, spread), dim=at))
    return reduced(losses, reduction)


cross_entropy: Op = composite(
    "cross_entropy",
    _cross_entropy,
    shape=_cross_entropy_shape,
    dtype=_cross_entropy_dtype,
    guards={"input": ("weight",)},
    args=("input", "target", "weight=None"),
    params={"ignore_index": -100, **_REDUCTION, "label_smoothing": 0.0},
    doc="Mean of -log(softmax(input)) at the class that the target names, or weighed by the "
    "probabilities that it gives, for scores of the shape (batch, classes, ...) or (classes). "
    "`weight` weighs the classes, targets equal to `ignore_index` do not count, "
    "`label_smoothing` spreads a part of the target over all classes.",
    source="PyTorch: nn.functional.cross_entropy",
    samples=lambda: (
        *_class_samples(ignore_index=-100, label_smoothing=0.0),
        *_class_samples(ignore_index=-100, label_smoothing=0.1),
        sample(
            [[1.0, -0.5, 0.25], [0.3, 2.0, -1.0]],
            [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]],
            None,
            ignore_index=-100,
            reduction="mean",
            label_smoothing=0.0,
        ),
        sample(
            [[1.0, -0.5, 0.25], [0.3, 2.0, -1.0]],
            [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]],
            [0.5, 2.0, 1.0],
            ignore_index=-100,
            reduction="mean",
            label_smoothing=0.1,
        ),
    ),
    bad=lambda: _class_refusals(ignore_index=-100, label_smoothing=0.0),
)


def _kl(x: Any, target: Any, reduction: Any, log_target: Any) -> Any:
    if log_target:
        losses = ops.mul(ops.exp(target), ops.sub(target, x))
    else:
        losses = ops.sub(ops.xlogy(target, target), ops.mul(target, x))
    if reduction == "batchmean":
        return ops.div(ops.sum(losses), float((shape_of(x) or (1,))[0]))
    return reduced(losses, reduction)


kl_div: Op = composite(
    "kl_div",
    _kl,
    args=("input", "target"),
    params={**_REDUCTION, "log_target": False},
    doc="Mean of target (log(target) - input), the divergence of probabilities whose logarithms "
    "are the input from those of the target (or of its exponentials with `log_target`); "
    "`reduction='batchmean'` divides the sum by the first size.",
    source="Kullback and Leibler, On information and sufficiency, 1951",
    samples=lambda: (
        sample([-1.0, -0.5], [0.25, 0.75], reduction="mean", log_target=False),
        sample([[-1.0, -0.5]], [[0.25, 0.75]], reduction="batchmean", log_target=False),
        sample([-1.0, -0.5], [-0.3, -2.0], reduction="sum", log_target=True),
        sample([-1.0, -0.5], [0.25, 0.75], reduction="none", log_target=False),
    ),
    bad=lambda: _refusals(log_target=False),
)


# of distributions ---------------------------------------------------------------------------------


def _poisson(x: Any, target: Any, log_input: Any, full: Any, eps: Any, reduction: Any) -> Any:
    if log_input:
        losses = ops.sub(ops.exp(x), ops.mul(target, x))
    else:
        losses = ops.sub(x, ops.mul(target, ops.log(ops.add(x, eps))))
    if full:
        large = ops.gt(target, 1.0)
        t = ops.where(large, target, 1.0)
        stirling = ops.add(
            ops.sub(ops.mul(t, ops.log(t)), t), ops.mul(ops.log(ops.mul(t, 2 * math.pi)), 0.5)
        )
        losses = ops.add(losses, ops.where(large, stirling, 0.0))
    return reduced(losses, reduction)


poisson_nll_loss: Op = composite(
    "poisson_nll_loss",
    _poisson,
    args=("input", "target"),
    params={"log_input": True, "full": False, "eps": 1e-8, **_REDUCTION},
    doc="Mean of exp(input) - target input, the negative logarithm of the Poisson probability of "
    "the target but for a constant; of input - target log(input + eps) without `log_input`. `full` "
    "adds Stirling's term for targets above 1.",
    source="PyTorch: nn.functional.poisson_nll_loss",
    samples=lambda: (
        sample([0.5, -1.0], [1.5, 3.0], log_input=True, full=False, eps=1e-8, reduction="mean"),
        sample([0.5, 1.0], [1.5, 3.0], log_input=False, full=False, eps=1e-8, reduction="sum"),
        sample([0.5, -1.0], [0.5, 3.0], log_input=True, full=True, eps=1e-8, reduction="none"),
        sample(0.5, 2.5, log_input=True, full=True, eps=1e-8, reduction="mean"),
    ),
    bad=lambda: _refusals(log_input=True, full=False, eps=1e-8),
)


def _variances(shape: Shape, given: Shape) -> Shape:
    """The shape of the variances, brought beside that of the input."""
    if given and given != shape:
        if given == shape[:-1]:
            return (*given, 1)
        if given != (*shape[:-1], 1):
            raise run_error(
                "shape-mismatch",
                f"`var` has the shape {list(shape)} of the input, or of that without its last "
                f"dimension, got {list(given)}",
            )
    return given


def _gaussian(x: Any, target: Any, var: Any, full: Any, eps: Any, reduction: Any) -> Any:
    if _variances(shape_of(x), shape_of(var)) != shape_of(var):
        var = ops.unsqueeze(var, dim=-1)
    data = np.asarray(data_of(var))
    if (data < 0).any():
        raise run_error("bad-argument", "`var` cannot be negative")
    lift = np.maximum(eps - data, 0).astype(floating(x, target, var) or np.float64)
    safe = ops.add(var, lift if lift.ndim else float(lift))  # as PyTorch: no corner at eps
    gap = ops.square(ops.sub(x, target))
    losses = ops.mul(ops.add(ops.log(safe), ops.div(gap, safe)), 0.5)
    return reduced(ops.add(losses, _HALF_LOG_TWO_PI) if full else losses, reduction)


gaussian_nll_loss: Op = composite(
    "gaussian_nll_loss",
    _gaussian,
    shape=lambda x, target, var, *, reduction, **params: _left(
        broadcast(x, target, _variances(x, var)), reduction
    ),
    dtype=floating,
    args=("input", "target", "var"),
    params={"full": False, "eps": 1e-6, **_REDUCTION},
    doc="Mean of (log(var) + (input - target) ** 2 / var) / 2, the negative logarithm of the "
    "normal density but for a constant, which `full` adds; var is at least eps.",
    source="PyTorch: nn.functional.gaussian_nll_loss",
    samples=lambda: (
        sample([0.5, -1.0], [1.5, 3.0], [0.5, 2.0], full=False, eps=1e-6, reduction="mean"),
        sample([[0.5, -1.0]], [[1.5, 3.0]], [0.5], full=True, eps=1e-6, reduction="sum"),
        sample([[0.5, -1.0]], [[1.5, 3.0]], [[0.5]], full=False, eps=1e-6, reduction="none"),
        sample(0.5, 2.5, 1.5, full=False, eps=1e-6, reduction="mean"),
    ),
    bad=lambda: (
        bad((2, 3), (2, 3), (3,), full=False, eps=1e-6, reduction="mean", says="the shape [2, 3]"),
        bad((2,), (2,), [-1.0, 1.0], full=False, eps=1e-6, reduction="mean", says="negative"),
    ),
)


# of margins ---------------------------------------------------------------------------------------


def _hinge(x: Any, target: Any, margin: Any, reduction: Any) -> Any:
    apart = ops.clamp_min(ops.sub(margin, x), 0.0)
    losses = ops.add(
        ops.where(ops.ne(target, 1), apart, 0.0), ops.where(ops.ne(target, -1), x, 0.0)
    )
    return reduced(losses, reduction)


hinge_embedding_loss: Op = composite(
    "hinge_embedding_loss",
    _hinge,
    args=("input", "target"),
    params={"margin": 1.0, **_REDUCTION},
    doc="Mean of the input where the target is 1, and of max(0, margin - input) where it is -1.",
    source="PyTorch: nn.functional.hinge_embedding_loss",
    samples=lambda: (
        sample([0.5, 0.3], [1, -1], margin=1.0, reduction="mean"),
        sample([0.5, 2.3], [-1, -1], margin=1.0, reduction="sum"),
        sample([0.5, 0.3], [1, -1], margin=2.0, reduction="none"),
        sample(0.5, -1, margin=1.0, reduction="mean"),
    ),
    bad=lambda: _refusals(margin=1.0),
)

margin_ranking_loss: Op = composite(
    "margin_ranking_loss",
    lambda x1, x2, target, margin, reduction: reduced(
        ops.clamp_min(ops.sub(margin, ops.mul(target, ops.sub(x1, x2))), 0.0), reduction
    ),
    args=("input1", "input2", "target"),
    params={"margin": 0.0, **_REDUCTION},
    doc="Mean of max(0, margin - target (input1 - input2)): the target 1 wants input1 to be "
    "larger, -1 input2.",
    source="PyTorch: nn.functional.margin_ranking_loss",
    samples=lambda: (
        sample([0.5, 0.3], [0.7, -0.2], [1, -1], margin=0.0, reduction="mean"),
        sample([0.5, 0.3], [0.7, -0.2], [1, 1], margin=1.0, reduction="sum"),
        sample([0.5, 0.3], [0.7, -0.2], [1, -1], margin=0.5, reduction="none"),
        sample(0.5, 0.8, 1, margin=0.0, reduction="mean"),
    ),
    bad=lambda: (
        bad((2,), (3,), (2,), margin=0.0, reduction="mean", says="broadcast"),
        bad((2,), (2,), (2,), margin=0.0, reduction="max", says="must be 'mean'"),
    ),
)

soft_margin_loss: Op = composite(
    "soft_margin_loss",
    lambda x, target, reduction: reduced(ops.neg(ops.logsigmoid(ops.mul(target, x))), reduction),
    guards=("input", "target"),
    args=("input", "target"),
    params=_REDUCTION,
    node="SoftMarginLossBackward0(input)",
    doc="Mean of log(1 + exp(-target input)), without overflow.",
    samples=lambda: (
        sample([0.5, -0.3], [1.0, -1.0], reduction="mean"),
        sample([0.5, 2.3], [-1.0, -1.0], reduction="sum"),
        sample([0.5, 100.0], [1.0, -1.0], reduction="none"),
        sample(0.5, -1.0, reduction="mean"),
    ),
    known=lambda: (known([1000.0, -1000.0], [-1, 1], reduction="sum", grad=([1.0, -1.0], None)),),
    bad=_refusals,
)


def _cosine(x1: Any, x2: Any, target: Any, margin: Any, reduction: Any) -> Any:
    sizes = [ops.add(ops.sum(ops.square(x), dim=-1), 1e-12) for x in (x1, x2)]
    near = ops.div(ops.sum(ops.mul(x1, x2), dim=-1), ops.sqrt(ops.mul(*sizes)))
    apart = ops.clamp_min(ops.sub(near, margin), 0.0)
    losses = ops.where(ops.eq(target, 1), ops.sub(1.0, near), apart)
    return reduced(ops.where(ops.eq(ops.abs(target), 1), losses, 0.0), reduction)


cosine_embedding_loss: Op = composite(
    "cosine_embedding_loss",
    _cosine,
    guards=("input1", "input2"),
    args=("input1", "input2", "target"),
    params={"margin": 0.0, **_REDUCTION},
    doc="Mean of 1 - c where the target is 1, and of max(0, c - margin) where it is -1. c is the "
    "cosine of the angle, with 1e-12 added to the squared norms.",
    source="PyTorch: nn.functional.cosine_embedding_loss",
    samples=lambda: (
        sample(
            [[1.0, 2.0], [0.5, -1.0]],
            [[0.3, 1.0], [2.0, 1.0]],
            [1, 1],
            margin=0.0,
            reduction="mean",
        ),
        sample(
            [[1.0, 2.0], [0.5, -1.0]],
            [[0.3, 1.0], [2.0, 0.5]],
            [-1, 1],
            margin=0.1,
            reduction="none",
        ),
        sample([1.0, 2.0], [0.3, 1.0], -1, margin=0.0, reduction="sum"),
    ),
    bad=lambda: (bad((2,), (2,), 1, margin=0.0, reduction="max", says="must be 'mean'"),),
)
