"""Parts of tensors at known places, and tensors put together, in machine code: without a call of
Python, and with the interpreter's bits.
"""

import numpy as np
import pytest

from gradcli.program import Options, load

pytest.importorskip("llvmlite")

HEAD = """
param x: float[6]
param m: float[3, 6]
param b = 0.5
y = x
for i in range(4):
"""
TURNS = {
    "joined": "y = cat((y[2:] * b, x[:2]))",
    "joined of two types": "y = cat((y[1:], tensor([1]))) * x",
    "rows joined": "y = cat((m[:1] * y, m[1:] * b))[1] + cat((m, m * y), 1)[0, 6:]",
    "vectors stacked": "y = stack((y, x))[0] * b + stack((y, x * b), 1)[:, 1]",
    "numbers stacked": "y = stack((y[1], y[0] * b, b, y[3], sin(y[2]), x[5]))",
    "unbound": "p, q, r = unbind(m * y)\n    y = p * q + r",
    "columns unbound": "p = unbind(m, 1)\n    y = cat((p[0] * b, p[5] * y[:3]))",
    "items unbound": "p = unbind(y)\n    y = stack((p[5], p[4] * p[0], b, p[1], p[1], x[0]))",
    "split": "p, q, r = split(y, 2)\n    y = cat((q * b, p * r, x[1:3]))",
    "split unevenly": "p, q = split(y, [2, 4])\n    y = cat((q * b, tanh(p)))",
    "in chunks": "p, q = chunk(y, 2)\n    y = cat((sigmoid(q), p * q))",
}
POINT = np.random.default_rng(1).normal(size=25)
DOTS = np.random.default_rng(2).normal(size=25)


def given(numbers):
    return {"x": numbers[:6], "m": numbers[6:24].reshape(3, 6), "b": numbers[24]}


def answers(program, when):
    """Gradients and a product with the Hessian, to the last digit."""
    options = Options(compile=when, grad_fn=False)
    found = [
        program.grad(given(POINT), options=options).grad,
        program.hvp(given(POINT), tangents=given(DOTS), options=options),
    ]
    with np.printoptions(precision=17, threshold=10**6):
        return [repr(x) for x in found]


@pytest.mark.parametrize("name", TURNS)
def test_parts_are_machine_code(name):
    program = load(f"{HEAD}    {TURNS[name]}\ny @ x")
    function = program.compile()
    function(POINT)
    (code,) = function._codes.values()
    assert function.__repr__().endswith("machine code>")
    assert not code._code.code._shape.callbacks
    assert answers(program, "always") == answers(program, "never")
