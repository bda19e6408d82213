"""Errors, intervals and figures of fits, against closed forms, SciPy and simulations."""

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from gradcli.program import Options, fit, load

LINE = load("param a = 1.0\nparam b = 0.0\ninput x: float\na * x + b")
DECAY = load("param a = 2.0\nparam k = 0.5\ninput t: float\na * exp(-k * t)")
X = np.array([0.5, 1.0, 2.0, 3.5, 4.0, 5.5, 7.0, 8.0])
Y = np.array([1.2, 1.9, 4.4, 6.8, 8.3, 11.4, 13.6, 16.5])
W = np.array([1.0, 2.0, 1.0, 0.5, 0.0, 1.0, 3.0, 1.0])
T = np.linspace(0.0, 5.0, 25)


def line(weights):
    """Estimates, covariance of unit variance and the sum of squares of a straight line."""
    design = np.stack([X, np.ones_like(X)], 1)
    inverse = np.linalg.inv(design.T @ (weights[:, None] * design))
    found = inverse @ design.T @ (weights * Y)
    return found, inverse, float(weights @ (Y - design @ found) ** 2)


def errors(found):
    return [e.error for e in found.estimates]


def test_a_straight_line_has_the_errors_of_the_closed_form():
    found = fit(LINE, {"x": X, "y": Y}, observed=["y"])
    wanted, inverse, squares = line(np.ones(8))
    variance = squares / 6
    np.testing.assert_allclose([e.value for e in found.estimates], wanted, rtol=1e-10)
    np.testing.assert_allclose(errors(found), np.sqrt(np.diag(inverse) * variance), rtol=1e-10)
    assert found.covariance["a"]["b"] == pytest.approx(inverse[0, 1] * variance)
    half = scipy.stats.t.ppf(0.975, 6) * errors(found)[0]
    assert found.interval["a"] == pytest.approx([wanted[0] - half, wanted[0] + half])
    assert found.figures["rss"] == pytest.approx(squares)
    assert found.figures["r_squared"] == pytest.approx(np.corrcoef(X, Y)[0, 1] ** 2)
    least = 8 * (math.log(2 * math.pi * squares / 8) + 1)
    assert found.figures["aic"] == pytest.approx(least + 6)
    assert found.figures["bic"] == pytest.approx(least + 3 * math.log(8))
    assert (found.dof, found.records) == (6, 8)


def test_weights_are_those_of_the_closed_form():
    found = fit(LINE, {"x": X, "y": Y, "w": W}, observed=["y"], weights="w")
    wanted, inverse, squares = line(W)
    np.testing.assert_allclose([e.value for e in found.estimates], wanted, rtol=1e-9)
    assert (found.dof, found.records) == (5, 7)  # a weight of zero counts its record out
    np.testing.assert_allclose(errors(found), np.sqrt(np.diag(inverse) * squares / 5), rtol=1e-9)
    used = W > 0
    mean = np.average(Y[used], weights=W[used])
    assert found.figures["r_squared"] == pytest.approx(1 - squares / (W @ (Y - mean) ** 2))


@pytest.mark.parametrize("scaled", [False, True])
def test_known_deviations_are_not_scaled_unless_asked(scaled):
    table = {"x": X, "y": Y, "s": np.full(8, 0.25)}
    found = fit(LINE, table, observed=["y"], sigma="s", scale_errors=scaled)
    _, inverse, squares = line(np.full(8, 16.0))
    factor = squares / 6 if scaled else 1.0
    np.testing.assert_allclose(errors(found), np.sqrt(np.diag(inverse) * factor), rtol=1e-9)
    assert found.figures["chi_squared"] == pytest.approx(squares)
    ratio = scipy.stats.t.ppf(0.975, 6) if scaled else scipy.stats.norm.ppf(0.975)
    low, high = found.interval["a"]
    assert (high - low) / 2 == pytest.approx(ratio * errors(found)[0])
    if not scaled:
        least = squares + 8 * math.log(2 * math.pi) + 16 * math.log(0.25)
        assert found.figures["aic"] == pytest.approx(least + 4)


@pytest.mark.parametrize("loss", ["soft-l1", "huber", "cauchy", "arctan"])
def test_a_robust_loss_has_scipys_minimum(loss):
    y = Y.copy()
    y[2] += 5.0
    found = fit(LINE, {"x": X, "y": y}, observed=["y"], loss=loss, loss_scale=0.4)
    assert found.converged, found.reason
    wanted = scipy.optimize.least_squares(
        lambda b: b[0] * X + b[1] - y,
        [2.0, 0.1],
        loss=loss.replace("-", "_"),
        f_scale=0.4,
        **dict.fromkeys(("xtol", "ftol", "gtol"), 1e-14),
    )
    np.testing.assert_allclose([e.value for e in found.estimates], wanted.x, rtol=1e-4, atol=1e-4)
    assert found.errors_from == "sandwich"


def test_a_likelihood_of_normal_residuals_is_least_squares():
    free = load("param a = 1.0\nparam b = 0.0\ninput x: float\ninput y: float\n(y-a*x-b)**2 / 2")
    found = fit(free, {"x": X, "y": Y}, likelihood=True)
    wanted, inverse, squares = line(np.ones(8))
    np.testing.assert_allclose([e.value for e in found.estimates], wanted, rtol=1e-9)
    np.testing.assert_allclose(errors(found), np.sqrt(np.diag(inverse)), rtol=1e-9)
    assert found.figures["log_likelihood"] == pytest.approx(-squares / 2)
    assert found.dof is None


def test_a_likelihood_of_many_parameters_is_found_without_their_hessian():
    text = "param m: float[60] = zeros(60)\ninput y: float[n]\n(cosh(m - y) + 0.1 * m ** 2).sum()"
    y = np.sin(np.arange(60.0))
    found = fit(load(text), None, {"y": y}, likelihood=True)
    assert found.converged, found.reason
    m = np.array(found.values["m"])
    np.testing.assert_allclose(np.sinh(m - y) + 0.2 * m, 0.0, atol=1e-6)
    np.testing.assert_allclose(found.error["m"], (np.cosh(m - y) + 0.2) ** -0.5, rtol=1e-6)


@pytest.mark.parametrize("bounds", [{}, {"s": (1e-3, 10)}])
def test_a_likelihood_with_a_scale_is_found(bounds):
    text = "param m = 0.0\nparam s = 1.0\ninput y: float\nlog(s) + ((y - m) / s) ** 2 / 2"
    found = fit(load(text), {"y": Y}, likelihood=True, bounds=bounds)
    spread = float(np.std(Y))
    assert found.values == pytest.approx({"m": float(np.mean(Y)), "s": spread})
    assert found.error == pytest.approx({"m": spread / math.sqrt(8), "s": spread / 4.0})


def test_the_exact_hessian_differs_where_the_model_is_curved():
    rng = np.random.default_rng(1)
    table = {"t": T, "y": 2 * np.exp(-0.5 * T) + 0.3 * rng.standard_normal(25)}
    found = fit(DECAY, table, observed=["y"], hessian=True)
    a, k = found.values["a"], found.values["k"]
    e = np.exp(-k * T)
    r = a * e - table["y"]
    jacobian = np.stack([e, -a * T * e], 1)
    bends = np.array([[0 * T, -T * e], [-T * e, a * T**2 * e]])
    half = jacobian.T @ jacobian + bends @ r
    wanted = np.sqrt(np.diag(np.linalg.inv(half)) * (r @ r) / 23)
    np.testing.assert_allclose(errors(found), wanted, rtol=1e-7)


def test_second_derivatives_are_the_same_by_record_by_code_and_by_column():
    rng = np.random.default_rng(1)
    t = np.linspace(0, 5, 100)
    table = {"t": t, "y": 2 * np.exp(-0.5 * t) + 0.3 * rng.standard_normal(100)}
    whole = load("param a = 2.0\nparam k = 0.5\ninput t: float[n]\na * exp(-k * t)")
    found = [
        errors(fit(program, table, observed=["y"], hessian=True, options=Options(compile=how)))
        for program, how in ((DECAY, "never"), (DECAY, "always"), (whole, "auto"))
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-9)


def test_the_exact_hessian_of_mgh09():
    from support.models.nist import problems

    problem = problems()["MGH09"]
    table = dict(zip(problem.columns, np.array(problem.records, float).T, strict=True))
    given = dict(zip(("b1", "b2", "b3", "b4"), problem.starts[1], strict=True))
    declared = "".join(f"param {name} = {x}\n" for name, x in given.items())
    program = load(f"{declared}input x: float\n{problem.formula}")
    by_jacobian, by_hessian = (
        fit(program, table, observed=["y"], hessian=exact).error["b2"] for exact in (False, True)
    )
    assert (round(by_jacobian, 3), round(by_hessian, 3)) == (0.196, 0.155)


def test_a_profile_ends_where_the_sum_of_squares_has_risen():
    rng = np.random.default_rng(2)
    table = {"t": T, "y": 2 * np.exp(-0.5 * T) + 0.2 * rng.standard_normal(25)}
    found = fit(DECAY, table, observed=["y"], profile=True)
    rise = scipy.stats.t.ppf(0.975, 23) ** 2 * found.figures["rss"] / 23
    for k in found.interval["k"]:
        e = np.exp(-k * T)
        a = e @ table["y"] / (e @ e)
        assert np.sum((table["y"] - a * e) ** 2) - found.figures["rss"] == pytest.approx(rise, 1e-4)


def test_a_profile_of_a_likelihood_is_of_its_ratio():
    text = "param m = 1.0\ninput y: float\nm - y * log(m)"
    y = np.array([3.0, 5.0, 4.0, 6.0])
    found = fit(load(text), {"y": y}, likelihood=True, profile=True)
    for m in found.interval["m"]:
        twice = 2 * (4 * (m - 4.5) - 18 * math.log(m / 4.5))
        assert twice == pytest.approx(scipy.stats.norm.ppf(0.975) ** 2, 1e-4)


def test_several_results_share_parameters():
    both = load("param a = 1.0\nparam b = 1.0\ninput x: float\nm1 = a * x\nm2 = a + b * x")
    table = {"x": X, "u": 2 * X, "v": 2 - 3 * X}
    found = fit(both, table, of=["m1", "m2"], observed=["u", "v"])
    assert found.values == pytest.approx({"a": 2.0, "b": -3.0})
    assert found.dof == 14


def test_a_model_takes_the_whole_column():
    text = "param k = 0.5\ninput t: float[n]\ntotal = 0.0\nout = zeros(n)\nfor i in range(n):\n    total = total + k * t[i]\n    out[i] = total\nout"
    found = fit(load(text), {"t": X, "y": 3 * np.cumsum(X)}, observed=["y"])
    assert found.values == pytest.approx({"k": 3.0})


RK4 = """
param k = 0.3
param y0 = 1.0
input t: float[n]
def slope(y): return -k * y * (1 - y / 10)
y = y0
out = zeros(n)
out[0] = y
for i in range(n - 1):
    h = t[i + 1] - t[i]
    s1 = slope(y)
    s2 = slope(y + h / 2 * s1)
    s3 = slope(y + h / 2 * s2)
    s4 = slope(y + h * s3)
    y = y + h / 6 * (s1 + 2 * s2 + 2 * s3 + s4)
    out[i + 1] = y
out
"""


def test_a_differential_equation_is_fitted_by_the_column():
    k, y0 = 0.8, 4.0
    exact = 10 / (1 + (10 / y0 - 1) * np.exp(k * T))
    found = fit(load(RK4), {"t": T, "y": exact}, observed=["y"])
    assert found.values == pytest.approx({"k": k, "y0": y0}, rel=1e-5)


def test_a_vector_without_observed_is_the_residuals():
    text = "param a = 1.0\ninput x: float[n]\ninput y: float[n]\ny - a * x"
    found = fit(load(text), None, {"x": X, "y": Y})
    assert found.values["a"] == pytest.approx(X @ Y / (X @ X))
    assert found.dof == 7


def test_tensors_are_estimated_element_by_element():
    text = "param c: float[3] = zeros(3)\ninput x: float\nc[0] + c[1] * x + c[2] * x ** 2"
    found = fit(load(text), {"x": X, "y": Y}, observed=["y"])
    np.testing.assert_allclose(found.values["c"], np.polyfit(X, Y, 2)[::-1], rtol=1e-8)
    assert [e.name for e in found.estimates] == ["c[0]", "c[1]", "c[2]"]
    assert [*found.covariance["c[1]"]] == ["c[0]", "c[1]", "c[2]"]
    assert np.shape(found.interval["c"]) == (3, 2)


def test_sizes_of_parameters_may_differ_by_powers():
    text = "param a = 1e6\nparam b = 1e-12\ninput x: float\na * (1 + b * 1e12 * x)"
    found = fit(load(text), {"x": X, "y": 3e6 * (1 + 2.5 * X)}, observed=["y"])
    assert found.values == pytest.approx({"a": 3e6, "b": 2.5e-12}, rel=1e-9)
    assert found.right


# --- bounds, starts, what the data do not tell -------------------------------------------------


def test_a_parameter_at_its_bound_is_held_there():
    found = fit(LINE, {"x": X, "y": Y}, observed=["y"], bounds={"a": (0.0, 1.5)})
    assert found.values["a"] == 1.5
    assert found.values["b"] == pytest.approx(np.mean(Y - 1.5 * X))
    assert [e.state for e in found.estimates] == ["at upper bound", ""]
    assert found.error["a"] is None
    assert [*found.covariance] == ["b"]
    assert (found.dof, found.converged) == (7, True)


def test_a_bound_that_the_search_meets_is_left_again():
    found = fit(DECAY, {"t": T, "y": 5 * np.exp(-2 * T)}, observed=["y"], bounds={"k": (0, 2.5)})
    assert found.values == pytest.approx({"a": 5.0, "k": 2.0})
    assert [e.state for e in found.estimates] == ["", ""]


@pytest.mark.parametrize(
    ("text", "untold"),
    [
        ("a * b * x", ["a", "b"]),
        ("a * x + b * x", ["a", "b"]),
        ("a * x + 0 * b", ["b"]),
        ("a * x + c + b * 2 - b - b", ["b"]),
    ],
)
def test_what_the_data_do_not_tell_has_no_error(text, untold):
    names = [name for name in "abc" if name in text]
    program = load("".join(f"param {n} = 1.0\n" for n in names) + f"input x: float\n{text}")
    found = fit(program, {"x": X, "y": Y}, observed=["y"])
    assert [e.name for e in found.estimates if e.state == "not told"] == untold
    assert all(found.error[name] is None for name in untold)
    assert found.right is False


def test_exactly_collinear_columns_are_always_seen():
    program = load("param a = 1.0\nparam b = 1.0\ninput x: float\ninput z: float\na * x + b * z")
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal(20) * 10.0 ** rng.integers(-6, 6)
        factor = rng.standard_normal() * 10.0 ** rng.integers(-6, 6)
        table = {"x": x, "z": factor * x, "y": rng.standard_normal(20)}
        assert fit(program, table, observed=["y"]).right is False, seed


def test_starts_are_repeatable_and_tell_how_many_reached_the_best():
    program = load("param f: float in [0.1, 9] = 8.0\ninput t: float\nsin(f * t)")
    table = {"t": T, "y": np.sin(1.7 * T)}
    one = fit(program, table, observed=["y"])
    found = [fit(program, table, observed=["y"], starts=6, seed=3) for _ in range(2)]
    assert one.values["f"] != pytest.approx(1.7, rel=1e-3)
    assert found[0].values["f"] == pytest.approx(1.7)
    assert found[0].estimates == found[1].estimates
    assert 0 < found[0].starts[0] < found[0].starts[1] == 6


def test_starts_may_be_missing_where_bounds_say_how_far():
    from gradcli.program import load_source
    from gradcli.source import Source

    free = load_source(Source("<expr>", "a * sin(f * t)"), frozenset({"t"}))
    table = {"t": T, "y": 3 * np.sin(4.2 * T)}
    asked = {"bounds": {"a": (1.5, 9), "f": (2, 9)}, "starts": 12, "seed": 0}
    found = fit(free, table, observed=["y"], **asked)
    assert found.values == pytest.approx({"a": 3.0, "f": 4.2})


def test_fixed_parameters_stay_and_have_no_error():
    found = fit(LINE, {"x": X, "y": Y}, observed=["y"], fix={"b": 0.5})
    assert found.values["b"] == 0.5
    assert found.values["a"] == pytest.approx(X @ (Y - 0.5) / (X @ X))
    assert "b" not in found.error
    assert found.estimates[-1].state == "held"


def test_residuals_at_the_rounding_of_the_data_converge():
    found = fit(DECAY, {"t": T, "y": 3 * np.exp(-0.7 * T)}, observed=["y"])
    assert found.converged
    assert found.values == pytest.approx({"a": 3.0, "k": 0.7}, rel=1e-14)


def test_records_are_reduced_block_by_block(monkeypatch):
    from gradcli.models import triangle

    sizes, factor = [], triangle._factor
    monkeypatch.setattr(triangle, "_factor", lambda w, k: (sizes.append(w.shape), factor(w, k))[1])
    t = np.tile(T, 1000)
    y = 2 * np.exp(-0.5 * t) + 0.1 * np.sin(1e3 * np.arange(len(t)))
    assert fit(DECAY, {"t": t, "y": y}, observed=["y"]).converged
    assert max(rows for rows, _ in sizes) <= 8192 + 3
    assert {width for _, width in sizes} <= {1, 2, 3}


@pytest.mark.parametrize("weights", [None, "w"])
def test_predictions_have_the_errors_of_the_closed_form(weights):
    table = {"x": X, "y": Y, "w": np.where(W > 0, W, 1.0)}
    found = fit(LINE, table, observed=["y"], weights=weights, predict=["x"])
    w = table["w"] if weights else np.ones(8)
    wanted, inverse, squares = line(w)
    design = np.stack([X, np.ones_like(X)], 1)
    error = np.sqrt(np.sum(design @ inverse * design, 1) * squares / 6)
    assert found.predicted["x"] == [str(x) for x in X]
    np.testing.assert_allclose(found.predicted["fitted"], design @ wanted, rtol=1e-9)
    np.testing.assert_allclose(found.predicted["residual"], Y - design @ wanted, atol=1e-9)
    np.testing.assert_allclose(found.predicted["error"], error, rtol=1e-7)
    both = np.sqrt(error**2 + squares / 6 / w)
    np.testing.assert_allclose(found.predicted["prediction_error"], both, rtol=1e-7)


def test_an_expression_takes_columns_before_built_ins():
    """Columns named like a constant and like a function."""
    table = {"x": X, "e": Y, "t": np.full(8, 2.0)}
    found = fit(LINE, table, observed=["e * 2"], weights="t / 2")
    assert found.estimates == fit(LINE, {"x": X, "y": 2 * Y}, observed=["y"]).estimates


def test_a_file_is_a_table(tmp_path):
    path = tmp_path / "d.csv"
    lines = [f"{x},{y},{'pq'[k % 2]}" for k, (x, y) in enumerate(zip(X, Y, strict=True))]
    path.write_text("\n".join(["x,y,g", *lines]))
    found = fit(LINE, path, observed=["y"])
    assert found.estimates == fit(LINE, {"x": X, "y": Y}, observed=["y"]).estimates
    groups = fit(LINE, str(path), observed=["y"], by="g").groups
    assert [(g.key, g.found.records) for g in groups] == [("p", 4), ("q", 4)]


def test_groups_are_fitted_each_by_itself():
    table = {"x": np.tile(X, 2), "y": np.r_[Y, 3 * Y], "g": ["p"] * 8 + ["q"] * 8}
    found = fit(LINE, table, observed=["y"], by="g")
    alone = [fit(LINE, {"x": X, "y": y}, observed=["y"]) for y in (Y, 3 * Y)]
    assert [group.key for group in found.groups] == ["p", "q"]
    assert [g.found.estimates for g in found.groups] == [one.estimates for one in alone]


# --- simulations ---------------------------------------------------------------------------------


def simulated(program, tables, asked):
    """The fit to each of some tables; the columns are the same, and the code is made once."""
    from gradcli.questions.fitting.asked import Asked
    from gradcli.questions.fitting.fit import Fit
    from gradcli.questions.fitting.shares import Here
    from gradcli.questions.fitting.tables import opened

    made = None
    for table in tables:
        ops, settings = program.loaded.program, Asked(**asked)
        made = made or Fit(program, ops, {}, (*table,), settings, load, Options(compile="always"))
        yield made.of(Here(opened(table).read(made.names, ())))


def covered(count, noise, asked, extra=lambda rng: {}):
    """How many of so many simulated fits have the true k in their interval."""
    text = asked.pop("program", None)
    program = DECAY if text is None else load(text)
    rng = np.random.default_rng(7)

    def drawn():
        for _ in range(count):
            more = extra(rng)
            yield {"t": T, "y": 2 * np.exp(-0.5 * T) + noise(rng, more), **more}

    hits = 0
    for found in simulated(program, drawn(), asked):
        low, high = found.interval["k"]
        hits += low <= 0.5 <= high
    return hits


NLL = "param a = 2.0\nparam k = 0.5\ninput t: float\ninput y: float\n((y - a * exp(-k * t)) / 0.1) ** 2 / 2"
SIMULATED = {
    "unknown": (lambda rng, _: 0.1 * rng.standard_normal(25), {"observed": ["y"]}, lambda rng: {}),
    "known": (
        lambda rng, more: more["s"] * rng.standard_normal(25),
        {"observed": ["y"], "sigma": "s"},
        lambda rng: {"s": rng.uniform(0.05, 0.2, 25)},
    ),
    "weights": (
        lambda rng, more: 0.1 * rng.standard_normal(25) / np.sqrt(more["w"]),
        {"observed": ["y"], "weights": "w"},
        lambda rng: {"w": rng.uniform(0.5, 4, 25)},
    ),
    "likelihood": (
        lambda rng, _: 0.1 * rng.standard_normal(25),
        {"likelihood": True, "program": NLL},
        lambda rng: {},
    ),
    "robust": (
        lambda rng, _: 0.1 * rng.standard_t(3, 25),
        {"observed": ["y"], "loss": "huber"},
        lambda rng: {},
    ),
}


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        *(("unknown", 50), ("likelihood", 50)),
        *(pytest.param(kind, 2000, marks=pytest.mark.long) for kind in SIMULATED),
    ],
)
def test_intervals_cover_the_truth_as_often_as_they_say(kind, count):
    noise, asked, extra = SIMULATED[kind]
    hits = covered(count, noise, dict(asked), extra)
    # within four of its own errors of the binomial; Huber's sandwich is asymptotic
    allowed = 4 * math.sqrt(0.95 * 0.05 / count) + (0.02 if kind == "robust" else 0.0)
    assert abs(hits / count - 0.95) < allowed, hits


@pytest.mark.long
@pytest.mark.parametrize("loss", ["huber", "soft-l1"])
def test_robust_errors_are_the_spread_of_simulated_estimates(loss):
    rng, t = np.random.default_rng(3), np.linspace(0, 5, 80)
    noises = (0.1 * rng.standard_t(3, 80) for _ in range(2000))
    tables = ({"t": t, "y": 2 * np.exp(-0.5 * t) + noise} for noise in noises)
    asked = {"observed": ["y"], "loss": loss, "loss_scale": 0.15}
    fits = simulated(DECAY, tables, asked)
    found = [(one.values["k"], one.error["k"]) for one in fits]
    values, wanted = np.array(found).T
    assert np.mean(wanted) == pytest.approx(np.std(values), rel=0.05)
