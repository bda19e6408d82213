"""Slopes by differences, and what is said of derivatives beside them."""

import numpy as np
import pytest

from gradcli.engine.gradcheck.compare import OK, UNSURE, WRONG, _verdict
from gradcli.engine.gradcheck.differences import Line, Slopes


@pytest.mark.parametrize(
    ("function", "slope"), [(np.exp, np.exp), (np.sin, np.cos), (np.log, lambda x: 1 / x)]
)
def test_extrapolation_gives_all_but_the_last_digits(function, slope):
    def at(h):
        return (1.0 + h) - 1.0, np.array([function(1.0 + h)])

    found = Line(at, np.array([function(1.0)]), 1.0, 1.0, 2.0**-52, 2.0**-1074).slopes()
    assert found.value[0] == pytest.approx(slope(1.0), rel=1e-11)
    assert abs(found.value[0] - slope(1.0)) <= found.allowed[0] <= 1e-6


@pytest.mark.parametrize(
    ("analytic", "off_by", "expected"),
    [
        (1.0004, 5e-4, OK),  # the slope is known well enough
        (1.001, 5e-4, WRONG),
        (1.4, 0.5, UNSURE),  # it is not
        (3.0, 0.5, UNSURE),
        (6.0, 0.5, WRONG),  # but so far away nothing is right
    ],
)
def test_what_is_far_off_is_wrong_even_if_the_slope_is_not_known_well(analytic, off_by, expected):
    zero = np.zeros(1)
    slopes = Slopes(np.ones(1), np.array([off_by]), zero, zero, np.zeros(1, bool))
    _, verdict = _verdict(np.array([analytic]), True, slopes, slopes)
    assert verdict.tolist() == [expected]
