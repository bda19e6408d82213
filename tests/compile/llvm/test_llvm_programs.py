"""Random programs of the language, with their derivatives: machine code answers as Python code."""

import random

import pytest

pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")

from support.checks.amounts import chunks
from support.checks.compiled_agreement import Refused, compiled
from support.programs.number_cases import bits
from support.programs.scalar_programs import Writer

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.differentiate.differentials import certain
from gradcli.engine.compile.differentiate.tangent import tangent
from gradcli.engine.compile.llvm.code import Code
from gradcli.engine.compile.python import code as python
from gradcli.engine.compile.typed import NotCompilable
from gradcli.errors import ProgramError
from gradcli.program import load

GIVEN = ("x", "b", "n")
SEEDS = (1.0, 0.0)  # cotangents, tangents


def derived(found):
    """The program and what leads to its derivatives, as far as it goes."""
    yield found.program
    points = [v for v in found.points.values() if v.type == "float"]
    if not points or not found.program.block.results:
        return
    gradient = certain(adjoint(found.program, points, again=points))
    yield gradient
    yield tangent(found.program, points).program
    yield tangent(gradient, points).program


def told(made, inputs):
    lines = []
    try:
        return [*map(bits, made.call(inputs, Control(echo=lines.append)))], lines
    except Left:
        return None


def numbers(program, rng):
    """Inputs of these types, the derivatives' seeds among them."""
    small = {
        "float": lambda: rng.choice([*SEEDS, rng.uniform(-3, 3)]),
        "int": lambda: rng.randint(0, 5),
    }
    return [small.get(v.type, lambda: True)() for v in program.inputs]


@pytest.mark.parametrize("first", chunks(3, 600, 3))
def test_machine_code_is_python_code(first):
    answers = 0
    for seed in range(first, first + 3):
        rng = random.Random(seed)
        try:
            found = compiled(load(Writer(seed).program()), GIVEN, watched=("x", "b"))
            for program in derived(found):
                machine, plain = Code(program), python.Code(program)
                for _ in range(5):
                    inputs = numbers(program, rng)
                    wanted, answer = told(plain, inputs), told(machine, inputs)
                    assert answer is None or answer == wanted, (seed, inputs)
                    answers += answer is not None
        except (Refused, NotCompilable, ProgramError):
            continue
    assert answers
