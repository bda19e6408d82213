"""Find the nodes of the graph that a pass has to visit."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from operator import attrgetter

from gradcli.engine.tape.graph import Node

age = attrgetter("seq")
"""Sorting key of nodes: the oldest first is a topological order."""


class Paths:
    """The nodes that roots depend on, the oldest first (`order`), and those among them that depend
    on the ends, ends included (`live`). `whole` is true if every edge is known to lead to an end.
    """

    __slots__ = ("order", "live", "whole")

    def __init__(self, order: list[Node], live: set[Node], *, whole: bool = False) -> None:
        self.order = order
        self.live = live
        self.whole = whole


def between(roots: Iterable[Node], ends: Collection[Node]) -> Paths:
    """The paths from ends to roots. A node older than the oldest end cannot depend on any, and is
    left out.
    """
    oldest = min((end.seq for end in ends), default=0)
    seen = set(roots)
    order = [*seen]
    whole = True
    for node in order:  # the loop extends it
        made_of_none = True
        for under in node.edges:
            if under is not None:
                made_of_none = False
                if under not in seen:
                    if under.seq >= oldest:
                        seen.add(under)
                        order.append(under)
                    else:
                        whole = False
        if made_of_none and node not in ends:
            whole = False
    order.sort(key=age)
    if whole:
        seen.update(ends)
        return Paths(order, seen, whole=True)
    live = set(ends)
    for node in order:
        if not live.isdisjoint(node.edges):
            live.add(node)
    return Paths(order, live)


def reachable(roots: Iterable[Node], oldest: int = 0) -> set[Node]:
    """The roots and the nodes that they depend on, none older than number `oldest`."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        for under in stack.pop().edges:
            if under is not None and under not in seen and under.seq >= oldest:
                seen.add(under)
                stack.append(under)
    return seen


def whole(roots: Iterable[Node]) -> Paths:
    """The paths to roots from all that they were made of."""
    live = reachable(roots)
    return Paths(sorted(live, key=age), live, whole=True)


def visible(roots: Iterable[Node]) -> Paths:
    """The paths to roots from all that the program sees."""
    seen = set(roots)
    order = [*seen]
    whole = True
    for node in order:  # the loop extends it
        for under in node.edges:
            if under is not None and under not in seen:
                if under.visible:
                    seen.add(under)
                    order.append(under)
                else:
                    whole = False
    order.sort(key=age)
    return Paths(order, seen, whole=whole)


def lead_elsewhere(roots: Iterable[Node], points: Collection[Node]) -> bool:
    """True if roots were made from anything that may be differentiated beside the points."""
    oldest = min((point.seq for point in points), default=0)
    seen = set(roots)
    stack = list(seen)
    while stack:
        node = stack.pop()
        if node not in points and (not node.edges or node.seq < oldest):
            return True
        for under in node.edges:
            if under is not None and under not in seen:
                seen.add(under)
                stack.append(under)
    return False
