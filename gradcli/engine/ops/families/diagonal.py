"""Diagonals and triangles."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.along import shaped
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, linear, sample
from gradcli.engine.values.data import Data, np, shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.memory import as_first
from gradcli.engine.values.sizes import Shape, axis, flag, number, whole
from gradcli.errors import run_error

FAMILY = 170, "Diagonals and triangles"

_PLANE: dict[str, Any] = {"offset": 0, "dim1": 0, "dim2": 1}


def _plane(ndim: int, dim1: Any, dim2: Any) -> tuple[int, int]:
    """The two dimensions of the matrices."""
    if ndim < 2:
        raise run_error(
            "shape-mismatch", f"a diagonal needs two dimensions, got a tensor of {ndim}"
        )
    first, second = axis(dim1, ndim, "dim1"), axis(dim2, ndim, "dim2")
    if first == second:
        raise run_error("bad-argument", f"a diagonal needs two dimensions, got {first} twice")
    return first, second


def _length(rows: int, columns: int, offset: int) -> int:
    return max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)


def _diagonal_shape(x: Shape, offset: Any, dim1: Any, dim2: Any) -> Shape:
    first, second = _plane(len(x), dim1, dim2)
    kept = tuple(n for i, n in enumerate(x) if i not in (first, second))
    return (*kept, _length(x[first], x[second], whole(offset, "offset")))


def _diagonal(x: Data, offset: Any, dim1: Any, dim2: Any) -> Data:
    first, second = _plane(np.ndim(x), dim1, dim2)
    rows, columns = x.shape[first], x.shape[second]
    shift = min(max(whole(offset, "offset"), -rows), columns)  # none lies further off
    found = np.diagonal(x, shift, first, second)
    found.flags.writeable = shaped(x).flags.writeable  # a view of x, as in PyTorch
    return found


diagonal: Op = linear(
    "diagonal",
    params=_PLANE,
    doc="The diagonal of the matrices in the dimensions `dim1` and `dim2`, as the last dimension "
    "in place of these two. `offset` counts diagonals to the right.",
    array=_diagonal,
    shape=_diagonal_shape,
    vjp=(
        lambda g, out, x, offset, dim1, dim2: ops.undiagonal(
            g, offset=offset, dim1=dim1, dim2=dim2, size=x.shape
        ),
    ),
    view=True,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], **_PLANE),
        sample([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]], offset=1, dim1=0, dim2=1),
        sample([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]], offset=-1, dim1=0, dim2=1),
        sample([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]], offset=0, dim1=1, dim2=0),
        sample([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], offset=0, dim1=-2, dim2=-1),
        sample([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], offset=0, dim1=0, dim2=2),
        sample([[1.0, 2.0]], offset=5, dim1=0, dim2=1),
        sample([[2.0]], **_PLANE),
    ),
    bad=lambda: (
        bad((2,), **_PLANE, says="needs two dimensions"),
        bad((2, 2), offset=0, dim1=0, dim2=-2, says="twice"),
        bad((2, 2), offset=0, dim1=0, dim2=2, says="no dimension 2"),
    ),
)


linalg_diagonal: Op = composite(
    "linalg_diagonal",
    lambda a, offset=0, dim1=-2, dim2=-1: diagonal(a, offset=offset, dim1=dim1, dim2=dim2),
    view=True,
    args=("A",),
    params={"offset": 0, "dim1": -2, "dim2": -1},
    doc="The diagonal of the matrices in the last two dimensions, or `dim1` and `dim2`: `diagonal` "
    "with the defaults of linalg.",
    source="PyTorch: linalg.diagonal",
    samples=lambda: (
        sample([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]),
        sample([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], offset=1),
        sample([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], dim1=0, dim2=2),
    ),
    bad=lambda: (bad((2,), says="needs two dimensions"),),
)


def _embedded(x: Any, offset: Any, dim1: Any, dim2: Any) -> Any:
    shape = shape_of(x)
    if not shape:
        raise run_error("shape-mismatch", "a 0-d tensor cannot lie on a diagonal")
    shift = whole(offset, "offset")
    side = shape[-1] + abs(shift)
    first, second = _plane(len(shape) + 1, dim1, dim2)
    rest = iter(shape[:-1])
    size = tuple(side if i in (first, second) else next(rest) for i in range(len(shape) + 1))
    check_memory(size)
    return ops.undiagonal(x, offset=shift, dim1=dim1, dim2=dim2, size=size)


diag_embed: Op = composite(
    "diag_embed",
    _embedded,
    params={"offset": 0, "dim1": -2, "dim2": -1},
    doc="Square matrices in the dimensions `dim1` and `dim2` with the last dimension of the input "
    "on their diagonal number `offset`, and zeros elsewhere.",
    source="PyTorch: diag_embed",
    samples=lambda: (
        sample([1.0, 2.0], offset=0, dim1=-2, dim2=-1),
        sample([1.0, 2.0], offset=1, dim1=-2, dim2=-1),
        sample([[1.0, 2.0], [3.0, 4.0]], offset=-1, dim1=0, dim2=2),
        sample([5.0], offset=0, dim1=0, dim2=1),
    ),
    bad=lambda: (bad((), offset=0, dim1=-2, dim2=-1, says="0-d"),),
)


def _diag(x: Any, diagonal: Any) -> Any:
    ndim = len(shape_of(x))
    shift = whole(diagonal, "diagonal")
    if ndim == 1:
        return _embedded(x, shift, 0, 1)
    if ndim != 2:
        raise run_error(
            "shape-mismatch", f"`diag` needs a vector or a matrix, got {ndim} dimensions"
        )
    return ops.clone(ops.diagonal(x, offset=shift, dim1=0, dim2=1))


diag: Op = composite(
    "diag",
    _diag,
    params={"diagonal": 0},
    node=lambda args, params: (
        "DiagonalBackward0_copy" if len(shape_of(args[0])) == 2 else "DiagEmbedBackward0"
    ),
    doc="The diagonal of a matrix, or the matrix that has a vector on its diagonal and zeros "
    "elsewhere. `diagonal` counts diagonals to the right.",
    source="PyTorch: diag",
    samples=lambda: (
        sample([1.0, 2.0], diagonal=0),
        sample([1.0, 2.0], diagonal=-1),
        sample([[1.0, 2.0], [3.0, 4.0]], diagonal=0),
        sample([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]], diagonal=1),
    ),
    bad=lambda: (bad((2, 2, 2), diagonal=0, says="a vector or a matrix"),),
)

diagflat: Op = composite(
    "diagflat",
    lambda x, offset: _embedded(ops.reshape(x, shape=(-1,)), offset, 0, 1),
    params={"offset": 0},
    doc="The matrix that has the elements of the input, in their order, on its diagonal.",
    source="PyTorch: diagflat",
    samples=lambda: (
        sample([1.0, 2.0], offset=0),
        sample([[1.0, 2.0], [3.0, 4.0]], offset=1),
        sample(5.0, offset=0),
    ),
)

trace: Op = composite(
    "trace",
    lambda x: ops.sum(ops.diagonal(_matrix(x), **_PLANE)),
    node="TraceBackward0",
    doc="Sum of the diagonal of a matrix.",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]),
        sample([[2.0]]),
    ),
    bad=lambda: (bad((2,), says="needs a matrix"), bad((2, 2, 2), says="needs a matrix")),
)


def _matrix(x: Any) -> Any:
    if len(shape_of(x)) != 2:
        raise run_error(
            "shape-mismatch", f"`trace` needs a matrix, got the shape {list(shape_of(x))}"
        )
    return x


# triangles ----------------------------------------------------------------------------------------


def _triangle(name: str, meaning: str) -> Op:
    def part(x: Data, diagonal: Any) -> Data:
        _triangular(shape_of(x), diagonal)
        shift = min(max(whole(diagonal, "diagonal"), -x.shape[-2]), x.shape[-1])
        return getattr(np, name)(x, shift)

    entry: Op = linear(
        name,
        params={"diagonal": 0},
        doc=f"The matrices in the last two dimensions with zeros {meaning} the diagonal, or the "
        "one that lies `diagonal` places to the right of it.",
        array=part,
        shape=_triangular,
        vjp=(lambda g, out, x, diagonal: entry(g, diagonal=diagonal),),
        inplace=True,
        samples=lambda: (
            sample([[1.0, 2.0], [3.0, 4.0]], diagonal=0),
            sample([[1.0, 2.0], [3.0, 4.0]], diagonal=1),
            sample([[1.0, 2.0], [3.0, 4.0]], diagonal=-1),
            sample([[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]], diagonal=0),
            sample([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], diagonal=0),
            sample([[[1.0, 2.0], [3.0, 4.0]]], diagonal=0),
            sample([[5.0]], diagonal=0),
            sample([[], []], diagonal=0),
        ),
        bad=lambda: (bad((2,), diagonal=0, says="two dimensions"),),
    )
    return entry


def _triangular(x: Shape, diagonal: Any) -> Shape:
    if len(x) < 2:
        raise run_error(
            "shape-mismatch", f"a triangle needs at least two dimensions, got the shape {list(x)}"
        )
    whole(diagonal, "diagonal")
    return x


tril: Op = _triangle("tril", "above")
triu: Op = _triangle("triu", "below")


def _on_diagonal(shape: Shape, wrap: Any) -> Data:
    """Marks the places whose indices are all equal; in tall matrices also those where, with `wrap`,
    the diagonal begins again.
    """
    ndim = len(shape)
    if ndim < 2:
        raise run_error("shape-mismatch", f"a diagonal needs two dimensions, got {ndim}")
    if ndim > 2 and len(set(shape)) > 1:
        raise run_error("shape-mismatch", f"dimensions must be equal, got the shape {list(shape)}")
    marked = np.zeros(shape, bool)
    step = sum(prod(shape[i + 1 :]) for i in range(ndim))
    end = prod(shape) if wrap or ndim > 2 else min(shape) * shape[-1]
    marked.reshape(-1)[: end : max(step, 1)] = True
    return marked


def _diagonal_filled(x: Any, fill_value: Any, wrap: Any) -> Any:
    marked = _on_diagonal(shape_of(x), flag(wrap, "wrap"))
    return ops.masked_fill(x, marked, number(fill_value, "fill_value"))


fill_diagonal: Op = composite(
    "fill_diagonal",
    _diagonal_filled,
    params={"fill_value": REQUIRED, "wrap": False},
    inplace=True,
    layout=as_first,
    doc="The input with `fill_value` on its diagonal; with `wrap` the diagonal of a tall matrix "
    "begins again below, after a row.",
    source="PyTorch: Tensor.fill_diagonal_",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], fill_value=1.0, wrap=False),
        sample([[1.0, 2.0, 3.0], [3.0, 4.0, 6.0]], fill_value=0.0, wrap=False),
        sample([[1.0, 2.0]] * 5, fill_value=1.0, wrap=True),
        sample([[1.0, 2.0]] * 5, fill_value=1.0, wrap=False),
        sample([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], fill_value=0.0, wrap=False),
    ),
    bad=lambda: (
        bad((2,), fill_value=1.0, wrap=False, says="needs two dimensions"),
        bad((2, 3, 2), fill_value=1.0, wrap=False, says="must be equal"),
    ),
)
