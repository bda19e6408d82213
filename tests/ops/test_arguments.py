"""Every argument of every op, given what it cannot take: a refusal that names it, never a bug."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.oracles import samples, table, values

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED
from gradcli.engine.run.fast.call import by_name
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Number, Tensor, leaf
from gradcli.engine.values.data import Quiet
from gradcli.engine.values.dtypes import FLOAT32
from gradcli.engine.values.refusals import too_many_dimensions
from gradcli.errors import GradError


def identity(*args):
    return args[0] if args else 1.0


NAMED = {"text": "abc", "None": None, "a function": identity}
"""What few arguments take: who refuses it names the argument."""
ODD = {
    **NAMED,
    "a list of text": ["a"],
    "no list": [],
    "ragged": [[1.0, 2.0], [3.0]],
    "no tuple": (),
    "negative": -1,
    "huge": 10**12,
    "largest": 2**63 - 1,
    "smallest": -(2**63),
    "bool": True,
    "nan": float("nan"),
    "inf": float("inf"),
    "half": 0.5,
    "a slice": slice(0, 1),
    "a tensor": Tensor(np.ones((2, 3, 2))),
    "empty": Tensor(np.ones(0)),
    "...": Ellipsis,
    "ints": Tensor(np.array([5, -7])),
    "floats": [0.5, 0.5],
    "a range": range(3),
}
MORE = (2, 1.0, 0, 1, (2, 2), Number(2.0), FLOAT32, "linear", "mean", leaf(np.ones((2, 2))))
OPS = [
    op
    for op in table().values()
    if ".internal" not in ops.families[op.name] and op.constant is REQUIRED
]


def given(value):
    if isinstance(value, np.ndarray):
        return leaf(value) if value.dtype.kind == "f" else Tensor(value)
    return value


def calls(op, sample):
    """The sample with each odd value in the place of each argument."""
    args = [given(a) for a in values(sample.args)]
    params = {k.removeprefix("*"): v for k, v in sample.params.items()}
    for slot in (*op.args, *(name.removeprefix("*") for name in op.params)):
        for what, odd in ODD.items():
            if op.variadic:
                listed = [*args[:-1], odd] if slot in op.args else args
                named = params if slot in op.args else {**params, slot: odd}
                yield slot, what, (listed,), named
            else:
                known = {k: a for k, a in zip(op.args, args, strict=False) if a is not None}
                yield slot, what, (), {**known, **params, slot: odd}


def refusal(op, args, keywords):
    """The message of a call, "" where it is taken."""
    try:
        by_name(op, None)(Session(), *args, **keywords)
    except GradError as error:
        return error.diagnostics[0].message
    return ""


@by_family(op for op in OPS if samples(op))
def test_an_argument_that_cannot_be_taken_is_refused_by_its_name(op):
    with Quiet():
        for slot, what, args, keywords in calls(op, samples(op)[0]):
            said = refusal(op, args, keywords)
            if said and what in NAMED and op.name != "getitem":  # which the brackets do
                assert f"`{slot}`" in said, f"{op.name}({slot}={what})"


def test_no_call_is_a_bug(monkeypatch):
    ages = itertools.count(step=2**70)  # nobody sleeps long
    monkeypatch.setattr("time.monotonic", lambda: next(ages))
    for op in OPS:
        pick = random.Random(op.name)
        slots = [*op.args, *(name.removeprefix("*") for name in op.params)]
        with Quiet():
            for _ in range(3 if op.host.call is None else 40):
                count = pick.randint(0, min(4, len(slots) + 1))
                args = [pick.choice((*ODD.values(), *MORE)) for _ in range(count)]
                named = [slot for slot in slots[count:] if pick.random() < 0.3]
                refusal(op, args, {slot: pick.choice((*ODD.values(), *MORE)) for slot in named})


def test_a_refusal_in_a_program_is_an_error_of_the_program(cli):
    for text in ("round('a')", "median(None)", "quantile(ones(2), 'a')", "equal(1.0, None)"):
        status, out, err = cli("run", "-e", text)
        assert (status, out) == (5, "")
        assert "<expr>:1:1: error[" in err


LU, PIVOTS = "[[3.0, 4.0], [0.5, 2.0]]", "[2, 2]"
TAKEN = [  # calls with arguments that few write, and what PyTorch gives
    ("cdist(x, x, compute_mode='use_mm_for_euclid_dist')", [[0.0, 8**0.5], [8**0.5, 0.0]]),
    ("pinv(x, 0.1)", [[0.04264, 0.09640], [0.06051, 0.13679]]),
    ("pinv(x, atol=1.0)", [[0.04264, 0.09640], [0.06051, 0.13679]]),
    ("pinv(x, hermitian=True)", [[-0.8, 0.6], [0.6, -0.2]]),
    ("matrix_rank(x, tol=1.0)", 1),
    ("matrix_rank(x, rtol=0.5)", 1),
    ("matrix_rank(x, hermitian=True)", 2),
    ("lstsq(x, x, driver='gelsd').solution", [[1.0, 0.0], [0.0, 1.0]]),
    ("lu_factor(x, pivot=True).pivots", [2, 2]),
    (
        f"linalg_lu_solve(tensor({LU}), tensor({PIVOTS}), x, adjoint=True)",
        [[5 / 6, 2 / 3], [-1 / 12, 1 / 3]],
    ),
    (
        f"linalg_lu_solve(tensor({LU}), tensor({PIVOTS}), x, left=False)",
        [[1 / 3, 1 / 6], [0.0, 1.0]],
    ),
    ("repeat_interleave(x, 2, dim=0, output_size=4)[:, 0]", [1.0, 1.0, 3.0, 3.0]),
    ("meshgrid(x[0], x[1], indexing='ij')[0]", [[1.0, 1.0], [2.0, 2.0]]),
    ("softmax(x, 0, dtype=float32).dtype == float32", True),
    ("softmin(x, 0, dtype=float64)[:, 0]", [0.88080, 0.11920]),
    ("norm(x, 'fro', dim=0)", [10**0.5, 20**0.5]),
    ("nansum(x, dtype=float32).dtype == float32", True),
    ("matrix_norm(x, dtype=float64)", 30**0.5),
    ("searchsorted(tensor([3.0, 1.0]), x, sorter=tensor([1, 0]))", [[0, 1], [1, 2]]),
    ("bucketize(x, x[0], out_int32=False)", [[0, 1], [2, 2]]),
    ("tensordot(ones(2, 1, 1), ones(2, 2, 3), dims=([1, 2], [0, 1]))", [[4.0] * 3, [4.0] * 3]),
    ("tensordot(x, x, dims=((0,), (1,)))", [[7.0, 15.0], [10.0, 22.0]]),
    ("einsum(x, [0, 1], x, [1, 2], [0, 2])", [[7.0, 10.0], [15.0, 22.0]]),
    ("einsum(x, [1, 0])", [[1.0, 3.0], [2.0, 4.0]]),
    ("linalg_vander(tensor(2.0), N=3)", [[1.0, 2.0, 4.0]]),
    ("avg_pool2d(x.reshape(1, 2, 2), 2, stride=[])", [[[2.5]]]),
    ("conv1d(x.reshape(1, 2, 2), ones(1, 2, 1), padding='same')", [[[4.0, 6.0]]]),
]


@pytest.mark.parametrize(("text", "expected"), TAKEN, ids=[text for text, _ in TAKEN])
def test_arguments_that_few_write_are_taken(cli, text, expected):
    program = f"x = tensor([[1.0, 2.0], [3.0, 4.0]])\n{text}"
    status, out, err = cli("run", "-f", "json", "-e", program)
    assert status == 0, err
    assert np.asarray(json.loads(out)["result"]) == pytest.approx(np.asarray(expected), abs=2e-5)


def test_derivatives_with_arguments_that_few_write(cli):
    texts = (
        "(softmax(x[0], 0, dtype=float32) ** 2).sum()",
        "(log_softmax(x[0], 0, dtype=float32) ** 2).sum()",
        "(pinv(x, hermitian=True) * tensor([[1.0, 2.0], [2.0, 5.0]])).sum()",
        "(pinv(x, 1e-9) ** 3).sum()",
        "(einsum(x, [0, 1], x, [1, 2], [0, 2]) ** 2).sum()",
        "(tensordot(x.reshape(4, 1), x, dims=([1], [0])) ** 2).sum()",
        "(repeat_interleave(x, 3, dim=1) ** 2).sum()",
    )
    for text in texts:
        program = f"param x = tensor([[1.0, 2.0], [2.0, 4.5]])\n{text}"
        found = [
            np.asarray(json.loads(cli(*command, "-f", "json", "-e", program)[1])[key]["x"])
            for command, key in (
                (("grad",), "grad"),
                (("jacobian", "--mode", "forward"), "jacobian"),
            )
        ]
        assert found[0] == pytest.approx(found[1], rel=1e-5, abs=1e-6), text
    status, _, err = cli(
        "grad", "-e", "param x = tensor([[4.0, 1.0], [0.5, 0.3]])", "-e", "pinv(x, 0.5).sum()"
    )
    assert status == 5
    assert "cut off singular values that are not zero" in err


def test_tensors_of_most_dimensions_are_taken_or_refused():
    """NumPy's own limits show in the words of messages."""
    x, wrong = leaf(np.ones([1] * 64)), []
    for op in OPS:
        for args in ([x], [x, x]):
            try:
                with Quiet():
                    refusal(op, args, {})
            except Exception as error:
                if too_many_dimensions(error) is None:
                    wrong.append((op.name, len(args), repr(error)))
    assert not wrong, wrong
