"""C that `export` writes gives gradcli's digits, and refuses what a run would refuse."""

import numpy as np
import pytest
from support.checks.exported_c import CC, called, library
from support.processes.house import ROOT

from gradcli.engine.compile.export import c
from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import request
from gradcli.questions.exported.export import written

pytestmark = pytest.mark.skipif(CC is None, reason="there is no C compiler")

TURNS = "input x = 3.0\ninput most = 100.0\nwhile x < most:\n    x = x * x / 2 + exp(-x)\nx"
NESTED = """
input x = 0.3
y = x
for i in range(4):
    z = y
    while z < 3:
        z = z + z * z + 0.1
    y = y + sin(z) * x
y
"""
BREAKS = """
input x = 0.3
y = x
for i in range(100):
    y = y * y + x
    if y > 2:
        break
y
"""
INTS = "input n: int = 3\ninput x = 2.0\nm = n * n - 7\nk = m // 2 + m % 3\nx * k + abs(n)"
COUNTED = "input n: int = 5\ninput x = 1.5\ny = 1.0\nfor i in range(n):\n    y = y * x + i\ny"
WORDS = (
    "input double = 1.0\ninput y0 = 2.0\ninput gamma = 3.0\ninput value = 0.5\ninput work = 2.0\n"
)
WORDS += "int_add = double * y0\nint_add * gamma + value * work * sin(int_add)"
OPS = "input x = 0.7\ninput y = 1.3\nhypot(x, y) + lgamma(y) + sigmoid(x) * erf(y) + x ** y + atan2(x, y)"
WHERE = "input x = 0.5\nwhere(x > 0, log(x), x ** 2) + relu(x) + maximum(x, 0.1) + clamp(x, 0, 1)"
PROGRAMS = {
    "turns": TURNS,
    "nested": NESTED,
    "breaks": BREAKS,
    "ints": INTS,
    "counted": COUNTED,
    "words": WORDS,
    "ops": OPS,
    "choice": WHERE,
    "branch": "input x = 1.0\nif x > 0:\n    y = x * x\nelse:\n    y = sin(x)\ny * y",
    "unread": "input x = 1.0\ninput y = 2.0\ninput z = 4.0\nx * z",
    "constant": "input x = 1.0\nx * 0 + 5",
    "bound": "input x = 2.0\ninput b: bool = True\ny = x * x if b else x\ny",
    "function": "def f(a, b):\n    return a * exp(b)\ninput x = 1.0\nf(x, f(x, 2.0))",
}
"""Programs by name, which their defaults run through."""

COMPILED = [
    *("black_scholes", "cooling", "decay", "exponential_fit", "gauge_block", "kepler", "logistic"),
    *(
        "newton",
        "no_grad",
        "orbit",
        "pendulum",
        "polynomial",
        "rat43",
        "rosenbrock",
        "two_bodies",
        "two_paths",
    ),
]
SECOND = ("turns", "nested", "breaks", "ops", "choice", "function")


def _unit(program, name, order=1, wrt=None, of=(), **inputs):
    asked = request(inputs, {}, wrt=wrt)
    return written(program.loaded, asked, of, order, name, c.RESERVED)


def _files(unit):
    head = f"{unit.name}.h"
    return {f"{unit.name}.c": c.source(unit, "0", head), head: c.header(unit, "0", head)}


def _defaults(program):
    """The values that inputs begin with, which the program may change later."""
    lines = program.source.text.splitlines()
    declared = [line for line in lines if line.startswith(("input ", "param "))]
    found = load("\n".join(declared)).run().values
    return {name: found[name] for name in program.inputs if name in found} or {"x": 1.0}


def _answer(program, values, is_matrix):
    """The numbers of the value and the first derivatives."""
    if not is_matrix:
        answer = program.grad(values)
        return [answer.value], [x for g in answer.grad.values() for x in np.ravel(g).tolist()]
    answer = program.jacobian(values)
    rows = [np.reshape(x, (np.size(answer.value), -1)) for x in answer.jacobian.values()]
    return np.ravel(answer.value).tolist(), np.ravel(np.concatenate(rows, axis=1)).tolist()


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    """Each program with its unit, and the library of them all."""
    programs = {name: load(text) for name, text in PROGRAMS.items()}
    programs |= {name: load(str(ROOT / f"samples/{name}.grad")) for name in COMPILED}
    units = {name: _unit(p, name) for name, p in programs.items()}
    units |= {f"{name}_2": _unit(programs[name], f"{name}_2", order=2) for name in SECOND}
    units["several"] = _unit(load("input x = 1.0\ninput y = 2.0\na = x * y\nb = sin(x)"), "several",
                             of=["b", "a"], wrt="y,x")  # fmt: skip
    files = {name: text for unit in units.values() for name, text in _files(unit).items()}
    return programs, units, library(tmp_path_factory.mktemp("c"), files)


@pytest.mark.parametrize("name", [*PROGRAMS, *COMPILED])
def test_the_digits_are_those_of_gradcli(every, name):
    programs, units, made = every
    values = _defaults(programs[name])
    status, found = called(made, units[name], values)
    value, derivative = _answer(programs[name], values, "jacobian" in found)
    assert status == 0
    assert found["value"].tolist() == value
    assert found.get("grad", found.get("jacobian")).tolist() == derivative


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_are_those_of_forward_mode(every, name):
    programs, units, made = every
    values = _defaults(programs[name])
    _, found = called(made, units[f"{name}_2"], values)
    answer = programs[name].hessian(values, mode="forward")
    rows = [[np.ravel(x)[0] for x in row.values()] for row in answer.hessian.values()]
    assert found["hessian"] == pytest.approx(np.ravel(rows), rel=1e-14)


def test_several_results_have_a_jacobian_by_rows(every):
    _, units, made = every
    _, found = called(made, units["several"], {"x": 1.0, "y": 2.0})
    assert found["value"].tolist() == [np.sin(1.0), 2.0]
    assert found["jacobian"].tolist() == [0.0, np.cos(1.0), 1.0, 2.0]


@pytest.mark.parametrize("name", ["turns", "nested", "pendulum"])
def test_too_little_work_memory_is_status_1_and_nothing_is_written(every, name):
    programs, units, made = every
    values = _defaults(programs[name])
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
        answer = programs["counted"].grad(n=n, x=1.5)
        assert (status, found["value"][0], found["grad"][0]) == (0, answer.value, answer.grad["x"])


def test_an_output_that_is_not_wanted_may_be_null(every):
    import ctypes

    _, _, made = every
    value = ctypes.c_double()
    made.branch.argtypes = [ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
    assert made.branch(3.0, ctypes.byref(value), None) == 0
    assert value.value == 81.0


REFUSED = {
    "accumulation": "requires grad",
    "control_flow": "random numbers",
    "descent": "requires grad",
    "doubling": "known only at run time",
    "epidemic": "shapes",
    "first_network": "torch.nn.Linear",
    "graph_walk": "grad_fn",
    "hessian_vector": "matrix",
    "higher_order": "recorded",
    "linear": "recorded",
    "mean_of_squares": "requires grad",
    "micrograd": "class",
    "newtons_method": "solve_columns",
    "ones_like": "requires grad",
    "own_relu": "320 elements",
    "own_scale": "Scale",
    "two_layer": "no result",
}
"""Words of the reason why a sample is refused."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_has_a_reason_and_a_way_out(name):
    with pytest.raises(GradError) as refused:
        _unit(load(str(ROOT / f"samples/{name}.grad")), name)
    (said,) = refused.value.diagnostics
    assert said.code == "not-compilable"
    assert REFUSED[name] in said.message
    assert said.help


def test_every_sample_is_compiled_or_refused():
    samples = {path.stem for path in (ROOT / "samples").glob("*.grad")}
    assert samples == {*COMPILED, *REFUSED}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("input x = 0.3\nerfinv(x)", "series"),
        ("input n: int = 1\ninput x = 1.0\nwhile n * n < 50:\n    n = n + 1\n    x = x * 2\nx",
         "the test of a loop"),
        ("input x = 1.0\nx * randn(size=())", "random numbers"),
    ],
)  # fmt: skip
def test_what_has_no_source_code_says_why(text, says):
    with pytest.raises(GradError, match=says):
        _unit(load(text), "f")
