"""What is folded and left out of typed programs, and what is not."""

import pytest

from gradcli.engine.compile.passes.simplify import ALL, tidy
from gradcli.engine.compile.typed import (
    Block,
    Do,
    If,
    Leave,
    Loop,
    Pop,
    Program,
    Push,
    Value,
)
from gradcli.source import Span

AT = Span(0, 0)
X, Y, P, Q = Value(0, "float"), Value(1, "float"), Value(2, "bool"), Value(3, "bool")
OUT = Value(9, "float")


def do(op, *args, type="float"):
    return Do(AT, Value(9, type), op, args, ())


def simple(*body, results=(OUT,)):
    """The program, simplified, and its results."""
    made = tidy(Program((X, Y, P, Q), Block(body, results), ()), ALL)
    return made.block


FOLDED = [  # an op, its arguments, its result; None where it stays
    ("add", (1.0, 2.0), 3.0),
    ("mul", (2, 3), 6),
    ("lt", (1.0, 2.0), True),
    ("add", (1.0, X), None),
    ("div", (1.0, 0.0), None),  # not finite
    ("exp", (1000.0,), None),
    ("passed", (1.0,), None),
    ("logical_or", (P, True), True),
    ("logical_or", (True, P), True),
    ("logical_or", (P, False), P),
    ("logical_or", (False, P), P),
    ("logical_or", (P, P), P),
    ("logical_or", (P, Q), None),
    ("logical_and", (P, True), P),
    ("logical_and", (True, P), P),
    ("logical_and", (P, False), False),
    ("logical_and", (False, P), False),
    ("logical_and", (Q, Q), Q),
    ("logical_and", (P, Q), None),
    ("logical_or", (X, False), None),  # a number is no truth
    ("logical_and", (True, X), None),
    ("logical_and", (X, X), None),
    ("logical_or", (X, True), None),
]
TYPES = {float: "float", int: "int", bool: "bool", Value: "bool"}


@pytest.mark.parametrize(("op", "args", "expected"), FOLDED)
def test_an_op_of_what_is_known_is_its_result(op, args, expected):
    type_ = "bool" if op.startswith("log") else TYPES[type(expected)] if expected else "float"
    (found,) = simple(do(op, *args, type=type_), results=(Value(9, type_),)).results
    kept = Value(9, type_)
    wanted = kept if expected is None else expected
    assert same(found, wanted), (op, args, found)


def same(a, b):
    """True if two operands are one value, or equal constants of one type and sign."""
    if isinstance(a, Value) or isinstance(b, Value):
        return isinstance(a, Value) and isinstance(b, Value) and a.number == b.number
    return type(a) is type(b) and repr(a) == repr(b)


SIDES = [  # what the sides of a branch give, its result; None where it stays
    (1.0, 1.0, 1.0),
    (X, X, X),
    (X, Y, None),
    (X, 1.0, None),
    (1.0, X, None),
    (1.0, 2.0, None),
    (0.0, -0.0, None),
    (1, 1.0, None),
    (1, True, None),
    (True, False, P),
    (False, True, None),
    (True, True, True),
    (1, 0, None),
]


@pytest.mark.parametrize(("then", "orelse", "expected"), SIDES)
def test_a_branch_with_equal_sides_is_either(then, orelse, expected):
    branch = If(AT, (OUT,), P, Block((), (then,)), Block((), (orelse,)))
    (found,) = simple(branch).results
    assert same(found, OUT if expected is None else expected), found


@pytest.mark.parametrize(("test", "expected"), [(True, 1.0), (False, 2.0)])
def test_a_branch_of_a_known_test_is_that_side(test, expected):
    found = simple(If(AT, (OUT,), test, Block((), (1.0,)), Block((), (2.0,))))
    assert found.body == ()
    assert found.results == (expected,)


TURNS = [  # what a param begins with, what the next turn gets, what the target is; None if it stays
    (1.0, "itself", 1.0),
    (X, "itself", X),
    (1.0, 1.0, 1.0),
    (X, X, X),
    (1.0, 2.0, 2.0),
    (1.0, X, X),
    (0.0, -0.0, -0.0),
    (1.0, "changed", None),
]


@pytest.mark.parametrize(("first", "then", "expected"), TURNS)
def test_a_param_that_no_turn_changes_is_no_param(first, then, expected):
    param, changed, again = Value(10, "float"), Value(11, "float"), Value(12, "bool")
    given = {"itself": param, "changed": changed}.get(then, then) if type(then) is str else then
    body = Block(
        (Do(AT, changed, "add", (param, Y), ()), Do(AT, again, "lt", (changed, X), ())),
        (again, given),
    )
    loop = Loop(AT, (OUT,), Value(13, "int"), (param,), (first,), body)
    (found,) = simple(loop).results
    assert same(found, OUT if expected is None else expected), found


PUSHED = [  # what two pushes put on a stack, what a pop gives; None if that is not known
    (1.0, 1.0, 1.0),
    (1.0, 2.0, None),
    (0.0, -0.0, None),
    (1, 1.0, None),
    (X, X, None),
]


@pytest.mark.parametrize(("first", "second", "expected"), PUSHED)
def test_a_pop_of_what_every_push_puts_there_is_that(first, second, expected):
    body = (Push(AT, 0, (first,)), Push(AT, 0, (second,)), Pop(AT, 0, (OUT,)))
    (found,) = simple(*body, Pop(AT, 0, (Value(8, "float"),))).results
    assert same(found, OUT if expected is None else expected), found


@pytest.mark.parametrize("when", [True, False, P])
def test_only_what_never_leaves_goes(when):
    found = simple(Leave(AT, when, "why"), results=(X,))
    assert [type(i) for i in found.body] == ([] if when is False else [Leave])


def test_what_nobody_reads_goes_unless_its_error_has_to_stay():
    body = Block((do("log", X),), (Y,))
    for first, count in ((0, 0), (9, 0), (10, 1)):
        assert len(tidy(Program((X, Y), body, ()), first).block.body) == count, first
