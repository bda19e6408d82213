"""Loops that call functions are unrolled only if they are short with what the calls bring in."""

import pytest

from gradcli.engine.compile.typed import Loop
from gradcli.engine.compile.walk import instructions
from gradcli.program import Options, load
from gradcli.questions.asked.request import request
from gradcli.questions.coded.compiled import compile_question

STEP = """param k = 2.0
def slope(y, v):
    return -k * sin(y) - 0.1 * v
def step(y, v, h):
    a = slope(y, v)
    b = slope(y + h / 2 * v, v + h / 2 * a)
    c = slope(y + h / 2 * (v + h / 2 * a), v + h / 2 * b)
    d = slope(y + h * (v + h / 2 * b), v + h * c)
    return y + h * v + h * h / 6 * (a + b + c), v + h / 6 * (a + 2 * b + 2 * c + d)
"""
LOOPS = {
    "turns of steps": STEP + "y, v = 1.0, 0.0\nfor i in range(N):\n    y, v = step(y, v, 0.01)\ny",
    "loops in a loop": f"{STEP}s = 0.0\nfor j in range(3):\n    y, v = 1.0, 0.1 * j\n"
    "    for i in range(N):\n        y, v = step(y, v, 0.01)\n    s = s + y\ns",
    "a function is given": f"{STEP}def run(f, n):\n    y, v = 1.0, 0.0\n    for i in range(n):\n"
    "        y, v = f(y, v, 0.01)\n    return y\nrun(step, N)",
    "a while": f"{STEP}y, v = 1.0, 0.0\ni = 0\nwhile i < N:\n    i += 1\n"
    "    y, v = step(y, v, 0.01)\ny",
}


def made(text):
    """The code of a gradient."""
    program = load(text)
    asked = request({}, {}, Options())
    return program, compile_question(program.loaded, "gradient", asked)


@pytest.mark.parametrize("name", LOOPS)
def test_code_does_not_grow_with_the_turns_of_a_loop_that_calls(name):
    lengths = []
    for turns in (12, 24, 40):
        _, code = made(LOOPS[name].replace("N", str(turns)))
        body = [*instructions(code.lowered.program.block.body)]
        assert any(isinstance(i, Loop) for i in body)
        lengths.append(len(body))
    assert len({*lengths}) == 1
    assert lengths[0] < 1_500


def test_short_loops_are_unrolled():
    _, code = made("param k = 2.0\ndef f(x):\n    return x * k\ny = 1.0\n"
                   "for i in range(5):\n    y = f(y)\ny")  # fmt: skip
    assert not any(isinstance(i, Loop) for i in instructions(code.lowered.program.block.body))


def test_a_loop_that_can_only_be_unrolled_is():
    """A list grows, which no loop of code carries."""
    text = (
        STEP + "s = [(1.0, 0.0)]\nfor i in range(12):\n    s.append(step(*s[-1], 0.01))\ns[-1][0]"
    )
    program, code = made(text)
    options = [Options(compile=when) for when in ("always", "never")]
    assert not any(isinstance(i, Loop) for i in instructions(code.lowered.program.block.body))
    assert len({repr(program.grad(options=each)) for each in options}) == 1


@pytest.mark.parametrize("name", LOOPS)
def test_the_answer_is_that_of_a_run(name):
    program = load(LOOPS[name].replace("N", "12"))
    options = [Options(compile=when) for when in ("always", "never")]
    assert len({repr(program.grad(options=each)) for each in options}) == 1
