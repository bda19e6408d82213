"""One evaluation of a function at a point, with its derivatives in both modes, flat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradcli.engine.autodiff.linearize import Linearized, shaped
from gradcli.engine.autodiff.paths import reachable
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import Node, NodeOfOp
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.carrier import data_of, like_of
from gradcli.engine.values.data import dtype_of, np, shape_of

_EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10}
_TINY = {2.0**-52: 2.0**-1074, 2.0**-23: 2.0**-149}


class Trace:
    """The results of an evaluation, differentiable with respect to its points.

    Results and points are flat arrays, one result after the other.

    Args:
        outputs: The results, numbers or tensors.
        points: The nodes to differentiate with respect to, with plain data of their values.
    """

    def __init__(self, outputs: Sequence[Any], points: Sequence[tuple[Node, Any]]) -> None:
        self.outputs = outputs
        self.nodes = [node for node, _ in points]
        self.points = [data for _, data in points]
        self.shapes = [shape_of(o) for o in outputs]
        self.values = _flat(outputs)
        self._line = Linearized(outputs, {node: like_of(data) for node, data in points})
        self._jacobian: list[Any] | None = None

    def precision(self) -> float:
        """Relative spacing of the least precise floating-point dtype that the evaluation uses."""
        kinds = {dtype_of(x) for x in (*self.outputs, *self.points)}
        made = (node_of(o) for o in self.outputs if isinstance(o, Tensor))
        for node in reachable(node for node in made if node is not None):
            likes = node.like if type(node.like) is tuple else (node.like,)
            kinds.update(like.dtype for like in likes if like is not None)
        return max(_EPS.get(kind, 0.0) for kind in kinds)

    def tiny(self) -> float:
        """The smallest positive number of that dtype."""
        return _TINY[self.precision()]

    def reads_triangles(self) -> bool:
        """True if an op reads one triangle of a matrix that it takes for symmetric."""
        roots = (node_of(o) for o in self.outputs if isinstance(o, Tensor))
        return any(map(_reads_triangle, reachable(node for node in roots if node is not None)))

    def pulled(self, weights: Any) -> list[Any]:
        """Gradients of the weighted sum of the results, by each point."""
        found = self._line.pull(self._parted(weights))
        return [
            _flat([shaped(found.get(node), shape_of(point))])
            for node, point in zip(self.nodes, self.points, strict=True)
        ]

    def jacobian(self) -> list[Any]:
        """The Jacobian by each point, with a row for each element of the results."""
        if self._jacobian is None:
            rows = [self.pulled(v) for v in np.eye(self.values.size)]
            self._jacobian = [np.array(parts) for parts in zip(*rows, strict=True)]
        return self._jacobian

    def reaches(self) -> list[bool]:
        """True for each point that gets a gradient, even one of zeros."""
        found = self._line.pull(self._parted(np.ones(self.values.shape)))
        return [node in found for node in self.nodes]

    def pushed(self, i: int, direction: Any) -> Any:
        """The tangent of the results along a direction of one point."""
        point = self.points[i]
        shape = shape_of(point)
        dot = np.reshape(direction, shape).astype(dtype_of(point)) if shape else float(direction[0])
        found = self._line.push({self.nodes[i]: dot})
        return _flat([shaped(d, s) for d, s in zip(found, self.shapes, strict=True)])

    def slope(self, weights: Any) -> Trace:
        """A trace whose results are the gradients of the weighted sum, recorded for second
        derivatives.
        """
        found = self._line.pull_recorded(self._parted(weights))
        gradients = []
        for node, point in zip(self.nodes, self.points, strict=True):
            c, shape = found.get(node), shape_of(point)
            whole = isinstance(c, Tensor) and c.shape == shape
            data = None if c is None else data_of(c)
            gradients.append(c if whole else Tensor(shaped(data, shape)))
        return Trace(gradients, list(zip(self.nodes, self.points, strict=True)))

    def _parted(self, weights: Any) -> list[Any]:
        """The flat weights cut to the shape of each result."""
        parts = []
        done = 0
        for out, shape in zip(self.outputs, self.shapes, strict=True):
            part = weights[done : done + math.prod(shape)]
            done += math.prod(shape)
            parts.append(part.reshape(shape).astype(dtype_of(out)) if shape else float(part[0]))
        return parts


def _reads_triangle(node: Node) -> bool:
    if not isinstance(node, NodeOfOp):
        return False
    asked = ops[node.op.name].derivatives.triangle
    return bool(node.params.get(asked)) if isinstance(asked, str) else asked


def _flat(parts: Sequence[Any]) -> Any:
    """All elements of plain data and tensors in one flat array."""
    flat = [np.asarray(data_of(p), np.float64).ravel() for p in parts]
    return np.concatenate(flat) if flat else np.zeros(0)
