"""Whole powers of arrays: those of negative numbers are those of their sizes, with a sign."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradcli.engine.numerics import exact, ieee
from gradcli.engine.values.data import Quiet
from gradcli.program import Options, load

EDGES = [0.0, 5e-324, 1e-200, 0.5, 1.0, 1.5, 1e200, np.inf, np.nan]
SIZES = np.array([*EDGES, *np.random.default_rng(3).lognormal(0, 2, 200)])
WHOLE = [3, 3.0, 4, 7.0, 20, -2, -3.0, -4, 2**53, 2.0**60, 1e300]


@pytest.fixture(autouse=True)
def quiet():
    with Quiet():
        yield


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("exponent", WHOLE)
def test_the_sign_decides_no_digit(exponent, dtype):
    sizes = SIZES.astype(dtype)
    above, below = exact.power(sizes, exponent), exact.power(-sizes, exponent)
    assert above.dtype == below.dtype == dtype
    expected = -above if exponent % 2 else above
    np.testing.assert_array_equal(below, expected)
    np.testing.assert_array_equal(np.signbit(below[:-1]), np.signbit(expected[:-1]))


@pytest.mark.parametrize("exponent", [*WHOLE, -1, 0, 1, 2, 2.5, np.inf, -np.inf, np.nan])
def test_arrays_are_close_to_numbers(exponent):
    """Up to the last digit; where one is zero, infinite or nan, so is the other, sign included."""
    for x in (SIZES, -SIZES):
        found = exact.power(x, exponent)
        for at, one in zip(x.tolist(), found.tolist(), strict=True):
            wanted = ieee.power(at, float(exponent))
            if wanted in (0.0, np.inf, -np.inf) or math.isnan(wanted):
                assert repr(one) == repr(wanted), (at, exponent, one, wanted)
            else:
                assert abs(one - wanted) <= 2 * np.spacing(abs(wanted)), (at, exponent, one, wanted)


@pytest.mark.parametrize("exponent", ["3", "-2", "k", "m", "y", "2.5"])
@pytest.mark.parametrize("count", [1, 9])
def test_code_has_the_interpreters_bits(exponent, count):
    pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")
    program = load(
        f"param x: float[{count}]\ninput k = 3.0\ninput m = 4\ninput y: float[{count}]\n"
        f"z = x\nfor i in range(3):\n    z = (z * 0.9 - 0.01) ** {exponent} + x\nz.sum()"
    )
    values = {"x": SIZES[9 : 9 + count] * (-1) ** np.arange(count), "y": np.arange(count) + 1.0}
    for ask in (program.grad, program.hessian):
        interpreted = ask(values, options=Options(compile="never"))
        assert ask(values, options=Options(compile="auto")).to_json() == interpreted.to_json()
