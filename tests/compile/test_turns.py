"""Turns of loops and lengths of stacks that are known before a run."""

import pytest
from support.checks.amounts import chunks
from support.checks.evaluate_typed import Run
from support.programs.typed_statements import Writer, typed

from gradcli.engine.compile.control import Left
from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.passes.checkpoints import checkpointed
from gradcli.engine.compile.passes.turns import entries, least_turns
from gradcli.engine.compile.specialize.program import specialize
from gradcli.engine.compile.specialize.tracing.arrays import Arrays
from gradcli.engine.compile.typed import Loop, NotCompilable, Push, Value
from gradcli.program import load

# the first turn of a loop may stand before it
LOOPS = {
    "known": ("for i in range(300): y = y + sin(y) * b", 300, [299]),
    "steps of two": ("for i in range(0, 601, 2): y = y + sin(y) * b", 301, [300]),
    "down": ("for i in range(300, 0, -1): y = y + sin(y) * b", 300, [299]),
    "down in steps": ("for i in range(600, -1, -2): y = y + sin(y) * b", 301, [300]),
    "one in another": (
        "for i in range(90):\n    y = y * 0.5\n    for j in range(700): y = cos(y) * b",
        63092,
        [89, 700, 62300],
    ),
    "an end that depends on numbers": ("while y < 30: y = y + abs(sin(y)) * b + 0.01", 0, []),
    "a way out": ("for i in range(300):\n    if y > 2: break\n    y = y + sin(y) * b", 0, []),
    "a branch": (
        "for i in range(300):\n    if y > 1: y = sin(y) * b\n    else: y = y * y * 0.1",
        300,
        [299],
    ),
}


def adjoint_of(text):
    text = "input b\ny = b\n" + text + "\ny"
    made = specialize(load(text).loaded.program, {"b": ()}, ("b",), [None], (), Arrays)
    return adjoint(made.program, made.program.inputs).program


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name):
    text, turns, pushes = LOOPS[name]
    program = adjoint_of(text)
    assert least_turns(program) == turns
    assert sorted(entries(program).values()) == pushes


def test_a_stack_that_is_used_in_each_turn_is_short():
    """Its places are used again: how often it is pushed on says nothing."""
    program = checkpointed(adjoint_of(LOOPS["known"][0]))
    assert entries(program) == {2: 1}


class Counted(Run):
    """Counts turns and pushes."""

    def __init__(self, texts):
        super().__init__(texts, lambda text: None)
        self.done, self.pushes = 0, {}

    def instruction(self, i):
        super().instruction(i)
        if isinstance(i, Push):
            self.pushes[i.stack] = self.pushes.get(i.stack, 0) + 1
        if isinstance(i, Loop):
            self.done += self.values[i.turns.number]


@pytest.mark.parametrize("first", chunks(few=20, many=2000, size=20))
def test_random_programs(first):
    """No run takes fewer turns, or pushes more or less often."""
    known = 0
    for seed in range(first, first + 20):
        inputs, statements, results = Writer(seed).program()
        program, given = typed(inputs, statements, results)
        if not isinstance(program.block.results[0], Value):
            continue
        wrt = [given[name] for name, x in inputs.items() if type(x) is float]
        try:
            made = adjoint(program, wrt).program
        except NotCompilable:
            continue
        run = Counted(made.texts)
        numbers = [*inputs.values(), 1.0]
        run.values.update({v.number: x for v, x in zip(made.inputs, numbers, strict=True)})
        try:
            run.block(made.block)
        except Left:
            continue
        assert least_turns(made) <= run.done, seed
        for stack, count in entries(made).items():
            assert run.pushes[stack] == count, seed
        known += bool(entries(made))
    assert known > 2
