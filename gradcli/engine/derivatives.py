"""What a command asks of a finished run: gradients of its result, and where nan came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.arrays import NUMBERS, is_floating, np, shape_of
from gradcli.engine.backward import cotangents
from gradcli.engine.graph import AccumulateGrad, Node, Watchpoint
from gradcli.engine.session import Session
from gradcli.engine.tensor import Tensor, data_of, node_of
from gradcli.source import Span


def gradients(
    session: Session, output: Any, cotangent: Any, names: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Gradient of an output with respect to watched names.

    Args:
        session: The session of the run, which watched the names.
        output: The result, a number or tensor of any shape.
        cotangent: Plain data of the output's shape, the weight of each of its elements.
        names: Names to differentiate with respect to.

    Returns:
        The gradient by name, plain data shaped as the name's value, and the names that the output
        does not depend on (their gradients are zeros).
    """
    found: dict[Node, Any] = {}
    node = node_of(output) if isinstance(output, Tensor) else None
    targets = {name: session.watchpoints[name][0] for name in names}
    if node is not None:
        found = cotangents(
            [(node, output.index, cotangent)],
            targets.values(),
            retain=True,
            visible_only=False,
        )
    result = {}
    unused = []
    for name in names:
        g = found.get(targets[name])
        if g is None:
            unused.append(name)
            data = session.points[name].data
            g = 0.0 if type(data) in NUMBERS else np.zeros_like(data)
        result[name] = g
    return result, unused


def is_finite(value: Any) -> bool:
    """Whether plain data holds neither nan nor infinity."""
    if isinstance(value, (list, tuple)):
        return all(map(is_finite, value))
    value = data_of(value)
    if type(value) in NUMBERS:
        return bool(value - value == 0)
    if not hasattr(value, "dtype"):
        return True
    return bool(np.isfinite(value).all()) if is_floating(value) else True


def origin_of_non_finite(output: Tensor, cotangent: Any) -> tuple[str, Span | None, str] | None:
    """The first recorded op that made a non-finite value from finite ones on the way to `output`
    ("value"), or else made a non-finite cotangent from a finite one ("gradient").

    Returns:
        Name of the op, its place, and which of the two; None if no recorded op did. The run must
        have kept its values.
    """
    root = node_of(output)
    if root is None:
        return None
    found = cotangents(
        [(root, output.index, cotangent)], retain=True, visible_only=False, every=True
    )
    order = sorted(found, key=lambda node: node.seq)
    for node in order:
        if node.op is not None and not is_finite(node.out):
            inputs = [under.out for under in node.edges if under is not None]
            constants = [a for a in node.args if type(a) in NUMBERS]
            if all(map(_finite_or_unknown, [*inputs, *constants])):
                return node.op.name, _span(node), "value"
    for node in reversed(order):
        if node.op is None or not is_finite(found[node]):
            continue
        for under in node.edges:
            if under is not None and under in found and not is_finite(found[under]):
                return node.op.name, _span(node), "gradient"
    return None


def _finite_or_unknown(value: Any) -> bool:
    return value is None or is_finite(value)


def _span(node: Node) -> Span | None:
    return None if node.site is None else node.site.span


def names_of_leaves(values: Mapping[str, Any], watchable: frozenset[str]) -> list[str]:
    """Top-level names, among those, that hold a leaf that requires grad."""
    return [
        name
        for name, value in values.items()
        if name in watchable and isinstance(value, Tensor) and type(value.node) is AccumulateGrad
    ]


__all__ = [
    "Watchpoint",
    "gradients",
    "is_finite",
    "names_of_leaves",
    "origin_of_non_finite",
    "shape_of",
]
