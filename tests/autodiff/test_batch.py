"""Directions pushed together give what they give one by one."""

from __future__ import annotations

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.oracles import cases, flat, floating, table, values

from gradcli.engine.autodiff import forward, linearize
from gradcli.engine.autodiff.linearize import Linearized
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import sample
from gradcli.engine.tape.tensor import leaf
from gradcli.engine.values import batch
from gradcli.engine.values.batch import Batch
from gradcli.engine.values.carrier import like_of
from gradcli.engine.values.data import Quiet
from gradcli.program import load
from gradcli.questions.asked.request import Options

OPS = [
    pytest.param(op, id=op.name)
    for op in table().values()
    if (op.differentiable or op.value.body) and op.name not in {"view_update", "zeros_of"}
    if any(floating(a) for s in op.page.samples() for a in values(s.args))
]


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


@by_family(OPS)
def test_rows_and_columns_are_those_of_single_passes(op):
    for case in cases(op):
        check_passes(case)


def check_passes(case):
    run = case.run
    expected = {"rows": case.rows, "columns": case.columns}
    line = Linearized(run.outs, {x.node: like_of(x) for x in run.leaves})
    both = {"rows": line.jacobian("reverse"), "columns": line.jacobian("forward")}
    for name, together in both.items():
        blocks = []
        for found, out in zip(together, run.outs, strict=True):
            size = flat([out]).size
            parts = [np.reshape(found[x.node], (size, flat([x]).size)) for x in run.leaves]
            blocks.append(np.concatenate(parts, 1) if parts else np.zeros((size, 0)))
        got = np.concatenate(blocks) if blocks else np.zeros((0, 0))
        assert np.allclose(got, expected[name], rtol=1e-13, atol=1e-13, equal_nan=True), (
            f"{name} of {case.op.name}{case.sample.args} {case.params}: got\n{got}\nexpected\n{expected[name]}"
        )


EMPTY = {
    "cat": [sample([], [], dim=0), sample([], [], [1.0], dim=0)],
    "stack": [sample([], [], dim=0)],
}
JOINED = [
    pytest.param(op, [*op.page.samples(), *EMPTY.get(op.name, [])], id=op.name)
    for op in table().values()
    if op.derivatives.batch is not None
]


@by_family(JOINED)
def test_there_is_a_result_for_each_direction_whichever_argument_has_them(op, samples):
    for s in samples:
        args = [np.asarray(a, float) if type(a) is float else a for a in values(s.args)]
        for i, a in enumerate(args):
            if not isinstance(a, np.ndarray) or a.dtype.kind != "f":
                continue
            ways = np.random.default_rng(0).standard_normal((3, *a.shape))
            found = op(*args[:i], Batch(ways), *args[i + 1 :], **s.params)
            single = [op(*args[:i], way, *args[i + 1 :], **s.params) for way in ways]
            several = isinstance(found, tuple)
            for k, part in enumerate(found if several else [found]):
                expected = np.stack([np.asarray(out[k] if several else out) for out in single])
                told = f"{op.name}{s.args} {s.params}, argument {i}, result {k}"
                assert part.data.shape == expected.shape, told
                assert np.allclose(part.data, expected, rtol=1e-12, equal_nan=True), told


@pytest.fixture
def passes(monkeypatch):
    """The passes through the graph that are made."""
    made = []
    for module, name in ((linearize, "cotangents"), (forward, "tangents")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, f=real, n=name: made.append(n) or f(*a))
    return made


def test_a_large_jacobian_takes_few_passes(passes):
    x, w = leaf(np.linspace(0, 1, 50)), np.cos(np.arange(2500.0)).reshape(50, 50)
    out = ops.tanh(ops.matmul(w, x))
    (found,) = Linearized([out], {x.node: like_of(x)}).jacobian("reverse")
    assert passes == ["cotangents"]
    assert np.allclose(found[x.node], (1 - out.data**2)[:, None] * w, rtol=1e-13)


def test_the_columns_of_many_inputs_take_one_pass(passes):
    xs = [leaf(float(i)) for i in range(20)]
    v = leaf(np.linspace(0, 1, 3))
    out = ops.add(ops.stack(*xs, dim=0), ops.sum(ops.sin(v)))
    line = Linearized([out], {x.node: like_of(x) for x in (*xs, v)})
    (found,) = line.jacobian("forward")
    assert passes == ["tangents"]
    assert np.array_equal(np.stack([found[x.node] for x in xs], 1), np.eye(20))
    assert np.allclose(found[v.node], np.cos(v.data) * np.ones((20, 1)), rtol=1e-15)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("jacobian(f)(x)", "cotangents"),
        ("jacfwd(f)(x)", "tangents"),
        ("hessian(lambda x: f(x).sum())(x)", "tangents"),
    ],
)
def test_a_jacobian_inside_a_program_takes_few_passes(passes, call, kind):
    text = f"f = lambda x: tanh(x * x[0])\nx = linspace(0, 1, 20)\n{call}"
    result = load(text).run().result
    assert passes == [kind]
    assert result.shape == (20, 20)
    alone = [load(f"{text}[{i}]").run().result for i in (0, 7)]
    again = load(text.replace("x = ", "param p = 1.0\nx = p * ")).grad(cotangent=np.ones((20, 20)))
    assert np.allclose(again.value, result, rtol=1e-13), "recorded, row by row"
    assert np.array_equal(alone, result[[0, 7]])


OF_NUMBERS = [
    op for op in table().values() if op.value.number and op.differentiable and not op.value.body
]
DIRECTIONS = np.array([-0.0, 0.0, 1.5, -1.5])


def by_numbers(op):
    """Places of an op among numbers, the first ones of its samples: its value there, the arguments,
    and which of them moves.
    """
    for s in op.page.samples():
        flat = [None if a is None else np.ravel(a).tolist() for a in values(s.args)]
        params = op.params | s.params
        if [] in flat or params.get("dim") is not None:
            continue
        args = [None if a is None else a[0] for a in flat]
        out = op.evaluate(args, params)
        saves = op.tape.saves * len(args) if op.variadic else op.tape.saves
        saved = zip(args, saves, strict=True)
        read = [a if a is None or reads else like_of(a) for a, reads in saved]
        for i, a in enumerate(args):
            if type(out) is type(a) is float:
                yield out, read, params, i


def bits(x):
    """Numbers of all directions; one that is the same for all stands for each."""
    return np.broadcast_to(getattr(x, "data", x), DIRECTIONS.shape).astype(float).tobytes()


def test_numbers_pushed_and_pulled_together_have_the_bits_of_those_one_by_one():
    wrong = []
    for op in OF_NUMBERS:
        for out, args, params, i in by_numbers(op):
            wanted = [k == i for k in range(len(args))]

            def pushed(dot, i=i, op=op, out=out, args=args, params=params):
                dots = [dot if k == i else None for k in range(len(args))]
                return op.push(dots, out, args, params)

            def pulled(g, i=i, op=op, out=out, args=args, params=params, wanted=wanted):
                return op.pull(g, out, args, params, wanted)[i]

            for way in (pushed, pulled):
                alone = [way(float(d)) for d in DIRECTIONS]
                if alone[0] is not None and bits(alone) != bits(way(Batch(DIRECTIONS))):
                    wrong.append(f"{op.name}{args} {way.__name__} {alone}")
    assert not wrong, "\n".join(wrong)


ASSIGNED = {
    "one element": "x[1] = p[0] * p[1]",
    "a part": "x[2:] = p[:2] * 2.0",
    "a number": "x[0] = 3.0",
    "places": "x[[3, 0]] = p[1:]",
    "a mask": "x[tensor([True, False, True, False])] = p[:2]",
    "a row": "m[0] = p * p",
    "a column": "m[:, 1] = p[:2]",
    "a view's element": "m[1][2] = p[0]",
    "a turned view": "m.t()[2] = p[:2]",
    "a view in another shape": "m.view(6)[3] = p[2]",
}


@pytest.mark.parametrize("text", ASSIGNED.values(), ids=ASSIGNED)
def test_what_is_assigned_by_an_index_goes_in_one_piece(text, monkeypatch):
    given = "param p: float[n]\nx, m = p.sum() * ones(4), outer(p[:2], ones(3))\n"
    ends = "\ncat([x * x, (m * m).flatten()])"
    program, never = load(given + text + ends), Options(compile="never")
    one_by_one = []
    real = batch._one_by_one
    monkeypatch.setattr(batch, "_one_by_one", lambda *a: one_by_one.append(a) or real(*a))
    for mode in ("forward", "reverse"):
        found = program.jacobian(p=[0.5, -2.0, 3.0], mode=mode, options=never).jacobian["p"]
        with monkeypatch.context() as alone:
            alone.setattr(linearize, "ELEMENTS", 1)
            wanted = program.jacobian(p=[0.5, -2.0, 3.0], mode=mode, options=never).jacobian["p"]
        assert np.array_equal(found, wanted)
    assert not one_by_one
