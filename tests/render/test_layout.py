"""Where the boxes of a graph stand: none lies on another, and no edge goes through one."""

import random
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from support.pages.graph_views import recorded

from gradcli import load
from gradcli.render.graphs.layout import GAP_X, layout, spread
from gradcli.render.graphs.picture import picture
from gradcli.render.graphs.svg import svg


def drawn(count, seed, back=0):
    """A random graph with sizes of its boxes: what each uses comes soon after it."""
    r = random.Random(seed)
    inputs = {0: []}
    for node in range(1, count):
        inputs[node] = []
        for user in {max(node - 1 - int(r.expovariate(0.3)), 0) for _ in range(r.choice((1, 2)))}:
            inputs[user].append(node)
    for _ in range(back):
        inputs[r.randrange(count // 2, count)].append(r.randrange(count // 2))
    sizes = {node: (r.uniform(40, 240), r.uniform(30, 100)) for node in inputs}
    return sizes, inputs


@pytest.mark.parametrize(
    ("count", "back"), [(1, 0), (2, 0), (5, 0), (5, 2), (20, 3), (50, 0), (50, 5), (150, 5)]
)
def test_no_boxes_touch_and_no_edge_crosses_one(count, back):
    sizes, inputs = drawn(count, count, back)
    found = layout(sizes, inputs, 0)
    boxes = [(p.x, p.y, p.width / 2, p.height / 2) for p in found.places.values()]
    assert found.places.keys() == sizes.keys()
    for i, (x, y, w, h) in enumerate(boxes):
        assert w - 1e-6 <= x <= found.width - w + 1e-6
        assert h - 1e-6 <= y <= found.height - h + 1e-6
        for x2, y2, w2, h2 in boxes[:i]:
            assert abs(x - x2) >= w + w2 + GAP_X - 1e-6 or abs(y - y2) >= h + h2
    for way in found.ways:
        for at, top, bottom in way.pairs:
            for x, y, w, h in boxes:
                assert abs(at - x) >= w or y + h <= top or y - h >= bottom
    edges = {(t, s) for s, targets in inputs.items() for t in targets}
    assert {(way.source, way.target) for way in found.ways} == edges
    for way in found.ways:
        above, below = found.places[way.source].y, found.places[way.target].y
        assert (above > below) if way.turns else (above < below)
    assert any(way.turns for way in found.ways) == bool(back)


def test_a_tree_has_no_crossings_and_stands_straight():
    sizes = dict.fromkeys(range(7), (60.0, 40.0))
    found = layout(sizes, {0: (1, 2), 1: (3, 4), 2: (5, 6), **dict.fromkeys(range(3, 7), ())}, 0)
    x = [found.places[i].x for i in range(7)]
    assert x[3] < x[4] < x[5] < x[6]
    assert x[1] < x[0] < x[2]
    assert x[0] == pytest.approx((x[1] + x[2]) / 2, abs=1)


def test_what_stands_too_near_moves_by_the_least_squares():
    assert spread([0.0, 100.0], [1.0, 1.0], [10.0]) == [0.0, 100.0]
    assert spread([0.0, 0.0], [1.0, 1.0], [10.0]) == [-5.0, 5.0]
    assert spread([0.0, 0.0], [3.0, 1.0], [8.0]) == [-2.0, 6.0]


def test_the_picture_of_the_readme_is_as_it_would_be_drawn():
    root = Path(__file__).parents[2]
    program = load((root / "samples" / "two_paths.grad").read_text("utf-8"))
    graph = program.graph(detailed=lambda graph: picture(graph).steps).graph
    drawn = svg(picture(graph).with_partials(graph), 6)
    path = root / "docs" / "two_paths.svg"
    assert path.read_text("utf-8") == drawn, "`gradcli graph --partials -o` draws it anew"


@pytest.mark.parametrize("name", ["layers", "loop", "orbit"])
def test_an_svg_holds_its_texts_and_says_them(name):
    graph, extent = recorded(name)
    text = svg(picture(graph, extent), 17)
    root = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    boxes = [g for g in root.iter(f"{space}g") if g.get("data-id")]
    said = root.find(f"{space}desc").text
    for box in boxes:
        width = float(box.find(f"{space}rect").get("width"))
        lines = [t.text for t in box.iter(f"{space}text")]
        assert max(map(len, lines)) * 7.2 + 14 <= width
        assert lines[0] in said
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
