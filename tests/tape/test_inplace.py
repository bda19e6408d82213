"""Changes in place of a result that is not the first of its op."""

import pytest

from gradcli.program import load

CHANGES = {
    "the result itself": ("m *= 3.0", [1.5, 1.5]),
    "a method": ("m.mul_(3.0)", [1.5, 1.5]),
    "a view of it": ("v = m[0:1]\nv *= 3.0", [1.5, 0.5]),
    "a view of a view": ("v = m[0:2][1:]\nv *= 3.0", [0.5, 1.5]),
    "an item": ("m[1] *= 3.0", [0.5, 1.5]),
    "an item that is set": ("m[1] = m[0] * 4", [2.5, 0.0]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_second_result_of_an_op_is_changed_in_place(change):
    written, wanted = CHANGES[change]
    text = f"input x = [[1.0, 2.0], [4.0, 3.0]]\ns, m = std_mean(x, dim=0)\n{written}\nm.sum()"
    found = load(text).grad(wrt="x").grad["x"]
    assert found.tolist() == [wanted, wanted], change
    both = load(f"{text} + 0 * s.sum()").grad(wrt="x").grad["x"]
    assert both.tolist() == [wanted, wanted], change
