"""Decompositions as the public operations need them."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.numerics.ufunc import integral
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.matrices import (
    GILES,
    checked,
    diagonal,
    eye,
    halved,
    lu_parts,
    symmetric,
    transposed,
    triangle,
    which,
)
from gradcli.engine.ops.op import REQUIRED, Op, op, sample
from gradcli.engine.ops.promotion import integer, of_first
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.sizes import Shape
from gradcli.errors import run_error


def _mirrored(x: Data, upper: bool) -> Data:
    """The symmetric matrix of one triangle."""
    part = np.triu(x) if upper else np.tril(x)
    rest = np.triu(x, 1) if upper else np.tril(x, -1)
    return part + np.swapaxes(rest, -1, -2)


def _cholesky_array(x: Data) -> Data:
    checked("cholesky", x, square=True)
    x = _mirrored(x, False)
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        raise _not_definite(x) from None


def _not_definite(x: Data) -> Exception:
    """An error that names the first leading minor that is not positive, and its matrix."""
    n = x.shape[-1]
    for place in np.ndindex(x.shape[:-2]):
        for k in range(1, n + 1):
            try:
                np.linalg.cholesky(x[place][:k, :k])
            except np.linalg.LinAlgError:
                flags = np.zeros(x.shape[:-2], bool)
                flags[place] = True
                return run_error(
                    "bad-argument",
                    f"`cholesky` needs a positive-definite matrix, and {which(flags)} is not: its "
                    f"leading minor of order {k} is not positive",
                )
    return run_error("bad-argument", "`cholesky` needs a positive-definite matrix")


def _cholesky_vjp(g: Any, low: Any) -> Any:
    middle = halved(ops.matmul(transposed(low), triangle(g, False)))
    right = transposed(ops.substitute(transposed(low), transposed(middle), upper=True))
    return symmetric(ops.substitute(transposed(low), right, upper=True))


def _cholesky_jvp(dot: Any, low: Any) -> Any:
    half = ops.substitute(low, symmetric(dot), upper=False)
    return ops.matmul(low, halved(ops.substitute(low, transposed(half), upper=False)))


lower_root: Op = op(
    "lower_root",
    args=("A",),
    meets=((-2, -1),),
    doc="Lower triangular L with L L^T = A.",
    source="Murray 2016, Differentiation of the Cholesky decomposition",
    array=_cholesky_array,
    shape=lambda a: (checked("cholesky", a, square=True), a)[1],
    vjp=(lambda g, out, a: _cholesky_vjp(g, out),),
    jvp=(lambda dot, out, a: _cholesky_jvp(dot, out),),
    saves=("out",),
    triangle=True,
    node="LinalgCholeskyExBackward0",
)


def _eigh_array(x: Data, upper: bool) -> tuple[Data, ...]:
    checked("eigh", x, square=True)
    if not x.size:
        return np.zeros(x.shape[:-1], x.dtype), np.zeros(x.shape, x.dtype)
    if not np.all(np.isfinite(x)):
        raise run_error("bad-argument", "`eigh` needs finite elements")
    return tuple(np.linalg.eigh(x, "U" if upper else "L"))


def _or_nan(x: Any) -> Any:
    """1 / x, nan at zero: two vectors of one value, or one of the value zero, turn at will."""
    none = ops.eq(x, 0.0)
    return ops.where(none, float("nan"), ops.reciprocal(ops.where(none, 1.0, x)))


def _gaps(s: Any) -> Any:
    """1 / (s_j - s_i), zero on the diagonal, nan where two are equal."""
    d = ops.sub(ops.unsqueeze(s, dim=-2), ops.unsqueeze(s, dim=-1))
    unit = np.eye(shape_of(s)[-1], dtype=bool)
    return ops.where(unit, 0.0, _or_nan(ops.where(unit, 1.0, d)))


def _used(*gs: Any) -> Any:
    """A row of bools: true for each column (a vector of the decomposition) whose cotangent is not
    all zero.
    """
    found = [ops.any(ops.ne(g, 0.0), dim=-2, keepdim=True) for g in gs]
    return found[0] if len(found) == 1 else ops.logical_or(*found)


def _of_pairs(used: Any) -> Any:
    """A matrix of bools: true for each pair of vectors with at least one used."""
    return ops.logical_or(used, transposed(used))


def _weighed(u: Any, g: Any, v: Any) -> Any:
    """The sum of g_k u_k v_k^T, without the columns for which g is zero: these vectors may turn."""
    row = ops.unsqueeze(g, dim=-2)
    used = ops.ne(row, 0.0)
    left, right = ops.where(used, u, 0.0), ops.where(used, v, 0.0)
    return ops.matmul(ops.mul(left, row), transposed(right))


def _if_used(used: Any, x: Any) -> Any:
    """The vectors, or zeros if none of them is used."""
    return ops.where(ops.any(used, dim=-1, keepdim=True), x, 0.0)


def _eigh_vjp(g: Any, out: Any) -> Any:
    s, v = out
    used = _used(g[1])
    f = ops.where(_of_pairs(used), _gaps(s), 0.0)
    turning = _if_used(used, v)
    inside = ops.mul(ops.matmul(transposed(turning), g[1]), f)
    of_vectors = ops.matmul(turning, ops.matmul(inside, transposed(turning)))
    return symmetric(ops.add(_weighed(v, g[0], v), of_vectors))


def _eigh_jvp(dot: Any, out: Any) -> Any:
    s, v = out
    p = ops.matmul(transposed(v), ops.matmul(symmetric(dot), v))
    return diagonal(p), ops.matmul(v, ops.mul(p, _gaps(s)))


symmetric_eigen: Op = op(
    "symmetric_eigen",
    args=("A",),
    meets=((-2, -1),),
    params={"upper": False},
    doc="Eigenvalues and eigenvectors of a symmetric matrix.",
    source=f"{GILES}, 3.1",
    array=_eigh_array,
    shape=lambda a, upper: (checked("eigh", a, square=True), [a[:-1], a])[1],
    dtype=[of_first],
    vjp=(lambda g, out, a, upper: _eigh_vjp(g, out),),
    jvp=(lambda dot, out, a, upper: _eigh_jvp(dot, out),),
    saves=("out",),
    triangle=True,
    node="LinalgEighBackward0",
)


# Real eigenvalues of any square matrix. With A = V diag(w) V^-1 the eigenvalues move by the
# diagonal of P = V^-1 dA V, the vectors by V (P * F) with F_ij = 1 / (w_j - w_i), less the part
# that changes their length.


def _eig_array(x: Data) -> tuple[Data, ...]:
    checked("eig", x, square=True)
    if not np.all(np.isfinite(x)):
        raise run_error("bad-argument", "`eig` needs finite elements")
    if not x.size:
        return np.zeros(x.shape[:-1], x.dtype), x
    w, v = np.linalg.eig(x)
    if np.any(np.imag(w)):
        message = "eigenvalues of this matrix are complex, and there are no complex numbers"
        raise run_error("bad-argument", message, help="`eigh` and `svd` have real results alone")
    # since NumPy 2.5 these are complex, whatever their values
    return np.ascontiguousarray(np.real(w)), np.ascontiguousarray(np.real(v))


def _along(v: Any, x: Any) -> Any:
    """The part of each column of x that lies along the unit vector of v."""
    return ops.mul(v, ops.sum(ops.mul(v, x), dim=-2, keepdim=True))


def _eig_vjp(g: Any, out: Any) -> Any:
    w, v = out
    used = _used(g[1])
    f = ops.where(_of_pairs(used), _gaps(w), 0.0)
    across = ops.sub(g[1], _along(v, g[1]))
    unit = np.eye(shape_of(w)[-1], dtype=bool)
    of_values = ops.where(unit, ops.unsqueeze(g[0], dim=-2), 0.0)
    inside = ops.add(of_values, ops.mul(ops.matmul(transposed(v), across), f))
    return ops.linalg_solve(transposed(v), ops.matmul(inside, transposed(v)))


def _eig_jvp(dot: Any, out: Any) -> Any:
    w, v = out
    p = ops.linalg_solve(v, ops.matmul(dot, v))
    turned = ops.matmul(v, ops.mul(p, _gaps(w)))
    return diagonal(p), ops.sub(turned, _along(v, turned))


real_eigen: Op = op(
    "real_eigen",
    args=("A",),
    meets=((-2, -1),),
    doc="Real eigenvalues of a square matrix and its eigenvectors of length 1.",
    source=f"{GILES}, 3.1",
    array=_eig_array,
    shape=lambda a: (checked("eig", a, square=True), [a[:-1], a])[1],
    dtype=[of_first],
    vjp=(lambda g, out, a: _eig_vjp(g, out),),
    jvp=(lambda dot, out, a: _eig_jvp(dot, out),),
    saves=("out",),
    node="LinalgEigBackward0",
    samples=lambda: (
        sample([[2.0, 1.0], [0.5, -1.0]]),
        sample([[1.0, 2.0, 0.0], [0.3, 4.0, 0.1], [0.2, 0.0, -2.0]]),
        sample([[[2.0, 1.0], [0.5, -1.0]], [[5.0, 0.5], [1.0, 3.0]]]),
        sample([[2.5]]),
    ),
)


def _svd_shape(a: Shape) -> list[Shape]:
    checked("svd", a)
    k = min(a[-2:])
    return [(*a[:-1], k), (*a[:-2], k), (*a[:-2], a[-1], k)]


def _svd_array(x: Data) -> tuple[Data, ...]:
    sizes = _svd_shape(x.shape)
    if not x.size:
        return tuple(np.zeros(size, x.dtype) for size in sizes)
    if not np.all(np.isfinite(x)):
        raise run_error("bad-argument", "`svd` needs finite elements")
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return u, s, np.swapaxes(vh, -1, -2)


def _outside(x: Any, q: Any) -> Any:
    """The part of x orthogonal to the columns of q."""
    return ops.sub(x, ops.matmul(q, ops.matmul(transposed(q), x)))


def _svd_gaps(s: Any) -> Any:
    """1 / (s_j^2 - s_i^2) as a product, so that near values lose no digits."""
    total = ops.add(ops.unsqueeze(s, dim=-2), ops.unsqueeze(s, dim=-1))
    unit = np.eye(shape_of(s)[-1], dtype=bool)
    return ops.mul(_gaps(s), ops.reciprocal(ops.where(unit, 1.0, total)))


def _svd_vjp(g: Any, out: Any) -> Any:
    u, s, v = out
    row, column = ops.unsqueeze(s, dim=-2), ops.unsqueeze(s, dim=-1)
    used = _used(g[0], g[2])
    f = ops.where(_of_pairs(used), _svd_gaps(s), 0.0)
    values = _weighed(u, g[1], v)
    u, v = _if_used(used, u), _if_used(used, v)
    m, n = ops.matmul(transposed(u), g[0]), ops.matmul(transposed(v), g[2])
    left = ops.mul(ops.sub(m, transposed(m)), f)
    right = ops.mul(ops.sub(n, transposed(n)), f)
    inside = ops.add(ops.mul(left, row), ops.mul(right, column))
    c = ops.add(values, ops.matmul(ops.matmul(u, inside), transposed(v)))
    rows, k, columns = shape_of(u)[-2], shape_of(s)[-1], shape_of(v)[-2]
    if rows > k:
        inv = ops.where(_used(g[0]), _or_nan(row), 0.0)
        c = ops.add(c, ops.matmul(ops.mul(_outside(g[0], u), inv), transposed(v)))
    if columns > k:
        inv = ops.where(_used(g[2]), _or_nan(row), 0.0)
        c = ops.add(c, ops.matmul(u, transposed(ops.mul(_outside(g[2], v), inv))))
    return c


def _svd_jvp(dot: Any, out: Any) -> Any:
    u, s, v = out
    f, row, column = _svd_gaps(s), ops.unsqueeze(s, dim=-2), ops.unsqueeze(s, dim=-1)
    inv = _or_nan(row)
    p = ops.matmul(transposed(u), ops.matmul(dot, v))
    pt = transposed(p)
    du = ops.matmul(u, ops.mul(ops.add(ops.mul(p, row), ops.mul(column, pt)), f))
    dv = ops.matmul(v, ops.mul(ops.add(ops.mul(column, p), ops.mul(pt, row)), f))
    rows, k, columns = shape_of(u)[-2], shape_of(s)[-1], shape_of(v)[-2]
    if rows > k:
        du = ops.add(du, ops.mul(_outside(ops.matmul(dot, v), u), inv))
    if columns > k:
        dv = ops.add(dv, ops.mul(_outside(ops.matmul(transposed(dot), u), v), inv))
    return du, diagonal(p), dv


reduced_svd: Op = op(
    "reduced_svd",
    meets=((-2, -1),),
    doc="Singular vectors and values: U, S, V.",
    source=f"{GILES}, 3.2",
    array=_svd_array,
    shape=_svd_shape,
    dtype=[of_first],
    vjp=(lambda g, out, a: _svd_vjp(g, out),),
    jvp=(lambda dot, out, a: _svd_jvp(dot, out),),
    saves=("out",),
    node="LinalgSvdBackward0",
)


def _spare_array(x: Data) -> tuple[Data, ...]:
    m, n = x.shape[-2:]
    k = min(m, n)
    if x.size:
        u, _, vh = np.linalg.svd(x)
        return u[..., k:], np.swapaxes(vh, -1, -2)[..., k:]
    unit = [
        np.broadcast_to(np.eye(size, dtype=x.dtype), (*x.shape[:-2], size, size)) for size in (m, n)
    ]
    return unit[0][..., k:].copy(), unit[1][..., k:].copy()


def _spare_shape(a: Shape) -> list[Shape]:
    m, n = a[-2:]
    return [(*a[:-1], m - min(m, n)), (*a[:-2], n, n - min(m, n))]


spare_bases: Op = op(
    "spare_bases",
    doc="The columns that the square matrices of singular vectors have beyond the reduced ones.",
    array=_spare_array,
    shape=_spare_shape,
    dtype=[of_first],
    vjp=(None,),
    jvp=(None,),
)


def _qr_array(x: Data) -> tuple[Data, ...]:
    n = x.shape[-1]
    if not x.size:
        return np.zeros(x.shape, x.dtype), np.zeros((*x.shape[:-2], n, n), x.dtype)
    q, r = np.linalg.qr(x)
    return q, r


def _qr_vjp(g: Any, out: Any) -> Any:
    q, r = out
    m = ops.sub(ops.matmul(r, transposed(g[1])), ops.matmul(transposed(g[0]), q))
    low = triangle(m, False, -1)
    mirrored = ops.add(triangle(m, False), transposed(low))
    c = ops.add(g[0], ops.matmul(q, mirrored))
    return transposed(ops.substitute(r, transposed(c), upper=True))


def _qr_jvp(dot: Any, out: Any) -> Any:
    q, r = out
    d = transposed(ops.substitute(transposed(r), transposed(dot), upper=False))
    c = ops.matmul(transposed(q), d)
    low = triangle(c, False, -1)
    turn = ops.sub(low, transposed(low))
    dq = ops.add(ops.matmul(q, turn), _outside(d, q))
    return dq, triangle(ops.matmul(ops.sub(c, turn), r), True)


tall_qr: Op = op(
    "tall_qr",
    args=("A",),
    meets=((-2, -1),),
    doc="Q and R of a matrix with at least as many rows as columns.",
    source="Walter, Lehmann and Lamour 2012, On evaluating higher-order derivatives of the QR "
    "decomposition",
    array=_qr_array,
    shape=lambda a: [a, (*a[:-2], a[-1], a[-1])],
    dtype=[of_first],
    vjp=(lambda g, out, a: _qr_vjp(g, out),),
    jvp=(lambda dot, out, a: _qr_jvp(dot, out),),
    saves=("out",),
    node="LinalgQrBackward0",
)


def _full_qr(x: Data) -> tuple[Data, ...]:
    m = x.shape[-2]
    if not x.size:
        unit = np.broadcast_to(np.eye(m, dtype=x.dtype), (*x.shape[:-2], m, m))
        return unit.copy(), np.zeros(x.shape, x.dtype)
    q, r = np.linalg.qr(x, mode="complete")
    return q, r


def _no_full_slope(*args: Any) -> Any:
    raise run_error(
        "bad-argument",
        "the square Q of a matrix with more rows than columns is not differentiable",
        help="the reduced decomposition is",
    )


full_qr: Op = op(
    "full_qr",
    args=("A",),
    doc="Q and R with a square Q.",
    array=_full_qr,
    shape=lambda a: [(*a[:-1], a[-2]), a],
    dtype=[of_first],
    vjp=(_no_full_slope,),
    jvp=(_no_full_slope,),
)


lu_pivots: Op = op(
    "lu_pivots",
    args=("A",),
    doc="Rows met at each step of elimination, from 1.",
    array=lambda x: lu_parts(x)[1] + 1,
    shape=lambda a: (*a[:-2], min(a[-2:])),
    dtype=integer,
)


def _order_of(pivots: Data, m: int) -> Data:
    """The order of the rows that the swaps (from 1, as LAPACK's) lead to."""
    if not integral(pivots):
        raise run_error("dtype-mismatch", f"pivots must be ints, got {dtype_of(pivots)}")
    size = np.shape(pivots)
    swaps = np.asarray(pivots).reshape(prod(size[:-1]), size[-1]) - 1
    if swaps.size and (swaps.min() < 0 or swaps.max() >= m):
        raise run_error("index-out-of-range", f"pivots are between 1 and {m}")
    rows = np.tile(np.arange(m), (len(swaps), 1))
    for line, steps in zip(rows, swaps, strict=True):
        for j, at in enumerate(steps):
            line[[j, at]] = line[[at, j]]
    return rows.reshape(*np.shape(pivots)[:-1], m)


def _permuted(pivots: Shape, like: Any) -> Shape:
    rows = like.shape[-1]
    if pivots[-1:] != (rows,):
        raise run_error("shape-mismatch", f"{rows} pivots are needed, got the shape {list(pivots)}")
    return (*pivots, rows)


permutation: Op = op(
    "permutation",
    args=("pivots",),
    params={"like": REQUIRED},
    doc="P with P A the rows of A in the order of elimination, of the dtype of `like`, A's.",
    array=lambda pivots, like: np.eye(_permuted(shape_of(pivots), like)[-1], dtype=dtype_of(like))[
        _order_of(pivots, like.shape[-1])
    ],
    shape=_permuted,
    dtype=lambda pivots, like: dtype_of(like),
)


def unit_lower(lu: Any) -> Any:
    """L of a packed LU: the part below the diagonal, with ones on it."""
    return ops.where(eye(lu), ops.add(ops.zeros_of(like=lu), 1.0), triangle(lu, False, -1))


def _eliminated(x: Data) -> Data:
    """LU decomposition without row exchanges, of a matrix whose rows are in the order of
    elimination.
    """
    a = np.array(x)
    for j in range(min(a.shape[-2:])):
        top = a[..., j, j][..., None]
        a[..., j + 1 :, j] /= np.where(top == 0, a.dtype.type(1), top)
        a[..., j + 1 :, j + 1 :] -= a[..., j + 1 :, j, None] * a[..., None, j, j + 1 :]
    return a


def _lu_vjp(g: Any, lu: Any) -> Any:
    low, high = unit_lower(lu), triangle(lu, True)
    left = triangle(ops.matmul(transposed(low), triangle(g, False, -1)), False, -1)
    right = triangle(ops.matmul(triangle(g, True), transposed(high)), True)
    middle = ops.add(left, right)
    half = ops.substitute(transposed(low), middle, upper=True)
    return transposed(ops.substitute(high, transposed(half), upper=True))


def _lu_jvp(dot: Any, lu: Any) -> Any:
    low, high = unit_lower(lu), triangle(lu, True)
    half = ops.substitute(low, dot, upper=False)
    f = transposed(ops.substitute(transposed(high), transposed(half), upper=False))
    return ops.add(ops.matmul(low, triangle(f, False, -1)), ops.matmul(triangle(f, True), high))


eliminate: Op = op(
    "eliminate",
    args=("A",),
    meets=((-2, -1),),
    doc="Packed LU without exchange of rows.",
    source=GILES,
    array=_eliminated,
    shape=lambda a: a,
    vjp=(lambda g, out, a: _lu_vjp(g, out),),
    jvp=(lambda dot, out, a: _lu_jvp(dot, out),),
    saves=("out",),
    node="LinalgLuFactorExBackward0",
)
