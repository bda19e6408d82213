"""Programs that `export` writes as source code, and samples that it refuses."""

import numpy as np

from gradcli.program import load

TURNS = "input x = 3.0\ninput most = 100.0\nwhile x < most:\n    x = x * x / 2 + exp(-x)\nx"
NESTED = """
input x = 0.3
y = x
for i in range(4):
    z = y
    while z < 3:
        z = z + z * z + 0.1
    y = y + sin(z) * x
y
"""
BREAKS = """
input x = 0.3
y = x
for i in range(100):
    y = y * y + x
    if y > 2:
        break
y
"""
INTS = "input n: int = 3\ninput x = 2.0\nm = n * n - 7\nk = m // 2 + m % 3\nx * k + abs(n)"
COUNTED = "input n: int = 5\ninput x = 1.5\ny = 1.0\nfor i in range(n):\n    y = y * x + i\ny"
WORDS = (
    "input double = 1.0\ninput y0 = 2.0\ninput gamma = 3.0\ninput value = 0.5\ninput work = 2.0\n"
)
WORDS += "int_add = double * y0\nint_add * gamma + value * work * sin(int_add)"
OPS = "input x = 0.7\ninput y = 1.3\nhypot(x, y) + lgamma(y) + sigmoid(x) * erf(y) + x ** y + atan2(x, y)"
WHERE = "input x = 0.5\nwhere(x > 0, log(x), x ** 2) + relu(x) + maximum(x, 0.1) + clamp(x, 0, 1)"
PROGRAMS = {
    "turns": TURNS,
    "nested": NESTED,
    "breaks": BREAKS,
    "ints": INTS,
    "counted": COUNTED,
    "words": WORDS,
    "ops": OPS,
    "choice": WHERE,
    "branch": "input x = 1.0\nif x > 0:\n    y = x * x\nelse:\n    y = sin(x)\ny * y",
    "unread": "input x = 1.0\ninput y = 2.0\ninput z = 4.0\nx * z",
    "constant": "input x = 1.0\nx * 0 + 5",
    "bound": "input x = 2.0\ninput b: bool = True\ny = x * x if b else x\ny",
    "function": "def f(a, b):\n    return a * exp(b)\ninput x = 1.0\nf(x, f(x, 2.0))",
}
"""Programs by name, which their defaults run through."""

COMPILED = [
    *("black_scholes", "cooling", "decay", "exponential_fit", "gauge_block", "kepler", "logistic"),
    *(
        "newton",
        "no_grad",
        "orbit",
        "pendulum",
        "polynomial",
        "rat43",
        "rosenbrock",
        "two_bodies",
        "two_paths",
    ),
]
SECOND = ("turns", "nested", "breaks", "ops", "choice", "function")

REFUSED = {
    "accumulation": "requires grad",
    "control_flow": "random numbers",
    "descent": "requires grad",
    "doubling": "known only at run time",
    "epidemic": "shapes",
    "first_network": "torch.nn.Linear",
    "graph_walk": "grad_fn",
    "hessian_vector": "matrix",
    "higher_order": "recorded",
    "linear": "recorded",
    "mean_of_squares": "requires grad",
    "micrograd": "class",
    "newtons_method": "solve_columns",
    "ones_like": "requires grad",
    "own_relu": "320 elements",
    "own_scale": "Scale",
    "two_layer": "no result",
}
"""Words of the reason why a sample is refused."""


def defaults(program):
    """The values that inputs begin with, which the program may change later."""
    lines = program.source.text.splitlines()
    declared = [line for line in lines if line.startswith(("input ", "param "))]
    found = load("\n".join(declared)).run().values
    return {name: found[name] for name in program.inputs if name in found} or {"x": 1.0}


def answer(program, values, is_matrix):
    """The numbers of the value and the first derivatives."""
    if not is_matrix:
        found = program.grad(values)
        return [found.value], [x for g in found.grad.values() for x in np.ravel(g).tolist()]
    found = program.jacobian(values)
    rows = [np.reshape(x, (np.size(found.value), -1)) for x in found.jacobian.values()]
    return np.ravel(found.value).tolist(), np.ravel(np.concatenate(rows, axis=1)).tolist()
