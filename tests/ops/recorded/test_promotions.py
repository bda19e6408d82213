"""The dtypes of results: of a run, PyTorch's as `reference/promotions.py` recorded them; of `check`,
those of the run.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
from support.checks.by_family import by_family
from support.checks.oracles import forward, reverse, samples
from support.checks.result_dtypes import ARRAYS_FIRST, INPUTS, OPS, known, letters
from support.programs.dtype_calls import LETTERS, calls

from gradcli.engine.run.session.state import Session
from gradcli.engine.static.value import inferred
from gradcli.engine.tape.tensor import Tensor, leaf
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet, dtype_of, plain

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "promotions.json").read_text("utf-8"))["dtypes"]
LIKE_A = "PyTorch reads B as of A's dtype without a look"
DEPARTS = {  # in how many calls, and why
    "avg_pool1d": (1, "an average of ints is none"),
    "avg_pool2d": (1, "an average of ints is none"),
    "binary_cross_entropy": (1, INPUTS),
    "binary_cross_entropy_with_logits": (7, f"{INPUTS}, or in place the target's"),
    "clamp": (6, "PyTorch takes a bound without dimensions beside a number for a number"),
    "cov": (1, "weights without dimensions do not count in PyTorch"),
    "huber_loss": (4, INPUTS),
    "l1_loss": (2, ARRAYS_FIRST),
    "mse_loss": (2, ARRAYS_FIRST),
    "rms_norm": (1, INPUTS),
    "smooth_l1_loss": (2, ARRAYS_FIRST),
    "soft_margin_loss": (2, INPUTS),
    "solve_triangular": (5, LIKE_A),
}


def is_float32(a):
    return isinstance(a, Tensor) and a.dtype == "float32"


@by_family(OPS)
def test_dtypes_are_pytorchs(op):
    session = Session()
    row = RECORDED.get(op.name, "")
    expected = row.split() if " " in row else row
    departing, wrong = [], []
    asked = list(calls(op))
    assert not row or len(expected) == len(asked), "run reference/promotions.py"
    for i, (forms, args, params) in enumerate(asked):
        given = [Tensor(plain(a)) if isinstance(a, np.ndarray) else a for a in args]
        values = [None if a is None else known(a) for a in args]
        bound = {k.removeprefix("*"): v for k, v in {**op.params, **params}.items()}
        with Quiet():
            got = letters(lambda: session.do(op, given, bound))  # noqa: B023  # asked at once
            told = letters(lambda: inferred(op, values, bound))  # noqa: B023
        said = f"{op.name} of {', '.join(forms)}"
        refused = not row or expected[i] == "-"
        if not refused and got != expected[i]:
            departing.append(f"{said}: {got}, PyTorch {expected[i]}")
        if op.elementwise and got == "d" and any("float32" in form for form in forms):
            wide = [Tensor(plain(np.float64(a.data))) if is_float32(a) else a for a in given]
            with Quiet():
                near = np.isclose(
                    *(data_of(session.do(op, g, bound)) for g in (given, wide)), 1e-14
                )
            if not np.all(near):
                wrong.append(f"{said}: worked out in float32")
        if got != "-" and told not in (got, "?") and not (refused and told == "-"):
            wrong.append(f"{said}: {got}, check {told}")
    count, _ = DEPARTS.get(op.name, (0, ""))
    assert not wrong, "\n".join(wrong[:20])
    assert len(departing) == count, f"{len(departing)} depart:\n" + "\n".join(departing[:20])


PAIRS = [op for op in OPS if op.elementwise and op.differentiable and len(op.args) == 2]


@by_family(PAIRS)
def test_cotangents_and_tangents_are_of_the_dtype_of_what_they_belong_to(op):
    for forms, args, params in calls(op):
        if {form.split()[1] for form in forms} != {"float32", "float64"}:
            continue
        inputs = [leaf(plain(a)) if isinstance(a, np.ndarray) else a for a in args]
        leaves = [x for x in inputs if isinstance(x, Tensor)]
        with Quiet():
            out = op(*inputs, **params)
            if out.node is None:
                continue
            (tangent,) = forward([out], [plain(np.ones_like(x.data)) for x in leaves], leaves)
            found = reverse([out], [plain(np.ones(out.shape, out.dtype))], leaves)
        assert dtype_of(data_of(tangent)) == out.dtype, f"tangent of {op.name} of {forms}"
        for x, c in zip(leaves, found, strict=True):
            assert dtype_of(data_of(c)) == x.dtype, f"cotangent of {op.name} of {forms}"


CASTING = [op for op in OPS if "dtype" in op.params]


@by_family(CASTING)
def test_a_result_has_the_dtype_that_is_asked_for(op):
    taken = set()
    params = {k.removeprefix("*"): v for k, v in {**op.params, **samples(op)[0].params}.items()}
    values = np.asarray(samples(op)[0].args[0]), np.asarray(1.0)
    for asked, dtype, value in itertools.product(LETTERS, LETTERS, values):
        x, given = value.astype(dtype), {**params, "dtype": asked}
        with Quiet():
            got = letters(lambda: Session().do(op, [Tensor(plain(x))], given))  # noqa: B023
            told = letters(lambda: inferred(op, [known(x)], given))  # noqa: B023
        assert got in ("-", LETTERS[asked]), f"{asked} of {dtype} {value}: {got}"
        assert told == got or "-" in (told, got), f"{asked} of {dtype} {value}: {got}, check {told}"
        taken |= {asked} if got != "-" else set()
    assert taken >= {"float32", "float64"}
