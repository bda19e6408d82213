"""A derivative that has become constant: which of them PyTorch can differentiate once more."""

import pytest

from gradcli.program import load

AGAIN = {  # recorded from PyTorch 2.13: which derivatives, from the first on, have a graph
    "x ** 0": [False],
    "x ** 1": [True, False],
    "x ** 2": [True, True, False],
    "x ** 3": [True, True, True, False],
    "x.square()": [True, True, False],
    "x.sum() ** 2": [True, True, False],
    "2 * x": [False],
    "x * x": [True, False],
    "x / 2": [False],
    "x.norm(1)": [True, False],
    "abs(x)": [True, False],
    "clamp(x, 0, 1)": [False],
    "F.hardtanh(x)": [True, False],
    "F.relu6(x)": [True, False],
    "F.leaky_relu(x)": [True, False],
    "F.hardshrink(x)": [True, False],
    "F.softshrink(x)": [True, False],
    "F.threshold(x, 0.1, 1.0)": [True, False],
    "sort(x)[0]": [False],
    "topk(x, 1)[0]": [False],
    "cummax(x, 0)[0]": [False],
    "quantile(x, 0.4)": [False],
}
TEXT = """
x = tensor([0.3, 0.6], requires_grad=True)
y = FORMULA
while y.requires_grad:
    y, = torch.autograd.grad(y.sum(), x, create_graph=True)
    print(y.requires_grad)
"""


@pytest.mark.parametrize("formula", AGAIN)
def test_a_derivative_has_a_graph_as_long_as_in_pytorch(formula):
    printed = load(TEXT.replace("FORMULA", formula)).run().printed
    assert [line == "True" for line in printed] == AGAIN[formula]


def test_the_third_derivative_of_a_square_is_zero():
    text = "x = tensor(2.0, requires_grad=True)\ny = x ** 2\nfor i in range(3):\n"
    text += "    y, = torch.autograd.grad(y, x, create_graph=True)\nprint(y)"
    assert load(text).run().printed == ("tensor(0.)",)


def test_the_slope_of_relu_is_differentiated():
    text = (
        "x = tensor([-1.0, 2.0], requires_grad=True)\ng, = torch.autograd.grad(relu(x).sum(), x, "
    )
    text += "create_graph=True)\nprint(g.requires_grad, torch.autograd.grad(g.sum(), x))"
    assert load(text).run().printed == ("True (tensor([0., 0.]),)",)


FORWARD = """
x = tensor([0.3, 0.6], requires_grad=True)
y = FORMULA
print(y.requires_grad)
y.sum().backward()
print(x.grad)
"""


@pytest.mark.parametrize(
    "formula",
    [
        "torch.func.jvp(lambda p: p * 3, (x,), (ones_like(x),))[1]",
        "torch.func.jvp(torch.func.grad(lambda p: (p * p).sum()), (x,), (ones_like(x),))[1]",
        "torch.func.jacfwd(lambda p: p / 2)(x)",
        "torch.func.hessian(lambda p: (p * p).sum())(x)",
    ],
)
def test_a_constant_slope_of_forward_mode_has_the_derivative_zero(formula):
    printed = load(FORWARD.replace("FORMULA", formula)).run().printed
    assert printed == ("True", "tensor([0., 0.])")


def test_a_slope_of_what_does_not_depend_on_the_leaf_has_no_graph():
    text = (
        "x = tensor([0.3], requires_grad=True)\nprint(torch.func.jvp(lambda p: ones(2), (x,), (x,))"
    )
    assert load(text + "[1].requires_grad)").run().printed == ("False",)
