"""Places of the recorded graph as a program names them: `GradientEdge(node, output_nr)`."""

from __future__ import annotations

from typing import Any

from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.tape.graph import Node, Watchpoint
from gradcli.engine.tape.tensor import AccumulateGrad, Tensor, node_of
from gradcli.engine.values.carrier import Like, like_of
from gradcli.engine.values.fields import Named
from gradcli.engine.values.sizes import whole
from gradcli.errors import run_error

NAMES = ("node", "output_nr", "ownership_token")
"""Fields of an edge."""


class GradientEdge(Named):
    """A node and the index of one of its results."""

    @property
    def node(self) -> Node:
        """The node."""
        found: Node = self[0]
        return found

    @property
    def output(self) -> int:
        """The index of the result."""
        found: int = self[1]
        return found

    @property
    def like(self) -> Like:
        """Shape and dtype of the result."""
        node = self.node
        if isinstance(node, AccumulateGrad):
            if node.variable is None:
                raise run_error("no-leaf", "nothing holds the leaf of this edge any more")
            return like_of(node.variable)
        likes: Any = node.like
        found: Like = likes[self.output] if type(likes) is tuple else likes
        return found


def _edge(node: Node, index: int) -> GradientEdge:
    made = GradientEdge.__new__(GradientEdge, "GradientEdge", NAMES, (node, index, None))
    assert isinstance(made, GradientEdge)
    return made


def gradient_edge(
    session: Any, node: Any, output_nr: Any, ownership_token: Any = None
) -> GradientEdge:
    """`GradientEdge(node, output_nr)`."""
    if not isinstance(node, Node):
        raise run_error("wrong-type", f"an edge needs a node of the graph, got {kind_of(node)}")
    index = whole(output_nr, "output_nr")
    if not 0 <= index < (len(node.like) if type(node.like) is tuple else 1):
        raise run_error("index-out-of-range", f"{node.name()} has no result {index}")
    return _edge(node, index)


def gradient_edge_of(session: Any, tensor: Any) -> GradientEdge:
    """`get_gradient_edge(x)`: the present edge of a tensor, which later changes do not affect."""
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        raise run_error("no-graph", f"{kind_of(tensor)} that does not require grad has no edge")
    found, index = node_of(tensor), tensor.index
    while isinstance(found, Watchpoint):  # the program does not see these
        index = found.outputs[0]
        found = found.edges[0]
    assert found is not None
    return _edge(found, index)
