"""Each op on numbers has the digits of gradcli in exported C, value and derivatives."""

import math

import pytest
from support.checks.exported_c import CC, called, library

from gradcli.engine.compile.export.languages import c
from gradcli.engine.ops.catalog import ops
from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import request
from gradcli.questions.exported.export import written

POINTS = [(0.6, 1.4), (-0.3, 2.0), (2.5, -1.5), (0.0, 1.0)]
MOST = 2  # arguments of an op

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CC is None, reason="there is no C compiler"),
]


def _units():
    """Each op whose arguments are numbers alone, as a program and its unit."""
    for name in [*ops]:
        op = ops[name]
        if op.value.number is None or op.params or not op.differentiable or len(op.args) > MOST:
            continue
        args = ["x", "y"][: len(op.args)]
        inputs = "".join(f"input {x} = 0.5\n" for x in args)
        try:
            program = load(f"{inputs}{name}({', '.join(args)})")
            unit = written(program.loaded, request({}, {}), [], 1, f"f_{name}", c.RESERVED)
        except GradError:
            continue  # no function of the language, or no formula
        yield name, program, unit


def _expected(program, values):
    try:
        found = program.grad(values)
    except GradError:
        return None
    numbers = [found.value, *found.grad.values()]
    return numbers if all(map(math.isfinite, numbers)) else None


def test_each_op_has_the_digits_of_gradcli(tmp_path):
    units, files = [*_units()], {}
    for _, _, unit in units:
        files[f"{unit.name}.c"] = c.source(unit, "0", f"{unit.name}.h")
        files[f"{unit.name}.h"] = c.header(unit, "0", f"{unit.name}.h")
    made = library(tmp_path, files, ["-fno-builtin"])
    assert len(units) > 80
    for name, program, unit in units:
        for point in POINTS:
            values = {x: v for x, v in zip("xy", point, strict=True) if x in program.inputs}
            status, found = called(made, unit, values)
            numbers = None if status else [*found["value"], *found["grad"]]
            assert numbers == _expected(program, values), (name, values)
