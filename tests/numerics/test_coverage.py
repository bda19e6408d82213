"""Coverage factors against SciPy's quantiles."""

from math import inf

import pytest
from scipy.stats import norm, t

from gradcli.engine.numerics.coverage import coverage_factor

LEVELS = (0.01, 0.5, 0.6827, 0.9, 0.95, 0.9545, 0.99, 0.9973, 0.99999)
DOFS = (0.3, 1, 1.5, 2, 3, 4, 5.5, 9, 16.7, 30, 77, 999, 1000, 1e4, 1e9)


@pytest.mark.parametrize("level", LEVELS)
def test_factors_are_quantiles(level):
    assert coverage_factor(level) == pytest.approx(norm.isf((1 - level) / 2), rel=1e-13)
    for dof in DOFS:
        expected = t.isf((1 - level) / 2, dof)
        assert coverage_factor(level, dof) == pytest.approx(expected, rel=2e-12), dof


def test_factors_of_the_guide():
    """JCGM 100:2008, table G.2."""
    table = {(0.95, 1): 12.71, (0.95, 9): 2.26, (0.99, 16): 2.92, (0.9973, 50): 3.16}
    for (level, dof), factor in table.items():
        assert round(coverage_factor(level, dof), 2) == factor
    assert coverage_factor(0.95, inf) == pytest.approx(1.959963984540054, rel=1e-15)


def test_no_probability_is_covered_by_no_width():
    assert coverage_factor(0.0) == 0.0
