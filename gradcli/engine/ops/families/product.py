"""Products of vectors, matrices and tensors, made of `matmul`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, Sample, bad, composite, host, sample
from gradcli.engine.ops.statics import UNSURE, Statics
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import dtype_of, is_whole, np, shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.memory import as_first, in_order
from gradcli.engine.values.sizes import Shape, axis, broadcast, describe, number, whole, wholes
from gradcli.errors import run_error

FAMILY = 220, "Products"

# vectors ------------------------------------------------------------------------------------------


def _vdot(x: Any, other: Any) -> Any:
    return ops.dot(x, other)


vdot: Op = composite(
    "vdot",
    _vdot,
    args=("input", "other"),
    node="VdotBackward0",
    doc="Inner product of two vectors, as `dot`.",
    samples=lambda: (sample([1.0, 2.0], [3.0, -4.0]), sample([2.0], [-3.0])),
    bad=lambda: (bad((2,), (3,), says="inner sizes"),),
)


def _inner(x: Any, other: Any) -> Any:
    first, second = shape_of(x), shape_of(other)
    if not first or not second:
        return ops.mul(x, other)
    if first[-1] != second[-1]:
        raise run_error(
            "shape-mismatch",
            f"`inner` needs equal last sizes, got {first[-1]} and {second[-1]}",
        )
    return tensordot(x, other, dims=((len(first) - 1,), (len(second) - 1,)))


inner: Op = composite(
    "inner",
    _inner,
    args=("input", "other"),
    doc="Inner products along the last dimension of both, for each pair of the others.",
    samples=lambda: (
        sample([1.0, 2.0], [3.0, -4.0]),
        sample([[1.0, 2.0], [0.5, -1.0]], [3.0, -4.0]),
        sample([[1.0, 2.0]], [[3.0, -4.0], [1.0, 1.0]]),
        sample([1.0, 2.0], 3.0),
    ),
    bad=lambda: (bad((2,), (3,), says="equal last sizes"),),
)


def _vecdot(x: Any, y: Any, dim: Any) -> Any:
    size = _common(x, y)
    at = axis(dim, len(size))
    if len(shape_of(x)) == len(shape_of(y)) == 1 and shape_of(x) == shape_of(y):
        return vdot(x, y)
    return ops.sum(ops.mul(x, y), dim=at)


vecdot: Op = composite(
    "vecdot",
    _vecdot,
    aliases=("linalg_vecdot",),
    args=("x", "y"),
    params={"dim": -1},
    doc="Inner products of vectors along the dimension `dim`; the other dimensions broadcast.",
    samples=lambda: (
        sample([1.0, 2.0], [3.0, -4.0], dim=-1),
        sample([[1.0, 2.0], [0.5, -1.0]], [3.0, -4.0], dim=-1),
        sample([[1.0, 2.0], [0.5, -1.0]], [[3.0, -4.0], [1.0, 1.0]], dim=0),
    ),
    bad=lambda: (bad((2,), (3,), dim=-1, says="broadcast"),),
)


def _common(x: Any, y: Any) -> Shape:
    return broadcast(shape_of(x), shape_of(y))


def _crossed(x: Any, other: Any, dim: Any) -> Any:
    size = _common(x, other)
    if dim is None:
        places = [i for i, n in enumerate(size) if n == 3]
        if not places:
            raise run_error("shape-mismatch", f"`cross` needs a size of 3, got {list(size)}")
        at = places[0]
    else:
        at = axis(dim, len(size))
    if not size or size[at] != 3:
        raise run_error(
            "shape-mismatch", f"`cross` needs vectors of 3 elements, got the shape {list(size)}"
        )
    a, b = (ops.expand(v, size=size) if shape_of(v) != size else v for v in (x, other))
    ahead = ops.mul(_rolled(a, 1, at), _rolled(b, 2, at))
    return ops.sub(ahead, ops.mul(_rolled(a, 2, at), _rolled(b, 1, at)))


def _rolled(x: Any, by: int, at: int) -> Any:
    return ops.roll(x, shifts=(-by,), dims=(at,))


def _cross_op(name: str, dim: Any, more: str) -> Op:
    return composite(
        name,
        _crossed,
        guards={"input": ("other",), "other": ("input",)},
        args=("input", "other"),
        params={"dim": dim},
        node="LinalgCrossBackward0",
        doc=f"Cross products of vectors of three elements along the dimension `dim`{more}.",
        samples=lambda: (
            sample([1.0, 2.0, 3.0], [0.5, -1.0, 4.0], dim=dim),
            sample([[1.0, 2.0, 3.0]], [[0.5, -1.0, 4.0], [1.0, 0.0, 2.0]], dim=-1),
            sample([[1.0], [2.0], [3.0]], [[0.5], [-1.0], [4.0]], dim=0),
        ),
        bad=lambda: (
            bad((2,), (2,), dim=-1, says="3 elements"),
            bad((3,), (2, 2), dim=-1, says="broadcast"),
        ),
    )


cross: Op = _cross_op("cross", None, ", the first of size 3 without it")
linalg_cross: Op = _cross_op("linalg_cross", -1, "")


# sums of a tensor and a product -------------------------------------------------------------------


def _sum(x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    beta, alpha = number(beta, "beta"), number(alpha, "alpha")
    scaled = ops.mul(product, alpha) if alpha != 1 else product
    if beta == 0:  # x may hold nan
        return scaled
    size = shape_of(product)
    if _common(x, product) != size:
        raise run_error(
            "shape-mismatch",
            f"an `input` of shape {list(shape_of(x))} does not fit the product of shape "
            f"{list(size)}",
        )
    return ops.add(scaled, x, alpha=beta)


def _added(
    name: str,
    product: str,
    args: tuple[str, str],
    doc: str,
    samples: Any,
    layout: Any = in_order,
) -> Op:
    return composite(
        name,
        lambda x, a, b, beta, alpha: _sum(x, ops[product](a, b), beta, alpha),
        args=("input", *args),
        layout=layout,
        params={"beta": 1, "alpha": 1},
        node=f"{name.title()}Backward0",
        doc=f"beta input + alpha {doc}.",
        inplace=True,
        samples=samples,
    )


_A, _B = [[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 1.5]]

addmm: Op = _added(
    "addmm",
    "mm",
    ("mat1", "mat2"),
    "mat1 @ mat2",
    lambda: (
        sample([[1.0, 2.0], [0.5, 1.0]], _A, _B),
        sample([1.0, 2.0], _A, _B, beta=0.5, alpha=2.0),
        sample(1.0, _A, _B, alpha=-1),
    ),
)
addmv: Op = _added(
    "addmv",
    "mv",
    ("mat", "vec"),
    "mat @ vec",
    lambda: (sample([1.0, 2.0], _A, [0.5, -1.0]), sample(1.0, _A, [0.5, -1.0], beta=2, alpha=3)),
)
addr: Op = _added(
    "addr",
    "outer",
    ("vec1", "vec2"),
    "outer(vec1, vec2)",
    lambda: (sample(_A, [1.0, 2.0], [0.5, -1.0]), sample(_A, [1.0, 2.0], [0.5, 3.0], beta=0.5)),
    layout=as_first,
)
baddbmm: Op = _added(
    "baddbmm",
    "bmm",
    ("batch1", "batch2"),
    "batch1 @ batch2, matrix by matrix",
    lambda: (sample([_A], [_A], [_B]), sample(_A, [_A], [_B], beta=0.5, alpha=2.0)),
)


def _addbmm(x: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    products = ops.bmm(a, b)
    dtype = dtype_of(products)
    return _sum(x, ops.sum(products, dim=0, dtype=dtype if is_whole(dtype) else None), beta, alpha)


addbmm: Op = composite(
    "addbmm",
    _addbmm,
    args=("input", "batch1", "batch2"),
    layout=in_order,
    params={"beta": 1, "alpha": 1},
    node="AddbmmBackward0",
    doc="beta input + alpha times the sum of the products of the matrices of two batches.",
    inplace=True,
    samples=lambda: (sample(_A, [_A, _B], [_B, _A]), sample(1.0, [_A], [_B], alpha=2.0)),
)


# matrices -----------------------------------------------------------------------------------------


def _best_split(sizes: list[int]) -> dict[tuple[int, int], int]:
    """The place to split each run of a chain of matrices for the fewest multiplications."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            ways = {
                k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            }
            split[i, j] = min(ways, key=ways.__getitem__)
            cost[i, j] = ways[split[i, j]]
    return split


def _chain(*tensors: Any) -> Any:
    ranks = [len(shape_of(x)) for x in tensors]
    if len(tensors) < 2:
        raise run_error("bad-argument", f"`multi_dot` needs two tensors or more, got {len(ranks)}")
    ends = (ranks[0], ranks[-1])
    if any(r != 2 for r in ranks[1:-1]) or any(r not in (1, 2) for r in ends):
        raise run_error(
            "shape-mismatch",
            "`multi_dot` needs matrices, the first and the last may be vectors, got the shapes "
            + ", ".join(str(list(shape_of(x))) for x in tensors),
        )
    chain = list(tensors)
    chain[0] = ops.unsqueeze(chain[0], dim=0) if ends[0] == 1 else chain[0]
    chain[-1] = ops.unsqueeze(chain[-1], dim=-1) if ends[1] == 1 else chain[-1]
    split = _best_split([shape_of(chain[0])[0], *(shape_of(x)[1] for x in chain)])

    def product(i: int, j: int) -> Any:
        if i == j:
            return chain[i]
        k = split[i, j]
        return ops.matmul(product(i, k), product(k + 1, j))

    out = product(0, len(chain) - 1)
    out = ops.squeeze(out, dim=0) if ends[0] == 1 else out
    return ops.squeeze(out, dim=-1) if ends[1] == 1 else out


multi_dot: Op = composite(
    "multi_dot",
    _chain,
    aliases=("chain_matmul", "linalg_multi_dot"),
    args=("*tensors",),
    doc="Product of a chain of matrices, in the order that takes the fewest multiplications; the "
    "first and the last may be vectors.",
    source="Cormen and others, Introduction to algorithms, matrix-chain multiplication",
    samples=lambda: (
        sample(_A, _B),
        sample(_A, [[1.0, 2.0, 3.0], [0.5, 0.25, -1.0]], [[1.0], [2.0], [-1.0]]),
        sample([1.0, 2.0], _A, _B, [3.0, -1.0]),
    ),
    bad=lambda: (
        bad((2, 2), says="two tensors or more"),
        bad((2, 3), (2, 3), says="inner sizes"),
        bad((2, 2), (2,), (2, 2), says="needs matrices"),
    ),
)


def _power(x: Any, n: Any) -> Any:
    shape = shape_of(x)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise run_error(
            "shape-mismatch", f"`matrix_power` needs square matrices, got the shape {list(shape)}"
        )
    exponent = whole(n, "n")
    if exponent == 0:
        unit = np.broadcast_to(np.eye(shape[-1], dtype=dtype_of(x)), shape)
        return ops.contiguous(ops.add(ops.mul(x, 0.0), unit)) if not is_whole(dtype_of(x)) else unit
    base = ops.inv(x) if exponent < 0 else x
    if exponent == 1:
        return ops.ordered(x)
    if abs(exponent) == 3:  # as PyTorch: by two products of the same kind
        return ops.matmul(ops.matmul(base, base), base)
    found = None
    left = abs(exponent)
    while left:
        if left & 1:
            found = base if found is None else ops.matmul(found, base)
        left >>= 1
        base = ops.matmul(base, base) if left else base
    return found


matrix_power: Op = composite(
    "matrix_power",
    _power,
    aliases=("linalg_matrix_power",),
    params={"n": REQUIRED},
    doc="Product of each square matrix with itself, n times; the unit matrix for n = 0, powers of "
    "the inverse below.",
    samples=lambda: (
        sample(_A, n=2),
        sample(_A, n=3),
        sample(_A, n=0),
        sample(_A, n=1),
        sample(_A, n=-2),
        sample([_A, _B], n=5),
    ),
    bad=lambda: (bad((2, 3), n=2, says="square"),),
)


def _kron(x: Any, other: Any) -> Any:
    rank = max(len(shape_of(x)), len(shape_of(other)))
    a, b = ((*(1,) * (rank - len(shape_of(t))), *shape_of(t)) for t in (x, other))
    check_memory([n * m for n, m in zip(a, b, strict=True)])
    wide = ops.mul(
        ops.unsafe_view(x, shape=tuple(k for n in a for k in (n, 1))),
        ops.unsafe_view(other, shape=tuple(k for n in b for k in (1, n))),
    )
    return ops.unsafe_view(wide, shape=tuple(n * m for n, m in zip(a, b, strict=True)))


kron: Op = composite(
    "kron",
    _kron,
    args=("input", "other"),
    doc="Kronecker product: each element of the input times the whole of the other.",
    samples=lambda: (
        sample(_A, _B),
        sample([1.0, 2.0], [3.0, -4.0, 0.5]),
        sample(_A, [1.0, 2.0]),
        sample(2.0, [1.0, 2.0]),
    ),
)


# any dimensions -----------------------------------------------------------------------------------


def _dims(a: Any, b: Any, dims: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    ranks = len(shape_of(a)), len(shape_of(b))
    if isinstance(dims, (list, tuple)) or getattr(data_of(dims), "shape", None):
        if len(dims) != 2:
            raise run_error("bad-argument", f"`dims` is a number or a pair, got {describe(dims)}")
        first, second = dims
        left = tuple(axis(d, ranks[0]) for d in wholes(first, "dims"))
        right = tuple(axis(d, ranks[1]) for d in wholes(second, "dims"))
    else:
        count = whole(dims, "dims")
        if not 0 <= count <= min(ranks):
            raise run_error(
                "bad-argument", f"`dims` is between 0 and {min(ranks)} dimensions, got {count}"
            )
        left, right = tuple(range(ranks[0] - count, ranks[0])), tuple(range(count))
    sizes = [tuple((shape_of(t) or (1,))[d] for d in ds) for t, ds in ((a, left), (b, right))]
    if len(left) != len(right) or any(
        n != m and 1 not in (n, m) for n, m in zip(*sizes, strict=True)
    ):
        raise run_error(
            "shape-mismatch",
            f"`tensordot` sums over equal sizes, got {list(sizes[0])} and {list(sizes[1])}",
        )
    return left, right


def _summed(x: Any, dims: tuple[int, ...], other: Any, against: tuple[int, ...]) -> Any:
    """The tensor summed over the dimensions that meet one of size 1 in the other."""
    sizes, met = shape_of(x), shape_of(other)
    gone = tuple(
        d for d, e in zip(dims, against, strict=True) if sizes and met and sizes[d] != met[e] == 1
    )
    return ops.sum(x, dim=gone, keepdim=True) if gone else x


def _tensordot(a: Any, b: Any, dims: Any) -> Any:
    left, right = _dims(a, b, dims)
    a, b = _summed(a, left, b, right), _summed(b, right, a, left)
    outer = tuple(d for d in range(len(shape_of(a))) if d not in left)
    rest = tuple(d for d in range(len(shape_of(b))) if d not in right)
    rows, columns = (tuple(shape_of(t)[d] for d in ds) for t, ds in ((a, outer), (b, rest)))
    inner_size = prod(shape_of(a)[d] for d in left)
    first = ops.reshape(ops.permute(a, dims=(*outer, *left)), shape=(prod(rows), inner_size))
    second = ops.reshape(ops.permute(b, dims=(*right, *rest)), shape=(inner_size, prod(columns)))
    return ops.reshape(ops.matmul(first, second), shape=(*rows, *columns))


tensordot: Op = composite(
    "tensordot",
    _tensordot,
    args=("a", "b"),
    params={"dims": 2},
    doc="Sum of products over the last `dims` dimensions of a and the first of b, or over the two "
    "lists of dimensions in `dims`.",
    samples=lambda: (
        sample(_A, _B, dims=1),
        sample(_A, _B, dims=2),
        sample(_A, _B, dims=([0], [1])),
        sample([1.0, 2.0], [3.0, -4.0], dims=0),
    ),
    bad=lambda: (
        bad((2, 3), (2, 3), dims=1, says="equal sizes, got [3] and [2]"),
        bad((2,), (2,), dims=2, says="between 0 and 1"),
    ),
)


def _bilinear(x1: Any, x2: Any, weight: Any, bias: Any = None) -> Any:
    size = shape_of(weight)
    if len(size) != 3 or shape_of(x1)[-1:] != size[1:2] or shape_of(x2)[-1:] != size[2:]:
        raise run_error(
            "shape-mismatch",
            f"`bilinear` needs last sizes n and m and a weight (outputs, n, m), got the shapes "
            f"{list(shape_of(x1))}, {list(shape_of(x2))} and {list(size)}",
        )
    out = ops.contraction(x1, weight, x2, equation="...i,oij,...j->...o")
    return out if bias is None else ops.add(out, bias)


bilinear: Op = composite(
    "bilinear",
    _bilinear,
    guards={
        "input1": ("input2", "weight"),
        "input2": ("input1", "weight"),
        "weight": ("input1", "input2"),
    },
    args=("input1", "input2", "weight", "bias=None"),
    doc="input1 @ weight[o] @ input2 for each output o, plus bias.",
    source="PyTorch: nn.functional.bilinear",
    samples=lambda: (
        sample([[1.0, 2.0]], [[0.5, -1.0, 3.0]], [[[1.0, 0.5, 2.0], [0.3, 1.0, -1.0]]], [0.25]),
        Sample(([1.0, 2.0], [0.5, -1.0], [_A, _B], None), {}),
    ),
    bad=lambda: (bad((2,), (3,), (1, 2, 2), None, says="needs last sizes"),),
)


def _written(given: Sequence[Any]) -> Sequence[Any]:
    """The equation and the tensors, from arguments in which each tensor comes before the numbers of
    its dimensions, and those of the result last.
    """
    last = None
    if len(given) % 2:
        *given, last = given
    terms = ["".join(map(_letter, dims)) for dims in given[1::2]]
    arrow = "" if last is None else "->" + "".join(map(_letter, last))
    return [",".join(terms) + arrow, *given[::2]]


def _letter(dim: Any) -> str:
    if dim is Ellipsis:
        return "..."
    number = whole(dim, "equation_and_operands")
    if not 0 <= number < len(ascii_letters):
        raise run_error("bad-argument", f"the dimensions of `einsum` are 0 to 51, got {number}")
    return (ascii_uppercase + ascii_lowercase)[number]


def _einsum(session: Any, *given: Any) -> Any:
    dims = given[1::2]
    if dims and type(given[0]) is not str and all(type(d) in (list, tuple) for d in dims):
        given = tuple(_written(given))
    if len(given) < 2 or type(given[0]) is not str:
        raise run_error(
            "bad-argument",
            "`einsum` needs an equation and tensors",
            help="it is called as einsum('ij,jk->ik', a, b)",
        )
    equation, *tensors = given
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = list(tensors[0])
    return session.do(ops.contraction, session.operands(einsum, tensors), {"equation": equation})


def _einsum_of(known: Statics, *given: Any) -> Any:
    if len(given) > 1 and not isinstance(known.static(given[0]), str):
        return known.unknown(*given)
    equation = known.static(given[0]) if given else UNSURE
    operands = known.items(given[1]) if len(given) == 2 else None
    tensors = [known.tensor(x) for x in (given[1:] if operands is None else operands)]
    if type(equation) is not str or any(getattr(x, "shape", None) is None for x in tensors):
        return known.unknown(*given)
    return ops.contraction(*tensors, equation=equation)


einsum: Op = host(
    "einsum",
    _einsum,
    infer=_einsum_of,
    by=("contraction",),
    args=("*equation_and_operands",),
    doc="Sum of products of elements by Einstein's convention: `einsum('ij,jk->ik', a, b)` is "
    "a @ b. A letter names a dimension; those not behind the arrow are summed over (without an "
    "arrow those that occur twice); a letter twice in one tensor is its diagonal, `...` stands for "
    "any further dimensions, which broadcast.",
    source="PyTorch: einsum",
)

numpy_einsum: Op = host(
    "numpy_einsum",
    lambda session, *given, **settings: _einsum(session, *given),
    infer=lambda known, *given, **settings: _einsum_of(known, *given),
    by=("contraction",),
    args=("*subscripts",),
    params={"optimize": None, "precision": None, "preferred_element_type": None},
    doc="`np.einsum`: `einsum`; the settings, of NumPy and JAX, change nothing.",
    source="NumPy: einsum",
)
