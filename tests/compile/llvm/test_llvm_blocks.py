"""Loops over long vectors, block by block: to the last bit what the interpreter gives."""

import pickle
import random

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.programs.array_programs import ASKED, both, machine_code

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.passes import blocks as blocks_pass
from gradcli.engine.compile.specialize.program import specialize
from gradcli.engine.compile.specialize.tracing.arrays import Arrays
from gradcli.engine.compile.typed import Blockwise, Do
from gradcli.engine.compile.walk import instructions
from gradcli.engine.numerics import products
from gradcli.errors import GradError
from gradcli.program import load

pytest.importorskip("llvmlite")

from gradcli.engine.compile.llvm import blocks, code
from gradcli.engine.compile.llvm.run import Run

SIZE = 512
HEAD = f"input x: float[{SIZE}]\ninput b\ny = x\n"
_NUMBERS = np.random.default_rng(1).normal(size=(2, SIZE))
GIVEN = {"x": _NUMBERS[0], "b": 0.7}
DOTS = {"tangents": {"x": _NUMBERS[1], "b": 1.5}}
OPS = {name: DOTS if options else {} for name, options in ASKED.items()}

BLOCKWISE = {
    "a loop": ("for i in range(210): y = sin(y) * x + exp(-y)\ny.sum()", 1),
    "a number's cotangent": ("for i in range(210): y = sin(y * b) * x\ny.sum()", 1),
    "two numbers that change": (
        "c = b\nfor i in range(210):\n    c = c * 0.9 + 0.01 * i\n"
        "    y = tanh(y * c + b) * x\n(y * y).mean()",
        1,
    ),
    "sums on the way": (
        "s = 0.0\nfor i in range(210):\n    y = sin(y) * x + b\n    s = s + (y * y).mean() * i\ns",
        1,
    ),
    "a sum behind": ("for i in range(210): y = sin(y) + x * b\nsqrt((y * y).sum())", 2),
    "the largest behind": ("for i in range(210): y = sin(y) * b + x\ny.max() + y.mean()", 2),
    "a loop behind another": (
        "for i in range(210): y = sin(y) * x\nz = y * b\n"
        "for i in range(230): z = cos(z + b) * y\n(z * y).sum()",
        1,
    ),
    "a loop in a loop": (
        "for i in range(30):\n    z = y\n    for j in range(30): z = sin(z) * b + x\n"
        "    y = y * 0.5 + z\ny.sum()",
        1,
    ),
    "branches by the turn": (
        "for i in range(210):\n    if i % 3 == 1: y = sin(y) * x\n    else: y = y * b + 1\ny.sum()",
        1,
    ),
    "a number of turns that is data": (
        "n = 230\nif b > 0.0: n = 220\nfor i in range(n): y = sin(y) * x * b\ny.sum()",
        1,
    ),
    "choices and bools": (
        "for i in range(210): y = where(y > b, sin(y), x * y)\n(y > b).sum() + y.sum()",
        1,
    ),
    "two that change places": (
        "z = x * b\nfor i in range(211): y, z = z, sin(y * z)\n(y - z).sum()",
        1,
    ),
}
WHOLE = {
    "a sum read in the same turn": "for i in range(210): y = sin(y) * y.mean() + x\ny.sum()",
    "an end that depends on a vector": "while y.sum() < 900: y = y + 0.1 * sin(y) * y + 0.2\ny.sum()",
    "a branch that depends on a vector": "for i in range(210):\n    if y.sum() > b: y = sin(y)\n"
    "    else: y = y + b\ny.sum()",
    "a view": "for i in range(210): y = sin(y) * x[0] + cat([y[1:], y[:1]])\ny.sum()",
    "an item": "for i in range(210): y = sin(y) + y[3]\ny.sum()",
    "another length": "w = x.reshape(4, 128)\nfor i in range(210): w = sin(w) * x[:128]\nw.sum()",
    "a step in Python": "for i in range(210): y = sin(sort(y).values) + x * exp(-y * y) * b\ny.sum()",
}


@pytest.fixture
def short(monkeypatch):
    """Blocks of few elements; NumPy halves what has more than 128."""
    monkeypatch.setattr(blocks_pass, "LEAST", 129)
    monkeypatch.setattr(blocks, "MOST", 128)


def blockwise(program):
    """The instructions of a program that are done by blocks."""
    split = blocks_pass.in_blocks(program)
    return [i for i in instructions(split.block.body) if isinstance(i, Blockwise)]


RARE = ["a sum behind", "a loop behind another", "two that change places", "choices and bools"]
USUAL = [name for name in BLOCKWISE if name not in RARE]


@pytest.mark.parametrize("name", [*USUAL, *(pytest.param(k, marks=pytest.mark.long) for k in RARE)])
def test_loops_that_are_done_by_blocks(name, short, monkeypatch):
    text, count = BLOCKWISE[name]
    made = machine_code(monkeypatch)
    run, found = both(load(HEAD + text), "grad", GIVEN)
    assert run == found
    assert len(blockwise(made[0])) == count


OTHERS = {"run": "choices and bools", "jvp": "choices and bools", "hvp": "a number's cotangent"}


@pytest.mark.parametrize("question", OTHERS)
def test_other_questions(question, short, monkeypatch):
    text, _ = BLOCKWISE[OTHERS[question]]
    made = machine_code(monkeypatch)
    run, found = both(load(HEAD + text), question, GIVEN, **OPS[question])
    assert run == found
    assert blockwise(made[0])


@pytest.mark.parametrize("name", WHOLE)
def test_loops_that_are_done_on_whole_vectors(name, short, monkeypatch):
    made, whole = [], code.Code
    monkeypatch.setattr(code, "Code", lambda program: made.append(program) or whole(program))
    run, found = both(load(HEAD + WHOLE[name]), "grad", GIVEN)
    assert run == found
    assert made
    assert not any(map(blockwise, made))


class Writer:
    """Writes a random program of loops over vectors, numbers and sums."""

    ONES = ("sin({})", "exp(-{0} * {0})", "tanh({})", "-{}", "abs({})", "sqrt({0} * {0} + 1)")
    TWOS = ("({} + {})", "({} - {})", "({} * {})", "where({0} > {1}, {0}, {1})", "maximum({}, {})")

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.vectors = ["x", "y", "z"]
        self.numbers = ["b", "c", "0.3"]

    def vector(self, depth=2):
        rng = self.rng
        if not depth:
            return rng.choice(self.vectors)
        if rng.random() < 0.4:
            return rng.choice(self.ONES).format(self.vector(depth - 1))
        other = rng.choice(self.numbers) if rng.random() < 0.4 else self.vector(depth - 1)
        return rng.choice(self.TWOS).format(self.vector(depth - 1), other)

    def number(self):
        rng = self.rng
        vector = self.vector(1)
        ways = ("sin({0}) * {1}", "{0} * 0.9 + {1}", "{0} + 0.1 * ({2}).mean()", "{2}.sum() * 0.01")
        return rng.choice(ways).format(*rng.choices(self.numbers, k=2), f"({vector})")

    def turn(self, counter, late):
        """The lines of a turn; `late` is the number that sums may be added to."""
        rng = self.rng
        lines = [f"{name} = {self.vector()}" for name in rng.sample(["y", "z"], rng.choice((1, 2)))]
        if rng.random() < 0.5:
            lines.insert(rng.randrange(len(lines) + 1), f"c = sin(c + 0.1 * {counter})")
        if rng.random() < 0.5:
            lines.append(f"{late} = {late} + ({self.vector(1)}).mean() * c")
        if rng.random() < 0.3:
            lines = [
                f"if {counter} % 3 == 1:",
                *[f"    {line}" for line in lines],
                "else: y = y * c",
            ]
        if rng.random() < 0.1:
            lines.append(f"c = {self.number()}")
        return lines

    def loop(self):
        rng, turns = self.rng, self.rng.choice(("n", "201", "250"))
        lines = self.turn("i", "s")
        if rng.random() < 0.2:
            lines += ["for j in range(70):", *[f"    {line}" for line in self.turn("j", "s")]]
            turns = "12"
        return [f"for i in range({turns}):", *[f"    {line}" for line in lines]]

    def program(self):
        rng = self.rng
        lines = ["input n: int", "z = x * b", "c = b * 0.5", "s = 0.0"]
        for _ in range(rng.choice((1, 1, 2))):
            lines += self.loop()
        ends = ("y.sum()", "(y * z).mean()", "sqrt((y * y).sum() + 1)", "y.max()", "(y * c).sum()")
        return "\n".join([*lines, f"s + {rng.choice(ends)} + 0.1 * z.sum()"])


def test_many_loops(short, monkeypatch):
    """Each has code of its own, so not all of them are done by blocks."""
    monkeypatch.setattr(blocks_pass, "_MOST", 2)
    made = machine_code(monkeypatch)
    loop = "for i in range(210): y = y * 0.9 + x\ny = y - y.max() * b\n"
    run, found = both(load(HEAD + 3 * loop + "y.sum()"), "run", GIVEN)
    assert run == found
    assert len(blockwise(made[0])) == 2


def test_what_lies_between(short, monkeypatch):
    """Branches and prints between a loop and its reverse keep their places."""
    made = machine_code(monkeypatch)
    text = (
        "for i in range(210): y = sin(y) * x + b\nprint('behind', i)\nc = b\nn = 0\n"
        "while c < 90: n, c = n + 1, c * 1.5 + 1\nprint('then', c)\n(y * c).sum() * n"
    )
    run, found = both(load(HEAD + text), "grad", GIVEN)
    assert run == found
    assert blockwise(made[0])


def test_a_step_that_python_does(short, monkeypatch):
    """A block never calls Python: the code of the whole vectors does."""
    text = "for i in range(210): y = sin(y) * x + xlogy(y * y + 2, b) * exp(-y * y)\ny.sum()"
    program = typed(HEAD + text)
    assert blockwise(program)
    assert code.Code(program).source.count("define i32 @call") == 1


@pytest.mark.parametrize("first", chunks(few=1, many=400, size=1))
def test_random_loops(first, short):
    rng = np.random.default_rng(first)
    size = int(rng.choice([1025, 257, 400, 136, 256]))
    text = HEAD.replace(str(SIZE), str(size)) + Writer(first).program()
    numbers = rng.normal(size=(2, size))
    given = {"x": numbers[0], "b": 0.7, "n": int(rng.integers(0, 220))}
    dots = {"tangents": {"x": numbers[1], "b": 1.5}}
    for question in ("grad", "hvp") if first % 5 == 4 else ("grad",):
        options = {"wrt": "x,b", **(dots if question == "hvp" else {})}
        run, found = both(load(text), question, given, **options)
        assert run == found or "depends on the path" in found, (question, text)


SIZES = [1, 129, 4097]
MORE = [7, 8, 127, 128, 135, 513, 4096, 100_000, 100_003]


@pytest.mark.parametrize("size", [*SIZES, *(pytest.param(n, marks=pytest.mark.long) for n in MORE)])
def test_sizes(size, monkeypatch):
    """Around what NumPy and code do at a time, and where blocks begin."""
    made = machine_code(monkeypatch)
    text = f"input x: float[{size}]\ninput b\ny = x\nfor i in range(210): y = cos(y * b) + x\n"
    given = {"x": np.random.default_rng(size).normal(size=size), "b": 0.7}
    run, found = both(load(text + "(y * b).sum()"), "grad", given)
    assert run == found
    assert bool(blockwise(made[0])) == (size >= blocks_pass.LEAST)


@pytest.mark.parametrize("size", [1, 8, 128, 129, 1000, 4096, 4097, 54_321, 100_000, 1_000_003])
def test_sums_over_blocks_are_joined_as_numpy_adds(size):
    vector = np.random.default_rng(size).normal(size=size)
    sums = [np.add.reduce(vector[start : start + count]) for start, count in blocks.cuts(size)]
    assert max(count for _, count in blocks.cuts(size)) <= blocks.MOST
    assert blocks.joined([np.array([s]) for s in sums], size)[0] == np.add.reduce(vector)


@pytest.mark.parametrize("size", [1, 511, 512, 513, 4096, 100_003])
def test_blocks_of_one_size_reach_each_element(size):
    cuts = blocks.even_cuts(size)
    assert len({count for _, count in cuts}) == 1
    assert {k for start, count in cuts for k in range(start, start + count)} == {*range(size)}


LONG = "param x: float[n]\nparam b\ny = x\nfor i in range(9000): y = sin(y) * x * b\ny.sum()"


def test_threads_share_the_blocks(short, monkeypatch):
    """The digits are those of one thread, and more than one takes blocks."""
    f = load(LONG).compile()
    point = np.linspace(-1.0, 1.0, 501)
    one = f(point)
    monkeypatch.setenv("GRADCLI_NUM_THREADS", "3")
    begun, help_ = [], products.start_new_thread
    monkeypatch.setattr(
        products, "start_new_thread", lambda *args: begun.append(args) or help_(*args)
    )
    several = f(point)
    assert one[0] == several[0]
    assert np.array_equal(one[1], several[1])
    assert len(begun) == 2


def test_what_is_not_finite_is_the_interpreter_s_to_answer(short):
    text = HEAD + "for i in range(300): y = y * x * b\ny.sum()"
    run, found = both(load(text), "grad", {"x": np.where(GIVEN["x"] > 2, 1e9, 0.5), "b": 0.7})
    assert run == found
    assert "inf" in str(run)


def typed(text):
    """The typed program of a gradient by x."""
    shapes = {"x": (SIZE,), "b": ()}
    made = specialize(load(text).loaded.program, shapes, tuple(shapes), [None], (), Arrays)
    return adjoint(made.program, made.arrays["x"].values).program


INPUTS = [GIVEN["x"], GIVEN["b"], 1.0]


def test_memory_is_that_of_a_block(short):
    """The stacks of one block at a time, not those of the whole vector; with checkpoints, those of
    few turns.
    """
    program = typed(HEAD + BLOCKWISE["a loop"][0])
    made = code.Code(program)
    stack = 210 * 3 * SIZE * 8
    found = made.call(INPUTS, Control(memory=stack // 2))
    assert made._sparing is None
    again = made.call(INPUTS, Control(memory=stack // 8))
    assert all(map(np.array_equal, found, again))
    assert blockwise(made._sparing.program)
    with pytest.raises(Left, match="memory"):
        made.call(INPUTS, Control(memory=stack // 40))


def test_a_number_is_repeated_in_blocks(short, monkeypatch):
    """The cotangents of a sum are ones, which no whole vector holds."""
    made = machine_code(monkeypatch)
    run, found = both(load(HEAD + BLOCKWISE["a loop"][0]), "grad", GIVEN)
    assert run == found
    split = blocks_pass.in_blocks(made[0])
    (inner,) = (i for i in split.block.body if isinstance(i, Blockwise))
    for program, count in ((split, 0), (inner.program, 1)):
        repeated = [i for i in program.block.body if isinstance(i, Do) and i.op == "expand"]
        assert len(repeated) == count


def test_sums_beyond_the_memory(short, monkeypatch):
    """They are put on a stack of the code, whose memory is limited as well."""
    grow = Run._grow
    monkeypatch.setattr(Run, "_grow", lambda run, at, more: more > 64 or grow(run, at, more))
    program = typed(HEAD + BLOCKWISE["sums on the way"][0])
    with pytest.raises(Left, match="memory"):
        code.Code(program).call(INPUTS, Control())


def test_a_limit_on_turns_holds_in_blocks(short):
    program = typed(HEAD + BLOCKWISE["a loop"][0])
    with pytest.raises(Left, match="steps"):
        code.Code(program).call(INPUTS, Control(turns=100))


def test_an_error_of_a_thread_is_the_answer(short, monkeypatch):
    monkeypatch.setattr(code, "_SHORT", 0)
    made = code.Code(typed(HEAD + BLOCKWISE["a loop"][0]))
    monkeypatch.setenv("GRADCLI_NUM_THREADS", "many")
    with pytest.raises(GradError, match="neither a number"):
        made.call(INPUTS, Control())


def test_the_text_of_code_has_that_of_its_blocks(short):
    made = code.Code(typed(HEAD + BLOCKWISE["a loop"][0]))
    assert made.source.count("define i32 @call") == 2


def test_a_pickled_function_has_its_blocks_again(short):
    f = load(LONG.replace("9000", "300")).compile()
    point = np.linspace(-1.0, 1.0, 513)
    before, after = f(point), pickle.loads(pickle.dumps(f))(point)
    assert before[0] == after[0]
    assert np.array_equal(before[1], after[1])
