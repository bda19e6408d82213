"""The checker of derivatives: right rules pass, planted wrong ones are all caught."""

import numpy as np
import pytest

from gradcli.program import load

A = [1.2, 0.7, 2.3]
B = [0.4, -1.1, 1.7]
M = [[1.2, 0.7, 0.3], [0.5, -1.4, 0.8]]
N = [[1.2, 0.7], [0.5, -1.4], [0.3, 0.8]]


def checked(text, primals, order=1):
    """What is found of the function `f` of a program at a point, and of its own rules."""
    names = [f"x{i}" for i in range(len(primals))]
    given = {
        n: p if isinstance(p, float) else np.array(p) for n, p in zip(names, primals, strict=True)
    }
    inputs = "".join(f"input {name}\n" for name in names)
    return load(f"{inputs}{text}\nf({', '.join(names)})").gradcheck(given, order=order)


RIGHT = {
    "a number": ("def f(x):\n    return sin(x) * x", (1.3,)),
    "a vector": ("def f(x):\n    return x * exp(x)", (A,)),
    "two inputs": ("def f(x, y):\n    return (x * y).sum() / (x @ x)", (A, B)),
    "a matrix product": ("def f(m, x):\n    return tanh(m @ x)", (M, A)),
    "a broadcast": ("def f(m, x):\n    return m * x ** 2", (M, A)),
    "repeated indices": ("def f(x):\n    return x[[0, 0, 2]] ** 3", (A,)),
    "a loop": (
        "def f(x):\n    y = x\n    for i in range(5):\n        y = sin(y) + x\n    return y",
        (A,),
    ),
    "in place": (
        "def f(x):\n    y = x * 1\n    y[0] *= x[1]\n    y[1:] += x[0]\n    return y",
        (A,),
    ),
    "a constant": ("def f(x):\n    return ones(2)", (A,)),
    "an input that is not used": ("def f(x, y):\n    return x ** 3", (A, B)),
    "a large input": ("def f(x):\n    return (x * x * x).sum()", (list(np.linspace(0, 1, 300)),)),
    "large both": ("def f(x):\n    return sin(x) * x.sum()", (list(np.linspace(0, 1, 300)),)),
    "a steep function": ("def f(x):\n    return exp(10 * x)", (0.5,)),
    "a small result of large terms": ("def f(x):\n    return (x + 1e6) - 1e6", (0.5,)),
}

RULES = {
    "cube": ("x", "x ** 3", "g * 3 * x ** 2", (A[:2],)),
    "product": ("x, y", "x * y", "g * y, g * x", (A[:2], B[:2])),
    "quotient": ("x, y", "x / y", "g / y, -g * x / y ** 2", (A[:2], B[:2])),
    "sum": ("x", "(x * x).sum()", "g * 2 * x", (A[:2],)),
    "scaling": ("m, x", "m * x", "g * x, (g * m).sum(0)", (N, A[:2])),
    "matrix": ("m, x", "m @ x", "outer(g, x), m.T @ g", (N, A[:2])),
    "gather": (
        "x",
        "stack([x[1], x[2], x[2]])",
        "stack([g[0] * 0, g[0], g[1] + g[2]])",
        (A,),
    ),
    "square": (
        "m, n",
        "m @ n",
        "g @ n.T, m.T @ g",
        ([[1.0, 2.0], [3.0, -1.0]], [[0.5, 1.5], [2.0, 0.3]]),
    ),
    "softmax": (
        "x",
        "exp(x) / exp(x).sum()",
        "(exp(x) / exp(x).sum()) * (g - (g * exp(x)).sum() / exp(x).sum())",
        (A,),
    ),
}
"""Inputs, value and right gradients of own functions, and the point to check them at."""

WRONG = [
    *(("cube", c) for c in (
        "-g * 3 * x ** 2", "g * x ** 2", "g * 3 * x", "3 * x ** 2", "g * 3 * x ** 2 + 1e-5", "g * 3.0001 * x ** 2",
        "g * 0", "None", "g.detach() * 3 * x ** 2 * (1 + x.detach() * 1e-4)", "g * 3 * x ** 2 * (x > 1)",
        "g * 3 * abs(x) * x * sign(x - 1)", "g * 3 * x[0] ** 2",
        "g.detach() * 3 * x ** 2",
    )),
    *(("product", c) for c in (
        "g * x, g * y", "g * y, -g * x", "g * y, g * y", "g * y, None", "g, g * x", "g * y + g * x, g * x",
        "None, None",
    )),
    *(("quotient", c) for c in (
        "g / y, g * x / y ** 2", "g / y, -g * x / y", "g * y, -g * x / y ** 2", "g / y, -g / y ** 2",
    )),
    *(("sum", c) for c in ("g * x", "g * 2 * x.sum() * ones(2)", "g * 2 * x.flip(0)", "ones(2) * g")),
    *(("scaling", c) for c in ("g * x, (g * m).mean(0)", "g * x, (g * m)[0]", "g, (g * m).sum(0)")),
    *(("matrix", c) for c in ("outer(g, x), m.T @ g * 2", "outer(g, x.flip(0)), m.T @ g", "outer(g, x), None")),
    *(("gather", c) for c in (
        "stack([g[0], g[1], g[2]])", "stack([g[0], g[1] + g[2], g[0] * 0])", "stack([g[0] * 0, g[0], g[1]])",
        "stack([g[0] * 0, g[0], g[2]])",
    )),
    *(("square", c) for c in ("g @ n, m.T @ g", "g @ n.T, m @ g", "(g @ n.T).T, m.T @ g")),
    *(("softmax", c) for c in ("(exp(x) / exp(x).sum()) * g", "(exp(x) / exp(x).sum()) * (g - g.sum())")),
]  # fmt: skip
"""First derivatives that are wrong: sign, factor, dropped term, sum, transpose, index, ..."""

WRONG_SECOND = [
    ("cube", "g * 3 * x.detach() ** 2"),
    ("cube", "g * 3 * x * x.detach()"),
    ("product", "g * y.detach(), g * x"),
    ("sum", "g * 2 * x.detach()"),
    ("quotient", "g / y.detach(), -g * x / y ** 2"),
]
"""Right in the first derivative and wrong in the second."""


def own(name, gradients):
    inputs, value, _, primals = RULES[name]
    return (
        f"{rule(inputs, value, gradients)}\ndef f({inputs}):\n    return F.apply({inputs})",
        primals,
    )


def rule(inputs, value, gradients):
    """The text of an own function."""
    return (
        f"class F(Function):\n    def forward(ctx, {inputs}):\n"
        f"        ctx.save_for_backward({inputs})\n        return {value}\n"
        f"    def backward(ctx, g):\n        {inputs}, = ctx.saved_tensors\n"
        f"        return {gradients}"
    ).replace(",, =", ", =")


def described(checks):
    return "\n".join(
        f"{c.input}, order {c.order}, {c.mode} at {c.index}: {c.analytic} against {c.numeric}, "
        f"error {c.error} of {c.allowed} allowed{c.note and f', {c.note}'}"
        for c in checks
        if c.note or not c.passed
    )


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("text", "primals"), RIGHT.values(), ids=RIGHT)
def test_right_programs_pass(text, primals, order):
    result = checked(text, primals, order)
    assert {c.mode for c in result.checks} == {"reverse", "forward", "dot"}
    assert {c.order for c in result.checks} == set(range(1, order + 1))
    assert result.passed, described(result.checks)
    assert not any(c.note for c in result.checks), described(result.checks)


@pytest.mark.parametrize("name", RULES)
def test_right_rules_pass(name):
    result = checked(*own(name, RULES[name][2]), order=2)
    assert result.passed, described((*result.checks, *result.rules))
    assert {c.order for c in result.rules} == {1, 2}


@pytest.mark.parametrize(
    ("name", "gradients"),
    [*WRONG[::2], *(pytest.param(*w, marks=pytest.mark.long) for w in WRONG[1::2])],
)
def test_wrong_rules_are_caught(name, gradients):
    result = checked(*own(name, gradients))
    assert any(not c.passed or c.note == "cut" for c in result.checks), f"{gradients} for {name}"
    assert not all(c.passed for c in result.rules), f"{gradients} for {name} passed by itself"


@pytest.mark.parametrize(("name", "gradients"), WRONG_SECOND)
def test_wrong_second_derivatives_are_caught(name, gradients):
    result = checked(*own(name, gradients), order=2)
    assert all(c.passed for c in (*result.checks, *result.rules) if c.order == 1)
    assert not all(c.passed for c in result.rules), f"{gradients} for {name} passed"


def test_enough_wrong_rules():
    assert len(WRONG) + len(WRONG_SECOND) >= 40


def test_a_wrong_jvp_is_caught():
    text, primals = own("cube", RULES["cube"][2])
    wrong = (
        "    def jvp(ctx, dot):\n        x, = ctx.saved_tensors\n        return dot * 2 * x ** 2\n"
    )
    result = checked(text.replace("def f(", wrong + "def f("), primals)
    for checks in (result.checks, result.rules):
        assert {c.mode for c in checks if not c.passed} == {"forward", "dot"}


def test_where_it_differs_most():
    text = own("cube", "g * 3 * x ** 2 * tensor([1.0, 1.5])")
    worst = next(c for c in checked(*text).checks if c.mode == "reverse")
    assert worst.index == (1, 1)
    assert worst.analytic == pytest.approx(1.5 * worst.numeric, rel=1e-6)


def test_a_projection_catches_one_wrong_entry():
    text, _ = own("cube", "g * (3 * x ** 2 + (x == x.max()) * 1.0)")
    checks = checked(text, (list(np.linspace(0.5, 1.0, 300)),)).checks
    assert not any(c.passed for c in checks if c.mode != "dot")


# --- one rule of one argument, at places where differences are hard ---------------------------

PLACES = {
    "small": ("1 / x", "-g / x ** 2", "1e-4"),
    "large": ("sin(x)", "cos(x) * g", "1e6"),
    "near an edge": ("sqrt(x)", "0.5 * g / sqrt(x)", "1e-6"),
    "a logarithm near its edge": ("log(x)", "g / x", "1e-3"),
    "flat": ("100 * x ** 4 + x", "(400 * x ** 3 + 1) * g", "0.0"),
    "flatter": ("1000 * x ** 6 + x", "(6000 * x ** 5 + 1) * g", "0.0"),
    "flattest": ("1e8 * x ** 8", "8e8 * x ** 7 * g", "0.0"),
    "no slope": ("100 * x ** 4", "400 * x ** 3 * g", "0.0"),
    "a kink beside": ("relu(x) * 3", "(x > 0) * 3 * g", "[0.0, 3.0]"),
    "a corner beside": ("abs(x)", "sign(x) * g", "[0.0, 3.0]"),
    "tiny": ("1e-13 * x ** 2", "2e-13 * x * g", "3.0"),
    "tinier": ("1e-13 * x ** 2", "2e-13 * x * g", "[3.0, 1e-9]"),
    "a tiny argument": ("x ** 2", "2 * x * g", "1e-10"),
    "fast": ("sin(1000 * x)", "1000 * cos(1000 * x) * g", "0.3"),
    "steep": ("exp(1000 * x)", "1000 * exp(1000 * x) * g", "0.01"),
    "near a pole": ("tan(x)", "(1 + tan(x) ** 2) * g", "1.57"),
    "nearly a kink": ("relu(x) * x", "2 * relu(x) * g", "1e-4"),
    "near a corner": ("abs(x)", "sign(x) * g", "1e-5"),
    "smooth but once": ("relu(x) ** 2", "2 * relu(x) * g", "0.0"),
    "huge": ("x ** 2", "2 * x * g", "1e150"),
    "float32": ("x ** 3", "3 * x ** 2 * g", "tensor([0.3, 2.0], dtype=float32)"),
    "both sizes": ("x ** 2", "2 * x * g", "[1e-6, 1e6]"),
    "permuted": ("x * tensor([1.0, 2.0])", "g * tensor([1.0, 2.0])", "[1.0, 1.0]"),
    "a transposition": ("x.T * 1.0", "g.T", "[[1.0, 2.0], [3.0, 4.0]]"),
}  # fmt: skip
"""Value, right gradient and point."""

PLANTED = [
    ("small", "g / x ** 2"), ("large", "-cos(x) * g"), ("near an edge", "3 * g / sqrt(x)"),
    ("a logarithm near its edge", "g / x * 1.0001"), ("flat", "-g"), ("flatter", "2 * g"),
    ("flattest", "g"), ("no slope", "400 * x ** 3 * g + g"), ("a kink beside", "(x > 0) * 2 * g"),
    ("a corner beside", "2 * sign(x) * g"), ("tiny", "-2e-13 * x * g"), ("tinier", "x * 0 * g"),
    ("a tiny argument", "-2 * x * g"), ("fast", "-1000 * cos(1000 * x) * g"),
    ("steep", "1001 * exp(1000 * x) * g"), ("near a pole", "tan(x) ** 2 * g * 1.001"),
    ("nearly a kink", "relu(x) * g"), ("near a corner", "0.5 * g"), ("smooth but once", "g"),
    ("huge", "x * g"), ("float32", "3.1 * x ** 2 * g"), ("both sizes", "2 * x * g + 1e-5 * g"),
    ("permuted", "g * tensor([2.0, 1.0])"), ("a transposition", "g"),
]  # fmt: skip
"""Wrong gradients at these places."""


def at(name, gradient, use="F.apply(x)"):
    value, _, point = PLACES[name]
    return load(f"input x = {point}\n{rule('x', value, gradient)}\n{use}")


@pytest.mark.parametrize("name", PLACES)
def test_right_rules_pass_everywhere(name):
    result = at(name, PLACES[name][1]).gradcheck()
    assert result.passed, described((*result.checks, *result.rules))
    assert {c.note for c in result.rules} <= {"", "kink"}, described(result.rules)


@pytest.mark.parametrize(("name", "gradient"), PLANTED)
def test_wrong_rules_are_caught_everywhere(name, gradient):
    result = at(name, gradient).gradcheck()
    assert not all(c.passed for c in result.checks), described(result.checks)
    assert not all(c.passed for c in result.rules), described(result.rules)


def test_a_kink_excuses_no_other_element():
    result = at("a kink beside", "(x > 0) * 2 * g", "F.apply(x).sum()").gradcheck()
    worst = result.checks[0]
    assert (worst.index, worst.analytic, worst.passed) == ((1,), 2.0, False)


# --- the right programs that differences alone cannot tell ------------------------------------

NOTED = {
    "relu(x) + x": ("0.0", {"kink"}),
    "abs(x)": ("0.0", {"kink"}),
    "floor(x)": ("2.0", {"kink"}),
    "sqrt(x)": ("0.0", {"kink"}),
    "sqrt(x - 1)": ("1.0", {"kink"}),
    "abs(x - 0.3)": ("0.3", {"kink"}),
    "x ** 1.5": ("0.0", {"kink"}),
    "sign(x) * abs(x) ** (1 / 3)": ("0.0", {"kink"}),
    "max(x)": ("[3.0, 3.0, 1.0]", {"kink"}),
    "x[x > 0]": ("tensor([1.0, 0.0, 2.0])", {"kink"}),
    "sum(relu(x))": ("linspace(-1.0, 1.0, 201)", {"kink"}),
    "log(x)": ("0.0", {"non-finite"}),
    "log(-x)": ("0.0", {"non-finite"}),
    "1 / x": ("0.0", {"non-finite"}),
    "exp(x)": ("710.0", {"non-finite"}),
    "x ** 2": ("inf", {"non-finite"}),
    "sum(x)": ("[1.0, nan]", {"non-finite"}),
    "(1 - cos(x)) / x ** 2": ("1e-4", {"unsure"}),
    "x * randn(3)[0] + (x - x)": ("1.5", {""}),
    "(x + 1e10) - 1e10": ("1.0", {""}),
    "inv(x).sum()": ("[[1.0, 1.0], [1.0, 1.0001]]", {""}),
    "log(x.to(float32) * 3).sum() * x": ("tensor([0.3, 2.0])", {""}),
    "exp(x) * 1": ("709.7", {""}),
    "sin(x) ** 2 + cos(x) ** 2": ("0.3", {""}),
    "sin(x) + 1e-3 * sin(1000 * x)": ("0.3", {""}),
    "exp(x) + 0": ("1e-200", {""}),
    "x * 0": ("1.0", {""}),
    "round(x, decimals=2)": ("1.234", {""}),
    "inv(x)": ("[[2.0, 0.0], [1.0, 3.0]]", {""}),
}


@pytest.mark.parametrize(("text", "point", "notes"), [(t, *v) for t, v in NOTED.items()])
def test_what_cannot_be_told_is_noted(text, point, notes):
    result = load(f"input x = {point}\n{text}").gradcheck()
    assert result.passed, described(result.checks)
    assert {c.note for c in result.checks if c.mode != "dot"} == notes, described(result.checks)


SMALL = [
    *(("x ** 2", 1e-200), ("x ** 2", 1e-170), ("x ** 3", 1e-120), ("1 + x * x", 1e-100)),
    *(("exp(x)", 1e-200), ("sin(x)", 1e-300), ("cos(x)", 1e-30), ("x", 1e-200), ("x", 5e-324)),
    *(("sin(x) / x", 1e-9), ("expm1(x)", 1e-12), ("sqrt(x)", 1e-200), ("log(x)", 1e-200)),
    *(("x ** 2", [1e-200, 2.0, 0.0]), ("exp(x).sum()", [1e-200, -1e-30, 1.0])),
]


@pytest.mark.parametrize(
    ("text", "point", "order"), [*((*s, 1) for s in SMALL), *((*s, 2) for s in SMALL[:3])]
)
def test_a_small_input_is_judged_rightly(text, point, order):
    result = load(f"input x = {point}\n{text}").gradcheck(order=order)
    assert result.passed, described(result.checks)


@pytest.mark.parametrize(
    ("value", "slope", "point"),
    [
        ("exp(x)", "2 * g * exp(x)", 1e-200),
        ("exp(x)", "0.99 * g * exp(x)", 1e-12),
        ("exp(x)", "g * 0", 1e-100),
        ("sin(x)", "1.001 * g * cos(x)", 1e-300),
        ("x + x * x", "1.01 * g", 1e-200),
        ("cos(x)", "g * 0.01", 1e-30),
        ("ones(1).sum() + x * 0", "g", 1e-30),
    ],
)
def test_a_mistake_at_a_small_input_is_found(value, slope, point):
    text = f"input x = {point}\n{rule('x', value, slope)}\nF.apply(x)"
    assert not load(text).gradcheck().passed


TRIANGLES = {
    "cholesky(x)": {"symmetric"},
    "eigvalsh(x)": {"symmetric"},
    "eigh(x, UPLO='U').eigenvalues": {"symmetric"},
    "pinv(x, hermitian=True)": {"symmetric"},
    "cholesky(2 * x + eye(2)).sum() * x[0, 1]": {"symmetric"},
    "class F(Function):\n    def forward(ctx, x): return x * 2\n"
    "    def backward(ctx, g): return g * 2\neigvalsh(F.apply(x))": {"symmetric"},
    "cholesky(x @ x.T)": {""},  # symmetric however x moves
    "cholesky((x + x.T) / 2)": {""},
    "pinv(x)": {""},
}


@pytest.mark.parametrize(("text", "order"), [*((t, 1) for t in TRIANGLES), ("eigvalsh(x)", 2)])
def test_a_matrix_of_which_one_triangle_is_read_moves_symmetrically(text, order):
    result = load(f"input x = [[3.0, 1.0], [1.0, 2.0]]\n{text}").gradcheck(order=order)
    assert result.passed, described(result.checks)
    notes = {c.note for c in result.checks if c.mode != "dot"}
    assert notes == TRIANGLES[text], described(result.checks)


@pytest.mark.parametrize("slope", ["g * 3", "g * (x > 1.5) * 2"])
def test_a_mistake_before_a_triangle_is_none_of_it(slope):
    text = f"{rule('x', 'x * 2', slope)}\ninput x = [[3.0, 1.0], [1.0, 2.0]]\neigvalsh(F.apply(x))"
    result = load(text).gradcheck()
    assert {c.input for c in result.checks if not c.passed} == {"x"}, described(result.checks)


def test_float32_is_checked_as_it_runs():
    text = "input x = tensor([0.3, 2.0], dtype=float32)\nassert x.dtype == float32\nexp(x) * sin(x)"
    result = load(text).gradcheck(order=2)
    assert result.passed
    assert not any(c.note for c in result.checks), described(result.checks)
    assert all(1e-8 < c.rounding < 1e-2 for c in result.checks if c.mode != "dot")


def test_nan_where_differences_are_finite_is_a_mistake():
    assert not at("small", "g * (x / 0)").gradcheck().passed


SOLUTIONS = [
    ("-k * y * y", "[0, T]", ", rtol=1e-3, atol=1e-3", 2),
    ("-k * y * y", "[0, T]", ", method='rk4', steps=1", 2),
    ("-k * y * t", "[0.1 * T, 0.5, T]", ", rtol=1e-3, atol=1e-3", 1),
]


@pytest.mark.parametrize(("slope", "times", "how", "order"), SOLUTIONS)
def test_solutions_of_differential_equations_are_moved_on_the_same_steps(slope, times, how, order):
    text = f"def f(k, y, T):\n    return odeint(lambda t, y: {slope}, y, {times}{how})[-1]"
    found = checked(text, (0.4, 1.0, 2.0), order).checks
    assert len(found) == 9 * order
    assert all(check.passed and not check.note for check in found)


def test_a_solution_inside_an_equation_is_moved_on_the_same_steps():
    text = "def f(T):\n    return root(lambda q: odeint(lambda t, y: -q * y, 1.0, [0, T], rtol=1e-3)[1] - 0.5, 0.4)"
    assert all(check.passed and not check.note for check in checked(text, (1.0,)).checks)


def test_a_rule_by_the_time_of_a_solution_is_checked_on_its_steps():
    """Nothing is recorded inside the function; the time counts all the same."""
    text = """
class Decay(Function):
    @staticmethod
    def forward(ctx, T):
        y = odeint(lambda t, y: -0.3 * y, 1.0, [0, T], rtol=1e-5)[1]
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, g):
        return FACTOR * g * ctx.saved_tensors[0]
f = Decay.apply
"""
    assert checked(text.replace("FACTOR", "-0.3"), (0.5,)).passed
    assert not checked(text.replace("FACTOR", "-0.3001"), (0.5,)).passed


def test_a_time_that_is_cut_off_is_told_as_a_cut():
    text = (
        "def f(k, T):\n    with no_grad():\n        y = odeint(lambda t, y: -y, 1.0, [0, T])[1]\n"
        "    return y * k"
    )
    notes = {(check.input, check.note) for check in checked(text, (0.4, 2.0)).checks}
    assert ("x1", "cut") in notes
    assert ("x0", "cut") not in notes
