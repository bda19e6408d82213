"""Third derivatives of element-wise ops and of the matrix product, against central differences."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import (
    Case,
    central_differences,
    flat,
    floating,
    forward,
    per_op,
    reverse,
    split,
    table,
    values,
)

from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import Quiet

CASES = per_op(
    (op, [s for s in op.samples() if any(floating(a) and np.size(a) for a in values(s.args))])
    for op in table().values()
    if op.partials is not None or op.name == "matmul"
)


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


def connected(tensors):
    return [t if isinstance(t, Tensor) else Tensor(t) for t in tensors]


def seen(case):
    """The weights and directions that a third derivative is looked at along."""
    rng = np.random.default_rng(0)
    directions = [rng.standard_normal(case.point.size) for _ in range(2)]
    return rng.standard_normal(flat(case.run.outs).size), *directions


def twice_reverse(run, weights, along):
    """Second derivative along a direction, as a function of the leaves that is still recorded."""
    once = reverse(run.outs, split(weights, run.outs), run.leaves, graph=True)
    return connected(reverse(connected(once), split(along, run.leaves), run.leaves, graph=True))


def twice_forward(run, along):
    once = forward(run.outs, split(along, run.leaves), run.leaves, graph=True)
    return connected(forward(connected(once), split(along, run.leaves), run.leaves, graph=True))


@pytest.mark.parametrize(("op", "samples"), CASES)
def test_third_derivatives_agree_with_central_differences(op, samples):
    for s in samples:
        check_third(op, s)


def check_third(op, s):
    case = Case(op, s)
    weights, first, second = seen(case)

    def slope(x):
        return np.array([np.dot(second, flat(twice_reverse(case.at(x), weights, first)))])

    expected = central_differences(slope, case.point)[0]
    curved = twice_reverse(case.run, weights, first)
    got = flat(reverse(curved, split(second, case.run.leaves), case.run.leaves))
    assert np.allclose(got, expected, rtol=1e-3, atol=1e-5), (
        f"reverse, three times, of {op.name}{s.args} {s.params}: got\n{got}\nexpected\n{expected}"
    )

    def bend(x):
        return np.array([np.dot(weights, flat(twice_forward(case.at(x), first)))])

    expected = central_differences(bend, case.point)[0]
    curved = twice_forward(case.run, first)
    got = flat(reverse(curved, split(weights, case.run.outs), case.run.leaves))
    assert np.allclose(got, expected, rtol=1e-3, atol=1e-5), (
        f"reverse over forward over forward of {op.name}{s.args} {s.params}: got\n{got}\n"
        f"expected\n{expected}"
    )
    along = forward(curved, split(second, case.run.leaves), case.run.leaves)
    got = np.dot(weights, flat(along))
    assert np.allclose(got, np.dot(expected, second), rtol=1e-3, atol=1e-5), (
        f"forward, three times, of {op.name}{s.args} {s.params}: got {got}, "
        f"expected {np.dot(expected, second)}"
    )
