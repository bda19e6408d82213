"""The recorded graph as JSON."""

from __future__ import annotations

from typing import Any

from gradcli.formats.texts.json_text import array, fields_json, json_object, warning_json
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.writers.forms import Parts
from gradcli.results import Graph, GraphEdge, GraphResult


class GraphParts(Parts):
    """Nodes and edges."""

    result: GraphResult

    def json(self) -> dict[str, str]:
        return {
            "schema": quote("gradcli.graph/1"),
            **graph_fields(self.result.graph, self.look.values),
            "warnings": array(map(warning_json, self.result.warnings)),
        }


def graph_fields(graph: Graph, values: str) -> dict[str, str]:
    """The JSON fields of a graph. `values` is "full", "summary" for large arrays, or "none"."""
    nodes = (
        json_object(
            {
                **fields_json(node, ("id", "op", "name", "variable", "shape")),
                "value": _told(node.value, values),
                "grad": _told(node.grad, values),
                **fields_json(node, ("line", "column", "count", "expression", "part_of")),
            }
        )
        for node in graph.nodes
    )
    edges = (
        json_object(
            {
                "from": str(edge.source),
                "to": str(edge.target),
                "input": str(edge.input),
                **_partial(edge, graph, values),
            }
        )
        for edge in graph.edges
    )
    return {
        "root": literal(graph.root),
        "nodes": array(nodes),
        "edges": array(edges),
        "missing": literal(graph.missing or None),
    }


def _partial(edge: GraphEdge, graph: Graph, values: str) -> dict[str, str]:
    """The partial derivative at an edge, if the graph has it."""
    more = graph.details.get(edge.source)
    found = dict(more.partials if more is not None else ())
    return {"partial": _told(found[edge.target], values)} if edge.target in found else {}


_FEW = 12  # elements: smaller arrays are not summarized


def _told(value: Any, values: str) -> str:
    """A value as JSON, in full, summarized or null."""
    if values == "none":
        return "null"
    if values == "summary" and getattr(value, "size", 0) > _FEW:
        edges = {"min": value.min(), "max": value.max(), "mean": value.mean()}
        return json_object({name: literal(x.item(), json=True) for name, x in edges.items()})
    return literal(value, json=True)
