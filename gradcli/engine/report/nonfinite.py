"""Find the operation that first made nan or infinity."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.autodiff.backward import all_cotangents
from gradcli.engine.autodiff.numbers import visitor
from gradcli.engine.autodiff.paths import Paths, between, whole
from gradcli.engine.ops.catalog import ops
from gradcli.engine.report.values import is_finite
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import OpNode, Tensor, node_of
from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic
from gradcli.source import Source, Span


def first_slope(output: Any, cotangent: Any, ends: Collection[Node] | None = None) -> Node | None:
    """The first op in the backward pass that turns a finite cotangent into one that is not finite.

    Args:
        output: The value that is differentiated.
        cotangent: The cotangent of the value, plain data of its shape.
        ends: The nodes that it is differentiated by; None: all from which it was made.

    Returns:
        The op's node; None if there is none or nothing is recorded.
    """
    root = node_of(output) if isinstance(output, Tensor) else None
    if root is None:
        return None
    paths = whole([root]) if ends is None else between([root], ends)
    found = all_cotangents([(root, output.index, cotangent)], paths)
    lost = {node for node, g in found.items() if not is_finite(g)}
    above = (n for n in found if n.op_name and n not in lost and not lost.isdisjoint(n.edges))
    suspects = [*_suspects(above, found, paths)]
    for node in suspects:
        if not all(map(is_finite, _but_of_zeros(node, found[node]))):
            return node
    for node in suspects:  # the cotangent is zero, the slope infinite
        pulled = node.pull(found[node], _wanted(node))
        for under, c in zip(node.edges, pulled, strict=True):
            if under in lost and not is_finite(c):
                return node
    return None


def _suspects(above: Iterable[Node], found: Mapping[Node, Any], paths: Paths) -> Iterator[Node]:
    """The nodes without those that clearly give finite cotangents: most ops on numbers."""
    given: dict[Node, Any] = {}
    visit = visitor(given, paths)
    for node in above:
        g = found[node]
        given.clear()
        usual = type(g) is float and type(node) is OpNode and visit(node, g)
        if not (usual and all(map(is_finite, given.values()))):
            yield node


def _wanted(node: Node) -> list[bool]:
    return [under is not None for under in node.edges]


def _but_of_zeros(node: Node, g: Any) -> Sequence[Any]:
    """Cotangents of a node's operands; zeros in `g` add nothing, even if the slope is infinite."""
    if (
        isinstance(node, OpNode)
        and node.op.derivatives.partials is not None
        and node.op.derivatives.scales
    ):
        return node.pull(g, _wanted(node), [ops.eq(g, 0.0)] * len(node.edges))
    return node.pull(g, _wanted(node))


def second_warning(slopes: Iterable[Any], source: Source) -> Diagnostic:
    """The warning that second derivatives are not finite, at the op that causes it.

    Args:
        slopes: The finite gradients, recorded; None for a constant one.
        source: The program.
    """
    what = "second derivative"
    for slope in slopes:
        if isinstance(slope, Tensor):
            node = first_slope(slope, np.ones(slope.shape) if slope.shape else 1.0)
            if node is not None:
                message = (
                    f"the {what} is not finite: the derivative of `{node.op_name}` is not finite"
                )
                return _warning(message, source, node)
    return _warning(f"the {what} is not finite", source, None)


def _warning(message: str, source: Source, node: Node | None) -> Diagnostic:
    span = Span(0, 0) if node is None or node.site is None else node.site.span
    return Diagnostic("non-finite", message, source, span, severity="warning")
