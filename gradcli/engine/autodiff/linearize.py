"""A finished run as the linear map that it is near its points: products with it, and its matrix.

Commands, transforms inside a program, the check of derivatives and own rules all ask this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.autodiff.backward import cotangents, recorded_cotangents
from gradcli.engine.autodiff.paths import between
from gradcli.engine.autodiff.visits import Root
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.carrier import Like, like_of
from gradcli.engine.values.data import NUMBERS, np
from gradcli.engine.values.limits import check_memory

Progress: TypeAlias = Callable[[int, int | None], None]
"""Gets the number of finished directions, and of all."""

ELEMENTS = 2**20
"""About how many elements of one recorded value a pass holds, for all of its directions."""


def quiet(done: int, total: int | None) -> None:
    """Report no progress."""


class Linearized:
    """The outputs of a run, as far as they are linear in small changes at its points.

    Args:
        outputs: Numbers and tensors.
        points: The nodes that are differentiated by, with what tells shape and dtype of the values
            there.

    Fields:
        paths: The paths from the points to the outputs.
    """

    def __init__(self, outputs: Sequence[Any], points: Mapping[Node, Any]) -> None:
        self._outputs = outputs
        self.points = points
        self._nodes = [(node_of(out) if isinstance(out, Tensor) else None) for out in outputs]
        self._indices = [out.index if isinstance(out, Tensor) else 0 for out in outputs]
        self._roots = [node for node in self._nodes if node is not None]
        self.paths = between(self._roots, points.keys())

    @property
    def outputs(self) -> list[Like]:
        """Shape and dtype of each output."""
        return [like_of(out) for out in self._outputs]

    @property
    def unused(self) -> set[Node]:
        """The points from which no output was made."""
        return set(self.points).difference(self.paths.order)

    @property
    def hooked(self) -> bool:
        """True if a hook stands between outputs and points: forward mode does not run it."""
        return any(node.hooks is not None for node in self.paths.live)

    # --- products ----------------------------------------------------------------------

    def pull(self, weights: Sequence[Any]) -> dict[Node, Any]:
        """Return cotangents of the points, as plain data, from those of the outputs (None for
        zero). A point that none reaches is left out.
        """
        return cotangents(self._start(weights), self.points.keys(), self.paths)

    def pull_recorded(self, weights: Sequence[Any]) -> dict[Node, Any]:
        """Like `pull`, with results that can be differentiated again."""
        return recorded_cotangents(self._start(weights), self.points.keys(), self.paths)

    def push(self, dots: Mapping[Node, Any]) -> list[Any]:
        """Tangents of the outputs (None for zero) from those of points, as plain data."""
        from gradcli.engine.autodiff.forward import tangents

        return self._pushed(tangents(self._roots, dots, self.paths))

    def push_recorded(self, dots: Mapping[Node, Any]) -> list[Any]:
        """Like `push`, with results that can be differentiated again."""
        from gradcli.engine.autodiff.forward import recorded_tangents

        return self._pushed(recorded_tangents(self._roots, dots, self.paths))

    def _start(self, weights: Sequence[Any]) -> list[Root]:
        return [
            (node, index, g)
            for node, index, g in zip(self._nodes, self._indices, weights, strict=True)
            if node is not None and g is not None
        ]

    def _pushed(self, found: Mapping[Node, Any]) -> list[Any]:
        dots = []
        for node, index in zip(self._nodes, self._indices, strict=True):
            dot = None if node is None else found.get(node)
            dots.append(dot[index] if type(dot) is tuple else dot)
        return dots

    # --- the matrix --------------------------------------------------------------------

    def jacobian(self, mode: str, progress: Progress = quiet) -> list[dict[Node, Any]]:
        """The matrix in blocks of plain data, by output and point: an array of the output's shape
        followed by the point's.

        Args:
            mode: "reverse", with the elements of the outputs as directions, or "forward", with
                those of the points.
            progress: Gets the number of finished directions, and of all.
        """
        check_memory((self.directions("reverse"), self.directions("forward")))
        return self._by_columns(progress) if mode == "forward" else self._by_rows(progress)

    def cheaper_mode(self) -> str:
        """The mode of fewer directions: forward has one an input element, reverse one an output's.
        It is reverse where a hook has a say in the gradient.
        """
        fewer = self.directions("forward") <= self.directions("reverse")
        return "forward" if fewer and not self.hooked else "reverse"

    def directions(self, mode: str) -> int:
        """The number of directions of the matrix in a mode."""
        likes = self.points.values() if mode == "forward" else self.outputs
        return sum(math.prod(like.shape) for like in likes)

    def row_blocks(self, output: int) -> Iterator[tuple[int, dict[Node, Any]]]:
        """The rows of one output by reverse mode, in blocks of bounded size: by point an array of
        shape (rows, *shape of the point). Each block comes with the number of its first row.
        """
        from gradcli.engine.values.batch import single, together, units

        like = self.outputs[output]
        for start, stop in self.spans(math.prod(like.shape)):
            weights: list[Any] = [None] * len(self.outputs)
            weights[output] = single(units(like, start, stop))
            found = self.pull(weights)
            yield (
                start,
                {
                    node: together(found.get(node), stop - start, point)
                    for node, point in self.points.items()
                },
            )

    def column_blocks(self) -> Iterator[tuple[int, list[Any]]]:
        """The columns by forward mode, those of the first point first, in blocks of bounded size:
        by output an array of shape (columns, *shape of the output). Each block comes with the
        number of its first column.
        """
        from gradcli.engine.values.batch import together

        for start, stop in self.spans(self.directions("forward")):
            pushed = zip(self.push(self._units(start, stop)), self.outputs, strict=True)
            yield start, [together(dot, stop - start, like) for dot, like in pushed]

    def _by_rows(self, progress: Progress) -> list[dict[Node, Any]]:
        found = []
        for output, like in enumerate(self.outputs):
            parts: dict[Node, list[Any]] = {node: [] for node in self.points}
            for start, block in self.row_blocks(output):
                progress(start, math.prod(like.shape))
                for node, part in block.items():
                    parts[node].append(part)
            found.append(
                {
                    node: shaped(_joined(parts[node], point), (*like.shape, *point.shape))
                    for node, point in self.points.items()
                }
            )
        return found

    def _by_columns(self, progress: Progress) -> list[dict[Node, Any]]:
        parts: list[list[Any]] = [[] for _ in self.outputs]
        total = self.directions("forward")
        for start, block in self.column_blocks():
            progress(start, total)
            for kept, part in zip(parts, block, strict=True):
                kept.append(part)
        ends = np.cumsum([math.prod(point.shape) for point in self.points.values()])[:-1]
        found = []
        for kept, like in zip(parts, self.outputs, strict=True):
            columns = np.split(_joined(kept, like), ends)
            found.append(
                {
                    node: shaped(np.moveaxis(part, 0, -1), (*like.shape, *point.shape))
                    for part, (node, point) in zip(columns, self.points.items(), strict=True)
                }
            )
        return found

    def _units(self, start: int, stop: int) -> dict[Node, Any]:
        """Unit vectors of the space of all points, each point's part of them; a point that has
        zeros only is left out.
        """
        from gradcli.engine.values.batch import Batch, single, units

        parts: dict[Node, Any] = {}
        for node, point in self.points.items():
            count = math.prod(point.shape)
            first, last = max(start, 0), min(stop, count)
            if first < last:
                batch = units(point, first, last)
                before, behind = first - start, stop - last
                padding = ((before, behind), *((0, 0),) * len(point.shape))
                parts[node] = single(Batch(np.pad(batch.data, padding)))
            start, stop = start - count, stop - count
        return parts

    def spans(self, count: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of directions that fit into memory together. They hold one direction each if
        functions of the program would see them.
        """
        largest = 1
        for node in self.paths.live:
            likes = node.like if type(node.like) is tuple else (node.like,)
            sizes = (math.prod(like.shape) for like in likes if like is not None)
            largest = max(largest, *sizes, 1)
            if node.hooks is not None or not node.takes_batches:
                largest = ELEMENTS
        step = max(1, ELEMENTS // largest)
        for start in range(0, count, step):
            yield start, min(start + step, count)


def zeros(like: Like) -> Any:
    """Plain data of zeros of a shape and dtype."""
    number = like.shape == () and like.dtype == "float64"
    return 0.0 if number else np.zeros(like.shape, like.dtype)


def shaped(found: Any, shape: tuple[int, ...]) -> Any:
    """A derivative as plain data in its shape; zeros where there is none."""
    if found is None:
        return np.zeros(shape) if shape else 0.0
    if type(found) in NUMBERS:
        return found
    if found.size == math.prod(shape):
        from gradcli.engine.values.batch import value

        return value(np.reshape(found, shape))
    return np.broadcast_to(found, shape)


def _joined(parts: Sequence[Any], like: Like) -> Any:
    return np.concatenate(parts) if parts else np.zeros((0, *like.shape), like.dtype)
