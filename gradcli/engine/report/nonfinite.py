"""Where nan and infinity came from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradcli.engine.autodiff.backward import all_cotangents
from gradcli.engine.report.values import is_finite
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic
from gradcli.source import Source, Span


def non_finite_warning(output: Any, cotangent: Any, source: Source) -> Diagnostic:
    """The warning about a result or gradient that is not finite.

    Args:
        output: The result of a run that kept its values.
        cotangent: Where its derivatives start, plain data of its shape.
        source: The program.
    """
    found = None
    if isinstance(output, Tensor) and node_of(output) is not None:
        found = _origin(output, cotangent)
    if found is not None and found[1] == "gradient" and is_finite(output):
        return _blamed(*found, source)
    if found is None or found[1] == "gradient":
        what = "derivative" if is_finite(output) else "result"
        return _warning(f"the {what} is not finite", source, None)
    node, _ = found
    message = f"the result is not finite: `{node.op_name}` made it from finite values"
    return _warning(message, source, node)


def second_warning(slopes: Iterable[Any], source: Source) -> Diagnostic:
    """The warning about second derivatives that are not finite.

    Args:
        slopes: The finite gradients, recorded; None for one that is constant.
        source: The program.
    """
    what = "second derivative"
    for slope in slopes:
        if isinstance(slope, Tensor) and node_of(slope) is not None:
            found = _origin(slope, np.ones(slope.shape) if slope.shape else 1.0)
            if found is not None:
                return _blamed(found[0], what, source)
    return _warning(f"the {what} is not finite", source, None)


def _blamed(node: Node, what: str, source: Source) -> Diagnostic:
    message = f"the {what} is not finite: the derivative of `{node.op_name}` is not, here"
    return _warning(message, source, node)


def _warning(message: str, source: Source, node: Node | None) -> Diagnostic:
    span = Span(0, 0) if node is None or node.site is None else node.site.span
    return Diagnostic("non-finite", message, source, span, severity="warning")


def _origin(output: Tensor, cotangent: Any) -> tuple[Node, str] | None:
    """The first op that made a non-finite value from finite ones on the way to the output, or else
    the first, on the way back, that made a non-finite cotangent from a finite one.
    """
    root = node_of(output)
    assert root is not None
    start = [(root, output.index, cotangent)]
    found = all_cotangents(start)
    order = sorted(found, key=lambda node: node.seq)
    for node in order:
        if node.op_name and not is_finite(node.out):
            inputs = [under.out for under in node.edges if under is not None]
            constants = node.constants
            if all(value is None or is_finite(value) for value in (*inputs, *constants)):
                return node, "result"
    for node in reversed(order):
        if node.op_name and is_finite(found[node]):
            below = (found[under] for under in node.edges if under in found)
            if not all(map(is_finite, below)):
                return node, "gradient"
    return None
