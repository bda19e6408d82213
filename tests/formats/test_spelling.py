"""Names that may be meant for others."""

import pytest

from gradcli.formats.texts.spelling import is_near

NEAR = ["t T", "Rate rate", "temp tempo", "temp tamp", "tepm temp"]
NEAR += ["flow_rate flowrate", "k k", "ROOT root", "time times", "mass masss"]
FAR = ["t k", "ab ac", "abc abd", "abc abcd", "temp tape", "temp1 temp2", "temp temp1", "time emit"]
FAR += ["abcd badc", "T T0", "mass mess_y", "x x_", "flow wolf"]


@pytest.mark.parametrize("names", [*NEAR, "flow rate|flowrate", " T |t", "Temp (C)|temp(c)"])
def test_names_that_are_near(names):
    a, b = names.split("|" if "|" in names else " ")
    assert is_near(a, b), names
    assert is_near(b, a), names


@pytest.mark.parametrize("names", FAR)
def test_names_that_are_not_near(names):
    a, b = names.split()
    assert not is_near(a, b), names
    assert not is_near(b, a), names
