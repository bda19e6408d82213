"""autograd's `const_graph`: a function that runs once, whose recorded graph answers later calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.functions import called
from gradcli.engine.run.derivatives.own import OwnNode
from gradcli.engine.run.derivatives.transforms import Traced, Tree, mapped, paired, values_in
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import CompositeNode, Node, Watchpoint
from gradcli.engine.tape.tensor import OpNode, Tensor, node_of
from gradcli.engine.values.carrier import Like
from gradcli.errors import run_error


class _Gone(Exception):
    """A step cannot be done again: the graph does not have what it needs."""


class Replayed:
    """A function of the program. Its first call runs it and records it; each later one does the
    steps that depend on its arguments again, primitives among them. If the graph lacks a value that
    such a step needs, the function itself runs again.
    """

    said = "a function"

    def __init__(self, session: Session, function: Any) -> None:
        self.session = session
        self.function = function
        self.__name__ = getattr(function, "__name__", "const_graph")
        self.run: Traced | None = None
        self.steps: list[Node] = []

    def __call__(self, *args: Any) -> Any:
        if self.run is None:
            return self._first(args)
        try:
            return self._again(args)
        except _Gone:
            return called(self.function, args, "const_graph")

    def _first(self, args: Sequence[Any]) -> Tree:
        run = Traced(self.session, self.function, args, range(len(args)), "const_graph")
        self.steps = _reached(run)
        if not self.steps:
            message = "the function does not depend on its arguments"
            raise run_error("not-differentiable", message, raises=Exception)
        self.run = run
        return run.outside(run.out)

    def _again(self, args: Sequence[Any]) -> Tree:
        run = self.run
        assert run is not None
        values: dict[Node, Any] = {}
        for point, given in paired(tuple(run.arguments), tuple(args)):
            if isinstance(point, Tensor) and isinstance(node := node_of(point), Watchpoint):
                values[node] = self.session.tensor(given)
        for node in self.steps:
            if node not in values:
                values[node] = self._done(node, values)

        def found(out: Any) -> Any:
            node = node_of(out) if isinstance(out, Tensor) else None
            return out if node not in values else _of(values[node], out.index)

        return mapped(found, run.out)

    def _done(self, node: Node, values: dict[Node, Any]) -> Any:
        given = [
            None if edge is None else _of(values[edge], index)
            for edge, index in zip(node.edges, node.outputs, strict=True)
        ]
        if isinstance(node, CompositeNode):
            return tuple(given) if type(node.like) is tuple else given[0]
        if isinstance(node, Watchpoint):
            return given[0]
        if isinstance(node, OwnNode):
            before = node.context.fields.get("values", ())
            if len(before) != len(given):
                raise _Gone
            return node.function.apply(_with(before, given, node), None)
        if not isinstance(node, OpNode):
            raise _Gone
        return self.session.do(ops[node.op.name], _with(node.args, given, node), node.params)


def _reached(run: Traced) -> list[Node]:
    """The nodes between the points and the results, in the order of recording."""
    found: set[Node] = set()
    made = (node_of(out) for out in values_in(run.out) if isinstance(out, Tensor))
    pending = [node for node in made if node is not None]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            if node not in run.points:
                pending += [edge for edge in node.edges if edge is not None]
    return sorted(found, key=lambda node: node.seq) if not found.isdisjoint(run.points) else []


def _of(value: Any, index: int) -> Any:
    """The result of a node that an edge leads to."""
    return value[index] if isinstance(value, tuple) else value


def _with(before: Sequence[Any], given: Sequence[Any], node: Node) -> list[Any]:
    """Arguments of a step: new ones behind its edges, the others as they were."""
    pairs = zip(before, given, node.edges, strict=True)
    found = [old if edge is None else new for old, new, edge in pairs]
    if any(isinstance(value, Like) for value in found):
        raise _Gone
    return found
