"""Completion, definitions and hover of programs, also of those that do not parse."""

import pytest

from gradcli.editor.completion import candidates
from gradcli.editor.definitions import definitions, known_at
from gradcli.editor.document import Document
from gradcli.editor.hover import hover
from gradcli.source import Source

TEXT = """import torch.nn as nn
from math import (exp as e, log)
param k = 0.1; input t: float[n] in [0, 1]
def f(x, y=2, *rest, **more):
    z = w = x * y
    for i, (j, m) in z: q[i] = p = 3
    return z
class A(nn.Module):
    def forward(self, u):
        self.v = u
u, v = f(1, y=2), [3]
with no_grad() as h: g = 2
T: float = 2
"""


def test_each_way_to_make_a_name_is_found():
    found = [(d.kind, d.name) for d in definitions(TEXT)]
    assert found == [
        *(("import", "nn"), ("import", "e"), ("import", "log")),
        *(("param", "k"), ("input", "t"), ("function", "f")),
        *(("parameter", n) for n in ("x", "y", "rest", "more")),
        *(("variable", n) for n in ("z", "w", "i", "j", "m", "p")),
        *(("class", "A"), ("function", "forward"), ("parameter", "self"), ("parameter", "u")),
        *(("variable", n) for n in ("u", "v", "h", "g", "T")),
    ]


def test_a_name_is_known_in_its_function():
    at = TEXT.index("return z")
    known = known_at(definitions(TEXT), at)
    assert {"x", "rest", "z", "p", "k", "f"} <= known.keys()
    assert "self" not in known
    assert "x" not in known_at(definitions(TEXT), len(TEXT))
    assert TEXT[known["z"].start :].startswith("z = w")


def test_a_text_that_does_not_parse_has_its_names():
    assert [d.name for d in definitions("a = 1\ndef f(x):\nb = 2 +\nc = 'o")] == [
        "a",
        "f",
        "x",
        "b",
        "c",
    ]


BEFORE = "param k = 0.1\ninput t: float[3] = [1, 2, 3]\nl = [1]\ns = 'a'\nimport numpy as np, torch.nn as nn\n"
BEFORE += "def f(a, scale=2.0): return a * scale\nprint(k, t, l, s)\n"


@pytest.mark.parametrize(
    ("typed", "has", "has_not"),
    [
        ("ex", {"exp", "expand"}, {"sin", "python_len"}),
        ("t.su", {"sum", "sub_"}, {"append"}),
        ("t.", {"grad", "shape", "backward", "add_"}, {"append", "upper"}),
        ("l.", {"append", "sort"}, {"backward"}),
        ("s.up", {"upper"}, {"update"}),
        ("f(t, sc", {"scale="}, {"dim="}),
        ("sum(t, ", {"dim=", "keepdim=", "k", "t"}, {"scale="}),
        ("np.me", {"median", "meshgrid"}, {"numpy_median"}),
        ("f(t).su", {"sum"}, {"k"}),
        ("wh", {"while", "where"}, set()),
        ("pa", {"param"}, {"k"}),
        ("nn.Lin", {"Linear"}, {"linalg"}),
        ("# ex", set(), {"exp"}),
        ("print('ex", set(), {"exp"}),
    ],
)
def test_what_may_be_typed_is_offered(typed, has, has_not):
    earlier = Document(Source("p.grad", BEFORE))
    document = Document(Source("p.grad", BEFORE + typed), earlier)
    words = {c.word for c in candidates(document, len(BEFORE + typed))}
    assert has <= words
    assert not has_not & words
    assert bool(words) == bool(has)


def test_an_argument_comes_first():
    text = BEFORE + "sum(t, d"
    found = candidates(Document(Source("p.grad", text)), len(text))
    assert [c.word for c in found[:2]] == ["dim=", "dtype="]


def test_hover_outside_of_words_is_of_the_expression():
    document = Document(Source("p.grad", BEFORE + "print(-k * t)\n"))
    at = document.source.text.index("* t)")
    assert hover(document, at)[0] == "```python\n-k * t: tensor float64[3]\n```"
    assert hover(document, document.source.text.index("import") + 1) is None
