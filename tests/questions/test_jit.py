"""Questions answered by code: the same answers, the same texts, the same warnings."""

import functools
import math
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest

from gradcli.engine.compile import backends
from gradcli.errors import GradError, InputError, LimitError, ProgramError
from gradcli.program import Limits, Options, Program, load
from gradcli.questions import jit
from gradcli.questions.asked.request import request
from gradcli.questions.coded import perturbed
from gradcli.questions.coded.compiled import compile_question
from gradcli.questions.coded.warmup import Warmup
from gradcli.questions.jit import Jit

PROGRAMS = {
    "straight": "input x = 0.7\ninput k = 2\nsin(x) * k + x ** 3 / k",
    "loop": "input x = 0.7\ny = x\nfor i in range(30):\n    y = sin(y) * 1.01 + x\ny",
    "while": "input x = 0.3\ny = 1.0\nwhile y < 20:\n    y = y * (1 + x)\ny",
    "branch": "input x = -0.5\nif x > 0:\n    y = x ** 2\nelse:\n    y = exp(x)\ny * x",
    "two": "param a = 1.5\nparam b = -0.5\ninput t = 2.0\na * exp(b * t) - a * b",
    "two, branches in a loop": (
        "param a = 1.5\nparam b = -0.5\ndef f(y):\n    for i in range(5):\n"
        "        y = sin(y) * b if y > 0.2 else y + a\n    return y\nf(a) * b"
    ),
    "function": (
        "input x = 1.2\ndef f(x, n=3):\n    if n > 2:\n        return x * n\n    return x\n"
        "f(x) * f(x, n=1)"
    ),
    "a node above others": (
        "param a = -1.86\nparam b = -1.97\ndef f(y):\n    t = dist(y, b)\n"
        "    return sin(t) * cos(t)\nf(a)"
    ),
    "truths of floats": (
        "input x = 1.5\ninput y = 0.0\nx * logical_or(x, x) + logical_or(False, x) + "
        "logical_and(x, True) + logical_and(x, x) * x + logical_or(y, x > 1)"
    ),
    "asks whether x is nan": "input x = 1.5\nsin(fmax(x, x))",
    "unused": "input x = 1.0\ninput y = 2.0\nx * x",
    "not finite": "input x = 0.0\nlog(x) + x",
    "infinite slope": "input x = 0.0\ninput y = 2.0\nsqrt(x) * y",
    "flat": "input x = -1.0\nrelu(x) * 2 + 0 * x",
    "refused": "input x = 3.0\nassert x < 2\nx * 1.0",
    "several": "input x = 2.0\ninput y = 3.0\n[x * y, x ** 2, sin(y)]",
    "printed": "input x = 2.0\nprint('begin', x)\ny = x * 3\nprint(f'{y:.3f}')\ny ** 2",
    "printed, not finite": "input x = 0.0\nprint('once')\n1 / x",
    "first assigned in a loop": (
        "input x = 0.5\ninput n = 3\nfor i in range(n * 30):\n    t = (x * i, [x, x])\nt[0] * x"
    ),
    "two, by the way": (
        "param a = 1.5\nparam b = 0.5\ndef f(y):\n    return y * 2 if y > b else y * b\nf(a) * 3"
    ),
}
QUESTIONS = {
    "run": {},
    "grad": {},
    "vjp": {"cotangent": 0.5},
    "jvp": {"tangents": {"x": 1.5}},
    "jacobian": {},
    "jacobian forward": {"mode": "forward"},
    "jacobian reverse": {"mode": "reverse"},
    "hessian": {},
    "hessian forward": {"mode": "forward"},
    "hessian diagonal": {"diagonal": True, "mode": "forward"},
    "hvp": {"tangents": {"x": 2.0}},
}
BACK_ENDS = ["python", *(["machine code"] if find_spec("llvmlite") else [])]


@pytest.fixture(params=BACK_ENDS)
def back_end(request, monkeypatch):
    """Each back end that there is."""
    monkeypatch.setattr(backends, "has_machine_code", lambda: request.param == "machine code")


def answer(text, question, when, **given):
    """What a question gives, as texts: the answer or its error, and what was printed."""
    method, *_ = question.split()
    asked = QUESTIONS[question]
    if method in ("jvp", "hvp") and "param a" in text:
        asked = {"tangents": {"a": 1.0, "b": 2.0}}
    printed = []
    try:
        options = Options(echo=printed.append, compile=when)
        found = getattr(load(text), method)(given, options=options, **asked)
    except GradError as error:
        found = error
    return re.sub(r"Source object at \w+", "Source", repr(found)), printed


interpreted = functools.cache(functools.partial(answer, when="never"))

_JACOBIANS = {"jacobian", "jacobian forward", "jacobian reverse"}
REFUSED = {"several": {*QUESTIONS} - {"run", "jvp", "vjp", *_JACOBIANS}}
"""What is not made into code: the gradient of a list without weights."""


@pytest.mark.parametrize("question", QUESTIONS)
def test_code_gives_the_answer_of_a_run(question, back_end):
    wrong = {}
    for name, text in PROGRAMS.items():
        run, code = interpreted(text, question), answer(text, question, "always")
        refused = question in REFUSED.get(name, ())
        if refused != ("not-compilable" in code[0]) or (not refused and run != code):
            wrong[name] = run, code
    assert not wrong, wrong


@pytest.mark.parametrize("shown", ["y.sum()", "(y * 2).sum()", "y.sum().requires_grad"])
def test_what_is_made_of_a_param_with_dimensions_requires_grad(shown, back_end):
    text = f"param y: float[2] = [1.0, 2.0]\nprint({shown})\n1.0"
    run, code = (answer(text, "run", when) for when in ("never", "always"))
    assert run == code or "not-compilable" in code[0]


@pytest.mark.parametrize("few", [1, 4, 16, math.inf])
def test_nobody_sees_when_code_is_made(few, monkeypatch):
    asked = []

    def ahead(self, now, pace):
        asked.append(self._taken)
        return 9.0 if self._taken >= few else 0.0

    monkeypatch.setattr(Warmup, "_ahead", ahead)
    for text in PROGRAMS.values():
        for question in ("run", "grad"):
            assert answer(text, question, "auto") == interpreted(text, question), text
    assert max(asked) >= min(few, 16)


def test_a_run_whose_loop_is_long_is_code_from_its_beginning():
    """Where there can be none, it goes on where it is."""
    for code, text in {
        "code-made": "x = 1.0\nprint('once')\nfor i in range(5_000_000): x = x * 0.5 + 1\nx",
        "not-compilable": "x = 0\nprint('once')\nfor i in range(200_000): x = x + rand(())\nx",
    }.items():
        remarks, printed = [], []
        load(text).run(options=Options(seed=1, echo=printed.append, remark=remarks.append))
        assert [said.code for said in remarks] == [code]
        assert printed == ["once\n"]


def test_what_a_program_has_set_is_as_before_when_no_code_can_be_made(monkeypatch):
    monkeypatch.setattr(Warmup, "_ahead", lambda self, *of: 9.0 if self._taken >= 2 else 0.0)
    text = (
        "torch.set_default_dtype(torch.float32)\ntorch.set_printoptions(precision=2)\n"
        "for i in range(9): print(tensor([i / 3]), tensor(0.1).dtype)\n"
    )
    assert answer(text, "run", "auto") == interpreted(text, "run")


COUNTED = {
    **{name: PROGRAMS[name] for name in ("straight", "loop", "while", "function", "printed")},
    "calls in loops": (
        "input x = 0.5\ndef g(y):\n    return y * x\ndef f(y):\n    return g(g(y)) + 1\n"
        "y = x\nfor i in range(7):\n    for j in range(i):\n        y = f(y) * 0.5\ny"
    ),
    "the first turn by itself": (
        "input x = 0.5\ny = 0\nz = x\nfor i in range(9):\n    z = x\n    k = 0\n"
        "    for j in range(6):\n        k = z\n        z = z * 0.9\n    y = y + k\ny * z"
    ),
    "known turns": (
        "input x = 0.5\ny = x\nfor i in range(3):\n    k = 0\n    while k < 5:\n"
        "        k = k + 1\n        y = y * x + k\ny"
    ),
    "recursion": (
        "input x = 0.5\ndef f(n):\n    return x if n == 0 else f(n - 1) * x\nf(12) + f(3)"
    ),
    "left early": (
        "input x = 0.5\ndef f(y):\n    for i in range(40):\n        y = y * 1.5\n"
        "        if y > 9:\n            return y\n    return x\nf(x) + f(2 * x)"
    ),
    "a rule of its own": (
        "class F(Function):\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n"
        "        return x * x\n    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n"
        "        for i in range(3):\n            g = g * 2\n        return g * x\n"
        "input x = 0.5\ninput z = 2.0\ny = F.apply(x * z)\nfor i in range(4):\n"
        "    y = F.apply(y)\ny"
    ),
    "a function that differentiates": (
        "input x = 0.5\ndef f(y):\n    for i in range(4):\n        y = sin(y)\n    return y\n"
        "y = x\nfor i in range(5):\n    y = y - grad(f)(y)\ny"
    ),
}


def limited(program, question, when, **limits):
    """An answer within limits."""
    try:
        return repr(question(program, options=Options(limits=Limits(**limits), compile=when)))
    except LimitError as error:
        return error


def least(program, question, field, high):
    """The least limit at which a run that is interpreted does not end."""
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        if isinstance(limited(program, question, "never", **{field: middle}), LimitError):
            low = middle
        else:
            high = middle
    return high


@pytest.mark.parametrize("name", COUNTED)
def test_code_keeps_to_limits_on_steps_and_calls(name, monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    program = load(COUNTED[name])
    for question in (Program.run, Program.hessian):
        for field, high in (("steps", 128), ("depth", 16)):
            end = least(program, question, field, high)
            for most in {max(1, end - 1), end, end + 1, 2 * end, 20 * end}:
                run, code = (
                    limited(program, question, when, **{field: most})
                    for when in ("never", "always")
                )
                assert str(run) == str(code), (question, field, end, most)


def test_every_pass_calls_the_rules_of_the_program():
    rule, _, _ = COUNTED["a rule of its own"].partition("y = F")
    items = ", ".join(f"y * {k}.0" for k in range(1, 9))
    program = load(f"{rule}y = F.apply(x * z)\n[{items}]")

    def question(program, options):
        return program.jacobian(mode="reverse", options=options)

    end = least(program, question, "steps", 128)
    assert end > 8
    for most in range(1, end + 1):
        run, code = (limited(program, question, w, steps=most) for w in ("never", "always"))
        assert str(run) == str(code), (end, most)


def test_limits_that_are_far_do_not_keep_code_from_answering(back_end):
    asked = request({}, {}, Options(limits=Limits(steps=10_000)))
    for name, text in COUNTED.items():
        made = compile_question(load(text).loaded, "gradient", asked)
        assert made.answer(asked, print) is not None, name


def test_rows_go_on_as_code(monkeypatch):
    monkeypatch.setattr(Jit, "_worth", 0.0)
    monkeypatch.setattr(jit, "_ROWS", 2)
    program = load(PROGRAMS["two"])
    remarks = []
    options = Options(remark=remarks.append)
    for t in (0.5, -1.0, 3.0, 1e308):
        expected = program.grad(t=t, options=Options(compile="never"))
        assert repr(program.grad(t=t, options=options)) == repr(expected)
    assert [r.code for r in remarks] == ["code-made"]


def test_rows_whose_result_is_an_int_or_a_float(back_end):
    """Rows of one kind are done together, those of the other one by one."""
    program = load("input x\ny = 0\nif x > 0: y = x * 0.5\ny")
    many = program.many("run", {"x": 1.0}, options=Options(compile="always"))
    rows = [{"x": x} for x in (1.0, -1.0, 3.0)]
    found = many.numbers(rows)
    assert [numbers is None for numbers in found] == [False, True, False]
    for row, numbers in zip(rows, found, strict=True):
        for when in ("never", "always"):
            expected = program.run(row, options=Options(compile=when)).result
            assert numbers is None or repr(many.result(numbers).result) == repr(expected)
    assert repr(program.run(x=-1.0, options=Options(compile="always")).result) == "0"


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("input x = 1.0\ny = x\nfor i in range(900): y = y * rand(())\ny", {}, "random numbers"),
        ("input x: float[3] = [1, 2, 3]\nx[x > 1].sum()", {}, "an item is taken"),
        ("input x = 1.0\nx * 2", {"kinks": True}, "recorded"),
    ],
)
def test_what_cannot_be_code_says_why(text, options, says):
    with pytest.raises(ProgramError) as found:
        load(text).grad(options=Options(compile="always", **options))
    assert found.value.diagnostics[0].code == "not-compilable"
    assert says in str(found.value)
    load(text).grad(options=Options(seed=0, **options))  # which is interpreted


@pytest.mark.parametrize("question", ["run", "grad"])
def test_code_is_stopped_at_its_loop(question, back_end):
    options = Options(limits=Limits(seconds=0.3), compile="always")
    with pytest.raises(LimitError) as found:
        getattr(load("input x = 1.0\nwhile x < 10: x = x * 1.0\nx"), question)(options=options)
    assert found.value.diagnostics[0].place[1] == 2


@pytest.mark.parametrize("given", [{"z": 1.0}, {"x": 1.0, "z": 1.0}, {}])
def test_inputs_are_held_to_those_of_the_program(given):
    asked = [Options(compile=when) for when in ("never", "always")]
    told = []
    for options in asked:
        with pytest.raises(InputError) as found:
            load("input x\nx * 2").grad(given, options=options)
        told.append([d.code for d in found.value.diagnostics])
    assert told[0] == told[1]


# from Python -------------------------------------------------------------------------------------

RESIDUAL = "param a = 1.0\nparam k = 0.5\ninput t\ninput y\na * exp(-k * t) - y"


def test_a_function_of_one_point(back_end):
    f = load(PROGRAMS["two"]).compile("a,b")
    value, slopes = f([1.5, -0.5], t=2.0)
    expected = load(PROGRAMS["two"]).grad()
    assert type(value) is float
    assert value == expected.value
    assert slopes.tolist() == [expected.grad["a"], expected.grad["b"]]
    assert f.names == ("a", "b")
    assert f.value([1.5, -0.5]) == value


def test_a_function_of_many_points(back_end):
    f = load(PROGRAMS["infinite slope"]).compile("x,y")
    points = [[0.0, 2.0], [1.0, 2.0], [-1.0, 3.0], [4.0, -1.0]]
    value, slopes = f(points)
    with np.errstate(all="ignore"):
        for i, (x, y) in enumerate(points):
            found = load(PROGRAMS["infinite slope"]).grad(x=x, y=y)
            expected = [found.value, found.grad["x"], found.grad["y"]]
            np.testing.assert_array_equal([value[i], *slopes[i]], expected)


def test_inputs_beside_the_names():
    f = load(RESIDUAL).compile("a,k")
    t = np.array([0.0, 1.0, 2.0])
    value, slopes = f([2.0, 0.7], t=t, y=np.ones(3))
    assert value.shape == (3,)
    assert slopes.shape == (3, 2)
    assert value[1] == load(RESIDUAL).run(a=2.0, k=0.7, t=1.0, y=1.0).result


def test_a_list_has_a_matrix():
    f = load(PROGRAMS["several"]).compile("x,y")
    value, slopes = f([2.0, 3.0])
    expected = load(PROGRAMS["several"]).jacobian()
    assert value.tolist() == expected.value.tolist()
    assert slopes[:, 0].tolist() == expected.jacobian["x"].tolist()
    assert f([[2.0, 3.0]] * 4)[1].shape == (4, 3, 2)


def test_ints_are_held_to_be_ints():
    f = load("input n = 3\ninput x = 2.0\nx ** n").compile("x")
    assert f(2.0, n=4)[0] == 16.0
    assert f([[2.0], [3.0]], n=np.array([1.0, 2.0]))[0].tolist() == [2.0, 9.0]
    with pytest.raises(InputError):
        f(2.0, n=1.5)


@pytest.mark.parametrize(
    ("arguments", "inputs", "says"),
    [
        ([[1.0, 2.0, 3.0]], {}, "2 numbers"),
        ([[1.0]], {}, "2 numbers"),
        ([np.ones((4, 2))], {"t": np.ones(3)}, "number of points"),
    ],
)
def test_arguments_that_do_not_fit(arguments, inputs, says):
    with pytest.raises(InputError, match=says):
        load(PROGRAMS["two"]).compile("a,b")(*arguments, **inputs)


def test_a_function_that_cannot_be():
    with pytest.raises(ProgramError, match="not compiled"):
        load("input x = 1.0\nrandn(()) * x").compile("x")
    with pytest.raises(ProgramError, match="not compiled"):
        load("input x = 1.0\ny = zeros(2) + x\nrandn(()) * x").compile("x")
    with pytest.raises(ProgramError, match="not compiled"):
        load("input x = 1.0\ny = stack([x, x]).unbind(0)\nrandn(()) * x").compile("x")
    text = "input x = 1.0\ny = stack([x, x]).index_select(0, tensor([1, 0]))\nrandn(()) * x"
    with pytest.raises(ProgramError, match="not compiled"):
        load(text).compile("x")
    with pytest.raises(ProgramError, match="computed"):
        load("input x = 1.0\ny = x * 2\ny").compile("y")


def test_a_function_travels(back_end):
    f = load(RESIDUAL).compile("a,k")
    again = pickle.loads(pickle.dumps(f))
    assert again([1.0, 2.0], t=1.0, y=0.0)[0] == f([1.0, 2.0], t=1.0, y=0.0)[0]


def test_threads_share_a_function(back_end):
    f = load(PROGRAMS["loop"]).compile("x")
    points = np.linspace(0.1, 0.9, 40).reshape(8, 5, 1)
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(f, points)]
    for x, (value, slopes) in zip(points, found, strict=True):
        alone = f(x)
        assert value.tolist() == alone[0].tolist()
        assert slopes.tolist() == alone[1].tolist()


def test_a_function_of_large_tensors_is_asked_point_by_point():
    f = load("param x: float[100]\nparam a = 2.0\n(x * log(x)).sum() * a").compile()
    points = np.linspace(0.5, 2.0, 202).reshape(2, 101)
    values, slopes = f(points)
    for point, value, slope in zip(points, values, slopes, strict=True):
        *x, a = point
        found = load("param x: float[100]\nparam a = 2.0\n(x * log(x)).sum() * a").grad(x=x, a=a)
        assert value == found.value
        assert slope.tolist() == [*found.grad["x"], found.grad["a"]]
        one = f(point)
        assert one[0] == value
        assert one[1].tolist() == slope.tolist()
    points[1, 3] = -1.0  # of which code leaves the answer to the interpreter
    values, slopes = f(points)
    assert np.isnan(values).tolist() == [False, True]
    assert np.isnan(slopes[0]).sum() == 0


def test_scipy_takes_a_function():
    optimize = pytest.importorskip("scipy.optimize")
    f = load("100 * (y - x ** 2) ** 2 + (1 - x) ** 2").compile("x,y")
    assert optimize.minimize(f, [-1.2, 1.0], jac=True).x == pytest.approx([1.0, 1.0])
    residual = load(RESIDUAL).compile()
    data = {"t": np.array([0.0, 1.0, 2.0]), "y": np.array([2.0, 1.0, 0.5])}
    found = optimize.least_squares(
        lambda p: residual.value(p, **data), [1.0, 1.0], lambda p: residual.derivative(p, **data)
    )
    assert found.x == pytest.approx([2.0, np.log(2)])


CHECKED = ("straight", "loop", "two", "several", "infinite slope", "unused", "printed", "refused")


@pytest.mark.parametrize("order", [1, 2])
def test_a_check_of_derivatives_says_the_same(order, back_end, monkeypatch):
    ran = []
    monkeypatch.setattr(perturbed.Values, "found", _noted(perturbed.Values.found, ran))
    monkeypatch.setattr(perturbed.Gradients, "found", _noted(perturbed.Gradients.found, ran))
    monkeypatch.setitem(QUESTIONS, "gradcheck", {"order": order})
    for name in CHECKED:
        run, code = (answer(PROGRAMS[name], "gradcheck", when) for when in ("never", "always"))
        assert run == code, name
    assert {type(form).__name__ for form in ran} == {"Values", "Gradients"}.difference(
        ["Gradients"] if order == 1 else []
    )


MOVED = {  # inputs with dimensions, of elements that code has one by one and of more
    "elements": ("input x: float[3]\n(sin(x) * x).sum()", {"x": [0.1, 0.7, 2.0]}),
    "a vector result": ("input x: float[3]\nsin(x) * x", {"x": [0.1, 0.7, 2.0]}),
    "an array": (
        "input x: float[70]\ninput b\nsin(x) * b",
        {"x": np.linspace(0.1, 2, 70), "b": 0.7},
    ),
    "a matrix": (
        "input w: float[9,8]\ninput x: float[8]\ntanh(w @ x)",
        {"w": np.linspace(-1, 1, 72).reshape(9, 8), "x": np.linspace(0.1, 2, 8)},
    ),
    "a kink": ("input x: float[3]\nrelu(x - 0.7).sum()", {"x": [0.1, 0.7, 2.0]}),
    "a list": ("input x: float[3]\n[x.sum(), (x * x).sum()]", {"x": [0.1, 0.7, 2.0]}),
}


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", MOVED)
def test_a_check_by_tensors_says_the_same(name, order, back_end, monkeypatch):
    text, given = MOVED[name]
    ran = []
    monkeypatch.setattr(perturbed.Values, "found", _noted(perturbed.Values.found, ran))
    monkeypatch.setattr(perturbed.Gradients, "found", _noted(perturbed.Gradients.found, ran))
    run, code = (
        load(text).gradcheck(given, order=order, options=Options(5, compile=when))
        for when in ("never", "always")
    )
    assert repr(run) == repr(code)
    assert {type(form).__name__ for form in ran} == {"Values", *["Gradients"][: order - 1]}


def _noted(found, ran):
    """A method that notes what it is called of."""
    return lambda form, numbers: ran.append(form) or found(form, numbers)


def test_a_check_goes_on_as_code(monkeypatch):
    monkeypatch.setattr(jit, "_RUNS", 2)
    monkeypatch.setattr(Jit, "_worth", 0.0)
    remarks = []
    found = load(PROGRAMS["loop"]).gradcheck(options=Options(remark=remarks.append))
    assert [said.code for said in remarks] == ["code-made"]
    assert found == load(PROGRAMS["loop"]).gradcheck(options=Options(compile="never"))
    with pytest.raises(ProgramError, match="random numbers are drawn"):
        load("input x = 1.0\nrandn(()) * x").gradcheck(options=Options(compile="always"))
    with pytest.raises(ProgramError, match="`y` is computed, and moved"):
        load("input x = 1.0\ny = x * 2\ny * x").gradcheck(
            x=1.0, wrt="y", options=Options(compile="always")
        )


@pytest.mark.parametrize(
    "asked",
    [
        ("jvp", "--tangent", "x=[1,2,3]"),
        ("jvp", "--tangent", "x=1"),
        ("hvp", "--tangent", "x=[1,2,3]"),
        ("grad", "--cotangent", "[1,2]"),
    ],
)
def test_a_direction_of_another_shape_is_told_by_the_interpreter(asked, cli):
    """Of one answer, and of rows."""
    text = ("-e", "input x: float[2] = [1, 2]\n(x * x).sum()")
    for rows in ((), ("--rows", "-")):
        run, code = (
            cli(*asked, *text, *rows, "--compile", when, stdin="x.0,x.1\n1,2\n3,4\n")
            for when in ("never", "always")
        )
        assert run == code
        assert "shape" in run[2]


# by what code is found again: a program, and two questions that differ in that alone
KEYS = {
    "the question": ("input x = 0.7\nsin(x) * x ** 2", ("grad", {}, {}), ("run", {}, {})),
    "shapes": (
        "[v.sum(), v.sum()] if v.shape[0] == 2 else v.sum()",  # of which one has no gradient
        ("grad", {"v": [1.0, 2.0]}, {}),
        ("grad", {"v": [1.0, 2.0, 3.0]}, {}),
    ),
    "wrt": (
        "input x = 0.7\ninput y = 2.0\nx * y * y",
        ("grad", {}, {"wrt": "x"}),
        ("grad", {}, {"wrt": "y"}),
    ),
    "of": (
        "input x = 0.7\ny = x * 2\nz = y * y",
        ("grad", {}, {"of": "y"}),
        ("grad", {}, {"of": "z"}),
    ),
    "mode": (
        "input x = 0.7\ny = x\nfor i in range(20): y = sin(y * x) * 1.1 + y * x\ny",
        ("hessian", {}, {"mode": "forward"}),
        ("hessian", {}, {"mode": "reverse"}),
    ),
    "whether there is a cotangent": (
        "input x = 0.7\n[x, x * x]",
        ("vjp", {}, {"cotangent": [1.0, 2.0]}),
        ("vjp", {}, {"cotangent": None}),
    ),
    "tangents": (
        "input x = 0.7\ninput y = 2.0\nx * y * y",
        ("jvp", {}, {"tangents": {"x": 1.0}}),
        ("jvp", {}, {"tangents": {"y": 1.0}}),
    ),
    "grad_fn": (
        "param x = 0.7\ny = x * 2\ny",
        ("run", {}, {"options": Options(compile="always", grad_fn=False)}),
        ("run", {}, {"options": Options(compile="always", grad_fn=True)}),
    ),
    "what is asked of uncertainties": (
        "input x = 0.7\nsin(x) * x ** 2",
        ("propagate", {"x": 0.7}, {"uncertainties": {"x": 0.1}, "coverage": 0.95}),
        ("propagate", {"x": 0.7}, {"uncertainties": {"x": 0.1}, "coverage": 0.5}),
    ),
}


def told(program, question, given, asked):
    try:
        return repr(
            getattr(program, question)(given, **{"options": Options(compile="always"), **asked})
        )
    except (GradError, KeyError) as error:  # of code for another question
        return repr(error)


def is_mixed_up(name):
    """Whether one of two questions to a program gets what has been made for the other."""
    text, *both = KEYS[name]
    apart = [told(load(text), *question) for question in both]
    assert apart[0] != apart[1]
    for order in (slice(None), slice(None, None, -1)):
        program = load(text)
        if [told(program, *question) for question in both[order]] != apart[order]:
            return True
    return False


@pytest.mark.parametrize("name", KEYS)
def test_code_is_found_again_by_all_that_it_depends_on(name, monkeypatch):
    """Each part of the key is one without which an answer would be another."""
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    assert not is_mixed_up(name)
    key, k = jit._key, list(KEYS).index(name)
    assert len(key("run", request(None, {}))) == len(KEYS)

    def without(*of):
        parts = key(*of)
        return (*parts[:k], *parts[k + 1 :])

    monkeypatch.setattr(jit, "_key", without)
    assert is_mixed_up(name)


def test_a_line_is_printed_once_though_code_bails_out_behind_it(back_end):
    """The interpreter, which begins anew, prints what follows; code may have printed less."""
    text = "input x = 0.0\nprint('one')\nprint('two')\ny = 1 / x\nprint('three')\ny"
    for when in ("never", "always"):
        assert answer(text, "run", when)[1] == ["one\n", "two\n", "three\n"], when


def test_what_an_interpreted_run_prints_beyond_the_lines_of_code_is_printed():
    printed = []
    echo = jit._Echo(Options(echo=printed.append))
    echo("one")
    for text in ("one", "two", "three"):
        echo.again(text)
    assert printed == ["one", "two", "three"]
