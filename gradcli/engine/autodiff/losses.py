"""Find the node at which a pass back makes nan or infinity of a finite cotangent.

Such a cotangent passes from node to node. So it is enough to look at those that have arrived, once
in a chunk of nodes; only the chunk that loses one is visited again, node by node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from gradcli.engine.autodiff.motion import Pull
from gradcli.engine.autodiff.paths import Paths
from gradcli.engine.autodiff.visits import LOOK, FullPass, Root, add
from gradcli.engine.tape.graph import Node

CHUNK = 256
"""Nodes between two looks, if fewer cotangents are pending."""


def first_loss(
    roots: Sequence[Root], paths: Paths, is_finite: Callable[[Any], bool]
) -> Node | None:
    """The youngest node on the paths that passes on a cotangent which is not finite, while its own
    is; None if there is none.

    Args:
        roots: Nodes with the cotangents from which the pass starts.
        paths: The paths of the pass.
        is_finite: True for a cotangent without nan and infinity; a list has those of several
            results.

    Raises:
        RunError: As of a pass.
    """
    order = paths.order[::-1]
    visits = _Visits(roots, paths)
    if any(node.hooks or not node.takes_batches for node in order):  # the program would see more
        return next(visits.losses(order, is_finite), None)
    start = 0
    while start < len(order):
        before = _copied(visits.pending)
        stop = start + max(CHUNK, len(before))
        if not visits.stays_finite(order[start:stop], is_finite):
            visits.pending.clear()
            visits.pending.update(before)
            node = next(visits.losses(order[start:stop], is_finite), None)
            if node is not None:
                return node
        start = stop
    return None


def _copied(pending: dict[Any, Any]) -> dict[Any, Any]:
    """The cotangents at one moment; the list of those of several results changes later."""
    return {node: [*c] if type(c) is list else c for node, c in pending.items()}


class _Visits(FullPass):
    """A pass in search of nan and infinity. It looks only closely at zeros beside infinite slopes:
    which of them contribute takes long to find out.
    """

    def __init__(self, roots: Sequence[Root], paths: Paths) -> None:
        self._arrived: dict[Node, Any] = {}
        self._closely = False
        super().__init__(roots, paths, paths.live, LOOK, self._arrived)

    def stays_finite(self, nodes: Sequence[Node], is_finite: Callable[[Any], bool]) -> bool:
        """Visit nodes; false if a cotangent is, or may be, not finite."""
        self._arrived.clear()
        try:
            self.visit(nodes)
        except _Suspect:
            return False
        return all(map(is_finite, chain(self._arrived.values(), self.pending.values())))

    def losses(self, nodes: Sequence[Node], is_finite: Callable[[Any], bool]) -> Iterator[Node]:
        """Visit nodes one by one; yield those that make what is not finite of what is."""
        self._closely = True
        pending = self.pending
        for node in nodes:
            g = pending.get(node)
            if g is None:
                continue
            before = {under: pending.pop(under, None) for under in node.edges if under is not None}
            self.visit([node])
            if is_finite(g) and not all(is_finite(pending.get(under)) for under in before):
                yield node
            for under, c in before.items():
                _put_before(pending, under, c)
        self._closely = False

    def reached(self, node: Node, g: Any, wanted: Sequence[bool], pull: Pull) -> Sequence[Any]:
        if not self._closely:
            raise _Suspect
        return super().reached(node, g, wanted, pull)


class _Suspect(Exception):
    """Raised at a zero beside an infinite slope."""


def _put_before(pending: dict[Any, Any], node: Node, c: Any) -> None:
    """Add a cotangent to those that arrived later."""
    if c is None:
        return
    later = pending.pop(node, None)
    pending[node] = c
    if type(later) is list:
        for i, part in enumerate(later):
            if part is not None:
                add(pending, node, i, part)
    elif later is not None:
        add(pending, node, 0, later)
