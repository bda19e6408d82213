"""The nonlinear models of NIST's Statistical Reference Datasets, written as a user would: code with
data bound gives the interpreter's residuals and slopes, and sums of squares with their gradients.

Formulas and starting values: https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml
"""

import numpy as np
import pytest
from support.models.nist import MODELS

from gradcli.engine.compile import backends
from gradcli.program import Options, load

X = np.array([0.9, 1.7, 2.6, 3.8, 5.1, 7.4, 8.9, 11.3])
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
