"""The law of propagation of uncertainty, against the guides' examples and exact moments."""

import itertools
import json
from math import exp, inf, pi, sqrt

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradError, InputError
from gradcli.program import Given, Options, constant, measured_rows
from gradcli.questions.uncertainty import law
from gradcli.questions.uncertainty.joint import Covariance
from gradcli.questions.uncertainty.spreads import Spread
from gradcli.questions.uncertainty.texts import in_sum, uncertain


def one(text, values, uncertainties, **more):
    """The only result of a program."""
    (found,) = gradcli.load(text).propagate(values, uncertainties=uncertainties, **more).results
    return found


def finite(width, dof):
    return Spread(width, dof, "normal", inf)


# the law ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values", "uncertainties", "correlations", "first", "second"),
    [
        ("exp(x)", {"x": 0.0}, {"x": 0.3}, {}, 0.3, 0.3196),
        ("1 / x", {"x": 1.0}, {"x": 0.2}, {}, 0.2, 0.2298),
        ("x * y", {"x": 1.0, "y": 1.0}, {"x": 0.3, "y": 0.3}, {("x", "y"): 0.8}, 0.5692, 0.5808),
        ("x ** 2", {"x": 0.0}, {"x": 0.3}, {}, 0.0, sqrt(2) * 0.09),
        ("x - y", {"x": 1.0, "y": 1.0}, {"x": 0.3, "y": 0.3}, {("x", "y"): 1.0}, 0.0, 0.0),
    ],
)
def test_both_orders(text, values, uncertainties, correlations, first, second):
    found = one(text, values, uncertainties, correlations=correlations)
    assert found.first_order == pytest.approx(first, abs=5e-5)
    assert found.second_order == pytest.approx(second, abs=5e-5)
    assert found.uncertainty == found.second_order


H1 = "l_s + d - l_s * (da * theta + alpha * dtheta)"
H1_VALUES = {"l_s": 50000623.0, "d": 215.0, "da": 0.0, "theta": -0.1, "alpha": 11.5e-6, "dtheta": 0}
H1_WIDTHS = {
    "l_s": finite(25.0, 18),
    "d": finite(9.7, 25.6),
    "da": finite(0.58e-6, 50),
    "theta": 0.41,
    "alpha": 1.2e-6,
    "dtheta": finite(0.029, 2),
}


def test_end_gauge():
    """JCGM 100:2008, H.1: 50.000 838 mm, 32 nm; with terms of second order 34 nm."""
    found = one(H1, H1_VALUES, H1_WIDTHS, coverage=0.99)
    assert found.value == 50000838.0
    assert found.first_order == pytest.approx(31.7, abs=0.05)
    assert found.second_order == pytest.approx(33.9, abs=0.05)
    assert found.dof == pytest.approx(16.7, abs=0.1)
    assert [share.name for share in found.budget[:2]] == ["l_s", "dtheta"]
    assert sum(share.share for share in found.budget) == pytest.approx(1.0, abs=1e-12)


H2 = "R = V / I * cos(phi)\nX = V / I * sin(phi)\nZ = V / I\nZ"
H2_VALUES = {"V": 4.9990, "I": 19.6610e-3, "phi": 1.04446}
H2_DATA = [
    (5.007, 4.994, 5.005, 4.990, 4.999),
    (19.663e-3, 19.639e-3, 19.640e-3, 19.685e-3, 19.678e-3),
    (1.0456, 1.0438, 1.0468, 1.0428, 1.0433),
]


def test_impedance():
    """JCGM 100:2008, H.2, tables H.2 to H.4, from the five observations."""
    matrix = (np.cov(H2_DATA) / 5).tolist()
    numbers = {
        a: dict(zip(H2_VALUES, row, strict=True)) for a, row in zip(H2_VALUES, matrix, strict=True)
    }
    asked = gradcli.load(H2).propagate(
        H2_VALUES, covariance=[Covariance(numbers, 4.0, "data")], of=["R", "X", "Z"]
    )
    values = {found.name: (found.value, found.uncertainty, found.dof) for found in asked.results}
    expected = {"R": (127.732, 0.071), "X": (219.847, 0.295), "Z": (254.260, 0.236)}
    for name, (value, uncertainty) in expected.items():
        assert values[name] == pytest.approx((value, uncertainty, 4.0), abs=6e-4)
    covariance = asked.covariance
    between = {
        pair: covariance[pair[0]][pair[1]]
        / sqrt(covariance[pair[0]][pair[0]] * covariance[pair[1]][pair[1]])
        for pair in (("R", "X"), ("R", "Z"), ("X", "Z"))
    }
    guide = {("R", "X"): -0.588, ("R", "Z"): -0.485, ("X", "Z"): 0.993}
    assert between == {pair: pytest.approx(r, abs=6e-4) for pair, r in guide.items()}


def test_impedance_by_correlations():
    """The same from the rounded correlations of table H.2."""
    found = gradcli.load(H2).propagate(
        H2_VALUES,
        uncertainties={"V": 0.0032, "I": 0.0095e-3, "phi": 0.00075},
        correlations={("V", "I"): -0.36, ("V", "phi"): 0.86, ("I", "phi"): -0.65},
        of=["R", "X"],
    )
    both = [(each.value, each.uncertainty) for each in found.results]
    assert both == [pytest.approx(x, abs=6e-4) for x in ((127.732, 0.070), (219.847, 0.296))]
    shares = [share.share for share in found.results[0].budget]
    assert sum(shares) == pytest.approx(1.0)
    assert max(shares) > 1.0
    assert min(shares) < 0.0


PROGRAMS = {
    "x * y + x ** 2": lambda x, y: x * y + x**2,
    "exp(x / 2) * y": lambda x, y: np.exp(x / 2) * y,
    "sin(x) / y": lambda x, y: np.sin(x) / y,
    "log(x + y) * x": lambda x, y: np.log(x + y) * x,
}


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("r", [0.0, 0.6, -0.9])
def test_the_second_order_is_the_expansion_of_the_moments(text, r):
    """What it leaves out of mean and variance falls with the fourth and sixth power of u."""

    def left(u):
        found = one(
            text, {"x": 1.2, "y": 2.0}, {"x": u, "y": 1.5 * u}, correlations={("x", "y"): r}
        )
        mean, variance = moments(PROGRAMS[text], u, 1.5 * u, r)
        off = abs(found.value + found.shift - mean), abs(found.second_order**2 - variance)
        return off, abs(found.first_order**2 - variance)

    (mean, variance), first = left(0.08)
    (fine_mean, fine_variance), fine_first = left(0.04)
    for coarse, fine, power in ((mean, fine_mean, 4), (variance, fine_variance, 6)):
        if coarse > 1e-13:
            assert coarse / fine == pytest.approx(2**power, rel=0.25)
    if first > 1e-13:
        assert first / fine_first == pytest.approx(2**4, rel=0.25)


def moments(function, u, v, r):
    """Mean and variance for normal inputs, by Gauss and Hermite's quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    weights = weights / weights.sum()
    a, b = np.meshgrid(nodes, nodes)
    values = function(1.2 + u * a, 2.0 + v * (r * a + sqrt(1 - r * r) * b))
    both = np.outer(weights, weights)
    mean = (both * values).sum()
    return mean, (both * (values - mean) ** 2).sum()


@pytest.mark.parametrize("correlated", [False, True])
def test_blocks_of_the_matrix_give_the_same_as_directions(correlated, monkeypatch):
    text = "y = exp(x * 0.3)\nsum(y * y) / (1 + z) + x[0] * x[2] ** 2"
    values = {"x": [0.5, 1.0, 1.5, -1.0], "z": 0.7}
    asked = {"uncertainties": {"x": [0.1, 0.2, 0.0, 0.3], "z": 0.05}}
    if correlated:
        asked["correlations"] = {("x[0]", "z"): 0.5, ("x[1]", "x[3]"): -0.3}
    few = gradcli.load(text).propagate(values, **asked).results[0]
    monkeypatch.setattr(law, "FEW", 0)
    many = gradcli.load(text).propagate(values, **asked).results[0]
    for name in ("value", "first_order", "second_order", "shift"):
        assert getattr(many, name) == pytest.approx(getattr(few, name), rel=1e-12), name
    assert [s.name for s in few.budget] == [s.name for s in many.budget]
    for a, b in zip(few.budget, many.budget, strict=True):
        assert (a.sensitivity, a.share) == (b.sensitivity, pytest.approx(b.share, abs=1e-12))


def test_a_thousand_inputs():
    """A sum of squares of normal numbers: the second order is exact."""
    x = np.linspace(-1, 1, 1000)
    found = one("sum(x * x)", {"x": x}, {"x": 0.1})
    assert found.second_order**2 == pytest.approx((4 * x**2 * 0.01).sum() + 2 * 1000 * 1e-4)
    assert found.shift == pytest.approx(10.0)


def test_results_that_are_tensors_are_told_element_by_element():
    found = gradcli.load("stack([x * y, x + y])").propagate(
        {"x": 2.0, "y": 3.0}, uncertainties={"x": 0.1, "y": 0.2}
    )
    assert [each.name for each in found.results] == ["result[0]", "result[1]"]
    assert found.covariance["result[0]"]["result[1]"] == pytest.approx(3 * 0.01 + 2 * 0.04)
    assert not found.single


def test_a_negative_variance_is_no_answer():
    found = gradcli.load("sin(x)").propagate({"x": 0.0}, uncertainties={"x": 1.2})
    (result,) = found.results
    assert result.second_order is None
    assert result.uncertainty == result.first_order == pytest.approx(1.2)
    assert "negative at second order" in found.warnings[0].message


@pytest.mark.parametrize(
    ("text", "said"),
    [("exp(x)", "differ by 6.5 %"), ("x ** 2", "zero at first order"), ("1 + x", None)],
)
def test_what_is_not_linear_is_said(text, said):
    found = gradcli.load(text).propagate({"x": 0.0}, uncertainties={"x": 0.3})
    messages = [w.message for w in found.warnings]
    assert (said is None) == (not messages)
    assert found.results[0].linear == (said is None)
    if said:
        assert said in messages[0]


# degrees of freedom and shapes --------------------------------------------------------------------


def test_degrees_of_freedom_are_combined():
    found = one("x + y", {"x": 1.0, "y": 1.0}, {"x": finite(0.3, 4), "y": finite(0.4, 9)})
    assert found.dof == pytest.approx(0.25**2 / (0.3**4 / 4 + 0.4**4 / 9))
    twice = one("x + y", {"x": 1.0, "y": 2.0}, {"x": finite(0.1, 4), "y": finite(0.1, 4)})
    assert twice.dof == 8.0
    assert one("x", {"x": 1.0}, {"x": 0.3}).dof is None


def test_a_fitted_covariance_is_one_part():
    numbers = {"a": {"a": 0.04, "b": 0.01}, "b": {"a": 0.01, "b": 0.09}}
    found = gradcli.load("a + b + x").propagate(
        {"a": 1.0, "b": 2.0, "x": 3.0},
        uncertainties={"x": 0.1},
        covariance=[Covariance(numbers, 7.0, "a fit")],
    )
    (result,) = found.results
    assert result.first_order == pytest.approx(sqrt(0.15 + 0.01))
    assert result.dof == pytest.approx(7.0 * 0.16**2 / 0.15**2)
    assert not found.warnings


def test_degrees_of_freedom_of_what_is_correlated_are_not_combined():
    found = gradcli.load("x + y").propagate(
        {"x": 1.0, "y": 1.0},
        uncertainties={"x": finite(0.3, 4), "y": 0.4},
        correlations={("x", "y"): 0.2},
    )
    assert found.results[0].dof is None
    assert [w.code for w in found.warnings] == ["normal-coverage"]


@pytest.mark.parametrize(
    ("shape", "degrees", "factor"),
    [("uniform", inf, 1 / sqrt(3)), ("triangular", inf, 1 / sqrt(6)), ("t", 9.0, sqrt(9 / 7))],
)
def test_shapes_have_their_deviations(shape, degrees, factor):
    found = one("2 * x", {"x": 1.0}, {"x": Spread(0.5, inf, shape, degrees)})
    assert found.uncertainty == pytest.approx(factor)
    assert (found.budget[0].width, found.budget[0].distribution) == (0.5, shape)


def test_another_shape_takes_the_first_order():
    spread = Spread(0.5, inf, "uniform", inf)
    found = gradcli.load("exp(x)").propagate({"x": 0.0}, uncertainties={"x": spread})
    assert found.results[0].uncertainty == found.results[0].first_order
    assert any("`x` is uniform" in note for note in found.warnings[0].notes)


# texts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "width", "percent"),
    [
        ("5.0+/-0.1", "5.0", "0.1", False),
        (" -5.0 ± 1e-3 ", "-5.0", "1e-3", False),
        ("5.0+/-2%", "5.0", "2", True),
        ("5.00(12)", "5.00", "12e-2", False),
        ("12.3(1.2)", "12.3", "1.2e0", False),
        ("100(3)", "100", "3e0", False),
        ("5.00(12)e-3", "5.00e-3", "12e-5", False),
        ("(5.0+/-0.1)e3", "5.0e3", "0.1e3", False),
        ("pi / 4+/-0.01", "pi / 4", "0.01", False),
        ("[1, 2]+/-[0.1, 0.2]", "[1, 2]", "[0.1, 0.2]", False),
        ("[1+/-0.1, 2.0(3), 3]", "[1, 2.0, 3]", "[0.1, 3e-1, 0.0]", False),
    ],
)
def test_values_with_an_uncertainty_are_read(text, value, width, percent):
    found = uncertain(text)
    assert (found.value, found.width, found.percent) == (value, width, percent)


def test_what_follows_a_value_is_read():
    assert uncertain("5+/-1:dof=9").dof == 9.0
    assert uncertain("5+/-1:uniform").shape == "uniform"
    found = uncertain("5+/-1:t(9):dof=4")
    assert (found.shape, found.degrees, found.dof) == ("t", 9.0, 4.0)


@pytest.mark.parametrize("text", ["5", "(3)", "sin(3)", "-(2) * 3", "x", "[1, 2]", "5.0+-0.1"])
def test_other_values_have_none(text):
    assert uncertain(text) is None


def test_a_sum_is_a_value_with_an_uncertainty_here():
    assert (in_sum("5.0+-0.1").value, in_sum("5.0 + -2%").percent) == ("5.0", True)
    assert in_sum("5.0+-0.1*2") is None


# covariances --------------------------------------------------------------------------------------

TRIPLE = {("x", "y"): 0.9, ("y", "z"): 0.9, ("x", "z"): -0.9}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"correlations": {("x", "y"): 1.5}}, "is 1.5, not from -1 to 1"),
        ({"correlations": {("x", "q"): 0.5}}, "`q` in a correlation has no uncertainty"),
        ({"correlations": {("x", "x"): 0.5}}, "correlated with itself"),
        ({"correlations": TRIPLE}, "contradict each other"),
        ({"covariance": {"x": {"x": -1.0}}}, "the variance of `x`"),
        ({"covariance": {"x": {"x": float("nan")}}}, "the variance of `x`"),
        ({"covariance": {"x": {"x": 1.0, "y": 2.0}, "y": {"x": 2.0, "y": 1.0}}}, "contradict"),
        ({"covariance": {"x": {"x": 1.0, "y": 0.2}, "y": {"x": 0.1, "y": 1.0}}}, "two covariances"),
        ({"covariance": {"q": {"q": 1.0}}}, "no input of the program"),
        ({"uncertainties": {"x": -0.1}}, "a finite number of at least 0"),
        ({"uncertainties": {"x": inf}}, "a finite number of at least 0"),
        ({"uncertainties": {"x": [0.1, 0.2, 0.3]}}, "1 numbers and 3 uncertainties"),
        ({"uncertainties": {}}, "no input has an uncertainty"),
        ({"coverage": 1.0}, "a coverage is between 0 and 1"),
    ],
)
def test_what_no_numbers_can_have_is_refused(asked, said):
    asked = {"uncertainties": {"x": 0.1, "y": 0.1, "z": 0.1}, **asked}
    with pytest.raises(GradError, match=said.replace("`", ".").replace("[", ".")):
        gradcli.load("x * y * z").propagate({"x": 1.0, "y": 1.0, "z": 1.0}, **asked)


def test_rounded_correlations_are_taken():
    pairs = {("x", "y"): 0.707, ("y", "z"): 0.707, ("x", "z"): 0.0}
    found = one(
        "x - 1.414 * y + z",
        dict.fromkeys("xyz", 1.0),
        dict.fromkeys("xyz", 0.1),
        correlations=pairs,
    )
    assert 0.0 <= found.first_order < 0.01


# Monte Carlo --------------------------------------------------------------------------------------


def simulated(text, values, uncertainties, *, draws=20_000, seed=1, **more):
    return gradcli.load(text).propagate(
        values, uncertainties=uncertainties, draws=draws, options=Options(seed=seed), **more
    )


def test_a_simulation_agrees_with_exact_moments():
    found = simulated("exp(x)", {"x": 0.0}, {"x": 0.3}, draws=200_000).results[0].monte_carlo
    mean, deviation = exp(0.045), sqrt(exp(0.09) * (exp(0.09) - 1))
    assert abs(found.mean - mean) < 4 * found.mean_error < 0.01
    assert abs(found.deviation - deviation) < 4 * found.deviation_error < 0.01
    low, high = exp(-1.959964 * 0.3), exp(1.959964 * 0.3)
    for end, error, true in zip(found.symmetric, found.symmetric_error, (low, high), strict=True):
        assert abs(end - true) < 4 * error < 0.05
    assert found.shortest[1] - found.shortest[0] < found.symmetric[1] - found.symmetric[0]
    assert not found.agrees


def test_a_simulation_repeats_itself():
    first, second, other = (
        simulated("x * y", {"x": 1.0, "y": 2.0}, {"x": 0.1, "y": 0.1}, seed=seed).results[0]
        for seed in (7, 7, 8)
    )
    assert first == second
    assert first.monte_carlo.agrees
    assert first.monte_carlo.mean != other.monte_carlo.mean


def test_code_and_interpreter_simulate_the_same():
    by = [
        gradcli.load("log(x) * y[1]").propagate(
            {"x": 2.0, "y": [1.0, 2.0]},
            uncertainties={"x": 0.1, "y": 0.2},
            draws=200,
            options=Options(seed=3, compile=when),
        )
        for when in ("auto", "never")
    ]
    assert by[0].to_dict() == by[1].to_dict()


def test_draws_outside_of_the_domain_are_counted():
    found = simulated("sqrt(x)", {"x": 0.5}, {"x": 0.3}, draws=2000, strict=True)
    simulation = found.results[0].monte_carlo
    assert 50 < simulation.outside < 150
    assert not simulation.agrees
    assert found.right is False
    assert any("give no number" in note for w in found.warnings for note in w.notes)


@pytest.mark.parametrize(
    ("spread", "deviation"),
    [
        (Spread(0.5, inf, "uniform", inf), 0.5 / sqrt(3)),
        (Spread(0.5, inf, "triangular", inf), 0.5 / sqrt(6)),
        (Spread(0.5, inf, "t", 9.0), 0.5 * sqrt(9 / 7)),
        (finite(0.5, 9.0), 0.5 * sqrt(9 / 7)),
    ],
)
def test_shapes_are_drawn(spread, deviation):
    found = simulated("x", {"x": 1.0}, {"x": spread}).results[0].monte_carlo
    assert abs(found.deviation - deviation) < 5 * found.deviation_error
    assert abs(found.mean - 1.0) < 5 * found.mean_error


def test_correlated_inputs_are_drawn_together():
    pairs = {("x", "y"): 0.8}
    found = simulated("x - y", {"x": 1.0, "y": 1.0}, {"x": 0.3, "y": 0.3}, correlations=pairs)
    simulation = found.results[0].monte_carlo
    assert abs(simulation.deviation - 0.3 * sqrt(0.4)) < 5 * simulation.deviation_error


def test_correlated_inputs_of_other_shapes_cannot_be_drawn():
    with pytest.raises(InputError, match="it cannot be drawn"):
        simulated(
            "x - y",
            {"x": 1.0, "y": 1.0},
            {"x": Spread(0.3, inf, "uniform", inf), "y": 0.3},
            correlations={("x", "y"): 0.8},
        )


# rows ---------------------------------------------------------------------------------------------

ROWS = [
    *("x * y / z", "exp(x * y) * sin(z)", "log(x) + y ** z", "sqrt(x * x + y * y) * z"),
    "a = 0.0\nfor i in range(4): a = a * x + y\na / z",
    "if x > y: r = x * z\nelse: r = y * z ** 2\nr",
    "x + 2 * y - z",
]


CORRELATED = [(), ("--correlation", "x,y=0.5", "--correlation", "y,z=-0.6")]


@pytest.mark.parametrize(
    ("text", "options"), [(text, CORRELATED[k % 2]) for k, text in enumerate(ROWS)]
)
def test_code_gives_the_bits_of_the_interpreter(text, options, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(len(text))
    rows = np.column_stack([random.uniform(0.5, 3, (20, 3)), random.uniform(0, 0.2, (20, 2))])
    lines = ["x,y,z,ex,ey", *(",".join(map(repr, row)) for row in rows.tolist())]
    (tmp_path / "r.csv").write_text("\n".join(lines))
    asked = [
        "propagate",
        "-e",
        text,
        "--rows",
        "r.csv",
        "--uncertainty",
        "x=ex,y=ey,z=3%",
        *options,
    ]
    by = [cli(*asked, "-f", "ndjson", "--compile", when, "-q") for when in ("always", "never")]
    assert by[0][:2] == by[1][:2]
    assert by[0][0] == 0
    single = cli("propagate", "-e", text, *given(rows[3]), *options, "--json", "-q")[1]
    row = json.loads(by[0][1].splitlines()[3])
    assert cli(*asked, "-f", "csv", "--compile", "always", "-q")[1].count("\n") == 21
    whole = json.loads(single)
    for name in (
        "value",
        "uncertainty",
        "first_order",
        "second_order",
        "shift",
        "linear",
        "interval",
    ):
        assert row[name] == whole[name], name
    assert row["budget"] == {name: whole["budget"][name] for name in row["budget"]}


@pytest.mark.parametrize("text", ROWS)
def test_a_single_answer_by_code_is_the_interpreter_s(text):
    values, widths = {"x": 1.3, "y": 0.8, "z": 2.1}, {"x": 0.1, "y": 0.2, "z": 0.3}
    by = [
        gradcli.load(text).propagate(
            values,
            uncertainties=widths,
            correlations={("x", "z"): 0.4},
            options=Options(compile=when),
        )
        for when in ("always", "never")
    ]
    assert by[0].to_dict() == by[1].to_dict()


def given(row):
    x, y, z, ex, ey = row.tolist()
    return [f"x={x!r}+/-{ex!r}", f"y={y!r}+/-{ey!r}", f"z={z!r}+/-3%"]


@pytest.mark.parametrize("program", ["x * y", "x ** 2"])
def test_other_shapes_and_unused_inputs_in_rows(program, cli):
    text = "x,e\n" + "".join(f"{k + 1},{0.1 / (k + 1)}\n" for k in range(20))
    asked = ["propagate", program, "--rows", "-", "--uncertainty", "x=e:uniform", "-f", "ndjson"]
    asked += ["y=2+/-0.1"] if "y" in program else []
    by = [cli(*asked, "--compile", when, stdin=text) for when in ("always", "never")]
    assert by[0] == by[1]
    last = json.loads(by[0][1].splitlines()[-1])
    assert last["budget"]["x"]["uncertainty"] == pytest.approx(0.005 / sqrt(3))


def test_an_input_that_a_row_does_not_use(cli):
    asked = ["propagate", "-e", "input x = 1.0; input y = 2.0; x * 2", "--rows", "-"]
    asked += ["--uncertainty", "x=0.1,y=0.1", "-f", "ndjson"]
    by = [cli(*asked, "--compile", w, stdin="x,y\n1,2\n2,3\n") for w in ("always", "never")]
    assert by[0] == by[1]
    assert "unused-input" in by[0][2]


def test_rows_are_answered_by_code():
    rows = measured_rows(gradcli.load("x * y"), {}, {"x": "e", "y": "2%"}, {}, [], 0.95)
    sample = {"x": 2.0, "y": 3.0, "e": 0.1}
    many = rows.many("propagation", sample, options=Options(compile="always"))
    columns = {"x": np.array([2.0, 2.0]), "y": np.array([3.0, 4.0]), "e": np.array([0.1, -0.1])}
    results, left = many.arrays(columns)
    alone = rows.propagation(
        {name: Given(value, name) for name, value in sample.items()},
        options=Options(compile="never"),
    )
    assert left == [1]
    assert results[1][0] == alone.results[0].uncertainty


SEVEN = [f"x{k}" for k in range(1, 8)]
FREE = {
    "several": ("x * y + z", ("x=e:dof=4", "y=2%:dof=9", "z=0.1"), ()),
    "correlated": ("x * y + z", ("x=e", "y=2%", "z=0.1:dof=3"), ("--correlation", "x,y=0.5")),
    "not combined": ("x * y + z", ("x=e:dof=4", "y=2%"), ("--correlation", "x,y=0.5")),
    "many inputs": (" + ".join(f"{a} * {b}" for a, b in itertools.pairwise(SEVEN)),
        [f"{x}=1%:dof={k + 2}" for k, x in enumerate(SEVEN)], ()),
}  # fmt: skip


@pytest.mark.parametrize("form", ["ndjson", "csv"])
@pytest.mark.parametrize("kind", FREE)
def test_degrees_of_freedom_have_the_interpreters_bits(kind, form, cli):
    text, widths, more = FREE[kind]
    names = sorted({*SEVEN} & {*text.split()}) or ["x", "y", "z", "e"]
    random = np.random.default_rng(3).uniform(0.5, 3, (25, len(names)))
    random[0] = 0.0  # without an uncertainty there are no degrees of freedom
    table = "\n".join([",".join(names), *(",".join(map(repr, row)) for row in random.tolist())])
    asked = ["propagate", text, "--rows", "-", "--uncertainty", ",".join(widths), *more]
    by = [cli(*asked, "-f", form, "--compile", w, "-q", stdin=table) for w in ("always", "never")]
    assert by[0] == by[1]
    assert by[0][0] == 0
    if form == "ndjson" and kind != "not combined":
        dofs = [json.loads(line)["dof"] for line in by[0][1].splitlines()]
        assert len({*dofs}) > 5


def test_code_of_one_shape_does_not_answer_for_another():
    program, always = gradcli.load("x * y"), Options(compile="always")
    for shape, factor in (("uniform", 3), ("triangular", 6)):
        for width in (0.1, 0.2):
            given = {"x": constant(f"5+/-{width}:{shape}:dof=7", "x", "x=")}
            found = program.propagate(given, y=2.0, options=always)
            (share,) = found.results[0].budget
            assert (share.width, share.distribution, share.dof) == (width, shape, 7.0)
            assert share.uncertainty == pytest.approx(width / sqrt(factor))


@pytest.mark.parametrize(
    ("program", "options", "why"),
    [
        ("stack([x, x])", ("--uncertainty", "x=0.1"), "the result is no float, nor a list"),
        ("x * sum(y)", ("--uncertainty", "x=0.1", "y=[1, 2]+/-0.1"), "many uncertain numbers"),
    ],
)
def test_what_is_no_code_in_rows(program, options, why, cli):
    asked = ("propagate", program, "--rows", "-", *options, "--compile")
    status, _, err = cli(*asked, "always", stdin="x\n1\n2\n")
    assert (status, "not-compilable" in err, why in err) == (3, True, True), err
    assert cli(*asked, "auto", stdin="x\n1\n2\n")[0] == 0


@pytest.mark.parametrize("when", ["auto", "never"])
def test_rows_have_several_results_tensors_and_simulations(when, cli):
    text = "R = V / I\nP = V * I\nP"
    table = "V,I\n5,0.2\n6,0.3\n7,0.5\n"
    row = ("--uncertainty", "V=0.1,I=2%", "--compile", when, "-q")
    several = ("propagate", "-e", text, "--of", "R,P")
    tensor = ("propagate", "-e", "stack([V / I, V * I])")
    for asked in (several, tensor, (*several, "--monte-carlo", "1000", "--seed", "3")):
        found = cli(*asked, *row, "--rows", "-", "-f", "ndjson", stdin=table)
        assert found[0] == 0, found
        lines = [json.loads(line) for line in found[1].splitlines()]
        alone = json.loads(cli(*asked, "V=5+/-0.1", "I=0.2+/-2%", "--json", "-q")[1])
        for field in ("value", "uncertainty", "interval", "dof", "covariance"):
            assert lines[0][field] == alone[field], field
        assert lines[0].get("monte_carlo") == (alone["monte_carlo"] if "--seed" in asked else None)
        assert [line["row"] for line in lines] == [0, 1, 2]
        head, *records = cli(*asked, *row, "--rows", "-", stdin=table)[1].splitlines()
        cells = dict(zip(head.split(","), records[1].split(","), strict=True))
        one, other = lines[1]["value"]
        assert float(cells[one]) == lines[1]["value"][one]
        assert float(cells[f"{one}.uncertainty"]) == lines[1]["uncertainty"][one]
        assert float(cells[f"covariance.{one}.{other}"]) == lines[1]["covariance"][one][other]
        if "--seed" in asked:
            means = [line["monte_carlo"]["R"]["mean"] / line["value"]["R"] for line in lines]
            assert len({*means}) == 3  # each row has a stream of its own
            assert float(cells["P.monte_carlo.mean"]) == lines[1]["monte_carlo"]["P"]["mean"]


def test_a_constant_uncertainty_stands_in_all_rows(cli):
    table = "x,y\n" + "".join(f"{k + 1},2\n" for k in range(40))
    asked = ("propagate", "x * y", "--rows", "-", "--uncertainty", "x=0.1,y=0.2", "--compile")
    by = [cli(*asked, when, stdin=table) for when in ("always", "never")]
    assert by[0] == by[1]
    assert by[0][0] == 0


def test_a_strict_simulation_of_rows_is_a_status(cli):
    asked = ("propagate", "x ** 2", "--rows", "-", "--uncertainty", "x=0.3", "-q", "--seed", "1")
    asked += ("--monte-carlo", "2000")
    assert cli(*asked, stdin="x\n0\n9\n")[0] == 0
    assert cli(*asked, "--strict", stdin="x\n0\n9\n")[0] == 1


def test_only_the_first_row_that_is_not_linear_is_said(cli):
    text = "x,e\n" + "".join(f"{0.1 * k},0.4\n" for k in range(40))
    for when in ("always", "never"):
        asked = ("propagate", "exp(x)", "--rows", "-", "--uncertainty", "x=e", "--compile", when)
        status, out, err = cli(*asked, stdin=text)
        assert (status, len(out.splitlines())) == (0, 41)
        assert err.count("warning[not-linear]") == 1
        assert "first in row 0, line 2" in err


def test_pairs_are_all_tried():
    """Two inputs in all combinations of a sign and a size; the sums are those of matrices."""
    for a, b, r in itertools.product((1.0, -2.0), (0.5, 3.0), (0.0, 0.7, -0.7)):
        found = one(
            "a * x + b * y", {"a": a, "b": b, "x": 1.0, "y": 1.0}, {"x": 0.1, "y": 0.2},
            correlations={("x", "y"): r},
        )  # fmt: skip
        variance = (0.1 * a) ** 2 + (0.2 * b) ** 2 + 2 * r * 0.1 * 0.2 * a * b
        assert found.uncertainty**2 == pytest.approx(variance)


def test_a_loop_is_propagated_through():
    text = "y = 1.0\nfor i in range(20): y = y + 0.05 * (-k * y)\ny"
    found = one(text, {"k": 1.0}, {"k": 0.2})
    slope = -20 * 0.05 * (1 - 0.05) ** 19
    assert found.first_order == pytest.approx(0.2 * abs(slope))
    assert found.budget[0].sensitivity == pytest.approx(slope)


def test_a_circle():
    found = one("pi * r ** 2", {"r": 2.0}, {"r": 0.1})
    assert found.second_order**2 == pytest.approx((4 * pi * 0.1) ** 2 + 2 * pi**2 * 0.1**4)
