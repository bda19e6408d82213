"""Exported C and Python for arrays of any size: one `size_t` for each free size."""

import subprocess
import sys

import numpy as np
import pytest
from support.checks.exported_c import CC, called, library
from support.checks.exported_python import function_of

from gradcli.engine.compile.export.languages import c, python
from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import request
from gradcli.questions.exported.export import written

needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler")

T = "input t: float[n]\n"
LOOP = f"{T}input b = 0.1\ns = 0.0\nfor i in range"
GROUPS = "input theta = [0.5, 1.5, -1.0]\ninput y: float[n]\ninput g: int[n]\n"
PROGRAMS = {
    "fit": f"input a = 1.0\ninput k = 0.5\n{T}input y: float[n]\nr = a * exp(-k * t) - y\nsum(r * r)",
    "cumulative": f"{LOOP}(len(t)):\n    s = s * b + t[i]\ns",
    "behind": f"{LOOP}(1, len(t)):\n    s = s * 0.9 + t[i] * t[i - 1] * b\ns / n",
    "items": f"{T}s = 0.0\nfor x in t:\n    s = s + x * s * 0.1 + x\ns",
    "moments": f"{T}mean(t ** 2) + t.std() + t.max()",
    "rows": "input w: float[n, 2]\ninput b: float[2] = [0.5, 1.5]\nr = w @ b\nsum(r * r) / n",
    "two": f"{T}input u: float[m]\nsum(t) * sum(u) + t[0] * u[-1]",
    "slices": f"{T}sum(t[2:-1] * t[:-3])",
    "groups": f"{GROUPS}sum((y - theta[g]) ** 2)",
    "group by group": f"{GROUPS}s = 0.0\nfor i in range(len(y)):\n"
    "    k = g[i]\n    s = s + (y[i] - theta[k] * theta[g[i]]) ** 2 * theta[k]\ns",
    "until": f"{T}y = t\nwhile sum(y) < 50:\n    y = y * 1.5 + 0.1\nsum(y * t)",
}
SIZES = (1, 2, 3, 4, 9, 40, 300)


def _unit(text, words, order=1, **given):
    return written(load(text).loaded, request(given, {}), (), order, "f", words)


def _values(program, n):
    """Numbers for the inputs: `n` for each free size, and two more for `m`. Ints are places in an
    array of three.
    """
    sizes = {"n": n, "m": n + 2}
    values, rng = {}, np.random.default_rng(n)
    for i in program.loaded.program.inputs:
        kind, own = i.type or ("", ())
        shape = [size if isinstance(size, int) else sizes[size] for size in own or ()]
        if kind == "int":
            values[i.name] = rng.integers(-3, 3, shape)
        elif i.name == "theta":
            values[i.name] = rng.uniform(0.3, 1.4, 3)
        else:
            values[i.name] = rng.uniform(0.3, 1.4, shape) if shape else 0.6
    return values


def _expected(program, values):
    try:
        found = program.grad(values)
    except GradError:
        return None
    return [np.array([found.value]), np.concatenate([np.ravel(x) for x in found.grad.values()])]


def _agree(found, expected, n, least):
    """The numbers agree; a size below the least is refused."""
    if n < least or expected is None or not all(np.isfinite(x).all() for x in expected):
        assert found is None
        return
    for x, y in zip(found, expected, strict=True):
        assert np.allclose(np.ravel(x), y, rtol=1e-11, atol=1e-12)


@needs_cc
@pytest.mark.parametrize("name", PROGRAMS)
def test_c_has_the_numbers_of_gradcli_for_each_size(tmp_path, name):
    program, unit = load(PROGRAMS[name]), _unit(PROGRAMS[name], c.RESERVED)
    files = {"f.c": c.source(unit, "0", "f.h"), "f.h": c.header(unit, "0", "f.h")}
    made = library(tmp_path, files, ["-fsanitize=undefined", "-fno-sanitize-recover=all"])
    assert "size_t n" in files["f.h"]
    for n in SIZES:
        values = _values(program, n)
        status, found = called(made, unit, values)
        assert status in (0, 2)
        found = None if status else [*found.values()]
        _agree(found, _expected(program, values), n, unit.least)


@pytest.mark.parametrize("name", PROGRAMS)
def test_python_has_the_numbers_of_gradcli_for_each_size(name):
    program, unit = load(PROGRAMS[name]), _unit(PROGRAMS[name], python.RESERVED)
    function = function_of(python.source(unit, "0"), "f")
    for n in SIZES:
        values = _values(program, n)
        try:
            found = function(*(values[p.of] for p in unit.parameters))
        except ArithmeticError:
            found = None
        _agree(found, _expected(program, values), n, unit.least)


def test_a_hessian_has_any_size():
    unit = _unit(f"{T}sum(t ** 3)", python.RESERVED, 2)
    t = np.linspace(0.5, 2, 7)
    _, _, hessian = function_of(python.source(unit, "0"), "f")(t)
    assert np.allclose(hessian.reshape(7, 7), np.diag(6 * t))


def test_a_gradient_of_many_numbers_is_one_array():
    """What a sample of the sizes costs does not grow with its elements."""
    unit = _unit("input a: float[900, 900]\nsum(a * a)", c.RESERVED)
    assert [len(output.runs) for output in unit.outputs] == [1, 1]
    assert unit.outputs[1].says[901] == "d result / d a[1, 1]"


def test_a_given_value_sets_the_size():
    unit = _unit(PROGRAMS["fit"], c.RESERVED, t=[0.0] * 20)
    assert {p.of: p.shape for p in unit.parameters}["t"] == (20,)


@needs_cc
def test_a_size_has_a_name_that_c_takes(tmp_path):
    text = "input work: float[int]\ninput value: float[int, y0]\nsum(value.T @ work) / y0"
    unit = _unit(text, c.RESERVED)
    files = {"f.c": c.source(unit, "0", "f.h"), "f.h": c.header(unit, "0", "f.h")}
    assert "size_t int_" in files["f.h"]
    values = {"work": np.ones(3), "value": np.ones((3, 5))}
    _, found = called(library(tmp_path, files), unit, values)
    assert found["value"] == 3.0


def test_a_size_that_an_input_gives_is_no_free_one():
    text = "input n: int\ninput t: float[n]\nsum(t) * n"
    unit = _unit(text, c.RESERVED, n=7)
    assert unit.free == ()
    assert {p.of: p.shape for p in unit.parameters}["t"] == (7,)


def test_the_least_size_is_told():
    unit = _unit(PROGRAMS["slices"], c.RESERVED)
    assert unit.least == 4
    assert "n: at least 4" in c.header(unit, "0", "f.h")
    assert "n < 4" in c.source(unit, "0", "f.h")


def test_a_product_of_counters_is_checked_that_a_large_size_may_overflow():
    loop = f"{LOOP}(len(t)):\n    s = s + t[i] * (i * i * i)\ns"
    assert "int_mul" in c.source(_unit(loop, c.RESERVED), "0", "f.h")
    assert "int_mul" not in c.source(_unit(loop, c.RESERVED, t=[1.0] * 50), "0", "f.h")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{T}x = linspace(0, 1, n)\nsum(x * t)", "for arrays of any size"),
        (f"{T}sum(t[::2])", "a number depends on the size"),
        (f"{T}y = t[0]\nif len(t) % 5 == 0:\n    y = t[1]\ny", "no test may depend"),
        (f"{T}t[0] if n == 20 else t[1]", "no test may depend"),
        (f"{T}k = 2 * t.shape[0]\nt[0] * (k > 1000)", "no test may depend"),
        (f"{T}t[min(len(t), 50) - 1]", "no test may depend"),
        (f"{T}y = t[0]\nwhile len(t) % 7:\n    y = y * 2\n    break\ny", "no test may depend"),
        (f"{T}def f(x):\n    return x[0] if x.size(0) > 30 else x[1]\nf(t)", "no test may depend"),
        (
            f"{T}def f(x, k):\n    return x[0] if k > 9 else x[1]\nf(t, len(t))",
            "no test may depend",
        ),
        (f"{T}f = lambda x: 2 * len(x)\nt[0] if f(t) == 8 else t[1]", "no test may depend"),
        (f"{T}w = (t > 0.5) * 2\ns = 0.0\nfor i in range(n):\n    s = s + t[i] * w[i]\ns", "ints"),
        (f"{T}sum(t) / len(t) ** 0.5", "in a way that has no formula"),
        (f"{T}y = sum(t)\nif len(t) % 2 == 0:\n    y = sum(t * t)\ny", "no test may depend"),
        (f"{T}sum(sin(t)) if len(t) % 2 else sum(cos(t))", "no test may depend"),
        (f"{T}w = arange(n)\nsum(w * t)", "a table in it"),
        (f"{T}sum(sort(t)[0])", "`sort`"),
        (f"{T}sum(t) * randn(1)[0]", "random"),
        ("input a: float[n, m, k, l]\nsum(a)", "4 free sizes"),
    ],
)
def test_what_has_no_form_for_any_size_says_why(text, words):
    with pytest.raises(GradError) as refused:
        _unit(text, c.RESERVED)
    (said,) = refused.value.diagnostics
    assert words in said.message
    assert said.help


@needs_cc
@pytest.mark.parametrize("name", ["fit", "rows", "until"])
def test_a_test_beside_it_passes(tmp_path, name):
    for file in ("f.c", "f.py"):
        for path, text in load(PROGRAMS[name]).export(file, check=True).items():
            (tmp_path / path).write_text(text)
    command = [CC, "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
    files = [tmp_path / "f.c", tmp_path / "f_test.c"]
    subprocess.run([*command, *files, "-o", tmp_path / "f", "-lm"], check=True)
    for run in ([tmp_path / "f"], [sys.executable, tmp_path / "f_test.py"]):
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "all numbers are right\n"), done.stderr
