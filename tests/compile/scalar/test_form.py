"""The scalar form knows no back end, and its functions are well formed."""

import math
import random
import re
from contextlib import suppress
from pathlib import Path

import pytest
from support.checks.evaluate_scalar import BailsOut, evaluate
from support.programs.number_cases import (
    NUMBERS,
    OF_MACHINE_CODE,
    OPS,
    bits,
    cases,
    random_number,
)

import gradcli.engine.compile.scalar as room
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.form import (
    Bail,
    Block,
    Branch,
    Do,
    Edge,
    Function,
    Give,
    GiveUp,
    Jump,
    Value,
)
from gradcli.engine.compile.scalar.forms import Forms, Unknown
from gradcli.engine.compile.scalar.text import text
from gradcli.engine.compile.scalar.validate import faults
from gradcli.engine.ops.catalog import ops

COUNT = 60  # random arguments of each form
FILES = sorted(Path(room.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_word_of_a_back_end_is_in_the_form(file):
    words = re.findall(r"llvm|i64|double|fcmp|phi\b", file.read_text("utf-8"), re.IGNORECASE)
    assert not words


@pytest.mark.parametrize("kinds", [("float", "float"), ("int", "float"), ("int", "int")])
def test_closeness_is_that_of_python_and_has_a_form(kinds):
    number, rng = ops.math_isclose.value.number, random.Random(5)
    for _ in range(2_000):
        a, b = (random_number(rng, kind) for kind in kinds)
        for x, y in ((a, b), (a, a * (1 + 1e-9)), (a, a)):
            assert number(x, y) is math.isclose(x, y), (x, y)
            assert number(x, y, 0.1, 2) is math.isclose(x, y, rel_tol=0.1, abs_tol=2), (x, y)
    assert Forms().function("f", number, [*map(Unknown, kinds)], {}, "bool").type == "bool"


def made(names):
    """The cases of ops that have a form, with it and the functions that it may call."""
    forms = Forms()
    for case in cases(names, NUMBERS):
        given = [*map(Unknown, case.types), *case.left_out]
        number = ops[case.name].value.number
        with suppress(Untranslatable):
            yield case, forms.function("f", number, given, case.params, case.kind), forms.piecewise


HAVE_NUMBERS = [name for name in OPS if name not in OF_MACHINE_CODE]


def compare(case, function, called, count):
    """Evaluates a form at the points of its case; how many answers there are, and of how many."""
    answers = there = 0
    for point in case.points(random.Random(17), count):
        wanted = case.value(point)
        there += wanted is not None
        try:
            found = evaluate(function, point, called)
        except BailsOut:
            continue
        answers += 1
        assert bits(found) == bits(wanted), (case.name, case.types, point, found, wanted)
    return answers, there


def test_the_forms_of_all_ops_are_valid_and_have_the_bits_of_their_values():
    """Each is printed, too."""
    wrong, several, counts = [], 0, []
    for case, function, called in made(HAVE_NUMBERS):
        several += 1
        wrong += faults(function, called)
        assert len(text(function).splitlines()) >= 3, case.name
        counts.append(compare(case, function, called, COUNT))
    for f in called.values():
        wrong += faults(f, called)
        assert f.name in text(f)
    assert not wrong
    assert several > 480
    answers, there = map(sum, zip(*counts, strict=True))
    assert answers > 0.9 * there


@pytest.mark.long
@pytest.mark.parametrize("name", HAVE_NUMBERS)
def test_the_form_of_an_op_at_many_points(name):
    for case, function, called in made([name]):
        compare(case, function, called, 1_000)


def test_a_form_as_text():
    x = Value(0, "int")
    y, at, power = Value(1, "float"), Value(2, "bool"), Value(3, "float")
    body = (Do(y, "int_to_float", (x,)), Do(at, "float_lt", (y, 0.0)), Bail(at, "ValueError"))
    first = Block(0, (), body, Branch(at, Edge(1, (y,)), Edge(2, ()), True))
    blocks = (first, Block(1, (power,), (), Give(power)), Block(2, (), (), GiveUp("raised")))
    function = Function("f", (x,), "float", blocks, True)
    assert not faults(function, {})
    assert (
        text(function)
        == """\
function f(%0: int): float, or bails out
block 0:
  %1 = int_to_float %0
  %2 = float_lt %1, 0.0
  bail out if %2: ValueError
  if %2 rarely go to 1(%1), else to 2
block 1(%3: float):
  give %3
block 2:
  bail out: raised
"""
    )


X, Y = Value(0, "float"), Value(1, "float")
NEXT = Jump(Edge(1, ()))
FAULTS = {
    "float_add takes ['float', 'float'], not ['float', 'int']": [
        Block(0, (), (Do(Y, "float_add", (X, 1)),), Give(Y))
    ],
    "`float_lt` gives bool, not float": [Block(0, (), (Do(Y, "float_lt", (X, X)),), Give(Y))],
    "%1 may not be there where the result reads it": [Block(0, (), (), Give(Y))],
    "%0 is defined twice": [Block(0, (), (Do(X, "float_neg", (X,)),), Give(X))],
    "the edge to 1 takes ['float'], not []": [Block(0, (), (), NEXT), Block(1, (Y,), (), Give(Y))],
    "the edge to 1 takes ['float'], not ['int']": [
        Block(0, (), (), Jump(Edge(1, (1,)))),
        Block(1, (Y,), (), Give(Y)),
    ],
    "the edge to 0 leads the wrong way": [
        Block(0, (), (), NEXT),
        Block(1, (), (), Branch(True, Edge(0, ()), Edge(2, ()), False)),
        Block(2, (), (), Give(X)),
    ],
    "there is no block 1": [Block(0, (), (), NEXT), Block(2, (), (), Give(X))],
    "the function bails out and does not say so": [
        Block(0, (), (Bail(True, "ValueError"),), Give(X))
    ],
    "'why' is no kind of bail out": [Block(0, (), (Bail(True, "why"),), Give(X))],
    "it has no end": [Block(0, (), (), None), Block(1, (), (), Give(X))],
    "is no instruction": [Block(0, (), (Give(X),), Give(X))],
    "%1 may not be there where the result": [
        Block(0, (), (), Branch(True, Edge(1, ()), Edge(2, ()), False)),
        Block(1, (), (Do(Y, "float_neg", (X,)),), Jump(Edge(2, ()))),
        Block(2, (), (), Give(Y)),
    ],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_form(fault):
    found = faults(Function("f", (X,), "float", tuple(FAULTS[fault]), False), {})
    assert [x for x in found if x.startswith("f, block") and fault in x], found
