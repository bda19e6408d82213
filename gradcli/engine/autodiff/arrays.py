"""The fast path of a pass through ops on arrays of float64 whose shapes are known.

It computes the same as the general pass and skips the checks that shapes settle. It works in place:
it adds to, and overwrites, cotangents that have no other owner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from gradcli.engine.autodiff.paths import Paths
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.direct import one_call
from gradcli.engine.ops.steps import FIRST, NOTHING, TEMPORARIES
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import PlannedNode

Visit: TypeAlias = Callable[[PlannedNode, Any, bool], None]
"""Visits a node with its cotangent. The last argument is true if the cotangent is kept."""


def visitor(
    pending: dict[Any, Any], paths: Paths, add: Callable[[dict[Any, Any], Node, int, Any], None]
) -> Visit:
    """The function that visits such nodes in a pass.

    Args:
        pending: The cotangents that have arrived at nodes so far.
        paths: The paths of the pass.
        add: Adds a cotangent of another kind to them.
    """
    plus = one_call(ops.add)
    assert plus is not None
    ours: set[Node] = set()  # nodes whose pending cotangent has no other owner
    whole, is_live = paths.whole, paths.live.__contains__

    def visit(node: PlannedNode, g: Any, kept: bool) -> None:
        makes_fresh = node.plan.fresh
        over, own = NOTHING, False
        if makes_fresh and type(g) is not float and (g.ndim < 2 or g.flags.c_contiguous):
            own = not kept and node in ours
            over = FIRST if own else TEMPORARIES
        wanted = None if whole else tuple(map(is_live, node.edges))
        pulled = node.pull_all(g, wanted, over)
        makes_fresh = makes_fresh and not (len(pulled) == 2 and pulled[0] is pulled[1])
        edges: Any = node.edges  # an edge of None has a cotangent of None
        for under, index, c in zip(edges, node.outputs, pulled):  # noqa: B905  # a hot loop
            if c is None:
                continue
            fresh = makes_fresh and (own or c is not g)
            before = pending.get(under)
            if type(under.like) is tuple:
                add(pending, under, index, c)
            elif type(c) is float:
                pending[under] = c if before is None else before + c
            elif before is None:
                pending[under] = c
                if fresh and c.ndim:  # NumPy's functions give no array for one without dimensions
                    ours.add(under)
            elif type(before) is not type(c) or before.strides != c.strides:
                add(pending, under, index, c)
            elif under in ours:
                plus(before, c, before)
            elif c.ndim:
                pending[under] = plus(before, c, c) if fresh else plus(before, c)
                ours.add(under)
            else:
                pending[under] = plus(before, c)

    return visit
