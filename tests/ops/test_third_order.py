"""Third derivatives of element-wise ops and of the matrix product, against central differences."""

from __future__ import annotations

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.oracles import (
    Case,
    flat,
    floating,
    forward,
    per_op,
    reverse,
    slopes,
    split,
    table,
    values,
    ways,
)

from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import Quiet

SHOWN = 4
"""Samples of an op in every run; the others are `long`."""


def cases(part):
    return per_op(
        (
            op,
            [
                s
                for s in op.page.samples()
                if any(floating(a) and np.size(a) for a in values(s.args))
            ][part],
        )
        for op in table().values()
        if op.derivatives.partials is not None or op.name == "matmul"
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


@by_family(cases(slice(SHOWN)))
def test_third_derivatives_agree_with_central_differences(op, samples):
    for s in samples:
        check_third(op, s)


@pytest.mark.long
@by_family(cases(slice(SHOWN, None)))
def test_those_of_the_other_samples_do_too(op, samples):
    for s in samples:
        check_third(op, s)


def check_third(op, s):
    case = Case(op, s)
    weights, first, second = seen(case)
    along = ways(case.point.size, np.random.default_rng(1))

    def slope(x):
        return np.dot(second, flat(twice_reverse(case.at(x), weights, first)))

    def agree(mode, got, expected):
        assert np.allclose(got, expected, rtol=1e-3, atol=1e-5), (
            f"{mode} of {op.name}{s.args} {s.params}: got\n{got}\nexpected\n{expected}"
        )

    curved = twice_reverse(case.run, weights, first)
    got = flat(reverse(curved, split(second, case.run.leaves), case.run.leaves))
    agree("reverse, three times,", along @ got, slopes(slope, case.point, along))

    def bend(x):
        return np.dot(weights, flat(twice_forward(case.at(x), first)))

    curved = twice_forward(case.run, first)
    got = flat(reverse(curved, split(weights, case.run.outs), case.run.leaves))
    agree("reverse over forward over forward", along @ got, slopes(bend, case.point, along))
    thrice = flat(forward(curved, split(second, case.run.leaves), case.run.leaves))
    agree("forward, three times,", np.dot(weights, thrice), np.dot(got, second))
