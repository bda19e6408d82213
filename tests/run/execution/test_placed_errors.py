"""Errors of a run with their places: what is underlined, labelled and noted, and the help."""

import pytest

from gradcli.errors import GradError, LimitError
from gradcli.limits import Limits
from gradcli.program import load
from gradcli.questions.asked.request import Options

CASES = {
    "a power written with the sign of another operator": (
        "x = 2.5\ny = (x  ^  2) + 1\n",
        "dtype-mismatch: `^` is not defined on floats",
        "x  ^  2",
        [],
        [],
        "write `y = (x  **  2) + 1`",
    ),
    "the same on the second line of several": (
        "x = 2.5\ny = 3 + (1 +\n  x^2)\n",
        "dtype-mismatch: `^` is not defined on floats",
        "1 +\n  x^2",
        [],
        [],
        "write `x**2)`",
    ),
    "a sum of shapes in loops of a function": (
        "def f(n):\n  for i in range(3):\n    for j in range(4):\n      if i == 1 and j == 2:\n        ones(2) + ones(3)\nf(1)\n",
        "shape-mismatch: the shapes [2] and [3] do not broadcast",
        "ones(2) + ones(3)",
        [
            ("ones(2)", "`ones(2)` is a tensor of shape [2]"),
            ("ones(3)", "`ones(3)` is a tensor of shape [3]"),
        ],
        [
            "in the 3rd turn of the loop at line 3",
            "in the 2nd turn of the loop at line 2",
            "called from line 6",
        ],
        None,
    ),
    "a sum of shapes in nested calls": (
        "def f(a): return a + ones(3)\ndef g(a): return f(a)\ndef h(a): return g(a)\nx = ones(2)\nh(x)\n",
        "shape-mismatch: the shapes [2] and [3] do not broadcast",
        "a + ones(3)",
        [("a", "`a` is a tensor of shape [2]"), ("ones(3)", "`ones(3)` is a tensor of shape [3]")],
        ["called from line 2", "called from line 3", "called from line 5"],
        None,
    ),
    "a sum of shapes in many calls": (
        "def f(n, a):\n  return a + ones(3) if n == 0 else f(n - 1, a)\nf(6, ones(2))\n",
        "shape-mismatch: the shapes [2] and [3] do not broadcast",
        "a + ones(3)",
        [("a", "`a` is a tensor of shape [2]"), ("ones(3)", "`ones(3)` is a tensor of shape [3]")],
        [
            "called from line 2",
            "called from line 2",
            "called from line 2",
            "... and 4 calls further out",
        ],
        None,
    ),
    "a while loop": (
        "x = ones(2)\nn = 0\nwhile n < 5:\n  n += 1\n  if n == 3: x + ones(n)\n",
        "shape-mismatch: the shapes [2] and [3] do not broadcast",
        "x + ones(n)",
        [
            ("x", "`x` is a tensor of shape [2]"),
            ("ones(n)", "`ones(n)` is a tensor of shape [3]"),
            ("x = ones(2)", "`x` comes from here"),
        ],
        ["in the 3rd turn of the loop at line 3"],
        None,
    ),
    "a function that takes fewer": (
        "def f(a, b): return a\nl = [1, 2, 3]\nf(*l)\n",
        "wrong-arity: `f` takes 2 arguments, got 3",
        "f(*l)",
        [("a, b", "its parameters")],
        [],
        None,
    ),
    "a function that lacks one": (
        "def f(a, b): return a\nl = [1]\nf(*l)\n",
        "wrong-arity: `f` lacks its argument `b`",
        "f(*l)",
        [("a, b", "its parameters")],
        [],
        None,
    ),
    "a function that takes no such name": (
        "def f(a, b): return a\nl = {'a': 1, 'z': 2}\nf(**l)\n",
        "wrong-arity: `f` takes no argument `z`",
        "f(**l)",
        [("a, b", "its parameters")],
        [],
        None,
    ),
    "a function that gets one twice": (
        "def f(a, b): return a\nl = {'a': 1}\nf(1, **l)\n",
        "wrong-arity: `f` gets its argument `a` by position and by name",
        "f(1, **l)",
        [("a, b", "its parameters")],
        [],
        None,
    ),
    "a name that is assigned later": (
        "def g():\n  return late\ng()\nlate = 3\n",
        "used-before-assigned: `late` is used before it has a value",
        "late",
        [("late = 3", "`late` is assigned here")],
        ["called from line 3"],
        None,
    ),
    "a dictionary that is changed": (
        "d = {1: 2}\nfor k in d: d[k + 1] = 1\n",
        "bad-argument: the dictionary or set is changed during iteration",
        "d",
        [],
        ["in the 1st turn of the loop at line 2"],
        "iterate over `list(...)` of it",
    ),
    "a sign of text": (
        "def f(a, b):\n  return -b\nf(2.0, 'a')\n",
        "wrong-type: `-` needs numbers or tensors, got a string",
        "-b",
        [("b", "`b` is a string")],
        ["called from line 3"],
        None,
    ),
    "an update of a number by text": (
        "def f(a, b):\n  a -= b\nf(2.0, 'a')\n",
        "wrong-type: `-` does not take a number and a string",
        "a -= b",
        [("b", "`b` is a string")],
        ["called from line 3"],
        None,
    ),
    "an exception of the program": (
        "def f(a):\n  raise ValueError('no', a)\nf(3)\n",
        "unhandled-exception: `ValueError`: ('no', 3)",
        "raise ValueError('no', a)",
        [],
        ["called from line 3"],
        None,
    ),
    "a decorated function with a wrong rule": (
        "def d(f): return f\n@d\ndef f(a, b): return a\ngrad(f)(1.0)\n",
        "wrong-arity: `f` takes 2 arguments, and `grad` calls it with 1",
        "def f(a, b): return a",
        [("a, b", "its parameters")],
        ["called from line 4"],
        None,
    ),
}
"""Program, message, the place, the labels with their texts, the notes and the help."""


def error_of(text, **options):
    with pytest.raises(GradError) as error:
        load(text).run(options=Options(**options))
    return error.value


@pytest.mark.parametrize(
    ("text", "message", "place", "labels", "notes", "help"), CASES.values(), ids=CASES
)
def test_an_error_is_told_with_its_place(text, message, place, labels, notes, help):
    found = error_of(text).diagnostics[0]
    assert f"{found.code}: {found.message}" == message
    assert text[found.span.start : found.span.end] == place
    assert [(text[at.span.start : at.span.end], at.text) for at in found.labels] == labels
    assert (list(found.notes), found.help) == (notes, help)


@pytest.mark.parametrize(("length", "offered"), [(59, True), (60, True), (61, False)])
def test_a_mended_line_is_offered_if_it_is_not_long(length, offered):
    """The help beside the error has room for 60 characters."""
    mended = f"y = x ** 2 + {'1' * (length - len('y = x ** 2 + ') - 2)}.0"
    text = f"x = 2.5\n{mended.replace('**', '^')}\n"
    wanted = f"write `{mended}`" if offered else "the power is `x ** y`"
    assert (len(mended), error_of(text).diagnostics[0].help) == (length, wanted)


def test_a_limit_tells_the_last_values():
    names = [f"v{i}" for i in range(14)]
    values = ["1", "2.5", "True", "ones(2)", "tensor(3.0)", "'a'", "[1]", "None"]
    lines = [f"{name} = {values[i % len(values)]}" for i, name in enumerate(names)]
    text = "\n".join([*lines, "f = lambda a: a", "while True: v0 = v0 + 1"])
    error = error_of(text, limits=Limits(steps=3), compile="never")
    assert isinstance(error, LimitError)
    told = [
        "`v0` was 4", "`v1` was 2.5", "`v2` was True", "`v3` was a tensor of shape [2]",
        "`v4` was tensor(3.)", "`v5` was a string", "`v6` was a list", "`v7` was None",
        "`v8` was 1", "`v9` was 2.5", "`v10` was True", "`v11` was a tensor of shape [2]",
    ]  # fmt: skip
    assert list(error.last) == told
