"""Grids, choices of elements, and blocks."""

from __future__ import annotations

from itertools import combinations as _subsets
from itertools import combinations_with_replacement
from math import comb
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, bad, composite, sample
from gradcli.engine.ops.promotion import promoted
from gradcli.engine.values.data import dtype_of, np, shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import whole
from gradcli.errors import run_error

FAMILY = 165, "Grids and blocks"


def _meshgrid(*tensors: Any, indexing: Any) -> Any:
    if indexing not in ("ij", "xy"):
        raise run_error("bad-argument", f"`indexing` must be 'ij' or 'xy', got {indexing!r}")
    if any(len(shape_of(x)) > 1 for x in tensors):
        raise run_error("shape-mismatch", "`meshgrid` needs vectors")
    count = len(tensors)
    lengths = [shape_of(x)[0] if shape_of(x) else 1 for x in tensors]
    order = list(range(count))
    if indexing == "xy" and count > 1:
        order[:2] = [1, 0]
    size = tuple(lengths[i] for i in order)
    check_memory(size)
    return tuple(
        ops.expand(
            ops.reshape(x, shape=tuple(lengths[i] if k == i else 1 for k in order)), size=size
        )
        for i, x in enumerate(tensors)
    )


meshgrid: Op = composite(
    "meshgrid",
    _meshgrid,
    view=True,
    args=("*tensors",),
    params={"indexing": "ij"},
    doc="The coordinates of the grid that vectors span: for each of them a tensor that changes "
    "along its dimension only. With `indexing='xy'` the first two dimensions are swapped.",
    source="PyTorch: meshgrid",
    samples=lambda: (
        sample([1.0, 2.0], [3.0, 4.0, 5.0], indexing="ij"),
        sample([1.0, 2.0], [3.0, 4.0, 5.0], indexing="xy"),
        sample([1.0, 2.0], indexing="ij"),
        sample([1.0], 2.0, [3.0, 4.0], indexing="ij"),
    ),
    bad=lambda: (
        bad((2, 2), indexing="ij", says="vectors"),
        bad((2,), indexing="ji", says="'ij' or 'xy'"),
    ),
)


def _product(*tensors: Any) -> Any:
    if any(len(shape_of(x)) != 1 for x in tensors):
        raise run_error("shape-mismatch", "`cartesian_prod` needs vectors")
    if len(tensors) == 1:
        return tensors[0]
    grid = _meshgrid(*tensors, indexing="ij")
    return ops.stack(*(ops.reshape(x, shape=(-1,)) for x in grid), dim=1)


cartesian_prod: Op = composite(
    "cartesian_prod",
    _product,
    view=True,
    args=("*tensors",),
    doc="All combinations of one element of each vector, a row each.",
    source="PyTorch: cartesian_prod",
    samples=lambda: (
        sample([1.0, 2.0], [3.0, 4.0, 5.0]),
        sample([1.0, 2.0]),
        sample([1.0, 2.0], [3.0], [4.0, 5.0]),
    ),
    bad=lambda: (bad((2, 2), (2,), says="vectors"),),
)


def _combinations(x: Any, r: Any, with_replacement: Any) -> Any:
    if len(shape_of(x)) != 1:
        raise run_error("shape-mismatch", "`combinations` needs a vector")
    count = whole(r, "r")
    if count < 0:
        raise run_error("bad-argument", f"`r` cannot be negative, got {count}")
    size = shape_of(x)[0]
    number_of = comb(size + count - 1 if with_replacement and size else size, count)
    check_memory((number_of, count))
    if not number_of:
        return ops.getitem(x, index=np.zeros((0, count), np.int64))
    chosen = combinations_with_replacement if with_replacement else _subsets
    rows = list(chosen(range(shape_of(x)[0]), count))
    return ops.getitem(x, index=np.array(rows, np.int64).reshape(len(rows), count))


combinations: Op = composite(
    "combinations",
    _combinations,
    guards=("input",),
    params={"r": 2, "with_replacement": False},
    doc="All combinations of r elements of a vector, a row each, in their order.",
    source="PyTorch: combinations",
    samples=lambda: (
        sample([1.0, 2.0, 3.0], r=2, with_replacement=False),
        sample([1.0, 2.0, 3.0], r=2, with_replacement=True),
        sample([1.0, 2.0, 3.0], r=3, with_replacement=False),
        sample([1.0], r=1, with_replacement=False),
    ),
    bad=lambda: (bad((2, 2), r=2, with_replacement=False, says="a vector"),),
)


def _blocks(*tensors: Any) -> Any:
    if any(len(shape_of(x)) > 2 for x in tensors):
        raise run_error("shape-mismatch", "`block_diag` needs matrices")
    dtype = promoted(*tensors)
    same = [x if dtype in (None, dtype_of(x)) else ops.cast(x, dtype=dtype) for x in tensors]
    matrices = [ops.atleast_2d(x) for x in same]
    width = sum(shape_of(m)[1] for m in matrices)
    rows, start = [], 0
    for m in matrices:
        n = shape_of(m)[1]
        margins = (start, width - start - n)
        rows.append(ops.pad(m, pad=margins))
        start += n
    return ops.cat(*rows, dim=0)


block_diag: Op = composite(
    "block_diag",
    _blocks,
    args=("*tensors",),
    node="BlockDiagBackward0",
    doc="The matrices along the diagonal of a larger one, with zeros elsewhere; a vector is a row.",
    source="PyTorch: block_diag",
    samples=lambda: (
        sample([[1.0, 2.0]], [[3.0], [4.0]]),
        sample([[1.0]], 2.0, [3.0, 4.0]),
        sample([[1.0, 2.0]]),
    ),
    bad=lambda: (bad((2, 2, 2), says="matrices"),),
)
