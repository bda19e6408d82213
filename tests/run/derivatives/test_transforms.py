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


SINGLE = {  # what differentiates `f` at the float32 `x`
    "grad": "torch.func.grad(lambda p: f(p).sum())(x)",
    "grad of grad": "torch.func.grad(lambda q: torch.func.grad(lambda p: f(p).sum())(q).sum())(x)",
    "vjp": "torch.func.vjp(f, x)[1](x * 0 + 1)[0]",
    "jvp": "torch.func.jvp(f, (x,), (x * 0 + 1,))[1]",
    "jacrev": "torch.func.jacrev(f)(x)",
    "jacfwd": "torch.func.jacfwd(f)(x)",
    "hessian": "torch.func.hessian(lambda p: f(p).sum())(x)",
}


@pytest.mark.parametrize("asked", SINGLE)
@pytest.mark.parametrize("x", ["[1.5, 0.5]", "1.5", "[]"])
def test_derivatives_of_single_precision_are_in_it(x, asked):
    start = f"x = tensor({x}, dtype=float32, requires_grad=True)\n"
    for f in ("p", "p * 2", "p * p", "p.sin()", "p.detach()"):
        text = f"{start}f = lambda p: {f}\nd = {SINGLE[asked]}\nd.dtype == float32"
        assert load(text).run().result is True, (f, asked)


@pytest.mark.parametrize("x", ["[1.5]", "1.5"])
def test_backward_leaves_a_gradient_in_single_precision(x):
    start = f"x = tensor({x}, dtype=float32, requires_grad=True)\n"
    for change in ("x", "x * 2", "x.sum()", "x.clone()"):
        text = f"{start}({change}).backward()\nx.grad.dtype == float32"
        assert load(text).run().result is True, change


@pytest.mark.parametrize("x", ["[1.5, 0.5]", "1.5"])
@pytest.mark.parametrize("f", ["p.sum()", "p.mean()", "(p + 1).sum()", "p.max()"])
def test_a_gradient_can_be_changed_through_its_data(f, x):
    text = f"x = tensor({x})\ng = torch.func.grad(lambda p: {f})(x)\nd = g.data\nd[...] = 3\ng"
    assert np.all(load(text).run().result == 3.0)


@pytest.mark.parametrize(
    ("rule", "slope"),
    [("2.0 * cos(y) * g", "-2.0 * sin(y)"), ("y ** 2 * g", "2.0 * y"), ("3.0 * g", "0.0 * y")],
)
@pytest.mark.parametrize("call", ["grad(F.apply)(1.0)", "vjp(F.apply, 1.0)[1](1.0)[0]"])
def test_a_rule_that_reads_another_value_is_differentiated_by_it(rule, slope, call):
    body = [
        "class F(Function):",
        "    @staticmethod",
        "    def forward(ctx, x): return 2.0 * sin(x)",
    ]
    body += ["    @staticmethod", f"    def backward(ctx, g): return {rule}"]
    inside = "\n    ".join(["def outer(y):", *body, f"return {call}"])
    nested = load(f"{inside}\n[grad(outer)(4.0), grad(grad(outer))(4.0)]").run().result
    above = load(f"f = lambda y: {slope}\n[f(4.0), grad(f)(4.0)]").run().result
    assert nested == pytest.approx(above)
    command = load("\n".join(["param y = 4.0", *body, call])).grad().grad["y"]
    assert command == pytest.approx(above[0])
