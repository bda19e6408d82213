"""Values and derivatives beside PyTorch's, recorded by `reference/record.py`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from oracles import Run, forward, reverse, table

from gradcli.engine.arrays import Quiet, dtype_of
from gradcli.engine.ops.registry import ops
from gradcli.engine.tensor import Tensor, data_of

HERE = Path(__file__).parent / "reference"
OPS = table()
FILES = sorted(path for path in HERE.glob("*.json") if path.stem != "absent")
ROWS = [
    pytest.param(row, id=f"{row['op']}-{i}")
    for path in FILES
    for i, row in enumerate(json.loads(path.read_text("utf-8"))["rows"])
]
RTOL = {"float64": 1e-9, "float32": 1e-5}

LAST_WRITE = "the last write stays and alone gets the gradient; PyTorch gives it to all"
TRIANGLE = "the other triangle is not read, so its gradient is 0; PyTorch's formula fills it"
GAUGE = "the signs of singular vectors are the LAPACK's at hand; test_linear_algebra holds them"
DEPARTS = {  # operation: what is not compared of its rows, in which dtype, and why
    "hardsigmoid": ("derivative", "float64", "PyTorch multiplies by a float32 1 / 6"),
    "tanhshrink": ("value", "float32", "by a series near 0, where PyTorch loses digits"),
    "logit": ("value", "float32", "PyTorch loses digits near 1 / 2"),
    "sinc": ("value", "float64", "0 at whole numbers, where PyTorch has the rounding of pi"),
    "soft_margin_loss": ("value", "float32", "without overflow"),
    "cholesky_solve": ("derivative", None, TRIANGLE),
    "cholesky_inverse": ("derivative", None, TRIANGLE),
    "svd": ("value", None, GAUGE),
    "linalg_svd": ("value", None, GAUGE),
    "scatter": ("derivative", None, LAST_WRITE),
    "index_copy": ("derivative", None, LAST_WRITE),
    "lu_factor": ("dtype", None, "the language's ints have 64 bits"),
    "det": ("derivative", None, "PyTorch's is wrong at singular matrices"),
}


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


def array(data, dtype):
    """Recorded data as an array: a bool or int one, or of the row's floats."""
    found = np.array(_floats(data))
    return found.astype(dtype) if found.dtype.kind == "f" else found


def _floats(data):
    if isinstance(data, list):
        return [_floats(d) for d in data]
    return float(data) if isinstance(data, str) else data


def close(got, expected, dtype, scale=0.0):
    got = np.asarray(data_of(got))
    expected = np.array(_floats(expected))
    if got.shape != expected.shape:
        return False
    wide = got.astype(np.float64)
    finite = np.isfinite(expected) if expected.dtype.kind == "f" else np.zeros(0, bool)
    largest = max(scale, np.max(np.abs(expected[finite]), initial=0.0) if finite.size else 0.0)
    rtol = RTOL[dtype]
    atol = rtol * largest * (0.01 if dtype == "float64" else 1.0)
    return np.allclose(wide, expected, rtol=rtol, atol=atol, equal_nan=True)


def weights(shape, start):
    count = int(np.prod(shape, dtype=int))
    return (1.0 + 0.5 * np.sin(np.arange(count) + start)).reshape(shape)


def arguments(row):
    made = []
    for given in row["args"]:
        a = None if given is None else array(given, row["dtype"])
        number = a is not None and a.ndim == 0 and row["dtype"] == "float64"
        made.append(a.item() if number else a)
    return made


@pytest.mark.parametrize("row", ROWS)
def test_values_and_derivatives_are_pytorchs(row):
    op = OPS[row["op"]]
    dtype = row["dtype"]
    run = Run(op, arguments(row), row["params"])
    sizes = [np.max(np.abs(data_of(x)), initial=0.0) for x in run.leaves if x.shape]
    size = max(sizes, default=0.0) if dtype == "float32" else 0.0
    told = f"{op.name}({', '.join(map(str, row['args']))}, {row['params']}) in {dtype}"
    part, only, _ = DEPARTS.get(op.name, ("", None, ""))
    skipped = part if only in (None, dtype) else ""
    for i, (got, expected) in enumerate(zip(run.results, row["values"], strict=True)):
        if skipped == "value":
            return
        assert close(got, expected, dtype, size), (
            f"result {i} of {told}: {got.data}, not {expected}"
        )
        if skipped != "dtype":
            assert got.dtype == row["dtypes"][i], f"result {i} of {told} is {got.dtype}"
    if "vjp" not in row or skipped == "derivative":
        return
    places = [i for i, r in enumerate(run.results) if r.node is not None]
    gs = [weights(o.shape, i).astype(o.dtype) for i, o in zip(places, run.outs, strict=True)]
    floats = [x for x in run.inputs if isinstance(x, Tensor)]
    pulled = dict(zip(map(id, run.leaves), reverse(run.outs, gs, run.leaves), strict=True))
    for i, (x, expected) in enumerate(zip(floats, row["vjp"], strict=True)):
        got = pulled.get(id(x))
        if expected is None:
            continue
        got = np.zeros(x.shape) if got is None else got
        assert close(got, expected, dtype, 1.0), f"gradient {i} of {told}: {got}, not {expected}"
        assert dtype_of(data_of(got)) == x.dtype, f"gradient {i} of {told}: its dtype"
    if row["jvp"] is None:
        return
    dots = [weights(x.shape, 7 + floats.index(x)).astype(x.dtype) for x in run.leaves]
    pushed = forward(run.outs, dots, run.leaves)
    for i, (got, expected) in enumerate(zip(pushed, row["jvp"], strict=True)):
        assert close(got, expected, dtype, 1.0), f"tangent {i} of {told}: {got}, not {expected}"


WITHOUT = {  # operations that have no rows, and why
    "getitem": "syntax: x[i]",
}


def test_every_operation_has_rows():
    recorded = {row.values[0]["op"] for row in ROWS}
    missing = [
        name
        for name, op in OPS.items()
        if not ops.families[name].startswith("internal")
        and op.host is None
        and op.constant is None
        and name not in recorded
        and name not in WITHOUT
    ]
    assert not missing


def test_a_departure_is_one():
    """No entry of the table stands for nothing."""
    unknown = [name for name in DEPARTS if name not in OPS]
    assert not unknown


def test_the_rows_are_of_one_version():
    versions = {json.loads(path.read_text("utf-8"))["pytorch"] for path in FILES}
    assert versions == {"2.13.0"}
