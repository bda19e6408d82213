"""The nonlinear models of NIST's Statistical Reference Datasets, written as a user would: code with
data bound gives the interpreter's residuals and slopes, and sums of squares with their gradients.

Formulas and starting values: https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml
"""

import numpy as np
import pytest

from gradcli.engine.compile import backends
from gradcli.program import Options, load

X = np.array([0.9, 1.7, 2.6, 3.8, 5.1, 7.4, 8.9, 11.3])
MODELS = {  # the formula, the first starting values
    "Misra1a": ("b1 * (1 - exp(-b2 * x))", (500, 1e-4)),
    "Misra1b": ("b1 * (1 - (1 + b2 * x / 2) ** -2)", (500, 1e-4)),
    "Misra1c": ("b1 * (1 - (1 + 2 * b2 * x) ** -0.5)", (500, 1e-4)),
    "Misra1d": ("b1 * b2 * x * (1 + b2 * x) ** -1", (500, 1e-4)),
    "Chwirut": ("exp(-b1 * x) / (b2 + b3 * x)", (0.1, 0.01, 0.02)),
    "Lanczos": (
        "b1 * exp(-b2 * x) + b3 * exp(-b4 * x) + b5 * exp(-b6 * x)",
        (1.2, 0.3, 5.6, 5.5, 6.5, 7.6),
    ),
    "Gauss": (
        "b1 * exp(-b2 * x) + b3 * exp(-(x - b4) ** 2 / b5 ** 2) + b6 * exp(-(x - b7) ** 2 / b8 ** 2)",
        (97.0, 0.009, 100.0, 65.0, 20.0, 70.0, 178.0, 16.5),
    ),
    "DanWood": ("b1 * x ** b2", (1, 5)),
    "Kirby2": (
        "(b1 + b2 * x + b3 * x ** 2) / (1 + b4 * x + b5 * x ** 2)",
        (2, -0.1, 0.003, -0.001, 1e-5),
    ),
    "Hahn1": (
        "(b1 + b2 * x + b3 * x ** 2 + b4 * x ** 3) / (1 + b5 * x + b6 * x ** 2 + b7 * x ** 3)",
        (10, -1, 0.05, -1e-5, -0.05, 0.001, -1e-6),
    ),
    "Nelson": ("b1 - b2 * x * exp(-b3 * z)", (2, 1e-4, -0.01)),
    "MGH09": ("b1 * (x ** 2 + x * b2) / (x ** 2 + x * b3 + b4)", (25, 39, 41.5, 39)),
    "MGH10": ("b1 * exp(b2 / (x + b3))", (2, 400_000, 25_000)),
    "MGH17": ("b1 + b2 * exp(-x * b4) + b3 * exp(-x * b5)", (50, 150, -100, 1, 2)),
    "Roszman1": ("b1 - b2 * x - atan(b3 / (x - b4)) / pi", (0.1, -1e-5, 1000, -100)),
    "ENSO": (
        "b1 + b2 * cos(2 * pi * x / 12) + b3 * sin(2 * pi * x / 12)"
        " + b5 * cos(2 * pi * x / b4) + b6 * sin(2 * pi * x / b4)"
        " + b8 * cos(2 * pi * x / b7) + b9 * sin(2 * pi * x / b7)",
        (11, 3, 0.5, 40, -0.7, -1.3, 25, -0.3, 1.4),
    ),
    "Thurber": (
        "(b1 + b2 * x + b3 * x ** 2 + b4 * x ** 3) / (1 + b5 * x + b6 * x ** 2 + b7 * x ** 3)",
        (1000, 1000, 400, 40, 0.7, 0.3, 0.03),
    ),
    "BoxBOD": ("b1 * (1 - exp(-b2 * x))", (1, 1)),
    "Rat42": ("b1 / (1 + exp(b2 - b3 * x))", (100, 1, 0.1)),
    "Eckerle4": ("b1 / b2 * exp(-0.5 * ((x - b3) / b2) ** 2)", (1, 10, 500)),
    "Rat43": ("b1 / (1 + exp(b2 - b3 * x)) ** (1 / b4)", (100, 10, 1, 1)),
    "Bennett5": ("b1 * (b2 + x) ** (-1 / b3)", (-2000, 50, 0.8)),
}
RESULTS = {"residuals": "r", "the sum of their squares": "(r ** 2).sum()"}


def written(formula, starts, result):
    params = [f"param b{k} = {float(start)!r}" for k, start in enumerate(starts, 1)]
    data = [f"input {name}: float[n]" for name in "xyz" if name in "xy" or "z" in formula]
    return "\n".join([*params, *data, f"r = y - ({formula})", result])


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_nist_binds_its_data(name, result):
    formula, starts = MODELS[name]
    program = load(written(formula, starts, RESULTS[result]))
    data = {"x": X, "y": np.cos(X) + 3} | ({"z": X[::-1].copy()} if "z" in formula else {})
    bound = program.compile().bind(**data)
    if backends.has_machine_code():
        assert bound._code.made == "machine code"
    names = [f"b{k}" for k in range(1, len(starts) + 1)]
    assert [*bound.names] == names
    for factor in (1.0, 1.0625):
        point = np.array(starts, float) * factor
        value, slopes = bound(point)
        question = "grad" if np.ndim(value) == 0 else "jacobian"
        given = {**data, **dict(zip(names, point.tolist(), strict=True))}
        found = getattr(program, question)(given, wrt=names, options=Options(compile="never"))
        wanted = np.stack([np.asarray(getattr(found, question)[n]) for n in names], -1)
        assert np.asarray(value).tobytes() == np.asarray(found.value).tobytes()
        assert slopes.tobytes() == wanted.tobytes()


def test_a_sample_with_data_binds():
    program = load("samples/cooling.grad")
    bound = program.compile(["k", "T0"]).bind()
    value, slopes = bound([0.1, 90.0])
    found = program.grad(wrt=["k", "T0"])
    assert (value, [*slopes]) == (found.value, [found.grad["k"], found.grad["T0"]])
