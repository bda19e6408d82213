"""What is found in a program behind its first syntax error."""

import random

import pytest
from support.programs.grammar_programs import source

from gradcli.errors import ProgramError
from gradcli.grammar.syntax.parser import parse


def places(text):
    """Line, column and the message's beginning of each error."""
    with pytest.raises(ProgramError) as error:
        parse(source(text))
    return [(*d.place[1:], d.message) for d in error.value.diagnostics]


TEXTS = [
    (
        "a statement after the other",
        "a = = 3\nb = 1..2\nc = (1 +\nd = 5 5\n",
        [(1, 5), (2, 5), (3, 5), (4, 7)],
    ),
    (
        "a head without its colon, and what stands under it",
        "def f(x)\n    y = x x\n    return y\nw = 3 +\n",
        [(1, 9), (2, 11), (4, 8)],
    ),
    (
        "every head of a chain",
        "while x y:\n  if z z:\n    break\n  elif k k:\n    a a\n  else\n    b\n",
        [(1, 9), (2, 8), (4, 10), (5, 7), (6, 7)],
    ),
    (
        "parts of a try",
        "try:\n  a a\nexcept b c:\n  d\nexcept:\n  e e\nfinally:\n  f f\ng g\n",
        [(2, 5), (3, 10), (6, 5), (8, 5), (9, 3)],
    ),
    ("an else keeps its if", "if a b: c\nelse: d\nelif e: f f\n", [(1, 6), (3, 1)]),
    ("a block without lines", "if x:\ny = 2\nz z\n", [(1, 1), (3, 3)]),
    ("lines indented for nothing", "x\n  y\n  z z\n  w\nq q\n", [(2, 1), (5, 3)]),
    ("a first line that is indented", "  x = 1\n  y = 2\nz z\n", [(1, 1), (3, 3)]),
    ("an indentation that fits no block", "if x:\n    y\n   z\n   w w\nq q\n", [(3, 1), (5, 3)]),
    ("brackets over lines", "x = f(a b,\n   c d)\ny = 3 3\n", [(1, 9), (3, 7)]),
    ("a bracket that is never closed", "x = [\n  1, 2,\n  3\ny = 5 5\n", [(1, 5), (4, 7)]),
    ("a wrong bracket", "f(a]\nb b\n", [(1, 4), (2, 3)]),
    ("characters", "s = 'abc\nx x\ny = “a”\n{\n", [(1, 5), (2, 3), (3, 5), (4, 1)]),
    (
        "methods, decorators with them",
        "class F x:\n  def forward(ctx x): pass\n  @staticmethod\n  def backward ctx: pass\nx x\n",
        [(1, 9), (2, 19), (4, 16), (5, 3)],
    ),
    ("a string to the end of the text", 's = """abc\nx x\n', [(1, 5)]),
    ("a string over lines", 's = "abc\ndef"\nx x\n', [(1, 5), (3, 3)]),
    ("two open strings", 's = "abc\nt = "def\nx x\n', [(1, 5), (2, 5), (3, 3)]),
    ("statements on one line are one", "a = 1; b b; c c\nd d\n", [(1, 10), (2, 3)]),
    ("carriage returns and line feeds", "if x:\r\n  a a\r\nb b\r\nc c", [(2, 5), (3, 3), (4, 3)]),
    ("a byte that is no text", "a a\nb \udce9\nc c\n", [(2, 3)]),
]


@pytest.mark.parametrize(("name", "text", "expected"), TEXTS, ids=[name for name, *_ in TEXTS])
def test_errors_behind_the_first(name, text, expected):
    assert [place[:2] for place in places(text)] == expected


def test_each_bad_line_of_a_good_program_is_found_and_no_other():
    """Lines are spoiled one and two at a time."""
    lines = GOOD.splitlines(keepends=True)
    rng = random.Random(0)
    bodies = [n for n, line in enumerate(lines) if "=" in line and "def" not in line]
    for _ in range(40):
        spoiled = sorted(rng.sample(bodies, 2))
        text = "".join(
            line.replace("=", "= =", 1) if n in spoiled else line for n, line in enumerate(lines)
        )
        assert [line - 1 for line, *_ in places(text)] == spoiled, text


GOOD = """\
input x: float[n] = [1, 2]
y = 0
def f(a, b):
    c = a + b
    if c > 2:
        d = c
        while d > 1:
            d = d / 2
    elif c < 0:
        d = -c
    else:
        d = (c,
             c)
    e = d
    return e
class F(Function):
    @staticmethod
    def forward(ctx, x):
        z = x
        return z
    @staticmethod
    def backward(ctx, g):
        h = g
        return h
for i in range(3):
    y = y + f(i, 2)
with no_grad():
    w = y
v = w; u = v
"""


def test_good_is_good():
    parse(source(GOOD))


def test_a_text_that_is_no_program_ends_soon():
    found = places("this is no program\n" * 3000)
    assert len(found) == 100
