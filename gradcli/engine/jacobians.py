"""Jacobians of recorded results: rows by reverse mode, columns by forward, many in one pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.arrays import np
from gradcli.engine.backward import cotangents, reachable
from gradcli.engine.batch import Batch, units
from gradcli.engine.forward import tangents
from gradcli.engine.graph import Node
from gradcli.engine.own import OwnRule

Shape = tuple[int, ...]
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
    for batch in _directions(shape, [root]):
        pulled = cotangents(
            [(root, index, _one(batch))], targets, retain=True, visible_only=False, spent=True
        )
        yield (
            start,
            {n: _whole(pulled.get(n), batch.count, size) for n, size in targets.items()},
        )
        start += batch.count


def columns(
    root: Node,
    index: int,
    shape: Shape,
    targets: Mapping[Node, Shape],
    progress: Progress = quiet,
) -> dict[Node, Any]:
    """Jacobians by forward mode. Arguments as of `rows`.

    Returns:
        For each target an array of shape (elements of the target, *shape of the output).
    """
    found = {}
    done, total = 0, sum(map(math.prod, targets.values()))
    for node, size in targets.items():
        parts = []
        for batch in _directions(size, [root]):
            progress(done, total)
            done += batch.count
            dot = tangents([root], {node: _one(batch)}).get(root)
            if type(dot) is tuple:
                dot = dot[index]
            parts.append(_whole(dot, batch.count, shape))
        found[node] = _joined(parts, shape)
    return found


def _directions(shape: Shape, roots: Sequence[Node]) -> Iterator[Batch]:
    """The unit vectors of a shape, as many at a time as memory and the graph allow."""
    count = int(np.prod(shape, dtype=int))
    together = _together(reachable(roots), count)
    for start in range(0, count, together):
        yield units(shape, start, min(start + together, count))


def _together(nodes: Iterable[Node], count: int) -> int:
    """How many directions to push together: one where user's functions would see them."""
    largest = 1
    for node in nodes:
        if node.hooks is not None or isinstance(node.op, OwnRule):
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
