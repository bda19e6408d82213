"""Check derivatives of an op at a sample with central differences, in both modes and orders."""

from __future__ import annotations

import numpy as np
from support.checks.oracles import (
    ATOL,
    RTOL,
    Case,
    Run,
    central_differences,
    flat,
    forward,
    reverse,
    slopes,
    split,
    ways,
)

from gradcli.engine.ops.op import Op
from gradcli.engine.tape.tensor import Tensor


def told(entry: Op, s, got, expected) -> str:
    return f"{entry.name}{s.args} {s.params}: got\n{got}\nexpected\n{expected}"


def near(got: np.ndarray, expected: np.ndarray) -> bool:
    """`np.allclose` in a fraction of its time; nan is never near."""
    if got.shape != expected.shape:
        return False
    finite = np.isfinite(got) & np.isfinite(expected)
    close = np.abs(got - expected) <= ATOL + RTOL * np.abs(expected)
    return bool(((got == expected) | (close & finite)).all())


# --- first order -------------------------------------------------------------------------


def check_first(case: Case) -> None:
    expected = central_differences(case.value, case.point)
    _agree(case, case.rows, expected)
    _agree(case, case.columns, expected)


def _agree(case: Case, got: np.ndarray, expected: np.ndarray) -> None:
    nan = np.isnan(expected)
    fits = got.shape == expected.shape and near(got[~nan], expected[~nan])
    fits = fits and bool(np.isnan(got[nan]).all())
    assert fits, told(case.op, case.sample, got, expected)


# --- second order ------------------------------------------------------------------------


def check_second(case: Case) -> None:
    rng = np.random.default_rng(0)
    along = rng.standard_normal(case.point.size)
    weights = rng.standard_normal(flat(case.run.outs).size)
    seen = ways(case.point.size, rng)

    def slope(x):
        run = case.at(x)
        return np.dot(weights, flat(forward(run.outs, split(along, run.leaves), run.leaves)))

    expected = slopes(slope, case.point, seen)
    for name, got in second_derivatives(case.run, along, weights, seen).items():
        assert near(got, expected), f"{name} of {told(case.op, case.sample, got, expected)}"


def second_derivatives(run: Run, along, weights, seen):
    """Second derivatives by each mode over each mode along the given directions, with the first
    pass recorded once for both.
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
