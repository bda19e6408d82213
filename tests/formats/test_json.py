import json
import math
from types import SimpleNamespace

import numpy as np

from gradcli.errors import Diagnostic, Label
from gradcli.formats.texts.json_text import diagnostic_json
from gradcli.formats.writers.forms import FORMS, parts_of
from gradcli.results import (
    Binding,
    GradResult,
    Graph,
    GraphEdge,
    GraphNode,
    GraphResult,
    Names,
    RunResult,
)
from gradcli.source import Source, Span

FIT = GradResult("loss", 1.6666666666666667, {"w": np.array([1.3333333333333333, 2.0])}, {})
SOURCE = Source("f.grad", "x = 1\ny = log(x)\n")
WARNING = Diagnostic("not-finite", "result is nan", SOURCE, Span(10, 16), severity="warning")


def written(result, form="json", **asked):
    look = SimpleNamespace(values="full")
    look.__dict__.update(asked)
    return (
        FORMS[form]
        .whole(parts_of(result.view, result, look), "")
        .removesuffix("\n" * (form == "json"))
    )


def names(result):
    return Names(*(getattr(result, field) for field in result._fields))


def test_gradient_in_every_form():
    assert written(FIT) == (
        '{"schema":"gradcli.grad/1","output":"loss","value":1.6666666666666667,'
        '"grad":{"w":[1.3333333333333333,2.0]},"warnings":[]}'
    )
    assert written(FIT, "plain") == "loss\t1.6666666666666667\ngrad.w\t[1.3333333333333333,2.0]\n"
    assert written(FIT, "raw") == "1.3333333333333333\n2.0\n"


def test_run_in_every_form():
    result = RunResult(
        "y",
        math.nan,
        (Binding("x", 1.0, 2.0), Binding("y", math.nan, None, "<LogBackward0>", True)),
        ("hello", 'say "hi"'),
        (WARNING,),
    )
    assert written(result) == (
        '{"schema":"gradcli.run/1","output":"y","result":"NaN","values":{"x":1.0,"y":"NaN"},'
        '"grad":{"x":2.0},"printed":["hello","say \\"hi\\""],"warnings":[{"code":"not-finite",'
        '"message":"result is nan","file":"f.grad","line":2,"column":5}]}'
    )
    assert written(result, "plain") == "nan\n"
    assert written(names(result), "plain") == "x\t1.0\ny\tnan\n"


def test_a_run_without_result_has_null_and_prints_nothing():
    result = RunResult("result", None, ())
    assert json.loads(written(result))["result"] is None
    assert written(result, "plain") == ""
    assert written(result, "raw") == ""


def test_graph_names_its_fields_in_order():
    graph = Graph(
        0,
        (
            GraphNode(0, "mul", "MulBackward0", "e", (), 6.0, 1.0, 5, 3),
            GraphNode(1, "", "AccumulateGrad", "a", (2,), np.array([1.0, math.inf]), None, 1, 1),
        ),
        (GraphEdge(0, 1, 0),),
    )
    assert written(GraphResult("e", 6.0, graph)) == (
        '{"schema":"gradcli.graph/1","root":0,"nodes":['
        '{"id":0,"op":"mul","name":"MulBackward0","variable":"e","shape":[],"value":6.0,'
        '"grad":1.0,"line":5,"column":3,"count":1,"expression":"","part_of":null},'
        '{"id":1,"op":"","name":"AccumulateGrad","variable":"a","shape":[2],'
        '"value":[1.0,"Infinity"],"grad":null,"line":1,"column":1,"count":1,'
        '"expression":"","part_of":null}],'
        '"edges":[{"from":0,"to":1,"input":0}],"missing":null,"warnings":[]}'
    )
    run = json.loads(written(RunResult("e", 6.0, (), graph=graph)))
    assert list(run)[-1] == "graph"
    assert list(run["graph"]) == ["root", "nodes", "edges", "missing"]


def test_the_values_of_a_graph_are_told_as_far_as_they_are_wanted():
    nodes = (
        GraphNode(0, "mul", "MulBackward0", "e", (3,), np.array([1.0, 2.0, 3.0]), 1.0, 5, 3),
        GraphNode(1, "", "AccumulateGrad", "a", (99,), np.arange(99.0), None, 1, 1),
    )
    result = GraphResult("e", 6.0, Graph(0, nodes, ()))

    def values(wanted):
        nodes = json.loads(written(result, values=wanted))["nodes"]
        return [(node["value"], node["grad"]) for node in nodes]

    assert values("none") == [(None, None), (None, None)]
    short = {"min": 0.0, "max": 98.0, "mean": 49.0}
    assert values("summary") == [([1.0, 2.0, 3.0], 1.0), (short, None)]
    assert values("full") == [([1.0, 2.0, 3.0], 1.0), ([*map(float, range(99))], None)]


def test_diagnostic_json_has_every_field():
    diagnostic = Diagnostic(
        "shape-mismatch",
        "sizes differ",
        SOURCE,
        Span(10, 16),
        label="here",
        labels=[Label(Span(0, 1), "`x`")],
        notes=["a note"],
        help="a way out",
    )
    assert json.loads(diagnostic_json(diagnostic)) == {
        "severity": "error",
        "code": "shape-mismatch",
        "message": "sizes differ",
        "file": "f.grad",
        "line": 2,
        "column": 5,
        "end_line": 2,
        "end_column": 11,
        "labels": [
            {"line": 2, "column": 5, "end_line": 2, "end_column": 11, "text": "here"},
            {"line": 1, "column": 1, "end_line": 1, "end_column": 2, "text": "`x`"},
        ],
        "notes": ["a note"],
        "help": "a way out",
    }


def test_diagnostic_json_without_a_place_has_nulls():
    found = json.loads(diagnostic_json(Diagnostic("usage", "no command")))
    assert [found[k] for k in ("file", "line", "column", "end_line", "end_column", "help")] == [
        None
    ] * 6
