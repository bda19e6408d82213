"""Derivatives of typed programs with branches and loops, against the interpreter's of their text:
all modes, to the last bit.
"""

import math
from collections import Counter

import pytest
from support.checks.amounts import chunks
from support.checks.evaluate_typed import evaluate
from support.checks.validate_typed import faults
from support.programs.typed_statements import Writer, typed, whole_text

from gradcli.engine.compile.control import Left
from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.differentiate.differentials import certain
from gradcli.engine.compile.differentiate.tangent import tangent
from gradcli.engine.compile.typed import NotCompilable, Push, Value
from gradcli.engine.compile.walk import instructions
from gradcli.program import load

DOTS = (0.5, -1.25, 2.0)


def bits(numbers):
    return ["nan" if math.isnan(x) else x.hex() for x in numbers]


class Case:
    """A program as text and typed, with the numbers given to it."""

    def __init__(self, inputs, statements, results):
        self.wrt = [name for name, x in inputs.items() if type(x) is float]
        self.loaded = load(whole_text(inputs, statements, results))
        self.program, given = typed(inputs, statements, results)
        self.values = [given[name] for name in self.wrt]
        self.numbers = [*inputs.values()]
        self.dots = DOTS[: len(self.wrt)]

    def gradient(self):
        return certain(adjoint(self.program, self.values, again=self.values))

    def found(self, program, *more):
        assert faults(program) == []
        return evaluate(program, [*self.numbers, *more])

    def reverse(self):
        made = self.loaded.grad(wrt=self.wrt)
        want = [made.value, *(made.grad[name] for name in self.wrt)]
        return want, self.found(self.gradient(), 1.0)

    def forward(self):
        made = self.loaded.jvp(tangents=dict(zip(self.wrt, self.dots, strict=True)))
        found = self.found(certain(tangent(self.program, self.values)), *self.dots)
        return [made.value, made.jvp], found

    def hessian(self):
        made = self.loaded.hessian(wrt=self.wrt)
        rows = [made.hessian[a][b] for a in self.wrt for b in self.wrt]
        want = [made.value, *(made.grad[name] for name in self.wrt), *rows]
        count = len(self.wrt)
        twice = adjoint(self.gradient(), self.values, [(1 + k,) for k in range(count)])
        return want, self.found(twice.program, 1.0, *[1.0] * count)

    def product(self):
        dots = dict(zip(self.wrt, self.dots, strict=True))
        made = self.loaded.hvp(wrt=self.wrt, tangents=dots)
        want = [made.value, *(made.grad[n] for n in self.wrt), *(made.hvp[n] for n in self.wrt)]
        found = self.found(tangent(self.gradient(), self.values).program, 1.0, *self.dots)
        return want, found[: len(self.wrt) + 1] + found[len(self.wrt) + 2 :]


MODES = ("reverse", "forward", "hessian", "product")


def outcomes(case):
    """What comes of a case in each mode: what it is refused or left for, or "right"."""
    for mode in MODES:
        try:
            want, found = getattr(case, mode)()
        except (NotCompilable, Left) as error:
            yield mode, error.reason
            continue
        assert bits(found) == bits(want), mode
        yield mode, "right"


TURN = ("set", ("y",), (("add", ("sin", ("mul", "x", "y")), "y"),))
LOOPS = {
    "carried": [("set", ("y",), (0.5,)), ("for", "n", [TURN], None)],
    "from what is used in it": [("set", ("y",), ("x",)), ("for", "n", [TURN], None)],
    "swapped": [
        ("set", ("y", "z"), ("x", ("mul", "x", 2.0))),
        ("for", "n", [("set", ("y", "z"), ("z", ("add", ("sin", "y"), "z")))], None),
    ],
    "nested": [
        ("set", ("y",), (0.25,)),
        ("for", "n", [("for", "n", [TURN], None), ("set", ("y",), (("cos", "y"),))], None),
    ],
    "stopped": [("set", ("y",), (0.5,)), ("for", "n", [TURN], ("gt", "y", 1.5))],
    "summed": [
        ("set", ("y", "z"), (("exp", "x"), 0.0)),
        ("for", "n", [TURN, ("set", ("z",), (("add", "z", ("mul", "y", "y")),))], None),
        ("set", ("y",), (("mul", "y", "z"),)),
    ],
    "one of two, both used behind": [
        ("set", ("y", "z"), (("cos", "x"), ("sin", "x"))),
        ("if", ("gt", "y", "z"), [("set", ("y",), ("z",))], []),
        ("set", ("y",), (("mul", "y", ("add", "z", ("mul", "y", "x"))),)),
    ],
    "branched": [
        ("set", ("y",), (0.5,)),
        ("for", "n", [("if", ("lt", "y", 1.0), [TURN], [("set", ("y",), (("cos", "y"),))])], None),
    ],
    "read again": [
        ("set", ("y", "z"), (("sin", "x"), 1.0)),
        ("for", "n", [("set", ("y",), (("exp", ("sin", "y")),)), TURN], None),
        ("set", ("y",), (("mul", ("tanh", "y"), "x"),)),
    ],
}


@pytest.mark.parametrize("turns", [1, 2, 3, 20])
@pytest.mark.parametrize("name", LOOPS)
def test_loops(name, turns):
    case = Case({"x": 0.7, "n": turns}, LOOPS[name], ["y"])
    assert dict(outcomes(case)) == dict.fromkeys(MODES, "right")


NAMES = {
    "two names of one value": [
        ("set", ("y", "z"), ("x", "x")),
        ("for", "n", [("set", ("z", "y"), ("y", ("mul", ("sin", "y"), "z")))], None),
        ("set", ("y",), (("mul", "y", ("add", "z", "x")),)),
    ],
    "another name in each turn": [
        ("set", ("y", "z"), (("cos", "x"), ("sin", "x"))),
        (
            "for",
            "n",
            [
                ("if", ("gt", "y", 0.6), [("set", ("y",), ("z",))], [("set", ("z",), ("y",))]),
                ("set", ("y",), (("mul", "y", ("add", ("sin", "z"), "y")),)),
                ("if", ("lt", "y", 0.4), [("set", ("z",), ("y",))], []),
            ],
            None,
        ),
        ("set", ("y",), (("mul", "y", ("sin", "z")),)),
    ],
}


@pytest.mark.parametrize("turns", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_names_of_one_value(name, turns):
    """What reads them is visited in its order; a second pass back may leave them."""
    found = dict(outcomes(Case({"x": 0.7, "n": turns}, NAMES[name], ["y"])))
    assert found.pop("hessian") in {"right", "two variables hold one value"}
    assert set(found.values()) == {"right"}


def test_the_sign_of_zero():
    """Nothing that a sum begins with changes it."""
    squares = ("set", ("y",), (("add", "y", ("mul", "x", "x")),))
    case = Case(
        {"x": -0.0, "n": 2}, [("set", ("y",), (0.0,)), ("for", "n", [squares], None)], ["y"]
    )
    assert bits(case.reverse()[1]) == bits((0.0, -0.0))
    assert dict(outcomes(case)) == dict.fromkeys(MODES, "right")


def test_a_loop_of_no_turns():
    case = Case({"x": 0.7, "n": 0}, LOOPS["from what is used in it"], ["y"])
    assert dict(outcomes(case)) == dict.fromkeys(MODES, "right")


@pytest.mark.parametrize("first", chunks(few=40, many=2000, size=40))
def test_random_programs(first):
    counts = Counter()
    for seed in range(first, first + 40):
        case = Case(*Writer(seed).program())
        if isinstance(case.program.block.results[0], Value):
            counts.update(outcomes(case))
    assert counts["reverse", "right"] > 8
    ambiguous = {mode for mode, reason in counts if "hold one value" in reason}
    assert ambiguous <= {"hessian"}
    assert counts["hessian", "two variables hold one value"] <= 8


def pushed(program):
    """How many numbers a turn of the loop puts on stacks."""
    return sum(len(i.values) for i in instructions(program.block.body) if isinstance(i, Push))


def test_what_a_turn_leaves():
    """The tape holds what is read, once; code does not grow with turns."""
    few, many = (
        Case({"x": 0.7, "n": 5}, [LOOPS["carried"][0], ("for", n, [TURN], None)], ["y"])
        for n in (5, 50_000)
    )
    sizes = [len([*instructions(c.gradient().block.body)]) for c in (few, many)]
    assert sizes[0] == sizes[1] < 30
    assert pushed(many.gradient()) <= 3
    y = Case({"x": 0.7, "n": 5}, LOOPS["summed"], ["y"])
    assert pushed(y.gradient()) <= 5
