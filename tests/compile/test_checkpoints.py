"""Checkpoints: loops that keep what they carry once in many turns, with the same bits."""

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.checks.evaluate_typed import Run, evaluate
from support.checks.validate_typed import faults
from support.programs.typed_statements import Writer, typed

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.passes import checkpoints
from gradcli.engine.compile.passes.checkpoints import checkpointed, kept
from gradcli.engine.compile.python.code import Code
from gradcli.engine.compile.specialize.program import specialize
from gradcli.engine.compile.specialize.tracing.arrays import Arrays
from gradcli.engine.compile.typed import NotCompilable, Push, Value
from gradcli.engine.compile.walk import instructions
from gradcli.program import load

HEAD = "input x: float[6]\ninput b\nw = x.reshape(2, 3)\ny = b\n"
LOOPS = {
    "numbers": ("for i in range(300): y = y + sin(y) * b\ny", 1),
    "branches": (
        "for i in range(300):\n    if y > 1: y = sin(y) * b\n    else: y = y + b * 0.1\ny",
        1,
    ),
    "a loop in a loop": (
        "for i in range(90):\n    z = y\n    for j in range(70): z = cos(z) * b\n    y = y + z\ny",
        1,
    ),
    "an end that depends on numbers": ("while y < 30: y = y + abs(sin(y)) * b + 0.01\ny", 1),
    "two loops": (
        "for i in range(300): y = sin(y) + b\nz = y\nfor i in range(250): z = cos(z) * y\nz",
        2,
    ),
    "matrices": (
        "k = w.T @ w * 0.1\nfor i in range(210): k = tanh(k @ k + b)\nk.sum() * y",
        1,
    ),
    "vectors": ("v = x\nfor i in range(210): v = sin(v) * x + exp(-v * b)\n(v * y).sum()", 1),
    "nothing to keep": ("for i in range(300): y = y * 0.5 + b\ny", 0),
}
INPUTS = [np.linspace(-0.5, 0.8, 6), 0.7, 1.0]


def derivative(text):
    """The typed program of a gradient by all inputs."""
    shapes = {"x": (6,), "b": ()}
    made = specialize(load(text).loaded.program, shapes, tuple(shapes), [None], (), Arrays)
    given = [made.program.inputs[1], made.arrays["x"].values[0]]
    return adjoint(made.program, given).program


def pairs(program):
    """The number of loops that get checkpoints: each adds two stacks."""
    stacks = [
        {i.stack for i in instructions(each.block.body) if isinstance(i, Push)}
        for each in (program, checkpointed(program))
    ]
    return len(stacks[1] - stacks[0]) / 2


@pytest.mark.parametrize("name", LOOPS)
def test_the_bits_are_the_same(name, monkeypatch):
    monkeypatch.setattr(checkpoints, "_TURNS", 16)
    text, count = LOOPS[name]
    program = derivative(HEAD + text)
    sparing = checkpointed(program)
    assert pairs(program) == count
    assert faults(sparing) == []
    expected, found = (Code(each).call(INPUTS, Control()) for each in (program, sparing))
    assert all(map(np.array_equal, expected, found))


@pytest.mark.parametrize("turns", range(1, 12))
def test_turns_around_whole_stretches(turns, monkeypatch):
    """Of a loop whose turns are known only when it ends."""
    monkeypatch.setattr(checkpoints, "_TURNS", 3)
    monkeypatch.setattr(checkpoints, "_FEWEST", 1)
    program = derivative(HEAD + f"n = 0\nwhile n < {turns - 1} + b: n, y = n + 1, sin(y) * b\ny")
    sparing = checkpointed(program)
    assert pairs(program) == 1
    assert Code(program).call(INPUTS, Control()) == Code(sparing).call(INPUTS, Control())


@pytest.mark.parametrize("first", chunks(few=20, many=2000, size=20))
def test_random_programs(first, monkeypatch):
    monkeypatch.setattr(checkpoints, "_TURNS", 2)
    monkeypatch.setattr(checkpoints, "_FEWEST", 1)
    done = 0
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
        sparing, numbers = checkpointed(made), [*inputs.values(), 1.0]
        done += pairs(made) > 0
        assert faults(sparing) == [], seed
        assert answer(sparing, numbers) == answer(made, numbers), seed
    assert done > 2


def answer(program, numbers):
    told = []
    try:
        return [repr(x) for x in evaluate(program, numbers, told.append)], told
    except Left as left:
        return left.reason, told


def test_what_is_printed_is_so_once():
    program = derivative(HEAD + "for i in range(300):\n    y = y + sin(y) * b\n    print(y)\ny")
    told = [], []
    for each, lines in zip((program, checkpointed(program)), told, strict=True):
        Code(each).call(INPUTS, Control(echo=lines.append))
    assert len(told[0]) == 300
    assert told[0] == told[1]


@pytest.mark.parametrize("turns", [300, 100_000])
def test_what_a_loop_keeps(turns):
    """Two numbers in each turn."""
    program = derivative(HEAD + LOOPS["numbers"][0].replace("300", str(turns)))
    assert 16 * (turns - 1) <= kept(program) <= 16 * turns


def most_held(program):
    """The most numbers on stacks at a time."""
    run = Run(program.texts, print)
    run.values.update({v.number: x for v, x in zip(program.inputs, INPUTS[1:], strict=True)})
    run.block(program.block)
    return run.most


def test_memory_grows_with_the_root_of_the_turns():
    text = "input b\ny = b\nfor i in range(TURNS): y = y + sin(y) * b\ny"
    whole, few, many = (
        most_held(change(numbers_alone(text.replace("TURNS", str(turns)))))
        for change, turns in ((lambda p: p, 400), (checkpointed, 400), (checkpointed, 6400))
    )
    assert whole > 790
    assert few < 100
    assert many < 5 * few


def numbers_alone(text):
    made = specialize(load(text).loaded.program, {"b": ()}, ("b",), [None], (), Arrays)
    return adjoint(made.program, made.program.inputs).program


BOUND = "param b\ny = b\nfor i in range(120000): y = y + sin(y) * b\ny"


@pytest.mark.parametrize(
    "text", [BOUND, BOUND.replace("for i in range(120000):", "while y < 3.1415:")]
)
def test_machine_code_has_checkpoints_where_memory_ends(text):
    """At once if the turns are known, else when the memory is full."""
    llvm = pytest.importorskip("gradcli.engine.compile.llvm.code")
    made = llvm.Code(numbers_alone(text.replace("param", "input")))
    given = [1e-4, 1.0]
    expected = made.call(given, Control())
    assert made._sparing is None
    assert made.call(given, Control(memory=900_000)) == expected
    assert made._sparing is not None
    with pytest.raises(Left, match="memory"):
        made.call(given, Control(memory=2_000))


def test_what_the_process_has_counts_for_the_choice(monkeypatch):
    """Code that would keep much is not made where its checkpoints are called."""
    llvm = pytest.importorskip("gradcli.engine.compile.llvm.code")
    monkeypatch.setattr(llvm, "_MUCH", 1 << 20)
    made = llvm.Code(numbers_alone(BOUND.replace("param", "input")))
    narrow = Control(memory=900_000, more=lambda: 1 << 30, whole=lambda: 1 << 20)
    found = made.call([1e-4, 1.0], narrow)
    assert made._sparing is not None
    assert "machine" not in vars(made)
    assert made.call([1e-4, 1.0], Control()) == found
    assert "machine" in vars(made)


def test_without_a_reverse_there_are_no_checkpoints():
    llvm = pytest.importorskip("gradcli.engine.compile.llvm.code")
    program = derivative(HEAD + "(exp(x) * y).sum()")
    assert checkpointed(program) is program
    with pytest.raises(Left, match="memory"):
        llvm.Code(program).call(INPUTS, Control(memory=10))
