"""Find the operation that first made nan or infinity."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradcli.engine.autodiff.losses import first_loss
from gradcli.engine.autodiff.paths import Paths, whole
from gradcli.engine.report.values import is_finite
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic
from gradcli.source import Source, Span


def first_slope(output: Any, cotangent: Any, paths: Paths | None = None) -> Node | None:
    """The first op in the backward pass that turns a finite cotangent into one that is not finite.

    Args:
        output: The value that is differentiated.
        cotangent: The cotangent of the value, plain data of its shape.
        paths: The paths to the nodes that it is differentiated by; None: to all from which it was
            made.

    Returns:
        The op's node; None if there is none or nothing is recorded.
    """
    root = node_of(output) if isinstance(output, Tensor) else None
    if root is None:
        return None
    return first_loss([(root, output.index, cotangent)], paths or whole([root]), is_finite)


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
