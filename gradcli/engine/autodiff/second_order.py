"""Second derivatives of a run: its gradient, recorded, differentiated again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

from gradcli.engine.autodiff.linearize import Linearized, Progress, quiet, shaped, zeros
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import np


class Slopes:
    """The gradient of a run's one output by its points, as a function of these.

    Args:
        line: The run.
        weight: Plain data of the cotangent of its output.
    """

    def __init__(self, line: Linearized, weight: Any) -> None:
        self.points = line.points
        found = line.pull_recorded([weight])
        self.recorded = {
            node: c if isinstance(c, Tensor) else Tensor(c) for node, c in found.items()
        }

    def data(self) -> dict[Node, Any]:
        """Plain data of the gradient by each point."""
        return {
            node: shaped(slope.data if isinstance(slope, Tensor) else slope, like.shape)
            for slope, (node, like) in zip(self._whole(), self.points.items(), strict=True)
        }

    def linearized(self) -> Linearized:
        """The gradient by each point, as a linear map near the points."""
        return Linearized(self._whole(), self.points)

    def hessian(self, mode: str, progress: Progress = quiet) -> dict[Node, dict[Node, Any]]:
        """The matrix of second derivatives in blocks by two points, each of the first's shape
        followed by the second's.

        Args:
            mode: How the gradient, made by reverse mode, is differentiated: "forward" or "reverse".
            progress: Gets the number of finished directions, and of all.
        """
        found = self.linearized().jacobian(mode, progress)
        return dict(zip(self.points, found, strict=True))

    def diagonal(self, mode: str, progress: Progress = quiet) -> dict[Node, Any]:
        """The second derivatives by each element twice, shaped as the points, in the memory of some
        rows of the matrix. Arguments as of `hessian`.
        """
        found = {}
        for slope, (node, like) in zip(self._whole(), self.points.items(), strict=True):
            diagonal = np.zeros(math.prod(like.shape), like.dtype)
            for start, block in _blocks(Linearized([slope], {node: like}), node, mode):
                progress(start, len(diagonal))
                part = block.reshape(len(block), -1)
                places = np.arange(len(part))
                diagonal[start + places] = part[places, start + places]
            found[node] = shaped(diagonal, like.shape)
        return found

    def product(self, dots: Mapping[Node, Any], mode: str) -> dict[Node, Any]:
        """The matrix times a direction of points, plain data shaped as they; in reverse mode the
        matrix, which is symmetric, is multiplied from the left.
        """
        line = self.linearized()
        if mode == "forward":
            found = dict(zip(self.points, line.push(dots), strict=True))
        else:
            found = line.pull([dots.get(node) for node in self.points])
        return {
            node: zeros(like) if found.get(node) is None else shaped(found[node], like.shape)
            for node, like in self.points.items()
        }

    def along(self, dots: Mapping[Node, Any], mode: str) -> Slopes:
        """The change of the gradient along a direction, as slopes that can be differentiated again.
        Arguments as of `product`.
        """
        line = self.linearized()
        if mode == "forward":
            found = dict(zip(self.points, line.push_recorded(dots), strict=True))
        else:
            found = line.pull_recorded([dots.get(node) for node in self.points])
        made = copy(self)
        made.recorded = {
            node: c if isinstance(c, Tensor) else Tensor(c)
            for node, c in found.items()
            if c is not None
        }
        return made

    def columns(self) -> Iterator[tuple[int, Any]]:
        """The matrix of second derivatives in blocks of columns by forward mode: arrays of shape
        (columns, elements of all points), each with the number of its first column.
        """
        for start, block in self.linearized().column_blocks():
            yield start, np.concatenate([part.reshape(len(part), -1) for part in block], axis=1)

    def _whole(self) -> list[Any]:
        """The gradient by each point, zeros where there is none."""
        return [
            self.recorded[node] if node in self.recorded else zeros(like)
            for node, like in self.points.items()
        ]


def _blocks(line: Linearized, node: Node, mode: str) -> Iterator[tuple[int, Any]]:
    """The matrix of one output by one point in blocks of columns or rows, which are the same."""
    if mode == "forward":
        yield from ((start, only) for start, (only,) in line.column_blocks())
    else:
        yield from ((start, block[node]) for start, block in line.row_blocks(0))
