"""A large program is translated in parts, which share its variables: all is as in a small one."""

import threading

import pytest

from gradcli.engine.run.code import translate
from gradcli.errors import GradError
from gradcli.program import load

PROGRAMS = {
    "functions and what they see": """
input x = 2.0
def f(a, n): return a if n == 0 else g(a * x, n - 1)
def g(a, n): return f(a + y, n)
y = 1.0
h = lambda a: f(a, 2) + y
y = y + 1.0
k = [h(1.0)]
k.append(h(x))
k[0] * k[1] + x
""",
    "loops nested deeply": "x = 1.0\n"
    + "".join("    " * i + f"for i{i} in range({2 if i < 3 else 1}):\n" for i in range(14))
    + "    " * 14
    + "x = x + 1.0\nz = 2.0\nw = z\nx + w",
    "a name of Python's": "sum = 3\nlen = sum + 1\nabs = len\nsum + abs",
    "a name that has no value": "input x = 1.0\ny = 1\nif x > 2:\n    max = 3\ny = 2\nmax",
    "an error with operands": "x = ones(2)\ny = ones(3)\nz = 1\nw = 2\nx + y",
    "an error in a function": "def f(a): return a @ a\nx = 1\ny = 2\nz = 3\nf(ones(2, 3))",
    "an own rule": """
class Twice(Function):
    def forward(ctx, a): return a * 2.0
    def backward(ctx, g): return g * 2.0
input x = 3.0
y = Twice.apply(x)
z = y * x
z
""",
}


def outcome(text):
    program = load(text)
    try:
        found = program.run()
        return found.result, [(b.name, repr(b.value)) for b in found.bindings], found.printed
    except GradError as error:
        return [(d.code, d.message, d.span, d.labels, d.notes, d.help) for d in error.diagnostics]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_in_parts_does_what_it_does_whole(name, monkeypatch):
    whole = outcome(PROGRAMS[name])
    monkeypatch.setattr(translate, "MOST_TOGETHER", 2)
    assert outcome(PROGRAMS[name]) == whole


def test_runs_of_a_program_in_parts_do_not_meet(monkeypatch):
    monkeypatch.setattr(translate, "MOST_TOGETHER", 2)
    lines = ["input x = 0.0", "y = x", *["y = y + x"] * 200, "y"]
    program = load("\n".join(lines))
    found = {}

    def work(x):
        found[x] = {program.run(x=float(x)).result for _ in range(20)}

    threads = [threading.Thread(target=work, args=(x,)) for x in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {x: {201.0 * x} for x in range(4)}


def test_derivatives_of_a_program_in_parts(monkeypatch):
    monkeypatch.setattr(translate, "MOST_TOGETHER", 50)
    found = load("\n".join(["input x = 1.5", "y = x", *["y = y + x"] * 200, "y"])).grad()
    assert (found.value, found.grad["x"]) == (1.5 * 201, 201.0)
