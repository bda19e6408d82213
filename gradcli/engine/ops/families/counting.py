"""What occurs in a tensor, and how often."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.op import Op, bad, op, sample
from gradcli.engine.ops.promotion import boolean, of_first
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import flag, number, whole
from gradcli.errors import run_error

FAMILY = 145, "Counting"

INF = float("inf")


def _isin(x: Data, among: Data, assume_unique: Any = False, invert: Any = False) -> Data:
    found = np.isin(np.asarray(x), np.asarray(among))
    return np.logical_not(found) if flag(invert, "invert") else found


isin: Op = op(
    "isin",
    method=False,
    args=("elements", "test_elements"),
    params={"assume_unique": False, "invert": False},
    doc="True for each element that occurs in `test_elements`; with `invert` for each that does "
    "not.",
    source="PyTorch: isin",
    array=_isin,
    shape=lambda x, among, **how: x,
    dtype=boolean,
    samples=lambda: (
        sample([1.0, 2.0, 3.0], [2.0, 5.0]),
        sample([[1, 2], [3, 4]], [4, 1], invert=True),
        sample([1.0, 2.0], 2.0),
        sample(2.0, [1.0, 2.0]),
        sample([], [1.0]),
    ),
)


def _bincount(x: Data, weights: Data = None, minlength: Any = 0) -> Data:
    least = whole(minlength, "minlength")
    if least < 0:
        raise run_error("bad-argument", f"`minlength` cannot be negative, got {least}")
    if np.ndim(x) != 1 or dtype_of(x) == "bool" or not dtype_of(x).startswith(("int", "uint")):
        empty = np.ndim(x) == 1 and not np.size(x)
        if not empty:
            raise _not_counts()
    places = np.asarray(x).astype(np.int64)
    if places.size and places.min() < 0:
        raise _not_counts()
    if weights is not None and shape_of(weights) != shape_of(x):
        raise run_error("shape-mismatch", "`bincount` needs as many weights as ints")
    check_memory((max(int(places.max(initial=-1)) + 1, least),))
    if weights is None:
        return np.bincount(places, minlength=least)
    kept = dtype_of(weights) if dtype_of(weights) == "float32" else "float64"
    return np.bincount(places, weights, least).astype(kept)


def _not_counts() -> Exception:
    message = "`bincount` needs a vector of ints from 0 on"
    return run_error("wrong-type", message, raises=RuntimeError)


def _weighted(x: Any, weights: Any = None, minlength: Any = 0) -> str:
    if weights is None:
        return "int64"
    return "float32" if dtype_of(weights) == "float32" else "float64"


bincount: Op = op(
    "bincount",
    args=("input", "weights=None"),
    params={"minlength": 0},
    doc="How often each int from 0 on occurs in a vector, or the sum of the weights that stand at "
    "its places; at least `minlength` of them. It has no derivative, as in PyTorch.",
    source="PyTorch: bincount",
    array=_bincount,
    dtype=_weighted,
    samples=lambda: (
        sample([1, 2, 2, 0], None),
        sample([1, 2, 2], None, minlength=5),
        sample([1, 3, 1], [0.5, 2.0, 1.0]),
    ),
    bad=lambda: (
        bad((2, 2), None, says="a vector of ints"),
        bad([1, -1], None, says="from 0 on"),
        bad([1, 2], (3,), says="as many weights"),
        bad([1, 2], None, minlength=-1, says="cannot be negative"),
    ),
)


def _histc(x: Data, bins: Any = 100, min: Any = 0, max: Any = 0) -> Data:
    count = whole(bins, "bins")
    if count < 1:
        raise run_error("bad-argument", f"`bins` must be 1 or more, got {count}")
    check_memory((count,))
    if not dtype_of(x).startswith("float"):
        raise run_error("dtype-mismatch", "`histc` counts floats", raises=NotImplementedError)
    data = np.asarray(x).reshape(-1)
    least, most = _range(data, float(number(min, "min")), float(number(max, "max")))
    inside = data[(data >= least) & (data <= most)]
    places = ((inside - data.dtype.type(least)) / data.dtype.type(most - least) * count).astype(
        np.int64
    )
    counts = np.bincount(np.minimum(places, count - 1), minlength=count)
    return counts.astype(data.dtype)


def _range(data: Data, least: float, most: float) -> tuple[float, float]:
    """Where the bins begin and end: the data's own ends unless others are given."""
    if least == most and data.size:
        least, most = float(data.min()), float(data.max())
    if not (np.isfinite(least) and np.isfinite(most)):
        raise run_error("bad-argument", f"the range of `histc`, {least} to {most}, is not finite")
    if least > most:
        raise run_error("bad-argument", f"`max` {most} of `histc` is below `min` {least}")
    return (least - 1.0, most + 1.0) if least == most else (least, most)


histc: Op = op(
    "histc",
    params={"bins": 100, "min": 0, "max": 0},
    doc="How many elements lie in each of `bins` intervals of one width from `min` to `max`, or "
    "from the least element to the largest if both are equal. The last contains its end; what lies "
    "outside does not count.",
    source="PyTorch: histc",
    array=_histc,
    shape=lambda x, bins=100, min=0, max=0: (whole(bins, "bins"),),
    dtype=of_first,
    samples=lambda: (
        sample([1.0, 2.0, 1.0], bins=4, min=0, max=3),
        sample([[1.0, 2.0], [0.5, -3.0]], bins=3),
        sample([1.0, 1.0], bins=2),
        sample([], bins=2),
    ),
    bad=lambda: (
        bad((2,), bins=0, says="1 or more"),
        bad([1.0, INF], bins=2, says="not finite"),
        bad((2,), bins=2, min=2, max=1, says="is below"),
        bad([1, 2], bins=2, says="counts floats"),
    ),
)
