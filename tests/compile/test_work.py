"""The work of making code of programs without loops: each pass looks at an instruction once, and
what depends on an op alone is found out once.
"""

import pytest

from gradcli.engine.compile import symbols
from gradcli.engine.compile.differentiate import adjoint as adjoint_pass
from gradcli.engine.compile.passes import simplify
from gradcli.engine.compile.passes.peel import peeled
from gradcli.engine.compile.passes.rotate import rotated
from gradcli.engine.compile.passes.simplify import ALL, Simple, tidy
from gradcli.engine.compile.typed import Block, Do, Leave, Loop, Pop, Program, Push, Value
from gradcli.engine.compile.walk import is_straight
from gradcli.program import load, stage_text
from gradcli.source import Source, Span

AT = Span(0, 0)
X = Value(0, "float")


def _text(count):
    lines = [("y = y + 1.5", "y = y * x", "y = sin(y) - 2")[k % 3] for k in range(count)]
    return "\n".join(("input x: float", "y = x * 0.5", *lines, "y")) + "\n"


def _program(count):
    """A product of so many factors, two of them constants."""
    body = [Do(AT, Value(1, "float"), "add", (1.0, 2.0), ())]
    body += [
        Do(AT, Value(k, "float"), "mul", (Value(k - 1, "float"), X), ()) for k in range(2, count)
    ]
    return Program((X,), Block(tuple(body), (Value(count - 1, "float"),)), ())


@pytest.fixture
def counted(monkeypatch):
    """A function that counts the calls of a method or function."""

    def count(holder, name):
        calls = []
        before = getattr(holder, name)

        def called(*args, **named):
            calls.append(args)
            return before(*args, **named)

        monkeypatch.setattr(holder, name, called)
        return calls

    return count


def test_a_program_without_loops_is_walked_once(counted):
    walked = counted(Simple, "instruction")
    made = tidy(_program(50), ALL)
    assert len(walked) == 49
    assert made.block.body[0].args == (3.0, X)
    assert len(made.block.body) == 48


def test_a_program_with_a_loop_is_walked_until_nothing_is_new(counted):
    turn = Block(
        (Do(AT, Value(7, "bool"), "lt", (Value(5, "float"), X), ()),), (Value(7, "bool"), 2.0)
    )
    loop = Loop(AT, (Value(8, "float"),), Value(6, "int"), (Value(5, "float"),), (2.0,), turn)
    walked = counted(Simple, "_program")
    Simple({}).last(Program((X,), Block((loop,), (Value(8, "float"),)), ()))
    assert len(walked) > 1


@pytest.mark.parametrize(
    "i", [Push(AT, 0, (X,)), Pop(AT, 0, (Value(3, "float"),))], ids=["push", "pop"]
)
def test_stacks_are_no_straight_line(i):
    assert not is_straight(Program((X,), Block((i,), ()), ()))
    assert is_straight(Program((X,), Block((Leave(AT, True, ""),), ()), ()))


def test_what_a_pass_does_not_change_is_the_same_instruction():
    program = _program(20)
    made = tidy(program, ALL)
    assert all(a is b for a, b in zip(made.block.body[1:], program.block.body[2:], strict=True))
    assert rotated(program) is program
    assert peeled(program, [X], [Value(19, "float")]) is program


def test_the_type_of_an_op_on_floats_is_found_out_once(counted):
    asked = counted(symbols.Builder, "_number_type")
    load(_text(30)).compile("x")
    few = len(asked)
    load(_text(300)).compile("x")
    assert len(asked) == 2 * few


def test_a_program_is_walked_as_often_however_long_it_is(counted):
    walked = [counted(simplify, "_Needed"), counted(adjoint_pass, "Flow")]
    load(_text(30)).compile("x")
    few = [len(calls) for calls in walked]
    load(_text(300)).compile("x")
    assert [len(calls) for calls in walked] == [2 * count for count in few] == [4, 2]


def test_plain_functions_are_written_in_place_of_calls():
    pytest.importorskip("llvmlite")
    text = stage_text(Source("p.grad", _text(30)), {}, "llvm")
    assert " @p" not in text
    assert text.count(" = fmul double ") >= 10
    other = stage_text(Source("p.grad", _text(30).replace("1.5", "2.5")), {}, "llvm")
    assert len(other.splitlines()) == len(text.splitlines())


def test_a_function_whose_form_depends_on_a_constant_is_not_that_of_another():
    pytest.importorskip("llvmlite")
    lines = [f"y{k} = x ** {k}" for k in (2, 3, 2.0, 0.5, -1)]
    text = "\n".join(("input x: float", *lines, "y2 + y3 + y2 * x")) + "\n"
    program = load(text.replace("y2.0", "a").replace("y0.5", "b").replace("y-1", "c"))
    function = program.compile("x")
    value, slope = function(1.7)
    asked = program.grad(x=1.7)
    assert (value, slope) == (asked.value, asked.grad["x"])


def test_a_sine_and_a_cosine_share_two_variables():
    pytest.importorskip("llvmlite")
    text = stage_text(Source("p.grad", _text(60)), {}, "llvm")
    assert text.count("alloca double") in (0, 2)  # none where the C library has no such call
    assert "{double, double}" not in text
