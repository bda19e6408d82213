"""Values that a reverse computes again instead of keeping."""

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.checks.evaluate_typed import evaluate
from support.checks.validate_typed import faults
from support.programs.typed_statements import Writer, typed

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.passes.recomputed import read_again, recomputed
from gradcli.engine.compile.python.code import Code
from gradcli.engine.compile.specialize.program import specialize
from gradcli.engine.compile.specialize.tracing.arrays import Arrays
from gradcli.engine.compile.text import text
from gradcli.engine.compile.typed import NotCompilable, Pop, Push, Value
from gradcli.engine.compile.walk import instructions
from gradcli.program import load

HEAD = "input x: float[6]\ninput b\ny = b\nv = x\nz = sin(linspace(0.1, 1.9, 310))\n"
LOOPS = {
    # the loop, and how many values a turn keeps before and after
    "one step": ("for i in range(300): y = y * sin(1.0 + y)\ny", 3, 2),
    "two steps": ("for i in range(300): y = y * exp(-(y * y) - b)\ny", 2, 2),
    "steps of vectors": ("for i in range(300): v = log(1.0 + v * v) * x\nv.sum()", 3, 2),
    "steps with what lies outside": ("for i in range(300): v = v * cos(v + x)\nv.sum()", 3, 2),
    "three steps": ("for i in range(300): y = y * cos(1.0 - (y * y + b))\ny", 3, 3),
    "a division": ("for i in range(300): y = b + y * cos(b / y)\ny", 3, 3),
    "a matrix": (
        "w = x.reshape(2, 3)\nm = w\nfor i in range(300): m = m * cos(m + w)\nm.sum()",
        3,
        3,
    ),
    "a square": ("for i in range(300): y = y * cos(y * (y * b) ** 2)\ny", 5, 2),
    "an item": ("for i in range(300): y = y * z[i]\ny", 1, 0),
    "a step of an item": ("for i in range(2, 300): y = y * sin(y * (z[i] - z[i - 2]))\ny", 4, 3),
    "items far apart": ("for i in range(2, 304, 3): y = y * z[i + 3]\ny", 1, 0),
    "items backwards": ("for i in range(299, 0, -1): y = y * z[i]\ny", 1, 0),
    "an item that may be from the end": ("for i in range(300): y = y * z[i - 5]\ny", 1, 1),
    "an item after a break": (
        "for i in range(300):\n    y = y * z[i]\n    if y > 100: break\ny",
        3,
        3,
    ),
    "an item at a place that is no function of the turn": (
        "k = 0\nfor i in range(300):\n    y = y * z[k]\n    k = (k * 7 + 3) % 310\ny",
        1,
        1,
    ),
    "a step of what is not kept": ("for i in range(300): y = cos(y * 0.5)\ny", 1, 1),
    "a step of what another stack keeps": (
        "for i in range(300):\n    if i % 3 == 1: y = y * sin(1.0 + y)\n    else: y = y * b\ny",
        4,
        4,
    ),
}
INPUTS = [np.linspace(-0.5, 0.8, 6), 0.7, 1.0]


def derivative(loop):
    """The typed program of a gradient by both inputs."""
    shapes = {"x": (6,), "b": ()}
    made = specialize(load(HEAD + loop).loaded.program, shapes, tuple(shapes), [None], (), Arrays)
    given = [made.program.inputs[1], made.arrays["x"].values[0]]
    return adjoint(made.program, given).program


def kept(program):
    """The values that all pushes keep."""
    pushes = [i for i in instructions(program.block.body) if isinstance(i, Push)]
    pops = [i for i in instructions(program.block.body) if isinstance(i, Pop)]
    assert sum(len(i.targets) for i in pops) == sum(len(i.values) for i in pushes)
    return sum(len(i.values) for i in pushes)


@pytest.mark.parametrize(("loop", "before", "after"), LOOPS.values(), ids=LOOPS)
def test_what_a_turn_keeps(loop, before, after):
    program = derivative(loop)
    made = read_again(program).program
    assert (kept(program), kept(made)) == (before, after), text(made)
    assert faults(made) == []
    found, wanted = (Code(each).call(INPUTS, Control()) for each in (made, program))
    assert all(map(np.array_equal, found, wanted))


def test_machine_code_reads_no_items_again():
    program = derivative(LOOPS["an item"][0])
    assert kept(recomputed(program)) == 1


@pytest.mark.parametrize("first", chunks(few=20, many=2000, size=20))
def test_random_programs(first):
    done = 0
    for seed in range(first, first + 20):
        inputs, statements, results = Writer(seed).program()
        program, given = typed(inputs, statements, results)
        if not isinstance(program.block.results[0], Value):
            continue
        wrt = [given[name] for name, x in inputs.items() if type(x) is float]
        try:
            program = adjoint(program, wrt).program
        except NotCompilable:
            continue
        numbers = [*inputs.values(), 1.0]
        for made in (recomputed(program), read_again(program).program):
            done += made is not program
            assert faults(made) == [], seed
            assert answer(made, numbers) == answer(program, numbers), seed
    assert done


def answer(program, numbers):
    told = []
    try:
        return [repr(x) for x in evaluate(program, numbers, told.append)], told
    except Left as left:
        return left.reason, told
