"""Results and diagnostics as JSON: one object, one line, keys in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gradcli.errors import Diagnostic
from gradcli.formats.texts.literal import literal, quote
from gradcli.results import Derivative, Graph, GraphResult, Kinked, RunResult, Several
from gradcli.source import Source, Span


def json_text(result: RunResult | Derivative | Several) -> str:
    """A result as the one-line JSON object that docs/commands.md describes."""
    return json_object(json_fields(result))


def graph_json(result: GraphResult, values: str) -> str:
    """A graph likewise, its values "full", those of large arrays by a "summary", or "none"."""
    fields = {"schema": quote("gradcli.graph/1"), **_graph_fields(result.graph, values)}
    return json_object({**fields, "warnings": array(map(warning_json, result.warnings))})


def json_fields(result: RunResult | Derivative | Several) -> dict[str, str]:
    """The fields of the object, written."""
    if isinstance(result, RunResult):
        return _run(result)
    return {
        "schema": quote(f"gradcli.{result.question}/1"),
        "output": _value(result.output),
        "value": _value(result.value),
        **{name: _value(value) for name, value in result.answer.items()},
        "warnings": array(map(warning_json, result.warnings)),
        **_kinks(getattr(result, "kinks", None)),
    }


def _kinks(found: Sequence[Kinked] | None) -> dict[str, str]:
    """The field of the kinks, if they were asked for."""
    if found is None:
        return {}
    objects = (
        json_object(
            {
                "op": quote(k.op),
                "line": literal(k.line),
                "column": literal(k.column),
                "argument": quote(k.argument),
                **{name: literal(getattr(k, name), json=True) for name in _OF_KINKS},
                "turns": array(map(quote, k.turns)),
            }
        )
        for k in found
    )
    return {"kinks": array(objects)}


_OF_KINKS = ("index", "at", "left", "right", "chosen", "jump")


def diagnostic_json(diagnostic: Diagnostic) -> str:
    """A diagnostic as a one-line JSON object; fields of a missing place are null."""
    labels = [
        json_object({**_range(diagnostic.source, label.span), "text": quote(label.text)})
        for label in diagnostic.labels
    ]
    if diagnostic.label:
        main = _range(diagnostic.source, diagnostic.span)
        labels.insert(0, json_object({**main, "text": quote(diagnostic.label)}))
    source = diagnostic.source
    return json_object(
        {
            "severity": quote(diagnostic.severity),
            "code": quote(diagnostic.code),
            "message": quote(diagnostic.message),
            "file": literal(source.name if source and diagnostic.span else None),
            **_range(source, diagnostic.span),
            "labels": array(labels),
            "notes": array(map(quote, diagnostic.notes)),
            "help": literal(diagnostic.help),
        }
    )


def _run(result: RunResult) -> dict[str, str]:
    fields = {
        "schema": quote("gradcli.run/1"),
        "output": quote(result.output),
        "result": literal(result.result, json=True),
        "values": _value(result.values),
        "grad": _value(result.grad),
        "printed": array(map(quote, result.printed)),
        "warnings": array(map(warning_json, result.warnings)),
    }
    if result.graph is not None:
        fields["graph"] = json_object(_graph_fields(result.graph, "full"))
    return {**fields, **_kinks(result.kinks)}


def _graph_fields(graph: Graph, values: str) -> dict[str, str]:
    nodes = (
        json_object(
            {
                "id": literal(node.id),
                "op": quote(node.op),
                "name": quote(node.name),
                "variable": quote(node.variable),
                "shape": literal(node.shape),
                "value": _told(node.value, values),
                "grad": _told(node.grad, values),
                "line": literal(node.line),
                "column": literal(node.column),
                "count": literal(node.count),
                "expression": quote(node.expression),
                "part_of": literal(node.part_of),
            }
        )
        for node in graph.nodes
    )
    edges = (
        json_object({"from": str(edge.source), "to": str(edge.target), "input": str(edge.input)})
        for edge in graph.edges
    )
    return {
        "root": literal(graph.root),
        "nodes": array(nodes),
        "edges": array(edges),
        "missing": literal(graph.missing or None),
    }


_FEW = 12  # elements of an array that a summary has one by one


def _told(value: Any, values: str) -> str:
    """A value, or as much of it as is wanted."""
    if values == "none":
        return "null"
    if values == "summary" and getattr(value, "size", 0) > _FEW:
        edges = {"min": value.min(), "max": value.max(), "mean": value.mean()}
        return json_object({name: literal(x.item(), json=True) for name, x in edges.items()})
    return literal(value, json=True)


def warning_json(diagnostic: Diagnostic) -> str:
    """A warning as the results hold it: code, message and place."""
    file, line, column = diagnostic.place or (None, None, None)
    return json_object(
        {
            "code": quote(diagnostic.code),
            "message": quote(diagnostic.message),
            "file": literal(file),
            "line": literal(line),
            "column": literal(column),
        }
    )


def _range(source: Source | None, span: Span | None) -> dict[str, str]:
    start = source.position(span.start) if source and span else (None, None)
    end = source.position(span.end) if source and span else (None, None)
    names = ("line", "column", "end_line", "end_column")
    return dict(zip(names, map(literal, (*start, *end)), strict=True))


def _value(value: Any) -> str:
    """A value, or an object of those by name."""
    if isinstance(value, dict):
        return json_object({name: _value(part) for name, part in value.items()})
    return literal(value, json=True)


def json_object(fields: Mapping[str, str]) -> str:
    """A JSON object of fields whose values are written already."""
    return f"{{{','.join(f'{quote(name)}:{text}' for name, text in fields.items())}}}"


def array(texts: Iterable[str]) -> str:
    """A JSON array of elements that are written already."""
    return f"[{','.join(texts)}]"
