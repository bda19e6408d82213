"""Questions that are asked again with other numbers: their code gives the interpreter's bits, or
leaves the question to it.
"""

import subprocess
import sys

import numpy as np
import pytest

from gradcli import load
from gradcli.program import Limits, Options
from gradcli.questions.jit import Recent
from gradcli.results import Place

CODE, INTERPRETER = Options(compile="always"), Options(compile="never")
MODEL = """param a = 1.5
param w: float[2] = [1, 2]
input t: float[n]
sum(exp(-a * t)) * w[0] + w[1] ** 2 * a
"""
GIVEN = {"a": 0.5, "w": [0.25, -3.0], "t": [1.0, 2.0, 0.125]}
ASKED = {
    "value": {},
    "grad": {"wrt": ["w", "a"]},
    "vjp": {"wrt": "t", "cotangent": 2.0},
    "jvp": {"tangents": {"a": 1.0, "w": [0.5, 2.0]}},
    "jacobian": {"wrt": "w,t"},
    "hessian": {"wrt": ["a", "w"], "mode": "forward"},
    "hvp": {"tangents": {"w": [1.0, -1.0]}, "wrt": ["a", "w"]},
}


def repeated(text, given, name="grad", held=(), options=CODE, **asked):
    return load(text).repeated(name, given, held=held, options=options, **asked)


def filled(fields, numbers):
    """The fields of an answer with their numbers."""
    if isinstance(fields, Place):
        return next(numbers)
    if isinstance(fields, dict):
        return {name: filled(part, numbers) for name, part in fields.items()}
    return [filled(part, numbers) for part in fields] if isinstance(fields, list) else fields


@pytest.mark.parametrize("name", ASKED)
def test_it_gives_the_bits_of_the_interpreter(name):
    program, asked = load(MODEL), ASKED[name]
    found = program.repeated(name, GIVEN, options=CODE, **asked)
    rng = np.random.default_rng(1)
    for _ in range(5):
        given = {n: rng.normal(size=np.shape(x)).tolist() for n, x in GIVEN.items()}
        along = {
            n: rng.normal(size=np.shape(x)).tolist() for n, x in asked.get("tangents", {}).items()
        }
        also = {**asked, **({"tangents": along} if along else {})}
        expected = getattr(program, name)(given, options=INTERPRETER, **also).to_dict()
        numbers = found(given, along)
        answer = filled(found.fields, iter(numbers))
        assert answer == {field: expected[field] for field in answer}


def test_arrays_and_ints_are_numbers_too():
    found = repeated(MODEL, GIVEN)
    lists = {"a": 1, "w": [2, 3.0], "t": [1, 2, 3]}
    arrays = {"a": 1.0, "w": np.array([2.0, 3.0]), "t": np.array([1, 2, 3])}
    assert found(lists, {}) == found(arrays, {}) is not None


@pytest.mark.parametrize(
    "other",
    [
        {"a": True},
        {"a": "1"},
        {"a": None},
        {"a": [1.0]},
        {"a": 2**53 + 1},
        {"a": float("nan")},
        {"t": [1.0, float("inf"), 2.0]},
        {"t": [1.0, 2.0]},
        {"t": [[1.0], [2.0], [3.0]]},
        {"t": 1.0},
        {"w": np.ones((1, 2))},
        {"b": 1.0},
    ],
    ids=str,
)
def test_other_values_are_left_to_others(other):
    found = repeated(MODEL, GIVEN)
    assert found({**GIVEN, **other}, {}) is None
    assert found({n: x for n, x in GIVEN.items() if n not in other}, {}) is None or "b" in other


def test_rows_of_a_matrix_have_one_length():
    text = "input x: float[n, m]\nsum(x * x)"
    found = repeated(text, {"x": [[1.0, 2.0], [3.0, 4.0]]}, "value")
    assert [*found({"x": [[1.0, 2.0], [3.0, 5.0]]}, {})] == [39.0]
    assert found({"x": [[1.0, 2.0, 3.0], [4.0]]}, {}) is None
    assert found({"x": [[1.0, 2.0], 3.0]}, {}) is None


def test_where_a_value_is_not_finite_the_interpreter_answers():
    found = repeated("log(x)", {"x": 1.0})
    assert found({"x": 2.0}, {}) is not None
    assert found({"x": 0.0}, {}) is None


def test_ints_of_inputs_are_those_of_the_code():
    text = "input n: int\ninput x = 1.0\nx * n"
    found = repeated(text, {"n": 3, "x": 2.0}, wrt="x")
    assert [*found({"n": 3, "x": 5.0}, {})] == [15.0, 3.0]
    assert found({"n": 4, "x": 5.0}, {}) is None


def test_what_is_held_is_not_given_again():
    found = repeated(MODEL, GIVEN, held=["t"], wrt="a")
    assert found({"a": 0.5, "w": [0.25, -3.0]}, {}) == repeated(MODEL, GIVEN, wrt="a")(GIVEN, {})


def test_outside_of_bounds_the_interpreter_warns():
    found = repeated("param k: float in [0, 10] = 1.0\nk * k", {"k": 2.0})
    assert found({"k": 3.0}, {}) is not None
    assert found({"k": 30.0}, {}) is None


def test_remarks_about_the_text_are_in_each_answer():
    found = repeated("x = 3\nz = x ^ 2\nk * z", {"k": 1.0}, wrt="k")
    assert [w.code for w in found.warnings] == ["bitwise-power"]


LEFT = {
    "it prints": ("print(x)\nx * x", {"x": 1.0}, {}),
    "its steps are counted": (
        "y = x\nfor i in range(3): y = y * x\ny",
        {"x": 1.0},
        {"options": Options(compile="always", limits=Limits(steps=10_000))},
    ),
    "its answer is large": ("input x: float[n]\nx", {"x": [1.0] * 101}, {"name": "jacobian"}),
    "an array of ints": (
        "input n: int[k]\ninput x = 1.0\nsum(n * x)",
        {"n": np.array([1, 2]), "x": 2.0},
        {"wrt": "x"},
    ),
    "other things than numbers": ("x * x", {"x": 1.0}, {"name": "run"}),
    "no such number": ("input x: float\ninput n: int\nx * n", {"x": 1.0, "n": 2.5}, {"wrt": "x"}),
    "it draws": ("x * randn(1).sum()", {"x": 1.0}, {}),
    "it is never compiled": ("x * x", {"x": 1.0}, {"options": INTERPRETER}),
    "another question": ("x * x", {"x": 1.0}, {"name": "check"}),
}


@pytest.mark.parametrize("why", LEFT)
def test_some_questions_are_no_functions_of_numbers(why):
    text, given, more = LEFT[why]
    assert repeated(text, given, **more) is None


def test_what_is_kept_of_earlier_questions_is_bounded():
    kept = Recent(3)
    for i in [1, 2, 3, 1, 4, 5]:
        kept[i] = str(i)
    assert [*kept] == [3, 4, 5]
    program = load("input x: float[n]\nsum(x)")
    for n in range(1, 80):
        program.repeated("value", {"x": [1.0] * n}, options=CODE)
    assert len(program.jit._compiled) == 64


def test_a_prepared_program_imports_no_more_for_a_question():
    """Processes that are forked from this one answer their first question at once."""
    text = """
import sys
from gradcli import load
program = load("input x: float[n]\\nsum(x * x)")
program.prepare()
before = {*sys.modules}
program.grad(x=[1.0, 2.0])
print(*sorted(name for name in {*sys.modules} - before if "families" not in name))
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, check=True)
    assert len(done.stdout.split()) < 8, done.stdout


def test_the_value_alone_is_that_of_a_run():
    program = load("y = x ** 2\nz = [x, 2 * x]\ny * 3")
    for options in (CODE, INTERPRETER):
        found = program.value(x=2.0, options=options)
        assert (found.output, found.value, found.answer) == ("result", 12.0, {})
    assert program.value(x=2.0, of="y").to_dict() == {
        "output": "y",
        "value": 4.0,
        "printed": [],
        "warnings": [],
    }
    assert program.value(x=2.0, of="z").value.tolist() == [2.0, 4.0]
    assert [w.code for w in load("log(x)").value(x=0.0).warnings] == ["non-finite"]
    assert load("3").value().value == 3
