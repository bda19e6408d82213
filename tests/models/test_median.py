"""The median in a few passes is NumPy's."""

import numpy as np
import pytest

from gradcli.models import median as medians

RNG = np.random.default_rng(5)
KINDS = {
    "normal": RNG.standard_normal(4001),
    "even": RNG.standard_normal(4000),
    "far": np.r_[RNG.standard_normal(3000), 1e300, 1e200],
    "equal": np.full(3000, 2.5),
    "ties": RNG.integers(0, 3, 3000).astype(float),
    "neighbours": np.r_[np.full(1500, 1.0), np.full(1501, np.nextafter(1.0, 2.0))],
    "small": 1e-300 * RNG.standard_normal(3001),
}


def asked(*parts):
    """Asks numbers in parts, each of some arrays."""
    return lambda function, *more: (function(iter(part), *more) for part in parts)


@pytest.mark.parametrize("name", KINDS)
def test_the_median_is_numpys(name, monkeypatch):
    monkeypatch.setattr(medians, "_AT_ONCE", 50)
    monkeypatch.setattr(medians, "_BINS", 16)
    numbers = KINDS[name]
    assert medians.median(asked([numbers])) == pytest.approx(np.median(numbers), rel=1e-15)
    few = np.array_split(numbers, 7)
    found = medians.median(asked(few))
    assert found == pytest.approx(np.median(numbers), rel=1e-15)
    assert medians.median(asked(few[:3], [], few[3:])) == found


def test_a_few_numbers_have_numpys_median():
    for numbers in KINDS.values():
        assert medians.median(asked([numbers])) == np.median(numbers)
    assert np.isnan(medians.median(asked([np.zeros(0)])))
