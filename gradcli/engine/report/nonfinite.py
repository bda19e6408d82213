"""Where nan and infinity came from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradcli.engine.autodiff.backward import all_cotangents
from gradcli.engine.autodiff.paths import age
from gradcli.engine.report.values import is_finite
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic
from gradcli.source import Source, Span


def first_slope(output: Any, cotangent: Any) -> Node | None:
    """The first op, on the way back from a value, that makes a cotangent which is not finite from
    one that is; None if there is none, or nothing is recorded.

    Args:
        output: The value.
        cotangent: Where its derivatives start, plain data of its shape.
    """
    root = node_of(output) if isinstance(output, Tensor) else None
    if root is None:
        return None
    found = all_cotangents([(root, output.index, cotangent)])
    for node in sorted(found, key=age, reverse=True):
        if node.op_name and is_finite(found[node]):
            wanted = [under is not None for under in node.edges]
            if not all(map(is_finite, node.pull(found[node], wanted))):
                return node
    return None


def second_warning(slopes: Iterable[Any], source: Source) -> Diagnostic:
    """The warning about second derivatives that are not finite.

    Args:
        slopes: The finite gradients, recorded; None for one that is constant.
        source: The program.
    """
    what = "second derivative"
    for slope in slopes:
        if isinstance(slope, Tensor):
            node = first_slope(slope, np.ones(slope.shape) if slope.shape else 1.0)
            if node is not None:
                message = (
                    f"the {what} is not finite: the derivative of `{node.op_name}` is not, here"
                )
                return _warning(message, source, node)
    return _warning(f"the {what} is not finite", source, None)


def _warning(message: str, source: Source, node: Node | None) -> Diagnostic:
    span = Span(0, 0) if node is None or node.site is None else node.site.span
    return Diagnostic("non-finite", message, source, span, severity="warning")
