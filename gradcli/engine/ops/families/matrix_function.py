"""Functions and norms of matrices, and equations from their LU decomposition."""

from __future__ import annotations

from math import factorial, inf, prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.matrices import GILES, checked, transposed, triangle
from gradcli.engine.ops.internal.decompose import unit_lower
from gradcli.engine.ops.op import Op, bad, composite, op, sample
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, Data, np, shape_of
from gradcli.engine.values.dtypes import floating_name
from gradcli.engine.values.fields import Fields
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.memory import in_columns, in_order
from gradcli.engine.values.sizes import axes, flag, number, whole
from gradcli.errors import run_error

FAMILY = 250, "Functions and norms of matrices"

# --- exponential -------------------------------------------------------------------------

_ORDER, _RADIUS = (
    13,
    5.37,
)  # of the Pade approximant, and the norm up to which it is to the last digits of a double


def _exp(x: Data) -> Data:
    checked("matrix_exp", x, square=True)
    if not x.size:
        return np.zeros(x.shape, x.dtype)
    n = x.shape[-1]
    a = x.astype(np.float64).reshape(prod(x.shape[:-2]), n, n)
    out = np.stack([_exp_one(m) for m in a])
    return out.reshape(x.shape).astype(x.dtype)


def _exp_one(a: Data) -> Data:
    """Scaling and squaring of the Pade approximant of order 13."""
    size = float(np.max(np.sum(np.abs(a), axis=0)))
    if not np.isfinite(size):
        return np.full(a.shape, np.nan)
    steps = max(0, int(np.ceil(np.log2(size / _RADIUS)))) if size > _RADIUS else 0
    a = np.ldexp(a, -steps)
    m = _ORDER
    square, unit = a @ a, np.eye(len(a))
    even, odd, power = np.zeros_like(a), np.zeros_like(a), unit
    for k in range(0, m + 1, 2):
        even = even + _weight(m, k) * power
        odd = odd + _weight(m, k + 1) * power
        power = power @ square
    odd = a @ odd
    out = np.linalg.solve(even - odd, even + odd)
    for _ in range(steps):
        out = out @ out
    return out


def _weight(m: int, k: int) -> float:
    top = factorial(2 * m - k) * factorial(m)
    return top / (factorial(2 * m) * factorial(k) * factorial(m - k)) if k <= m else 0.0


def _frechet(a: Any, e: Any) -> Any:
    """Derivative of exp at a along e: the corner of the exponential of [[a, e], [0, a]]."""
    n = shape_of(a)[-1]
    top = ops.cat(a, e, dim=-1)
    bottom = ops.cat(ops.zeros_of(like=a), a, dim=-1)
    whole_exp = matrix_exp(ops.cat(top, bottom, dim=-2))
    rows = ops.narrow(whole_exp, dim=-2, start=0, length=n)
    return ops.narrow(rows, dim=-1, start=n, length=n)


matrix_exp: Op = op(
    "matrix_exp",
    meets=((-2, -1),),
    aliases=("linalg_matrix_exp",),
    args=("A",),
    doc="Exponential of each square matrix, the sum of A^k / k!; differentiable at every order.",
    source="Higham 2005, The scaling and squaring method for the matrix exponential revisited",
    array=_exp,
    shape=lambda a: (checked("matrix_exp", a, square=True), a)[1],
    vjp=(lambda g, out, a: _frechet(transposed(a), g),),
    jvp=(lambda dot, out, a: _frechet(a, dot),),
    saves=("A",),
    node="LinalgMatrixExpBackward0",
    samples=lambda: (
        sample([[0.1, 0.2], [0.3, -0.4]]),
        sample([[1.0, 2.0], [-1.0, 0.5]]),
        sample([[0.0, 0.0], [0.0, 0.0]]),
        sample([[0.0, 1.0], [0.0, 0.0]]),
        sample([[1.5]]),
        sample([[[0.5, 0.2], [0.1, -0.3]], [[0.0, -1.0], [1.0, 0.0]]]),
        sample([[0.1, 0.5, -0.2], [0.0, 0.3, 0.7], [0.4, 0.0, -0.6]]),
        sample([[-2.0, 1.0], [0.5, -1.0]]),
    ),
    bad=lambda: (bad((2, 3), says="square"),),
)

# --- norms -------------------------------------------------------------------------------


def _order(value: Any, name: str) -> Any:
    """The order of a norm: a text, a number, or None."""
    return value if value is None or isinstance(value, str) else number(value, name)


def _largest(x: Any, dim: int, keepdim: bool = False) -> Any:
    """The largest of sizes; of none 0, a constant."""
    if shape_of(x)[dim]:
        return ops.amax(x, dim=dim, keepdim=keepdim)
    return ops.sum(data_of(x), dim=dim, keepdim=keepdim)


def _matrix_norm(
    a: Any,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: Any = False,
    dtype: Any = None,
    name: str = "ord",
) -> Any:
    a = a if dtype is None else ops.cast(a, dtype=floating_name(dtype))
    checked("matrix_norm", a)
    rank = len(shape_of(a))
    found = axes(dim, rank)
    if len(found) != 2:
        raise run_error("bad-argument", f"`matrix_norm` needs two dimensions, got {len(found)}")
    row, column = found
    kept = bool(keepdim)
    order = _order(ord, "ord")
    if order == "fro":
        return ops.norm(a, p=2, dim=(row, column), keepdim=kept)
    if order == "nuc" or order in (2, -2):
        rest = [i for i in range(rank) if i not in found]
        s = ops.svdvals(ops.permute(a, dims=(*rest, row, column)))
        if order == "nuc":
            out = ops.sum(s, dim=-1)
        else:
            out = _largest(s, -1) if order == 2 else ops.amin(s, dim=-1)
        if not kept:
            return out
        size = tuple(1 if i in found else n for i, n in enumerate(shape_of(a)))
        return ops.reshape(out, shape=size)
    if order not in (1, -1, inf, -inf):
        raise run_error(
            "bad-argument",
            f"`{name}` must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {order!r}",
        )
    over, along = (row, column) if order in (1, -1) else (column, row)
    sums = ops.sum(ops.abs(a), dim=over, keepdim=True)
    most = _largest if order > 0 else ops.amin
    out = most(sums, dim=along, keepdim=True)
    if kept:
        return out
    size = tuple(n for i, n in enumerate(shape_of(a)) if i not in found)
    return ops.reshape(out, shape=size)


matrix_norm: Op = composite(
    "matrix_norm",
    _matrix_norm,
    aliases=("linalg_matrix_norm",),
    args=("A",),
    params={"ord": "fro", "dim": (-2, -1), "keepdim": False, "dtype": None},
    doc="Norm of each matrix: 'fro' the root of the sum of squares, 'nuc' the sum of the singular "
    "values, 2 and -2 the largest and smallest of them, 1 and -1 the largest and smallest sum of a "
    "column's sizes, inf and -inf of a row's.",
    samples=lambda: (
        *(
            sample([[1.0, 2.0], [-3.0, 4.5]], ord=o)
            for o in ("fro", "nuc", 1, -1, 2, -2, inf, -inf)
        ),
        sample([[[1.0, 2.0]], [[-3.0, 4.5]]], ord=1, dim=(0, 2), keepdim=True),
        sample([[], []], ord=1),
        sample([[], []], ord=2),
    ),
    bad=lambda: (bad((2, 2), ord=3, says="'fro'"), bad((2,), says="at least two dimensions")),
)


def _linalg_norm(
    a: Any, ord: Any = None, dim: Any = None, keepdim: Any = False, dtype: Any = None
) -> Any:
    a = a if dtype is None else ops.cast(a, dtype=floating_name(dtype))
    order = _order(ord, "ord")
    if order is None:
        return ops.norm(a, p=2, dim=dim, keepdim=keepdim)
    count = len(shape_of(a)) if dim is None else len(axes(dim, len(shape_of(a))))
    if count == 2:
        return _matrix_norm(a, order, (0, 1) if dim is None else dim, keepdim)
    if count != 1 or type(order) not in NUMBERS:
        raise run_error(
            "bad-argument", f"the norm `ord` = {order!r} is not one of {count} dimensions"
        )
    return ops.norm(a, p=order, dim=dim, keepdim=keepdim)


linalg_norm: Op = composite(
    "linalg_norm",
    _linalg_norm,
    args=("A",),
    params={"ord": None, "dim": None, "keepdim": False, "dtype": None},
    doc="Norm of a vector, or of a matrix where there are two dimensions; without `ord` the root "
    "of the sum of squares of all.",
    samples=lambda: (
        sample([3.0, -4.0]),
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([3.0, -4.0], ord=3),
        sample([[1.0, 2.0], [3.0, 4.5]], ord=2),
        sample([[1.0, 2.0], [3.0, 4.5]], ord=1, dim=0),
    ),
    bad=lambda: (bad((2,), ord="fro", says="not one of 1"),),
)


def _cond(a: Any, p: Any = None) -> Any:
    order = _order(p, "p")
    checked("cond", a)
    if order in (None, 2, -2):
        if not all(shape_of(a)[-2:]):
            return ops.sum(data_of(a), dim=(-2, -1))
        s = ops.svdvals(a)
        high, low = ops.amax(s, dim=-1), ops.amin(s, dim=-1)
        return ops.div(low, high) if order == -2 else ops.div(high, low)
    return ops.mul(_matrix_norm(a, order, name="p"), _matrix_norm(ops.inv(a), order))


cond: Op = composite(
    "cond",
    _cond,
    aliases=("linalg_cond",),
    args=("A",),
    params={"p": None},
    doc="Condition number: the norm of A times the norm of its inverse; without `p` the ratio of "
    "the largest singular value to the smallest.",
    samples=lambda: (
        *(sample([[1.0, 2.0], [-3.0, 4.5]], p=p) for p in (None, 2, -2, "fro", 1)),
        sample([[], []]),
    ),
    bad=lambda: (bad((2,), says="at least two dimensions"),),
)

# --- LU ----------------------------------------------------------------------------------


def _factored(name: str, a: Any, pivot: Any) -> tuple[Any, Any, Any]:
    checked(name, a, square=True)
    if not flag(pivot, "pivot"):
        raise run_error("bad-argument", "`pivot=False` is refused, as by PyTorch on a CPU")
    pivots = ops.lu_pivots(a)
    p = ops.permutation(pivots, like=a)
    return ops.eliminate(ops.matmul(p, a)), pivots, p


_SQUARE_SAMPLES = (
    [[1.0, 2.0], [3.0, 4.0]],
    [[2.0, -1.0, 0.5], [1.0, 3.0, 1.5], [0.0, -2.0, 1.0]],
    [[[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 0.3]]],
    [[2.5]],
)

lu_factor: Op = composite(
    "lu_factor",
    lambda a, pivot: Fields(
        "linalg_lu_factor", ("LU", "pivots"), _factored("lu_factor", a, pivot)[:2]
    ),
    aliases=("linalg_lu_factor",),
    layout=[in_columns, in_order],
    guards=("out",),
    args=("A",),
    params={"pivot": True},
    fields=("LU", "pivots"),
    node="LinalgLuFactorExBackward0",
    doc="LU decomposition of square matrices with partial pivoting, as the fields `LU` (U, and L "
    "below its diagonal) and `pivots` (from 1). Differentiable where the matrix is invertible.",
    source=GILES,
    samples=lambda: tuple(sample(a, pivot=True) for a in _SQUARE_SAMPLES),
    bad=lambda: (
        bad((2, 3), pivot=True, says="square"),
        bad((2, 2), pivot=False, says="`pivot=False` is refused"),
    ),
)


def _lu(a: Any, pivot: Any) -> Any:
    packed, _, p = _factored("lu", a, pivot)
    parts = (ops.transpose(p, dim0=-1, dim1=-2), unit_lower(packed), triangle(packed, True))
    return Fields("linalg_lu", ("P", "L", "U"), parts)


linalg_lu: Op = composite(
    "linalg_lu",
    _lu,
    layout=in_order,
    guards=("out",),
    args=("A",),
    params={"pivot": True},
    fields=("P", "L", "U"),
    node="LinalgLuBackward0",
    doc="LU decomposition A = P L U of square matrices, as the fields `P`, `L`, `U`.",
    source=GILES,
    samples=lambda: tuple(sample(a, pivot=True) for a in _SQUARE_SAMPLES),
    bad=lambda: (
        bad((2, 3), pivot=True, says="square"),
        bad((2, 2), pivot=False, says="`pivot=False` is refused"),
    ),
)


def _lu_solve(b: Any, packed: Any, pivots: Any, left: Any = True, adjoint: Any = False) -> Any:
    checked("lu_solve", b)
    checked("lu_solve", packed, square=True)
    if not left:  # X A = B is A^T X^T = B^T
        return transposed(_lu_solve(transposed(b), packed, pivots, adjoint=not adjoint))
    p = ops.permutation(pivots, like=packed)
    if adjoint:
        half = ops.substitute(transposed(triangle(packed, True)), b, upper=False)
        whole = ops.substitute(transposed(unit_lower(packed)), half, upper=True)
        return ops.matmul(transposed(p), whole)
    half = ops.substitute(unit_lower(packed), ops.matmul(p, b), upper=False)
    return ops.substitute(triangle(packed, True), half, upper=True)


_LU_DOC = "Solution X of A X = B from the `LU` and the `pivots` of `lu_factor(A)`."

lu_solve: Op = composite(
    "lu_solve",
    _lu_solve,
    layout=in_columns,
    guards=("LU_data",),
    args=("b", "LU_data", "LU_pivots"),
    node="LinalgLuSolveBackward0(LU_data, b)",
    doc=_LU_DOC,
    source=GILES,
    samples=lambda: (
        sample([[1.0], [2.0]], [[3.0, 4.0], [0.5, 2.0]], [2, 2]),
        sample([[1.0, 0.5], [2.0, -1.0]], [[3.0, 4.0], [0.5, 2.0]], [1, 2]),
    ),
    bad=lambda: (bad((2, 1), (2, 3), [1, 2], says="square"),),
)
linalg_lu_solve: Op = composite(
    "linalg_lu_solve",
    lambda packed, pivots, b, left, adjoint: _lu_solve(
        b, packed, pivots, flag(left, "left"), flag(adjoint, "adjoint")
    ),
    layout=in_columns,
    guards=("LU", "out"),
    args=("LU", "pivots", "B"),
    params={"left": True, "adjoint": False},
    node="LinalgLuSolveBackward0(LU, B)",
    doc=f"{_LU_DOC} `left=False` solves X A = B, `adjoint=True` takes the transpose of A.",
    source=GILES,
    samples=lambda: (
        sample([[3.0, 4.0], [0.5, 2.0]], [2, 2], [[1.0], [2.0]], left=True, adjoint=False),
        sample([[3.0, 4.0], [0.5, 2.0]], [2, 2], [[1.0], [2.0]], left=True, adjoint=True),
        sample([[3.0, 4.0], [0.5, 2.0]], [2, 2], [[1.0, 2.0]], left=False, adjoint=False),
    ),
)

# --- powers ------------------------------------------------------------------------------


def _vander(x: Any, N: Any = None, increasing: Any = False) -> Any:  # noqa: N803
    x = x if shape_of(x) else ops.reshape(x, shape=(1,))
    count = shape_of(x)[-1] if N is None else whole(N, "N")
    if count < 0:
        raise run_error("bad-argument", f"`N` cannot be negative, got {count}")
    check_memory((*shape_of(x), count))
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    return ops.pow(ops.unsqueeze(x, dim=-1), powers)


def _plain_vander(x: Any, N: Any = None, increasing: Any = False) -> Any:  # noqa: N803
    if len(shape_of(x)) != 1:
        raise run_error(
            "shape-mismatch", f"`vander` needs a vector, got the shape {list(shape_of(x))}"
        )
    return _vander(x, N, increasing)


vander: Op = composite(
    "vander",
    _plain_vander,
    guards=("x", "out"),
    args=("x",),
    params={"N": None, "increasing": False},
    doc="Powers of the elements of a vector as columns, N of them (as many as elements), from the "
    "highest to 1, or with `increasing=True` from 1 on.",
    source="PyTorch: vander",
    samples=lambda: (
        sample([1.0, 2.0, 3.0]),
        sample([1.5, -2.0], N=4),
        sample([0.5, 2.0], increasing=True),
    ),
    bad=lambda: (bad((2, 2), says="needs a vector"),),
)
linalg_vander: Op = composite(
    "linalg_vander",
    lambda x, N=None: _vander(x, N, True),  # noqa: N803
    args=("x",),
    params={"N": None},
    doc="Powers of the elements along the last dimension, from 1 on, N of them.",
    source="PyTorch: linalg.vander",
    samples=lambda: (sample([1.0, 2.0, 3.0]), sample([[1.5, -2.0]], N=3)),
)
