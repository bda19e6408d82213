"""Products of matrices and vectors."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.products import product
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.matrices import GILES, transposed
from gradcli.engine.ops.op import Op, bad, composite, op, sample
from gradcli.engine.ops.promotion import promoted
from gradcli.engine.values.data import INT64_MAX, INT64_MIN, Data, np, shape_of
from gradcli.engine.values.sizes import Shape, broadcast
from gradcli.errors import run_error

FAMILY = 210, "Matrix products and transposes"

_SOURCE = f"{GILES}, 2.2.2"


def _product_shape(a: Shape, b: Shape) -> Shape:
    if not a or not b:
        raise run_error(
            "shape-mismatch",
            f"`@` needs at least one dimension on both sides, got shapes {list(a)} and {list(b)}",
            help="`*` multiplies by a number",
        )
    inner = b[-2] if len(b) > 1 else b[0]
    if a[-1] != inner:
        raise run_error(
            "shape-mismatch",
            f"`@` needs equal inner sizes, got {a[-1]} and {inner}",
            notes=(
                "in a @ b the last size of a meets the "
                f"{'first' if len(b) <= 2 else 'last but one'} of b: the shapes are {list(a)} "
                f"and {list(b)}",
            ),
        )
    batch = broadcast(a[:-2], b[:-2])
    return (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def _product(a: Data, b: Data) -> Data:
    if type(a) is np.ndarray is type(b) and a.dtype.char == "d" == b.dtype.char:
        try:
            return product(a, b)
        except ValueError:  # replaced by a message of our own
            _product_shape(a.shape, b.shape)
            raise
    _product_shape(shape_of(a), shape_of(b))
    if a.dtype.kind == "f" or b.dtype.kind == "f":
        single = np.float32 in (a.dtype, b.dtype) and np.float64 not in (a.dtype, b.dtype)
        if single and a.dtype != b.dtype:
            a, b = a.astype(np.float32), b.astype(np.float32)
        return product(a, b)
    if a.dtype.kind == "b" == b.dtype.kind:
        return np.matmul(a, b)
    return _integer_product(a, b)


def _integer_product(a: Any, b: Any) -> Data:
    """Product of ints; an error if it does not fit into 64 bits."""
    size = np.matmul(np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64)))
    if not np.size(size) or np.max(size) < 2.0**62:
        return np.matmul(a.astype(np.int64), b.astype(np.int64))
    out = np.asarray(np.matmul(a.astype(object), b.astype(object)))
    if out.min() < INT64_MIN or out.max() > INT64_MAX:
        raise ieee.overflow()
    return out.astype(np.int64)


# A vector is one row on the left, one column on the right.


def _rows(a: Any) -> Any:
    return a if len(shape_of(a)) > 1 else ops.reshape(a, shape=(1, *shape_of(a)))


def _columns(b: Any) -> Any:
    return b if len(shape_of(b)) > 1 else ops.reshape(b, shape=(*shape_of(b), 1))


def _matrices(g: Any, a: Any, b: Any) -> Any:
    """Cotangent of a @ b with the dimensions that a vector on either side left out."""
    columns = shape_of(g)[-1:] if len(shape_of(b)) > 1 else (1,)
    rows = shape_of(a)[-2:-1] or (1,)
    batch = broadcast(shape_of(a)[:-2], shape_of(b)[:-2])
    size = (*batch, *rows, *columns)
    return g if shape_of(g) == size else ops.reshape(g, shape=size)


def _right(g: Any, a: Any, b: Any) -> Any:
    c = matmul(transposed(_rows(a)), _matrices(g, a, b))
    return c if len(shape_of(b)) > 1 else ops.squeeze(c, dim=-1)


def _node(args: tuple[Any, ...], params: dict[str, Any]) -> str:
    ranks = tuple(len(shape_of(x)) for x in args)
    return _NODES.get(ranks, "UnsafeViewBackward0")


_NODES: dict[tuple[int, ...], str] = {
    (1, 1): "DotBackward0",
    (1, 2): "SqueezeBackward4",
    (2, 1): "MvBackward0",
    (2, 2): "MmBackward0",
}


def _matmul_each(a: Data, b: Data) -> Data:
    """Several products. A factor that all share is multiplied by all others together."""
    left, right = a.ndim - 1, b.ndim - 1
    if len(b) == 1 and left <= 2 and right <= 2:
        tall = np.reshape(a, (prod(a.shape[:-1]), a.shape[-1]))
        return np.reshape(np.matmul(tall, b[0]), (*a.shape[:-1], *b.shape[2:]))
    if len(a) == 1 and left == 2 and right == 1:
        return np.matmul(b, np.swapaxes(a[0], 0, 1))
    ranks = max(left, right, 2)
    out = np.matmul(_each_matrix(a, -2, ranks), _each_matrix(b, -1, ranks))
    if left == 1:
        out = out[..., 0, :]
    return out[..., 0] if right == 1 else out


def _each_matrix(x: Data, unit: int, ranks: int) -> Data:
    """Values as matrices of so many dimensions, a vector as a row (unit -2) or column."""
    x = np.expand_dims(x, unit) if x.ndim == 2 else x
    return np.reshape(x, (len(x), *(1,) * (ranks + 1 - x.ndim), *x.shape[1:]))


matmul: Op = op(
    "matmul",
    args=("input", "other"),
    meets=((-1,), (-2,)),
    doc="Matrix product a @ b: of vectors the inner product, of tensors the product of the "
    "matrices in the last two dimensions, with the others broadcast. Of bools it is a bool, as in "
    "NumPy; PyTorch has none.",
    source=_SOURCE,
    infix=("@", 7),
    array=_product,
    shape=_product_shape,
    dtype=promoted,
    batch=_matmul_each,
    by_elements=lambda code, a, b: code.product(a, b),
    of_shapes=lambda a, b: np.matmul,
    vjp=(
        lambda g, out, a, b: matmul(_matrices(g, a, b), transposed(_columns(b))),
        lambda g, out, a, b: _right(g, a, b),
    ),
    jvp=(lambda dot, out, a, b: matmul(dot, b), lambda dot, out, a, b: matmul(a, dot)),
    saves={"input": ("other",), "other": ("input",)},
    node=_node,
    samples=lambda: (
        sample([[1.0, 2.0]], [[3.0], [4.0]]),
        sample([[1.0, 2.0], [3.0, 4.0]], [[3.0, 0.5, 1.0], [4.0, -1.0, 2.0]]),
        sample([[1.0, 2.0], [3.0, 4.0]], [5.0, -6.0]),
        sample([5.0, -6.0], [[1.0, 2.0, 0.5], [3.0, 4.0, 1.5]]),
        sample([1.0, 2.0], [3.0, -4.0]),
        sample([[[1.0, 2.0]], [[3.0, 4.0]]], [[[3.0], [4.0]], [[5.0], [6.0]]]),
        sample([[1.0, 2.0], [0.5, -1.0]], [[[3.0], [4.0]], [[5.0], [6.0]]]),
        sample([[[1.0, 2.0]], [[3.0, 4.0]]], [5.0, 6.0]),
        sample([5.0, 6.0], [[[3.0], [4.0]], [[5.0], [6.0]]]),
        sample([[[[1.0, 2.0]]], [[[3.0, 4.0]]]], [[[3.0], [4.0]], [[5.0], [6.0]]]),
        sample([[2.0]], [[-3.0]]),
        sample([[], []], []),
    ),
    bad=lambda: (
        bad((2, 3), (2, 3), says="equal inner sizes, got 3 and 2"),
        bad((2, 3), (2,), says="equal inner sizes, got 3 and 2"),
        bad((), (2,), says="at least one dimension"),
        bad((2, 1, 2), (3, 2, 1), says="broadcast"),
    ),
)


def _of_ranks(name: str, first: int, second: int) -> Any:
    def product(a: Any, b: Any) -> Any:
        for x, rank, place in ((a, first, "first"), (b, second, "second")):
            if len(shape_of(x)) != rank:
                raise run_error(
                    "shape-mismatch",
                    f"`{name}` needs {_RANKS[rank]} as its {place} argument, got the shape "
                    f"{list(shape_of(x))}",
                    help="`@` takes every number of dimensions",
                )
        return matmul(a, b)

    return product


_RANKS = {1: "a vector", 2: "a matrix", 3: "a batch of matrices (three dimensions)"}

mm: Op = composite(
    "mm",
    _of_ranks("mm", 2, 2),
    args=("input", "mat2"),
    doc="Matrix product of a (n, k) and b (k, m), of the shape (n, m).",
    source=_SOURCE,
    samples=lambda: (
        sample([[1.0, 2.0]], [[3.0], [4.0]]),
        sample([[1.0, 2.0], [3.0, 4.0]], [[3.0, 0.5, 1.0], [4.0, -1.0, 2.0]]),
        sample([[2.0]], [[-3.0]]),
    ),
    bad=lambda: (
        bad((2, 3), (2, 3), says="inner sizes"),
        bad((2, 3), (3,), says="needs a matrix as its second"),
    ),
)

mv: Op = composite(
    "mv",
    _of_ranks("mv", 2, 1),
    args=("input", "vec"),
    doc="Product of a matrix (n, k) and a vector (k), of the shape (n).",
    source=_SOURCE,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], [5.0, -6.0]),
        sample([[1.0, 2.0]], [5.0, -6.0]),
        sample([[2.0]], [-3.0]),
    ),
    bad=lambda: (
        bad((2, 3), (2,), says="inner sizes"),
        bad((2, 3), (3, 1), says="needs a vector as its second"),
    ),
)


def _bmm(a: Any, b: Any) -> Any:
    if shape_of(a)[:1] != shape_of(b)[:1]:
        raise run_error(
            "shape-mismatch",
            f"`bmm` needs equally many matrices on both sides, got the shapes "
            f"{list(shape_of(a))} and {list(shape_of(b))}",
        )
    return _of_ranks("bmm", 3, 3)(a, b)


bmm: Op = composite(
    "bmm",
    _bmm,
    args=("input", "mat2"),
    node="BmmBackward0",
    doc="Products of the matrices of two batches, (b, n, k) and (b, k, m), one by one.",
    source=_SOURCE,
    samples=lambda: (
        sample([[[1.0, 2.0]], [[3.0, 4.0]]], [[[3.0], [4.0]], [[5.0], [6.0]]]),
        sample([[[2.0]]], [[[-3.0]]]),
    ),
    bad=lambda: (
        bad((2, 1, 2), (3, 2, 1), says="equally many"),
        bad((2, 3), (2, 3), says="three dimensions"),
    ),
)

dot: Op = composite(
    "dot",
    _of_ranks("dot", 1, 1),
    args=("input", "tensor"),
    doc="Inner product of two vectors.",
    samples=lambda: (sample([1.0, 2.0], [3.0, -4.0]), sample([2.0], [-3.0])),
    bad=lambda: (
        bad((2,), (3,), says="inner sizes"),
        bad((2, 3), (3,), says="needs a vector as its first"),
    ),
)


def _outer(a: Any, b: Any) -> Any:
    for x in (a, b):
        if len(shape_of(x)) != 1:
            raise run_error(
                "shape-mismatch", f"`outer` needs vectors, got the shape {list(shape_of(x))}"
            )
    return ops.mul(ops.unsqueeze(a, dim=1), b)


outer: Op = composite(
    "outer",
    _outer,
    args=("input", "vec2"),
    doc="Outer product of two vectors: the matrix of the products of their elements.",
    samples=lambda: (sample([1.0, 2.0], [3.0, -4.0, 0.5]), sample([2.0], [-3.0])),
    bad=lambda: (bad((2, 2), (2,), says="needs vectors"),),
)
