"""A place where the command differentiates is nothing that the program can see."""

import pytest

from gradcli.program import load

TEXT = """
x = tensor([3.0], requires_grad=True)
y = x * 2
print(y, y.grad_fn, y.is_leaf, y.requires_grad)
z = y * y
print(z.grad_fn.next_functions)
z.sum()
"""


@pytest.mark.parametrize("wrt", ["x", "y", ["x", "y"]], ids=str)
def test_a_program_prints_the_same_whatever_it_is_differentiated_by(wrt):
    assert load(TEXT).grad(wrt=wrt).printed == load(TEXT).run().printed


def test_a_name_that_is_watched_has_no_history_of_its_own():
    text = "x = 3.0\ny = tensor([1.0]) * x\nprint(y, y.grad_fn, y.requires_grad)\ny.sum()"
    assert load(text).grad(wrt="y").printed == ("tensor([3.]) None False",)
