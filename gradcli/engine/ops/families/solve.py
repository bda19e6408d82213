"""Determinants, inverses and linear equations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.matrices import (
    GILES,
    checked,
    determinant,
    eye,
    inner,
    per_matrix,
    refuse_singular,
    square_rule,
    symmetric,
    transposed,
    triangle,
)
from gradcli.engine.ops.op import REQUIRED, Op, Sample, bad, composite, known, op, sample
from gradcli.engine.ops.promotion import integer, of_first, promoted
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.fields import Fields
from gradcli.engine.values.memory import in_columns
from gradcli.engine.values.sizes import Shape, broadcast, describe, flag
from gradcli.errors import run_error

FAMILY = 230, "Determinants, inverses and linear equations"

_MINORS = 5  # up to this size cofactors are determinants of minors


# --- determinants ------------------------------------------------------------------------


def _cofactors(a: Any) -> Any:
    """Derivative of the determinant by each element."""
    n = shape_of(a)[-1]
    if n > _MINORS:
        return ops.cofactors(a)
    if n == 0:
        return a
    others = np.array([[j for j in range(n) if j != i] for i in range(n)], np.int64).reshape(n, -1)
    rows, columns = others[:, None, :, None], others[None, :, None, :]
    minors = det(ops.getitem(a, index=(..., rows, columns)))
    odd = (np.arange(n)[:, None] + np.arange(n)) % 2 == 1
    return ops.where(odd, ops.neg(minors), minors)


det: Op = op(
    "det",
    meets=((-2, -1),),
    guards=("input", "out"),
    doc="Determinant of each square matrix. Its gradient is the matrix of cofactors, right for a "
    "singular matrix too (PyTorch's is not); beyond 5 rows derivatives of second and higher order "
    "need an invertible matrix.",
    source=f"{GILES}, 2.2.4",
    array=determinant,
    shape=square_rule("det"),
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


def _slogdet(a: Any) -> Any:
    checked("slogdet", a, square=True)
    return Fields("slogdet", ("sign", "logabsdet"), (ops.det_sign(a), ops.log_abs_det(a)))


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
    node="LinalgSlogdetBackward0",
    doc="Sign of the determinant and logarithm of its size, as the fields `sign` and `logabsdet`: "
    "neither over- nor underflows. At a singular matrix the gradient is nan.",
    source=f"{GILES}, 2.2.4",
    bad=lambda: (bad((2, 3), says="square"),),
)


def _logdet(a: Any) -> Any:
    checked("logdet", a, square=True)
    sign, size = slogdet(a)
    return ops.where(ops.lt(sign, 0.0), float("nan"), size)


logdet: Op = composite(
    "logdet",
    _logdet,
    doc="Logarithm of the determinant: nan where it is negative, -inf where it is zero.",
    source=f"{GILES}, 2.2.4",
    samples=lambda: (
        sample([[2.0, 1.0], [0.5, 3.0]]),
        sample([[2.5]]),
        sample([[[4.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 0.0]]]),
    ),
    bad=lambda: (bad((2, 3), says="square"),),
)

# --- inverse and equations ---------------------------------------------------------------


def _inv(x: Data) -> Data:
    checked("inv", x, square=True)
    refuse_singular("inv", x)
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        raise run_error(
            "bad-argument", "`inv` needs an invertible matrix, and one is singular"
        ) from None


inv: Op = op(
    "inv",
    meets=((-2, -1),),
    aliases=("inverse", "linalg_inv"),
    layout=in_columns,
    args=("A",),
    doc="Inverse of each square matrix; a singular one is an error.",
    source=f"{GILES}, 2.2.3",
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


def _is_vector(a: Any, b: Any) -> bool:
    sa, sb = shape_of(a), shape_of(b)
    return len(sb) == 1 or (len(sb) == len(sa) - 1 and sb == sa[:-1])


def _solve(a: Any, b: Any, left: Any = True) -> Any:
    checked("solve", a, square=True)
    checked("solve", b, rank=1)
    if _is_vector(a, b):
        return ops.squeeze(ops.solve_columns(a, ops.unsqueeze(b, dim=-1)), dim=-1)
    if not left:
        return transposed(ops.solve_columns(transposed(a), transposed(b)))
    return ops.solve_columns(a, b)


solve: Op = composite(
    "solve",
    _solve,
    aliases=("linalg_solve",),
    layout=in_columns,
    args=("A", "B"),
    params={"left": True},
    node="LinalgSolveExBackward0",
    doc="Solution X of A X = B, or of X A = B with `left=False`; B holds a vector or columns. A "
    "singular A is an error.",
    source=f"{GILES}, 2.3.1",
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


def _solve_triangular(
    a: Any, b: Any, upper: Any, left: Any = True, unitriangular: Any = False
) -> Any:
    checked("solve_triangular", a, square=True)
    checked("solve_triangular", b)
    upper = flag(upper, "upper")
    if unitriangular:
        a = ops.where(eye(a), 1.0, a)
        if dtype_of(b) == "float32" and dtype_of(a) != "float32":
            a = ops.cast(a, dtype="float32")
    if left:
        return ops.substitute(a, b, upper=upper)
    return transposed(ops.substitute(transposed(a), transposed(b), upper=not upper))


solve_triangular: Op = composite(
    "solve_triangular",
    _solve_triangular,
    aliases=("linalg_solve_triangular",),
    layout=in_columns,
    args=("A", "B"),
    params={"upper": REQUIRED, "left": True, "unitriangular": False},
    node="LinalgSolveTriangularBackward0",
    doc="Solution X of A X = B (X A = B with `left=False`) for a triangular A, whose other "
    "triangle is not read, nor the diagonal with `unitriangular=True`, which takes it as ones.",
    source=f"{GILES}, 2.3.1",
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


_LIMIT: dict[str, Any] = {"atol": None, "rtol": None}


def _least(x: Data, s: Data, absolute: tuple[str, Any], relative: tuple[str, Any]) -> Data:
    """Up to which size the singular values `s` of each matrix count as zero; the limits come with
    their names.
    """
    limits = []
    for name, limit in (absolute, relative):
        try:
            found = np.asarray(0.0 if limit is None else limit)
        except ValueError:
            found = np.asarray("ragged")
        if found.dtype.kind not in "fib":
            raise run_error("wrong-type", f"`{name}` must be a number or a tensor")
        if broadcast(found.shape, x.shape[:-2]) != x.shape[:-2]:
            raise run_error(
                "shape-mismatch",
                f"`{name}` has the shape {list(found.shape)}, and there are {list(x.shape[:-2])} "
                "matrices",
            )
        limits.append(found[..., None])
    atol, rtol = limits
    if relative[1] is None:
        rtol = np.where(atol > 0, 0.0, _rank_limit(x))
    return np.maximum(atol, rtol * s.max(axis=-1, keepdims=True, initial=0.0))


def _pinv(
    x: Data, rcond: Any = None, hermitian: Any = False, atol: Any = None, rtol: Any = None
) -> Data:
    checked("pinv", x, square=bool(hermitian))
    m, n = x.shape[-2:]
    if not x.size:
        return np.zeros((*x.shape[:-2], n, m), x.dtype)
    u, s, vt = np.linalg.svd(_lower_told(x, hermitian), full_matrices=False)
    relative = ("rcond", rcond) if rtol is None else ("rtol", rtol)
    counts = s > _least(x, s, ("atol", atol), relative)
    inverse = np.where(counts, 1 / np.where(counts, s, 1), 0)
    found = np.matmul(np.swapaxes(vt, -1, -2) * inverse[..., None, :], np.swapaxes(u, -1, -2))
    return np.asarray(found, x.dtype)


def _lower_told(a: Any, hermitian: Any) -> Any:
    """The matrices, with the lower triangle mirrored if they are declared symmetric."""
    if not hermitian:
        return a
    low = triangle(a, False)
    return ops.sub(ops.add(low, transposed(low)), ops.where(eye(a), a, 0.0))


def _of_rank(a: Any, p: Any, hermitian: Any, limits: Mapping[str, Any]) -> Any:
    """The matrices of a pseudo-inverse p, refused where a limit cuts off more than rounding: the
    formula is that of a rank that stays.
    """
    a = _lower_told(a, hermitian)
    if any(limit is not None for limit in limits.values()):
        x, y = data_of(a), data_of(p)
        rest = np.abs(x - x @ y @ x).max(initial=0.0)
        if rest > 1e3 * _rank_limit(x) * np.abs(x).max(initial=0.0):
            raise run_error(
                "bad-argument",
                "`pinv` has no derivative where `atol` or `rtol` cut off singular values that are "
                "not zero",
            )
    return a


def _of_symmetric(c: Any, hermitian: Any) -> Any:
    return symmetric(c) if hermitian else c


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
    meets=((-2, -1),),
    aliases=("linalg_pinv", "pinverse"),
    args=("A",),
    params={"rcond": None, "hermitian": False, **_LIMIT},
    doc="Pseudo-inverse (Moore and Penrose) of each matrix; singular values up to `atol` and up to "
    "`rtol` (or `rcond`; max(m, n) eps without both) of the largest count as zero. "
    "`hermitian=True` reads the lower triangle only; the gradient is symmetric then. "
    "Differentiable where the rank does not change nearby, and nothing but rounding is cut off.",
    source="Golub and Pereyra 1973, The differentiation of pseudo-inverses",
    array=_pinv,
    shape=lambda a, **limits: (checked("pinv", a), (*a[:-2], a[-1], a[-2]))[1],
    vjp=(
        lambda g, out, a, hermitian=False, **limits: _of_symmetric(
            _pinv_vjp(g, out, _of_rank(a, out, hermitian, limits)), hermitian
        ),
    ),
    jvp=(
        lambda dot, out, a, hermitian=False, **limits: _pinv_jvp(
            _of_symmetric(dot, hermitian), out, _of_rank(a, out, hermitian, limits)
        ),
    ),
    saves=("A", "out"),
    triangle="hermitian",
    node="LinalgPinvBackward0",
    samples=lambda: (
        *_invertible(),
        sample([[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]]),
        sample([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]]),
    ),
    bad=lambda: (
        bad((2,), says="at least two dimensions"),
        bad((2, 3), hermitian=True, says="square"),
        bad((2, 2), rtol="abc", says="`rtol` must be a number"),
    ),
)


def _rank(
    x: Data, tol: Any = None, hermitian: Any = False, atol: Any = None, rtol: Any = None
) -> Data:
    checked("matrix_rank", x, square=bool(hermitian))
    if not x.size:
        return np.zeros(x.shape[:-2], np.int64)
    s = np.linalg.svd(_lower_told(x, hermitian), compute_uv=False)
    if tol is not None:
        return np.sum(s > _least(x, s, ("tol", tol), ("rtol", 0.0)), axis=-1)
    return np.sum(s > _least(x, s, ("atol", atol), ("rtol", rtol)), axis=-1)


matrix_rank: Op = op(
    "matrix_rank",
    args=("A",),
    params={"tol": None, "hermitian": False, **_LIMIT},
    doc="Number of singular values above `atol` (or `tol`) and above `rtol` (max(m, n) eps without "
    "all of them) of the largest. `hermitian=True` takes the matrix for symmetric.",
    source="PyTorch: linalg.matrix_rank",
    array=_rank,
    shape=lambda a, **limits: (checked("matrix_rank", a), a[:-2])[1],
    dtype=integer,
)


def _lstsq_shapes(a: Shape, b: Shape) -> list[Shape | None]:
    checked("lstsq", a)
    checked("lstsq", b, rank=1)
    m, n = a[-2:]
    columns = (*b, 1) if len(b) == 1 else b
    if columns[-2] != m:
        raise run_error(
            "shape-mismatch",
            f"`lstsq` needs as many rows on both sides, got the shapes {list(a)} and "
            f"{list(columns)}",
        )
    x = (*broadcast(a[:-2], columns[:-2]), n, columns[-1])
    residuals = (0,) if m <= n else None  # with more rows the rank decides
    return [x[:-1] if len(b) == 1 else x, residuals, a[:-2], (*a[:-2], min(m, n))]


def _lstsq_dtype(a: Any, b: Any) -> str | None:
    checked("lstsq", a)
    checked("lstsq", b, rank=1)
    return promoted(a, b)


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _lstsq(a: Any, b: Any, rcond: Any, driver: Any) -> Any:
    if driver is not None and not (isinstance(driver, str) and driver in _DRIVERS):
        raise run_error(
            "bad-argument", f"`driver` must be one of {', '.join(_DRIVERS)}, got {describe(driver)}"
        )
    _lstsq_dtype(a, b)
    _lstsq_shapes(shape_of(a), shape_of(b))
    m, n = shape_of(a)[-2:]
    vector = len(shape_of(b)) == 1
    if vector:
        b = ops.unsqueeze(b, dim=-1)
    x = ops.matmul(pinv(a, rcond=rcond), b)
    rank = matrix_rank(a, rtol=rcond)
    if m > n and bool(np.all(np.asarray(data_of(rank)) == n)):
        rest = ops.sum(ops.square(ops.sub(ops.matmul(a, x), b)), dim=-2)
    else:
        rest = np.zeros(0, dtype_of(x))
    if vector:
        x = ops.squeeze(x, dim=-1)
    names = ("solution", "residuals", "rank", "singular_values")
    return Fields("linalg_lstsq", names, (x, rest, rank, ops.svdvals(a)))


lstsq: Op = composite(
    "lstsq",
    _lstsq,
    shape=lambda a, b, **how: _lstsq_shapes(a, b),
    dtype=[lambda a, b, **how: _lstsq_dtype(a, b), promoted, integer, of_first],
    aliases=("linalg_lstsq",),
    args=("A", "B"),
    params={"rcond": None, "driver": None},
    fields=("solution", "residuals", "rank", "singular_values"),
    node="LinalgLstsqBackward0",
    doc="Least squares: the X of least norm that makes the norm of A X - B least, as `solution`, "
    "with the fields `residuals` (sums of squares; empty unless A has more rows than columns and "
    "full rank), `rank` and `singular_values` (always given, unlike PyTorch's default).",
    source="Golub and Pereyra 1973, The differentiation of pseudo-inverses",
    bad=lambda: (bad((3, 2), (2, 1), says="rows"),),
)
