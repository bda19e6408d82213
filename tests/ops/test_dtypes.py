"""Ints and bools count as their numbers, whatever the op."""

from __future__ import annotations

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.oracles import cast, samples, table, values

from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import Quiet, dtype_of
from gradcli.errors import GradError
from gradcli.program import load

RULES = {n for n, family in ops.families.items() if ".internal." in family}
OPS = [
    pytest.param(op, id=name)
    for name, op in table().items()
    if (op.value.array or op.value.body) and name not in RULES and samples(op)
]
TRUTH = {  # of bools these give bools: a sum is whether one is true, as in PyTorch and NumPy
    *("add", "addcmul", "addr", "scatter", "scatter_add", "index_add", "index_put"),
    *("trapezoid", "cumulative_trapezoid", "pad", "functional_fold"),
    *("matmul", "mm", "mv", "bmm", "dot", "vdot", "inner", "vecdot", "tensordot", "multi_dot"),
    *("matrix_power", "addmm", "addmv", "addbmm", "baddbmm", "linear", "bilinear", "conv1d"),
    *("conv2d", "conv_transpose1d", "conv_transpose2d"),
}


LARGE = 3 * 2**60


def parts(out):
    return out if isinstance(out, tuple) else (out,)


@by_family(OPS)
def test_ints_and_bools_count_as_their_numbers(op):
    check_kind(op, "int64")
    if op.name not in TRUTH:
        check_kind(op, "bool")


def check_kind(op, kind):
    for s in samples(op):
        given = values(s.args)
        params = {k.removeprefix("*"): v for k, v in {**op.params, **s.params}.items()}
        floats = [i for i, a in enumerate(given) if a is not None and dtype_of(a) == "float64"]
        if not all(np.all(np.isfinite(given[i])) for i in floats):
            continue
        exact = [cast(a, kind) if i in floats else a for i, a in enumerate(given)]
        real = [cast(a, "float64") if i in floats else a for i, a in enumerate(exact)]
        with Quiet():
            try:
                found = op(*exact, **params)
            except GradError:
                continue  # it does not take this dtype
            expected = op(*real, **params)
        for got, wanted in zip(parts(found), parts(expected), strict=True):
            told = f"{op.name}{exact} {s.params}: got {got}, of floats {wanted}"
            x, y = np.asarray(got, float), np.asarray(wanted, float)
            assert x.shape == y.shape, told
            assert np.allclose(x, y, rtol=1e-12, atol=1e-12, equal_nan=True), told


@by_family(OPS)
def test_ints_do_not_wrap(op):
    for s in samples(op):
        given = values(s.args)
        params = {k.removeprefix("*"): v for k, v in {**op.params, **s.params}.items()}
        floats = [i for i, a in enumerate(given) if a is not None and dtype_of(a) == "float64"]
        if not all(np.all(np.isfinite(given[i])) for i in floats):
            continue
        large = {i: np.clip(np.trunc(given[i]), -2, 2) * LARGE for i in floats}
        with Quiet():
            try:
                found = op(
                    *(
                        cast(large.get(i, a), "int64") if i in large else a
                        for i, a in enumerate(given)
                    ),
                    **params,
                )
            except GradError:
                continue  # it does not take ints, or tells that these are too large
            if "int64" not in map(dtype_of, parts(found)):
                return
            expected = op(*(large.get(i, a) for i, a in enumerate(given)), **params)
        for got, wanted in zip(parts(found), parts(expected), strict=True):
            if dtype_of(got) == "int64":
                x, y = np.asarray(got, float), np.asarray(wanted, float)
                told = f"{op.name}{s.args} {s.params} times {LARGE}: {got}, of floats {wanted}"
                assert np.allclose(x, y, rtol=1e-9, atol=2048.0), told


@pytest.mark.parametrize("name", ["any", "all"])
def test_the_truth_of_uint8_is_a_uint8(name):
    """As PyTorch 2.13 gives it; of every other dtype it is a bool."""
    for dtype in ("uint8", "int16", "int64", "bool", "float32", "float64"):
        for more, given in (("", [1, 0]), ("0", [[1, 0], [1, 1]]), ("", [])):
            text = f"x = torch.tensor({given}, dtype=torch.{dtype}).{name}({more})\nx.dtype"
            found = load(f"{text} == torch.{'uint8' if dtype == 'uint8' else 'bool'}").run()
            assert found.result is True, (name, dtype, given)
            plain = load(f"torch.tensor({given}).bool().{name}({more})").run().result
            ours = load(f"torch.tensor({given}, dtype=torch.{dtype}).{name}({more})").run().result
            assert np.asarray(ours, bool).tolist() == np.asarray(plain, bool).tolist()
