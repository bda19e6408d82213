"""The checker of derivatives: right rules pass, planted wrong ones are all caught."""

import numpy as np
import pytest

from gradcli.engine.execute import Executable
from gradcli.engine.gradcheck import gradcheck
from gradcli.engine.session import Session
from gradcli.engine.tensor import Tensor
from gradcli.program import load

A = [1.2, 0.7, 2.3]
B = [0.4, -1.1, 1.7]
M = [[1.2, 0.7, 0.3], [0.5, -1.4, 0.8]]


def checked(text, primals, **options):
    """The records for `f` of a program."""
    session = Session()
    program = load(text)._program
    names, _ = Executable(program).run(session, {})
    given = [p if isinstance(p, float) else Tensor(np.array(p)) for p in primals]
    return gradcheck(names["f"], given, session=session, **options)


RIGHT = {
    "a number": ("def f(x):\n    return sin(x) * x", (1.3,)),
    "a vector": ("def f(x):\n    return x * exp(x)", (A,)),
    "two inputs": ("def f(x, y):\n    return (x * y).sum() / (x @ x)", (A, B)),
    "a matrix product": ("def f(m, x):\n    return tanh(m @ x)", (M, A)),
    "a broadcast": ("def f(m, x):\n    return m * x ** 2", (M, A)),
    "repeated indices": ("def f(x):\n    return x[[0, 0, 2]] ** 3", (A,)),
    "a loop": (
        "def f(x):\n    y = x\n    for i in range(5):\n        y = sin(y) + x\n    return y",
        (A,),
    ),
    "in place": (
        "def f(x):\n    y = x * 1\n    y[0] *= x[1]\n    y[1:] += x[0]\n    return y",
        (A,),
    ),
    "a constant": ("def f(x):\n    return ones(2)", (A,)),
    "an input that is not used": ("def f(x, y):\n    return x ** 3", (A, B)),
    "a large input": ("def f(x):\n    return (x * x * x).sum()", (list(np.linspace(0, 1, 300)),)),
    "large both": ("def f(x):\n    return sin(x) * x.sum()", (list(np.linspace(0, 1, 300)),)),
    "a steep function": ("def f(x):\n    return exp(10 * x)", (0.5,)),
    "a small result of large terms": ("def f(x):\n    return (x + 1e6) - 1e6", (0.5,)),
}

RULES = {
    "cube": ("x", "x ** 3", "g * 3 * x ** 2", (A,)),
    "product": ("x, y", "x * y", "g * y, g * x", (A, B)),
    "quotient": ("x, y", "x / y", "g / y, -g * x / y ** 2", (A, B)),
    "sum": ("x", "(x * x).sum()", "g * 2 * x", (A,)),
    "scaling": ("m, x", "m * x", "g * x, (g * m).sum(0)", (M, A)),
    "matrix": ("m, x", "m @ x", "outer(g, x), m.T @ g", (M, A)),
    "gather": (
        "x",
        "stack([x[1], x[2], x[2]])",
        "stack([g[0] * 0, g[0], g[1] + g[2]])",
        (A,),
    ),
    "square": (
        "m, n",
        "m @ n",
        "g @ n.T, m.T @ g",
        ([[1.0, 2.0], [3.0, -1.0]], [[0.5, 1.5], [2.0, 0.3]]),
    ),
    "softmax": (
        "x",
        "exp(x) / exp(x).sum()",
        "(exp(x) / exp(x).sum()) * (g - (g * exp(x)).sum() / exp(x).sum())",
        (A,),
    ),
}
"""Inputs, value and right gradients of own functions, and the point to check them at."""

WRONG = [
    *(("cube", c) for c in (
        "-g * 3 * x ** 2", "g * x ** 2", "g * 3 * x", "3 * x ** 2", "g * 3 * x ** 2 + 1e-5", "g * 3.0001 * x ** 2",
        "g * 0", "None", "g.detach() * 3 * x ** 2 * (1 + x.detach() * 1e-4)", "g * 3 * x ** 2 * (x > 1)",
        "g * 3 * abs(x) * x * sign(x - 1)", "g * 3 * x[0] ** 2",
        "g.detach() * 3 * x ** 2",
    )),
    *(("product", c) for c in (
        "g * x, g * y", "g * y, -g * x", "g * y, g * y", "g * y, None", "g, g * x", "g * y + g * x, g * x",
        "None, None",
    )),
    *(("quotient", c) for c in (
        "g / y, g * x / y ** 2", "g / y, -g * x / y", "g * y, -g * x / y ** 2", "g / y, -g / y ** 2",
    )),
    *(("sum", c) for c in ("g * x", "g * 2 * x.sum() * ones(3)", "g * 2 * x.flip(0)", "ones(3) * g")),
    *(("scaling", c) for c in ("g * x, (g * m).mean(0)", "g * x, (g * m)[0]", "g, (g * m).sum(0)")),
    *(("matrix", c) for c in ("outer(g, x), m.T @ g * 2", "outer(g, x.flip(0)), m.T @ g", "outer(g, x), None")),
    *(("gather", c) for c in (
        "stack([g[0], g[1], g[2]])", "stack([g[0], g[1] + g[2], g[0] * 0])", "stack([g[0] * 0, g[0], g[1]])",
        "stack([g[0] * 0, g[0], g[2]])",
    )),
    *(("square", c) for c in ("g @ n, m.T @ g", "g @ n.T, m @ g", "(g @ n.T).T, m.T @ g")),
    *(("softmax", c) for c in ("(exp(x) / exp(x).sum()) * g", "(exp(x) / exp(x).sum()) * (g - g.sum())")),
]  # fmt: skip
"""First derivatives that are wrong: sign, factor, dropped term, sum, transpose, index, ..."""

WRONG_SECOND = [
    ("cube", "g * 3 * x.detach() ** 2"),
    ("cube", "g * 3 * x * x.detach()"),
    ("product", "g * y.detach(), g * x"),
    ("sum", "g * 2 * x.detach()"),
    ("quotient", "g / y.detach(), -g * x / y ** 2"),
]
"""Right in the first derivative and wrong in the second."""


def own(name, gradients):
    inputs, value, _, primals = RULES[name]
    text = (
        f"class F(Function):\n    def forward(ctx, {inputs}):\n"
        f"        ctx.save_for_backward({inputs})\n        return {value}\n"
        f"    def backward(ctx, g):\n        {inputs}, = ctx.saved_tensors\n"
        f"        return {gradients}\ndef f({inputs}):\n    return F.apply({inputs})"
    ).replace(",, =", ", =")
    return text, primals


def described(checks):
    return "\n".join(
        f"input {c.input}, order {c.order}, {c.mode} at {c.index}: {c.analytic} against {c.numeric},"
        f" error {c.error} of {c.allowed} allowed"
        for c in checks
    )


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("text", "primals"), RIGHT.values(), ids=RIGHT)
def test_right_programs_pass(text, primals, order):
    checks = checked(text, primals, order=order)
    assert {c.mode for c in checks} == {"reverse", "forward", "dot"}
    assert {c.order for c in checks} == set(range(1, order + 1))
    assert all(c.passed for c in checks), described(c for c in checks if not c.passed)


@pytest.mark.parametrize("name", RULES)
def test_right_rules_pass(name):
    checks = checked(*own(name, RULES[name][2]), order=2)
    assert all(c.passed for c in checks), described(c for c in checks if not c.passed)


@pytest.mark.parametrize(("name", "gradients"), WRONG)
def test_wrong_rules_are_caught(name, gradients):
    checks = checked(*own(name, gradients))
    assert not all(c.passed for c in checks), f"{gradients} for {name} passed"


@pytest.mark.parametrize(("name", "gradients"), WRONG_SECOND)
def test_wrong_second_derivatives_are_caught(name, gradients):
    checks = checked(*own(name, gradients), order=2)
    assert all(c.passed for c in checks if c.order == 1)
    assert not all(c.passed for c in checks), f"{gradients} for {name} passed"


def test_enough_wrong_rules():
    assert len(WRONG) + len(WRONG_SECOND) >= 40


def test_a_wrong_jvp_is_caught():
    text, primals = own("cube", RULES["cube"][2])
    wrong = (
        "    def jvp(ctx, dot):\n        x, = ctx.saved_tensors\n        return dot * 2 * x ** 2\n"
    )
    failed = {
        c.mode for c in checked(text.replace("def f(", wrong + "def f("), primals) if not c.passed
    }
    assert failed == {"forward", "dot"}


def test_where_it_differs_most():
    text = own("cube", "g * 3 * x ** 2 * tensor([1.0, 1.0, 1.5])")
    worst = next(c for c in checked(*text) if c.mode == "reverse")
    assert worst.index == (2, 2)
    assert worst.analytic == pytest.approx(1.5 * worst.numeric, rel=1e-6)


def test_a_projection_catches_one_wrong_entry():
    text, _ = own("cube", "g * (3 * x ** 2 + (x == x.max()) * 1.0)")
    checks = checked(text, (list(np.linspace(0.5, 1.0, 300)),))
    assert not any(c.passed for c in checks if c.mode != "dot")
