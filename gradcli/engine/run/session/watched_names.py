"""The top-level names that the command differentiates, and their values in a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.run.session.evaluator import Evaluator, as_numbers, copied
from gradcli.engine.tape.graph import Node, Watchpoint, seen
from gradcli.engine.tape.tensor import AccumulateGrad, Number, Tensor, node_of

NOTHING: Mapping[str, Any] = {}


class WatchedNames:
    """The names that a run watches.

    Fields:
        names: the names.
        asked: those that the user has named: their ints become floats.
        moved: plain data that replaces their values, for a run at another point.
        nodes: their points in the graph.
        points: their values there.
        leaves: those that hold a leaf which requires grad.
    """

    def __init__(
        self,
        names: frozenset[str] = frozenset(),
        asked: frozenset[str] = frozenset(),
        moved: Mapping[str, Any] = NOTHING,
    ) -> None:
        self.names = names
        self.asked = asked
        self.moved = moved
        self.nodes: dict[str, Node] = {}
        self.points: dict[str, Any] = {}
        self.leaves: set[str] = set()
        self._held: list[tuple[str, Tensor]] = []

    def watch(self, evaluator: Evaluator, name: str, value: Any) -> Any:
        """The value of a top-level name, made a point to differentiate at if it is watched."""
        if name not in self.names:
            return value
        if name in self.moved:
            value = _in_place_of(value, self.moved[name])
        if type(value) is list:
            watched = self.watch(evaluator, name, evaluator.tensor(value))
            return as_numbers(watched) if name in self.nodes else value
        watched = value
        if type(value) is float or (type(value) is int and name in self.asked):
            watched = Number(float(value))
        elif type(value) is Number:  # another name may hold the same number
            watched = Number(value.data, value.node, value.index)
        elif (
            isinstance(value, Tensor)
            and value.dtype.startswith(("int", "uint"))
            and name in self.asked
        ):
            watched = Tensor(value.data * 1.0)
        if not isinstance(watched, Tensor) or not watched.dtype.startswith("float"):
            return value
        self._held.append((name, watched))
        node = node_of(watched)
        if type(seen(node)) is AccumulateGrad:
            self.leaves.add(name)
        if type(node) is AccumulateGrad and node not in self.nodes.values():
            self._point(name, node, watched)
            return watched
        point = Watchpoint(name, node, watched.index, None)
        point.out = copied(watched.data) if evaluator.keep else None
        watched.node, watched.index = point, 0
        self._point(name, point, watched)
        return watched

    def watch_computed(self, evaluator: Evaluator, name: str, value: Any) -> Any:
        """Watch a name that is no input. If the command did not ask for it, only a leaf that
        requires grad is watched, from then on: computed values are no inputs.
        """
        if name in self.asked:
            return self.watch(evaluator, name, value)
        if name in self.names and type(value) is Tensor:
            if type(seen(node_of(value))) is AccumulateGrad:
                return self.watch(evaluator, name, value)
            self._held.append((name, value))
        return value

    def leaf_changed(self, x: Tensor) -> None:
        """A tensor requires grad from now on, or no more: top-level names may hold it."""
        for name, value in self._held:
            if value is not x:
                continue
            if not x.requires_grad:
                self.leaves.discard(name)
                continue
            self.leaves.add(name)
            if name not in self.points and x.node is not None:
                self._point(name, x.node, x)

    def hold_leaves(self, values: Mapping[str, Any]) -> None:
        """Watch the names that hold a leaf when the run ends, however often they were assigned. Of
        several names for one leaf the first counts.

        Args:
            values: The top-level names with their values, in their order.
        """
        for name, value in values.items() if self.names else ():
            if name not in self.names or name in self.nodes:
                continue
            if type(value) is not Tensor or not value.requires_grad:
                continue
            node = node_of(value)
            if type(node) is AccumulateGrad and node not in self.nodes.values():
                self.leaves.add(name)
                self._point(name, node, value)

    def _point(self, name: str, node: Node, x: Tensor) -> None:
        self.nodes[name] = node
        self.points[name] = Tensor(copied(x.data))


def _in_place_of(value: Any, data: Any) -> Any:
    """Moved data as a value of the kind of the one that it replaces: a list, a number, or the same
    tensor, which other names may hold, too.
    """
    if type(value) is list:
        return data.tolist()
    if not isinstance(value, Tensor):
        return data
    data = copied(data)  # the program may change it in place
    if type(value) is Number or value.view is not None:
        return type(value)(data, value.node, value.index)
    value.data = data
    return value
