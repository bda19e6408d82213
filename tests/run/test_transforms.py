"""Transforms of functions: what they do not disturb."""

import numpy as np
import pytest

from gradcli.program import load

CHANGING = """
x = tensor([1.0, 2.0])
def f(x):
    x[:1].mul_(3.0)
    return (x * x).sum()
CALL
x
"""


@pytest.mark.parametrize(
    "call",
    [
        "grad(f)(x)",
        "value_and_grad(f)(x)",
        "jacobian(f)(x)",
        "jacfwd(f)(x)",
        "hessian(f)(x)",
        "hvp(f, x, x)",
        "jvp(f, x, ones(2))",
        "vjp(f, x)[1](1.0)",
        "grad(lambda v: f(v[0]))([x, x])",
    ],
)
def test_a_function_that_changes_its_argument_does_not_change_the_callers(call):
    assert load(CHANGING.replace("CALL", f"d = {call}")).run().result.tolist() == [1.0, 2.0]


def test_a_change_of_the_argument_is_differentiated():
    found = load(CHANGING.replace("CALL", "d = grad(f)(x)")).run()
    d = next(b.value for b in found.bindings if b.name == "d")
    assert d.tolist() == [18.0, 4.0]


@pytest.mark.parametrize("call", ["jacobian(f)([x, y])", "jacfwd(f)([x, y])"])
def test_a_jacobian_by_a_list_of_tensors_is_a_list(call):
    text = f"x = tensor([1.0, 2.0])\ny = tensor(3.0)\nf = lambda v: v[0] * v[1]\nJ = {call}\n"
    by_x, by_y = load(text + "J[0]").run().result, load(text + "J[1]").run().result
    assert np.array_equal(by_x, [[3.0, 0.0], [0.0, 3.0]])
    assert np.array_equal(by_y, [1.0, 2.0])
