"""Loops that keep the best and stop early: code gives the bits of the interpreter, or is refused."""

import pytest
from support.checks.amounts import chunks
from support.programs.stopping_loops import Loop
from support.programs.vector_programs import answer

from gradcli.engine.compile.backends import has_machine_code
from gradcli.program import Options, load

STEP = 9
KEEP = """input x: float[n]
input w: float[n]
best = x * 0
for k in range(6):
    y = sin(x * k)
    if y.sum() < 0.1:
        break
    z = w * 1
    if z.sum() > 2:
        best = best * z
        continue
    best = y
best.sum()
"""


@pytest.mark.parametrize("first", chunks(STEP, 4_800, STEP))
def test_code_agrees_with_the_interpreter(first):
    compiled = 0
    for seed in range(first, first + STEP):
        loop = Loop(seed)
        program = load(loop.text)
        asked = loop.question, loop.given
        run, code = (
            answer(program, loop.question, when, loop.given, **loop.asked)
            for when in ("never", "always")
        )
        refused = "not-compilable" in code
        assert refused or code == run, (seed, *asked, loop.text)
        compiled += not refused
    assert compiled > STEP // 3


@pytest.mark.parametrize("size", [3, 65, 100])
@pytest.mark.parametrize("question", ["run", "grad"])
def test_an_array_that_one_side_of_a_branch_has(size, question):
    """The other side has a placeholder, which nobody reads."""
    given = {"x": [0.1] * size, "w": [0.01] * size}
    remarks = []
    program = load(KEEP)

    def answered(when):
        options = Options(compile=when, remark=remarks.append, grad_fn=False)
        return repr(getattr(program, question)(given, options=options))

    assert answered("always") == answered("never")
    assert remarks[0].message.startswith("made machine code") == has_machine_code()
