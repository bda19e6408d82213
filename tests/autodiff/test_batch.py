"""Directions pushed together give what they give one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracles import Run, flat, floating, jacobian_forward, jacobian_reverse, table, values

from gradcli.engine.autodiff.batch import Batch
from gradcli.engine.autodiff.jacobian import columns, rows
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.tensor import leaf
from gradcli.engine.values.data import Quiet

CASES = [
    pytest.param(op, s, id=f"{op.name}-{i}-{s.id}")
    for op in table().values()
    if (op.differentiable or op.body) and op.name not in {"view_update", "zeros_of"}
    for i, s in enumerate(op.samples())
    if any(floating(a) for a in values(s.args))
]


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


@pytest.mark.parametrize(("op", "s"), CASES)
def test_rows_and_columns_are_those_of_single_passes(op, s):
    run = Run(op, values(s.args), s.params)
    expected = {"rows": jacobian_reverse(run), "columns": jacobian_forward(run)}
    targets = {x.node: x.shape for x in run.leaves}
    outputs = [(out.node, out.index, out.shape) for out in run.outs]
    both = {"rows": [rows(*out, targets) for out in outputs], "columns": columns(outputs, targets)}
    for name, together in both.items():
        blocks = []
        for found, out in zip(together, run.outs, strict=True):
            parts = [
                part.reshape(len(part), int(np.prod(part.shape[1:])))
                for part in (found[x.node] for x in run.leaves)
            ]
            if name == "columns":
                parts = [part.T for part in parts]
            blocks.append(np.concatenate(parts, 1) if parts else np.zeros((flat([out]).size, 0)))
        got = np.concatenate(blocks) if blocks else np.zeros((0, 0))
        assert np.allclose(got, expected[name], rtol=1e-13, atol=1e-13, equal_nan=True), (
            f"{name} of {op.name}{s.args} {s.params}: got\n{got}\nexpected\n{expected[name]}"
        )


def test_a_large_jacobian_takes_few_passes(monkeypatch):
    from gradcli.engine.autodiff import jacobian as jacobians

    x, w = leaf(np.linspace(0, 1, 50)), np.cos(np.arange(2500.0)).reshape(50, 50)
    out = ops.tanh(ops.matmul(w, x))
    passes = []
    real = jacobians.cotangents
    monkeypatch.setattr(jacobians, "cotangents", lambda *a, **k: passes.append(1) or real(*a, **k))
    found = rows(out.node, 0, out.shape, {x.node: x.shape})[x.node]
    assert len(passes) == 1
    assert np.allclose(found, (1 - out.data**2)[:, None] * w, rtol=1e-13)


def test_the_columns_of_many_inputs_take_one_pass(monkeypatch):
    from gradcli.engine.autodiff import jacobian as jacobians

    xs = [leaf(float(i)) for i in range(20)]
    v = leaf(np.linspace(0, 1, 3))
    out = ops.add(ops.stack(*xs, dim=0), ops.sum(ops.sin(v)))
    passes = []
    real = jacobians.tangents
    monkeypatch.setattr(jacobians, "tangents", lambda *a, **k: passes.append(1) or real(*a, **k))
    targets = {x.node: x.shape for x in (*xs, v)}
    (found,) = columns([(out.node, 0, out.shape)], targets)
    assert len(passes) == 1
    assert np.array_equal(np.stack([found[x.node][0] for x in xs]), np.eye(20))
    assert np.allclose(found[v.node], np.cos(v.data)[:, None] * np.ones(20), rtol=1e-15)


IN_ONE = [case for case in CASES if case.values[0].batch] + [
    pytest.param(op, s, id=f"{op.name}-{i}")
    for op in (ops.cast, ops.unindex, ops.sum_to, ops.where)
    for i, s in enumerate(op.samples())
]


def test_the_linear_ops_that_rules_are_made_of_have_a_way_in_one_piece():
    names = {case.values[0].name for case in IN_ONE}
    assert {"reshape", "sum", "sum_to", "expand", "permute", "getitem", "unindex"} <= names
    assert {"cat", "stack", "matmul", "cast", "clone"} <= names


@pytest.mark.parametrize(("op", "s"), IN_ONE)
def test_in_one_piece_is_one_by_one(op, s):
    """Of any of the arguments there may be several."""
    given = values(s.args)
    floats = [i for i, a in enumerate(given) if floating(a)]
    for count in (1, 3):
        for some in itertools.chain.from_iterable(
            itertools.combinations(floats, n) for n in range(1, len(floats) + 1)
        ):
            wide = [
                np.stack([np.asarray(a) * f for f in (1.0, -0.5, 3.0)[:count]]) if i in some else a
                for i, a in enumerate(given)
            ]
            together = op(*(Batch(a) if i in some else a for i, a in enumerate(wide)), **s.params)
            for k in range(count):
                alone = op(*(a[k] if i in some else a for i, a in enumerate(wide)), **s.params)
                assert np.array_equal(together.data[k], alone), f"{op.name}{s.args} {s.params}"
                assert together.shape == np.shape(alone)
