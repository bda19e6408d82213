"""Answers by code: every question to programs of every kind, one by one and many together."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from gradcli.engine.compile import backends
from gradcli.errors import GradError
from gradcli.program import Options, load
from gradcli.questions.coded import compiled
from gradcli.questions.coded.compiled import Compiled

RULE = """class Cube(Function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x
"""


class Case(NamedTuple):
    """A program.

    Fields:
        text: Its text, behind the declarations of its inputs.
        inputs: A value of each input.
        weights: A cotangent, where the result is several numbers.
        refused: The questions that are not made into code.
    """

    text: str
    inputs: dict[str, Any]
    weights: Any = None
    refused: Sequence[str] = ()


X3, Y2, X70 = [0.1, 0.7, -2.0], [1.5, -0.5], np.linspace(0.1, 2.0, 70)
W = np.linspace(-1.0, 1.0, 72).reshape(9, 8)
SECOND = (
    *("hessian forward", "hessian reverse", "diagonal", "diagonal reverse", "hvp", "hvp reverse"),
)
OF_A_LIST = ("grad", *SECOND)

CASES = {
    "a number": Case("sin(x) * k + x ** 3 / k", {"x": 0.7, "k": 2}),
    "three numbers": Case("a * exp(b * c) - sin(c) * b", {"a": 1.5, "b": -0.5, "c": 0.3}),
    "one counts nowhere": Case("a * sin(a) + 0 * a", {"a": 1.5, "b": -0.5}),
    "a list": Case("[x * y, x ** 2, sin(y)]", {"x": 2.0, "y": 3.0}, [1.0, -2.0, 0.5], OF_A_LIST),
    "a list of one": Case("[x * y]", {"x": 2.0, "y": 3.0}, [2.0], OF_A_LIST),
    "elements": Case("(sin(x) * x).sum() * y[0] + y[1] ** 3", {"x": X3, "y": Y2}),
    "a vector of elements": Case("sin(x) * x", {"x": X3}, [1.0, 2.0, -1.0], ("grad", *SECOND)),
    "a list of sums": Case(
        "[x.sum() * y[0], (x * x).sum(), y[1]]", {"x": X3, "y": Y2}, [1.0, 2.0, 3.0], OF_A_LIST
    ),
    "a matrix of elements": Case(
        "(w @ x).sum() + (w * w * w).sum()", {"w": [[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]], "x": X3}
    ),
    "an array": Case("(sin(x) * x).sum() * b", {"x": X70, "b": 0.7}),
    "a vector of an array": Case("sin(x) * b", {"x": X70, "b": 0.7}, X70 - 1, ("grad", *SECOND)),
    "two arrays": Case("tanh(w @ x).sum() * b", {"w": W, "x": [0.1 * k for k in range(8)], "b": 2}),
    "a rule": Case(f"{RULE}Cube.apply(x * y) + x", {"x": 0.7, "y": 2.0}),
    "a rule twice": Case(
        f"{RULE}[Cube.apply(x * y), Cube.apply(y) * x]", {"x": 0.7, "y": 2.0}, [1.0, 3.0], OF_A_LIST
    ),
    "a loop and a branch": Case(
        "z = x\nfor i in range(4):\n    z = sin(z) * y if z > 0.2 else z * y + x\nz * x",
        {"x": 0.7, "y": 2.0},
    ),
}
QUESTIONS = {
    "run": ("run", {}),
    "grad": ("grad", {}),
    "vjp": ("vjp", {}),
    "jvp": ("jvp", {}),
    "jacobian forward": ("jacobian", {"mode": "forward"}),
    "jacobian reverse": ("jacobian", {"mode": "reverse"}),
    "jacobian": ("jacobian", {}),
    "hessian forward": ("hessian", {"mode": "forward"}),
    "hessian reverse": ("hessian", {"mode": "reverse"}),
    "diagonal": ("hessian", {"mode": "forward", "diagonal": True}),
    "diagonal reverse": ("hessian", {"mode": "reverse", "diagonal": True}),
    "hvp": ("hvp", {}),
    "hvp reverse": ("hvp", {"mode": "reverse"}),
    "grad, weighed": ("grad", {}),
    "hessian forward, weighed": ("hessian", {"mode": "forward"}),
    "hessian reverse, weighed": ("hessian", {"mode": "reverse"}),
    "diagonal, weighed": ("hessian", {"mode": "forward", "diagonal": True}),
    "hvp, weighed": ("hvp", {}),
    "hvp reverse, weighed": ("hvp", {"mode": "reverse"}),
    "vjp by one weight": ("vjp", {"cotangent": 2.0}),
}


def written(case):
    """The text of a program, with the declarations of its inputs."""
    sizes = {name: ",".join(map(str, np.shape(x))) for name, x in case.inputs.items()}
    kinds = {name: f": float[{size}]" if size else "" for name, size in sizes.items()}
    return "".join(f"input {name}{kind}\n" for name, kind in kinds.items()) + case.text


def asked(case, question):
    """The method that asks a question, and what it is asked."""
    method, more = QUESTIONS[question]
    if method in ("jvp", "hvp"):
        along = {n: x for n, x in case.inputs.items() if n in ("x", "a", "w")}
        turned = {n: np.cos(np.asarray(x, float) + 1).tolist() for n, x in along.items()}
        more = more | {"tangents": turned}
    if question == "vjp" or question.endswith("weighed"):
        more = more | {"cotangent": 0.5 if case.weights is None else case.weights}
    return method, more


def told(program, method, given, more, when):
    """An answer as text, or its error."""
    try:
        options = Options(compile=when, grad_fn=False)
        return repr(getattr(program, method)(given, options=options, **more))
    except GradError as error:
        return str(error)


@pytest.fixture(autouse=True)
def by_python(monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)


@pytest.fixture
def found(monkeypatch):
    """What code has found, None where it has left the answer to the interpreter."""
    every = []
    answer = Compiled.answer
    monkeypatch.setattr(Compiled, "answer", lambda *a: every.append(answer(*a)) or every[-1])
    return every


MOVED = (1.0, 0.5, -0.25)
"""Factors of the inputs, a row each."""


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", CASES)
def test_code_answers_one_by_one_and_many_together(name, question, found):
    case = CASES[name]
    program, (method, more) = load(written(case)), asked(case, question)
    rows = [{n: (np.asarray(x) * k).tolist() for n, x in case.inputs.items()} for k in MOVED]
    run, *others = (told(program, method, row, more, "never") for row in rows)
    code = told(program, method, rows[0], more, "always")
    assert ("not compiled" in code) == (question in case.refused), code
    if question in case.refused:
        return
    assert run == code
    assert [answer is None for answer in found] == [False]

    options = Options(compile="always", grad_fn=False)
    many = program.many(method, case.inputs, options=options, **more)
    numbers = many.numbers(rows)
    assert [repr(many.result(x)) for x in numbers] == [run, *others]
    assert {tuple(map(type, x)) for x in numbers} == {tuple(many.types)}
    columns = {n: np.array([row[n] for row in rows], float) for n in case.inputs}
    made, alone = many.arrays(columns)
    assert alone == []
    assert [repr(many.result([c[k].item() for c in made])) for k in range(3)] == [run, *others]


ROOM = [(0, 0, True), (-1, 0, True), (0, -1, True), (-1, -1, False)]
"""What memory is large, and how much is left, beside what is needed; whether code answers."""


@pytest.mark.parametrize(("large", "left", "answers"), ROOM)
def test_code_answers_where_its_arrays_find_room(large, left, answers, found, monkeypatch):
    needed = 5 * 8 * 70 + 70  # the arrays of `check --code typed`: five of floats, one of bools
    room = SimpleNamespace(large=needed + large, left=needed + left)
    program = load("input x: float[70]\nsin(x).sum()")
    program.grad(x=X70, options=Options(compile="always"))
    monkeypatch.setattr(compiled, "meter", lambda: room)
    program.grad(x=X70, options=Options(compile="always"))
    assert [answer is not None for answer in found] == [True, answers]


@pytest.mark.parametrize(("large", "left", "answers"), ROOM)
def test_code_answers_many_where_their_numbers_find_room(large, left, answers, monkeypatch):
    needed = 32 * 3 * 5  # value, input and slope of five rows
    room = SimpleNamespace(large=needed + large, left=needed + left)
    many = load("input x\nsin(x)").many("grad", {"x": 1.0}, options=Options(compile="always"))
    monkeypatch.setattr(compiled, "meter", lambda: room)
    numbers = many.numbers([{"x": 0.1 * k} for k in range(5)])
    assert [x is not None for x in numbers] == [answers] * 5
    assert (many.arrays({"x": np.linspace(0.0, 1.0, 5)}) is not None) == answers


INTS = [  # a value of an int input, whether code takes it by itself, and in a column of floats
    (3.0, True, True),
    (-3.0, True, True),
    (1.5, False, False),
    (2.0**53 - 1, True, True),
    (2.0**53, True, False),  # which 2**53 + 1 becomes, too
    (-(2.0**53), True, False),
    (2**63 - 1, True, False),
    (2**63, False, False),
    (-(2**63), True, False),
    (-(2**63) - 1, False, False),
    (True, True, True),
    ("3", False, None),
    (None, False, None),
    ([1], False, None),
]


@pytest.mark.parametrize(("value", "alone", "together"), INTS)
def test_code_takes_ints_of_64_bits(value, alone, together):
    program = load("input x\ninput n: int\nx + 0.0 * n")
    many = program.many("grad", {"x": 1.0, "n": 1}, options=Options(compile="always"))
    assert [x is not None for x in many.numbers([{"x": 1.0, "n": value}])] == [alone]
    if together is not None:
        columns = {"x": np.array([1.0, 2.0]), "n": np.array([2.0, value], float)}
        assert many.arrays(columns)[1] == ([] if together else [1])


FLOATS = [  # a value of a float input, whether code takes it
    (1.5, True),
    (7, True),
    (2**63 - 1, True),
    (2**63, False),
    (-(2**63), True),
    (-(2**63) - 1, False),
    (False, True),
    ("1.5", False),
    (np.float32(1.5), False),
]


@pytest.mark.parametrize(("value", "alone"), FLOATS)
def test_code_takes_floats_and_ints_of_64_bits_for_floats(value, alone):
    many = load("input x\nx * 2").many("grad", {"x": 1.0}, options=Options(compile="always"))
    assert [x is not None for x in many.numbers([{"x": value}])] == [alone]


def test_rows_of_which_an_answer_is_not_finite_are_asked_by_themselves():
    program = load("input x\ninput y: float[2] = [1, 2]\n[log(x) * y[0], x * y[1]]")
    asked = {"options": Options(compile="always"), "mode": "forward"}
    many = program.many("jacobian", {"x": 1.0, "y": [1.0, 2.0]}, **asked)
    x = np.array([1.0, -1.0, 2.0, np.nan, 0.0, np.inf])
    assert many.arrays({"x": x, "y": np.ones((6, 2))})[1] == [1, 3, 4, 5]
    assert many.arrays({"x": x})[1] == [1, 3, 4, 5]  # the others have the values of the request
    one_by_one = many.numbers([{"x": v, "y": [1.0, 1.0]} for v in x.tolist()])
    assert [numbers is None for numbers in one_by_one] == [False, True, False, True, True, True]
    assert many.arrays({"x": x, "y": np.ones((6, 3))}) is None


def test_what_a_program_prints_is_told_row_by_row():
    program = load("input x\nprint('x is', x)\nx * 2")
    many = program.many("grad", {"x": 1.0}, options=Options(compile="always"))
    assert many.numbers([{"x": 1.0}, {"x": 2.0}]) == [None, None]
    assert many.arrays({"x": np.ones(2)}) is None
