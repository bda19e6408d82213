"""NumPy's linear algebra of matrices whose elements may be whole numbers, which become floats."""

from __future__ import annotations

from typing import Any

from gradcli.engine.builtins.names.numpy import Do, as_floats, of_tensors
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op

FAMILY = 354, "NumPy's linear algebra"


def _of_floats(name: str, op: str, doc: str, second: bool = False, **params: Any) -> Op:
    def body(do: Do, *matrices: Any, **named: Any) -> Any:
        return do(ops[op], *(as_floats(do, x) for x in matrices), **named)

    return of_tensors(
        f"linalg_{name}",
        body,
        args=("A", "B") if second else ("A",),
        params=params,
        doc=f"`np.linalg.{name}`: {doc}.",
    )


cholesky: Op = _of_floats("cholesky", "linalg_cholesky", "the triangular factor", upper=False)
det: Op = _of_floats("det", "det", "the determinant")
eigh: Op = _of_floats("eigh", "linalg_eigh", "values and vectors of a symmetric matrix", UPLO="L")
eigvalsh: Op = _of_floats(
    "eigvalsh", "linalg_eigvalsh", "the eigenvalues of a symmetric matrix", UPLO="L"
)
eig: Op = _of_floats("eig", "real_eigen", "real eigenvalues and the eigenvectors; no complex ones")
eigvals: Op = of_tensors(
    "linalg_eigvals",
    lambda do, x: do(ops.real_eigen, as_floats(do, x))[0],
    args=("A",),
    doc="`np.linalg.eigvals`: the eigenvalues of a square matrix, which must be real.",
)
inv: Op = _of_floats("inv", "linalg_inv", "the inverse")
matrix_rank: Op = _of_floats("matrix_rank", "matrix_rank", "the rank", tol=None)
pinv: Op = _of_floats("pinv", "linalg_pinv", "the pseudo-inverse", rcond=None)
qr: Op = _of_floats("qr", "linalg_qr", "the orthogonal and the triangular factor", mode="reduced")
slogdet: Op = _of_floats("slogdet", "slogdet", "sign and logarithm of the determinant")
solve: Op = _of_floats("solve", "linalg_solve", "the solution of A x = B", second=True)
svd: Op = _of_floats("svd", "linalg_svd", "the singular value decomposition", full_matrices=True)
cond: Op = _of_floats("cond", "linalg_cond", "the condition number", p=None)
