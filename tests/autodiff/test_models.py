"""Derivatives of whole models against closed forms and integrations written otherwise."""

import csv
from pathlib import Path

import numpy as np
import pytest

from gradcli.program import load

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.mark.parametrize("point", [(-1.2, 1.0), (0.0, 0.0), (1.0, 1.0), (3.5, -2.25)])
def test_rosenbrock(point):
    a, b = point
    program = load(SAMPLES / "rosenbrock.grad")
    found = program.hessian(x=[a, b])
    slope = [-400 * a * (b - a * a) - 2 * (1 - a), 200 * (b - a * a)]
    second = [[1200 * a * a - 400 * b + 2, -400 * a], [-400 * a, 200.0]]
    assert np.allclose(found.grad["x"], slope, rtol=1e-13, atol=1e-13)
    assert np.allclose(found.hessian["x"]["x"], second, rtol=1e-13, atol=1e-12)
    residuals = program.jacobian(x=[a, b], of="r").jacobian["x"]
    assert np.allclose(residuals, [[-20 * a, 10.0], [-1.0, 0.0]], rtol=1e-14)


def exam():
    with (SAMPLES / "exam.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return (np.array([float(r[name]) for r in rows]) for name in ("hours", "passed"))


@pytest.mark.parametrize(("w", "b"), [(0.0, 0.0), (1.5, -4.0), (-3.0, 20.0), (40.0, -200.0)])
def test_logistic_regression(w, b):
    hours, passed = exam()
    chance = 1 / (1 + np.exp(-(w * hours + b)))
    program = load(SAMPLES / "logistic.grad")
    found = program.hessian(w=w, b=b, hours=hours, passed=passed)
    assert np.allclose(found.grad["w"], np.mean((chance - passed) * hours), rtol=1e-12)
    assert np.allclose(found.grad["b"], np.mean(chance - passed), rtol=1e-12)
    curve = chance * (1 - chance)
    assert np.allclose(found.hessian["w"]["w"], np.mean(curve * hours**2), rtol=1e-9)
    assert np.allclose(found.hessian["w"]["b"], np.mean(curve * hours), rtol=1e-9)


def orbit(velocity):
    """The same integration on complex numbers: their imaginary part carries a derivative."""
    x, v, step = np.array([1.0, 0.0], complex), np.array(velocity, complex), 0.05

    def pull(x):
        return -x / (x @ x) ** 1.5

    for _ in range(200):
        v = v + 0.5 * step * pull(x)
        x = x + step * v
        v = v + 0.5 * step * pull(x)
    return x


def test_two_bodies():
    tiny = 1e-40
    columns = [orbit([tiny * 1j, 1.1]).imag / tiny, orbit([0.0, 1.1 + tiny * 1j]).imag / tiny]
    program = load(SAMPLES / "two_bodies.grad")
    for mode in ("forward", "reverse"):
        found = program.jacobian(wrt="velocity", mode=mode).jacobian["velocity"]
        assert np.allclose(found, np.stack(columns, -1), rtol=1e-9, atol=1e-10), mode


@pytest.mark.parametrize("name", ["rosenbrock", "logistic", "two_bodies"])
def test_gradcheck_finds_nothing_wrong(name):
    text = (SAMPLES / f"{name}.grad").read_text("utf-8")
    given = dict(zip(("hours", "passed"), exam(), strict=True)) if name == "logistic" else {}
    result = load(text.replace("range(200)", "range(50)")).gradcheck(given)
    assert result.passed, result.checks
    assert {check.note for check in result.checks} == {""}
