"""The table of all samples: which orders of derivatives C and Python have, and why not the others."""

import numpy as np
import pytest
from support.checks.exported_c import CC, called, library
from support.checks.exported_python import function_of, hold_names
from support.processes.house import ROOT
from support.programs.exported import answer, defaults

from gradcli.engine.compile.export.languages import c, python
from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import request
from gradcli.questions.exported.export import written

ALL = (0, 1, 2)
WRITTEN = {
    **dict.fromkeys(
        [
            *("black_scholes", "cooling", "decay", "exponential_fit", "gauge_block", "kepler"),
            *("linear", "logistic", "newton", "newtons_method", "no_grad", "orbit", "pendulum"),
            *("polynomial", "rat43", "rosenbrock", "two_paths"),
        ],
        (None, ALL, ""),
    ),
    "accumulation": ("y", ALL, ""),
    "doubling": ("y", (0, 1), "not a single number"),
    "epidemic": (None, ALL, ""),
    "hessian_vector": ("product", (0, 1), "not a single number"),
    "mean_of_squares": (None, ALL, ""),
    "two_bodies": (None, (0, 1), "not a single number"),
}
"""Samples that have source code: the result, the orders, words of the reason against the others."""

REFUSED = {
    "control_flow": (None, "random numbers"),
    "descent": (None, "changed in place under `no_grad`"),
    "first_network": (None, "`torch.nn.Linear`"),
    "graph_walk": (None, "`.grad_fn`"),
    "higher_order": (None, "a backward pass is recorded"),
    "micrograd": (None, "a class"),
    "ones_like": ("z", "`ones_like`"),
    "own_relu": ("loss", "`MyReLU`"),
    "own_scale": (None, "`Scale`"),
    "two_layer": ("loss", "changed in place"),
}
"""Samples that have none: the result, and words of the reason."""

VECTORS = ("doubling", "hessian_vector", "two_bodies")
"""Samples whose result is no single number."""

SLOW = ("descent", "epidemic", "first_network")
HEAVY = ("black_scholes", "cooling", "exponential_fit", "kepler", "newtons_method", "pendulum")
"""Samples whose second derivatives are long."""

needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler")


def _is_slow(name, order):
    return name in SLOW or (order > 1 and name in HEAVY)


ROWS = [(name, order) for name, (_, orders, _) in WRITTEN.items() for order in orders]
MARKED = [pytest.param(*row, marks=[pytest.mark.long] if _is_slow(*row) else ()) for row in ROWS]


def _unit(program, name, of, order):
    """The function with names that neither language has for something else."""
    of = [] if of is None else [of]
    words = c.RESERVED | python.RESERVED
    return written(program.loaded, request({}, {}), of, order, f"{name}_{order}", words)


@pytest.fixture(scope="module")
def units():
    """Makes the program and the function of a sample once."""
    made = {}

    def of(name, order):
        program, found = made.setdefault(name, (load(str(ROOT / f"samples/{name}.grad")), {}))
        if order not in found:
            found[order] = _unit(program, name, WRITTEN[name][0], order)
        return program, found[order]

    return of


@pytest.fixture(scope="module")
def made_by_c(units, tmp_path_factory):
    """The library of all functions that are not slow to write."""
    files = {}
    for row in ROWS:
        if not _is_slow(*row):
            files |= _files(units(*row)[1])
    return library(tmp_path_factory.mktemp("samples"), files, ["-O0"])


def _files(unit):
    head = f"{unit.name}.h"
    return {f"{unit.name}.c": c.source(unit, "0", head), head: c.header(unit, "0", head)}


def _values(program, unit):
    """The values that the inputs and leaves begin with."""
    given = defaults(program)
    return {p.of: given[p.of] if p.of in given else program.run().values[p.of]
            for p in unit.parameters}  # fmt: skip


def _compare(found, program, name, order, values):
    """Compare value, first and second derivatives with gradcli's."""
    of = WRITTEN[name][0]
    inputs = {n: x for n, x in values.items() if n in program.inputs}
    numbers = [np.ravel(x).tolist() for x in found]
    if not order:
        done = program.run(inputs)
        whole = done.result if of is None else done.values[of]
        several = whole if isinstance(whole, (list, tuple)) else [whole]
        assert numbers == [[y for x in several for y in np.ravel(x).tolist()]]
        return
    value, first = answer(program, inputs, name in VECTORS, of)
    assert numbers[0] == pytest.approx(value, rel=1e-13, abs=0)  # NumPy's exp is not C's
    assert numbers[1] == pytest.approx(first, rel=1e-12, abs=1e-13)
    if order > 1:
        rows = program.hessian(inputs, of=of, mode="forward").hessian
        count = len(first)
        parts = [
            np.concatenate(
                [np.reshape(x, (-1, np.size(values[other]))) for other, x in row.items()], axis=1
            )
            for row in rows.values()
        ]
        whole = np.concatenate(parts).reshape(count, count)
        assert numbers[2] == pytest.approx(whole.ravel(), rel=1e-12, abs=1e-12)


@needs_cc
@pytest.mark.parametrize(("name", "order"), MARKED)
def test_c_has_the_numbers_of_gradcli(units, made_by_c, tmp_path, name, order):
    program, unit = units(name, order)
    values = _values(program, unit)
    loaded = library(tmp_path, _files(unit)) if _is_slow(name, order) else made_by_c
    status, found = called(loaded, unit, values)
    assert status == 0
    _compare(found.values(), program, name, order, values)


@pytest.mark.parametrize(("name", "order"), MARKED)
def test_python_has_the_numbers_of_gradcli(units, name, order):
    program, unit = units(name, order)
    text = python.source(unit, "0")
    values = _values(program, unit)
    given = [np.array(values[p.of]) if p.shape else values[p.of] for p in unit.parameters]
    found = function_of(text, unit.name)(*given)
    _compare(found if isinstance(found, tuple) else (found,), program, name, order, values)
    hold_names(text)


@pytest.mark.parametrize(
    ("name", "of", "order", "words"),
    [
        pytest.param(*row, marks=[pytest.mark.long] if row[0] in SLOW else ())
        for row in [
            *((name, of, 1, words) for name, (of, words) in REFUSED.items()),
            *(
                (name, of, order, words)
                for name, (of, orders, words) in WRITTEN.items()
                for order in ALL
                if order not in orders
            ),
        ]
    ],
)
def test_a_refusal_has_a_place_a_reason_and_a_way_out(name, of, order, words):
    with pytest.raises(GradError) as refused:
        _unit(load(str(ROOT / f"samples/{name}.grad")), name, of, order)
    (said,) = refused.value.diagnostics
    assert said.code == "not-compilable"
    assert words in said.message
    assert said.help
    assert said.source is not None
    assert said.span is not None


def test_the_table_has_every_sample():
    samples = {path.stem for path in (ROOT / "samples").glob("*.grad")}
    assert samples == {*WRITTEN, *REFUSED}
