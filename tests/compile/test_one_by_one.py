"""Jacobians through loops that change an array place by place: machine code with the interpreter's
bits, a direction at a time.
"""

import numpy as np
import pytest

from gradcli.engine.compile.backends import has_machine_code
from gradcli.program import Options, load

SIR = """param contact = 0.5
param recovery = 0.2
input t: float[n]
def change(t, y):
    return [-contact * y[0] * y[1], contact * y[0] * y[1] - recovery * y[1]]
odeint(change, [0.99, 0.01], t)[:, 1]
"""
NUMBER = """param k = 0.3
param y0 = 2.0
input t: float[n]
odeint(lambda t, y: -k * y, y0, t)
"""
BY_HAND = """param k = 0.3
param y0 = 2.0
input t: float[n]
y = y0
found = zeros(len(t))
found[0] = y
for i in range(1, len(t)):
    h = t[i] - t[i - 1]
    y = y - h * k * (y - h / 2 * k * y)
    found[i] = y
found
"""
FIXED = NUMBER.replace("y0, t)", "y0, t, method='rk4', steps=3)")
PRODUCT = """param k = 0.3
input t: float[n]
y = tensor([1.0, 0.0])
found = zeros(len(t), 2)
for i in range(len(t)):
    y = tensor([[0.9, 0.1], [0.2, 0.8]]) @ y * (1.0 - k)
    found[i] = y
found
"""
PROGRAMS = {"odeint": SIR, "a number": NUMBER, "rk4": FIXED, "by hand": BY_HAND, "@": PRODUCT}
MACHINE = [name for name in PROGRAMS if name != "@"]
TIMES = np.linspace(0.0, 5.0, 21)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_the_bits_are_those_of_the_interpreter(text):
    program = load(text)
    names = [line.split()[1] for line in text.splitlines() if line.startswith("param")]
    code, run = (
        program.jacobian({"t": TIMES.tolist()}, wrt=names, options=Options(compile=how))
        for how in ("always", "never")
    )
    np.testing.assert_array_equal(code.value, run.value)
    for name in names:
        np.testing.assert_array_equal(code.jacobian[name], run.jacobian[name])


@pytest.mark.skipif(not has_machine_code(), reason="the extra `fast` makes machine code")
@pytest.mark.parametrize("name", MACHINE)
def test_the_code_is_machine_code(name):
    text = PROGRAMS[name]
    names = [line.split()[1] for line in text.splitlines() if line.startswith("param")]
    bound = load(text).compile(names).bind(t=TIMES)
    assert "; machine code>" in repr(bound)
