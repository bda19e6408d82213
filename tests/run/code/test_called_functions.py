"""Functions of the program that the engine calls: which arguments fit."""

import inspect
import itertools

import pytest
from support.programs.ir_programs import lowered

from gradcli.engine.run.code.functions import function_span, misfit
from gradcli.engine.run.execution.execute import Executable
from gradcli.engine.run.session.state import Session
from gradcli.errors import GradError
from gradcli.program import load
from gradcli.source import Source, Span

SIGNATURES = [
    "",
    "a",
    "a, b",
    "a, b=1",
    "a=1, b=2",
    "*args",
    "a, *args",
    "*, k",
    "*, k=1",
    "a, *, k",
    "a, *, k, m=1",
    "a, *, k=1, m",
    "a, b=1, *, k",
    "a, *args, k",
    "**named",
    "a, **named",
    "a, b=1, *args, k, **named",
]
CALLS = [
    (count, dict.fromkeys(names, 0))
    for count in range(4)
    for names in ((), ("a",), ("b",), ("k",), ("m",), ("k", "m"), ("b", "k"), ("z",))
]


def function(signature):
    text = f"def f({signature}): return 0\nf"
    return Executable(lowered(Source("<text>", text))).run(Session(), {})[1]


@pytest.mark.parametrize("signature", SIGNATURES)
def test_arguments_fit_where_python_takes_them(signature):
    made = function(signature)
    plain = eval(f"lambda {signature}: 0")
    for count, named in CALLS:
        try:
            inspect.signature(plain).bind(*[0] * count, **named)
            fits = True
        except TypeError:
            fits = False
        assert (misfit(made, count, named) is None) == fits, (count, named)


@pytest.mark.parametrize(
    ("signature", "count", "named", "message"),
    [
        ("a, b", 1, (), "`f` takes 2 arguments"),
        ("a", 2, (), "`f` takes 1 argument"),
        ("a, b=1", 0, (), "`f` takes 1 to 2 arguments"),
        ("a, b=1, c=2", 4, (), "`f` takes 1 to 3 arguments"),
        ("a", 1, ("z",), "`f` has no parameter `z` for an argument by name"),
        ("a", 1, ("a",), "`f` gets its argument `a` by position and by name"),
        ("a, **named", 1, ("z", "a"), "`f` gets its argument `a` by position and by name"),
        ("a, *, k", 1, (), "`f` takes 1 argument"),
    ],
)
def test_the_message_tells_what_fits(signature, count, named, message):
    assert misfit(function(signature), count, dict.fromkeys(named, 0)) == message


def test_what_the_program_does_not_write_is_not_looked_at():
    for other, count in itertools.product((abs, len, lambda: 0, object()), range(3)):
        assert misfit(other, count, {"z": 0}) is None


@pytest.mark.parametrize(
    ("docstring", "span"), [("3 15", (3, 15)), (None, (0, 0)), ("", (0, 0)), ("0 7", (0, 7))]
)
def test_the_docstring_tells_the_place(docstring, span):
    assert function_span(docstring) == Span(*span)


@pytest.mark.parametrize("call", ["grad(f)(1.0, a=2.0)", "value_and_grad(f)(1.0, a=2.0)"])
def test_an_argument_by_place_and_by_name_is_refused_though_any_name_is_taken(call):
    with pytest.raises(GradError) as error:
        load(f"def f(a, **k): return a * a\n{call}").run()
    (first,) = error.value.diagnostics
    assert first.code == "wrong-arity"
    assert first.message.startswith("`f` gets its argument `a` by position and by name")
