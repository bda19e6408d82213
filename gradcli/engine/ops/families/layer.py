"""Layers without weights of their own, and distances."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, host, known, op, sample
from gradcli.engine.ops.promotion import floating, integer, of_first
from gradcli.engine.ops.statics import Statics
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.memory import in_order
from gradcli.engine.values.sizes import Shape, broadcast, describe, flag, number, whole, wholes
from gradcli.errors import run_error

FAMILY = 290, "Layers and distances"

# distances ----------------------------------------------------------------------------------------


def _unit(x: Any, p: Any, dim: Any, eps: Any) -> Any:
    return ops.div(x, ops.clamp_min(ops.norm(x, p=p, dim=dim, keepdim=True), eps))


def _cosine(x1: Any, x2: Any, dim: Any, eps: Any) -> Any:
    size = broadcast(shape_of(x1), shape_of(x2))
    x1, x2 = (ops.expand(x, size=size) if shape_of(x) != size else x for x in (x1, x2))
    dtype = floating(x1, x2)
    if dtype is not None:
        x1, x2 = (x if dtype_of(x) == dtype else ops.cast(x, dtype=dtype) for x in (x1, x2))
    return ops.sum(ops.mul(_unit(x1, 2, dim, eps), _unit(x2, 2, dim, eps)), dim=dim)


cosine_similarity: Op = composite(
    "cosine_similarity",
    _cosine,
    args=("x1", "x2"),
    params={"dim": 1, "eps": 1e-8},
    doc="Cosine of the angle between vectors along the dimension `dim`: their inner product over "
    "the product of their norms, each at least eps.",
    samples=lambda: (
        sample([[1.0, 2.0], [0.5, -1.0]], [[0.3, 1.0], [2.0, 1.0]], dim=1, eps=1e-8),
        sample([[1.0, 2.0], [0.5, -1.0]], [[0.3, 1.0]], dim=0, eps=1e-8),
        sample([1.0, 2.0], [3.0, -4.0], dim=0, eps=1e-8),
        sample([2.0], [-3.0], dim=-1, eps=1e-8),
    ),
    known=lambda: (known([0.0, 0.0], [3.0, 4.0], dim=0, eps=1e-8, grad=(None, [0.0, 0.0])),),
    bad=lambda: (
        bad((2, 3), (2, 4), dim=1, eps=1e-8, says="broadcast"),
        bad((3,), (3,), dim=1, eps=1e-8, says="no dimension 1"),
    ),
)

pairwise_distance: Op = composite(
    "pairwise_distance",
    lambda x1, x2, p, eps, keepdim: ops.norm(
        ops.add(ops.sub(x1, x2), eps), p=p, dim=-1, keepdim=bool(keepdim)
    ),
    args=("x1", "x2"),
    params={"p": 2.0, "eps": 1e-6, "keepdim": False},
    doc="The p-norm of x1 - x2 + eps along the last dimension.",
    source="PyTorch: nn.functional.pairwise_distance",
    samples=lambda: (
        sample([[1.0, 2.0], [0.5, -1.0]], [[0.3, 1.0], [2.0, 1.0]], p=2.0, eps=1e-6, keepdim=False),
        sample([[1.0, 2.0], [0.5, -1.0]], [0.3, 1.0], p=1.0, eps=1e-6, keepdim=True),
        sample([1.0, 2.0], [3.0, -4.0], p=3.0, eps=1e-6, keepdim=False),
    ),
    bad=lambda: (bad((2, 3), (2, 4), p=2.0, eps=1e-6, keepdim=False, says="broadcast"),),
)


_WAYS = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


def _distances(x1: Any, x2: Any, p: Any, compute_mode: Any) -> Any:
    if compute_mode not in _WAYS:
        raise run_error("bad-argument", f"`compute_mode` must be one of {', '.join(_WAYS)}")
    first, second = shape_of(x1), shape_of(x2)
    if len(first) < 2 or len(second) < 2 or first[-1] != second[-1]:
        raise run_error(
            "shape-mismatch",
            "`cdist` needs two lists of points of one dimension, got the shapes "
            f"{list(first)} and {list(second)}",
        )
    lead = broadcast(first[:-2], second[:-2])
    check_memory((*lead, first[-2], second[-2], first[-1]))
    gaps = ops.sub(ops.unsqueeze(x1, dim=-2), ops.unsqueeze(x2, dim=-3))
    return ops.norm(gaps, p=p, dim=-1)


cdist: Op = composite(
    "cdist",
    _distances,
    guards=("x1", "x2", "out"),
    args=("x1", "x2"),
    params={"p": 2.0, "compute_mode": _WAYS[0]},
    node="CdistBackward0",
    doc="The p-norm distance of each point in x1, of the shape (..., n, d), from each in x2, of "
    "the shape (..., m, d). The derivative is 0 where two points coincide. "
    "`compute_mode` changes nothing: differences are always taken.",
    source="PyTorch: cdist",
    samples=lambda: (
        sample(
            [[1.0, 2.0], [0.5, -1.0]],
            [[0.3, 1.0], [2.0, 1.0], [0.0, 0.0]],
            p=2.0,
            compute_mode=_WAYS[0],
        ),
        sample([[1.0, 2.0], [0.5, -1.0]], [[0.3, 1.0]], p=1.0, compute_mode=_WAYS[0]),
        sample([[[1.0], [0.5]]], [[[0.3]], [[2.0]]], p=3.0, compute_mode=_WAYS[0]),
    ),
    known=lambda: (
        known(
            [[1.0, 2.0]],
            [[1.0, 2.0]],
            p=2.0,
            compute_mode=_WAYS[0],
            grad=([[0.0, 0.0]], [[0.0, 0.0]]),
        ),
    ),
    bad=lambda: (
        bad((2, 3), (2, 4), p=2.0, compute_mode=_WAYS[0], says="of one dimension"),
        bad((3,), (2, 3), p=2.0, compute_mode=_WAYS[0], says="of one dimension"),
    ),
)


def _pairwise(x: Any, p: Any) -> Any:
    if len(shape_of(x)) != 2:
        raise run_error("shape-mismatch", f"`pdist` needs a matrix, got shape {list(shape_of(x))}")
    count, width = shape_of(x)
    check_memory((count * (count - 1) // 2, width))
    rows, columns = np.triu_indices(count, 1)
    gaps = ops.sub(ops.getitem(x, index=rows), ops.getitem(x, index=columns))
    return ops.norm(gaps, p=p, dim=-1)


pdist: Op = composite(
    "pdist",
    _pairwise,
    guards=("input", "out"),
    params={"p": 2.0},
    node="PdistBackward0",
    doc="The p-norm distance of each two rows of a matrix, in the order (0, 1), (0, 2), ... The "
    "derivative is 0 where two rows coincide.",
    source="PyTorch: nn.functional.pdist",
    samples=lambda: (
        sample([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]], p=2.0),
        sample([[1.0, 2.0], [0.5, -1.0]], p=1.0),
        sample([[1.0], [0.5], [-2.0]], p=3.0),
        sample([[1.0, 2.0]], p=2.0),
    ),
    known=lambda: (known([[1.0, 2.0], [1.0, 2.0]], p=2.0, grad=([[0.0, 0.0], [0.0, 0.0]],)),),
    bad=lambda: (bad((3,), p=2.0, says="needs a matrix"),),
)


# normalization ------------------------------------------------------------------------------------

normalize: Op = composite(
    "normalize",
    _unit,
    params={"p": 2.0, "dim": 1, "eps": 1e-12},
    doc="The input over its p-norm along the dimension `dim`, which is taken as at least eps.",
    source="PyTorch: nn.functional.normalize",
    samples=lambda: (
        sample([[1.0, 2.0], [0.5, -1.0]], p=2.0, dim=1, eps=1e-12),
        sample([[1.0, 2.0], [0.5, -1.0]], p=1.0, dim=0, eps=1e-12),
        sample([3.0, -4.0], p=2.0, dim=0, eps=1e-12),
        sample([0.3], p=2.0, dim=0, eps=1.0),
    ),
    bad=lambda: (bad((3,), p=2.0, dim=1, eps=1e-12, says="no dimension 1"),),
)


def _last(x: Any, normalized_shape: Any) -> tuple[int, ...]:
    """The last dimensions, checked to have the sizes that are named."""
    sizes = wholes(normalized_shape, "normalized_shape")
    shape = shape_of(x)
    if not sizes or shape[len(shape) - len(sizes) :] != sizes:
        raise run_error(
            "shape-mismatch",
            f"`normalized_shape` {list(sizes)} is not the end of the shape {list(shape)}",
        )
    return tuple(range(-len(sizes), 0))


def _scaled(x: Any, weight: Any, bias: Any, dims: tuple[int, ...]) -> Any:
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and shape_of(given) != shape_of(x)[len(shape_of(x)) - len(dims) :]:
            raise run_error(
                "shape-mismatch",
                f"`{name}` has the normalized shape, got {list(shape_of(given))}",
            )
    x = x if weight is None else ops.mul(x, weight)
    return x if bias is None else ops.add(x, bias)


def _layer_norm(x: Any, weight: Any, bias: Any, normalized_shape: Any, eps: Any) -> Any:
    dims = _last(x, normalized_shape)
    gap = ops.sub(x, ops.mean(x, dim=dims, keepdim=True))
    spread = ops.mean(ops.square(gap), dim=dims, keepdim=True)
    return _scaled(ops.mul(gap, ops.rsqrt(ops.add(spread, eps))), weight, bias, dims)


layer_norm: Op = composite(
    "layer_norm",
    _layer_norm,
    layout=in_order,
    guards=("input", "weight", "bias"),
    args=("input", "weight=None", "bias=None"),
    params={"normalized_shape": REQUIRED, "eps": 1e-5},
    order=("input", "normalized_shape", "weight", "bias", "eps"),
    node="NativeLayerNormBackward0",
    doc="(x - mean) / sqrt(variance + eps) over the last dimensions, whose sizes are "
    "`normalized_shape`, times weight plus bias.",
    source="Ba and others, Layer normalization, 2016",
    samples=lambda: (
        sample([[1.0, 2.0, 4.0], [0.5, -1.0, 0.3]], None, None, normalized_shape=(3,), eps=1e-5),
        sample(
            [[1.0, 2.0, 4.0]], [0.5, 1.0, 2.0], [0.1, 0.2, 0.3], normalized_shape=(3,), eps=1e-5
        ),
        sample([[1.0, 2.0], [0.5, -1.0]], None, None, normalized_shape=(2, 2), eps=0.1),
        sample([1.0, 2.0], None, None, normalized_shape=2, eps=1e-5),
    ),
    bad=lambda: (
        bad((2, 3), None, None, normalized_shape=(2,), eps=1e-5, says="is not the end"),
        bad((2, 3), (2,), None, normalized_shape=(3,), eps=1e-5, says="`weight` has"),
    ),
)


def _rms_norm(x: Any, weight: Any, normalized_shape: Any, eps: Any) -> Any:
    dims = _last(x, normalized_shape)
    tiny = np.finfo(floating(x) or "float64").eps
    least = float(tiny if eps is None else number(eps, "eps"))
    spread = ops.mean(ops.square(x), dim=dims, keepdim=True)
    return _scaled(ops.mul(x, ops.rsqrt(ops.add(spread, least))), weight, None, dims)


rms_norm: Op = composite(
    "rms_norm",
    _rms_norm,
    layout=in_order,
    args=("input", "weight=None"),
    params={"normalized_shape": REQUIRED, "eps": None},
    order=("input", "normalized_shape", "weight", "eps"),
    doc="x / sqrt(mean of squares + eps) over the last dimensions, whose sizes are "
    "`normalized_shape`, times weight; eps is the dtype's resolution without it.",
    source="Zhang and Sennrich, Root mean square layer normalization, 2019",
    samples=lambda: (
        sample([[1.0, 2.0, 4.0], [0.5, -1.0, 0.3]], None, normalized_shape=(3,), eps=1e-5),
        sample([[1.0, 2.0, 4.0]], [0.5, 1.0, 2.0], normalized_shape=(3,), eps=None),
    ),
    bad=lambda: (bad((2, 3), None, normalized_shape=(2,), eps=1e-5, says="is not the end"),),
)


# chance and choice --------------------------------------------------------------------------------


def _dropout(session: Any, input: Any, p: Any = 0.5, training: Any = True) -> Any:
    (x,) = session.operands(dropout, [input])
    rate = float(number(p, "p"))
    if not 0.0 <= rate <= 1.0:
        raise run_error("bad-argument", f"`p` is a probability, got {rate:g}", raises=ValueError)
    if not flag(training, "training") or rate == 0.0:
        return x if dtype_of(x).startswith("float") else session.do(ops.mul, [x, 1.0], {})
    # PyTorch draws what it keeps from its numbers of float64, whatever the dtype.
    kept = session.random.generator.uniform(shape_of(x), "float64") < 1.0 - rate
    weight = np.where(kept, 0.0 if rate == 1.0 else 1.0 / (1.0 - rate), 0.0)
    if isinstance(x, Tensor):
        weight = weight.astype("float32" if x.dtype == "float32" else "float64")
    return session.do(ops.mul, [x, Tensor(weight) if weight.ndim else float(weight)], {})


def _thinned(known: Statics, input: Any, p: Any, training: Any) -> Any:
    x = known.tensor(input)
    return known.like(input, getattr(x, "shape", None), _floats_of(x))


def _floats_of(x: Any) -> str | None:
    return floating(x) if hasattr(x, "dtype") else None


dropout: Op = host(
    "dropout",
    _dropout,
    by=("mul",),
    args=("input",),
    params={"p": 0.5, "training": True},
    infer=_thinned,
    doc="Each element with the probability p replaced by 0, the others divided by 1 - p; the input "
    "itself with `training=False`. `--seed` and `manual_seed` make the choice repeatable.",
    source="Srivastava and others, Dropout, 2014",
    method=True,
    pure=False,
)


def _one_hot(x: Data, num_classes: Any) -> Data:
    places = np.asarray(x)
    if places.dtype.kind != "i":
        raise run_error("dtype-mismatch", f"`one_hot` needs class numbers, got {places.dtype.name}")
    count = whole(num_classes, "num_classes")
    if places.size and places.min() < 0:
        raise run_error("bad-argument", f"class numbers are not negative, got {places.min()}")
    if count == -1:
        if not places.size:
            raise run_error("bad-argument", "of no class numbers `num_classes` must be given")
        count = int(places.max()) + 1
    if count < 1 or (places.size and places.max() >= count):
        raise run_error(
            "bad-argument",
            f"`num_classes` must be above the largest class number, got {describe(num_classes)}",
        )
    check_memory((*places.shape, count))
    return (places[..., None] == np.arange(count)).astype(np.int64)


one_hot: Op = op(
    "one_hot",
    args=("tensor",),
    params={"num_classes": -1},
    dtype=integer,
    doc="For each class number a row of zeros with a 1 at its place; as many as the largest number "
    "needs without `num_classes`.",
    source="PyTorch: nn.functional.one_hot",
    array=lambda x, num_classes=-1: _one_hot(x, num_classes),
    samples=lambda: (sample([0, 2], num_classes=-1), sample([[1], [0]], num_classes=3)),
    bad=lambda: (
        bad([0, 2], num_classes=2, says="above the largest"),
        bad([-1], num_classes=2, says="not negative"),
        bad((2,), num_classes=2, says="class numbers"),
    ),
)


def _rows_of(weight: Shape) -> Shape:
    if len(weight) != 2:
        raise run_error(
            "shape-mismatch", f"`weight` must be a matrix, got the shape {list(weight)}"
        )
    return weight


def _embedding(input: Any, weight: Any) -> Any:
    places = np.asarray(data_of(input))
    if places.dtype.kind != "i":
        raise run_error("dtype-mismatch", f"`embedding` needs row numbers, got {places.dtype.name}")
    _rows_of(shape_of(weight))
    return ops.getitem(weight, index=places)


embedding: Op = composite(
    "embedding",
    _embedding,
    layout=in_order,
    shape=lambda input, weight: (*input, *_rows_of(weight)[1:]),
    dtype=lambda input, weight: of_first(weight),
    guards=("input",),
    args=("input", "weight"),
    node="EmbeddingBackward0(weight)",
    doc="The rows of a matrix that the input numbers.",
    source="PyTorch: nn.functional.embedding",
    samples=lambda: (
        sample([1, 1, 0], [[1.0, 2.0], [3.0, 4.0]]),
        sample([[1], [0]], [[1.0, 2.0], [3.0, 4.0]]),
    ),
    bad=lambda: (
        bad([2], (2, 2), says="index 2 is out of range"),
        bad([0], (2,), says="must be a matrix"),
    ),
)

torch_embedding: Op = composite(
    "torch_embedding",
    lambda weight, indices: _embedding(indices, weight),
    layout=in_order,
    shape=lambda weight, indices: (*indices, *_rows_of(weight)[1:]),
    dtype=lambda weight, indices: of_first(weight),
    guards=("indices",),
    args=("weight", "indices"),
    node="EmbeddingBackward0(weight)",
    doc="`torch.embedding`, which takes the matrix first: the rows that the indices number.",
    source="PyTorch: embedding",
    samples=lambda: (sample([[1.0, 2.0], [3.0, 4.0]], [1, 1, 0]),),
    bad=lambda: (bad((2, 2), [2], says="index 2 is out of range"),),
)
