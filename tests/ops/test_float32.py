"""float32 goes through every op as float32: value, gradient and tangent."""

from __future__ import annotations

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.oracles import Run, forward, per_op, reverse, table, values

from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet, dtype_of
from gradcli.program import load

FLOAT64 = {"float_power": "PyTorch: it is calculated in float64"}
NO_VALUE = {"view_update", "zeros_of", "cast"}  # internal; they take no arrays or choose the dtype


def is_wide(s) -> bool:
    """Whether a sample holds a float64 array and leaves the result's dtype to its arguments."""
    arrays = [a for a in values(s.args) if isinstance(a, np.ndarray)]
    return s.params.get("dtype") is None and any(a.dtype == np.float64 for a in arrays)


CASES = per_op(
    (op, list(filter(is_wide, op.page.samples())))
    for op in table().values()
    if (op.value.array or op.value.body) and op.name not in NO_VALUE
)


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


def single(a):
    return a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype == np.float64 else a


def arrays(args):
    """A sample's arguments, numbers in them made arrays: a Python number takes any dtype."""
    return [np.array(a) if type(a) is float else a for a in values(args)]


def near(got, expected) -> bool:
    got, expected = np.asarray(data_of(got), np.float64), np.asarray(data_of(expected), np.float64)
    finite = np.isfinite(expected)
    scale = np.max(np.abs(expected[finite]), initial=0.1)  # sinc(1) is 0 by cancellation
    return bool(np.allclose(got, expected, rtol=2e-5, atol=2e-5 * scale, equal_nan=True))


@by_family(CASES)
def test_float32_stays_float32(op, samples):
    for s in samples:
        check_float32(op, s)


def check_float32(op, s):
    wide, narrow = arrays(s.args), [single(a) for a in arrays(s.args)]
    before = [
        single(a).astype(np.float64) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a
        for a in wide
    ]
    expected, got = Run(op, before, s.params), Run(op, narrow, s.params)
    told = f"{op.name}{s.args} {s.params}"
    for i, (e, g) in enumerate(zip(expected.results, got.results, strict=True)):
        dtype = "float32" if e.dtype == "float64" and op.name not in FLOAT64 else e.dtype
        assert g.dtype == dtype, f"result {i} of {told} is {g.dtype}, expected {dtype}"
        assert near(g, e), f"result {i} of {told}: got\n{g.data}\nin float64\n{e.data}"
    if not got.outs:
        return
    gs = [np.cos(np.arange(np.prod(o.shape, dtype=int))).reshape(o.shape) for o in got.outs]
    pulled = reverse(
        got.outs, [g.astype(o.dtype) for g, o in zip(gs, got.outs, strict=True)], got.leaves
    )
    wanted = reverse(expected.outs, gs, expected.leaves)
    for x, c, w in zip(got.leaves, pulled, wanted, strict=True):
        assert dtype_of(data_of(c)) == x.dtype, f"gradient of {told} is {dtype_of(data_of(c))}"
        assert near(c, w), f"gradient of {told}: got\n{data_of(c)}\nin float64\n{data_of(w)}"
    dots = [np.ones(x.shape, x.dtype) for x in got.leaves]
    pushed = forward(got.outs, dots, got.leaves)
    for o, t in zip(got.outs, pushed, strict=True):
        assert dtype_of(data_of(t)) == o.dtype, f"tangent of {told} is {dtype_of(data_of(t))}"


def test_a_number_beside_float32_keeps_it():
    op = table()["mul"]
    assert isinstance(out := op(Tensor(np.ones(2, np.float32)), 2.0), Tensor)
    assert out.dtype == "float32"


def test_a_quotient_by_single_precision_has_its_slope_in_double():
    y = np.float32(-1.39)
    text = "x = tensor([0.7], requires_grad=True)\ny = tensor([-1.39], dtype=float32)\n"
    assert load(f"{text}sum(x / y)").grad(wrt=["x"]).grad["x"] == 1 / np.float64(y)
    assert load(f"{text}sum(x / y)").jvp(tangents={"x": [1.0]}).jvp == 1 / np.float64(y)


def test_a_scaled_int_beside_float32_keeps_it():
    x, y = Tensor(np.ones(2, np.float32)), Tensor(np.array([1, 2]))
    for name in ("add", "sub"):
        for operands in ((x, y), (y, x)):
            assert table()[name](*operands, alpha=0.5).dtype == "float32", name
