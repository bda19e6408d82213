"""Derivatives of a finished run beyond its gradient: along directions, Jacobians, Hessians."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.arrays import NUMBERS, np, shape_of
from gradcli.engine.backward import cotangents, reachable
from gradcli.engine.forward import tangents
from gradcli.engine.graph import Node, Watchpoint
from gradcli.engine.jacobians import Progress, cheaper_mode, columns, quiet, row_blocks, rows
from gradcli.engine.session import Session
from gradcli.engine.tensor import Tensor, node_of


def unused(session: Session, output: Any, names: Sequence[str]) -> list[str]:
    """The watched names that an output does not depend on."""
    node = node_of(output) if isinstance(output, Tensor) else None
    reached = set() if node is None else reachable([node])
    return [name for name in names if session.watchpoints[name][0] not in reached]


def directional(session: Session, output: Any, dots: Mapping[str, Any]) -> Any:
    """Derivative of an output along a direction of the watched names: its tangent.

    Args:
        session: The session of the run, which watched the names.
        output: The result.
        dots: Plain data of the direction by name, shaped as the names' values.

    Returns:
        Plain data of the output's shape.
    """
    node = node_of(output) if isinstance(output, Tensor) else None
    dot = None
    if node is not None:
        seeds = {session.watchpoints[name][0]: dot for name, dot in dots.items()}
        dot = tangents([node], seeds).get(node)
        if type(dot) is tuple:
            dot = dot[output.index]
    return _shaped(dot, shape_of(output))


def jacobian(
    session: Session, output: Any, names: Sequence[str], mode: str, progress: Progress = quiet
) -> tuple[dict[str, Any], str]:
    """Jacobian of an output with respect to watched names.

    Args:
        session: The session of the run, which watched the names.
        output: The result, a number or tensor of any shape.
        names: Names to differentiate with respect to.
        mode: "forward", "reverse", or "auto" for the one of fewer directions.
        progress: Is told how many directions are done, and of how many.

    Returns:
        By name plain data of the output's shape followed by the name's; and the mode.
    """
    shape = shape_of(output)
    targets = _targets(session, names)
    if mode == "auto":
        mode = cheaper_mode(sum(map(math.prod, targets.values())), math.prod(shape))
    node = node_of(output) if isinstance(output, Tensor) else None
    found: dict[Node, Any] = {}
    if node is not None:
        way = columns if mode == "forward" else rows
        found = way(node, output.index, shape, targets, progress)
    result = {}
    for name in names:
        target = session.watchpoints[name][0]
        part = found.get(target)
        if part is not None and mode == "forward":
            part = np.moveaxis(part, 0, -1)
        result[name] = _shaped(part, (*shape, *targets[target]))
    return result, mode


def hessian(
    session: Session,
    output: Any,
    cotangent: Any,
    names: Sequence[str],
    progress: Progress = quiet,
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Gradient and matrix of second derivatives of an output with respect to watched names.

    Args:
        session: The session of the run, which watched the names.
        output: The result.
        cotangent: Plain data of the output's shape, the weight of each of its elements.
        names: Names to differentiate with respect to.
        progress: Is told how many directions are done, and of how many.

    Returns:
        The gradient by name, and by two names plain data of the first's shape followed by the
        second's.
    """
    slopes = _recorded_gradients(session, output, cotangent, names)
    targets = _targets(session, names)
    second = {}
    for name, slope in slopes.items():
        shape = session.points[name].shape
        found = {} if slope is None else rows(*_root(slope), shape, targets, progress)
        second[name] = {
            by: _shaped(found.get(session.watchpoints[by][0]), (*shape, *session.points[by].shape))
            for by in names
        }
    return _gradient_data(session, slopes), second


def hessian_diagonal(
    session: Session,
    output: Any,
    cotangent: Any,
    names: Sequence[str],
    progress: Progress = quiet,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Gradient and second derivatives by each element alone, in the memory of some rows of the
    matrix. Arguments as of `hessian`; both results are shaped as the names' values.
    """
    slopes = _recorded_gradients(session, output, cotangent, names)
    second = {}
    for name, slope in slopes.items():
        shape = session.points[name].shape
        node = session.watchpoints[name][0]
        diagonal = np.zeros(math.prod(shape))
        if slope is not None:
            for start, block in row_blocks(*_root(slope), shape, {node: shape}):
                progress(start, len(diagonal))
                part = block[node].reshape(len(block[node]), -1)
                places = np.arange(len(part))
                diagonal[start + places] = part[places, start + places]
        second[name] = _shaped(diagonal, shape)
    return _gradient_data(session, slopes), second


def hessian_product(
    session: Session, output: Any, cotangent: Any, names: Sequence[str], dots: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Gradient, and product of the matrix of second derivatives with a direction: forward mode
    over reverse. Arguments as of `hessian` and `directional`.
    """
    slopes = _recorded_gradients(session, output, cotangent, names)
    second = {
        name: directional(session, slope, dots)
        if slope is not None
        else _shaped(None, session.points[name].shape)
        for name, slope in slopes.items()
    }
    return _gradient_data(session, slopes), second


def _recorded_gradients(
    session: Session, output: Any, cotangent: Any, names: Sequence[str]
) -> dict[str, Tensor | None]:
    """Gradients that can be differentiated again; None for one that is constant zero."""
    found: dict[Node, Any] = {}
    node = node_of(output) if isinstance(output, Tensor) else None
    targets = {name: session.watchpoints[name][0] for name in names}
    if node is not None:
        start = [(node, output.index, cotangent)]
        found = cotangents(
            start,
            targets.values(),
            create_graph=True,
            retain=True,
            visible_only=False,
            spent=True,
        )
    slopes = {name: found.get(target) for name, target in targets.items()}
    return {
        name: slope if slope is None or isinstance(slope, Tensor) else Tensor(slope)
        for name, slope in slopes.items()
    }


def _gradient_data(session: Session, slopes: Mapping[str, Tensor | None]) -> dict[str, Any]:
    return {
        name: _shaped(None if slope is None else slope.data, session.points[name].shape)
        for name, slope in slopes.items()
    }


def _root(slope: Tensor) -> tuple[Node, int]:
    """The node of a gradient; for a constant one a node that leads nowhere."""
    node = node_of(slope)
    return (Watchpoint("", None, 0, None) if node is None else node), slope.index


def _targets(session: Session, names: Sequence[str]) -> dict[Node, tuple[int, ...]]:
    return {session.watchpoints[name][0]: session.points[name].shape for name in names}


def _shaped(found: Any, shape: tuple[int, ...]) -> Any:
    """Plain data of a shape; zeros where nothing was found."""
    if found is None:
        return np.zeros(shape) if shape else 0.0
    if type(found) in NUMBERS:
        return found
    if found.size == math.prod(shape):
        found = np.reshape(found, shape)
        return found if shape else found.item()
    return np.broadcast_to(found, shape)
