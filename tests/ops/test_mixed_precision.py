"""Beside float64, float32 is worked out in float64: value, gradient and tangent, which are rounded
only where they become those of a float32 value. An op made of others follows from these: what of
it sees float32 alone works in that.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.checks.oracles import Run, forward, per_op, reverse, table, values

from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet, dtype_of
from gradcli.errors import GradError

RTOL = {"float64": 1e-14, "float32": 1e-6}


def is_float(a):
    return isinstance(a, np.ndarray) and a.dtype.kind == "f"


def mixtures(args):
    """The arguments in each mixture of float32 and float64."""
    places = [i for i, a in enumerate(args) if is_float(a)]
    for dtypes in itertools.product(("float32", "float64"), repeat=len(places)):
        if len(set(dtypes)) == 2:
            given = dict(zip(places, dtypes, strict=True))
            yield [a.astype(given[i]) if i in given else a for i, a in enumerate(args)]


def rounded(s):
    """The arguments of a sample as float64 whose values float32 has, though few of their products:
    a little less than the sample's.
    """
    args = [np.array(a) if type(a) is float else a for a in values(s.args)]
    return [np.float64(np.float32(0.987 * a)) if is_float(a) else a for a in args]


WHOLE = {"cosine_similarity"}  # made of ops, which PyTorch begins by making its arguments alike
FEW = 2  # samples of each op: what differs is the rule, not the shape
CASES = per_op(
    (op, [s for s in op.page.samples() if sum(map(is_float, rounded(s))) > 1][:FEW])
    for op in table().values()
    if op.value.array or op.name in WHOLE
)


@pytest.mark.parametrize(("op", "samples"), CASES)
def test_float32_beside_float64_is_worked_out_in_float64(op, samples):
    wrong = []
    for s in samples:
        args = [np.asarray(a) if isinstance(a, np.generic) else a for a in rounded(s)]
        with Quiet():
            expected = Run(op, args, s.params)
            for given in mixtures(args):
                try:
                    got = Run(op, given, s.params)
                except GradError:
                    continue
                wrong += compared(got, expected, f"{op.name}{given} {s.params}")
    assert not wrong, "\n".join(wrong[:8])


def compared(got, expected, told):
    found = [
        (f"result {i}", g.data, e.data, g.dtype)
        for i, (g, e) in enumerate(zip(got.results, expected.results, strict=True))
    ]
    gs = [np.cos(np.arange(np.prod(o.shape, dtype=int))).reshape(o.shape) for o in got.outs]
    pulled = reverse(
        got.outs, [g.astype(o.dtype) for g, o in zip(gs, got.outs, strict=True)], got.leaves
    )
    wanted = reverse(expected.outs, gs, expected.leaves)
    worst = min([o.dtype for o in got.outs], default="float64")
    for i, (x, c, w) in enumerate(zip(got.leaves, pulled, wanted, strict=True)):
        if dtype_of(data_of(c)) != x.dtype:
            yield f"gradient {i} of {told} is {dtype_of(data_of(c))}"
        found.append((f"gradient {i}", data_of(c), data_of(w), min(worst, x.dtype)))
    dots = [np.ones(x.shape, x.dtype) for x in got.leaves]
    pushed = forward(got.outs, dots, got.leaves)
    wanted = forward(expected.outs, [d.astype(np.float64) for d in dots], expected.leaves)
    for i, (o, c, w) in enumerate(zip(got.outs, pushed, wanted, strict=True)):
        if dtype_of(data_of(c)) != o.dtype:
            yield f"tangent {i} of {told} is {dtype_of(data_of(c))}"
        found.append((f"tangent {i}", data_of(c), data_of(w), o.dtype))
    for what, c, w, dtype in found:
        if not near(c, w, RTOL.get(dtype, 0.0)):
            yield f"{what} of {told}: got\n{c}\nexpected\n{w}"


def near(got, expected, rtol) -> bool:
    got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    finite = np.isfinite(expected)
    scale = np.max(np.abs(expected[finite]), initial=0.1)
    return bool(np.allclose(got, expected, rtol=rtol, atol=rtol * scale, equal_nan=True))
