"""NumPy's names on grids of arrays: shapes, kinds of numbers and values are NumPy's."""

import io
import math
from contextlib import redirect_stdout

import pytest

from gradcli.program import load

ROUND = """
def shown(v):
    if hasattr(v, 'tolist'): return v.tolist()
    return v if isinstance(v, (int, float, bool)) else [shown(part) for part in v]
for at, call in enumerate(calls):
    for x in values:
        try: found = shown(call(x))
        except Exception: found = 'refused'
        print([at, found])
"""
ROWS = ["np.array([3.0, -1.0, 2.5, 0.5])", "np.array([4, 1, 3])", "[1.5, -2.0, 7.0]"]
OF_ROWS = [
    *("np.gradient(x)", "np.gradient([1.0, 4.0], 0.5)", "np.gradient(x, np.array([0.0, 1.0, 3.0, 3.5])[:len(x)])"),
    *("np.interp(x, [0.0, 1.0, 3.0], [5.0, 7.0, -1.0])", "np.interp([0.3, 1.0, 9.0, -4.0], [0, 1, 2], [5, 7, 1])", "np.interp(1.5, [1, 2], [5, 9])"),
    *("np.polyval(x, 2.0)", "np.polyval(x, np.array([1.0, -0.5]))", "np.polyval([], 2.0)", "np.convolve(x, [1.0, 2.0, -1.0])", "np.convolve(x, [1.0, 2.0], 'same')"),
    *("np.convolve(x, [0.5, 1.0], mode='valid')", "np.dot(x, x)", "np.dot(x, 2.0)", "np.dot(3, x)", "np.dot(2.0, 3.0)", "np.append(x, [9.0, 8.0])", "np.append(x, 1.0)"),
    *("np.repeat(x, 2)", "np.repeat(x, 3, axis=0)", "np.split(x, [1])", "np.split(x, [1, 2])", "np.array_split(np.array(x), 2)", "np.nonzero(x)"),
    *("np.meshgrid(x, [1.0, 2.0])", "np.meshgrid(x, [1.0, 2.0], indexing='ij')", "np.vectorize(lambda a: a * 2.0 if a > 1 else -1.5)(x)", "np.vectorize(lambda a, b: a - b)(x, 1.0)"),
    *("np.vectorize(lambda a: a + 1)(2.5)", "np.average(x, weights=np.arange(len(x)) + 1.0)", "np.average(x, None, [0.5] * len(x))", "np.sort(x)", "np.sort(x, axis=None)"),
    *("np.histogram(x, 3)", "np.histogram(x, bins=[-2.0, 0.0, 1.0, 5.0])", "np.histogram(x, 2, (0, 3))", "np.histogram(x, 2, range=(-1, 4), density=True)", "np.histogram(x)"),
    *("np.r_[x, 5.0]", "np.r_[0, x]", "np.c_[x, x]", "np.r_[0:3, x]", "np.r_[1:2:0.25]", "np.r_[5:0:-2]", "np.r_[x, x]", "np.r_[2.5:4]", "np.r_[3:1]", "np.r_[:3]"),
    *("np.array(x)", "np.array(x, dtype=float)", "np.asarray(x)", "np.array([x, x])", "np.array([1, 2.5])", "np.array(2)", "np.array([])", "np.array([True, False])"),
    *("np.shape(x)", "np.size(x)", "np.ndim(x)", "np.size(x, 0)", "np.size(x, -1)", "np.shape(2.0)", "np.ndim(1.0)", "np.size(3.0)", "np.shape([x, x])"),
]  # fmt: skip
TABLES = ["np.array([[3.0, -1.0, 2.5], [0.5, 4.0, 1.5]])", "np.array([[5, 1], [2, 4]])", "np.arange(12.0).reshape(2, 3, 2)",
          "np.array([[2.0], [-1.0]])"]  # fmt: skip
OF_TABLES = [
    f"np.{name}(x{given})"
    for names, several in (
        ("std var", ("", ", axis=0", ", axis=-1", ", ddof=1", ", axis=0, keepdims=True")),
        ("ptp median average", ("", ", axis=0", ", axis=1", ", axis=-1", ", axis=0, keepdims=True", ", keepdims=True")),
        ("percentile", (", 30", ", 75.0, axis=0", ", [10, 90]", ", 50, axis=-1, keepdims=True")),
        ("quantile", (", 0.3", ", 0.75, axis=0", ", [0.1, 0.9], axis=1", ", 1.0", ", 0.0", ", 0.5, keepdims=True")),
        ("cumsum cumprod", ("", ", axis=0", ", axis=1", ", axis=-1")),
        ("sort", ("", ", axis=0", ", axis=None", ", axis=1")),
        ("flip", ("", ", axis=0", ", axis=-1", ", axis=(0, 1)")),
        ("repeat", (", 2", ", 2, axis=0", ", 3, axis=-1", ", 0")),
        ("transpose", ("", ", axes=tuple(range(x.ndim))", ", tuple(range(x.ndim))[::-1]")),
        ("append", (", x", ", x, axis=0", ", [1.0]", ", x, axis=1", ", 5")),
        ("split", (", 2", ", 1, axis=1", ", [1], axis=0", ", [0, 1], axis=-1")),
        ("average", (", weights=np.arange(x.size).reshape(x.shape) + 1.0", ", axis=1, weights=np.arange(x.shape[1]) + 1.0", ", weights=x * x + 1, axis=0", ", axis=-1, weights=np.ones(x.shape[-1]), keepdims=True")),
        ("size", ("", ", 0", ", 1", ", axis=-1")),
        ("shape ndim nonzero array", ("",)),
    )
    for name in names.split()
    for given in several
]  # fmt: skip
OF_TABLES += [
    *("np.dot(x, x.swapaxes(-1, -2) if x.ndim == 2 else x.reshape(2, 2, 3))", "np.dot(x, np.arange(x.shape[-1]) + 1.0)", "np.dot(x[0], 2)", "np.c_[x, x]", "np.r_[x, x]"),
    *("np.vectorize(lambda a: -a)(x)", "np.vectorize(lambda a, b: a * b)(x, x[0])", "np.histogram(x, 4)", "np.array([x, x + 1])", "np.array(x).tolist() == x.tolist()", "np.polyval(x, 2.0)"),
    *("np.interp(x, [0.0, 2.0], [1.0, -1.0])", "np.meshgrid(x[0].ravel(), [1, 2, 3])[1]", "np.repeat(x[0], 2)"),
]  # fmt: skip
NUMBERS = ["0", "3", "1.5", "-2.0"]
OF_NUMBERS = [
    *("np.linspace(x, 4)", "np.linspace(x, 4, 5)", "np.linspace(x, 4, 5, endpoint=False)", "np.linspace(0, x, num=1)", "np.linspace(0, x, 0)", "np.linspace(x, 5, 3, dtype=int)"),
    *("np.logspace(x, 2)", "np.logspace(x, 2, 4)", "np.logspace(x, 1, 3, endpoint=False)", "np.logspace(0, x, 4, base=2.0)", "np.logspace(0, x, num=1)"),
    *("np.array(x)", "np.std([x, 1, 2])", "np.var(np.array([[x, 1, 2], [3, 4, 9]]), axis=1, ddof=1)", "np.append(x, 1)", "np.dot(x, x)", "np.interp(x, [0, 1, 2], [3, 1, 5])"),
    *("np.polyval([2.0, x, 1], 3)", "np.polyval([1.0, 2.0], x)", "np.shape(x)", "np.size(x)", "np.ndim(x)", "np.arange(abs(x))", "np.arange(x, 5)", "np.arange(x, 5, 2)", "np.arange(4, x, -1.5)"),
    *("np.full((2, 2), x)", "np.full(3, x)", "np.zeros((2, 1))", "np.ones(3)", "np.eye(2)", "np.eye(2, 3)", "np.zeros_like(np.array([x]))", "np.ones_like([x, 1])", "np.full_like(np.array([1, 2]), 7)"),
    *("np.vectorize(lambda a, b: a + b)(x, [1.0, 2.0])", "np.median([x, 4, 1, 7])", "np.median([x, 4, 1])", "np.percentile([x, 4.0, 1.0], 50)", "np.average([x, 2.0], weights=[1, 3])"),
]  # fmt: skip
GRIDS = {"rows": (ROWS, OF_ROWS), "tables": (TABLES, OF_TABLES), "numbers": (NUMBERS, OF_NUMBERS)}


def lines(text):
    """What Python prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        exec(text, {})
    return out.getvalue().splitlines()


def is_same(a, b):
    """Whether two nested lists hold the same kinds of numbers, equal but for rounding."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_same, a, b))
    if type(a) is float and type(b) is float:
        return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-14) or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize(("values", "calls"), GRIDS.values(), ids=GRIDS)
def test_every_call_gives_numpy_s_numbers(values, calls):
    text = f"import numpy as np\nvalues = [{', '.join(values)}]\n"
    text += f"calls = [{', '.join(f'lambda x: {call}' for call in calls)}]\n{ROUND}"
    known = {"inf": math.inf, "nan": math.nan}
    wrong = []
    for ours, theirs in zip(load(text).run().printed, lines(text), strict=True):
        at, found = eval(ours, known)
        if not is_same(found, eval(theirs, known)[1]):
            wrong.append(f"{calls[at]}: {ours}\n  by NumPy {theirs}")
    assert not wrong, "\n".join(wrong)
