"""Partial derivatives at the edges of a drawn graph, and the graph as PNG and PDF."""

import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from gradcli import load
from gradcli.program import Options
from gradcli.render.graphs.dot import dot
from gradcli.render.graphs.mermaid import mermaid
from gradcli.render.graphs.picture import Extent, picture
from gradcli.render.graphs.svg import drawing, svg
from gradcli.render.graphs.tree import tree
from gradcli.render.text import plain_text

SCALARS = {
    "two paths": "param a = 2.0\nparam b = 1.0\nc = a + b\nd = b + 1\nc * d",
    "a square": "param x = 3.0\nx * x + sin(x)",
    "a call of several operations": "param x = 0.5\ny = softplus(x) * x\nsum([y, y * x, x])",
    "a function": "param x = 0.5\ndef f(z):\n    return exp(z) / z\nf(x) - f(2 * x) * x",
    "a loop": "param x = 0.5\ny = x\nfor i in range(3):\n    y = sin(y) + x * y\ny",
}


def drawn(text, extent=Extent()):  # noqa: B008
    graph = load(text).graph(
        detailed=lambda graph: picture(graph, extent).steps, options=Options(seed=1)
    )
    return picture(graph.graph, extent).with_partials(graph.graph)


@pytest.mark.parametrize("text", SCALARS.values(), ids=SCALARS)
def test_gradients_follow_from_the_partials_by_the_chain_rule(text):
    found = drawn(text)
    edges = {(user, under) for user, box in found.boxes.items() for under in box.inputs}
    assert found.partials.keys() == edges
    for id, box in found.boxes.items():
        users = [user for user, under in edges if under == id]
        whole = sum(found.boxes[user].node.grad * sum(found.partials[user, id]) for user in users)
        assert id == found.root or box.node.grad == pytest.approx(whole, rel=1e-12)


def test_an_operation_made_of_several_has_them_by_its_operands():
    text = """import torch
w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
b = torch.ones(2, requires_grad=True)
torch.addmm(b, torch.tensor([[5.0, 6.0]]), w).sum()"""
    found = drawn(text)
    assert found.partials.keys() == {
        (user, under) for user, box in found.boxes.items() for under in box.inputs
    }
    by_name = {found.boxes[under].node.variable: x for (_, under), (x,) in found.partials.items()}
    assert by_name["b"].tolist() == [[[1.0, 0.0], [0.0, 1.0]]]
    assert by_name["w"].tolist() == [[[[5.0, 0.0], [6.0, 0.0]], [[0.0, 5.0], [0.0, 6.0]]]]


EDGES = ["-0.989992", "1", "1", "6"]


def test_every_language_has_them_at_its_edges():
    found = drawn(SCALARS["a square"])
    assert sorted(re.findall(r'-> n\d+ \[label="(.*?)"\]', dot(found, 6))) == EDGES
    assert sorted(re.findall(r'-->\|"(.*?)"\|', mermaid(found, 6))) == EDGES
    root = ElementTree.fromstring(svg(found, 6))
    space = "{http://www.w3.org/2000/svg}"
    at = [g for g in root.iter(f"{space}g") if g.get("class") == "partial"]
    assert sorted(g.find(f"{space}text").text for g in at) == EDGES
    assert plain_text(tree(found, precision=6, width=None)).splitlines() == [
        "                op            value    gradient  partial    line",
        "x * x + sin(x)  AddBackward0  9.14112  1                    2",
        "├─ x * x        MulBackward0  9        1          1         2",
        "│  └─ x                       3        5.01001    6         1",
        "└─ sin(x)       SinBackward0  0.14112  1          1         2",
        "   └─ ↑ x                                        -0.989992",
    ]


def test_json_has_one_for_each_edge(cli):
    status, out, _ = cli("graph", "x * x + sin(x)", "x=3", "--partials", "--json")
    found = json.loads(out)
    assert status == 0
    assert [edge["partial"] for edge in found["edges"]] == pytest.approx(
        [1, 1, -0.9899924966004454, 6, 6]
    )
    plain = json.loads(cli("graph", "x * x", "x=3", "--json")[1])
    assert all("partial" not in edge for edge in plain["edges"])


def test_the_turns_of_a_loop_have_none_and_say_which_turn_is_shown():
    text = "param x = 1.0\nfor i in range(100): x = x * 1.01\nexp(x)"
    found = drawn(text)
    (fold,) = (box for box in found.boxes.values() if box.turns)
    assert {user for user, _ in found.partials} == {found.root}
    for language in (dot, mermaid, svg):
        assert len(re.findall(r"last turn shown", language(found, 6))) >= 1
    told = plain_text(tree(found, precision=6, width=None)).splitlines()[-1]
    assert told == "×: all turns of a loop; value and gradient are those of the last turn"
    once = load("param x = 1.0\nexp(x)").graph(x=fold.node.value)
    assert once.value == pytest.approx(found.boxes[found.root].node.value, rel=1e-15)


def test_texts_at_edges_do_not_cover_each_other_and_stay_inside():
    terms = " + ".join(f"sin({k} * x) * y" for k in range(1, 9))
    placed = drawing(drawn(f"param x = 0.1\nparam y = 2.0\n{terms}"), 6)
    boxes = [label.place for label in placed.labels]
    assert len(boxes) > 30
    for i, a in enumerate(boxes):
        assert a.width / 2 <= a.x <= placed.layout.width - a.width / 2
        for b in boxes[:i]:
            apart = abs(a.x - b.x) >= (a.width + b.width) / 2
            assert apart or abs(a.y - b.y) >= (a.height + b.height) / 2


# --- PNG and PDF ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_picture_is_the_same_each_time(form, start, tmp_path, cli):
    pytest.importorskip("matplotlib.figure")
    path = tmp_path / f"graph.{form}"
    asked = ["graph", "y = '$a' == '$b'; x * x + sin(x)", "x=3", "--partials", "-o", str(path)]
    assert cli(*asked) == (0, "", "")
    first = path.read_bytes()
    assert first.startswith(start)
    assert cli(*asked)[0] == 0
    assert path.read_bytes() == first


def test_the_text_of_a_pdf_is_text(tmp_path, cli):
    pytest.importorskip("matplotlib.figure")
    path = tmp_path / "graph.pdf"
    assert cli("graph", "dose_total * 2", "dose_total=3", "-o", str(path))[0] == 0
    text = path.read_bytes()
    assert b"/Type0" in text  # fonts with the characters of their glyphs, not outlines
    assert b"/ToUnicode" in text


def test_a_wide_graph_has_fewer_dots_an_inch(tmp_path, cli):
    pytest.importorskip("matplotlib.figure")
    path = tmp_path / "graph.png"
    text = "x = 1.0\ny = x\n" + "".join(f"y = sin(y) * {k}.5 + y\n" for k in range(60)) + "y"
    asked = ["graph", "-e", text, "--wrt", "x", "--nodes", "150", "-o", str(path)]
    assert cli(*asked)[0] == 0
    width, height = (int.from_bytes(path.read_bytes()[k : k + 4]) for k in (16, 20))
    assert 0 < width < height <= 12_000


def test_without_matplotlib_the_svg_is_named(tmp_path):
    text = "import sys; sys.modules['matplotlib'] = None; import gradcli.__main__ as g; g.main()"
    line = [sys.executable, "-c", text, "graph", "x * x", "x=2", "-o", str(tmp_path / "g.png")]
    found = subprocess.run(line, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "error[missing-extra]" in found.stderr
    assert "`-o FILE.svg` draws the graph without it" in found.stderr
