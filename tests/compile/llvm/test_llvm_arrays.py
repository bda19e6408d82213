"""Programs of tensors as machine code: to the last bit what the interpreter gives."""

import gc
import random
import weakref
from contextlib import suppress
from ctypes import memset
from itertools import islice

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.programs.array_programs import (
    ASKED,
    GIVEN,
    HEAD,
    PROGRAMS,
    both,
    machine_code,
    samples,
)

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.python import code as python
from gradcli.engine.compile.specialize.program import specialize
from gradcli.engine.compile.specialize.tracing import scalarized
from gradcli.engine.compile.specialize.tracing.arrays import Arrays
from gradcli.errors import GradError
from gradcli.program import load

pytest.importorskip("llvmlite")

from gradcli.engine.compile.llvm import code as llvm
from gradcli.engine.compile.llvm import run

LOOP = "y = x\nfor i in range(9):\n    y = tanh(y * 0.5 + x) * x - 0.1\n"
MACHINE_CODE = {
    "a loop": f"{LOOP}y.sum()",
    "a network": "w = x.reshape(4, 25)\nk = x[:16].reshape(4, 4)\nfor i in range(5):\n"
    "    h = tanh(k @ w + x[:25]) * b\n    w = w - 0.1 * (k.T @ h)\n((w @ w.T) ** 2).mean()",
    "products in a loop": "k = x.reshape(10, 10) * 0.3\ny = x[:10] * b\nfor i in range(90):\n"
    "    y = k @ y\n(y * y).sum() * 1e9",
    "what is read later": "y = exp(x)\ns = y.sum()\nz = y / s\nfor i in range(3):\n    z = z * y\n"
    "z.sum() + y[3] * b",
    "variables that change places": "y = x\nz = x * b\nfor i in range(7):\n    y, z = z, y * z\n"
    "(y - z).sum()",
    "one that lags behind": "y = x\nz = x * b\nfor i in range(5):\n    z = y\n    y = y * b + z * z\n"
    "(y * z).sum()",
    "loops within a loop": "y = x\nfor i in range(3):\n    z = y\n    for j in range(4):\n"
    "        z = sin(z) * y\n    y = y + z * b\ny.sum()",
    "branches": "y = x\nfor i in range(6):\n    if y.sum() > b:\n        y = y * 0.5\n    else:\n"
    "        y = exp(-y * y)\ny.sum()",
    "choices": "where(x > b, x, b * x).sum() + ((x < 1) * b).sum()",
    "several dimensions": "w = x.reshape(2, 5, 10)\n(w.sum(1) * b).sum(0)[3] + (w * w).sum() "
    "+ ((w + x[:5].reshape(5, 1)) ** 2).mean()",
    "parts": "(x[1:] * x[:-1]).sum() * b + (x[::2] * x[1::2]).sum()",
    "items that are set": "y = x * 1\ny[0] = b\ny[4:6] = x[:2] * b\n(y.sum() + y[5]) * b",
    "what each turn makes anew": "y = x\nfor i in range(12):\n    z = -(y + b)\n"
    "    for j in range(90):\n        y = abs(-z)\n        z = -where(z > y, z, y)\n(y + z).sum()",
    "an inner product": "(x @ x) * b + (x.reshape(10, 10) @ x[:10] * b).sum()",
}


@pytest.fixture
def used_memory(monkeypatch):
    """New memory is full of numbers, as memory that was used before is."""
    new = run._realloc

    def used(base, size):
        made = new(base, size)
        if not base and made:
            memset(made, 0x5A, size)
        return made

    monkeypatch.setattr(run, "_realloc", used)


@pytest.mark.parametrize("name", MACHINE_CODE)
def test_machine_code_gives_the_answer_of_a_run(name, monkeypatch, used_memory):
    made = machine_code(monkeypatch)
    answer, code = both(load(HEAD + MACHINE_CODE[name]), "grad")
    assert answer == code
    assert made


@pytest.mark.parametrize("first", chunks(few=1, many=8, size=1))
def test_programs_that_have_code_of_any_kind(first):
    for name, text in islice(PROGRAMS.items(), first, None, 8):
        for question in ASKED if first else ["grad", "hvp"]:
            run, code = both(load(HEAD + text), question, **ASKED[question])
            assert run == code or "depends on the path" in code, (name, question)


@pytest.mark.parametrize("size", [1, 7, 9, 512, 513, 70_001])
def test_sizes(size):
    """Around what is done at a time, and in one chunk: what Python code gives by NumPy."""
    text = f"input x: float[{size}]\ninput b\n{LOOP}(where(y > b, exp(y), abs(y) * x) * b).sum()"
    typed = derivative(text, {"x": (size,), "b": ()})
    given = [np.linspace(-2.0, 2.0, size), 0.3, 1.0]
    expected, found = (made.Code(typed).call(given, Control()) for made in (python, llvm))
    assert all(map(np.array_equal, expected, found))


class Simple:
    """Writes a program of operations that have machine code, of vectors and of matrices."""

    ONES = (
        "tanh({})",
        "exp(-{0} * {0})",
        "sqrt({0} * {0} + 1)",
        "abs({})",
        "-{}",
        "sin({})",
        "{} ** 2",
    )
    TWOS = (
        "({} + {})",
        "({} * {})",
        "({} - {})",
        "{0} / (1 + {1} * {1})",
        "where({0} > {1}, {0}, {1})",
    )

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names = {"x": 36}
        self.lines = ["input x: float[36]", "input b"]

    def vector(self, count, depth=2):
        rng = self.rng
        known = [name for name, n in self.names.items() if n == count]
        if depth == 0 or not known:
            at = rng.randrange(37 - count)
            return rng.choice([*known, f"x[{at}:{at + count}]"])
        if rng.random() < 0.15:
            rows = 6 if count == 36 else 4
            size = (rows, count // rows)
            one = f"{self.vector(count, 0)}.reshape({size[0]}, {size[1]})"
            return rng.choice(
                [
                    f"({one} * {self.vector(size[1], 0)}).reshape({count})",
                    f"({one} @ {one}.T @ {one}).reshape({count}) * 0.1",
                    f"({one}.sum(0, keepdim=True) + {one}).reshape({count})",
                ]
            )
        one, other = self.vector(count, depth - 1), self.vector(count, rng.randrange(depth))
        made = rng.choice([*self.ONES, *self.TWOS, *self.TWOS])
        return made.format(one, rng.choice([other, other, "b", "0.5"]))

    def number(self):
        return f"({self.vector(self.rng.choice([36, 12]))}).{self.rng.choice(['sum', 'mean'])}()"

    def statement(self, k):
        rng, count = self.rng, self.rng.choice([36, 36, 12])
        name, other = f"v{k}", f"w{k}"
        made = [f"{name} = {self.vector(count)}"]
        self.names[name] = count
        kind = rng.choice(["plain", "loop", "swap", "branch"])
        if kind == "loop":
            made += [f"for i in range({rng.choice([2, 3, 90])}):",
                     f"    {name} = {name} * 0.5 + {self.vector(count)} * 0.1"]  # fmt: skip
        elif kind == "swap":
            made += [f"{other} = {self.vector(count)}", "for i in range(5):",
                     f"    {name}, {other} = {other}, tanh({name}) * b",
                     f"    if {self.number()} > 3:", f"        {name} = {name} * 0.5"]  # fmt: skip
            self.names[other] = count
        elif kind == "branch":
            made += [f"if {self.number()} > b:", f"    {name} = {self.vector(count)}"]
        self.lines += made

    def program(self):
        for k in range(self.rng.randint(2, 5)):
            self.statement(k)
        return "\n".join([*self.lines, f"{self.number()} * b + {self.number()}"])

    def given(self):
        return {"x": [self.rng.gauss(0, 1) for _ in range(36)], "b": self.rng.gauss(0, 1)}


@pytest.mark.parametrize("first", chunks(few=2, many=300, size=2))
def test_random_programs(first, monkeypatch):
    """As arrays, though they are small: by machine code what by Python code, and a run."""
    monkeypatch.setattr(scalarized, "MOST", 8)
    for seed in range(first, first + 2):
        writer = Simple(seed)
        program, given = load(writer.program()), writer.given()
        question = ("grad", "jvp", "hvp", "grad")[seed % 4]
        dots = {"tangents": {"x": given["x"][::-1], "b": 1.0}}
        run, code = both(program, question, given, **({} if question == "grad" else dots))
        assert run == code or "depends on the path" in code, writer.lines


@pytest.mark.long
@pytest.mark.parametrize("question", ["grad", "jvp", "hvp"])
def test_samples_of_the_operations(question):
    for name, text, given, dots in samples():
        try:
            program = load(text)
        except GradError:  # of an op that no program names so
            continue
        more = {} if question == "grad" else {"tangents": dots}
        run, code = both(program, question, given, **more)
        assert run == code or "not-compilable" in code, name


def derivative(text, shapes):
    """The typed program of a gradient by x."""
    program = load(text).loaded.program
    made = specialize(program, shapes, tuple(shapes), [None], (), Arrays)
    return adjoint(made.program, made.arrays["x"].values).program


def of_a_loop():
    text = f"{HEAD}y = x\nfor i in range(300):\n    y = sin(y) * b\ny.sum()"
    return llvm.Code(derivative(text, {"x": (100,), "b": ()}))


def test_memory_that_stacks_take_is_limited():
    code, needed = of_a_loop(), 300 * 100 * 8
    less = needed // 20  # too little with checkpoints, too
    for memory, left, goes in ((8 * needed, 0, True), (less, 0, False), (99, 8 * needed, True)):
        control = Control(memory=memory, more=lambda left=left: left)
        if goes:
            code.call([GIVEN["x"], 0.7, 1.0], control)
        else:
            with pytest.raises(Left, match="memory"):
                code.call([GIVEN["x"], 0.7, 1.0], control)


def test_each_call_has_results_of_its_own():
    code = of_a_loop()
    first = code.call([GIVEN["x"], 0.7, 1.0], Control())
    before = [np.copy(r) for r in first]
    code.call([GIVEN["x"][::-1], 0.3, 1.0], Control())
    assert all(map(np.array_equal, before, first))


class Stopped(BaseException):
    """What an interrupt raises."""


@pytest.mark.parametrize("rows", [False, True])
def test_code_that_goes_on_keeps_its_memory(rows, monkeypatch):
    """When its caller has left."""
    refs, left = [], []

    def empty(*args, make=llvm._empty):
        refs.append(weakref.ref(made := make(*args)))
        return made

    def leave(work, run):
        left.append(work)
        raise Stopped

    monkeypatch.setattr(llvm, "_empty", empty)
    monkeypatch.setattr(llvm, "wait", leave)
    code = of_a_loop()
    code._last = 10**9  # turns: it gets a thread at once
    given = [np.ones((3, 100)), np.ones(3), np.ones(3)] if rows else [np.ones(100), 0.7, 1.0]
    refs.append(weakref.ref(given[0]))
    with suppress(Stopped):
        (code.rows if rows else code.call)(given, Control())
    del given
    assert len(left) == 1
    assert len(refs) > 1
    assert all(ref() is not None for ref in refs)
    left.clear()
    gc.collect()
    assert all(ref() is None for ref in refs)


def test_code_stops_in_a_turn_that_is_asked_to():
    control = Control()
    control.stop.value = 1
    with pytest.raises(Left, match="stopped"):
        of_a_loop().call([GIVEN["x"], 0.7, 1.0], control)
