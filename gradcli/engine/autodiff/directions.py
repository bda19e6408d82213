"""Derivatives of a finished run beyond its gradient: along directions, Jacobians, Hessians."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.autodiff.backward import cotangents, reachable, recorded_cotangents
from gradcli.engine.autodiff.forward import tangents
from gradcli.engine.autodiff.jacobian import (
    Output,
    Progress,
    cheaper_mode,
    column_blocks,
    columns,
    quiet,
    row_blocks,
    rows,
)
from gradcli.engine.run.session import Session
from gradcli.engine.tape.graph import Node, Watchpoint
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.data import NUMBERS, np, shape_of


def unused(session: Session, output: Any, names: Sequence[str]) -> list[str]:
    """The watched names that an output does not depend on."""
    node = node_of(output) if isinstance(output, Tensor) else None
    reached = set() if node is None else reachable([node])
    return [name for name in names if session.watchpoints[name][0] not in reached]


def hooked(output: Any) -> bool:
    """Whether a hook stands between an output and what it was made from: forward mode does not
    run it.
    """
    node = node_of(output) if isinstance(output, Tensor) else None
    return node is not None and any(under.hooks is not None for under in reachable([node]))


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
        mode: "forward", "reverse", or "auto" for the one of fewer directions, which is reverse mode
            where a hook has a say in the gradient.
        progress: Is told how many directions are done, and of how many.

    Returns:
        By name plain data of the output's shape followed by the name's; and the mode.
    """
    shape = shape_of(output)
    targets = _targets(session, names)
    if mode == "auto" and hooked(output):
        mode = "reverse"
    elif mode == "auto":
        mode = cheaper_mode(sum(map(math.prod, targets.values())), math.prod(shape))
    node = node_of(output) if isinstance(output, Tensor) else None
    found: dict[Node, Any] = {}
    if node is not None and mode == "forward":
        found = columns([(node, output.index, shape)], targets, progress)[0]
    elif node is not None:
        found = rows(node, output.index, shape, targets, progress)
    return _blocks(session, found, shape, names, mode), mode


def hessian(
    session: Session,
    output: Any,
    cotangent: Any,
    names: Sequence[str],
    mode: str,
    progress: Progress = quiet,
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Gradient and matrix of second derivatives of an output with respect to watched names.

    Args:
        session: The session of the run, which watched the names.
        output: The result.
        cotangent: Plain data of the output's shape, the weight of each of its elements.
        names: Names to differentiate with respect to.
        mode: How the gradient, made by reverse mode, is differentiated: "forward" or "reverse".
        progress: Is told how many directions are done, and of how many.

    Returns:
        The gradient by name, and by two names plain data of the first's shape followed by the
        second's.
    """
    slopes = recorded_gradients(session, output, cotangent, names)
    targets = _targets(session, names)
    outputs = {n: _root(slope, session.points[n]) for n, slope in slopes.items()}
    if mode == "forward":
        found = columns(list(outputs.values()), targets, progress)
    else:
        found = [rows(*root, targets, progress) for root in outputs.values()]
    second = {
        name: _blocks(session, part, outputs[name][2], names, mode)
        for name, part in zip(outputs, found, strict=True)
    }
    return _gradient_data(session, slopes), second


def hessian_diagonal(
    session: Session,
    output: Any,
    cotangent: Any,
    names: Sequence[str],
    mode: str,
    progress: Progress = quiet,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Gradient and second derivatives by each element alone, in the memory of some rows of the
    matrix. Arguments as of `hessian`; both results are shaped as the names' values.
    """
    slopes = recorded_gradients(session, output, cotangent, names)
    second = {}
    for name, slope in slopes.items():
        point = session.points[name]
        node = session.watchpoints[name][0]
        root = _root(slope, point)
        if mode == "forward":
            blocks = (
                (start, only) for start, (only,) in column_blocks([root], {node: point.shape})
            )
        else:
            found = row_blocks(*root, {node: point.shape})
            blocks = ((start, block[node]) for start, block in found)
        diagonal = np.zeros(math.prod(point.shape))
        for start, block in blocks:
            progress(start, len(diagonal))
            part = block.reshape(len(block), -1)
            places = np.arange(len(part))
            diagonal[start + places] = part[places, start + places]
        second[name] = _shaped(diagonal, point.shape)
    return _gradient_data(session, slopes), second


def hessian_product(
    session: Session,
    output: Any,
    cotangent: Any,
    names: Sequence[str],
    dots: Mapping[str, Any],
    mode: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Gradient by some names, and the rows of these of the product of the matrix of second
    derivatives with a direction. Arguments as of `hessian` and `directional`; in reverse mode the
    matrix, which is symmetric, is multiplied from the left.
    """
    both = list(dict.fromkeys([*names, *dots]))
    slopes = recorded_gradients(session, output, cotangent, both)
    second: dict[str, Any] = {}
    if mode == "forward":
        second = {
            name: None if slopes[name] is None else directional(session, slopes[name], dots)
            for name in names
        }
    else:
        targets = _targets(session, names)
        roots = {name: _root(slopes[name], session.points[name]) for name in dots}
        start = [(node, index, dots[name]) for name, (node, index, _) in roots.items()]
        found = cotangents(start, targets)
        for name in names:
            target = session.watchpoints[name][0]
            second[name] = _shaped(found.get(target), targets[target])
    return _gradient_data(session, {name: slopes[name] for name in names}), {
        name: _shaped(part, session.points[name].shape) for name, part in second.items()
    }


def recorded_gradients(
    session: Session, output: Any, cotangent: Any, names: Sequence[str]
) -> dict[str, Tensor | None]:
    """Gradients that can be differentiated again; None for one that is constant zero."""
    found: dict[Node, Any] = {}
    node = node_of(output) if isinstance(output, Tensor) else None
    targets = {name: session.watchpoints[name][0] for name in names}
    if node is not None:
        start = [(node, output.index, cotangent)]
        found = recorded_cotangents(start, targets.values())
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


def _root(slope: Tensor | None, point: Tensor) -> Output:
    """A gradient as an output; a constant one has a node that leads nowhere."""
    node = None if slope is None else node_of(slope)
    if slope is None or node is None:
        return Watchpoint("", None, 0, None), 0, point.shape
    return node, slope.index, point.shape


def _blocks(
    session: Session,
    found: Mapping[Node, Any],
    shape: tuple[int, ...],
    names: Sequence[str],
    mode: str,
) -> dict[str, Any]:
    """By name what was found: the output's shape followed by the name's."""
    result = {}
    for name in names:
        part = found.get(session.watchpoints[name][0])
        if part is not None and mode == "forward":
            part = np.moveaxis(part, 0, -1)
        result[name] = _shaped(part, (*shape, *session.points[name].shape))
    return result


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
