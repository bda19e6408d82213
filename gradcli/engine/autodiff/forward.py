"""Forward mode: from the tangents of inputs to the tangents of values computed from them.

Tangents are pushed along the recorded graph, the oldest node first, by the same ops' rules; one
recording serves both modes. A tangent belongs to the nodes between the inputs of one call and its
outputs, so nested calls never mix up theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gradcli.engine.autodiff.motion import Motion, Push, under
from gradcli.engine.autodiff.paths import Paths, between
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import Node
from gradcli.engine.values.batch import has_nan


def tangents(
    outputs: Iterable[Node], seeds: Mapping[Node, Any], paths: Paths | None = None
) -> dict[Node, Any]:
    """Tangents of the nodes between seeds and outputs, as plain data, visiting each once.

    Args:
        outputs: Nodes whose tangents are wanted.
        seeds: Nodes of inputs with their tangents, shaped as their values. If one depends on
            another, its own tangent is added to the one that comes from that.
        paths: From the seeds to the outputs, where they are known.

    Returns:
        The tangent of every node that a seed reaches; of a node with several results a tuple.

    Raises:
        RunError: If a value that a node saved has been changed in place since.
    """
    paths = paths or between(outputs, seeds.keys())
    return _swept(paths, seeds, lambda node, dots: node.push(dots))


def recorded_tangents(
    outputs: Iterable[Node], seeds: Mapping[Node, Any], paths: Paths | None = None
) -> dict[Node, Any]:
    """Like `tangents`, but made of recorded ops, so that they can be differentiated again."""
    paths = paths or between(outputs, seeds.keys())
    return _swept(paths, seeds, lambda node, dots: node.push_recorded(dots))


def _swept(paths: Paths, seeds: Mapping[Node, Any], push: Push) -> dict[Node, Any]:
    found: dict[Node, Any] = dict(seeds)
    motion: Motion | None = None
    for place, node in enumerate(paths.order):
        if node not in paths.live:
            continue
        dots = under(node, found)
        if all(dot is None for dot in dots):
            continue
        dot = push(node, dots)
        if has_nan(dot):
            motion = motion or Motion(seeds, paths.order[:place])
            dot = motion.push(node, dots, push)
        if motion is not None:
            motion.follow(node)
        if dot is not None:
            # a seed may be made from others: then it moves with them, too
            found[node] = ops.add(found[node], dot) if node in seeds else dot
    return found
