"""Jacobians of recorded results: rows by reverse mode, columns by forward, many in one pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.autodiff.backward import cotangents, reachable
from gradcli.engine.autodiff.batch import Batch, units
from gradcli.engine.autodiff.forward import tangents
from gradcli.engine.tape.graph import Node
from gradcli.engine.values.data import np

Shape = tuple[int, ...]
Output = tuple[Node, int, Shape]
"""A node, which of its results is meant, and the shape of that."""
Progress = Callable[[int, int | None], None]
"""Is told how many directions are done, and of how many."""

_ELEMENTS = 2**20
"""About how many elements of one recorded value a pass holds, for all of its directions."""


def cheaper_mode(inputs: int, outputs: int) -> str:
    """The mode of fewer directions: forward has one an input element, reverse one an output's."""
    return "forward" if inputs <= outputs else "reverse"


def quiet(done: int, total: int | None) -> None:
    """Nobody waits."""


def rows(
    root: Node,
    index: int,
    shape: Shape,
    targets: Mapping[Node, Shape],
    progress: Progress = quiet,
) -> dict[Node, Any]:
    """Jacobians by reverse mode.

    Args:
        root: Node of the output.
        index: Which of the node's results the output is.
        shape: Shape of the output.
        targets: Nodes to differentiate with respect to, with their shapes.
        progress: Is told how many directions are done, and of how many.

    Returns:
        For each target an array of shape (elements of the output, *shape of the target).
    """
    found: dict[Node, list[Any]] = {node: [] for node in targets}
    total = math.prod(shape)
    for start, block in row_blocks(root, index, shape, targets):
        progress(start, total)
        for node, part in block.items():
            found[node].append(part)
    return {node: _joined(parts, targets[node]) for node, parts in found.items()}


def row_blocks(
    root: Node, index: int, shape: Shape, targets: Mapping[Node, Shape]
) -> Iterator[tuple[int, dict[Node, Any]]]:
    """The rows of `rows` in blocks of bounded size, each with the number of its first."""
    start = 0
    for batch in _directions(shape, root):
        pulled = cotangents([(root, index, _one(batch))], targets)
        yield (
            start,
            {n: _whole(pulled.get(n), batch.count, size) for n, size in targets.items()},
        )
        start += batch.count


def columns(
    outputs: Sequence[Output], targets: Mapping[Node, Shape], progress: Progress = quiet
) -> list[dict[Node, Any]]:
    """Jacobians of several outputs by forward mode.

    Args:
        outputs: Their nodes, which of the node's results each is, and their shapes.
        targets: Nodes to differentiate with respect to, with their shapes.
        progress: Is told how many directions are done, and of how many.

    Returns:
        For each output, by target, an array of shape (elements of the target, *shape of the
        output).
    """
    parts: list[list[Any]] = [[] for _ in outputs]
    total = sum(map(math.prod, targets.values()))
    for start, block in column_blocks(outputs, targets):
        progress(start, total)
        for kept, part in zip(parts, block, strict=True):
            kept.append(part)
    found = []
    for kept, (_, _, shape) in zip(parts, outputs, strict=True):
        ends = np.cumsum([math.prod(size) for size in targets.values()])[:-1]
        found.append(dict(zip(targets, np.split(_joined(kept, shape), ends), strict=True)))
    return found


def column_blocks(
    outputs: Sequence[Output], targets: Mapping[Node, Shape]
) -> Iterator[tuple[int, list[Any]]]:
    """The columns of `columns`, those of the first target first, in blocks of bounded size: for
    each output an array. Each block comes with the number of its first column.
    """
    roots = [node for node, _, _ in outputs]
    total = sum(map(math.prod, targets.values()))
    together = _together(reachable(roots), total)
    for start in range(0, total, together):
        stop = min(start + together, total)
        dots = tangents(roots, _seeds(targets, start, stop))
        block = []
        for node, index, shape in outputs:
            dot = dots.get(node)
            dot = dot[index] if type(dot) is tuple else dot
            block.append(_whole(dot, stop - start, shape))
        yield start, block


def _seeds(targets: Mapping[Node, Shape], start: int, stop: int) -> dict[Node, Any]:
    """Unit vectors of the space of all targets, each target's part of them; a target that has
    zeros only is left out.
    """
    seeds = {}
    for node, size in targets.items():
        count = math.prod(size)
        first, last = max(start, 0), min(stop, count)
        if first < last:
            batch = units(size, first, last)
            before, behind = first - start, stop - last
            padding = ((before, behind), *((0, 0),) * len(size))
            seeds[node] = _one(Batch(np.pad(batch.data, padding)))
        start, stop = start - count, stop - count
    return seeds


def _directions(shape: Shape, root: Node) -> Iterator[Batch]:
    """The unit vectors of a shape, as many at a time as memory and the graph allow."""
    count = math.prod(shape)
    together = _together(reachable([root]), count)
    for start in range(0, count, together):
        yield units(shape, start, min(start + together, count))


def _together(nodes: Iterable[Node], count: int) -> int:
    """How many directions to push together: one where user's functions would see them."""
    largest = 1
    for node in nodes:
        if node.hooks is not None or not node.takes_batches:
            return 1
        likes = node.like if type(node.like) is tuple else (node.like,)
        for like in likes:
            if like is not None:
                largest = max(largest, int(np.prod(like.shape, dtype=int)))
    return max(1, min(count, _ELEMENTS // largest))


def _one(batch: Batch) -> Any:
    """A batch of one as plain data, which any rule takes."""
    if batch.count > 1:
        return batch
    x = batch.data[0]
    return float(x) if x.ndim == 0 else x


def _whole(found: Any, count: int, shape: Shape) -> Any:
    """What a pass found, with the axis of directions in front; zeros where it found nothing."""
    if found is None:
        return np.zeros((count, *shape))
    if isinstance(found, Batch):
        return found.data
    return np.broadcast_to(np.asarray(found), (count, *shape))


def _joined(parts: Sequence[Any], shape: Shape) -> Any:
    return np.concatenate(parts) if parts else np.zeros((0, *shape))
