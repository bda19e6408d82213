"""Elasticities: by their definition, by code as by the interpreter, in all forms."""

import json
import math

import numpy as np
import pytest

from gradcli import load
from gradcli.program import Options
from gradcli.render.derivatives.answers import derivative_view
from gradcli.render.text import cells, plain_text

NEVER, ALWAYS = (Options(compile=when) for when in ("never", "always"))

PROGRAMS = [
    ("x * y / z ** 2", {"x": 2.0, "y": -3.0, "z": 4.0}, {"x": 1.0, "y": 1.0, "z": -2.0}),
    ("exp(k * d)", {"k": 0.1, "d": 7.0}, {"k": 0.7, "d": 0.7}),
    ("sum(w * x) ** 2", {"w": [1.0, 2.0], "x": [3.0, 4.0]}, {"w": [6 / 11, 16 / 11]}),
    ("s = 0.0\nfor i in range(3): s = s + x ** i\ns", {"x": 2.0}, {"x": 10 / 7}),
    ("x + 1", {"x": 0.0}, {"x": 0.0}),
]


@pytest.mark.parametrize(("text", "values", "known"), PROGRAMS)
def test_it_is_the_relative_change_and_code_gives_the_same_bits(text, values, known):
    program = load(text)
    found = program.elasticity(values, options=NEVER)
    for name, wanted in known.items():
        assert found.elasticity[name] == pytest.approx(wanted, rel=1e-14)
    for name, x in found.inputs.items():
        slope = np.asarray(found.grad[name])
        assert np.array_equal(found.elasticity[name], np.asarray(x) * slope / found.value)
        assert np.shape(found.elasticity[name]) == np.shape(x)
    coded = program.elasticity(values, options=ALWAYS)
    assert repr(coded) == repr(found)
    assert found.grad.keys() == program.grad(values).grad.keys()


def test_all_inputs_of_a_product_of_powers_have_their_exponents():
    rng = np.random.default_rng(3)
    for _ in range(20):
        powers = rng.integers(-4, 5, 5)
        text = " * ".join(f"x{k} ** {p}" for k, p in enumerate(powers))
        point = {f"x{k}": float(x) for k, x in enumerate(rng.uniform(0.5, 2, 5))}
        found = load(text).elasticity(point).elasticity
        assert [*found.values()] == pytest.approx([float(p) for p in powers], abs=1e-12)


def test_a_weighted_result_is_that_of_the_sum():
    program = load("stack([x * y, x + y])")
    found = program.elasticity(x=2.0, y=3.0, cotangent=[1.0, 2.0])
    whole = load("x * y + 2 * (x + y)").elasticity(x=2.0, y=3.0)
    assert found.elasticity == whole.elasticity


def test_a_result_of_zero_has_none_and_says_so(cli):
    asked = ["grad", "x - y", "x=1", "y=1", "--elasticity"]
    status, out, err = cli(*asked)
    assert (status, out.splitlines()[3:]) == (0, ["elasticity.x\tinf", "elasticity.y\t-inf"])
    assert "warning[non-finite]: `result` is 0" in err
    status, out, err = cli(*asked, "--check-nan")
    assert (status, out) == (5, "")
    assert "error[non-finite]" in err


ROWS = "x,y\n1,2\n3,4\n5,6\n1,1\n" + "2,7\n" * 40


@pytest.mark.parametrize("form", ["csv", "ndjson", "raw"])
@pytest.mark.parametrize("text", ["x ** 2 / y - y", "x * y"])
def test_rows_are_those_of_single_questions_by_code_and_without(cli, form, text):
    told = ["--raw"] if form == "raw" else ["-f", form]
    asked = ["grad", text, "--rows", "-", *told, "--elasticity", "-q"]
    found = {when: cli(*asked, "--compile", when, stdin=ROWS) for when in ("always", "never")}
    assert found["always"] == found["never"]
    assert found["never"][0] == 0
    if form == "csv":
        record = found["never"][1].splitlines()[2]
        alone = cli("grad", text, "x=3", "y=4", "--elasticity", "-f", "csv")[1].splitlines()[1]
        assert record == alone


def test_json_has_both_and_several_results_each_their_own(cli):
    line = ["grad", "a = x ** 2; b = x + y", "x=2", "y=3", "--elasticity", "--json"]
    found = json.loads(cli(*line, "--of", "a,b", "--wrt", "x,y", "-q")[1])
    assert found["elasticity"] == {"a": {"x": 2.0, "y": 0.0}, "b": {"x": 0.4, "y": 0.6}}
    assert found["grad"] == {"a": {"x": 4.0, "y": 0.0}, "b": {"x": 1.0, "y": 1.0}}
    table = load("x ** 2").rows({"x": np.array([1.0, 2.0])}, "elasticity")
    assert table["elasticity.x"].tolist() == [2.0, 2.0]


# --- for people ----------------------------------------------------------------------------------


def shown(result, width=80):
    return plain_text(derivative_view(result, precision=4, width=width))


def test_the_table_is_sorted_and_bars_go_both_ways():
    text = shown(load("x * y / z ** 2 + exp(w)").elasticity(x=2, y=3, z=4, w=0), 60)
    assert (
        text
        == """\
result = 1.375

name  value  gradient  % for 1 %
z     4      -0.1875   -0.5455    ▐███████████████│
x     2       0.1875    0.2727                   │███████▌
y     3       0.125     0.2727                   │███████▌
w     0       1         0                        │

w is 0, so 1 % of it is nothing: its gradient tells more
"""
    )


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal_and_the_largest_are_shown(width):
    x = np.arange(1.0, 61.0)
    lines = shown(load("sum(x ** 2) - y").elasticity(x=x, y=3.0), width).splitlines()
    assert max(map(cells, lines)) <= width
    named = [line.split()[0] for line in lines if line.startswith(("x[", "y"))]
    assert named == [f"x[{k}]" for k in range(59, 39, -1)]
    assert "… 41 more" in "\n".join(lines)


def test_bars_are_as_long_as_their_numbers():
    for k in range(1, 30):
        result = load("x ** 30 * y ** k").elasticity(x=1.5, y=1.25, k=k, wrt=["x", "y"])
        lines = shown(result).splitlines()[-2:]
        long, short = (line.count("█") + line.count("▌") / 2 for line in lines)
        assert math.isclose(short, long * k / 30, abs_tol=0.26)
