"""Decompositions of matrices."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.matrices import GILES, checked, transposed
from gradcli.engine.ops.op import Op, bad, composite, sample
from gradcli.engine.values.data import dtype_of, np, shape_of
from gradcli.engine.values.fields import Fields
from gradcli.engine.values.memory import in_columns, in_order
from gradcli.errors import run_error

FAMILY = 240, "Decompositions of matrices"

_SYMMETRIC = (
    "Only one triangle of the matrix is read. The gradient is symmetric, as PyTorch's: both assume "
    "that the matrix stays symmetric."
)


def _side(side: Any) -> bool:
    if side not in ("L", "U", "l", "u"):
        raise run_error("bad-argument", f"`UPLO` must be 'L' or 'U', got {side!r}")
    return side in ("U", "u")


# --- Cholesky ----------------------------------------------------------------------------


def _cholesky(a: Any, upper: Any = False) -> Any:
    checked("cholesky", a, square=True)
    return transposed(ops.lower_root(transposed(a))) if upper else ops.lower_root(a)


cholesky: Op = composite(
    "cholesky",
    _cholesky,
    aliases=("linalg_cholesky",),
    layout=in_columns,
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
    layout=in_columns,
    guards=("input", "input2", "out"),
    args=("input", "input2"),
    params={"upper": False},
    node="CholeskySolveBackward0",
    doc="Solution X of A X = B from the Cholesky factor of A, lower or with `upper=True` upper.",
    source=f"{GILES}, 2.3.1",
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
    layout=in_columns,
    params={"upper": False},
    node="CholeskyInverseBackward0",
    doc="Inverse of A from its Cholesky factor, lower or with `upper=True` upper.",
    source=f"{GILES}, 2.3.1",
    samples=lambda: (sample(_SPD_ROOT[0]), sample(_SPD_ROOT[1], upper=True), sample([[2.0]])),
    bad=lambda: (bad((2, 3), says="square"),),
)

# --- symmetric eigenvalues ---------------------------------------------------------------


def _eigh(a: Any, UPLO: Any = "L") -> Any:  # noqa: N803
    checked("eigh", a, square=True)
    found = ops.symmetric_eigen(a, upper=_side(UPLO))
    return Fields("linalg_eigh", ("eigenvalues", "eigenvectors"), found)


eigh: Op = composite(
    "eigh",
    _eigh,
    aliases=("linalg_eigh",),
    layout=[in_order, in_columns],
    args=("A",),
    params={"UPLO": "L"},
    fields=("eigenvalues", "eigenvectors"),
    doc="Eigenvalues of a symmetric matrix in ascending order and its eigenvectors as columns, as "
    "the fields `eigenvalues` and `eigenvectors`, whose signs are LAPACK's. At a repeated "
    f"eigenvalue the eigenvectors' derivative is not finite. {_SYMMETRIC}",
    source=f"{GILES}, 3.1",
    bad=lambda: (bad((2, 3), says="square"), bad((2, 2), UPLO="X", says="'L' or 'U'")),
)
eigvalsh: Op = composite(
    "eigvalsh",
    lambda a, UPLO="L": _eigh(a, UPLO)[0],  # noqa: N803
    aliases=("linalg_eigvalsh",),
    args=("A",),
    params={"UPLO": "L"},
    doc=f"Eigenvalues of a symmetric matrix in ascending order. {_SYMMETRIC}",
    source=f"{GILES}, 3.1",
    bad=lambda: (bad((2, 3), says="square"),),
)

# --- singular values ---------------------------------------------------------------------


def _svd_parts(a: Any, full: Any) -> tuple[Any, Any, Any]:
    checked("svd", a)
    u, s, v = ops.reduced_svd(a)
    if full and shape_of(a)[-1] != shape_of(a)[-2]:
        is_tall = shape_of(a)[-2] > shape_of(a)[-1]
        rest = ops.spare_bases(a)[0 if is_tall else 1]
        u, v = (ops.cat(u, rest, dim=-1), v) if is_tall else (u, ops.cat(v, rest, dim=-1))
    return u, s, v


def _svd(a: Any, some: Any = True, compute_uv: Any = True) -> Any:
    u, s, vh = linalg_svd(a, full_matrices=not some)
    v = transposed(vh)
    if not compute_uv:
        m, n = shape_of(a)[-2:]
        u, v = (np.zeros((*shape_of(a)[:-2], size, size), dtype_of(a)) for size in (m, n))
    return Fields("svd", ("U", "S", "V"), (u, s, v))


def _linalg_svd(a: Any, full_matrices: Any = True) -> Any:
    u, s, v = _svd_parts(a, full_matrices)
    return Fields("linalg_svd", ("U", "S", "Vh"), (u, s, transposed(v)))


_SVD_LIMITS = (
    "Singular vectors have LAPACK's signs; their derivative is not finite where singular values "
    "are equal (or zero, where the matrix is not square), the values' own is. The columns that "
    "square U and V have beyond the smaller size of the matrix are constants for the derivative."
)

svd: Op = composite(
    "svd",
    _svd,
    layout=[in_columns, in_order, in_order],
    params={"some": True, "compute_uv": True},
    fields=("U", "S", "V"),
    doc="Singular value decomposition A = U diag(S) V^T, as the fields `U`, `S`, `V`. "
    f"{_SVD_LIMITS}",
    source=f"{GILES}, 3.2",
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
    layout=[in_columns, in_order, in_columns],
    args=("A",),
    params={"full_matrices": True},
    fields=("U", "S", "Vh"),
    node="LinalgSvdBackward0",
    doc="Singular value decomposition A = U diag(S) Vh, as the fields `U`, `S`, `Vh`. "
    f"{_SVD_LIMITS}",
    source=f"{GILES}, 3.2",
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
    source=f"{GILES}, 3.2",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]]),
        sample([[2.5]]),
    ),
    bad=lambda: (bad((2,), says="at least two dimensions"),),
)

# --- QR ----------------------------------------------------------------------------------


def _qr_parts(a: Any, full: bool) -> tuple[Any, Any]:
    checked("qr", a)
    m, n = shape_of(a)[-2:]
    if m < n:
        q, r = ops.tall_qr(ops.narrow(a, dim=-1, start=0, length=m))
        rest = ops.matmul(transposed(q), ops.narrow(a, dim=-1, start=m, length=n - m))
        return q, ops.cat(r, rest, dim=-1)
    q, r = ops.full_qr(a) if full and m > n else ops.tall_qr(a)
    return q, r


def _linalg_qr(a: Any, mode: Any = "reduced") -> Any:
    if not isinstance(mode, str) or mode not in ("reduced", "complete", "r"):
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
    layout=in_columns,
    params={"some": True},
    fields=("Q", "R"),
    node="LinalgQrBackward0",
    doc=f"{_QR}; with `some=False` Q is square.",
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
    layout=in_columns,
    args=("A",),
    params={"mode": "reduced"},
    fields=("Q", "R"),
    node="LinalgQrBackward0",
    doc=f"{_QR}; `mode='complete'` gives a square Q, `mode='r'` no Q.",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]]),
        sample([[1.0, 2.0], [3.0, 4.0]], mode="complete"),
        sample([[1.0, 2.0], [3.0, 4.0]], mode="r"),
    ),
    bad=lambda: (bad((2, 2), mode="x", says="'reduced'"),),
)
