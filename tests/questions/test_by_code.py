"""Answers by code: every question to programs of every kind, one by one and many together."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.programs.array_programs import samples

from gradcli.engine.compile import backends
from gradcli.engine.ops.catalog import ops
from gradcli.errors import GradError
from gradcli.program import Limits, Options, load
from gradcli.questions.coded import compiled, directions, perturbed
from gradcli.questions.coded.compiled import Compiled
from gradcli.record import Record

RULE = """class Cube(Function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x
"""
BOTH = """class Both(Function):
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h, g * x + h
    def jvp(ctx, a, b):
        x, y = ctx.saved_tensors
        return a * y + b * x, a + b
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
    "a list of sums of an array": Case(
        "[x.sum() * b, (x * x).sum()]", {"x": X70, "b": 0.7}, [1.0, -2.0], OF_A_LIST
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
    "a rule of two results": Case(
        f"{BOTH}p, s = Both.apply(x * 2, y)\np * s", {"x": 0.7, "y": 2.0}
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
    """An answer to the last bit, or its error as text."""
    try:
        options = Options(compile=when, grad_fn=False)
        return exact(getattr(program, method)(given, options=options, **more))
    except GradError as error:
        return str(error)


def exact(value):
    """A value in a form that tells its kind and all its bits."""
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.shape, value.tobytes()
    if isinstance(value, Record):
        return type(value).__name__, [exact(getattr(value, name)) for name in value._fields]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [exact(part) for part in value]
    if isinstance(value, dict):
        return [(name, exact(part)) for name, part in value.items()]
    return repr(value)


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
    assert [exact(many.result(x)) for x in numbers] == [run, *others]
    assert {tuple(map(type, x)) for x in numbers} == {tuple(many.types)}
    columns = {n: np.array([row[n] for row in rows], float) for n in case.inputs}
    made, alone = many.arrays(columns)
    assert alone == []
    assert [exact(many.result([c[k].item() for c in made])) for k in range(3)] == [run, *others]


AB, A = {"tangents": {"a": 1.0, "b": 2.0}}, {"tangents": {"a": 1.0}}
LEAF = "x = tensor(2.0, requires_grad=True)\nc = 3.0\ny = c * 2\n"
ASKED = [  # a program, values of its inputs, a method and what it is asked
    ("x = 2.0\ny = x * 3\ny ** 2", {}, "grad", {}),
    ("x = 2.0\ny = x * 3\ny ** 2", {"x": 5.0}, "grad", {}),
    ("x = 2.0\ny = x * 3\ny ** 2", {}, "grad", {"wrt": "y"}),
    ("x = 2.0\ny = x * 3\ny ** 2", {}, "grad", {"wrt": ["y", "x"]}),
    ("x = 2.0\ny = x * 3\ny ** 2", {}, "grad", {"of": "y"}),
    ("param a = 1.5\ninput b = 2.0\nc = 3.0\na * b * c", {}, "grad", {}),
    ("param a = 1.5\ninput b = 2.0\nc = 3.0\na * b * c", {}, "grad", {"wrt": "c"}),
    ("input a = 1.5\nc = 3.0\na * c", {}, "grad", {}),
    ("a = 1.5\nc = 3.0\na * c", {}, "grad", {}),
    ("k = 3\ny = sin(x) * k\ny * x", {"x": 0.5}, "grad", {}),
    ("k = 3.0\ny = sin(x) * k\ny * x", {"x": 0.5}, "grad", {}),
    ("n = 2\nx = 1.5\nx ** n", {}, "grad", {}),
    ("input n = 2\ninput x = 1.5\nx ** n", {}, "grad", {}),
    ("x * x * y * y", {"x": 2.0, "y": 3.0}, "hvp", {"tangents": {"x": 1.0}, "wrt": "y"}),
    ("x * x * y * y", {"x": 2.0, "y": 3.0}, "hvp", {"tangents": {"x": 1.0}, "wrt": ["y", "x"]}),
    ("x * x * y", {"x": 2.0, "y": 3.0}, "hvp", {"tangents": {"x": 1.0}, "mode": "reverse"}),
    ("a * b", {"a": 2.0, "b": 3.0}, "jvp", AB),
    ("input a\ninput b\na * a", {"a": 2.0, "b": 3.0}, "jvp", AB),
    ("input a\ninput b\na * a", {"a": 2.0, "b": 3.0}, "jvp", {"tangents": {"b": 1.0}}),
    ("input a\ninput b\na * a", {"a": 2.0, "b": 3.0}, "grad", {"wrt": ["a", "b"]}),
    ("input a\ninput b\na * a", {"a": 2.0, "b": 3.0}, "hessian", {"wrt": ["a", "b"]}),
    ("x = 2.0\nz = 3.0\nx * x * z * z", {}, "hvp", {"tangents": {"x": 1.0}}),
    ("x = 2.0\ny = x * 3\nz = 3.0\ny * y * z", {}, "hvp", {"tangents": {"y": 1.0}}),
    (f"{LEAF}x * x * c * y", {}, "grad", {}),
    (f"{LEAF}x * x * c * y", {"x": 5.0}, "grad", {}),
    (f"{LEAF}x * x * c * y", {"c": 5.0}, "grad", {}),
    ("c = 3.0\nx = tensor(2 * c, requires_grad=True)\nx * x * c", {}, "grad", {}),
    (f"{LEAF}x * x * c * y", {}, "hvp", {"tangents": {"x": 1.0}}),
    (f"{LEAF}x * x * c * y", {}, "hvp", {"tangents": {"y": 1.0}}),
    (f"{LEAF}x * x * c * y", {}, "hvp", {"tangents": {"c": 1.0}}),
    (f"{LEAF}x * x * c * y", {}, "hvp", {"tangents": {"c": 1.0}, "wrt": "x"}),
    (f"{LEAF}x * x * c * y", {}, "jvp", {"tangents": {"c": 1.0, "x": 1.0}}),
    ("[a * 2, b * 3]", {"a": 2.0, "b": 3.0}, "jvp", A),
    ("[a * 2, b * 3, 1.0 * a]", {"a": 2.0, "b": 3.0}, "jvp", AB),
    ("[a * k, b * k]", {"a": 2.0, "b": 3.0, "k": -0.0}, "jvp", AB),  # zeros are added
    ("[a * k, b * k]", {"a": 2.0, "b": 3.0, "k": -0.0}, "jvp", A),  # nothing is added
    ("[a * k]", {"a": 2.0, "k": -0.0}, "jvp", A),
    ("a * k", {"a": 2.0, "k": -0.0}, "jvp", A),
    ("[a * k, b]", {"a": 2.0, "b": 3.0, "k": -0.0}, "jacobian", {"mode": "forward"}),
    ("[a * k, a * k]", {"a": 2.0, "k": -0.0}, "jacobian", {"mode": "forward"}),
]


@pytest.mark.parametrize(("text", "given", "method", "more"), ASKED)
def test_code_answers_of_the_names_that_a_run_has(text, given, method, more, found):
    program = load(text)
    run, code = (told(program, method, given, more, when) for when in ("never", "always"))
    assert run == code
    assert [answer is None for answer in found] == [False]


NESTED = "input x = 0.7\ninput y = 2.0\n"
REFUSED = [  # a program, a method and what it is asked, what is said
    ("y = x * 2", "grad", {}, "the program has no result"),
    ("y = x * 2", "run", {}, None),
    ("n = 2\nx\nn * 2", "grad", {}, "the result is no float"),
    ("[x * 2, 3]", "jacobian", {}, "the result is no float, nor a list of them that are computed"),
    ("[[x * 2, x], [x, x]]", "jacobian", {}, "the result is no float, nor a list"),
    ("x > 0", "grad", {}, "the result is no float"),
    ("t = x * ones(70)\n[t, t]", "jacobian", {}, "the result is a list of tensors"),
    ("[x, x * x]", "grad", {}, "the result is not a single number"),
    (
        "[x if x > y else 1.0, y if x > y else x]",
        "jacobian",
        {"wrt": "x", "mode": "forward"},
        "which items of the result move depends on the path",
    ),
    ("t = 'a'\nx * 2", "grad", {"wrt": "t"}, "`t`, which is differentiated, is not a number"),
    ("t = [x]\nx * 2", "grad", {"wrt": "t"}, "`t`, which is differentiated, is not a number"),
    ("t = True\nx * 2", "grad", {"wrt": "t,x"}, "`t`, which is differentiated, is not a number"),
    ("x * ones(70)", "grad", {}, "the result is not a single number"),
]


@pytest.mark.parametrize(("text", "method", "more", "says"), REFUSED)
def test_why_an_answer_is_not_by_code(text, method, more, says):
    code = told(load(NESTED + text), method, {}, more, "always")
    if says is None:
        assert code == told(load(NESTED + text), method, {}, more, "never")
    else:
        assert f"not compiled: {says}" in code or says in code, code


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q.startswith(("jac", "hes", "dia"))])
@pytest.mark.parametrize("more", [0, 1])
def test_directions_go_together_up_to_a_number_of_elements(question, more, monkeypatch):
    monkeypatch.setattr(directions, "ELEMENTS", 70 * 70 - more)
    is_of_one = question.startswith("jacobian")
    case = Case("sin(x) * 2" if is_of_one else "(x * x * x).sum()", {"x": X70})
    method, asking = asked(case, question)
    code = told(load(written(case)), method, case.inputs, asking, "always")
    assert ("70 directions do not go together" in code) == bool(more), code


SHOWN = [  # a program of which values have no `grad_fn` that code could show, or have one
    ("x * 2", True),
    ("y = x * 2\nz = [y, (y, 3)]\ny", True),
    ("y = x * ones(3)\n1.0", True),
    ("y = [1.0, x * ones(3)]\n1.0", True),
    ("y = tensor(2.0) * x\n1.0", True),
    ("y = x * ones(70)\n1.0", True),
    ("y = tensor(2.0) * x if x > 0 else 1\n1.0", True),
    ("y = 1\nif x > 0: y = tensor(2.0) * x\n1.0", True),
    ("y = 1 if x > 0 else 1.5\n1.0", True),
    ("y = tensor(x)\n1.0", True),
    ("param a = 2.0\ny = a * x if x > 0 else sin(a)\nz = a + ones(3)\ny", True),
    ("param a = 2.0\ny = a\nwhile y > 0.1:\n    y = y * 0.8\ny", True),
    ("param a = 2.0\ny = grad(lambda t: t * a)(x) if x > 9 else 1\n1.0", False),
    ("x * ones(3)", True),  # which is plain data as a result
    *((f"y = x * ones(3)\ny[{i}] = 1\n1.0", True) for i in ("0", "1:", "...", "tensor([0, 2])")),
]


@pytest.mark.parametrize(("text", "is_code"), SHOWN)
def test_values_with_operations_to_show_are_not_made_by_code(text, is_code):
    program = load(f"input x\n{text}")
    for grad_fn in (True, False):
        run, code = (str(asked_or_error(program, when, grad_fn)) for when in ("never", "always"))
        if is_code or not grad_fn:
            assert run == code
        else:
            assert "tensors are shown with the operations that made them" in code


def folded():
    """A program for each operation that is made of others and recorded as one."""
    first = {name: (text, given) for name, text, given, _ in reversed([*samples()])}
    for name, (text, given) in first.items():
        if ops[name].value.body is not None and ops[name].tape.folds:
            yield name, text.replace("input ", "param "), given


def test_an_operation_made_of_others_has_its_own_node_by_code():
    made = 0
    for name, text, given in folded():
        answers = []
        for when in ("never", "always"):
            try:
                found = load(text).run(**given, options=Options(compile=when)).bindings
                answers.append([(b.name, b.grad_fn) for b in found])
            except GradError as error:
                answers.append(str(error))
        if "not compiled" not in str(answers[1]):
            assert answers[0] == answers[1], name
            made += 1
    assert made > 10


def asked_or_error(program, when, grad_fn):
    try:
        return repr(program.run(x=0.7, options=Options(compile=when, grad_fn=grad_fn)))
    except GradError as error:
        return error


def test_code_says_how_long_it_took_to_be_made(monkeypatch):
    for module, method in ((compiled, "grad"), (perturbed, "gradcheck")):
        times, remarks = iter([7.0, 7.25]), []
        with monkeypatch.context() as patch:
            patch.setattr(module, "perf_counter", lambda times=times: next(times))
            options = Options(compile="always", remark=remarks.append)
            getattr(load("input x\nsin(x)"), method)(x=1.0, options=options)
        (said,) = remarks
        assert said.message.startswith("made Python code in 250 ms"), said.message


def test_an_int_of_more_than_64_bits_is_interpreted(found):
    program = load("input x\nx * 0.5")
    run, code = (told(program, "grad", {"x": 2**70}, {}, when) for when in ("never", "always"))
    assert run == code
    assert found == [None]


LONG = "input x\ny = x\nfor i in range(20): y = sin(y)\ny"


@pytest.mark.parametrize(("steps", "answers"), [(19, False), (20_000, True), (None, True)])
def test_code_answers_many_within_their_limit_on_steps(steps, answers):
    options = Options(compile="always", limits=Limits(steps=steps))
    many = load(LONG).many("grad", {"x": 1.0}, options=options)
    assert [x is not None for x in many.numbers([{"x": 1.0}, {"x": 2.0}])] == [answers] * 2
    _, alone = many.arrays({"x": np.ones(2)}) or (None, [0, 1])
    assert alone == ([] if answers else [0, 1])


COLUMNS = [  # the declaration of an input, its columns, which of them code takes
    ("bool", [0.0, 1.0, 2.0, 0.5, -1.0], [0, 1]),
    ("bool[2]", [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [1.0, 0.5]], [0, 1]),
    ("int", [0.0, 1.5, -7.0], [0, 2]),
    ("int[2]", [[0.0, 1.0], [1.0, 1.5]], [0]),
    ("float[2]", [[0.0, 1.5], [1.0, np.nan]], [0]),
    ("float[70]", [X70, X70 - 1, X70 * np.nan], [0, 1]),
]


@pytest.mark.parametrize(("kind", "column", "taken"), COLUMNS)
def test_code_takes_what_a_declaration_takes(kind, column, taken):
    column = np.array(column)
    program = load(f"input x\ninput v: {kind}\n(x * v).sum() if {len(kind) > 5} else x * v")
    first = column[0].astype({"b": bool, "i": int, "f": float}[kind[0]]).tolist()
    many = program.many("grad", {"x": 1.0, "v": first}, options=Options(compile="always"))
    given = {"x": np.ones(len(column)), "v": column}
    assert many.arrays(given)[1] == [k for k in range(len(column)) if k not in taken]
    rows = many.numbers([{"x": 1.0, "v": value} for value in column.tolist()])
    for k in taken:
        assert rows[k] is not None or kind[0] != "f"


WHOLE = [  # the dtype of a column, whether code takes it for an array of floats
    (np.float64, True),
    (np.int64, True),
    (np.uint8, True),
    (np.bool_, True),
    (np.float32, False),
]


@pytest.mark.parametrize(("dtype", "is_taken"), WHOLE)
def test_arrays_of_floats_take_exact_numbers(dtype, is_taken):
    program = load("input x: float[70]\n(x * x).sum()")
    many = program.many("grad", {"x": X70}, options=Options(compile="always"))
    column = np.ones((2, 70), dtype)
    assert many.arrays({"x": column})[1] == ([] if is_taken else [0, 1])


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
    rows = [{"x": 1.0, "n": n} for n in (value, 1, value)]
    assert [x is not None for x in many.numbers(rows)] == [alone, True, alone]
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
