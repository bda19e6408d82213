"""The language server by its protocol, over the pipes of a real process."""

import shutil
import sys

import pytest
from support.processes.lsp_client import Client

pytest.importorskip("pygls")

URI = "file:///tmp/program.grad"
TEXT = """param k = 0.1
input t: float[3] = [1, 2, 3]
def f(a, scale=2.0):
    return a * scale
# \U0001d6fc
s = "\U0001d6fc"; y = sinn(k) + f(t, scale=k).sum()
print(s, y)
"""
RIGHT = TEXT.replace("sinn", "sin")


@pytest.fixture(scope="module")
def client():
    client = Client()
    capabilities = client.start()
    assert capabilities["hoverProvider"]
    assert capabilities["textDocumentSync"]["change"] == 1
    yield client
    assert client.stop() == 0


@pytest.fixture(scope="module")
def found(client):
    """The findings about the wrong text; the right one is open afterwards."""
    wrong = client.open(URI, TEXT)
    client.change(URI, RIGHT)
    assert client.findings() == []
    return wrong


def test_a_finding_has_place_code_and_way_out(client, found):
    (one,) = found
    assert (one["code"], one["severity"], one["source"]) == ("unknown-name", 1, "gradcli")
    # the letter before it takes two units of UTF-16
    assert one["range"] == {
        "start": {"line": 5, "character": 14},
        "end": {"line": 5, "character": 18},
    }
    assert "`sinn`" in one["message"]
    assert "help: did you mean `sin`?" in one["message"]
    assert one["codeDescription"]["href"].endswith("docs/errors.md#unknown-name")


def test_a_correction_replaces_the_word(client, found):
    asked = {"textDocument": {"uri": URI}, "range": found[0]["range"]}
    (action,) = client.ask("textDocument/codeAction", {**asked, "context": {"diagnostics": found}})
    assert action["title"] == "Change to `sin`"
    assert action["edit"]["changes"][URI] == [{"range": found[0]["range"], "newText": "sin"}]


@pytest.mark.parametrize(
    ("line", "character", "says"),
    [
        (0, 6, "param k: tensor float64[]"),
        (1, 6, "input t: tensor float64[3]"),
        (5, 11, "y: tensor float64[]"),
        (5, 15, "g_input = g * cos(input)"),
        (5, 23, "def f(a, scale=2.0)"),
        (5, 39, "sum(input, dim=None"),
        (3, 13, "a * scale: tensor float64[3]"),
    ],
)
def test_hover_tells_what_is_known(client, found, line, character, says):
    told = client.at("hover", URI, line, character)
    assert says in told["contents"]["value"]


def test_hover_over_nothing_says_nothing(client, found):
    assert client.at("hover", URI, 4, 1) is None


def test_completion_has_names_and_a_page_for_each_operation(client, found):
    items = {item["label"]: item for item in client.at("completion", URI, 5, 16)}
    assert items["sin"]["kind"] == 3
    page = client.ask("completionItem/resolve", items["sin"])
    assert "Sine of" in page["documentation"]["value"]


def test_definition_and_outline(client, found):
    place = client.at("definition", URI, 5, 23)
    assert place["range"]["start"] == {"line": 2, "character": 4}
    names = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": URI}})
    assert [n["name"] for n in names] == ["k", "t", "f", "s", "y"]


@pytest.mark.skipif(shutil.which("ruff") is None, reason="the extra `fmt` is not there")
def test_formatting_replaces_the_text_or_says_why_not(client, found):
    asked = {"textDocument": {"uri": URI}, "options": {"tabSize": 4, "insertSpaces": True}}
    (edit,) = client.ask("textDocument/formatting", asked)
    assert "\ny = sin(k) + f(t, scale=k).sum()\n" in edit["newText"]
    assert edit["range"]["end"] == {"line": 7, "character": 0}
    client.change(URI, "a = (")
    assert client.findings()[0]["code"] == "unclosed-bracket"
    assert client.ask("textDocument/formatting", asked) == []
    told = client.told_next("window/showMessage")
    assert told["message"] == "`(` is never closed"
    client.change(URI, RIGHT)
    assert client.findings() == []


def test_without_pygls_the_extra_is_named(cli, monkeypatch):
    for module in ("lsprotocol", "pygls"):
        monkeypatch.setitem(sys.modules, module, None)
    status, out, err = cli("lsp")
    assert (status, out) == (2, "")
    assert "pip install 'gradcli[lsp]'" in err
