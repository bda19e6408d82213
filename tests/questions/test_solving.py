"""`minimize` and `root` from Python: test problems with known answers, and how answers move."""

from math import exp, log, pi, sqrt

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradError, InputError
from gradcli.program import Options

pytest.importorskip("scipy")

MINIMA = {  # More, Garbow and Hillstrom (1981): program, start, minimum
    "Rosenbrock": ("100 * (y - x ** 2) ** 2 + (1 - x) ** 2", {"x": -1.2, "y": 1.0}, 0.0),
    "Freudenstein and Roth": (
        "(-13 + x + ((5 - y) * y - 2) * y) ** 2 + (-29 + x + ((y + 1) * y - 14) * y) ** 2",
        {"x": 0.5, "y": -2.0},
        48.98425367924,
    ),
    "Powell badly scaled": (
        "(1e4 * x * y - 1) ** 2 + (exp(-x) + exp(-y) - 1.0001) ** 2",
        {"x": 0.0, "y": 1.0},
        0.0,
    ),
    "Brown badly scaled": (
        "(x - 1e6) ** 2 + (y - 2e-6) ** 2 + (x * y - 2) ** 2",
        {"x": 1.0, "y": 1.0},
        0.0,
    ),
    "Beale": (
        "(1.5 - x * (1 - y)) ** 2 + (2.25 - x * (1 - y**2)) ** 2 + (2.625 - x * (1 - y**3)) ** 2",
        {"x": 1.0, "y": 1.0},
        0.0,
    ),
    "Jennrich and Sampson": (
        "s = 0.0\nfor i in range(1, 11): s = s + (2 + 2 * i - (exp(i * x) + exp(i * y))) ** 2\ns",
        {"x": 0.3, "y": 0.4},
        124.36218235561,
    ),
    "Powell singular": (
        "(a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4",
        {"a": 3.0, "b": -1.0, "c": 0.0, "d": 1.0},
        0.0,
    ),
    "Wood": (
        "100 * (b - a * a) ** 2 + (1 - a) ** 2 + 90 * (d - c * c) ** 2 + (1 - c) ** 2"
        " + 10 * (b + d - 2) ** 2 + 0.1 * (b - d) ** 2",
        {"a": -3.0, "b": -1.0, "c": -3.0, "d": -1.0},
        0.0,
    ),
    "Brown and Dennis": (
        "s = 0.0\n"
        "for i in range(1, 21):\n"
        "    t = i / 5\n"
        "    s = s + ((a + t * b - exp(t)) ** 2 + (c + d * sin(t) - cos(t)) ** 2) ** 2\n"
        "s",
        {"a": 25.0, "b": 5.0, "c": -5.0, "d": -1.0},
        85822.20162635,
    ),
    "Trigonometric": (
        "k = arange(1.0, 6.0)\nf = 5 - sum(cos(x)) + k * (1 - cos(x)) - sin(x)\nsum(f * f)",
        {"x": [0.2] * 5},
        0.0,
    ),
}


@pytest.mark.parametrize("name", MINIMA)
def test_minima(name):
    program, start, least = MINIMA[name]
    found = gradcli.load(program).minimize(start)
    assert found.converged, found.reason
    assert found.kind in ("minimum", "flat")
    assert found.value == pytest.approx(least, rel=1e-10, abs=1e-12)


ROOTS = {  # More, Garbow and Hillstrom: program, start, results, a root if it is known
    "Rosenbrock": ("[10 * (y - x ** 2), 1 - x]", {"x": -1.2, "y": 1.0}, {"x": 1.0, "y": 1.0}),
    "Powell badly scaled": (
        "[1e4 * x * y - 1, exp(-x) + exp(-y) - 1.0001]",
        {"x": 0.0, "y": 1.0},
        {"x": 1.098159329699759e-5, "y": 9.106146739866977},
    ),
    "Helical valley": (
        "[10 * (z - 10 * atan2(y, x) / (2 * pi)), 10 * (sqrt(x * x + y * y) - 1), z]",
        {"x": -1.0, "y": 0.0, "z": 0.0},
        {"x": 1.0, "y": 0.0, "z": 0.0},
    ),
    "Powell singular": (
        "[a + 10 * b, sqrt(5) * (c - d), (b - 2 * c) ** 2, sqrt(10) * (a - d) ** 2]",
        {"a": 3.0, "b": -1.0, "c": 0.0, "d": 1.0},
        dict.fromkeys("abcd", 0.0),
    ),
    "Broyden tridiagonal": (
        "l = cat([zeros(1), x[:-1]])\nr = cat([x[1:], zeros(1)])\n(3 - 2 * x) * x - l - 2 * r + 1",
        {"x": [-1.0] * 8},
        None,
    ),
    "Discrete boundary value": (
        "h = 1 / 9\nt = h * arange(1.0, 9.0)\nl = cat([zeros(1), x[:-1]])\n"
        "r = cat([x[1:], zeros(1)])\n2 * x - l - r + h * h * (x + t + 1) ** 3 / 2",
        {"x": [k / 9 * (k / 9 - 1) for k in range(1, 9)]},
        None,
    ),
}


@pytest.mark.parametrize("name", ROOTS)
def test_roots(name):
    program, start, root = ROOTS[name]
    found = gradcli.load(program).root(start)
    assert found.converged, found.reason
    (residuals,) = found.value.values()
    assert np.abs(residuals).max() < 1e-9
    for unknown, value in (root or {}).items():
        assert found.values[unknown] == pytest.approx(value, rel=1e-8, abs=1e-4)


# how answers move ---------------------------------------------------------------------------------


def test_a_minimum_moves_by_the_implicit_function_theorem():
    program = gradcli.load("exp(x) - a * x + b * (y - x) ** 2 + y ** 4")
    given = {"x": 1.0, "y": 0.5, "a": 2.0, "b": 0.7}

    def at(**more):
        found = program.minimize({**given, **more}, wrt=["x", "y"])
        return np.array([found.values["x"], found.values["y"]])

    found = program.minimize(given, wrt=["x", "y"], sensitivity=["all"])
    for name in ("a", "b"):
        step = 1e-4
        by = (at(**{name: given[name] + step}) - at(**{name: given[name] - step})) / (2 * step)
        moved = [found.sensitivity[unknown][name] for unknown in ("x", "y")]
        assert moved == pytest.approx(by.tolist(), rel=1e-6)


def test_a_root_moves_by_the_implicit_function_theorem():
    program = gradcli.load("x ** 3 + b[0] * x - b[1]")
    given = {"x": 1.0, "b": [2.0, 5.0]}
    found = program.root(given, wrt=["x"], sensitivity=["b"])
    x = found.values["x"]
    expected = [-x / (3 * x * x + 2), 1 / (3 * x * x + 2)]
    assert found.sensitivity["x"]["b"] == pytest.approx(expected, rel=1e-10)


def test_bounds_stay_where_they_are():
    program = gradcli.load("(x - a) ** 2 + (y - a * x) ** 2")
    found = program.minimize(
        {"x": 0.5, "y": 0.0, "a": 3.0}, wrt=["x", "y"], bounds={"x": (0, 1)}, sensitivity=["a"]
    )
    assert found.values["x"] == 1.0
    assert found.at_bounds == ("x",)
    assert found.sensitivity == {"x": {"a": 0.0}, "y": {"a": pytest.approx(1.0)}}


@pytest.mark.parametrize(
    ("question", "program", "given", "said"),
    [
        ("minimize", "(x - a) ** 4", {"x": 1.0, "a": 2.0}, "singular"),
        ("minimize", "(x - a) ** 2", {"x": 1.0, "a": 2.0}, "zero: it may leave it"),
        ("root", "(x - a) ** 2", {"x": 1.0, "a": 2.0}, "singular"),
    ],
)
def test_a_movement_that_cannot_be_told(question, program, given, said):
    more = {"bounds": {"x": (0, 2)}} if "leave" in said else {}
    found = getattr(gradcli.load(program), question)(given, wrt="x", sensitivity=["a"], **more)
    assert found.sensitivity == {"x": {"a": None}}
    assert any(said in w.message for w in found.warnings)


# ends ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "start", "said"),
    [
        ("x", 1.0, "unbounded below"),
        ("-x ** 2", 1.0, "unbounded below"),
        ("log(x)", 1.0, "unbounded below"),
        ("log(x) * nan", 1.0, "the start is not finite"),
        ("x ** 3", 1.0, "unbounded below: the value falls to -"),
        ("x ** 3", 0.0, "unbounded below"),
        ("x ** 5 + 2", -0.0, "unbounded below"),
        ("-x ** 4", 0.0, "unbounded below"),
    ],
)
def test_a_search_that_fails_says_why(program, start, said):
    found = gradcli.load(program).minimize(x=start)
    assert not found.converged
    assert found.right is False
    assert said in found.reason
    assert found.kind is None
    assert found.warnings[-1].code == "not-found"


def test_a_search_without_end_names_the_ways():
    found = gradcli.load("param x = 1.0\nparam y = 0.0\nx * x - x * y").minimize()
    assert found.kind is None
    ways = {name: "grows" if value > 0 else "falls" for name, value in found.values.items()}
    assert found.reason.endswith(f"as x {ways['x']} and y {ways['y']}")


def test_a_gradient_of_zero_has_no_sign():
    found = gradcli.load("param p = 3.0\nparam q = 3.0\n-(p - 1) ** 2 - (2 - q) ** 2").minimize(
        maximize=True
    )
    assert str(found.gradient) == "{'p': 0.0, 'q': 0.0}"


@pytest.mark.parametrize(
    ("program", "start", "value", "kind"),
    [
        ("x ** 4", 1.0, 0.0, "flat"),
        ("x ** 4", 0.0, 0.0, "flat"),
        ("x ** 2", 0.0, 0.0, "minimum"),
        ("x ** 3 + x ** 4", 0.0, -27 / 256, "minimum"),
        ("x ** 4 / 4 - x ** 3 / 3", 1e-3, -1 / 12, "minimum"),
        ("(x - 1) ** 3 * (x - 3)", 0.9, -27 / 16, "minimum"),
        ("x * 0 + 2", 5.0, 2.0, "flat"),
    ],
)
def test_a_flat_point_is_left_where_the_value_falls(program, start, value, kind):
    found = gradcli.load(program).minimize(x=start)
    assert (found.converged, found.kind) == (True, kind), found.reason
    assert found.value == pytest.approx(value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "of", "asked"),
    [
        ("minimize", "minimum", {}),
        ("root", "zero", {}),
        ("root", "zero", {"between": (0.5, 3.0)}),
    ],
)
@pytest.mark.parametrize("at", [2, 4])
def test_an_interrupt_tells_the_best_point(name, of, asked, at, monkeypatch):
    from gradcli.questions.solving import minimize, root

    module, taken = {"minimize": minimize, "root": root}[name], []
    ask = module._Function.__call__

    def stopped(self, point):
        taken.append(point)
        if len(taken) == at + ("between" in asked or name == "root"):
            raise KeyboardInterrupt
        return ask(self, point)

    monkeypatch.setattr(module._Function, "__call__", stopped)
    found = getattr(gradcli.load("x ** 4 - 2 * x"), name)(x=3.0, **asked)
    assert (found.converged, found.reason) == (False, "interrupted")
    assert abs(found.values["x"]) <= 3.0


@pytest.mark.parametrize("number", [0, 3])
def test_an_interrupt_between_two_starts_tells_the_best_of_those_tried(number):
    def progress(done, every):
        if done == number:
            raise KeyboardInterrupt

    asked = {"starts": 20, "options": Options(seed=1, progress=progress)}
    if not number:
        with pytest.raises(KeyboardInterrupt):
            gradcli.load("(x - 1) ** 2").minimize({"x": 3.0}, **asked)
        return
    found = gradcli.load("(x - 1) ** 2").minimize({"x": 3.0}, **asked)
    assert (found.converged, found.reason, found.starts) == (False, "interrupted", (3, 3))
    assert found.values == {"x": 1.0}


def test_the_largest_value():
    found = gradcli.load("3 - (x - 1) ** 2").minimize(x=4.0, maximize=True)
    assert (found.value, found.values["x"], found.kind) == (3.0, pytest.approx(1.0), "maximum")
    assert found.hessian == {"x": {"x": -2.0}}
    lost = gradcli.load("x").minimize(x=1.0, maximize=True)
    assert "unbounded above: the value rises to" in lost.reason


def test_a_saddle_is_left():
    found = gradcli.load("x ** 2 + (y ** 2 - 1) ** 2").minimize(x=1.0, y=0.0)
    assert (found.kind, abs(found.values["y"])) == ("minimum", pytest.approx(1.0))


def test_sizes_do_not_matter():
    program = gradcli.load("1e-20 * ((a / 1e-12 - 3) ** 2 + (b / 1e6 - 2) ** 2 * (a / 1e-12))")
    found = program.minimize(a=1e-12, b=1e6)
    assert found.converged
    assert found.values == {"a": pytest.approx(3e-12), "b": pytest.approx(2e6)}


def test_many_unknowns():
    """More than the trust region has the Hessian of."""
    found = gradcli.load("sum((x - arange(80.0)) ** 2 * (1 + arange(80.0)))").minimize(x=[0.0] * 80)
    assert found.converged
    assert found.kind == "minimum"
    assert found.values["x"] == pytest.approx(list(range(80)), abs=1e-5)


def test_several_starts():
    text = "cos(x) * exp(-x * x / 50) + x / 100"
    options = Options(seed=1)
    found = gradcli.load(text).minimize(x=9.0, starts=8, options=options)
    assert found.values["x"] == pytest.approx(-3.03, abs=0.02)
    assert found.starts[1] == 8
    assert found == gradcli.load(text).minimize(x=9.0, starts=8, options=options)


def test_declared_bounds_hold():
    found = gradcli.load("param k: float in [1, 10] = 2\n(k - 0.5) ** 2").minimize()
    assert (found.values["k"], found.at_bounds, found.kind) == (1.0, ("k",), "minimum")
    assert "within the bounds" in found.reason


def test_a_bracket():
    found = gradcli.load("cos(x) - x").root(x=0.0, between=(0.0, 2.0))
    assert found.values["x"] == pytest.approx(0.7390851332151607, rel=1e-14)
    assert found.gradient == {"x": pytest.approx(-1.6736120291832148)}
    for given, asked in (({}, {}), ({}, {"wrt": "x"}), ({"a": 2.0}, {})):
        program = gradcli.load("x ** 2 - 2" if not given else "x ** 2 - a")
        of_middle = program.root(given, between=(0.0, 2.0), **asked)
        assert of_middle.values == {"x": pytest.approx(2**0.5, rel=1e-14)}, (given, asked)
    with pytest.raises(InputError, match="have no values"):
        gradcli.load("x ** 2 - a").root(between=(0.0, 2.0))
    none = gradcli.load("x ** 2 + 1").root(x=0.0, between=(0.0, 2.0))
    assert none.reason.startswith("no bracket: the result is 1 at x=0 and 5 at x=2")
    pole = gradcli.load("1 / x").root(x=1.0, between=(-1.0, 2.0))
    assert "jumps across zero" in pole.reason


def test_a_root_that_is_not_there():
    found = gradcli.load("x ** 2 + 1").root(x=1.0)
    assert not found.converged
    assert "the least residual is 1" in found.reason
    outside = gradcli.load("log(x) + 100").root(x=1.0, sensitivity=["all"])
    assert outside.converged
    assert outside.values["x"] == pytest.approx(exp(-100.0))


@pytest.mark.parametrize(
    ("question", "program", "asked", "said"),
    [
        ("minimize", "[x, y]", {}, "one number is made least"),
        ("minimize", "x * y", {"sensitivity": ["x"]}, "which is looked for"),
        ("minimize", "x * y", {"sensitivity": ["q"]}, "no input of the program"),
        ("minimize", "x * y", {"bounds": {"q": (0, 1)}}, "is no parameter"),
        ("minimize", "x * y", {"bounds": {"x": (2, 1)}}, "is not below the upper one"),
        ("minimize", "x * y", {"bounds": {"x": (2, 3)}}, "outside of its bounds"),
        ("minimize", "z = x * y; z + 0.0", {"wrt": "z"}, "is computed by the program"),
        ("root", "x * y", {}, "1 results cannot tell 2 unknowns"),
        ("root", "[x, y]", {"between": (0.0, 1.0)}, "brackets one unknown"),
        ("root", "x * q", {}, "no input `y`"),
    ],
)
def test_what_is_refused(question, program, asked, said):
    with pytest.raises(GradError, match=said):
        getattr(gradcli.load(program), question)({"x": 1.0, "y": 2.0}, **asked)


def test_a_search_goes_around_what_is_nan():
    found = gradcli.load("(x - 3) ** 2 - 1e-3 * log(x)").minimize(x=0.01)
    assert found.converged
    lost = gradcli.load("where(x > 2, x / 0 * 0, -x)").minimize(x=1.0)
    assert not lost.converged
    assert "the value is nan at x=" in lost.reason


def test_half_of_a_circle():
    """Two unknowns by two named results, and their movement."""
    program = gradcli.load("f = x ** 2 + y ** 2 - r ** 2\ng = y - m * x\ng")
    found = program.root(
        x=1.0, y=1.0, r=2.0, m=1.0, wrt=["x", "y"], of=["f", "g"], sensitivity=["r"]
    )
    assert found.values == {"x": pytest.approx(sqrt(2.0)), "y": pytest.approx(sqrt(2.0))}
    assert found.sensitivity["x"]["r"] == pytest.approx(1 / sqrt(2.0))
    assert set(found.value) == {"f", "g"}


def test_entropy():
    """A minimum within bounds that are not met."""
    found = gradcli.load("sum(p * log(p))").minimize(p=[0.3, 0.5], bounds={"p": (1e-9, 1.0)})
    assert found.values["p"] == pytest.approx([1 / exp(1.0)] * 2)
    assert found.value == pytest.approx(-2 / exp(1.0))


def test_pi():
    found = gradcli.load("sin(x)").root(x=3.0)
    assert found.values["x"] == pytest.approx(pi, rel=1e-15)
    assert log(abs(found.evaluations)) < 4
