"""Values and derivatives beside PyTorch's, recorded by `reference/record.py`."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.oracles import Run, forward, reverse, table

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet, dtype_of

HERE = Path(__file__).parent / "reference"
OPS = table()
OTHERS = ("absent", "graphs", "slopes")
FILES = sorted(path for path in HERE.glob("*.json") if path.stem not in OTHERS)
ROWS: dict[str, list] = defaultdict(list)
for _path in FILES:
    for _row in json.loads(_path.read_text("utf-8"))["rows"]:
        ROWS[_row["op"]].append(_row)
RTOL = {"float64": 1e-9, "float32": 1e-5}
NAMES = {"inf": np.inf, "nan": np.nan, "slice": slice, "Ellipsis": Ellipsis}

VALUE, REVERSE, FORWARD, DTYPE = "value", "reverse", "forward", "dtype"
BOTH = (REVERSE, FORWARD)
ALL = (VALUE, *BOTH)
WHERE_NAN = "* the value is nan outside the domain, and so is the derivative"
KINK = "* the middle of the subdifferential, in both modes"
CHOSEN = "* nan is chosen, so it alone gets the gradient"
TENDS = "the limit; PyTorch has nan"
LAST_WRITE = "* the last write stays and alone gets the gradient; PyTorch gives it to all"
TRIANGLE = "the other triangle is not read, so its gradient is 0; PyTorch's formula fills it"
GAUGE = "the signs of singular vectors are the LAPACK's at hand; test_linear_algebra holds them"
SINGULAR = "* the adjugate; PyTorch has 0 at singular matrices"
MODES = "PyTorch's forward mode differs from its reverse mode here"
ANY = ""
# Operation: what departs, at which arguments (a part of the row's text), in which dtype, and why.
# A star marks departures that CONVENTIONS.md names, and their like in other operations.
DEPARTS = {
    "abs": [(BOTH, "nan", "float64", "the derivative at nan is nan; PyTorch has 0")],
    "acosh": [(BOTH, "[-2.0]", "float64", WHERE_NAN)],
    "amax": [(BOTH, "nan", "float64", CHOSEN)],
    "amin": [(BOTH, "nan", "float64", CHOSEN)],
    "atan2": [((FORWARD,), "[0.0, 0.0]", "float64", KINK)],
    "atanh": [(BOTH, "[2.0]", "float64", WHERE_NAN)],
    "cholesky_inverse": [(BOTH, ANY, None, TRIANGLE)],
    "cholesky_solve": [(BOTH, ANY, None, TRIANGLE)],
    "det": [
        (BOTH, "[2.0, 4.0]]", "float64", SINGULAR),
        (ALL, "[4.0, 5.0, 6.0]", "float64", SINGULAR),
    ],
    "digamma": [(BOTH, "-1.0", "float64", "a pole; PyTorch has 9e32")],
    "div": [((FORWARD,), "[1.0, 0.0]", "float64", "inf - inf; PyTorch adds before it divides")],
    "erfcx": [(BOTH, "inf", "float64", TENDS)],
    "fmax": [((FORWARD,), "1.0], {}", "float64", MODES), ((FORWARD,), "nan", "float64", MODES)],
    "hardsigmoid": [(BOTH, ANY, "float64", "PyTorch multiplies by a float32 1 / 6")],
    "hypot": [(BOTH, "[0.0, 0.0]", "float64", KINK), (BOTH, "[0.0, 3.0]", "float64", KINK)],
    "i0": [(ALL, "inf", "float64", TENDS)],
    "i1": [(ALL, "inf", "float64", TENDS)],
    "index_copy": [((REVERSE,), "[1, 1]", None, LAST_WRITE)],
    "index_put": [((REVERSE,), "[0, 0]", None, LAST_WRITE)],
    "log": [(BOTH, "-1.0", "float64", WHERE_NAN)],
    "log10": [(BOTH, "-1.0", "float64", WHERE_NAN)],
    "log1p": [(BOTH, "-2.0", "float64", WHERE_NAN)],
    "log2": [(BOTH, "-1.0", "float64", WHERE_NAN)],
    "log_ndtr": [(BOTH, "inf", "float64", TENDS)],
    "logaddexp": [(BOTH, "-inf", "float64", TENDS)],
    "logaddexp2": [(BOTH, "-inf", "float64", TENDS)],
    "logcumsumexp": [(BOTH, "-inf", "float64", "* 0 at -inf; PyTorch has nan")],
    "logsumexp": [(BOTH, "inf", "float64", "* 0 and 1; PyTorch has nan")],
    "lu_factor": [((DTYPE,), ANY, None, "the language's ints have 64 bits")],
    "max_all": [((FORWARD,), "nan", "float64", MODES)],
    "maximum": [(BOTH, "nan", "float64", CHOSEN)],
    "min_all": [((FORWARD,), "nan", "float64", MODES)],
    "minimum": [(BOTH, "nan", "float64", CHOSEN)],
    "norm": [(ALL, "200", "float64", "without overflow and underflow")],
    "pinv": [((FORWARD,), ANY, "float32", "PyTorch loses digits in float32")],
    "polygamma": [(ALL, "-1.0", "float64", "a pole and a limit; PyTorch has 7e32 and nan")],
    "prelu": [((FORWARD,), "[0.0,", "float64", MODES)],
    "scatter": [((REVERSE,), "[1, 1]", None, LAST_WRITE)],
    "sinc": [
        ((VALUE,), "-2.0", "float64", "0 at whole numbers; PyTorch has the rounding of pi"),
        (BOTH, "[[[", "float32", "PyTorch loses digits near 0"),
    ],
    "soft_margin_loss": [
        ((VALUE,), ANY, "float32", "without overflow"),
        (ALL, "1000.0", "float64", "without overflow"),
    ],
    "softsign": [(ALL, "inf", "float64", TENDS)],
    "svd": [(ALL, ANY, None, GAUGE)],
    "linalg_svd": [(ALL, ANY, None, GAUGE)],
    "tanhshrink": [((VALUE,), ANY, "float32", "by a series near 0, where PyTorch loses digits")],
}
REFUSED = {  # operation: why PyTorch takes none or not all of its samples
    "aminmax": "PyTorch takes one dimension only",
    "binary_cross_entropy": "no broadcasting of the target; a target near 1 is moved above it",
    "binary_cross_entropy_with_logits": "no broadcasting of the target",
    "fill": "PyTorch fills with one number only",
    "heaviside": "PyTorch takes no mixed dtypes",
    "logcumsumexp": "PyTorch fails at an empty tensor",
    "pad": "PyTorch's `reflect` and `circular` take no 1-d tensor",
    "prod": "PyTorch takes one dimension only",
    "scatter": "PyTorch takes no tensor as `value`",
    "where": "an empty condition of floats",
}


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


def array(data):
    """Recorded data as an array; "inf" and "nan" stand in it as texts."""
    return np.zeros(data["shape"]) if isinstance(data, dict) else np.array(_floats(data))


def _floats(data):
    if isinstance(data, list):
        return [_floats(d) for d in data]
    return float(data) if isinstance(data, str) else data


def close(got, expected, dtype, scale=0.0):
    got, expected = np.asarray(data_of(got)), array(expected)
    if got.shape != expected.shape:
        return False
    finite = np.isfinite(expected.astype(np.float64))
    largest = max(scale, np.max(np.abs(expected.astype(np.float64)[finite]), initial=0.0))
    atol = RTOL[dtype] * largest * (0.001 if dtype == "float64" else 1.0)
    wide = got.astype(np.float64)
    return np.allclose(wide, expected, rtol=RTOL[dtype], atol=atol, equal_nan=True)


def weights(x, start):
    count = int(np.prod(x.shape, dtype=int))
    return (1.0 + 0.5 * np.sin(np.arange(count) + start)).reshape(x.shape).astype(x.dtype)


def direction(name, dot):
    """PyTorch's forward mode of `eigh` reads both triangles of the direction."""
    return (dot + np.swapaxes(dot, -1, -2)) / 2 if name == "eigh" else dot


def arguments(row):
    made = []
    for given in row["args"]:
        a = None if given is None else array(given)
        if a is not None and a.dtype.kind == "f":
            a = a.astype(row["dtype"])
        number = a is not None and a.ndim == 0 and row["dtype"] == "float64"
        made.append(a.item() if number else a)
    return made


def zeros(x):
    return np.zeros(x.shape, x.dtype)


def differences(row):
    """What differs from PyTorch's: value, dtype, reverse or forward, and both numbers."""
    dtype = row["dtype"]
    run = Run(OPS[row["op"]], arguments(row), eval(row["params"], dict(NAMES)))
    results = run.results[: len(row["values"])]
    sizes = [np.max(np.abs(data_of(x)), initial=0.0) for x in run.leaves if x.shape]
    size = max(sizes, default=0.0) if dtype == "float32" else 0.0
    if len(results) != len(row["values"]):
        yield VALUE, f"{len(results)} results, not {len(row['values'])}"
    for i, (got, expected) in enumerate(zip(results, row["values"], strict=False)):
        if not close(got, expected, dtype, size):
            yield VALUE, f"result {i}: {data_of(got)!r}, not {expected}"
        if got.dtype != row["dtypes"][i]:
            yield DTYPE, f"result {i} is {got.dtype}, not {row['dtypes'][i]}"
    if "vjp" not in row:
        return
    outs = [r for r in results if r.node is not None]
    gs = [weights(r, i) for i, r in enumerate(results) if r.node is not None]
    floats = [x for x in run.inputs if isinstance(x, Tensor)]
    pulled = dict(zip(map(id, run.leaves), reverse(outs, gs, run.leaves), strict=True))
    for i, (x, expected) in enumerate(zip(floats, row["vjp"], strict=True)):
        got = pulled.get(id(x))
        got = zeros(x) if got is None else got
        if not close(got, zeros(x).tolist() if expected is None else expected, dtype, 1.0):
            yield REVERSE, f"gradient {i}: {data_of(got)!r}, not {expected}"
        if dtype_of(data_of(got)) != x.dtype:
            yield DTYPE, f"gradient {i} is {dtype_of(data_of(got))}, not {x.dtype}"
    if row["jvp"] is None:
        return
    dots = [direction(row["op"], weights(x, 7 + floats.index(x))) for x in run.leaves]
    pushed = dict(zip(map(id, outs), forward(outs, dots, run.leaves), strict=True))
    for i, expected in zip(row["recorded"], row["jvp"], strict=True):
        got = pushed.get(id(results[i]))
        got = zeros(results[i]) if got is None else got
        if not close(got, expected, dtype, 1.0):
            yield FORWARD, f"tangent {i}: {data_of(got)!r}, not {expected}"


def told(row):
    return f"{row['args']}, {row['params']}"


def departures(row):
    """The places in DEPARTS[op] that are for the row, and what may depart there."""
    for i, (parts, at, dtype, _) in enumerate(DEPARTS.get(row["op"], [])):
        if dtype in (None, row["dtype"]) and at in told(row).replace("'nan'", "nan"):
            yield i, parts


@by_family(ROWS)
def test_values_and_derivatives_are_pytorchs(name):
    wrong, used = [], set()
    for row in ROWS[name]:
        for part, text in differences(row):
            allowed = {i for i, parts in departures(row) if part in parts}
            used |= {(i, part) for i in allowed}
            if not allowed:
                wrong.append(f"{part} of {name}({told(row)}) in {row['dtype']}: {text}")
    assert not wrong, "\n".join(wrong[:10])
    stale = [
        (part, why)
        for i, (parts, _, _, why) in enumerate(DEPARTS.get(name, []))
        for part in parts
        if (i, part) not in used and why != GAUGE
    ]
    assert not stale, f"{name} departs no more: {stale}"


def test_every_operation_has_rows():
    named = {
        name
        for name, op in OPS.items()
        if ".internal." not in ops.families[name]
        and not name.startswith(("math_", "builtins_math_", "jax_"))  # Python's and JAX's
        and (op.host.call is None or op.page.samples())
        and op.constant is REQUIRED
    }
    named |= {part for op in OPS.values() for part in op.host.by}
    assert len(named) > 300
    assert not named - set(ROWS), "run reference/record.py"
    assert not set(ROWS) - set(OPS), "run reference/record.py"


def test_every_differentiable_operation_has_derivatives():
    missing = [
        name
        for name, rows in ROWS.items()
        if OPS[name].differentiable and not any("vjp" in row for row in rows)
    ]
    assert missing == ["floor_divide", "heaviside"], "PyTorch has no derivative of these two"


def test_what_pytorch_refuses_is_known():
    assert set(json.loads((HERE / "absent.json").read_text("utf-8"))) == set(REFUSED)


def test_a_departure_is_of_an_operation():
    assert not set(DEPARTS) - set(ROWS)


def test_the_rows_are_of_one_version():
    versions = {json.loads(path.read_text("utf-8"))["pytorch"] for path in FILES}
    assert versions == {"2.13.0"}
