"""Determinants, inverses and linear equations."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.arrays import Data, dtype_of, np, shape_of
from gradcli.engine.ops.matrices import (
    checked,
    each,
    eye,
    inner,
    lu_parts,
    per_matrix,
    transposed,
    triangle,
    which,
)
from gradcli.engine.ops.registry import REQUIRED, Op, Sample, bad, composite, known, op, ops, sample
from gradcli.engine.ops.sizes import Shape, broadcast
from gradcli.engine.tensor import Fields
from gradcli.errors import run_error

_GILES = "Giles, Collected matrix derivative results for forward and reverse mode AD, 2008"
_MINORS = 5  # up to this size cofactors are determinants of minors


def _square(name: str) -> Any:
    return lambda a, **params: (checked(name, a, square=True), a[:-2])[1]


# --- determinants ------------------------------------------------------------------------


def _det(x: Data) -> Data:
    checked("det", x, square=True)
    n = x.shape[-1]
    if n == 0:
        return np.ones(x.shape[:-2], x.dtype)
    if n == 1:
        return x[..., 0, 0].copy()
    if n == 2:
        return x[..., 0, 0] * x[..., 1, 1] - x[..., 0, 1] * x[..., 1, 0]
    lu, pivots = lu_parts(x)
    odd = np.sum(pivots != np.arange(n), axis=-1) % 2 == 1
    out = np.prod(np.diagonal(lu, axis1=-2, axis2=-1), axis=-1)
    return np.asarray(np.where(odd, -out, out), x.dtype)


def _cofactors(a: Any) -> Any:
    """Derivative of the determinant by each element."""
    n = shape_of(a)[-1]
    if n > _MINORS:
        return cofactors(a)
    if n == 0:
        return a
    others = np.array([[j for j in range(n) if j != i] for i in range(n)], np.int64).reshape(n, -1)
    rows, columns = others[:, None, :, None], others[None, :, None, :]
    minors = det(ops.getitem(a, index=(..., rows, columns)))
    odd = (np.arange(n)[:, None] + np.arange(n)) % 2 == 1
    return ops.where(odd, ops.neg(minors), minors)


def _cofactors_large(x: Data) -> Data:
    """Right at every rank: the products leave out one singular value each."""
    u, s, vh = np.linalg.svd(x)
    n = x.shape[-1]
    others = np.prod(np.where(np.eye(n, dtype=bool), s.dtype.type(1), s[..., None, :]), axis=-1)
    turn = np.asarray(np.sign(np.asarray(_det(u)) * np.asarray(_det(vh))))[..., None, None]
    return np.asarray(np.matmul(u * others[..., None, :], vh) * turn, x.dtype)


def _cofactors_vjp(g: Any, a: Any) -> Any:
    m = transposed(inv(a))
    d = per_matrix(det(a))
    turned = ops.matmul(m, ops.matmul(transposed(g), m))
    return ops.mul(d, ops.sub(ops.mul(per_matrix(inner(g, m)), m), turned))


det: Op = op(
    "det",
    args=("input",),
    doc="Determinant of each square matrix. Its gradient is the matrix of cofactors, right for a "
    "singular matrix too (PyTorch's is not); beyond 5 rows derivatives of second and higher order "
    "need an invertible matrix.",
    source=f"{_GILES}, 2.2.4",
    array=_det,
    shape=_square("det"),
    vjp=(lambda g, out, a: ops.mul(per_matrix(g), _cofactors(a)),),
    jvp=(lambda dot, out, a: inner(dot, _cofactors(a)),),
    saves=("input",),
    node="LinalgDetBackward0",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([[1.0, 2.0], [2.0, 4.0]]),
        sample([[2.5]]),
        sample([[0.0, 0.0], [0.0, 0.0]]),
        sample([[2.0, -1.0, 0.5], [1.0, 3.0, 1.5], [0.0, -2.0, 1.0]]),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        sample([[[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 0.0]]]),
        sample(
            [[0.0, 1.0, 2.0, 0.5], [1.0, 0.0, 1.0, 2.0], [3.0, 1.0, 0.0, 1.0], [1.0, 2.0, 1.0, 3.0]]
        ),
    ),
    known=lambda: (
        known([[1.0, 2.0], [2.0, 4.0]], grad=([[4.0, -2.0], [-2.0, 1.0]],)),
        known([[0.0, 0.0], [0.0, 0.0]], grad=([[0.0, 0.0], [0.0, 0.0]],)),
    ),
    bad=lambda: (bad((2, 3), says="square"), bad((2,), says="at least two dimensions")),
)

cofactors: Op = op(
    "cofactors",
    args=("input",),
    doc="Matrix of cofactors; its own derivative needs an invertible matrix.",
    source=f"{_GILES}, 2.2.4",
    array=_cofactors_large,
    shape=lambda a: a,
    vjp=(lambda g, out, a: _cofactors_vjp(g, a),),
    jvp=(lambda dot, out, a: transposed(_cofactors_vjp(transposed(dot), transposed(a))),),
    saves=("input",),
    method=False,
)


def _log_size(x: Data) -> Data:
    checked("slogdet", x, square=True)
    lu, _ = lu_parts(x)
    return np.sum(np.log(np.abs(np.diagonal(lu, axis1=-2, axis2=-1))), axis=-1)


log_abs_det: Op = op(
    "log_abs_det",
    args=("input",),
    doc="Logarithm of the size of the determinant.",
    source=f"{_GILES}, 2.2.4",
    array=_log_size,
    shape=_square("slogdet"),
    vjp=(lambda g, out, a: ops.mul(per_matrix(g), transposed(inv(a))),),
    jvp=(lambda dot, out, a: inner(dot, transposed(inv(a))),),
    saves=("input",),
    node="LinalgSlogdetBackward0",
    method=False,
)


def _det_sign(x: Data) -> Data:
    checked("slogdet", x, square=True)
    lu, pivots = lu_parts(x)
    swaps = np.sum(pivots != np.arange(x.shape[-1]), axis=-1)
    signs = np.prod(np.sign(np.diagonal(lu, axis1=-2, axis2=-1)), axis=-1)
    return np.asarray(np.where(swaps % 2 == 1, -signs, signs), x.dtype)


det_sign: Op = op(
    "det_sign",
    args=("input",),
    doc="Sign of the determinant.",
    array=_det_sign,
    shape=_square("slogdet"),
    method=False,
)


def _slogdet(a: Any) -> Any:
    checked("slogdet", a, square=True)
    return Fields("slogdet", ("sign", "logabsdet"), (det_sign(a), log_abs_det(a)))


def _invertible() -> tuple[Sample, ...]:
    return (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([[2.5]]),
        sample([[-2.0, 1.0], [0.5, 3.0]]),
        sample([[2.0, -1.0, 0.5], [1.0, 3.0, 1.5], [0.0, -2.0, 1.0]]),
        sample([[0.0, 1.0], [1.0, 0.5]]),
        sample([[[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 0.0]]]),
        sample([[[3.0]], [[-0.5]]]),
        sample([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]]),
    )


slogdet: Op = composite(
    "slogdet",
    _slogdet,
    args=("A",),
    fields=("sign", "logabsdet"),
    doc="Sign of the determinant and logarithm of its size, as the fields `sign` and `logabsdet`: "
    "neither over- nor underflows. The gradient at a singular matrix is an error.",
    source=f"{_GILES}, 2.2.4",
    bad=lambda: (bad((2, 3), says="square"),),
)


def _logdet(a: Any) -> Any:
    checked("logdet", a, square=True)
    sign, size = det_sign(a), log_abs_det(a)
    return ops.where(ops.lt(sign, 0.0), float("nan"), size)


logdet: Op = composite(
    "logdet",
    _logdet,
    args=("input",),
    doc="Logarithm of the determinant: nan where it is negative, -inf where it is zero.",
    source=f"{_GILES}, 2.2.4",
    samples=lambda: (
        sample([[2.0, 1.0], [0.5, 3.0]]),
        sample([[2.5]]),
        sample([[[4.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 0.0]]]),
    ),
    bad=lambda: (bad((2, 3), says="square"),),
)

# --- inverse and equations ---------------------------------------------------------------


def _refuse_singular(name: str, x: Data) -> None:
    lu, _ = lu_parts(x)
    zero = np.any(np.diagonal(lu, axis1=-2, axis2=-1) == 0, axis=-1)
    if np.any(zero):
        raise run_error(
            "bad-argument",
            f"`{name}` needs an invertible matrix, and {which(zero)} is singular",
            help="`pinv` and `lstsq` take singular matrices",
        )


def _inv(x: Data) -> Data:
    checked("inv", x, square=True)
    _refuse_singular("inv", x)
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        raise run_error(
            "bad-argument", "`inv` needs an invertible matrix, and one is singular"
        ) from None


inv: Op = op(
    "inv",
    aliases=("inverse", "linalg_inv"),
    args=("A",),
    doc="Inverse of each square matrix; a singular one is an error.",
    source=f"{_GILES}, 2.2.3",
    array=_inv,
    shape=lambda a: (checked("inv", a, square=True), a)[1],
    vjp=(lambda g, out, a: ops.neg(ops.matmul(transposed(out), ops.matmul(g, transposed(out)))),),
    jvp=(lambda dot, out, a: ops.neg(ops.matmul(out, ops.matmul(dot, out))),),
    saves=("out",),
    node="LinalgInvExBackward0",
    samples=_invertible,
    bad=lambda: (
        bad((2, 3), says="square"),
        bad((2, 2), says="singular"),
        bad((2,), says="at least two dimensions"),
    ),
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
    _refuse_singular("solve", a)
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
    doc="Matrix X with A X = B.",
    source=f"{_GILES}, 2.3.1",
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
    method=False,
)


def _is_vector(a: Any, b: Any) -> bool:
    sa, sb = shape_of(a), shape_of(b)
    return len(sb) == 1 or (len(sb) == len(sa) - 1 and sb == sa[:-1])


def _solve(a: Any, b: Any, left: Any = True) -> Any:
    checked("solve", a, square=True)
    checked("solve", b, rank=1)
    if _is_vector(a, b):
        return ops.squeeze(solve_columns(a, ops.unsqueeze(b, dim=-1)), dim=-1)
    if not left:
        return transposed(solve_columns(transposed(a), transposed(b)))
    return solve_columns(a, b)


solve: Op = composite(
    "solve",
    _solve,
    aliases=("linalg_solve",),
    args=("A", "B"),
    params={"left": True},
    doc="Solution X of A X = B, or of X A = B with `left=False`; B holds a vector or columns. A "
    "singular A is an error.",
    source=f"{_GILES}, 2.3.1",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0]),
        sample([[1.0, 2.0], [3.0, 4.0]], [[5.0, 1.0, 0.0], [6.0, 2.0, 1.0]]),
        sample([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]], left=False),
        sample([[2.0]], [3.0]),
        sample([[[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 0.0]]], [[1.0, 2.0], [3.0, 4.0]]),
        sample([[1.0, 2.0], [3.0, 4.0]], [[[5.0], [6.0]], [[1.0], [2.0]]]),
        sample([[2.0, -1.0, 0.5], [1.0, 3.0, 1.5], [0.0, -2.0, 1.0]], [1.0, 0.0, -1.0]),
    ),
    bad=lambda: (
        bad((2, 3), (2,), says="square"),
        bad((2, 2), (2,), says="singular"),
        bad((2, 2), (3, 1), says="rows"),
    ),
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
    params={"upper": REQUIRED},
    doc="Solution of a triangular system of equations by substitution; the other triangle of A is "
    "not read.",
    source=f"{_GILES}, 2.3.1",
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
    method=False,
)


def _solve_triangular(
    a: Any, b: Any, upper: Any, left: Any = True, unitriangular: Any = False
) -> Any:
    checked("solve_triangular", a, square=True)
    checked("solve_triangular", b)
    if unitriangular:
        a = ops.where(eye(a), 1.0, a)
        if dtype_of(b) == "float32" and dtype_of(a) != "float32":
            a = ops.cast(a, dtype="float32")
    if left:
        return substitute(a, b, upper=bool(upper))
    return transposed(substitute(transposed(a), transposed(b), upper=not upper))


solve_triangular: Op = composite(
    "solve_triangular",
    _solve_triangular,
    aliases=("linalg_solve_triangular",),
    args=("A", "B"),
    params={"upper": REQUIRED, "left": True, "unitriangular": False},
    doc="Solution X of A X = B (X A = B with `left=False`) for a triangular A, whose other "
    "triangle is not read, nor the diagonal with `unitriangular=True`, which takes it as ones.",
    source=f"{_GILES}, 2.3.1",
    samples=lambda: (
        sample([[2.0, 9.0], [3.0, 4.0]], [[5.0], [6.0]], upper=False),
        sample([[2.0, 9.0], [3.0, 4.0]], [[5.0, 1.0], [6.0, 2.0]], upper=True),
        sample([[2.0, 9.0], [3.0, 4.0]], [[5.0, 1.0]], upper=True, left=False),
        sample([[2.0, 9.0], [3.0, 4.0]], [[5.0], [6.0]], upper=True, unitriangular=True),
        sample([[2.0]], [[3.0]], upper=True),
        sample([[[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 1.0]]], [[1.0], [3.0]], upper=False),
    ),
    bad=lambda: (bad((2, 3), (2, 1), upper=True, says="square"),),
)

# --- pseudo-inverse and least squares ----------------------------------------------------


def _rank_limit(x: Any) -> Any:
    return max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)


def _pinv(x: Data) -> Data:
    checked("pinv", x)
    m, n = x.shape[-2:]
    if not x.size:
        return np.zeros((*x.shape[:-2], n, m), x.dtype)
    return np.asarray(np.linalg.pinv(x, rcond=_rank_limit(x)), x.dtype)


def _pinv_jvp(d: Any, p: Any, a: Any) -> Any:
    """Golub and Pereyra's formula, for a rank that stays."""
    dt, pt = transposed(d), transposed(p)
    first = ops.matmul(p, ops.matmul(d, p))
    u = ops.matmul(p, ops.matmul(pt, dt))
    second = ops.sub(u, ops.matmul(ops.matmul(u, a), p))
    v = ops.matmul(dt, ops.matmul(pt, p))
    third = ops.sub(v, ops.matmul(p, ops.matmul(a, v)))
    return ops.add(ops.sub(second, first), third)


def _pinv_vjp(g: Any, p: Any, a: Any) -> Any:
    gt, pt = transposed(g), transposed(p)
    first = ops.matmul(pt, ops.matmul(g, pt))
    u = ops.matmul(gt, ops.matmul(p, pt))
    second = ops.sub(u, ops.matmul(a, ops.matmul(p, u)))
    v = ops.matmul(pt, ops.matmul(p, gt))
    third = ops.sub(v, ops.matmul(ops.matmul(v, p), a))
    return ops.add(ops.sub(second, first), third)


pinv: Op = op(
    "pinv",
    aliases=("linalg_pinv", "pinverse"),
    args=("A",),
    doc="Pseudo-inverse (Moore and Penrose) of each matrix; singular values below "
    "max(m, n) eps of the largest count as zero. Differentiable where the rank does not change "
    "nearby.",
    source="Golub and Pereyra 1973, The differentiation of pseudo-inverses",
    array=_pinv,
    shape=lambda a: (checked("pinv", a), (*a[:-2], a[-1], a[-2]))[1],
    vjp=(_pinv_vjp,),
    jvp=(_pinv_jvp,),
    saves=("A", "out"),
    node="LinalgPinvBackward0",
    samples=lambda: (
        *_invertible(),
        sample([[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]]),
        sample([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]]),
    ),
    bad=lambda: (bad((2,), says="at least two dimensions"),),
)


def _rank(x: Data) -> Data:
    checked("matrix_rank", x)
    if not x.size:
        return np.zeros(x.shape[:-2], np.int64)
    s = np.linalg.svd(x, compute_uv=False)
    return np.sum(s > s[..., :1] * _rank_limit(x), axis=-1)


matrix_rank: Op = op(
    "matrix_rank",
    args=("A",),
    doc="Number of singular values above max(m, n) eps of the largest.",
    source="PyTorch: linalg.matrix_rank",
    array=_rank,
    shape=lambda a: (checked("matrix_rank", a), a[:-2])[1],
)


def _lstsq(a: Any, b: Any) -> Any:
    checked("lstsq", a)
    checked("lstsq", b, rank=1)
    m, n = shape_of(a)[-2:]
    vector = _is_vector(a, b) and len(shape_of(b)) == 1
    if vector:
        b = ops.unsqueeze(b, dim=-1)
    if shape_of(b)[-2] != m:
        raise run_error(
            "shape-mismatch",
            f"`lstsq` needs as many rows on both sides, got the shapes {list(shape_of(a))} and "
            f"{list(shape_of(b))}",
        )
    x = ops.matmul(pinv(a), b)
    rank = matrix_rank(a)
    if m > n and bool(np.all(np.asarray(each(rank)) == n)):
        rest = ops.sum(ops.square(ops.sub(ops.matmul(a, x), b)), dim=-2)
    else:
        rest = np.zeros(0, dtype_of(x))
    if vector:
        x = ops.squeeze(x, dim=-1)
    names = ("solution", "residuals", "rank", "singular_values")
    return Fields("lstsq", names, (x, rest, rank, ops.svdvals(a)))


lstsq: Op = composite(
    "lstsq",
    _lstsq,
    aliases=("linalg_lstsq",),
    args=("A", "B"),
    fields=("solution", "residuals", "rank", "singular_values"),
    doc="Least squares: the X of least norm that makes the norm of A X - B least, as `solution`, "
    "with the fields `residuals` (sums of squares; empty unless A has more rows than columns and "
    "full rank), `rank` and `singular_values` (always given, unlike PyTorch's default).",
    source="Golub and Pereyra 1973, The differentiation of pseudo-inverses",
    bad=lambda: (bad((3, 2), (2, 1), says="rows"),),
)
