"""The formulas of the documentation are programs: run, they give the derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from support.checks.oracles import Run, reverse, split, table, values

from gradcli.engine.ops.catalog import ops as catalog
from gradcli.engine.ops.pages.formula import cotangents
from gradcli.engine.ops.rules import fit
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet
from gradcli.program import load_source
from gradcli.source import Source

OPS = table()
CASES = [
    pytest.param(op, name, text, id=f"{op.name}-{name}")
    for op in OPS.values()
    if not op.variadic and ".internal." not in catalog.families[op.name]
    for name, text in cotangents(op).items()
]


@pytest.mark.parametrize(("op", "name", "text"), CASES)
def test_a_formula_is_a_program_that_gives_the_cotangent(op, name, text):
    point = op.page.samples()[0]
    with Quiet():
        run = Run(op, values(point.args), point.params)
        place = op.args.index(name)
        if run.inputs[place] not in run.leaves:
            pytest.skip(f"{name} of the sample is no float")
        rng = np.random.default_rng(0)
        gs = split(rng.uniform(0.5, 2.0, sum(int(np.prod(o.shape)) for o in run.outs)), run.outs)
        expected = reverse(run.outs, gs, run.leaves)[run.leaves.index(run.inputs[place])]
    given = {
        arg: x.data if isinstance(x, Tensor) else x
        for arg, x in zip(op.args, run.inputs, strict=False)
    }
    if len(run.results) > 1:
        pytest.skip("several results")
    given |= {"g": gs[0], "out": data_of(run.outs[0])}
    if any(np.asarray(x).dtype == bool for x in given.values()):  # undeclared it is a float
        kinds = {n: "bool" if np.asarray(x).dtype == bool else "float" for n, x in given.items()}
        text = "\n".join([*(f"input {n}: {kind}[...]" for n, kind in kinds.items()), text])
    program = load_source(Source("formula", text), frozenset(given))
    got = program.run({n: given[n] for n in program.inputs}).result
    if np.size(got) > np.size(expected):
        got = fit(got, given[name])
    assert np.allclose(got, expected, rtol=1e-12), f"{op.name} by {name}: {text}: {got} {expected}"


def test_most_element_wise_ops_have_a_formula():
    elementwise = [op for op in OPS.values() if op.derivatives.partials is not None]
    without = [op.name for op in elementwise if not cotangents(op)]
    assert len(without) < len(elementwise) / 6, without
