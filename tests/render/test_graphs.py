import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages.graph_views import GOLDEN, PROGRAMS, WIDTHS, recorded, views

from gradcli import load
from gradcli.render.graphs.dot import dot
from gradcli.render.graphs.mermaid import mermaid
from gradcli.render.graphs.picture import Extent, picture
from gradcli.render.graphs.tree import tree
from gradcli.render.text import cells, plain_text
from gradcli.results import Graph, GraphEdge, GraphNode


class Recorder:
    """Makes graphs as a run would: inputs first."""

    def __init__(self):
        self.rows = []
        self.edges = []

    def __call__(self, name, line, *inputs, var="", value=1.0, grad=1.0, shape=(), column=5):
        number = len(self.rows)
        self.rows.append((name, line, var, value, grad, shape, column))
        self.edges += [(number, target, at) for at, target in enumerate(inputs)]
        return number

    def leaf(self, var, line=1, value=0.5, **rest):
        return self("AccumulateGrad", line, var=var, value=value, **rest)

    def graph(self, root):
        last = len(self.rows) - 1
        nodes = [
            GraphNode(
                last - i,
                "" if name == "AccumulateGrad" else name.removesuffix("Backward0").lower(),
                name,
                var,
                shape,
                value,
                grad,
                line,
                column,
                expression="" if name == "AccumulateGrad" else f"e{line}",
            )
            for i, (name, line, var, value, grad, shape, column) in reversed(
                list(enumerate(self.rows))
            )
        ]
        edges = [GraphEdge(last - a, last - b, at) for a, b, at in self.edges]
        return Graph(last - root, tuple(nodes), tuple(edges))


def shown(graph, width=80, **extent):
    view = tree(picture(graph, Extent(**extent)), precision=6, width=width)
    return plain_text(view)


def product():
    r = Recorder()
    a = r.leaf("a", 1, 2.0, grad=2.0)
    b = r.leaf("b", 2, 1.0, grad=5.0)
    c = r("AddBackward0", 3, a, b, var="c", value=3.0, grad=2.0)
    d = r("AddBackward0", 4, b, var="d", value=2.0, grad=3.0)
    return r.graph(r("MulBackward0", 5, c, d, var="e", value=6.0))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_graph_looks_as_its_golden_files_say(name):
    graph, extent = recorded(name)
    for ending, text in views(graph, extent).items():
        wanted = (GOLDEN / f"{name}.{ending}").read_text("utf-8")
        assert text == wanted, "`python tests graph_views` writes it anew"
    for width in (20, *filter(None, WIDTHS)):
        lines = plain_text(tree(picture(graph, extent), precision=17, width=width))
        assert max(map(cells, lines.splitlines())) <= width


def test_every_golden_file_has_a_program():
    assert {path.stem for path in GOLDEN.iterdir()} == set(PROGRAMS)


def test_a_shared_node_is_drawn_once():
    assert (
        shown(product())
        == """\
           op            value  gradient  line
e = e5     MulBackward0  6      1         5
├─ c = e3  AddBackward0  3      2         3
│  ├─ a                  2      2         1
│  └─ b                  1      5         2
└─ d = e4  AddBackward0  2      3         4
   └─ ↑ b
"""
    )


def test_a_narrow_terminal_gets_names_and_gradients():
    assert (
        shown(product(), 30)
        == """\
           gradient  line
e = e5     1         5
├─ c = e3  2         3
│  ├─ a    2         1
│  └─ b    5         2
└─ d = e4  3         4
   └─ ↑ b
"""
    )


def test_a_name_is_whole_and_what_is_beside_it_goes():
    r = Recorder()
    name = "a_name_of_thirty_characters_in"
    text = shown(r.graph(r("MulBackward0", 2, r.leaf("x"), var=name)), 36)
    assert name in text
    assert "gradient" not in text


def test_a_shared_node_without_a_name_has_a_number():
    r = Recorder()
    t = r("ExpBackward0", 2, r.leaf("x"))
    text = shown(r.graph(r("MulBackward0", 3, r("SinBackward0", 3, t), t)))
    assert "└─ #1 e2 " in text
    assert "└─ ↑ #1\n" in text


def test_a_node_used_twice_by_another_stands_there_once():
    r = Recorder()
    t = r("ExpBackward0", 2, r.leaf("x"))
    assert shown(r.graph(r("MulBackward0", 3, t, t))).count("e2") == 1


def test_what_a_call_does_is_one_line_with_its_inputs_in_order():
    graph = load("x = [1.0, 2.0, 4.0]\nfor i in range(2):\n    y = sum(x)\ny * y").graph().graph
    assert len(graph.nodes) == 7
    assert (
        shown(graph)
        == """\
               op            value  gradient  line
y * y          MulBackward0  49      1        4
└─ y = sum(x)  sum            7     14        3
   ├─ x[0]                    1     14
   ├─ x[1]                    2     14
   └─ x[2]                    4     14
"""
    )


def test_a_chain_of_a_loop_is_one_line():
    r = Recorder()
    x = r.leaf("x")
    for _ in range(500):
        x = r("MulBackward0", 4, x, var="x")
    graph = r.graph(x)
    assert "x = e4 × 500, line 4" in shown(graph)
    assert len(shown(graph).splitlines()) == 4
    assert len(shown(graph, unfold=3).splitlines()) == 7
    assert "x = e4 × 497, line 4" in shown(graph, unfold=3)
    assert "×" not in shown(graph, unfold=500, nodes=9_999)


def test_a_turn_of_three_ops_with_a_shared_parameter_is_one_line():
    r = Recorder()
    w = r.leaf("w", 1, np.array([1.0, 2.0]), shape=(2,))
    x = r.leaf("x", 2)
    for _ in range(1000):
        t = r("MulBackward0", 4, x, w)
        x = r("AddBackward0", 6, x, r("SinBackward0", 5, t, var="u"), var="x")
    assert (
        shown(r.graph(r("MeanBackward0", 7, x, var="loss", value=2.25)), 100)
        == """\
                                 op             shape  value   gradient  line
loss = e7                        MeanBackward0         2.25    1         7
└─ x = e6 × 1,000, lines 4 to 6  add sin mul           1       1
   ├─ w                                         [2]    [1, 2]  1         1
   └─ x                                                0.5     1         2
×: all turns of a loop; value and gradient are those of the last turn
"""
    )


def test_what_each_turn_has_of_its_own_is_drawn_once():
    r = Recorder()
    w, data, s = r.leaf("w"), r.leaf("data"), None
    for _ in range(50):
        row = r("SelectBackward0", 4, data, var="row")
        q = r("SumBackward0", 5, r("MulBackward0", 5, row, w))
        s = r("AddBackward0", 6, *([] if s is None else [s]), q, var="s")
    lines = shown(r.graph(s)).splitlines()
    assert lines[1].startswith("s = e6 × 49, line 6")
    assert "row = e4 × 49" in "\n".join(lines)
    assert len(lines) < 16


def test_loops_in_loops_fold_from_the_inside():
    r = Recorder()
    x = r.leaf("x")
    for _ in range(20):
        for _ in range(10):
            x = r("SinBackward0", 5, r("MulBackward0", 4, x))
        x = r("ExpBackward0", 6, x)
    graph = r.graph(x)
    assert "exp (sin mul × 10)" in shown(graph, None)
    assert "e6 × 20, lines 4 to 6" in shown(graph)
    once = shown(graph, None, unfold=1)
    assert "exp (sin mul × 10)" in once
    assert "e5 × 9, lines 4 to 5" in once


def test_two_states_that_use_each_other_fold():
    r = Recorder()
    x, v, k = r.leaf("x"), r.leaf("v"), r.leaf("k")
    for _ in range(500):
        v = r("SubBackward0", 5, v, r("MulBackward0", 4, k, x), var="v")
        x = r("AddBackward0", 6, x, r("MulBackward0", 6, v), var="x", column=1)
    assert len(shown(r.graph(x)).splitlines()) < 15


def test_three_turns_are_drawn_as_they_are():
    r = Recorder()
    x = r.leaf("x")
    for _ in range(3):
        x = r("MulBackward0", 4, x)
    assert shown(r.graph(x)).count("MulBackward0") == 3


def test_a_deep_chain_is_continued_below():
    r = Recorder()
    x = r.leaf("x")
    for line in range(100):
        x = r("MulBackward0", line + 1, x, var=f"v{line}")
    text = shown(r.graph(x))
    assert max(map(cells, text.splitlines())) <= 80
    assert all(f"v{line} " in text for line in range(100))
    assert "└─ ↓ v" in text
    assert "\n\nv" in text


def test_many_inputs_are_shortened():
    r = Recorder()
    text = shown(r.graph(r("StackBackward0", 2, *[r.leaf(f"a{i}") for i in range(3000)])))
    assert "├─ … 2,989 more\n" in text
    assert "└─ a2999" in text
    assert len(text.splitlines()) == 15


def test_a_graph_that_does_not_fold_ends():
    r = Recorder()
    x = r.leaf("x")
    for line in range(1500):
        x = r("MulBackward0", line + 1, x, r("SinBackward0", line + 1, x))
    graph = r.graph(x)
    text = shown(graph)
    assert len(text.splitlines()) < 900
    assert "more nodes: --nodes and --depth show more" in text
    assert len(shown(graph, depth=2).splitlines()) < 12
    assert len(picture(graph, Extent(nodes=7)).boxes) == 7
    assert picture(graph, Extent(nodes=7)).left == 2994


def test_names_cannot_reach_the_terminal():
    r = Recorder()
    assert "\x1b" not in shown(r.graph(r("Own\x1b[31mBackward", 2, r.leaf("x"))))


def test_what_is_special_to_a_language_is_escaped():
    graph = Graph(0, (GraphNode(0, "f", "f", 'a"b', (), 6.0, 1.0, 1, 1),), ())
    assert 'label="a\\"b\\n= 6' in dot(picture(graph), 6)
    assert 'n0["a#34;b<br/>= 6' in mermaid(picture(graph), 6)


@pytest.mark.parametrize("width", [20, 27, 40, 60, 80])
def test_no_line_is_wider_than_the_terminal(width):
    r = Recorder()
    x = r.leaf("a_rather_long_name", value=np.arange(100.0), shape=(100,))
    for line in range(30):
        x = r("MulBackward0", line + 1, x, x, var=f"v{line}", value=RNG.normal(size=(3, 3)))
    for line in shown(r.graph(x), width).splitlines():
        assert cells(line) <= width, f"{cells(line)} cells in {line!r}"


RNG = np.random.default_rng(0)


@given(st.data(), st.integers(20, 100))
def test_no_graph_breaks_the_drawing(data, width):
    r = Recorder()
    nodes = [r.leaf("w"), r.leaf("", value=2.0)]
    kinds = data.draw(st.integers(1, 4))
    near = data.draw(st.integers(1, 6))
    period = data.draw(st.lists(st.lists(st.integers(1, near), max_size=3), min_size=1, max_size=5))
    for n in range(data.draw(st.integers(1, 80))):
        back = period[n % len(period)]
        if data.draw(st.integers(0, 30)) == 0:
            back = [len(nodes)]
        inputs = [nodes[max(len(nodes) - b, 0)] for b in back]
        nodes.append(r("MulBackward0", n % kinds, *inputs, var="x" if n % 3 else ""))
    graph = r.graph(nodes[-1])
    for line in shown(graph, width).splitlines():
        assert cells(line) <= width, f"{cells(line)} cells in {line!r}"
    assert len(picture(graph).boxes) <= len(graph.nodes)
    whole = shown(graph, 400)
    for name in re.findall(r"[↑↓] (#\d+)", whole):
        drawn = re.findall(rf"(?<![↑↓] ){name}\b", whole)
        assert len(drawn) == 1, f"{name} is drawn {len(drawn)} times in\n{whole}"
