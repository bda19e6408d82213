"""Ops on numbers as machine code: bit for bit what the ops' own values on numbers are."""

import math
import random

import pytest

pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")

from support.checks.validate_typed import faults
from support.programs.number_cases import EXAMPLE, NUMBERS, OPS, bits, cases

from gradcli.engine.compile.control import Control
from gradcli.engine.compile.llvm.code import Code
from gradcli.engine.compile.llvm.emit import definitions
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.forms import Forms
from gradcli.engine.compile.typed import TYPES, Block, Do, If, Program, Value
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import np
from gradcli.program import Options, load
from gradcli.source import Span

AT = Span(0, 0)
DTYPES = {"float": np.float64, "int": np.int64, "bool": np.bool_}


def program(chosen):
    """One program for all cases: the first input says which of them is asked, the others are three
    numbers of each type; of the three results one is the answer.
    """
    which, number = Value(0, "int"), iter(range(10, 10**6))
    given = {t: [Value(1 + 3 * i + j, t) for j in range(3)] for i, t in enumerate(NUMBERS)}
    inputs = (which, *(v for values in given.values() for v in values))
    out = dict(EXAMPLE)
    body = []
    for k, case in enumerate(chosen):
        places = {t: iter(values) for t, values in given.items()}
        args = (*(next(places[t]) for t in case.types), *case.left_out)
        test, value, found = (Value(next(number), t) for t in ("bool", case.kind, case.kind))
        do = Do(AT, value, case.name, args, tuple(case.params.items()))
        sides = Block((do,), (value,)), Block((), (out[case.kind],))
        body += [Do(AT, test, "eq", (which, k), ()), If(AT, (found,), test, *sides)]
        out[case.kind] = found
    return Program(inputs, Block(tuple(body), tuple(out.values())), ())


def compare(chosen, count):
    """Asks all cases at their points, in one call; the share of answers that the code had."""
    made = program(chosen)
    assert faults(made) == []
    rng = random.Random(13)
    asked = [(k, case, p) for k, case in enumerate(chosen) for p in case.points(rng, count)]
    which = np.array([k for k, *_ in asked])
    columns = {t: [np.zeros(len(asked), DTYPES[t]) for _ in range(3)] for t in NUMBERS}
    for row, (_, case, point) in enumerate(asked):
        places = {t: iter(values) for t, values in columns.items()}
        for x, t in zip(point, case.types, strict=True):
            next(places[t])[row] = x
    every = [c for values in columns.values() for c in values]
    results, left = Code(made).rows([which, *every], Control())
    results = {t: r.tolist() for t, r in zip(EXAMPLE, results, strict=True)}
    answers = there = 0
    for row, (_, case, point) in enumerate(asked):
        wanted = case.value(point)
        there += wanted is not None
        if left[row]:
            continue
        answers += 1
        found = results[case.kind][row]
        assert bits(found) == bits(wanted), (case.name, case.types, point, found, wanted)
    return answers / there


def test_ops_on_floats():
    assert compare([*cases(OPS, ["float"])], 10) > 0.99


def test_ops_on_ints_and_bools():
    """Beyond 2 ** 53 and 2 ** 63 the code leaves."""
    assert compare([*cases(OPS, ["int"]), *cases(OPS, ["bool"])], 3) > 0.9


MIXED = (
    *("add", "sub", "mul", "div", "pow", "remainder", "floor_divide", "lt", "eq", "where"),
    *("clamp", "maximum", "fmin", "heaviside", "logaddexp", "hypot", "logit"),
)


def test_ops_on_numbers_of_several_types():
    assert compare([*cases(MIXED, NUMBERS)], 0) > 0.9


CONSTANTS = (0.0, -0.0, 1.0, 1, True, False, 0, 2, 2.0, 0.5, -1, -1.0, math.inf, math.nan, 2**53)


def test_constants_among_arguments():
    """Zeros of both signs, and an int, a float and a bool that are equal, are told apart, though
    all modules share what is made of a call.
    """
    wrong = []
    for name in ("add", "mul", "div", "pow", "lt", "eq", "maximum", "copysign", "atan2"):
        for known in CONSTANTS:
            for turned in (False, True):
                wrong += beside_constant(name, known, turned)
    assert not wrong


def beside_constant(name, known, turned):
    """The op at some floats beside a constant: where code gives another value than the op."""
    number, x = ops[name].value.number, Value(0, "float")

    def args(free):
        return (known, free) if turned else (free, known)

    kind = TYPES[type(number(*args(1.5)))]
    out = Value(1, kind)
    made = Program((x,), Block((Do(AT, out, name, args(x), ()),), (out,)), ())
    points = np.array([0.0, -0.0, 1.0, -1.5, 2.0, math.inf, math.nan, 1e300, 5e-324])
    (found,), left = Code(made).rows([points], Control())
    for at, value, bailed in zip(points.tolist(), found.tolist(), left, strict=True):
        if not bailed and bits(value) != bits(wanted := number(*args(at))):
            yield name, args(at), value, wanted


def test_what_cannot_be_translated_is_called(monkeypatch):
    """With all types of arguments and values, and constants among them."""

    def only_the_choice(forms, name, function, *more):
        if function is not ops["eq"].value.number:
            raise Untranslatable("for a test")
        return made(forms, name, function, *more)

    made = Forms.function
    monkeypatch.setattr(Forms, "function", only_the_choice)
    monkeypatch.setattr(definitions, "_BY_CALL", {})
    assert compare([*cases(("mul", "pow", "where", "clamp", "isnan"), NUMBERS)], 3) == 1


@pytest.mark.long
@pytest.mark.parametrize("name", OPS)
def test_an_op_at_many_points(name):
    chosen = [*cases([name], NUMBERS)]  # none of ops on lists alone
    assert not chosen or compare(chosen, 1000) > 0.3


def test_a_remainder_that_is_zero_has_the_sign_of_what_is_divided():
    """The C library's has not, beside the smallest numbers."""
    program = load("import math\ninput x = 1.0\nmath.remainder(x, -5e-324)")
    for x in (1.0459356513651821e-273, -1.0459356513651821e-273, 1e300):
        assert bits(program.run(x=x, options=Options(compile="always")).result) == bits(
            math.copysign(0.0, x)
        )
