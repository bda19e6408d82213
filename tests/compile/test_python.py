"""Python code of typed programs written by hand: every instruction, moves, rows, what leaves."""

import math
import struct
from itertools import product

import pytest
from support.checks.by_family import by_family
from support.checks.validate_typed import faults
from support.programs.number_cases import OF_MACHINE_CODE

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.python import code as python
from gradcli.engine.compile.typed import (
    TYPES,
    Block,
    Do,
    If,
    Leave,
    Loop,
    NotCompilable,
    Pop,
    Program,
    Push,
    Tell,
    Value,
)
from gradcli.engine.ops.catalog import ops
from gradcli.errors import GradError
from gradcli.source import Span

AT = Span(0, 0)
EDGES = (0.0, -0.0, 1.0, -1.5, 2.0, 710.0, -746.0, 1e308, 5e-324, math.inf, -math.inf, math.nan)
WHOLE = (0, 1, -1, 2, 3, 2**53 + 1, 2**63 - 1, -(2**63))


def value(number, type="float"):
    return Value(number, type)


X, Y = value(0), value(1)


def do(target, op, *args, **params):
    return Do(AT, target, op, args, tuple(params.items()))


def made(inputs, body, results, texts=()):
    program = Program(tuple(inputs), Block(tuple(body), tuple(results)), tuple(texts))
    assert faults(program) == []
    return python.Code(program)


def call(code, *inputs):
    told = []
    return code.call(inputs, Control(echo=told.append)), told


def bits(x):
    if type(x) is float:
        return float, "nan" if math.isnan(x) else struct.pack("d", x)
    return type(x), x


def outcome(call, *args, **params):
    """What a call gives, as bits, or what it raises."""
    try:
        found = call(*args, **params)
    except (GradError, OverflowError, ValueError) as error:
        return type(error)
    except Left:
        return "left"
    return bits(found[0] if isinstance(found, tuple) else found)


NUMBERS = {"float": EDGES, "int": WHOLE, "bool": (False, True)}
OPS = sorted(
    {name for name in ops if ops[name].value.number is not None and ops[name].name == name}
    - OF_MACHINE_CODE
)


def calls(op):
    """Types of arguments that an op takes, with the type of its value, and static parameters."""
    params = {**op.params, **next((s.params for s in op.page.samples()), {})}
    for count in range(len(op.args) - op.optional, len(op.args) + 1):
        for types in product(NUMBERS, repeat=count):
            args = [{"int": 1, "bool": True, "float": 1.5}[type] for type in types]
            args += [None] * (len(op.args) - count)
            try:
                yield types, TYPES[type(op.value.number(*args, **params))], params
            except GradError:  # not of these types
                continue


@by_family(OPS)
def test_an_op_is_its_value_on_numbers(name):
    """Bit for bit; where the value is an error the code has left."""
    op = ops[name]
    for types, kind, params in calls(op):
        inputs = [value(i, type) for i, type in enumerate(types)]
        target = value(9, kind)
        code = made(inputs, [do(target, name, *inputs, **params)], [target])
        left_out = [None] * (len(op.args) - len(types))
        first, *rest = (NUMBERS[t] for t in types)
        for x in first:
            for others in zip(*rest, strict=False) if len(rest) > 1 else product(*rest):
                wanted = outcome(op.value.number, x, *others, *left_out, **params)
                found = outcome(code.call, (x, *others), Control())
                assert found == (wanted if isinstance(wanted, tuple) else "left"), (x, *others)


def test_a_swap_in_a_loop():
    i, a, b = value(2, "int"), value(3), value(4)
    j, again, n = value(5, "int"), value(6, "bool"), value(7, "int")
    body = Block((do(j, "add", i, 1), do(again, "lt", j, n)), (again, j, b, a))
    targets = (value(8, "int"), value(9), value(10))
    turns = value(11, "int")
    loop = Loop(AT, targets, turns, (i, a, b), (0, X, Y), body)
    code = made([X, Y, n], [loop], [*targets[1:], turns])
    assert call(code, 1.0, 2.0, 3)[0] == (2.0, 1.0, 3)
    assert call(code, 1.0, 2.0, 4)[0] == (1.0, 2.0, 4)


def test_a_branch_at_the_end_of_a_loop():
    """Doubles x until it is 100 at least; the first turn may be the last."""
    p, test, twice = value(2), value(3, "bool"), value(4)
    again, after = value(5, "bool"), value(6)
    side = If(AT, (again, after), test, Block((do(twice, "add", p, p),), (True, twice)),
              Block((), (False, p)))  # fmt: skip
    body = Block((do(test, "lt", p, 100.0), side), (again, after))
    out, turns = value(7), value(8, "int")
    code = made([X], [Loop(AT, (out,), turns, (p,), (X,), body)], [out])
    assert [call(code, x)[0] for x in (1.0, 100.0, 99.0)] == [(128.0,), (100.0,), (198.0,)]


def test_the_test_of_a_loop_may_be_one_of_its_variables():
    p, q = value(1, "bool"), value(2, "bool")
    targets = value(3, "bool"), value(4, "bool")
    loop = Loop(AT, targets, value(5, "int"), (p, q), (True, True), Block((), (p, q, False)))
    code = made([], [loop], [*targets, value(5, "int")])
    assert call(code)[0] == (False, False, 3)


def test_branches_that_give_nothing():
    empty = Block((), ())
    told = Block((Tell(AT, 0, (X,)),), ())
    for then, orelse, lines in ((empty, empty, []), (told, empty, ["2.0"]), (empty, told, [])):
        test = value(1, "bool")
        code = made([X], [do(test, "gt", X, 0.0), If(AT, (), test, then, orelse)], [X], [repr])
        assert call(code, 2.0) == ((2.0,), lines)


def test_stacks():
    """What is pushed together is popped together, the last first."""
    a, b, c, d, e = map(value, range(2, 7))
    body = [Push(AT, 0, (X, Y)), Push(AT, 1, (1.5,)), Push(AT, 0, (Y, Y)), Pop(AT, 0, (d, e))]
    body += [Pop(AT, 1, (a,)), Pop(AT, 0, (b, c))]
    assert call(made([X, Y], body, [a, b, c, d, e]), 1.0, 2.0)[0] == (1.5, 1.0, 2.0, 2.0, 2.0)


def test_what_is_told_comes_in_order_and_once():
    """An overflow of `exp` makes the quick code raise; texts are told by the careful one alone."""
    e = value(1)
    body = [Tell(AT, 0, (X,)), do(e, "exp", X), Tell(AT, 0, (e,))]
    assert call(made([X], body, [e], ["<{}>".format]), 1000.0) == (
        (math.inf,),
        ["<1000.0>", "<inf>"],
    )


def test_leaving():
    bad = value(1, "bool")
    code = made([X], [do(bad, "lt", X, 0.0), Leave(AT, bad, "below zero")], [X])
    assert call(code, 1.0)[0] == (1.0,)
    with pytest.raises(Left) as left:
        call(code, -1.0)
    assert left.value.reason == "below zero"


def test_rows():
    """A row that raises is run by itself; one that leaves is told."""
    e, bad = value(1), value(2, "bool")
    body = [do(bad, "lt", X, 0.0), Leave(AT, bad, "below zero"), do(e, "exp", X)]
    code = made([X], body, [e, bad, 1])
    results, left = code.rows([[0.0, -1.0, 1000.0]], Control())
    assert [column.tolist() for column in results] == [
        [1.0, 0.0, math.inf],
        [False] * 3,
        [1, 0, 1],
    ]
    assert left.tolist() == [False, True, False]
    assert [len(column) for column in code.rows([[]], Control())[0]] == [0, 0, 0]


def nested(depth):
    inner, turns = Block((), (False,)), iter(range(10, 100))
    for _ in range(depth):
        inner = Block((Loop(AT, (), value(next(turns), "int"), (), (), inner),), (False,))
    return Program((), Block(inner.body, (1.0,)), ())


def test_deep_loops():
    assert python.Code(nested(19)).call((), Control()) == (1.0,)
    with pytest.raises(NotCompilable):
        python.Code(nested(20))
