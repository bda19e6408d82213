"""Python that `export` writes gives gradcli's digits, and refuses what a run would refuse."""

import ast
import math

import numpy as np
import pytest
from support.checks.exported_python import function_of, hold_names
from support.processes.house import ROOT
from support.programs.exported import PROGRAMS, SECOND, answer, defaults

from gradcli.program import load


def _function(text, name, order=1, **asked):
    """The exported function, the text of its file and the program."""
    program = load(text)
    (source,) = program.export(f"{name}.py", order=order, **asked).values()
    return function_of(source, name), source, program


def _text(name):
    return PROGRAMS.get(name) or str(ROOT / f"samples/{name}.grad")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_digits_are_those_of_gradcli(name):
    function, source, program = _function(_text(name), name)
    values = defaults(program)
    names = [a.arg for a in _definition(source, name).args.args]
    value, derivative = function(*[values[n.removesuffix("_")] for n in names])
    assert (np.ravel(value).tolist(), derivative.tolist()) == answer(
        program, values, not isinstance(value, float)
    )


def _definition(source, name):
    return next(
        n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == name
    )


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_are_those_of_forward_mode(name):
    function, _, program = _function(_text(name), name, order=2)
    values = defaults(program)
    *_, hessian = function(**values)
    found = program.hessian(values, mode="forward").hessian
    rows = [[np.ravel(x)[0] for x in row.values()] for row in found.values()]
    assert hessian == pytest.approx(np.ravel(rows), rel=1e-14)


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_imports_numpy_and_math_alone_and_has_no_variable_that_nobody_reads(name):
    _, source, _ = _function(_text(name), name)
    hold_names(source)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ops", {"x": math.inf, "y": 1.0}),
        ("choice", {"x": math.nan}),
        ("ints", {"n": 2**62, "x": 1.0}),
        ("turns", {"x": 1e300, "most": 1e308}),
    ],
)
def test_what_a_run_would_refuse_or_warn_of_is_an_error(name, values):
    function, _, _ = _function(_text(name), name)
    with pytest.raises(ArithmeticError):
        function(**values)


def test_scipy_takes_the_function_as_it_is():
    minimize = pytest.importorskip("scipy.optimize").minimize
    function, _, _ = _function(str(ROOT / "samples/rosenbrock.grad"), "rosenbrock")
    found = minimize(function, [-1.2, 1.0], jac=True, method="BFGS")
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-5)
