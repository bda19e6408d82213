"""The fast path of a pass through element-wise ops on numbers: the steps of scalar loops.

It computes the same as the general pass and skips the checks that numbers settle. A test compares
the two. It follows nan, too: a product with nan is nan, whatever has a part in the result. Only
where zero times infinity makes nan does the general pass decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import Any, TypeAlias

from gradcli.engine.autodiff.paths import Paths
from gradcli.engine.tape.tensor import OpNode

Visit: TypeAlias = Callable[[OpNode, float], bool]
"""Visits a node with its cotangent and returns true. Returns false and does nothing if a value is
no number, or if nan comes of a zero.
"""


def visitor(pending: dict[Any, Any], paths: Paths) -> Visit:
    """The function that visits such nodes in a pass.

    Args:
        pending: The cotangents that have arrived at nodes so far.
        paths: The paths of the pass.
    """
    whole, live = paths.whole, paths.live
    pending_at = pending.get

    def visit(node: OpNode, g: float) -> bool:
        op, out, edges = node.op, node.out, node.edges
        partials: Sequence[Any] | None = op.derivatives.partials
        if type(out) is not float or partials is None or len(edges) > 2:
            return False
        first = second = None  # nodes that get something
        of_first = of_second = 0.0
        for under, partial in zip(edges, partials):  # noqa: B905  # a hot loop
            if under is None or partial is None or not (whole or under in live):
                continue
            if type(partial) is float:
                slope = partial
            else:
                slope = partial(out, *node.data, **node.params)
                if type(slope) is not float:
                    return False
            if g and slope:
                c = g * slope
            elif op.derivatives.chooses or (not slope and slope is partial):
                c = 0.0
            else:
                c = g * slope
                if isnan(c):
                    return False
            before = pending_at(under)
            if type(under.like) is tuple or (before is not None and type(before) is not float):
                return False
            if first is None:
                first, of_first = under, c if before is None else before + c
            else:
                if under is first:
                    c = of_first + c
                elif before is not None:
                    c = before + c
                second, of_second = under, c
        if first is None:
            return False
        if node.versions is not None:
            node.check_unchanged()
        pending[first] = of_first
        if second is not None:
            pending[second] = of_second
        return True

    return visit
