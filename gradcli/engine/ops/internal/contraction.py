"""Sums of products that an equation describes: what `einsum` does."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, sample
from gradcli.engine.values.data import shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import broadcast
from gradcli.errors import RunError, run_error

Labels = tuple[str, ...]
"""The dimensions of a tensor: letters, and numbers for those of `...`."""


def _refused(message: str) -> RunError:
    return run_error(
        "bad-argument", message, help="an equation looks like 'ij,jk->ik' or '...ij->...ji'"
    )


def _labels(term: str, rank: int, place: int) -> Labels:
    """The dimensions of one tensor; those of `...` are numbered from the last."""
    letters = term.replace("...", "")
    if not letters.isalpha() and letters:
        raise _refused(f"`{term}` in the equation holds something else than letters and `...`")
    if term.count(".") not in (0, 3):
        raise _refused(f"`{term}` in the equation has more than one `...`")
    more = rank - len(letters)
    if more < 0 or (more and "..." not in term):
        raise run_error(
            "shape-mismatch",
            f"`{term}` names {len(letters)} dimensions, and tensor {place} has {rank}",
        )
    if "..." not in term:
        return tuple(term)
    before, _, after = term.partition("...")
    return (*before, *(str(more - i) for i in range(more)), *after)


def _parsed(equation: str, ranks: list[int]) -> tuple[list[Labels], Labels]:
    """The dimensions of the tensors and of the result."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise _refused(f"the equation is of {len(terms)} tensors, got {len(ranks)}")
    found = [_labels(t, rank, i + 1) for i, (t, rank) in enumerate(zip(terms, ranks, strict=True))]
    dots = sorted({x for labels in found for x in labels if x.isdigit()}, key=int, reverse=True)
    if not arrow:
        seen = [x for labels in found for x in labels if not x.isdigit()]
        return found, (*dots, *sorted(x for x in set(seen) if seen.count(x) == 1))
    out = _labels(right, len(right.replace("...", "")) + len(dots) * ("..." in right), 0)
    if len(set(out)) != len(out):
        raise _refused(f"`{right}` names a dimension twice")
    unknown = [x for x in out if not any(x in labels for labels in found)]
    if unknown:
        raise _refused(f"`{unknown[0]}` behind the arrow is in none of the tensors")
    return found, out


def _diagonals(x: Any, labels: Labels) -> tuple[Any, Labels]:
    """The tensor with each letter once: where one is written twice, its diagonal."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            sizes = shape_of(x)
            if sizes[first] != sizes[second]:
                raise run_error(
                    "shape-mismatch",
                    f"`{label}` names dimensions of the sizes {sizes[first]} and {sizes[second]}",
                )
            x = ops.diagonal(x, offset=0, dim1=first, dim2=second)
            rest = [n for i, n in enumerate(labels) if i not in (first, second)]
            labels = (*rest, label)
    return x, labels


def _arranged(x: Any, labels: Labels, wanted: Labels) -> Any:
    """The tensor with its dimensions in another order; those not wanted are summed over."""
    gone = tuple(i for i, label in enumerate(labels) if label not in wanted)
    if gone:
        x = ops.sum(x, dim=gone)
        labels = tuple(label for label in labels if label in wanted)
    order = tuple(labels.index(label) for label in wanted if label in labels)
    return ops.permute(x, dims=order) if order != tuple(range(len(order))) else x


def _pair(
    a: Any, left: Labels, b: Any, right: Labels, needed: set[str], sizes: dict[str, int]
) -> tuple[Any, Labels]:
    """The product of two tensors, summed over the dimensions that no later step needs."""
    left, a = _kept(a, left, needed | set(right))
    right, b = _kept(b, right, needed | set(left))
    both = [x for x in left if x in right]
    batch = tuple(x for x in both if x in needed)
    summed = tuple(x for x in both if x not in needed)
    rows = tuple(x for x in left if x not in both)
    columns = tuple(x for x in right if x not in both)

    def size(labels: Labels) -> tuple[int, ...]:
        return tuple(sizes[x] for x in labels)

    check_memory((*size(batch), *size(rows), *size(columns)))
    first = _widened(a, left, (*batch, *rows, *summed), sizes)
    second = _widened(b, right, (*batch, *summed, *columns), sizes)
    first = ops.reshape(first, shape=(prod(size(batch)), prod(size(rows)), prod(size(summed))))
    second = ops.reshape(second, shape=(prod(size(batch)), prod(size(summed)), prod(size(columns))))
    out = ops.matmul(first, second)
    labels = (*batch, *rows, *columns)
    return ops.reshape(out, shape=size(labels)), labels


def _kept(x: Any, labels: Labels, needed: set[str]) -> tuple[Labels, Any]:
    wanted = tuple(label for label in labels if label in needed)
    return wanted, _arranged(x, labels, wanted)


def _widened(x: Any, labels: Labels, wanted: Labels, sizes: dict[str, int]) -> Any:
    """The tensor in the wanted order, with sizes of 1 broadcast."""
    x = _arranged(x, labels, wanted)
    size = tuple(sizes[label] for label in wanted)
    return ops.expand(x, size=size) if shape_of(x) != size else x


def _contracted(*tensors: Any, equation: str) -> Any:
    terms, out = _parsed(equation, [len(shape_of(x)) for x in tensors])
    found = [_diagonals(x, labels) for x, labels in zip(tensors, terms, strict=True)]
    sizes: dict[str, int] = {}
    for x, labels in found:
        for label, n in zip(labels, shape_of(x), strict=True):
            try:
                (sizes[label],) = broadcast((sizes.get(label, 1),), (n,))
            except RunError:
                raise run_error(
                    "shape-mismatch",
                    f"`{label}` names dimensions of the sizes {sizes[label]} and {n}",
                ) from None
    x, labels = found[0]
    for i in range(1, len(found)):
        later = {name for _, rest in found[i + 1 :] for name in rest}
        x, labels = _pair(x, labels, *found[i], later | set(out), sizes)
    return _widened(x, labels, out, sizes)


contraction: Op = composite(
    "contraction",
    _contracted,
    view=True,
    args=("*tensors",),
    params={"equation": REQUIRED},
    doc="Sum of products of elements, as the equation says.",
    source="PyTorch: einsum",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 1.5]], equation="ij,jk->ik"),
        sample([[1.0, 2.0], [3.0, 4.0]], equation="ii"),
        sample([[1.0, 2.0], [3.0, 4.0]], equation="ii->i"),
        sample([[1.0, 2.0], [3.0, 4.0]], equation="ji"),
        sample([[1.0, 2.0, 5.0]], equation="ij->"),
        sample([1.0, 2.0], [3.0, -4.0], equation="i,j"),
        sample([[[1.0, 2.0]], [[3.0, 4.0]]], [[0.5], [-1.0]], equation="...ij,jk->...ik"),
        sample([1.0, 2.0], [3.0, -4.0], [0.5, 1.5], equation="i,i,i->i"),
        sample([[1.0, 2.0]], [[3.0, -4.0], [0.5, 1.5]], equation="ij,ij->ij"),
        sample([1.0, 2.0], [[3.0, -4.0], [0.5, 1.5]], [2.0, 1.0], equation="i,ij,j->"),
    ),
    bad=lambda: (
        bad((2, 3), (2, 3), equation="ij,jk", says="sizes 3 and 2"),
        bad((2, 3), equation="ijk", says="names 3 dimensions"),
        bad((2, 3), equation="ij,jk", says="of 2 tensors, got 1"),
        bad((2, 3), equation="ij->ik", says="in none of the tensors"),
        bad((2, 3), equation="ij->ii", says="twice"),
        bad((2, 3), equation="i1", says="letters"),
        bad((2, 3), equation="ii", says="sizes 2 and 3"),
    ),
)
