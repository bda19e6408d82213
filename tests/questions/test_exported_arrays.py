"""Arrays in exported C and Python are loops over elements, with gradcli's numbers."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from support.checks.exported_c import CC, called, library
from support.programs.exported import ARRAYS, IN_PLACE, answer, defaults

from gradcli.engine.compile.export.languages import c, python
from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import request
from gradcli.questions.exported.export import written

needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler")


def _unit(program, name, language, order=1, wrt=None):
    asked = request({}, {}, wrt=wrt)
    return written(program.loaded, asked, (), order, f"{name}_", language.RESERVED)


@pytest.fixture(scope="module")
def programs():
    return {name: load(text) for name, text in ARRAYS.items()}


@pytest.fixture(scope="module")
def by_c(programs, tmp_path_factory):
    """Each unit, and the library of them all."""
    units = {name: _unit(program, name, c) for name, program in programs.items()}
    files = {}
    for name, unit in units.items():
        files[f"{name}.c"] = c.source(unit, "0", f"{name}.h")
        files[f"{name}.h"] = c.header(unit, "0", f"{name}.h")
    return units, files, library(tmp_path_factory.mktemp("arrays"), files)


def _compare(found, program, values):
    value, derivative = answer(program, values, False)
    assert np.allclose(found[0], value, rtol=1e-13, atol=0)  # NumPy has other functions than C
    assert np.allclose(found[1], derivative, rtol=1e-12, atol=1e-14)


@needs_cc
@pytest.mark.parametrize("name", ARRAYS)
def test_c_has_the_numbers_of_gradcli(programs, by_c, name):
    units, files, made = by_c
    values = defaults(programs[name])
    status, found = called(made, units[name], values)
    assert status == 0
    _compare([*found.values()], programs[name], values)
    assert "for (int64_t" in files[f"{name}.c"]


@pytest.mark.parametrize("name", IN_PLACE)
def test_cotangents_of_items_are_added_to_elements(programs, name):
    text = c.source(_unit(programs[f"in_place_{name}"], name, c), "0", "0.h")
    assert re.search(r"\w+\[[^]]+\] \+= ", text)
    assert not re.search(r"\w+\[i\] = \w+\[i\] \+ ", text)


def test_an_autoregression_reads_as_by_hand():
    unit = _unit(load(IN_PLACE["autoregression"]), "autoregression", c)
    _, _, reverse = c.source(unit, "0", "0.h").partition("d_b[i] = 0.0;")
    lines = [re.sub(r"\bt\d+\b", "T", line.strip()) for line in reverse.splitlines()]
    assert lines[2:9] == [
        "for (int64_t t = 39; t > 2; t--) {",
        "const double T = work[--used];",
        "const double T = T * 2.0 * -1.0;",
        "d_b[2] += T * T[t - 2];",
        "d_b[1] += T * T[t - 1];",
        "d_b[0] += T;",
        "}",
    ]


def test_inner_loops_and_branches_change_the_same_array():
    for name in ("inner", "sides"):
        text = c.source(_unit(load(IN_PLACE[name]), name, c), "0", "0.h")
        assert len(re.findall(r"double \w+\[5\];", text)) == 1


@needs_cc
def test_a_counter_with_the_name_of_another_has_its_own_range(tmp_path):
    program = load(
        "input k: int = 5\ninput a = 0.5\ny = linspace(0, 1, 400)\ns = 1.0\n"
        "for t in range(400): s = s * a + y[t]\nfor t in range(k): s = s + y[t] * s\ns"
    )
    unit = _unit(program, "twice", c, wrt=["a"])
    files = {"x.c": c.source(unit, "0", "x.h"), "x.h": c.header(unit, "0", "x.h")}
    assert "int64_t t2" not in files["x.c"]
    made = library(tmp_path, files)
    assert [called(made, unit, {"k": k, "a": 0.5})[0] for k in (400, 401)] == [0, 2]


def test_a_square_of_an_expression_is_no_function():
    unit = _unit(load("input x = 0.7\ninput b = 2.0\n(x - b) ** 2"), "square", c, order=0)
    text = c.source(unit, "0", "0.h")
    assert "const double t1 = x - b;" in text
    assert "t1 * t1" in text
    assert "pow" not in text


@pytest.mark.parametrize("name", ARRAYS)
def test_python_has_the_numbers_of_gradcli(programs, name):
    unit = _unit(programs[name], name, python)
    values = defaults(programs[name])
    made = {}
    exec(compile(python.source(unit, "0"), name, "exec"), made)
    given = [np.array(values[p.of]) if p.shape else values[p.of] for p in unit.parameters]
    _compare(made[unit.name](*given), programs[name], values)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("input x: float[80]\nsum(cumprod(x, 0))", 1),
        ("input x: float[80]\nsum(sort(x)[0] * x)", 1),
        ("input x: float[80]\nx * x", 2),
        ("input x: float[80]\nsum(cumprod(x, 0))", 2),
    ],
)
def test_what_has_no_loop_says_why(text, order):
    with pytest.raises(GradError) as refused:
        _unit(load(text), "f", c, order)
    (said,) = refused.value.diagnostics
    assert said.code == "not-compilable"
    assert said.help


def test_an_array_that_the_program_computes_is_no_parameter():
    with pytest.raises(GradError, match="by an array that it makes itself"):
        _unit(load("input x: float[80]\ny = x * 2\nsum(y * y)"), "f", c, wrt="y")


@needs_cc
def test_too_little_memory_for_arrays_is_status_1(programs, by_c):
    units, _, made = by_c
    unit, values = units["large"], defaults(programs["large"])
    assert unit.room >= 300
    status, found = called(made, unit, values, work=unit.room - 1)
    assert (status, {*found["value"], *found["grad"]}) == (1, {7.25})


@needs_cc
@pytest.mark.parametrize("name", ["items", "groups"])
def test_sanitizers_find_nothing(tmp_path, name):
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-w"]
    probe = tmp_path / "probe.c"
    probe.write_text("int main(void) { return 0; }")
    command = [shutil.which("cc"), *flags]
    if subprocess.run([*command, probe, "-o", tmp_path / "p"], check=False).returncode:
        pytest.skip("the compiler has no sanitizers")
    for file, text in load(ARRAYS[name]).export("m.c", check=True).items():
        (tmp_path / file).write_text(text)
    files = [tmp_path / "m.c", tmp_path / "m_test.c"]
    subprocess.run([*command, *files, "-o", tmp_path / "m", "-lm"], check=True)
    done = subprocess.run([tmp_path / "m"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "all numbers are right\n"), done.stderr
