"""SciPy's functions by the names that JAX and autograd have for them, too."""

from __future__ import annotations

from math import log, pi
from typing import Any

from gradcli.engine.builtins.names.numpy import Do, of_tensors
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op
from gradcli.engine.values.data import shape_of

FAMILY = 355, "SciPy's own"


def _standard(do: Do, x: Any, loc: Any, scale: Any) -> Any:
    return do(ops.div, do(ops.sub, x, loc), scale)


def _logpdf(do: Do, x: Any, loc: Any, scale: Any) -> Any:
    loc, scale = 0.0 if loc is None else loc, 1.0 if scale is None else scale
    z = _standard(do, x, loc, scale)
    square = do(ops.mul, do(ops.mul, z, z), -0.5)
    return do(ops.sub, square, do(ops.add, do(ops.log, scale), 0.5 * log(2 * pi)))


def _cdf(do: Do, x: Any, loc: Any, scale: Any) -> Any:
    loc, scale = 0.0 if loc is None else loc, 1.0 if scale is None else scale
    return do(ops.ndtr, _standard(do, x, loc, scale))


def _of_normal(name: str, body: Any, doc: str) -> Op:
    return of_tensors(
        f"norm_{name}",
        body,
        library="scipy",
        args=("x", "loc=None", "scale=None"),
        doc=f"`scipy.stats.norm.{name}`: {doc} of the normal distribution.",
    )


norm_logpdf: Op = _of_normal("logpdf", _logpdf, "the logarithm of the density")
norm_pdf: Op = _of_normal(
    "pdf", lambda do, x, loc, scale: do(ops.exp, _logpdf(do, x, loc, scale)), "the density"
)
norm_cdf: Op = _of_normal("cdf", _cdf, "the probability of less")
norm_logcdf: Op = _of_normal(
    "logcdf",
    lambda do, x, loc, scale: do(ops.log, _cdf(do, x, loc, scale)),
    "the logarithm of the probability of less",
)


def _cholesky(do: Do, a: Any, lower: Any) -> Any:
    return do(ops.linalg_cholesky, a, upper=not lower)


cholesky: Op = of_tensors(
    "cholesky",
    _cholesky,
    library="scipy",
    args=("a",),
    params={"lower": False},
    doc="`scipy.linalg.cholesky`: the upper factor, with `lower` the lower one.",
)


def _solve_triangular(do: Do, a: Any, b: Any, trans: Any, lower: Any) -> Any:
    if trans in (1, "T"):
        a, lower = do(ops.transpose, a, dim0=-2, dim1=-1), not lower
    column = len(shape_of(b)) == 1
    found = do(
        ops.linalg_solve_triangular,
        a,
        do(ops.unsqueeze, b, dim=-1) if column else b,
        upper=not lower,
    )
    return do(ops.squeeze, found, dim=-1) if column else found


solve_triangular: Op = of_tensors(
    "solve_triangular",
    _solve_triangular,
    library="scipy",
    args=("a", "b"),
    params={"trans": 0, "lower": False},
    doc="`scipy.linalg.solve_triangular`: the solution of a x = b, where a is triangular.",
)
