"""Calls of everything that there is with arguments of every kind: a value, or an error of the
language.
"""

import warnings

import pytest
from support.checks import sweep
from support.checks.amounts import chunks

from gradcli.engine.builtins.names import modules
from gradcli.engine.run.language import members
from gradcli.errors import GradError
from gradcli.program import load


@pytest.mark.parametrize("seed", chunks(1, 20, 1))
def test_no_call_is_a_bug(seed):
    found = [f"{bug.call}: {bug.error}" for bug in sweep.bugs(sweep.draw(20_000, seed))]
    assert not found, found[:10]


def test_a_program_of_one_call_has_an_answer_or_an_error_with_a_place(monkeypatch):
    """By `check`, by a run, and by a compiled run."""
    monkeypatch.setattr(modules, "time", sweep.no_time())
    warnings.simplefilter("error")
    some = [callee for callee in sweep.callees() if callee.name[0] not in "(t"]
    drawn = [call for _, calls in sweep.draw(400, 0, some) for call in calls]
    compiled = 0
    for call in drawn:
        for how, error in sweep.asked(call):
            if error is not None:
                first = error.diagnostics[0]
                assert first.source is None or first.span is not None, (call, how, first.message)
                assert first.code != "bug", (call, how)
            compiled += how == "always" and error is None
    assert compiled > 5


def test_everything_is_called():
    """The tables of names, methods and operators are all there; new ones join by themselves."""
    names = {callee.name for callee in sweep.callees()}
    assert names > {"sin", "print", "numpy_median", "python_random_choice", "torch.nn.Linear"}
    assert names > {"a.split", "a.append", "a.setdefault", "a.add_", "a.sum", "+", "//=", "an item"}
    assert "(torch.nn.Linear(2, 2)).forward" in names
    assert len(names) > 4000


def test_a_bug_is_found(monkeypatch):
    def broken(value, *args):
        return value.nothing

    monkeypatch.setitem(members._table("a text")[1], "title", broken)
    callee = next(c for c in sweep.callees() if c.name == "a.title")
    calls = [sweep.Call("a.title()", "a text", "None", "plain")] * 2
    found = list(sweep.bugs([(callee, calls)]))
    assert [bug.call for bug in found] == calls
    assert "AttributeError" in found[0].error


WRONG = {  # what a program catches, and what it reads
    "'a,b'.split(1)": "TypeError must be str or None, not int",
    "'ab'.rjust('a')": "TypeError 'str' object cannot be interpreted as an integer",
    "'ab'.replace(1, 2)": "TypeError replace() argument 1 must be str, not int",
    "[1, 2, 3][:3 / 2]": "TypeError",
    "'abc'[:3 / 2]": "TypeError",
    "ones(3)[:3 / 2]": "TypeError",
    "(1, 2).index(1, 'a')": "TypeError",
    "setattr(x, 2, 3)": "TypeError the name of an attribute is a string, got 2",
    "x.copy_('a')": "TypeError `copy_` needs a number or tensor, got a string",
    "x.fill_(None)": "TypeError `fill` needs a number or tensor as `value`, got None",
    "x.at[0].add('a')": "TypeError `add` needs a number or tensor as `other`, got a string",
    "x.at[tensor([0])].add('a')": "TypeError",
    "x.round_('a')": "TypeError `decimals` must be an integer, got 'a'",
    "x.uniform_(nan, 1.0)": "RuntimeError",
    "x.new(['a'])": "TypeError a string in a list cannot become part of a tensor",
    "hardtanh(tensor([1, 2]), nan)": "ValueError",
    "tensor(1.0).stride(0)": "IndexError a 0-d tensor has no dimension and no stride",
    "[].sum(ones(2, 2))": "TypeError `dim` must be an integer",
    "'a'.grad_fn(1)": "AttributeError a string has no `grad_fn`",
    "list(map(Thing, [1]))": "TypeError `Thing` takes 0 arguments, and `map` calls it with 1",
    "list(map(Thing(1).f, [1], [2]))": "TypeError",
    "jacobian(lambda v: two(*[v]), x)": "TypeError",
    "torch.nn.Module().apply(Thing)": "TypeError",
    "import_random.randrange(None)": "TypeError `start` must be an integer, got None",
}


@pytest.mark.parametrize("call", [*WRONG])
def test_a_wrong_call_is_an_error_that_a_program_catches(call):
    text = f"""
import torch
import random as import_random
class Thing:
    def f(self, a):
        return a
def two(a, b):
    return a + b
x = ones(2)
try:
    {call}
except Exception as error:
    print(type(error).__name__, error)
"""
    (printed,) = load(text).run().printed
    assert printed.startswith(WRONG[call])


def test_a_text_is_chosen_of_texts():
    text = "import numpy as np\nnp.random.seed(0)\nnp.random.choice(['a', 'b'], size=3)"
    assert set(load(text).run().result) <= {"a", "b"}


def test_changes_in_place_by_spread_arguments():
    text = (
        "param x = [1.0, 2.0]\ny = x * 1\ny.mul_(*[3.0])\ny.add_(*[x], **{'alpha': 2.0})\ny.sum()"
    )
    found = load(text).grad()
    assert (found.value, found.grad["x"].tolist()) == (15.0, [5.0, 5.0])
    with pytest.raises(GradError, match="takes at most 1 argument"):
        load("y = ones(2)\ny.sinh_(*[1])").run()


def test_the_names_of_an_object_are_those_of_its_classes_too():
    text = "class A:\n    a = 1\n    def f(self):\n        self.b = 2\nx = A()\nx.f()\n"
    assert load(f"{text}print(dir(x), dir(A))").run().printed == ("['a', 'b', 'f'] ['a', 'f']",)


@pytest.mark.parametrize(
    ("call", "message", "notes"),
    [
        ("removeprefix(1)", "`removeprefix`: must be str, not int", ("removeprefix(prefix)",)),
        (
            "ljust()",
            "`ljust`: expected at least 1 argument, got 0",
            ("ljust(width, fillchar=' ')",),
        ),
        ("split(1)", "`split`: must be str or None, not int", ("split(sep=None, maxsplit=-1)",)),
        ("upper({1})", "`upper` of a string does not take a set", ()),
        ("split('')", "`split`: empty separator", ()),
    ],
)
def test_an_error_of_a_string_s_method_says_how_it_is_called(call, message, notes):
    with pytest.raises(GradError) as caught:
        load(f"'a,b'.{call}").run()
    found = caught.value.diagnostics[0]
    assert found.message == message
    assert tuple(found.notes) == tuple(f"it is called as {note}" for note in notes)
