"""The square singular vectors of matrices that are not square: their first columns have the derivative
of the reduced ones, the others count as constants.
"""

import numpy as np
import pytest

from gradcli.program import load

TEXT = """
param A: float[{shape}]
input f: float[{m},{m}]
input g: float[{n},{n}]
u, s, v = svd(A, some={some})
(u * f[:, :{left}]).sum() * (v * g[:, :{right}]).sum() + s.sum()
"""
SIZES = [(2, 3), (3, 2), (4, 2), (2, 5), (3, 3), (1, 3), (3, 1)]


def asked(m, n, some, question, shape=None, **more):
    k = min(m, n)
    left, right = (k, k) if some else (m, n)
    text = TEXT.format(shape=f"{m},{n}", m=m, n=n, some=some, left=left, right=right)
    numbers = np.random.default_rng(7 * m + n)
    given = {"A": numbers.normal(size=(m, n))}
    given |= {"f": numbers.normal(size=(m, m)), "g": numbers.normal(size=(n, n))}
    if not more.pop("whole", True):  # what lies beyond the reduced columns does not count
        given["f"][:, k:], given["g"][:, k:] = 0.0, 0.0
    return getattr(load(text), question)(given, **more)


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_the_first_columns_have_the_derivative_of_the_reduced_ones(m, n):
    square = asked(m, n, False, "grad", whole=False)
    reduced = asked(m, n, True, "grad", whole=False)
    assert square.value == pytest.approx(reduced.value, rel=1e-12)
    np.testing.assert_allclose(square.grad["A"], reduced.grad["A"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_both_modes_agree_with_the_others_as_constants(m, n):
    reverse = asked(m, n, False, "grad").grad["A"]
    forward = asked(m, n, False, "jacobian", mode="forward").jacobian["A"]
    np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-12)
    assert np.isfinite(reverse).all()
    assert np.abs(reverse).max() > 0


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2, 0), (0, 2)])
def test_square_bases_are_orthogonal(shape):
    found = load("input A: float[m,n]\nu, s, v = svd(A, some=False)\nu.T @ u")
    matrix = np.random.default_rng(0).normal(size=shape)
    u = found.run(A=matrix).result
    np.testing.assert_allclose(np.asarray(u), np.eye(shape[0]), atol=1e-12)
