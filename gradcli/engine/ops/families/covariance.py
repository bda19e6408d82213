"""Covariances and correlations."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, bad, composite, sample
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import dtype_of, np, shape_of
from gradcli.engine.values.sizes import whole
from gradcli.errors import run_error

FAMILY = 135, "Covariances"


def _observations(x: Any) -> Any:
    """Variables in rows, observations in columns."""
    shape = shape_of(x)
    if len(shape) > 2:
        raise run_error(
            "shape-mismatch", f"a covariance is of a vector or a matrix, got {len(shape)} dims"
        )
    return x if len(shape) == 2 else ops.reshape(x, shape=(1, -1))


def _weights(fweights: Any, aweights: Any, count: int) -> Any:
    """The weight of each observation; None if all count once."""
    for name, given, whole_ones in (("fweights", fweights, True), ("aweights", aweights, False)):
        if given is None:
            continue
        if shape_of(given) not in ((count,), () if count == 1 else (count,)):
            raise run_error("shape-mismatch", f"`{name}` has one weight for each observation")
        dtype = dtype_of(given)  # None where only a run tells it
        if dtype is not None and whole_ones == dtype.startswith("float"):
            kind = "ints" if whole_ones else "floats"
            raise run_error("dtype-mismatch", f"`{name}` must be {kind}")
        if isinstance(given, Tensor) and np.any(np.less(given.data, 0)):
            raise run_error("bad-argument", f"`{name}` cannot be negative")
    if fweights is None or aweights is None:
        return aweights if fweights is None else fweights
    return ops.mul(fweights, aweights)


def _taken(weights: Any, aweights: Any, less: int, total: Any) -> Any:
    """What the correction takes from the sum of the weights."""
    if aweights is None:
        return less
    return ops.div(ops.mul(ops.sum(ops.mul(weights, aweights)), less), total)


def _cov(x: Any, fweights: Any, aweights: Any, correction: Any) -> Any:
    rows, less = _observations(x), whole(correction, "correction")
    count = shape_of(rows)[1]
    weights = _weights(fweights, aweights, count)
    if weights is None:
        mean = ops.div(ops.sum(rows, dim=1), count)
        norm: Any = max(count - less, 0)
    else:
        total = ops.sum(weights)
        mean = ops.div(ops.sum(ops.mul(rows, weights), dim=1), total)
        norm = total if not less else ops.sub(total, _taken(weights, aweights, less, total))
        if isinstance(norm, Tensor) and norm.ndim == 0 and data_of(norm) <= 0:
            norm = 0
    apart = ops.sub(rows, ops.unsqueeze(mean, dim=1))
    weighed = apart if weights is None else ops.mul(apart, weights)
    found = ops.mm(apart, ops.t(weighed))
    return ops.squeeze(ops.div(found, norm), dim=None)


cov: Op = composite(
    "cov",
    _cov,
    args=("input", "fweights=None", "aweights=None"),
    params={"correction": 1},
    doc="The covariances of the rows of a matrix, whose columns are observations, with weights of "
    "these: `fweights` say how often each was seen. The sum is divided by the count less "
    "`correction`.",
    source="PyTorch: cov",
    samples=lambda: (
        sample([[1.0, 2.0, 4.0], [3.0, 1.0, 0.5]], None, None),
        sample([[1.0, 2.0, 4.0], [3.0, 1.0, 0.5]], None, None, correction=0),
        sample([1.0, 2.0, 4.0], None, None),
        sample([[1.0, 2.0, 4.0], [3.0, 1.0, 0.5]], [1, 3, 2], None),
        sample([[1.0, 2.0, 4.0], [3.0, 1.0, 0.5]], None, [0.5, 1.5, 2.0]),
        sample([[1.0, 2.0, 4.0], [3.0, 1.0, 0.5]], [1, 3, 2], [0.5, 1.5, 2.0], correction=0),
    ),
    bad=lambda: (
        bad((2, 2, 2), None, None, says="a vector or a matrix"),
        bad((2, 3), [1, 2], None, says="for each observation"),
        bad((2, 2), [1.5, 2.0], None, says="must be ints"),
        bad((2, 2), None, [1, 2], says="must be floats"),
    ),
)


def _corrcoef(x: Any) -> Any:
    found = _cov(x, None, None, 1)
    if not shape_of(found):
        return ops.div(found, found)
    spread = ops.sqrt(ops.diagonal(found, offset=0, dim1=0, dim2=1))
    by_rows = ops.div(found, ops.reshape(spread, shape=(-1, 1)))
    return ops.clamp(ops.div(by_rows, ops.reshape(spread, shape=(1, -1))), -1.0, 1.0)


corrcoef: Op = composite(
    "corrcoef",
    _corrcoef,
    doc="The correlations of the rows of a matrix, whose columns are observations: covariances "
    "divided by both standard deviations, and clamped to what lies between -1 and 1.",
    source="PyTorch: corrcoef",
    samples=lambda: (
        sample([[1.0, 2.0, 4.0], [3.0, 1.0, 0.5]]),
        sample([[1.0, 2.0, 4.0, 0.1], [3.0, 1.0, 0.5, 1.1], [0.2, -1.0, 0.3, 0.4]]),
        sample([1.0, 2.0, 4.0]),
    ),
    bad=lambda: (bad((2, 2, 2), says="a vector or a matrix"),),
)
