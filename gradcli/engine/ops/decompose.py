"""Decompositions of matrices."""

from __future__ import annotations

from typing import Any

from gradcli.engine.arrays import Data, dtype_of, np, shape_of
from gradcli.engine.ops.matrices import (
    checked,
    diagonal,
    eye,
    halved,
    spread,
    symmetric,
    transposed,
    triangle,
    which,
)
from gradcli.engine.ops.registry import Op, bad, composite, op, ops, sample
from gradcli.engine.ops.sizes import Shape
from gradcli.engine.tensor import Fields
from gradcli.errors import run_error

_GILES = "Giles, Collected matrix derivative results for forward and reverse mode AD, 2008"
_SYMMETRIC = (
    "Of a matrix only one triangle is read; the gradient is symmetric, as PyTorch's is: it takes "
    "the matrix to stay symmetric."
)


def _mirrored(x: Data, upper: bool) -> Data:
    """The symmetric matrix that one triangle stands for."""
    part = np.triu(x) if upper else np.tril(x)
    rest = np.triu(x, 1) if upper else np.tril(x, -1)
    return part + np.swapaxes(rest, -1, -2)


def _side(side: Any) -> bool:
    if side not in ("L", "U", "l", "u"):
        raise run_error("bad-argument", f"`UPLO` must be 'L' or 'U', got {side!r}")
    return side in ("U", "u")


# --- Cholesky ----------------------------------------------------------------------------


def _cholesky_array(x: Data) -> Data:
    checked("cholesky", x, square=True)
    x = _mirrored(x, False)
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        raise _not_definite(x) from None


def _not_definite(x: Data) -> Exception:
    """Which leading minor of which matrix fails first."""
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
    doc="Lower triangular L with L L^T = A.",
    source="Murray 2016, Differentiation of the Cholesky decomposition",
    array=_cholesky_array,
    shape=lambda a: (checked("cholesky", a, square=True), a)[1],
    vjp=(lambda g, out, a: _cholesky_vjp(g, out),),
    jvp=(lambda dot, out, a: _cholesky_jvp(dot, out),),
    saves=("out",),
    node="LinalgCholeskyExBackward0",
    method=False,
)


def _cholesky(a: Any, upper: Any = False) -> Any:
    checked("cholesky", a, square=True)
    return transposed(lower_root(transposed(a))) if upper else lower_root(a)


cholesky: Op = composite(
    "cholesky",
    _cholesky,
    aliases=("linalg_cholesky",),
    args=("input",),
    params={"upper": False},
    doc="Lower triangular L with L L^T = A for a symmetric positive-definite A, or with "
    f"`upper=True` U = L^T; any other A is an error. {_SYMMETRIC}",
    source="Murray 2016, Differentiation of the Cholesky decomposition",
    bad=lambda: (
        bad((2, 3), says="square"),
        bad([[1.0, 2.0], [2.0, 1.0]], says="leading minor of order 2"),
    ),
)


def _cholesky_solve(b: Any, low: Any, upper: Any = False) -> Any:
    checked("cholesky_solve", b)
    checked("cholesky_solve", low, square=True)
    if upper:
        low = transposed(low)
    half = ops.substitute(low, b, upper=False)
    return ops.substitute(transposed(low), half, upper=True)


_SPD_ROOT = ([[2.0, 0.0], [1.0, 3.0]], [[1.0, 0.5], [0.0, 2.0]])

cholesky_solve: Op = composite(
    "cholesky_solve",
    _cholesky_solve,
    args=("input", "input2"),
    params={"upper": False},
    doc="Solution X of A X = B from the Cholesky factor of A, lower or with `upper=True` upper.",
    source=f"{_GILES}, 2.3.1",
    samples=lambda: (
        sample([[1.0], [2.0]], _SPD_ROOT[0]),
        sample([[1.0, 3.0], [2.0, -1.0]], _SPD_ROOT[1], upper=True),
        sample([[3.0]], [[2.0]]),
    ),
    bad=lambda: (bad((2, 1), (2, 3), says="square"),),
)


def _cholesky_inverse(low: Any, upper: Any = False) -> Any:
    checked("cholesky_inverse", low, square=True)
    unit = np.broadcast_to(np.eye(shape_of(low)[-1], dtype=dtype_of(low)), shape_of(low))
    return _cholesky_solve(unit, low, upper)


cholesky_inverse: Op = composite(
    "cholesky_inverse",
    _cholesky_inverse,
    args=("input",),
    params={"upper": False},
    doc="Inverse of A from its Cholesky factor, lower or with `upper=True` upper.",
    source=f"{_GILES}, 2.3.1",
    samples=lambda: (sample(_SPD_ROOT[0]), sample(_SPD_ROOT[1], upper=True), sample([[2.0]])),
    bad=lambda: (bad((2, 3), says="square"),),
)

# --- symmetric eigenvalues ---------------------------------------------------------------


def _eigh_array(x: Data, upper: bool) -> tuple[Data, ...]:
    checked("eigh", x, square=True)
    if not x.size:
        return np.zeros(x.shape[:-1], x.dtype), np.zeros(x.shape, x.dtype)
    if not np.all(np.isfinite(x)):
        raise run_error("bad-argument", "`eigh` needs finite elements")
    return tuple(np.linalg.eigh(x, "U" if upper else "L"))


def _gaps(s: Any) -> Any:
    """1 / (s_j - s_i), zero on the diagonal, infinite where two are equal."""
    d = ops.sub(ops.unsqueeze(s, dim=-2), ops.unsqueeze(s, dim=-1))
    unit = np.eye(shape_of(s)[-1], dtype=bool)
    return ops.where(unit, 0.0, ops.reciprocal(ops.where(unit, 1.0, d)))


def _turned(p: Any, s: Any) -> Any:
    """Quotients p / (s_j - s_i) off the diagonal; zero where p is zero through an unused result."""
    return ops.weigh(ops.where(eye(p), 0.0, p), _gaps(s))


def _eigh_vjp(g: Any, out: Any) -> Any:
    s, v = out
    vt = transposed(v)
    inside = ops.add(spread(g[0]), _turned(ops.matmul(vt, g[1]), s))
    return symmetric(ops.matmul(v, ops.matmul(inside, vt)))


def _eigh_jvp(dot: Any, out: Any) -> Any:
    s, v = out
    p = ops.matmul(transposed(v), ops.matmul(symmetric(dot), v))
    return diagonal(p), ops.matmul(v, _turned(p, s))


symmetric_eigen: Op = op(
    "symmetric_eigen",
    args=("A",),
    params={"upper": False},
    doc="Eigenvalues and eigenvectors of a symmetric matrix.",
    source=f"{_GILES}, 3.1",
    array=_eigh_array,
    shape=lambda a, upper: (checked("eigh", a, square=True), (a[:-1], a))[1],
    vjp=(lambda g, out, a, upper: _eigh_vjp(g, out),),
    jvp=(lambda dot, out, a, upper: _eigh_jvp(dot, out),),
    saves=("out",),
    node="LinalgEighBackward0",
    method=False,
)


def _eigh(a: Any, UPLO: Any = "L") -> Any:  # noqa: N803
    checked("eigh", a, square=True)
    found = symmetric_eigen(a, upper=_side(UPLO))
    return Fields("eigh", ("eigenvalues", "eigenvectors"), found)


eigh: Op = composite(
    "eigh",
    _eigh,
    aliases=("linalg_eigh",),
    args=("A",),
    params={"UPLO": "L"},
    fields=("eigenvalues", "eigenvectors"),
    doc="Eigenvalues of a symmetric matrix in ascending order and its eigenvectors as columns, as "
    "the fields `eigenvalues` and `eigenvectors`, whose signs are LAPACK's. At a repeated "
    f"eigenvalue the eigenvectors' derivative is not finite. {_SYMMETRIC}",
    source=f"{_GILES}, 3.1",
    bad=lambda: (bad((2, 3), says="square"), bad((2, 2), UPLO="X", says="'L' or 'U'")),
)
eigvalsh: Op = composite(
    "eigvalsh",
    lambda a, UPLO="L": _eigh(a, UPLO)[0],  # noqa: N803
    aliases=("linalg_eigvalsh",),
    args=("A",),
    params={"UPLO": "L"},
    doc=f"Eigenvalues of a symmetric matrix in ascending order. {_SYMMETRIC}",
    source=f"{_GILES}, 3.1",
    bad=lambda: (bad((2, 3), says="square"),),
)

# --- singular values ---------------------------------------------------------------------


def _svd_shape(a: Shape) -> tuple[Shape, ...]:
    checked("svd", a)
    k = min(a[-2:])
    return (*a[:-1], k), (*a[:-2], k), (*a[:-2], a[-1], k)


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
    f, row, column = _svd_gaps(s), ops.unsqueeze(s, dim=-2), ops.unsqueeze(s, dim=-1)
    inv = ops.reciprocal(row)
    m, n = ops.matmul(transposed(u), g[0]), ops.matmul(transposed(v), g[2])
    left = ops.weigh(ops.sub(m, transposed(m)), f)
    right = ops.weigh(ops.sub(n, transposed(n)), f)
    inside = ops.add(ops.add(ops.mul(left, row), ops.mul(right, column)), spread(g[1]))
    c = ops.matmul(ops.matmul(u, inside), transposed(v))
    rows, k, columns = shape_of(u)[-2], shape_of(s)[-1], shape_of(v)[-2]
    if rows > k:
        c = ops.add(c, ops.matmul(ops.weigh(_outside(g[0], u), inv), transposed(v)))
    if columns > k:
        c = ops.add(c, ops.matmul(u, transposed(ops.weigh(_outside(g[2], v), inv))))
    return c


def _svd_jvp(dot: Any, out: Any) -> Any:
    u, s, v = out
    f, row, column = _svd_gaps(s), ops.unsqueeze(s, dim=-2), ops.unsqueeze(s, dim=-1)
    inv = ops.reciprocal(row)
    p = ops.matmul(transposed(u), ops.matmul(dot, v))
    pt = transposed(p)
    du = ops.matmul(u, ops.weigh(ops.add(ops.mul(p, row), ops.mul(column, pt)), f))
    dv = ops.matmul(v, ops.weigh(ops.add(ops.mul(column, p), ops.mul(pt, row)), f))
    rows, k, columns = shape_of(u)[-2], shape_of(s)[-1], shape_of(v)[-2]
    if rows > k:
        du = ops.add(du, ops.weigh(_outside(ops.matmul(dot, v), u), inv))
    if columns > k:
        dv = ops.add(dv, ops.weigh(_outside(ops.matmul(transposed(dot), u), v), inv))
    return du, diagonal(p), dv


reduced_svd: Op = op(
    "reduced_svd",
    args=("input",),
    doc="Singular vectors and values: U, S, V.",
    source=f"{_GILES}, 3.2",
    array=_svd_array,
    shape=_svd_shape,
    vjp=(lambda g, out, a: _svd_vjp(g, out),),
    jvp=(lambda dot, out, a: _svd_jvp(dot, out),),
    saves=("out",),
    node="LinalgSvdBackward0",
    method=False,
)


def _no_slope(*args: Any) -> Any:
    raise run_error(
        "bad-argument",
        "the square U and V of a matrix that is not square are not differentiable",
        help="`full_matrices=False` (`some=True`) gives those that are",
    )


def _full_array(x: Data) -> tuple[Data, ...]:
    m, n = x.shape[-2:]
    if not x.size:
        unit = [np.broadcast_to(np.eye(k, dtype=x.dtype), (*x.shape[:-2], k, k)) for k in (m, n)]
        return unit[0].copy(), unit[1].copy()
    u, _, vh = np.linalg.svd(x)
    return u, np.swapaxes(vh, -1, -2)


full_bases: Op = op(
    "full_bases",
    args=("input",),
    doc="The square matrices of singular vectors.",
    source="definition",
    array=_full_array,
    shape=lambda a: ((*a[:-1], a[-2]), (*a[:-2], a[-1], a[-1])),
    vjp=(_no_slope,),
    jvp=(_no_slope,),
    method=False,
)


def _svd_parts(a: Any, full: Any) -> tuple[Any, Any, Any]:
    checked("svd", a)
    u, s, v = reduced_svd(a)
    if full and shape_of(a)[-1] != shape_of(a)[-2]:
        u, v = full_bases(a)
    return u, s, v


def _svd(a: Any, some: Any = True, compute_uv: Any = True) -> Any:
    u, s, v = _svd_parts(a, not some)
    if not compute_uv:
        m, n = shape_of(a)[-2:]
        u, v = (np.zeros((*shape_of(a)[:-2], size, size), dtype_of(a)) for size in (m, n))
    return Fields("svd", ("U", "S", "V"), (u, s, v))


def _linalg_svd(a: Any, full_matrices: Any = True) -> Any:
    u, s, v = _svd_parts(a, full_matrices)
    return Fields("linalg_svd", ("U", "S", "Vh"), (u, s, transposed(v)))


_SVD_LIMITS = (
    "Singular vectors have LAPACK's signs; their derivative is not finite where singular values "
    "are equal (or zero, where the matrix is not square), the values' own is."
)

svd: Op = composite(
    "svd",
    _svd,
    args=("input",),
    params={"some": True, "compute_uv": True},
    fields=("U", "S", "V"),
    doc="Singular value decomposition A = U diag(S) V^T, as the fields `U`, `S`, `V`. "
    f"{_SVD_LIMITS}",
    source=f"{_GILES}, 3.2",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]]),
        sample([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]]),
        sample([[2.5]]),
        sample([[[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 0.3]]]),
    ),
    bad=lambda: (bad((2,), says="at least two dimensions"),),
)
linalg_svd: Op = composite(
    "linalg_svd",
    _linalg_svd,
    args=("A",),
    params={"full_matrices": True},
    fields=("U", "S", "Vh"),
    doc="Singular value decomposition A = U diag(S) Vh, as the fields `U`, `S`, `Vh`; the full U "
    f"and Vh of a matrix that is not square have no derivative. {_SVD_LIMITS}",
    source=f"{_GILES}, 3.2",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]], full_matrices=False),
    ),
    bad=lambda: (bad((2,), says="at least two dimensions"),),
)
svdvals: Op = composite(
    "svdvals",
    lambda a: _svd_parts(a, False)[1],
    aliases=("linalg_svdvals",),
    args=("A",),
    doc="Singular values of each matrix in descending order.",
    source=f"{_GILES}, 3.2",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]]),
        sample([[2.5]]),
    ),
    bad=lambda: (bad((2,), says="at least two dimensions"),),
)

# --- QR ----------------------------------------------------------------------------------


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
    doc="Q and R of a matrix with at least as many rows as columns.",
    source="Walter, Lehmann and Lamour 2012, On evaluating higher-order derivatives of the QR "
    "decomposition",
    array=_qr_array,
    shape=lambda a: (a, (*a[:-2], a[-1], a[-1])),
    vjp=(lambda g, out, a: _qr_vjp(g, out),),
    jvp=(lambda dot, out, a: _qr_jvp(dot, out),),
    saves=("out",),
    node="LinalgQrBackward0",
    method=False,
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
    source="definition",
    array=_full_qr,
    shape=lambda a: ((*a[:-1], a[-2]), a),
    vjp=(_no_full_slope,),
    jvp=(_no_full_slope,),
    method=False,
)


def _qr_parts(a: Any, full: bool) -> tuple[Any, Any]:
    checked("qr", a)
    m, n = shape_of(a)[-2:]
    if m < n:
        q, r = tall_qr(ops.narrow(a, dim=-1, start=0, length=m))
        rest = ops.matmul(transposed(q), ops.narrow(a, dim=-1, start=m, length=n - m))
        return q, ops.cat(r, rest, dim=-1)
    q, r = full_qr(a) if full and m > n else tall_qr(a)
    return q, r


def _linalg_qr(a: Any, mode: Any = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise run_error(
            "bad-argument", f"`mode` must be 'reduced', 'complete' or 'r', got {mode!r}"
        )
    q, r = _qr_parts(a, mode == "complete")
    if mode == "r":
        q = np.zeros(0, dtype_of(a))
    return Fields("linalg_qr", ("Q", "R"), (q, r))


_QR = (
    "A = Q R with orthonormal columns in Q and an upper triangular R, as the fields `Q` and `R`, "
    "whose signs are LAPACK's. Differentiable where the first min(m, n) columns are independent "
    "(PyTorch's gradient of wide matrices is refused, here it works)"
)

qr: Op = composite(
    "qr",
    lambda a, some=True: Fields("qr", ("Q", "R"), _qr_parts(a, not some)),
    args=("input",),
    params={"some": True},
    fields=("Q", "R"),
    doc=f"{_QR}; with `some=False` Q is square.",
    source=tall_qr.source,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]]),
        sample([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]]),
        sample([[2.5]]),
    ),
    bad=lambda: (bad((2,), says="at least two dimensions"),),
)
linalg_qr: Op = composite(
    "linalg_qr",
    _linalg_qr,
    args=("A",),
    params={"mode": "reduced"},
    fields=("Q", "R"),
    doc=f"{_QR}; `mode='complete'` gives a square Q, `mode='r'` no Q.",
    source=tall_qr.source,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]]),
        sample([[1.0, 2.0], [3.0, 4.0]], mode="complete"),
        sample([[1.0, 2.0], [3.0, 4.0]], mode="r"),
    ),
    bad=lambda: (bad((2, 2), mode="x", says="'reduced'"),),
)
