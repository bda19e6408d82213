"""C that `export` writes gives gradcli's digits, and refuses what a run would refuse."""

import numpy as np
import pytest
from support.checks.exported_c import CC, called, library
from support.programs.exported import PROGRAMS, SECOND, answer, defaults

from gradcli.engine.compile.export.languages import c
from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import request
from gradcli.questions.exported.export import written

pytestmark = pytest.mark.skipif(CC is None, reason="there is no C compiler")


def _unit(program, name, order=1, wrt=None, of=(), **inputs):
    asked = request(inputs, {}, wrt=wrt)
    return written(program.loaded, asked, of, order, name, c.RESERVED)


def _files(unit):
    head = f"{unit.name}.h"
    return {f"{unit.name}.c": c.source(unit, "0", head), head: c.header(unit, "0", head)}


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    """Each program with its unit, and the library of them all."""
    programs = {name: load(text) for name, text in PROGRAMS.items()}
    units = {name: _unit(p, name) for name, p in programs.items()}
    units |= {f"{name}_2": _unit(programs[name], f"{name}_2", order=2) for name in SECOND}
    units["several"] = _unit(load("input x = 1.0\ninput y = 2.0\na = x * y\nb = sin(x)"), "several",
                             of=["b", "a"], wrt="y,x")  # fmt: skip
    files = {name: text for unit in units.values() for name, text in _files(unit).items()}
    return programs, units, library(tmp_path_factory.mktemp("c"), files)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_digits_are_those_of_gradcli(every, name):
    programs, units, made = every
    values = defaults(programs[name])
    status, found = called(made, units[name], values)
    value, derivative = answer(programs[name], values, "jacobian" in found)
    assert status == 0
    assert found["value"].tolist() == value
    assert found.get("grad", found.get("jacobian")).tolist() == derivative


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_are_those_of_forward_mode(every, name):
    programs, units, made = every
    values = defaults(programs[name])
    _, found = called(made, units[f"{name}_2"], values)
    found_by_gradcli = programs[name].hessian(values, mode="forward").hessian
    rows = [[np.ravel(x)[0] for x in row.values()] for row in found_by_gradcli.values()]
    assert found["hessian"] == pytest.approx(np.ravel(rows), rel=1e-14)


def test_several_results_have_a_jacobian_by_rows(every):
    _, units, made = every
    _, found = called(made, units["several"], {"x": 1.0, "y": 2.0})
    assert found["value"].tolist() == [np.sin(1.0), 2.0]
    assert found["jacobian"].tolist() == [0.0, np.cos(1.0), 1.0, 2.0]


@pytest.mark.parametrize("name", ["turns", "nested"])
def test_too_little_work_memory_is_status_1_and_nothing_is_written(every, name):
    programs, units, made = every
    values = defaults(programs[name])
    enough = next(n for n in range(1000) if called(made, units[name], values, work=n)[0] == 0)
    assert enough > 0
    status, found = called(made, units[name], values, work=enough - 1)
    assert status == 1
    assert {*found["value"], *found["grad"]} == {7.25}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ops", {"x": np.inf, "y": 1.0}),
        ("choice", {"x": np.nan}),
        ("ints", {"n": 2**62, "x": 1.0}),
        ("ints", {"n": -(2**63), "x": 1.0}),
        ("turns", {"x": 1e300, "most": 1e308}),
    ],
)
def test_what_a_run_would_refuse_or_warn_of_is_status_2_and_nothing_is_written(every, name, values):
    _, units, made = every
    status, found = called(made, units[name], values)
    assert status == 2
    assert {*found["value"], *found["grad"]} == {7.25}


def test_ints_are_right_up_to_the_edge_of_64_bits(every):
    programs, units, made = every
    for n in (3037000499, -3037000499):
        status, found = called(made, units["ints"], {"n": n, "x": 1.0})
        assert (status, found["value"][0]) == (0, programs["ints"].run(n=n, x=1.0).result)
    assert called(made, units["ints"], {"n": 3037000500, "x": 1.0})[0] == 2


def test_a_loop_over_an_int_has_as_many_turns_as_it_says(every):
    programs, units, made = every
    for n in (0, 1, 9, -3):
        status, found = called(made, units["counted"], {"n": n, "x": 1.5})
        by_gradcli = programs["counted"].grad(n=n, x=1.5)
        expected = (0, by_gradcli.value, by_gradcli.grad["x"])
        assert (status, found["value"][0], found["grad"][0]) == expected


def test_an_output_that_is_not_wanted_may_be_null(every):
    import ctypes

    _, _, made = every
    value = ctypes.c_double()
    made.branch.argtypes = [ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
    assert made.branch(3.0, ctypes.byref(value), None) == 0
    assert value.value == 81.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("input x = 0.3\nerfinv(x)", "no formula"),
        ("input n: int = 1\ninput x = 1.0\nwhile n * n < 50:\n    n = n + 1\n    x = x * 2\nx",
         "the test of a loop"),
        ("input x = 1.0\nx * randn(size=())", "random numbers"),
    ],
)  # fmt: skip
def test_what_has_no_source_code_says_why(text, says):
    with pytest.raises(GradError, match=says):
        _unit(load(text), "f")
