"""Functions that one call of the C library computes: where they are found, and their bits."""

from __future__ import annotations

import ctypes
import math
import random

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")

from support.checks.validate_typed import faults

from gradcli.engine.compile.llvm.arrays import maps
from gradcli.engine.compile.llvm.emit import inner_loops, libm, primitives
from gradcli.engine.compile.llvm.lower import Module
from gradcli.engine.compile.passes.together import moved_together, shared
from gradcli.engine.compile.text import text
from gradcli.engine.compile.typed import Do
from gradcli.engine.compile.walk import instructions
from gradcli.program import Options, load

LIBRARY = next((n for n in libm.BOTH["sin", "cos"] if hasattr(ctypes.CDLL(None), n)), None)
needs_library = pytest.mark.skipif(LIBRARY is None, reason="the C library has no such function")

EDGES = (0.0, -0.0, 5e-324, -1e-310, 1e308, math.inf, -math.inf, math.nan)
ALWAYS, NEVER = Options(compile="always"), Options(compile="never")


@pytest.fixture
def programs(monkeypatch):
    """The typed programs that are lowered, in the order in which they are."""
    lowered = []
    before = Module.__init__

    def seen(self, program):
        lowered.append(program)
        before(self, program)

    monkeypatch.setattr(Module, "__init__", seen)
    return lowered


def calls(program):
    """How many calls the code makes of both functions at once, of sine, and of cosine."""
    moved = moved_together(program)
    groups = shared(moved)
    others = {i.target.number for several in groups.values() for i in several}
    alone = [
        i.op
        for i in instructions(moved.block.body)
        if isinstance(i, Do) and i.target.number not in {*groups, *others}
    ]
    return len(groups), alone.count("sin"), alone.count("cos")


CASES = {
    # the program, and the calls in its gradient: of both, of sine alone, of cosine alone
    "straight": ("input x = 0.3\nsin(x) * x", (1, 0, 0)),
    "the cosine": ("input x = 0.3\ncos(x) * x", (1, 0, 0)),
    "both are asked": ("input x = 0.3\nsin(x) * cos(x)", (1, 0, 0)),
    "a loop": ("input x = 0.3\nfor i in range(900): x = x + sin(x) * 0.5\nx", (1, 0, 0)),
    "a known argument": ("input x = 0.3\ny = x * 0 + sin(2.0)\ny * x", (0, 0, 0)),
    "two arguments": (
        "input x = 0.3\nfor i in range(900): x = sin(x) * cos(x * 0.5)\nx",
        (2, 0, 0),
    ),
    "a while": (
        "input x = 0.3\nwhile x < 2: x = x + sin(x) * 0.5\nx",
        (1, 0, 0),
    ),
    "sides": (
        "input x = 0.3\nfor i in range(900):\n    if x > 1: x = sin(x)\n    else: x = x + cos(x)\nx",
        (0, 2, 2),  # the argument is kept outside of the branch
    ),
    "no function": ("input x = 0.3\nfor i in range(900): x = x * x + 0.1\nx", (0, 0, 0)),
}


@pytest.mark.parametrize(("program", "expected"), CASES.values(), ids=CASES)
def test_functions_that_meet_in_one_call(program, expected, programs):
    found = load(program).grad(options=ALWAYS)
    assert calls(programs[-1]) == expected, text(moved_together(programs[-1]))
    assert faults(moved_together(programs[-1])) == []
    assert found.to_json() == load(program).grad(options=NEVER).to_json()


@pytest.mark.parametrize(("program", "expected"), CASES.values(), ids=CASES)
def test_a_value_alone_calls_no_second_function(program, expected, programs):
    load(program).run(options=ALWAYS)
    assert calls(programs[-1])[0] == 0, text(programs[-1])


def points(count):
    """Numbers of all sizes, and close to multiples of pi / 2."""
    rng = random.Random(7)
    yield from EDGES
    for _ in range(count):
        yield math.ldexp(rng.uniform(-1, 1), rng.randint(-1074, 1024))
        near = rng.randint(-(10**6), 10**6) * math.pi / 2
        yield near + near * rng.choice((0.0, 2e-16, -2e-16, 1e-12))


def of_math(function, x):
    try:
        return getattr(math, function)(x)
    except ValueError:
        return math.nan


@needs_library
def test_the_call_has_the_bits_of_both_functions():
    function = getattr(ctypes.CDLL(None), LIBRARY)
    for x in points(20_000):
        found = libm.both_of(function, x)
        for name, one in zip(("sin", "cos"), found, strict=True):
            wanted = of_math(name, x)
            assert repr(one) == repr(wanted), (name, x, one, wanted)


SEVERAL = """
param x: float
y = x
z = sin(x) * 0.5
for i in range(2):
    y = cos(y) + sin(x) * z
    if y > 0.2: z = z + sin(y) * cos(z)
    else: z = z - sin(z) * sin(y)
y * z
"""


@needs_library
def test_code_has_the_interpreters_bits():
    """At all points, with first and second derivatives."""
    program = load(SEVERAL)
    for x in points(40):
        for ask in (program.grad, program.hessian):
            found, wanted = (ask({"x": x}, options=o).to_json() for o in (ALWAYS, NEVER))
            assert found == wanted, (ask.__name__, x, found, wanted)


def test_without_such_a_function_each_is_called(monkeypatch, programs):
    monkeypatch.setattr(primitives, "address_of_both", lambda *names: None)
    program = load(CASES["a loop"][0])
    found = program.grad(options=ALWAYS)
    said = Module(programs[-1]).text
    assert "alloca double" not in said
    assert found.to_json() == load(CASES["a loop"][0]).grad(options=NEVER).to_json()


ARRAYS = {
    "a sine": "y = sin(x) * x",
    "a sine in a loop": "y = x\nfor i in range(210): y = sin(y) * x + cos(b)",
    "a cosine in a loop": "y = x\nfor i in range(210): y = cos(y) * x - b",
    "both": "y = x\nfor i in range(210): y = cos(y + x) * sin(y + x)",
    "exponentials": "y = x\nfor i in range(210): y = exp(-y) * x",
    "logarithms": "y = x\nfor i in range(210): y = log(y + 9.0) * x + log2(x + 9)",
}
HEAD = "input x: float[600]\ninput b\n"
NORMAL = np.random.default_rng(1).normal(size=600)
AT_EDGES = np.array([*EDGES, *NORMAL * 9])[:600]


def answers(text, options):
    """The gradient, and at edges the values and their signs: the C library may give nan another."""
    given = {"x": NORMAL, "b": 0.3}
    yield load(f"{HEAD}{text}\ny.sum()").grad(given, wrt=("x", "b"), options=options).to_json()
    for result in ("y", "copysign(1.0, y)"):
        asked = load(f"{HEAD}{text}\n{result}")
        yield asked.run({**given, "x": AT_EDGES}, options=options).to_json()


@pytest.mark.parametrize("text", ARRAYS.values(), ids=ARRAYS)
def test_arrays_have_the_bits_of_numpy(text):
    assert [*answers(text, ALWAYS)] == [*answers(text, NEVER)]


def test_arrays_where_numpy_has_loops_of_its_own(monkeypatch):
    asked = set()
    monkeypatch.setattr(maps, "library_function", lambda *functions: asked.add(functions))
    text = ARRAYS["a sine in a loop"]
    assert [*answers(text, ALWAYS)] == [*answers(text, NEVER)]
    assert {(np.sin, np.cos), (np.cos,)} <= asked


def test_a_function_of_numpys_own_is_not_the_librarys(monkeypatch):
    """One that differs in the last digit of one value in a thousand."""

    class Own:
        __name__ = "exp"

        def __call__(self, x):
            found = np.exp(x)
            found[::1000] = np.nextafter(found[::1000], 9)
            return found

    assert inner_loops.library_function(Own()) is None
    assert inner_loops.library_function(np.tanh) is None


@needs_library
def test_what_is_remembered_of_a_pair_is_of_that_pair(monkeypatch):
    """A pair of the cosine and its inverse is another pair, which no library computes."""
    assert libm.address_of_both("sin", "cos") is not None
    monkeypatch.setitem(libm.BOTH, ("cos", "acos"), ("no_such_function",))
    assert libm.address_of_both("cos", "acos") is None
    assert libm.address_of_both("sin", "cos") is not None
