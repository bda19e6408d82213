"""The page of a graph: what it holds, and what it does in a browser (`pytest -m browser`)."""

import json
import re

import pytest
from support.pages.graph_views import LOOP, PROGRAMS
from support.processes.browser import browser, chromium

from gradcli import load
from gradcli.program import Options
from gradcli.render.graphs.page import graph_page
from gradcli.render.graphs.picture import Extent, picture

QUIET = Options(seed=1)
LINE = "input x = 3.0\ny = x * x  # </script>\nz = y + sin(y)\nz"


def page_of(text, extent=Extent()):  # noqa: B008
    graph = (
        load(text).graph(detailed=lambda graph: picture(graph, extent).steps, options=QUIET).graph
    )
    drawn = picture(graph, extent).with_partials(graph)
    return graph_page(graph, drawn, program=text, name="a <b>", precision=6)


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


@pytest.mark.parametrize("name", ["layers", "loop", "orbit", "training", "vector", "slope"])
def test_a_page_is_whole_and_asks_for_nothing(name):
    page = page_of(*PROGRAMS[name])
    assert not re.findall(r"<!-- \w+ -->", page)
    assert not re.search(r"(https?:)?//(?!www\.w3\.org/2000/svg)[\w.-]+\.\w+/", page)
    assert not re.search(r'(src|href)="(?!data:,)', page)
    data = data_of(page)
    known = {node["id"] for node in data["nodes"]}
    assert all(set(node["inputs"]) <= known for node in data["nodes"])
    assert data["hint"] in page
    assert page.count("data-row=") == page.count('<g class="box ') == len(known)
    forward = [s["node"] for s in data["steps"] if s["way"] == "forward"]
    assert forward == sorted(known, reverse=True)


def test_a_page_tells_what_was_saved_the_partials_and_how_gradients_come():
    data = data_of(page_of(LINE))
    by_name = {node["name"]: dict(node["info"]) for node in data["nodes"]}
    product = by_name["y = x * x"]
    assert (product["value"], product["PyTorch's node"]) == ("9", "MulBackward0")
    assert product["saved input"] == "3"
    assert product["∂ by x"] == "6"
    assert by_name["sin(y)"]["∂ by y"].startswith("-0.911")
    back = [step for step in data["steps"] if step["way"] == "backward"]
    names = {node["id"]: node["name"] for node in data["nodes"]}
    grads = [{names[int(id)]: g for id, g in step["grads"].items()} for step in back]
    assert [names[step["node"]] for step in back] == ["z = y + sin(y)", "sin(y)", "y = x * x", "x"]
    assert grads[0] == {"z = y + sin(y)": "1", "y = x * x": "1 so far", "sin(y)": "1"}
    assert grads[1] == {"y = x * x": "0.0888697"}
    assert grads[2] == {"x": "0.533218"}
    assert back[0]["says"] == "gradient of z: 1; adds to y 1, sin(y) 1"


@pytest.mark.parametrize("turns", [300, pytest.param(100_000, marks=pytest.mark.long)])
def test_a_long_loop_is_a_small_page(turns):
    text = LOOP.replace("range(100)", f"range({turns})")
    assert len(page_of(text)) < 60_000


def test_no_text_of_a_program_is_markup():
    page = page_of(LINE)
    assert page.count("</script>") == 2
    assert "<title>a &lt;b&gt;" in page


# --- in a browser ------------------------------------------------------------------------------

in_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason="no Chromium is installed"),
]


@pytest.fixture(scope="module")
def tab():
    with browser() as page:
        yield page


@pytest.fixture
def opened(tab, tmp_path):
    def open(text, extent=Extent(), **asked):  # noqa: B008
        path = tmp_path / "graph.html"
        path.write_text(page_of(text, extent), "utf-8")
        tab.open(path, **asked)
        return tab

    yield open
    assert tab.said == []
    assert all(url.startswith(("file:", "data:,")) for url in tab.requests), tab.requests
    assert len([url for url in tab.requests if url.startswith("file:")]) == 1


def browser_test(test):
    for mark in in_browser:
        test = mark(test)
    return test


WIDER = """[...document.querySelectorAll('g.box')].filter((g) => {
  const r = g.querySelector('rect').getBoundingClientRect();
  return [...g.querySelectorAll('text')].some((t) => t.getBoundingClientRect().right > r.right);
}).length"""


def box(page, name):
    """The selector of a node's box, by its name."""
    id = page.run(f"data.nodes.find((n) => n.name === {json.dumps(name)}).id")
    return f'g[data-id="{id}"]'


@browser_test
def test_a_click_tells_of_a_node_and_lights_its_line(opened):
    page = opened(LINE)
    page.click(box(page, "y = x * x"))
    assert page.text("#chosen") == "y = x * x"
    assert "∂ by x" in page.text("#info")
    assert page.text("#program .lit").startswith("y = x * x")
    assert page.run("document.querySelectorAll('path.lit').length") == 3
    page.key("Escape")
    assert page.text("#chosen") == "Choose a node"


@browser_test
def test_steps_go_forward_and_back_and_fill_in_gradients(opened):
    page = opened(LINE)
    count = page.run("data.steps.length")
    assert count == 8
    page.click("#first")
    assert page.run("document.querySelectorAll('.waits').length") == 3
    assert page.text("#says").startswith("1 of 8, forward: x = 3")
    grads = "[...document.querySelectorAll('text.grad')].filter((t) => t.textContent).length"
    assert page.run(grads) == 0
    page.click("#next")
    assert "y = 9" in page.text("#says")
    for _ in range(3):
        page.key(".")
    assert "backward: gradient of z: 1" in page.text("#says")
    product = box(page, "y = x * x")
    assert page.text(f"{product} text.grad") == "gradient 1 so far"
    page.key(".")
    assert page.text(f"{product} text.grad") == "gradient 0.0888697"
    page.key(",")
    assert page.text(f"{product} text.grad") == "gradient 1 so far"
    assert page.run(WIDER) == 0
    assert page.text("#chosen") == "z = y + sin(y)"
    page.key("End")
    assert page.run(grads) == 4
    assert page.text(f"{box(page, 'x')} text.grad") == "gradient 0.533218"


@browser_test
def test_search_finds_and_goes_from_one_to_the_next(opened):
    page = opened(LINE)
    page.key("/")
    page.type("sin")
    assert page.text("#found") == "2 found"
    page.key("Enter")
    assert page.text("#chosen") in ("sin(y)", "z = y + sin(y)")
    first = page.text("#chosen")
    page.click("#find")
    page.key("Enter")
    assert page.text("#chosen") != first


@browser_test
def test_a_node_folds_what_it_was_made_of(opened):
    page = opened(LINE)
    page.click(box(page, "y = x * x"))
    page.click("#fold")
    assert page.run("document.querySelectorAll('g.box.gone').length") == 1
    assert page.text("#says") == "1 node is folded away"
    page.key("f")
    assert page.run("document.querySelectorAll('.gone').length") == 0


@browser_test
def test_keys_walk_the_graph(opened):
    page = opened(LINE)
    seen = []
    for key in ("ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown"):
        page.key(key)
        seen.append(page.text("#chosen"))
    assert seen == ["z = y + sin(y)", "y = x * x", "x", "y = x * x"]
    assert page.run("document.activeElement.dataset.id") == page.run("String(chosen)")
    page.key("?")
    assert page.run("document.getElementById('help').open")
    page.click("#help button")
    assert not page.run("document.getElementById('help').open")


@browser_test
def test_it_is_moved_and_zoomed(opened):
    page = opened(PROGRAMS["layers"][0])
    before = page.run("[left, top_, scale]")
    page.mouse("mousePressed", 60, 300)
    page.mouse("mouseMoved", 110, 330, buttons=1)
    page.mouse("mouseReleased", 110, 330)
    assert page.run("[left, top_]") == [before[0] + 50, before[1] + 30]
    page.mouse("mouseWheel", 300, 300, deltaX=0, deltaY=-200)
    assert page.run("scale") > before[2]
    page.key("0")
    assert page.run("[left, top_, scale]") == before


@browser_test
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_light_or_dark_and_can_be_changed(opened, dark):
    page = opened(LINE, dark=dark)
    colour = "getComputedStyle(document.body).backgroundColor"
    light, night = "rgb(255, 255, 255)", "rgb(18, 23, 29)"
    assert page.run(colour) == (night if dark else light)
    page.click("#theme")
    assert page.run(colour) == (light if dark else night)


@browser_test
def test_it_begins_with_a_hint_and_plays_all_steps(opened):
    page = opened(LINE)
    assert page.text("#says").startswith("Play goes through the run")
    page.run("setInterval = (turn) => ((globalThis.turn = turn), 7)")
    page.click("#play")
    said = [page.text("#says")]
    assert page.text("#play") == "Stop"
    while page.text("#play") == "Stop":
        page.run("turn()")
        said.append(page.text("#says"))
    assert [text.partition(" ")[0] for text in said[:-1]] == [*"12345678"]
    assert said[-1].startswith("Play goes through the run")
    page.key("p")
    page.click("#next")
    assert (page.text("#play"), page.text("#says")[:6]) == ("Play", "2 of 8")


@browser_test
def test_the_address_has_the_step_and_goes_there(opened):
    page = opened(LINE)
    assert page.run("location.hash") == ""
    page.click("#first")
    page.click("#next")
    assert page.run("location.hash") == "#step=2"
    page.run("location.hash = '#step=7'")
    while not page.text("#says").startswith("7 of 8, backward"):
        pass
    page.run("location.hash = '#step=99'")
    while page.run("step") != 8:
        pass
    assert page.text("#says").startswith("Play")


@browser_test
def test_on_paper_the_whole_picture_and_the_table_are_shown(opened):
    page = opened(PROGRAMS["layers"][0], dark=True)
    page.ask("Emulation.setEmulatedMedia", media="print")
    page.run("dispatchEvent(new Event('beforeprint'))")
    shown = "document.querySelector('{}').getBoundingClientRect()"
    picture, scene = (page.run(f"{shown.format(x)}.toJSON()") for x in ("#picture", "#scene"))
    assert picture["top"] <= scene["top"] <= scene["bottom"] <= picture["bottom"]
    assert picture["left"] <= scene["left"] <= scene["right"] <= picture["right"]
    assert page.run("getComputedStyle(document.querySelector('header')).display") == "none"
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.run("document.getElementById('as-table').open")
    page.ask("Emulation.setEmulatedMedia", media="")
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run("scene.getAttribute('transform') !== null")


@browser_test
def test_partials_at_edges_fold_with_them(opened):
    page = opened(LINE)
    assert page.run("document.querySelectorAll('g.partial').length") == 4
    page.click(box(page, "y = x * x"))
    page.click("#fold")
    assert page.run("document.querySelectorAll('g.partial.gone').length") == 1


@browser_test
@pytest.mark.parametrize("width", [320, 360, 390])
def test_a_phone_has_all_of_it_below_each_other(opened, width):
    page = opened(LINE, width=width, height=800)
    assert page.run("document.documentElement.scrollWidth") <= width
    ends = "[...document.querySelectorAll('button')].map((b) => b.getBoundingClientRect().right)"
    assert page.run(f"Math.max(...{ends})") <= width
    page.click(box(page, "y = x * x"))
    assert page.text("#chosen") == "y = x * x"
    top = "document.querySelector('aside').getBoundingClientRect().top"
    assert page.run(f"{top} >= document.querySelector('#view').getBoundingClientRect().bottom - 1")


@browser_test
def test_no_label_is_wider_than_its_box(opened):
    page = opened(PROGRAMS["layers"][0])
    assert page.run(WIDER) == 0


@browser_test
def test_a_screen_reader_gets_nodes_and_the_table(opened):
    page = opened(LINE)
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    buttons = [n["name"]["value"] for n in nodes if n.get("role", {}).get("value") == "button"]
    assert "x, = 3, gradient 0.533218, line 1" in buttons
    page.run("document.getElementById('as-table').open = true")
    nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
    roles = [n.get("role", {}).get("value") for n in nodes]
    assert "table" in roles
    assert roles.count("row") == 5
