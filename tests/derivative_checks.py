"""Derivatives of an op at a sample, held against central differences: both modes and orders."""

from __future__ import annotations

import numpy as np
from oracles import (
    ATOL,
    RTOL,
    Case,
    Run,
    central_differences,
    flat,
    forward,
    jacobian_forward,
    jacobian_reverse,
    reverse,
    slopes,
    split,
    ways,
)

from gradcli.engine.ops.op import Op
from gradcli.engine.tape.tensor import Tensor


def told(entry: Op, s, got, expected) -> str:
    return f"{entry.name}{s.args} {s.params}: got\n{got}\nexpected\n{expected}"


def agree(got, expected, entry: Op, s, rtol: float = RTOL, atol: float = ATOL) -> None:
    fits = np.shape(got) == np.shape(expected) and np.allclose(
        got, expected, rtol=rtol, atol=atol, equal_nan=True
    )
    assert fits, told(entry, s, got, expected)


# --- first order -------------------------------------------------------------------------


def check_first(entry, s):
    case = Case(entry, s)
    expected = central_differences(case.value, case.point)
    agree(jacobian_reverse(case.run), expected, entry, s)
    agree(jacobian_forward(case.run), expected, entry, s)


# --- second order ------------------------------------------------------------------------


def check_second(entry, s):
    case = Case(entry, s)
    rng = np.random.default_rng(0)
    along = rng.standard_normal(case.point.size)
    weights = rng.standard_normal(flat(case.run.outs).size)
    seen = ways(case.point.size, rng)

    def slope(x):
        run = case.at(x)
        return np.dot(weights, flat(forward(run.outs, split(along, run.leaves), run.leaves)))

    expected = slopes(slope, case.point, seen)
    for name, got in second_derivatives(case.run, along, weights, seen).items():
        fits = np.allclose(got, expected, rtol=RTOL, atol=ATOL)
        assert fits, f"{name} of {told(entry, s, got, expected)}"


def second_derivatives(run: Run, along, weights, seen):
    """The same by each mode over each mode, whose first pass is recorded once for both, as slopes
    along the directions that are seen.
    """
    pulled = _connected(reverse(run.outs, split(weights, run.outs), run.leaves, graph=True))
    pushed = _connected(forward(run.outs, split(along, run.leaves), run.leaves, graph=True))
    twice = [forward(pushed, split(way, run.leaves), run.leaves) for way in seen]
    return {
        "reverse over reverse": seen @ flat(reverse(pulled, split(along, run.leaves), run.leaves)),
        "reverse over forward": seen @ flat(reverse(pushed, split(weights, run.outs), run.leaves)),
        "forward over reverse": seen @ flat(forward(pulled, split(along, run.leaves), run.leaves)),
        "forward over forward": np.array([np.dot(weights, flat(dots)) for dots in twice]),
    }


def _connected(tensors):
    return [t if isinstance(t, Tensor) else Tensor(t) for t in tensors]
