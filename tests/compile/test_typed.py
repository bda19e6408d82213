"""Typed programs as text, and what is wrong with wrong ones."""

import pytest
from support.checks.validate_typed import faults

from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.text import text
from gradcli.engine.compile.typed import Block, Do, If, Loop, Pop, Program, Push, Value
from gradcli.source import Span

AT = Span(0, 0)
X, N = Value(0, "float"), Value(1, "int")


def do(number, op, *args, type="float", **params):
    return Do(AT, Value(number, type), op, args, tuple(params.items()))


def power():
    """x times itself n times, by a loop of one turn at least."""
    i, y, again = Value(2, "int"), Value(3, "float"), Value(6, "bool")
    body = Block(
        (
            do(4, "add", i, 1, type="int"),
            do(5, "mul", y, X),
            do(6, "lt", Value(4, "int"), N, type="bool"),
        ),
        (again, Value(4, "int"), Value(5, "float")),
    )
    targets = (Value(7, "int"), Value(8, "float"))
    loop = Loop(AT, targets, Value(9, "int"), (i, y), (0, 1.0), body)
    return Program((X, N), Block((loop,), (Value(8, "float"),)), ())


def test_text():
    assert text(power()) == (
        "inputs %0: float, %1: int\n"
        "%7: int, %8: float, %9: int = loop:\n"
        "  param %2: int from 0\n"
        "  param %3: float from 1.0\n"
        "  %4: int = add(%2, 1)\n"
        "  %5: float = mul(%3, %0)\n"
        "  %6: bool = lt(%4, %1)\n"
        "  yield %6, %4, %5\n"
        "give %8\n"
    )


def test_a_right_one_has_no_faults():
    assert faults(power()) == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ([do(1, "sin", Value(2, "float"))], "%2 is not there where sin reads it"),
        ([do(1, "sin", X), do(1, "cos", X)], "%1 is defined twice"),
        ([do(1, "sin", Value(0, "int"))], "%0 is float and read as int by sin"),
        ([do(1, "matmul", X, X)], "`matmul` has no value on these"),
        ([do(1, "nosuch", X)], "`nosuch` has no value on these"),
        ([If(AT, (), X, Block((), ()), Block((), ()))], "the test of an if has types"),
        ([If(AT, (), True, Block((), (X,)), Block((), ()))], "a side of an if has types"),
        ([Push(AT, 0, (N,))], "%1 is not there where push reads it"),
        ([Pop(AT, 0, (X,))], "%0 is defined twice"),
        ([Push(AT, 0, (X,)), Push(AT, 0, (1,))], "stack 0 has types"),
    ],
    ids=str,
)
def test_faults_of_wrong_ones(body, says):
    found = faults(Program((X,), Block(tuple(body), ()), ()))
    assert any(says in line for line in found), found


def test_what_decides_whether_something_is_taken_from_a_stack_stays():
    """Where one is taken of a kind, all are, though nobody may read the others."""
    taken = [Block((Pop(AT, 0, (Value(k, "float"),)),), (Value(k, "float"),)) for k in (5, 6)]
    unread = [Block((Pop(AT, 0, (Value(k, "float"),)),), ()) for k in (7, 8)]
    first, second = Value(2, "bool"), Value(3, "bool")
    body = (
        *(Push(AT, 0, (X,)), Push(AT, 0, (X,))),
        *(do(2, "lt", X, 1.0, type="bool"), do(3, "gt", X, 2.0, type="bool")),
        If(AT, (Value(4, "float"),), first, *taken),
        If(AT, (), second, *unread),
    )
    found = tidy(Program((X, N), Block(body, (Value(4, "float"),)), ()), 0)
    assert faults(found) == []
    assert [type(i).__name__ for i in found.block.body] == ["Push", "Push", "Do", "Do", "If", "If"]
