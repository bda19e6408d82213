"""Roots, fixed points, least points, integrals and solutions of differential equations: values and
derivatives of every order against exact ones, by the interpreter and by code.
"""

import json
import math

import numpy as np
import pytest

from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import Options

NEVER = Options(compile="never")


def value(text):
    found = load(text).run(options=NEVER).result
    return np.asarray(found.tolist() if hasattr(found, "tolist") else found)


def printed(text):
    lines = []
    load(text).run(options=Options(echo=lines.append, compile="never"))
    return [float(line) for line in "".join(lines).split()]


def refused(text):
    with pytest.raises(GradError) as caught:
        load(text).run(options=NEVER)
    return caught.value.diagnostics[0]


# --- derivatives ---------------------------------------------------------------------------------

EXACT = {
    # of sqrt(a) at 4
    "root(lambda x: x * x - a, 1.0)": [2, 1 / 4, -1 / 32, 3 / 256, -15 / 2048],
    "root(lambda x, b: x * x - b, 1.0, a)": [2, 1 / 4, -1 / 32, 3 / 256, -15 / 2048],
    "root(lambda x: x * x - a, [1.0])[0]": [2, 1 / 4, -1 / 32, 3 / 256, -15 / 2048],
    "root(lambda x: [x[0] * x[1] - a, x[0] - x[1]], [1.0, 2.0])[1]": [2, 1 / 4, -1 / 32, 3 / 256],
    "fixed_point(lambda x: (x + a / x) / 2, 1.0)": [2, 1 / 4, -1 / 32, 3 / 256, -15 / 2048],
    "fixed_point(lambda x: (x + a / x) / 2, [1.0, 3.0])[1]": [2, 1 / 4, -1 / 32, 3 / 256],
    "minimize(lambda x: x ** 3 / 3 - a * x, 1.0)": [2, 1 / 4, -1 / 32, 3 / 256, -15 / 2048],
    "minimize(lambda x: (x ** 3 / 3 - a * x).sum(), [1.0, 3.0])[0]": [2, 1 / 4, -1 / 32, 3 / 256],
    # of a ** 3 / 3 at 4: by the limits, and by what the function captures
    "quad(lambda x: x * x, 0, a)": [64 / 3, 16, 8, 2, 0],
    "quad(lambda x: x * x, a, 0)": [-64 / 3, -16, -8, -2, 0],
    "quad(lambda x: a ** 3 * x ** 2, 0, 1)": [64 / 3, 16, 8, 2, 0],
    "quad(lambda x: a * x, a, 2 * a)": [96, 72, 36, 9, 0],  # 3 a ** 3 / 2
    # of 1 / a
    "quad(lambda x: exp(-a * x), 0, inf)": [1 / 4, -1 / 16, 1 / 32, -3 / 128, 3 / 128],
    "quad(lambda x: exp(a * x), -inf, 0)": [1 / 4, -1 / 16, 1 / 32, -3 / 128, 3 / 128],
}


DEEP = {
    *("root(lambda x, b: x * x - b, 1.0, a)", "minimize(lambda x: x ** 3 / 3 - a * x, 1.0)"),
    "root(lambda x: [x[0] * x[1] - a, x[0] - x[1]], [1.0, 2.0])[1]",
    "quad(lambda x: a * x, a, 2 * a)",
}


@pytest.mark.parametrize("text", EXACT)
def test_derivatives_of_every_order(text):
    orders = EXACT[text] if text in DEEP else EXACT[text][:3]
    head = f"f = lambda a: {text}\n"
    calls = ["f", *[f"{'grad(' * n}f{')' * n}" for n in range(1, len(orders))]]
    found = printed(head + "".join(f"print(float({call}(4.0)))\n" for call in calls))
    np.testing.assert_allclose(found, orders, rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("text", EXACT)
def test_derivatives_in_forward_mode(text):
    orders = EXACT[text]
    head = (
        f"f = lambda a: {text}\ng = jacfwd(f)\nprint(float(g(4.0)))\nprint(float(jacfwd(g)(4.0)))\n"
    )
    np.testing.assert_allclose(printed(head), orders[1:3], rtol=1e-11, atol=1e-10)


CODED = [
    *("root(lambda x: x * x - a, 1.0)", "minimize(lambda x: x ** 3 / 3 - a * x, 1.0)"),
    "fixed_point(lambda x: (x + a / x) / 2, 1.0)",
    "quad(lambda x: a * x, 0.0, a)",
    "odeint(lambda t, y: a * y, 1.0, linspace(0, 0.5, 60))[59]",
    "odeint(lambda t, y: [y[1], -a * y[0]], [1.0, 0.0], [0.0, 0.5], method='rk4', steps=3)[1, 0]",
]


@pytest.mark.parametrize(
    ("text", "mode"), [*((text, "grad") for text in CODED), *((text, "jvp") for text in CODED[:1])]
)
def test_code_gives_the_same_bits(text, mode):
    program = load(f"param a = 1.5\n{text}")
    found = []
    for way in ("never", "always"):
        options = Options(compile=way)
        if mode == "grad":
            answer = program.grad(options=options)
        else:
            answer = program.jvp(tangents={"a": 1.0}, options=options)
        found.append(answer.to_json())
    assert found[0] == found[1]


LISTS = [
    "odeint(lambda t, y: -a * y, [a, 1.0], [0, 1.0])[1].sum()",
    "odeint(lambda t, y: -y * y[1], [1, a * a], [0.0, 0.3, 1.0])[1:].sum()",
    "odeint(lambda t, y: -a * y, [1.0, 2.0], [0.0, a])[1].sum()",
    "odeint(lambda t, y: -y, [a, 1.0], [0.5 * a, a], method='rk4', steps=3)[1].sum()",
    "root(lambda x: x * x - a, [a, 2.0]).sum()",
    "root(lambda x, b: [x[0] - b[0], x[1] - b[1]], [1.0, 2.0], [a, a * a]).sum()",
    "fixed_point(lambda x: (x + a / x) / 2, [a, 1.0]).sum()",
    "minimize(lambda x: ((x - a) ** 2).sum(), [a, 2.0]).sum()",
    "quad(lambda x, b: b[0] * x, 0, a, [a, 1.0])",
]


@pytest.mark.parametrize("text", LISTS)
def test_lists_of_unknown_numbers_have_derivatives_by_code(text):
    program = load(f"param a = 1.5\n{text}")
    ways = [program.grad(options=Options(compile=how)).grad["a"] for how in ("always", "never")]
    assert float(ways[0]) == float(ways[1]) != 0.0


def test_second_derivatives_by_code_are_the_same():
    program = load("param a = 1.5\nparam b = 2.0\nroot(lambda x: x ** 3 + a * x - b, 1.0)")
    found = [program.hessian(options=Options(compile=way)).to_json() for way in ("never", "always")]
    assert found[0] == found[1]
    x = json.loads(found[0])["value"]
    assert x**3 + 1.5 * x == pytest.approx(2.0)


HIGH = {  # an order, and the derivative at 4
    "root(lambda x: x * x - a, 1.0)": (7, 10395 / 1048576),
    "quad(lambda x: exp(x), 0, a)": (8, math.exp(4)),
    "quad(lambda x: exp(-x * a), 0, inf)": (8, math.factorial(8) / 4**9),
}


@pytest.mark.parametrize("mode", ["grad", "jacfwd"])
@pytest.mark.parametrize("text", HIGH)
def test_no_order_is_special(text, mode):
    order, wanted = HIGH[text]
    found = value(f"f = lambda a: {text}\n{f'{mode}(' * order}f{')' * order}(4.0)")
    assert float(found) == pytest.approx(wanted, rel=1e-12)


def test_orders_by_a_time_of_a_solution():
    text = "odeint(lambda t, y: t * y, 1.0, stack([tensor(0.0), a]), method='rk4', steps=9)[1]"
    found = value(f"f = lambda a: {text}\n{'grad(' * 5}f{')' * 5}(0.5)")
    wanted = (0.5**5 + 10 * 0.5**3 + 15 * 0.5) * math.exp(0.125)  # of exp(t ** 2 / 2)
    assert float(found) == pytest.approx(wanted, rel=1e-6)


def test_a_derivative_beyond_the_exact_orders_is_refused():
    """Nobody knows before how often a program takes derivatives of what it has recorded."""
    text = (
        "x = tensor(4.0, requires_grad=True)\ny = root(lambda z: z * z - x, 1.0)\n"
        "for i in range({}): y = torch.autograd.grad(y, x, create_graph=True)[0]\nfloat(y)"
    )
    assert "end at order 6" in refused(text.format(7)).message
    assert value(text.format(6)) == pytest.approx(-945 / 131072, rel=1e-12)


def test_the_start_has_the_gradient_zero():
    program = load("param a = 2.0\nparam x0 = 1.0\nroot(lambda x: x * x - a, x0)")
    found = program.grad(options=NEVER).grad
    assert float(found["x0"]) == 0.0


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("root(lambda x: [x[0] ** 3 - a * exp(-x[1]), x[1] * b + x[0] - 3], [1.0, 1.0])", 1),
        ("root(lambda x: x ** 3 - a * exp(-b * x), 1.0)", 2),
        ("fixed_point(lambda x: tanh(a * x / 3 + b), 0.5)", 1),
        ("minimize(lambda x: (a - x) ** 2 + b * x ** 4, 0.2)", 1),
        ("quad(lambda x: exp(-a * x * x), 0, b)", 1),
        ("quad(lambda x: abs(x - a), 0, b)", 1),
        ("odeint(lambda t, y: a * y * (1 - y / b), 0.1 * a, [0.0, b], rtol=1e-4)", 1),
    ],
)
def test_gradcheck_agrees(text, order):
    program = load(f"param a = 1.2\nparam b = 1.7\n{text}")
    assert program.gradcheck(order=order).passed


# --- points --------------------------------------------------------------------------------------

SYSTEMS = {  # from the collection of More, Garbow and Hillstrom (1981)
    "Rosenbrock": ("[10 * (x[1] - x[0] ** 2), 1 - x[0]]", [-1.2, 1.0], [1.0, 1.0]),
    "Freudenstein and Roth": (
        "[-13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1], -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]]",
        [6.0, 3.0],
        [5.0, 4.0],
    ),
    "Powell badly scaled": (
        "[1e4 * x[0] * x[1] - 1, exp(-x[0]) + exp(-x[1]) - 1.0001]",
        [0.0, 1.0],
        [1.098159e-5, 9.106146],
    ),
    "Beale": ("[1.5 - x[0] * (1 - x[1]), 2.25 - x[0] * (1 - x[1] ** 2)]", [1.0, 0.8], [3.0, 0.5]),
    "Brown badly scaled": ("[x[0] - 1e6, x[0] * x[1] - 2]", [1.0, 1.0], [1e6, 2e-6]),
    "helical valley": (
        "[10 * (x[2] - 10 * atan2(x[1], x[0]) / (2 * pi)), 10 * (hypot(x[0], x[1]) - 1), x[2]]",
        [-1.0, 0.1, 0.0],
        [1.0, 0.0, 0.0],
    ),
    "Brown almost linear": (
        "cat([x[:4] + x.sum() - 6, prod(x).reshape(1) - 1])",
        [0.5] * 5,
        None,
    ),
    "Broyden tridiagonal": (
        "(3 - 2 * x) * x - cat([zeros(1), x[:-1]]) - 2 * cat([x[1:], zeros(1)]) + 1",
        [-1.0] * 10,
        None,
    ),
    "trigonometric": (
        "5 - cos(x).sum() + arange(1, 6) * (1 - cos(x)) - sin(x)",
        [0.2] * 5,
        None,
    ),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_roots_of_systems(name):
    text, start, wanted = SYSTEMS[name]
    head = f"f = lambda x: {text}\nx = root(f, {start})\n"
    found = value(head + "x")
    if wanted is not None:
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(value(head + "stack([y + zeros(()) for y in f(x)])"), 0.0, atol=1e-9)


MINIMA = {
    "Rosenbrock": ("100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2", [-1.2, 1.0], [1.0, 1.0]),
    "Beale": (
        "(1.5 - x[0] * (1 - x[1])) ** 2 + (2.25 - x[0] * (1 - x[1] ** 2)) ** 2"
        " + (2.625 - x[0] * (1 - x[1] ** 3)) ** 2",
        [1.0, 1.0],
        [3.0, 0.5],
    ),
    "Wood": (
        "100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2 + 90 * (x[3] - x[2] ** 2) ** 2"
        " + (1 - x[2]) ** 2 + 10 * (x[1] + x[3] - 2) ** 2 + 0.1 * (x[1] - x[3]) ** 2",
        [-3.0, -1.0, -3.0, -1.0],
        [1.0] * 4,
    ),
    "a number": ("exp(x) - 2 * x", -3.0, math.log(2)),
}


@pytest.mark.parametrize("name", MINIMA)
def test_least_points(name):
    text, start, wanted = MINIMA[name]
    np.testing.assert_allclose(value(f"minimize(lambda x: {text}, {start})"), wanted, rtol=1e-9)


def test_the_result_has_the_form_of_the_start():
    assert value("root(lambda x: x ** 2 - tensor([[4.0, 9.0]]), ones(1, 2))").tolist() == [
        [2.0, 3.0]
    ]
    assert isinstance(load("root(lambda x: x - 1, 0)").run(options=NEVER).result, float)
    half = "root(lambda x: x * x - tensor(2.0, dtype=float32), tensor([1.0], dtype=float32))"
    assert value(half)[0] == pytest.approx(math.sqrt(2), rel=1e-15)
    assert value("root(f=lambda x: x - 1, x0=0)") == 1.0


FAILURES = {
    "root(lambda x: x ** 2 + 1, 1.0)": ("no-solution", "residual is"),
    "root(lambda x: log(x), -1.0)": ("no-solution", "nan at the start"),
    "root(lambda x: [x[0] ** 2 + 1, x[1]], [1.0, 2.0])": ("no-solution", "largest residual"),
    "root(lambda x: (x - 1) ** 3, 2.0)": ("singular-derivative", "solution 1"),
    "root(lambda x: x * x - 2 * x + 1, 1.5)": ("singular-derivative", "solution 1"),
    "root(lambda x: [x[0] * x[1] - 1] * 2, [1.0, 2.0])": ("singular-derivative", "singular"),
    "root(lambda x: x[:1], [1.0, 2.0])": ("shape-mismatch", "1 for 2 unknowns"),
    "root(lambda x: x, 'a')": ("wrong-type", "a string"),
    "root(3, 1.0)": ("not-callable", "not a function"),
    "root(lambda: 1, 1.0)": ("wrong-arity", "takes 0 arguments"),
    "fixed_point(lambda x: x + 1, 1.0)": ("no-solution", "`fixed_point`"),
    "minimize(lambda x: x ** 3 - x, -1.5)": ("no-solution", "lower bound"),
    "minimize(lambda x: x[0] ** 2 - x[1] ** 2, [1.0, 0.0])": ("singular-derivative", "no strict"),
    "minimize(lambda x: x[0] ** 2, [1.0, 1.0])": ("singular-derivative", "not positive definite"),
    "minimize(lambda x: (x - 1) ** 4, 1.5)": ("singular-derivative", "no strict minimum"),
    "quad(lambda x: 1 / x, 0, 1)": ("no-solution", "may diverge"),
    "quad(lambda x: sin(x) / x, -1, 1)": ("no-solution", "not finite"),
    "quad(lambda x: x, 0, [1.0])": ("wrong-type", "limits"),
    "grad(lambda a: quad(lambda x: 1 / sqrt(x), a, 1))(0.0)": ("no-solution", "by a limit"),
    "odeint(lambda t, y: y * y, 1.0, [0, 2])": ("no-solution", "solution ends there"),
    "odeint(lambda t, y: -1e6 * (y - cos(t)), 0.0, [0, 10], rtol=1e-2)": ("no-solution", "stiff"),
    "odeint(lambda t, y: [y, y], 1.0, [0, 1])": ("shape-mismatch", "shape [2]"),
    "odeint(lambda t, y: 'a', 1.0, [0, 1])": ("wrong-type", "a string"),
    "odeint(lambda t, y: y, 1.0, 1.0)": ("wrong-type", "times"),
    "odeint(lambda t, y: y, 1.0, [0, 1], method='euler')": ("bad-argument", "'rk4'"),
    "odeint(lambda t, y: y, 1.0, [0, 1], method='rk4')": ("bad-argument", "number of steps"),
    "odeint(lambda t, y: y, 1.0, [0, 1], steps=3)": ("bad-argument", "'rk4'"),
}


@pytest.mark.parametrize("text", FAILURES)
def test_what_has_no_answer_is_told(text):
    code, said = FAILURES[text]
    found = refused(text)
    assert (found.code, said in found.message) == (code, True), found.message
    assert found.span is not None


def test_an_assertion_of_the_program_stays_its_own():
    text = "def f(x):\n    assert x > 3, 'no-solution: x'\n    return x\nroot(f, 1.0)"
    found = refused(text)
    assert (found.code, found.message) == ("assertion-failed", "no-solution: x")


def test_a_program_can_catch_a_failure():
    text = "try:\n    root(lambda x: x ** 2 + 1, 1.0)\nexcept RuntimeError:\n    print(7)\n"
    assert printed(text) == [7.0]


# --- integrals and solutions ---------------------------------------------------------------------

INTEGRALS = {
    "exp(-x * x), -inf, inf": math.sqrt(math.pi),
    "1 / (1 + x * x), inf, -inf": -math.pi,
    "1 / sqrt(x), 0, 1": 2.0,
    "log(x), 0, 1": -1.0,
    "sin(x), 0, 100": 1 - math.cos(100),
    "abs(x - 0.3), 0, 1": 0.29,
    "exp(-((x - 50) / 0.1) ** 2), 0, 100": 0.1 * math.sqrt(math.pi),
    "exp(x), 3, -inf": -math.exp(3),
    "x, 2, 2": 0.0,
}


@pytest.mark.parametrize("text", INTEGRALS)
def test_integrals(text):
    assert value(f"quad(lambda x: {text})") == pytest.approx(INTEGRALS[text], rel=1e-11, abs=1e-13)


def test_an_integral_of_several_functions():
    np.testing.assert_allclose(value("quad(lambda x: tensor([1.0, 2.0]) * x, 0, 1)"), [0.5, 1.0])


def test_limits_are_evaluated_only_if_a_derivative_by_them_is_wanted():
    program = load("param k = 2.0\ninput b = 1.0\nquad(lambda x: k / sqrt(x), 0, b)")
    assert float(program.grad(options=NEVER).grad["k"]) == pytest.approx(2.0)
    found = program.grad(wrt=["b"], options=NEVER).grad["b"]
    assert float(found) == pytest.approx(2.0, rel=1e-12)


def test_solutions_keep_the_tolerances():
    times = "[0, 3.0, -2, -2]"
    found = value(f"odeint(lambda t, y: [y[1], -y[0]], [0.0, 1.0], {times})")
    np.testing.assert_allclose(found[:, 0], np.sin([0, 3.0, -2, -2]), atol=5e-7)
    exact = value(
        f"odeint(lambda t, y: [y[1], -y[0]], [0.0, 1.0], {times}, rtol=1e-11, atol=1e-12)"
    )
    np.testing.assert_allclose(exact[:, 0], np.sin([0, 3.0, -2, -2]), atol=1e-10)


def test_fixed_steps_are_those_of_runge_and_kutta():
    found = value("odeint(lambda t, y, k: -k * y, 2.0, [0.0, 0.3], 1.5, method='rk4', steps=2)")
    x = -1.5 * 0.15
    factor = 1 + x + x**2 / 2 + x**3 / 6 + x**4 / 24
    assert found[1] == pytest.approx(2 * factor**2, rel=1e-15)


def test_derivatives_of_a_solution_are_near_the_exact_ones():
    """y = y0 exp(k (t - s)): by k, by y0, and by the first and the last time."""
    text = (
        "param k = -1.5\nparam y0 = 2.0\nparam s = 0.5\nparam t = 2.0\n"
        "odeint(lambda t, y: k * y, y0, stack([s, t]), rtol=1e-9, atol=1e-11)[1]"
    )
    y = 2 * math.exp(-2.25)
    program = load(text)
    found = program.grad(options=NEVER).grad
    wanted = {"k": 1.5 * y, "y0": y / 2, "s": 1.5 * y, "t": -1.5 * y}
    for name, slope in wanted.items():
        assert float(found[name]) == pytest.approx(slope, rel=1e-8), name
    second = value(
        "h = hessian(lambda s: odeint(lambda t, y: -1.5 * y, 2.0, stack([s[0], s[1]]), "
        "rtol=1e-9, atol=1e-11)[1])\nh(tensor([0.5, 2.0]))"
    )
    np.testing.assert_allclose(second, 2.25 * y * np.array([[1, -1], [-1, 1]]), rtol=1e-7)


def test_a_solution_agrees_with_scipy():
    """Van der Pol's equation; recorded from `solve_ivp` of SciPy 1.17 with rtol=1e-11."""
    f = "lambda t, y: [y[1], 2 * (1 - y[0] ** 2) * y[1] - y[0]]"
    theirs = [
        [2.0, 0.0],
        [1.69804146, -0.40872989],
        [1.1679294, -0.72505437],
        [-0.39366732, -3.33663404],
    ]
    found = value(f"odeint({f}, [2.0, 0.0], linspace(0, 3, 4))")
    np.testing.assert_allclose(found, theirs, rtol=2e-6, atol=1e-6)


def test_a_start_that_is_no_number_is_left_to_the_interpreter():
    program = load("root(lambda x: x - 1.0, ...)")
    with pytest.raises(GradError, match=r"not compiled|start"):
        program.run(options=Options(compile="always"))
