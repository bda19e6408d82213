"""Cotangents and directions from outside, and the gradients of a finished run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradcli.engine.autodiff.backward import cotangents, seed
from gradcli.engine.run.session import Session, kind_of
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, np, shape_of
from gradcli.errors import Diagnostic, InputError, RunError


def starting_cotangent(output: Any, cotangent: Any) -> Any:
    """Plain data of the cotangent of a result: the one given, or 1 for a result of one element.

    Raises:
        RunError: If the result has more elements and none is given.
        InputError: If the one given is no number or tensor of the result's shape.
    """
    x = output if isinstance(output, Tensor) else Tensor(output)
    if cotangent is not None:
        return _shaped_as(x, cotangent, "the cotangent", "the result")
    if math.prod(x.shape) != 1:
        raise RunError(
            Diagnostic(
                "needs-cotangent",
                f"the result has shape {list(x.shape)}: each of its elements needs a weight",
                help="reduce it, as in `sum(...)`, or give the weights with --cotangent VALUE",
            )
        )
    return data_of(seed(x, None, "grad"))


def direction(point: Tensor, tangent: Any, name: str) -> Any:
    """Plain data of a tangent at a point.

    Raises:
        InputError: If it is no number or tensor of the point's shape.
    """
    return _shaped_as(point, tangent, f"the tangent of `{name}`", f"`{name}`")


def _shaped_as(like: Tensor, given: Any, what: str, whose: str) -> Any:
    """Plain data of a value from outside that must have the shape of another."""
    if not isinstance(given, Tensor) and type(given) not in NUMBERS:
        raise InputError(
            Diagnostic("bad-input", f"{what} must be a number or tensor, got {kind_of(given)}")
        )
    data = data_of(given)
    shape = shape_of(data)
    if shape != like.shape:
        message = f"{what} has the shape {list(shape)}, and {whose} {list(like.shape)}"
        raise InputError(Diagnostic("shape-mismatch", message))
    return float(data) if type(data) in NUMBERS else data.astype(like.dtype)


def even_cotangent(output: Any) -> Any:
    """Plain data of the cotangent that weighs every element of a result alike."""
    shape = output.shape if isinstance(output, Tensor) else ()
    return np.ones(shape) if shape else 1.0


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
        start = [(node, output.index, cotangent)]
        found = cotangents(start, targets.values())
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
