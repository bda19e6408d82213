"""A place where the command differentiates is nothing that the program can see."""

import pytest

from gradcli.errors import GradError
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


DECLARED = {
    "a constant": "x = tensor([1.0, 2.0])",
    "an input": "input x: float[2] = [1.0, 2.0]",
    "a param": "param x = [1.0, 2.0]",
    "a leaf": "x = tensor([1.0, 2.0], requires_grad=True)",
    "a computed tensor": "x = arange(1.0, 3.0)",
    "another name of a tensor": "z = tensor([1.0, 2.0])\nx = z",
    "another name of a leaf": "z = tensor([1.0, 2.0], requires_grad=True)\nx = z",
}
STATEMENTS = [
    "x.requires_grad_()",
    "x.requires_grad = True",
    "x.requires_grad_(False)",
    "x.requires_grad_()\nx.requires_grad = False\nx.requires_grad_()",
    "w = x * x\nx.requires_grad_()",
]
CUBES = "STATEMENT\nprint(x, x.is_leaf, x.requires_grad)\n(x ** 3).sum()"


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("declared", DECLARED.values(), ids=list(DECLARED))
def test_what_a_program_makes_a_leaf_or_none_is_differentiated_as_before(declared, statement):
    program = load(f"{declared}\n{CUBES.replace('STATEMENT', statement)}")
    ones = {"x": [1.0, 1.0]}
    found = program.grad(wrt="x")
    assert found.printed == program.run().printed
    assert found.grad["x"].tolist() == [3.0, 12.0]
    assert program.jvp(tangents=ones).jvp == 15.0
    assert program.hvp(tangents=ones, wrt="x").hvp["x"].tolist() == [6.0, 12.0]
    for mode in ("forward", "reverse"):
        assert program.jacobian(wrt="x", mode=mode).jacobian["x"].tolist() == [3.0, 12.0]
        assert program.hessian(wrt="x", mode=mode).hessian["x"]["x"].tolist() == [[6, 0], [0, 12]]
    assert program.gradcheck(wrt="x").passed


def test_the_names_of_leaves_are_differentiated_whenever_they_become_leaves():
    text = "a = tensor(2.0)\nb = ones(1)\nc = tensor(3.0, requires_grad=True)\nd = tensor(5.0)\n"
    text += "a.requires_grad_()\nb.requires_grad = True\nc.requires_grad_(False)\n"
    found = load(text + "(a * b * c * d).sum()").grad()
    assert list(found.grad) == ["a", "b"]
    assert (found.grad["a"], *found.grad["b"]) == (15.0, 30.0)


def test_a_leaf_of_what_the_program_computes_from_an_input_is_none_to_the_command():
    text = "input s = 3.0\nx = tensor([1.0, 2.0]) * s\nx.requires_grad_()\ny = (x * x).sum()\n"
    text += "y.backward()\nprint(x.grad, x.is_leaf, x.grad_fn, y.grad_fn.next_functions)\ny"
    program = load(text)
    assert program.grad().grad["s"] == 30.0
    assert program.grad(wrt=["s", "x"]).grad["x"].tolist() == [6.0, 12.0]
    assert program.jvp(tangents={"s": 1.0}).jvp == 30.0
    assert program.grad().printed == program.run().printed


@pytest.mark.parametrize("x", ["3.0", "tensor(3.0)", "tensor(3.0, requires_grad=True)"])
def test_two_names_of_one_value_are_two_points(x):
    """A tensor that another name holds is the same one, a number is not."""
    program = load(f"x = {x}\ny = x\nx * y")
    by_y = 3.0 if x == "3.0" else 6.0
    found = program.grad(wrt=["x", "y"]).grad
    assert (found["x"], found["y"]) == (6.0, by_y)
    assert program.jvp(tangents={"x": 1.0, "y": 10.0}).jvp == 6.0 + 10 * by_y
    assert program.gradcheck(wrt=["x", "y"]).passed


def test_another_name_of_a_leaf_is_a_leaf_in_place():
    text = "x = tensor([3.0], requires_grad=True)\ny = x\ny[0] = 1.0\ny.sum()"
    with pytest.raises(GradError, match="a leaf tensor that requires grad is changed in place"):
        load(text).grad(wrt="y")
