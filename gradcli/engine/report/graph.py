"""The recorded graph as plain data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from gradcli.engine.report.details import details
from gradcli.engine.report.leaves import tensor_names
from gradcli.engine.report.values import plain_value
from gradcli.engine.tape.graph import Node, NodeOfOp, Site, Watchpoint
from gradcli.engine.tape.tensor import AccumulateGrad, OpNode, Tensor
from gradcli.engine.values.data import NUMBERS
from gradcli.results import Graph, GraphEdge, GraphNode
from gradcli.source import Source, Span

_LONGEST = 120  # characters of an expression: a sum of a million terms has a text as long


def recorded_graph(
    root: Node,
    cotangents: Mapping[Node, Any],
    values: Mapping[str, Any],
    source: Source,
    missing: str,
    detailed: Callable[[Graph], Mapping[int, Collection[int]]],
) -> Graph:
    """The graph behind a recorded value, the newest op first.

    Args:
        root: The node of the value.
        cotangents: The derivative of the value by each node, where known.
        values: Top-level names and their values, which give leaves their names.
        source: The program's text.
        missing: Why derivatives are not known.
        detailed: Chooses the numbers of the nodes whose details are wanted, each with those of
            the nodes that are one step together with it.
    """
    inputs = _below(_standing_for(root))
    ids = {node: i for i, node in enumerate(sorted(inputs, key=lambda node: -node.seq))}
    names = tensor_names(values)
    texts = _Texts(source)
    heads: dict[Any, int] = {}
    nodes = []
    edges = []
    for node, number in ids.items():
        under = inputs[node]
        nodes.append(_node(node, number, cotangents.get(node), names, texts, heads))
        edges += [GraphEdge(number, ids[n], i) for i, n in enumerate(under) if n is not None]
    graph = Graph(ids[_standing_for(root)], tuple(nodes), tuple(edges), missing, {})
    chosen = detailed(graph)
    if not chosen:
        return graph
    by_number = {number: node for node, number in ids.items()}
    steps = {
        by_number[number]: {by_number[part] for part in parts} for number, parts in chosen.items()
    }
    found = details(steps, cotangents, lambda node: ids.get(_standing_for(node)))
    return Graph(graph.root, graph.nodes, graph.edges, missing, found)


# --- the nodes that are shown ----------------------------------------------------------------


def _below(root: Node) -> dict[Node, list[Node | None]]:
    """The nodes that are shown, each with its operands."""
    found: dict[Node, list[Node | None]] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = [u if u is None else _standing_for(u) for u in _inputs(node)]
            stack += [under for under in found[node] if under is not None]
    return found


def _inputs(node: Node) -> list[Node | None]:
    """The operands of a node to show. Points that only the command watches end at a leaf, and an
    item of an input that is a list has no operands.
    """
    if type(node) is AccumulateGrad:
        return [n for n in node.edges if not (type(n) is Watchpoint and not n.edges)]
    if type(node) is not Watchpoint and node.op_name in _OF_ITEMS and _item(node) is not None:
        return []
    return [under for under, _ in node.shown]


def _standing_for(node: Node) -> Node:
    """The node that is shown in place of another. All ops that turn an input list into a tensor are
    shown as that input; a point that only the command watches and that has no name of its own is
    shown as the node that it watches.
    """
    while type(node) is not OpNode or node.op.name == "stack":  # most nodes
        under = node.edges[0] if type(node) is Watchpoint and node.edges else None
        if under is not None and _name(node) in ("", _name(under)):
            node = under
            continue
        if isinstance(node, NodeOfOp) and node.op_name == "stack":
            item = _item(node)
            if item is not None and not item[1]:
                return item[0]
        break
    return node


_OF_ITEMS = ("getitem", "stack")  # ops on lists that are inputs, which the program does not contain


def _item(node: Node) -> tuple[Watchpoint, tuple[int, ...]] | None:
    """The input list that has a node as an item, and the item's index."""
    if type(node) is Watchpoint:
        return None if node.edges else (node, ())
    if not isinstance(node, NodeOfOp):
        return None
    if node.op_name == "getitem":
        at, under = node.params["index"], node.edges[0]
        if node.site is not None or type(at) is not int or under is None:
            return None
        found = _item(under)
        return found and (found[0], (*found[1], at))
    if node.op_name != "stack" or node.params["dim"] != 0:
        return None
    first = _item(node.edges[0]) if node.edges and node.edges[0] is not None else None
    if first is None or not first[1]:
        return None
    given, place = first[0], first[1][:-1]
    if len(node.edges) != given.out.shape[len(place)]:
        return None
    for i, under in enumerate(node.edges):
        if under is None or _item(under) != (given, (*place, i)):
            return None
    return given, place


# --- a node as data --------------------------------------------------------------------------


class _Texts:
    """The program's text at each op's place, looked up once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._places: dict[Span, tuple[str, int, int]] = {}

    def at(self, span: Span) -> tuple[str, int, int]:
        """The text at a place, on one line, with its line and column."""
        found = self._places.get(span)
        if found is None:
            text = self._source.text[span.start : min(span.end, span.start + 4 * _LONGEST)]
            text = " ".join(text.split())
            if len(text) > _LONGEST:
                text = f"{text[: _LONGEST - 1]}…"
            found = self._places[span] = (text, *self._source.position(span.start))
        return found


def _node(
    node: Node,
    number: int,
    grad: Any,
    names: Mapping[int, str],
    texts: _Texts,
    heads: dict[Any, int],
) -> GraphNode:
    site = node.site
    expression, line, column = ("", 0, 0) if site is None else texts.at(site.span)
    value = node.out
    op, name = node.op_name, node.name()
    variable = _name(node)
    if isinstance(node, AccumulateGrad):
        leaf = node.variable
        variable = names.get(id(leaf), "")
        value = leaf.data if value is None and leaf is not None else value
    item = _item(node) if op in _OF_ITEMS else None
    if item is not None:
        given, place = item
        op, name = "", given.name()
        variable = given.variable + "".join(f"[{i}]" for i in place)
        value = given.out[place]
    if not op and variable:
        expression = ""
    whole = None if site is None else site.whole
    if whole is not None and whole.slope:
        expression = f"∂({expression})"
    return GraphNode(
        number,
        op,
        name,
        variable,
        _shape(value, node),
        _plain(value),
        _plain(grad),
        line,
        column,
        1,
        expression,
        None if whole is None else heads.setdefault(whole, number),
        "" if whole is None else whole.name,
    )


def _name(node: Node) -> str:
    """The program's name for the value of a node, "" if it has none."""
    if type(node) is Watchpoint:
        return node.variable
    site: Site | None = node.site
    return "" if site is None else site.variable


def _shape(value: Any, node: Node) -> tuple[int, ...]:
    if type(value) in NUMBERS:
        return ()
    if isinstance(value, tuple):
        return (len(value),)
    if hasattr(value, "shape"):
        return tuple(value.shape)
    return tuple(getattr(node.like, "shape", ()))


def _plain(value: Any) -> Any:
    if value is None or type(value) in NUMBERS:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return plain_value(Tensor(value))
