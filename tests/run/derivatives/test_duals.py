"""Dual tensors keep the tangent that they were given."""

import pytest

from gradcli.errors import GradError
from gradcli.program import load

BEFORE = """
import torch
import torch.autograd.forward_ad as fwAD
x = torch.tensor([1.0, 2.0])
t = torch.tensor([3.0, 4.0])
with fwAD.dual_level():
    d = fwAD.make_dual(x, t)
    y = d * d
"""


def printed(*lines):
    inside = "\n".join(f"    {line}" for line in lines)
    return load(BEFORE + inside).run().printed


def test_the_tangent_of_a_dual_tensor_is_that_which_was_given():
    assert printed("print(fwAD.unpack_dual(d).tangent is t)") == ("True",)
    assert printed("print(fwAD.unpack_dual(d)[0] is d, fwAD.unpack_dual(x).tangent)") == (
        "False None",
    )


def test_a_change_of_the_tangent_is_seen_in_the_dual_tensor():
    assert printed("t *= 2", "print(fwAD.unpack_dual(d).tangent)") == ("tensor([6., 8.])",)


@pytest.mark.parametrize("change", ["t *= 2", "fwAD.unpack_dual(d).tangent.add_(1)", "t[0] = 5"])
def test_a_tangent_that_was_changed_is_not_used_for_what_was_made_before(change):
    with pytest.raises(GradError) as caught:
        printed(change, "fwAD.unpack_dual(y)")
    (found,) = caught.value.diagnostics
    assert (found.code, "clone" in found.help) == ("changed-in-place", True)


def test_a_tangent_that_takes_no_part_may_be_changed():
    lines = ("s = torch.ones(2)", "e = fwAD.make_dual(x, s)", "s *= 5")
    assert printed(*lines, "print(fwAD.unpack_dual(y).tangent)") == ("tensor([ 6., 16.])",)
