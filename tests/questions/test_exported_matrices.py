"""Jacobians and Hessians of whole arrays in exported C and Python: loops over rows or columns."""

import numpy as np
import pytest
from support.checks.exported_c import CC, called, library
from support.checks.exported_python import function_of
from support.programs.exported import CURVED, MATRICES, defaults

from gradcli.engine.compile.export.languages import c, python
from gradcli.program import load
from gradcli.questions.asked.request import request
from gradcli.questions.exported.export import written

needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler")

ROWS = [
    *((name, text, 1, mode) for name, text in MATRICES.items() for mode in ("forward", "reverse")),
    *((name, text, 2, "auto") for name, text in CURVED.items()),
]
IDS = [f"{name}-{order}-{mode}" for name, _, order, mode in ROWS]


def _unit(text, name, order, mode, of=()):
    words = c.RESERVED | python.RESERVED
    return written(load(text).loaded, request({}, {}, mode=mode), of, order, name, words)


@pytest.fixture(scope="module")
def units():
    return {
        key: _unit(text, f"f{k}", order, mode)
        for k, (key, (_, text, order, mode)) in enumerate(zip(IDS, ROWS, strict=True))
    }


@pytest.fixture(scope="module")
def by_c(units, tmp_path_factory):
    files = {}
    for unit in units.values():
        head = f"{unit.name}.h"
        files |= {f"{unit.name}.c": c.source(unit, "0", head), head: c.header(unit, "0", head)}
    return library(tmp_path_factory.mktemp("matrices"), files)


def _compare(found, text, order, mode):
    program = load(text)
    values = defaults(program)
    if order == 1:
        done = program.jacobian(values, mode=mode)
        size = np.size(done.value)
        parts = [np.reshape(x, (size, -1)) for x in done.jacobian.values()]
        expected = [np.ravel(done.value), np.concatenate(parts, axis=1)]
    else:
        done = program.hessian(values, mode="forward")
        grads = [np.ravel(x) for x in done.grad.values()]
        rows = [
            np.concatenate([np.reshape(x, (g.size, -1)) for x in row.values()], axis=1)
            for g, row in zip(grads, done.hessian.values(), strict=True)
        ]
        expected = [np.ravel(done.value), np.concatenate(grads), np.concatenate(rows)]
    for x, y in zip(found, expected, strict=True):
        scale = max(1.0, float(np.max(np.abs(y))))
        assert np.allclose(np.ravel(x), np.ravel(y), rtol=1e-12, atol=1e-13 * scale)


@needs_cc
@pytest.mark.parametrize(("key", "row"), [*zip(IDS, ROWS, strict=True)], ids=IDS)
def test_c_has_the_numbers_of_gradcli(units, by_c, key, row):
    _, text, order, mode = row
    unit = units[key]
    status, found = called(by_c, unit, defaults(load(text)), _enough(unit))
    assert status == 0
    _compare([*found.values()], text, order, mode)


def _enough(unit):
    """The work memory that is just enough; None where that depends on the path."""
    return None if unit.tape.per_turn else unit.work


@needs_cc
@pytest.mark.parametrize("key", ["loop-1-reverse", "loop-2-auto", "matrix-1-forward"])
def test_one_number_of_memory_less_is_status_1_and_writes_nothing(units, by_c, key):
    _, text, *_ = ROWS[IDS.index(key)]
    unit = units[key]
    status, found = called(by_c, unit, defaults(load(text)), _enough(unit) - 1)
    assert status == 1
    assert {x for several in found.values() for x in several} == {7.25}


@pytest.mark.parametrize(("key", "row"), [*zip(IDS, ROWS, strict=True)], ids=IDS)
def test_python_has_the_numbers_of_gradcli(units, key, row):
    _, text, order, mode = row
    unit = units[key]
    values = defaults(load(text))
    given = [np.array(values[p.of]) if p.shape else values[p.of] for p in unit.parameters]
    found = function_of(python.source(unit, "0"), unit.name)(*given)
    _compare(found, text, order, mode)


def test_several_numbers_have_rows_by_arrays():
    text = "input x: float[12]\np = sum(x * x)\nq = prod(x)\np + q"
    for mode in ("forward", "reverse"):
        unit = _unit(text, "f", 1, mode, ("p", "q"))
        x = np.linspace(0.5, 1.5, 12)
        value, jacobian = function_of(python.source(unit, "0"), "f")(x)
        assert np.allclose(value, [x @ x, np.prod(x)])
        assert np.allclose(jacobian, [*(2 * x), *(np.prod(x) / x)])


def test_the_tape_of_a_row_is_used_again_for_the_next():
    row = _unit(MATRICES["loop"], "f", 1, "reverse")
    alone = _unit(MATRICES["loop"].removesuffix("y") + "sum(y)", "f", 1, "reverse")
    assert row.tape.fixed == alone.tape.fixed > 0


def test_what_does_not_depend_on_the_row_stands_before_the_loop():
    text = c.source(_unit(CURVED["powers"], "f", 2, "auto"), "0", "f.h")
    before, inside = text.split("for (int64_t row")
    assert "pow(" in before
    assert "pow(" not in inside
