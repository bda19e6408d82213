"""Determinants and equations as the public operations need them."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.matrices import (
    GILES,
    checked,
    determinant,
    inner,
    lu_parts,
    per_matrix,
    refuse_singular,
    square_rule,
    transposed,
    triangle,
    which,
)
from gradcli.engine.ops.op import REQUIRED, Op, op
from gradcli.engine.values.data import Data, np
from gradcli.engine.values.sizes import Shape, broadcast
from gradcli.errors import run_error


def _cofactors_large(x: Data) -> Data:
    """The matrix of cofactors by the singular value decomposition, right at every rank: each
    product leaves out one singular value.
    """
    u, s, vh = np.linalg.svd(x)
    n = x.shape[-1]
    others = np.prod(np.where(np.eye(n, dtype=bool), s.dtype.type(1), s[..., None, :]), axis=-1)
    turn = np.asarray(np.sign(np.asarray(determinant(u)) * np.asarray(determinant(vh))))[
        ..., None, None
    ]
    return np.asarray(np.matmul(u * others[..., None, :], vh) * turn, x.dtype)


def _cofactors_vjp(g: Any, a: Any) -> Any:
    m = transposed(ops.inv(a))
    d = per_matrix(ops.det(a))
    turned = ops.matmul(m, ops.matmul(transposed(g), m))
    return ops.mul(d, ops.sub(ops.mul(per_matrix(inner(g, m)), m), turned))


cofactors: Op = op(
    "cofactors",
    meets=((-2, -1),),
    doc="Matrix of cofactors; its own derivative needs an invertible matrix.",
    source=f"{GILES}, 2.2.4",
    array=_cofactors_large,
    shape=lambda a: a,
    vjp=(lambda g, out, a: _cofactors_vjp(g, a),),
    jvp=(lambda dot, out, a: transposed(_cofactors_vjp(transposed(dot), transposed(a))),),
    saves=("input",),
)


def _log_size(x: Data) -> Data:
    checked("slogdet", x, square=True)
    lu, _ = lu_parts(x)
    return np.sum(np.log(np.abs(np.diagonal(lu, axis1=-2, axis2=-1))), axis=-1)


def _inverse_or_nan(x: Data) -> Data:
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        if x.ndim == 2:
            return np.full_like(x, np.nan)
    return np.stack([_inverse_or_nan(part) for part in x])


inverse_or_nan: Op = op(
    "inverse_or_nan",
    args=("A",),
    meets=((-2, -1),),
    doc="Inverse of each square matrix, nan of one that has none.",
    source=f"{GILES}, 2.2.3",
    array=_inverse_or_nan,
    shape=lambda a: (checked("inv", a, square=True), a)[1],
    vjp=(lambda g, out, a: ops.neg(ops.matmul(transposed(out), ops.matmul(g, transposed(out)))),),
    jvp=(lambda dot, out, a: ops.neg(ops.matmul(out, ops.matmul(dot, out))),),
    saves=("out",),
    node="LinalgInvExBackward0",
)


def _log_slope(a: Any) -> Any:
    return transposed(inverse_or_nan(a))


log_abs_det: Op = op(
    "log_abs_det",
    meets=((-2, -1),),
    doc="Logarithm of the size of the determinant.",
    source=f"{GILES}, 2.2.4",
    array=_log_size,
    shape=square_rule("slogdet"),
    vjp=(lambda g, out, a: ops.weigh(per_matrix(g), _log_slope(a)),),
    jvp=(lambda dot, out, a: ops.sum(ops.weigh(dot, _log_slope(a)), dim=(-2, -1)),),
    saves=("input",),
    node="LinalgSlogdetBackward0",
)


def _det_sign(x: Data) -> Data:
    checked("slogdet", x, square=True)
    lu, pivots = lu_parts(x)
    swaps = np.sum(pivots != np.arange(x.shape[-1]), axis=-1)
    signs = np.prod(np.sign(np.diagonal(lu, axis1=-2, axis2=-1)), axis=-1)
    return np.asarray(np.where(swaps % 2 == 1, -signs, signs), x.dtype)


det_sign: Op = op(
    "det_sign",
    doc="Sign of the determinant.",
    array=_det_sign,
    shape=square_rule("slogdet"),
)


def _solution_shape(a: Shape, b: Shape) -> Shape:
    checked("solve", a, square=True)
    if len(b) < 2 or b[-2] != a[-1]:
        raise run_error(
            "shape-mismatch",
            f"`solve` needs as many rows on both sides, got the shapes {list(a)} and {list(b)}",
        )
    return (*broadcast(a[:-2], b[:-2]), *b[-2:])


def _solve_array(a: Data, b: Data) -> Data:
    size = _solution_shape(a.shape, b.shape)
    refuse_singular("solve", a)
    if not prod(size):
        return np.zeros(size, np.result_type(a, b))
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise run_error(
            "bad-argument", "`solve` needs an invertible matrix, and one is singular"
        ) from None


solve_columns: Op = op(
    "solve_columns",
    args=("A", "B"),
    meets=((-2, -1), (-2,)),
    doc="Matrix X with A X = B.",
    source=f"{GILES}, 2.3.1",
    array=_solve_array,
    shape=_solution_shape,
    vjp=(
        lambda g, out, a, b: ops.neg(ops.matmul(solve_columns(transposed(a), g), transposed(out))),
        lambda g, out, a, b: solve_columns(transposed(a), g),
    ),
    jvp=(
        lambda dot, out, a, b: ops.neg(solve_columns(a, ops.matmul(dot, out))),
        lambda dot, out, a, b: solve_columns(a, dot),
    ),
    saves={"A": ("A", "out"), "B": ("A",)},
    node="LinalgSolveExBackward0",
)


def _substitute(a: Data, b: Data, upper: bool) -> Data:
    size = _solution_shape(a.shape, b.shape)
    n = a.shape[-1]
    x = np.array(np.broadcast_to(b, size), np.result_type(a, b))
    zero = np.any(np.diagonal(a, axis1=-2, axis2=-1) == 0, axis=-1)
    if np.any(zero):
        raise run_error(
            "bad-argument",
            f"`solve_triangular` needs a diagonal without zeros, and {which(zero)} is singular",
        )
    for i in reversed(range(n)) if upper else range(n):
        done = slice(i + 1, n) if upper else slice(0, i)
        row = np.matmul(a[..., i : i + 1, done], x[..., done, :])[..., 0, :]
        x[..., i, :] = (x[..., i, :] - row) / a[..., i, i][..., None]
    return x


def _substitute_slope(g: Any, out: Any, a: Any, upper: bool) -> Any:
    c = substitute(transposed(a), g, upper=not upper)
    return triangle(ops.neg(ops.matmul(c, transposed(out))), upper)


substitute: Op = op(
    "substitute",
    args=("A", "B"),
    meets=((-2, -1), (-2,)),
    params={"upper": REQUIRED},
    doc="Solution of a triangular system of equations by substitution; the other triangle of A is "
    "not read.",
    source=f"{GILES}, 2.3.1",
    array=_substitute,
    shape=lambda a, b, upper: _solution_shape(a, b),
    vjp=(
        lambda g, out, a, b, upper: _substitute_slope(g, out, a, upper),
        lambda g, out, a, b, upper: substitute(transposed(a), g, upper=not upper),
    ),
    jvp=(
        lambda dot, out, a, b, upper: ops.neg(
            substitute(a, ops.matmul(triangle(dot, upper), out), upper=upper)
        ),
        lambda dot, out, a, b, upper: substitute(a, dot, upper=upper),
    ),
    saves={"A": ("A", "out"), "B": ("A",)},
    node="LinalgSolveTriangularBackward0",
)
