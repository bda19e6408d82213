"""NumPy's functions of matrices whose parameters are others than PyTorch's."""

from __future__ import annotations

from typing import Any

from gradcli.engine.builtins.names.numpy import Do, as_floats, of_tensors
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op
from gradcli.engine.values.data import shape_of
from gradcli.errors import run_error

FAMILY = 352, "NumPy's matrices"

_AXES: dict[str, Any] = {"offset": 0, "axis1": 0, "axis2": 1}


def _diagonal(do: Do, x: Any, offset: Any, axis1: Any, axis2: Any) -> Any:
    return do(ops.diagonal, x, offset=offset, dim1=axis1, dim2=axis2)


def _trace(do: Do, x: Any, offset: Any, axis1: Any, axis2: Any) -> Any:
    return do(ops.sum, _diagonal(do, x, offset, axis1, axis2), dim=-1)


diagonal: Op = of_tensors(
    "diagonal",
    _diagonal,
    args=("input",),
    params=_AXES,
    doc="`np.diagonal`: the elements of a diagonal of two dimensions, `offset` above the main one.",
)
trace: Op = of_tensors(
    "trace",
    _trace,
    args=("input",),
    params=_AXES,
    doc="`np.trace`: the sum of the diagonal that `np.diagonal` gives.",
)


def _triangle(name: str, doc: str) -> Op:
    return of_tensors(
        name,
        lambda do, x, k: do(ops[name], x, diagonal=k),
        args=("input",),
        params={"k": 0},
        doc=f"`np.{name}`: {doc}, from the diagonal `k` on, and zeros.",
    )


tril: Op = _triangle("tril", "the lower triangle of matrices")
triu: Op = _triangle("triu", "the upper triangle of matrices")


def _rows(do: Do, x: Any, y: Any, rowvar: Any) -> Any:
    """The observations of each variable as a row, those of y behind those of x."""

    def turned(v: Any) -> Any:
        rank = len(shape_of(v))
        if rank > 2:
            raise run_error("shape-mismatch", f"at most 2 dimensions are needed, got {rank}")
        if rank < 2:
            return do(ops.reshape, v, shape=(1, -1))
        return v if rowvar else do(ops.t, v)

    return turned(x) if y is None else do(ops.cat, turned(x), turned(y), dim=0)


def _cov(
    do: Do, x: Any, y: Any, fweights: Any, aweights: Any, rowvar: Any, bias: Any, ddof: Any
) -> Any:
    less = (0 if bias else 1) if ddof is None else ddof
    alone = y is None and len(shape_of(x)) < 2
    rows = do(ops.reshape, x, shape=(-1,)) if alone else _rows(do, x, y, rowvar)
    weights = None if aweights is None else as_floats(do, aweights)
    return do(ops.cov, rows, fweights, weights, correction=less)


def _corrcoef(do: Do, x: Any, y: Any, rowvar: Any) -> Any:
    alone = y is None and len(shape_of(x)) < 2
    rows = do(ops.reshape, x, shape=(-1,)) if alone else _rows(do, x, y, rowvar)
    return do(ops.corrcoef, rows)


cov: Op = of_tensors(
    "cov",
    _cov,
    args=("input", "y=None", "fweights=None", "aweights=None"),
    params={"rowvar": True, "bias": False, "ddof": None},
    order=("input", "y", "rowvar", "bias", "ddof", "fweights", "aweights"),
    doc="`np.cov`: the covariances of rows, or of two rows, divided by the count less `ddof` (1); "
    "`fweights` tells how often each observation counts, `aweights` its weight.",
)
corrcoef: Op = of_tensors(
    "corrcoef",
    _corrcoef,
    args=("input", "y=None"),
    params={"rowvar": True},
    doc="`np.corrcoef`: the correlations of rows, or of two rows.",
)
