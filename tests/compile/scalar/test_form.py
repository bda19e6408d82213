"""The scalar form knows no back end, and its functions are well formed."""

import math
import random
import re
from itertools import product
from pathlib import Path

import pytest
from support.checks.evaluate_scalar import BailsOut, evaluate
from support.checks.scalar_text import text
from support.checks.validate_scalar import faults
from support.programs.number_cases import NUMBERS, OF_MACHINE_CODE, OPS, bits, cases, random_number

import gradcli.engine.compile.scalar as room
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.form import (
    DOMAIN,
    INEXACT,
    KINDS,
    LARGE,
    OTHER_TYPE,
    OVERFLOW,
    RAISED,
    ZERO_DIVISION,
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
from gradcli.engine.ops.catalog import ops
from gradcli.errors import RunError

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


OF_SCIPY = {
    "bessel_i",
    "erfinv",
    "erfinv_slope",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "incomplete_gamma",
    "ndtri",
    "ndtri_slope",
}
WITHOUT_FORM = OF_SCIPY | {"erfc_ratio", "gcd", "lcm", "nextafter", "round"}
"""The ops that code calls in Python for some types of arguments: their values come from SciPy, from
a loop over a range, from Python's rounding to decimals, its common divisors or the float next to one.
"""


def made(names):
    """The cases of ops that have a form, with it and the functions that it may call."""
    forms = Forms()
    for case in cases(names, NUMBERS):
        given = [*map(Unknown, case.types), *case.left_out]
        number = ops[case.name].value.number
        try:
            form = forms.function("f", number, given, case.params, case.kind)
        except Untranslatable:
            assert case.name in WITHOUT_FORM, (case.name, case.types, case.params)
            continue
        yield case, form, forms.piecewise


HAVE_NUMBERS = [name for name in OPS if name not in OF_MACHINE_CODE]


def is_due(kind, types, gives, outcome):
    """Whether a form of arguments of these types, whose value is of type `gives`, may bail out so
    where this is the value or error of Python's function.
    """
    if kind in (ZERO_DIVISION, OVERFLOW, DOMAIN):
        return type(outcome).__name__ == kind
    if kind == RAISED:
        return isinstance(outcome, RunError)
    if kind == OTHER_TYPE:
        return type(outcome).__name__ != gives
    if kind in (LARGE, INEXACT):
        return "int" in types or isinstance(outcome, int | RunError)
    return kind in KINDS  # it depends on a nan's sign, or on a function that is called


def compare(case, function, called, count):
    """Evaluates a form at the points of its case; how many answers there are, and of how many."""
    answers = there = 0
    for point in case.points(random.Random(17), count):
        wanted = case.value(point)
        there += wanted is not None
        try:
            found = evaluate(function, point, called)
        except BailsOut as bailed:
            kind, outcome = str(bailed), case.outcome(point)
            assert is_due(kind, case.types, case.kind, outcome), (case.name, point, kind, outcome)
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


# Functions of Python that raise errors, with the types of their arguments and of their value.
RAISING = [
    *((lambda x, f=f: f(x), ["float"], "int") for f in (int, round, math.floor, math.ceil)),
    *((lambda x, f=f: f(x), ["float"], "float") for f in (math.exp, math.log, math.sqrt, math.sin)),
    *((lambda x, y, f=f: f(x, y), ["float"] * 2, "float") for f in (math.fmod, math.pow)),
    *((lambda x, y: x / y, [kind] * 2, "float") for kind in ("float", "int")),
    *((f, ["int"] * 2, "int") for f in (lambda x, y: x // y, lambda x, y: x % y)),
]


@pytest.mark.parametrize(("function", "types", "gives"), RAISING)
def test_a_form_bails_out_for_the_error_that_python_raises(function, types, gives):
    form = Forms().function("f", function, [*map(Unknown, types)], {}, gives)
    assert not faults(form, {})
    for point in product(*(NUMBERS[t] for t in types)):
        found, outcome = attempted(evaluate, form, point, {}), attempted(function, *point)
        if isinstance(found, BailsOut):
            assert is_due(str(found), types, gives, outcome), (point, found, outcome)
        else:
            assert bits(found) == bits(outcome), point


def attempted(function, *args):
    try:
        return function(*args)
    except (BailsOut, ArithmeticError, ValueError) as error:
        return error


def test_a_choice_that_may_be_larger_than_an_int_has_no_form():
    with pytest.raises(Untranslatable, match="larger than 64 bits"):
        Forms().function("f", lambda x: max(round(x), x), [Unknown("float")], {}, "float")


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
