"""Machine code of tensors that lie in every way: what a run gives, to the last bit. Sums are added
up in the order in which elements lie, so that what is taken to lie otherwise shows in a last digit.
"""

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.programs.array_programs import both

from gradcli.program import load

pytest.importorskip("llvmlite")

HEAD = "input x: float[2178]\ninput b\n"
_NUMBERS = np.random.default_rng(7).normal(size=(2, 2178))
GIVEN = {"x": _NUMBERS[0], "b": 0.7}
ASKED = {"grad": {}, "run": {}, "hvp": {"tangents": {"x": _NUMBERS[1], "b": 1.5}}}

QUESTIONS = ["grad", *(pytest.param(q, marks=pytest.mark.long) for q in ("run", "hvp"))]

LAYOUTS = {
    "in order": "x[:1056].reshape(32, 33)",
    "made in order": "(x[:1056].reshape(32, 33) * b)",
    "in columns": "x[:1056].reshape(33, 32).T",
    "made in columns": "(x[:1056].reshape(33, 32) * b).T",
    "from an offset": "x[7:1063].reshape(32, 33)",
    "every other row": "x[:2112].reshape(64, 33)[1::2]",
    "every other column": "x[:2112].reshape(32, 66)[:, 1::2]",
    "parts of columns": "x[:2178].reshape(33, 66).T[1::2][:32]",
    "turned": "x[:1056].reshape(32, 33).flip(1)",
    "turned over": "x[:1056].reshape(33, 32).T.flip(0, 1)",
    "one row": "x[3:36].expand(32, 33)",
    "one column": "x[3:35].reshape(32, 1).expand(32, 33)",
    "one number": "x[4:5].expand(32, 33)",
    "of three dimensions": "x[:2112].reshape(33, 2, 32).transpose(0, 2)[:, 1]",
}
"""Matrices of 32 rows and 33 columns by how they lie."""

USES = {
    "a sum of all": "a.sum() * b",
    "sums of rows": "a.sum(1).pow(2).sum() * b",
    "sums of columns": "(a.sum(0) * b).pow(2).sum()",
    "sums that stay": "(a - a.mean(0, keepdim=True)).pow(2).sum()",
    "a sum of what is made": "(a * 0.3 + a * a).sum() * b",
    "sums of what is made": "(a * b + exp(-a * a)).sum(1).pow(2).sum()",
    "with a number": "(where(a > b, a, b) * a).sum()",
    "with a row": "(a * x[:33]).sum() + (a * x[:32].reshape(32, 1)).sum(0).pow(2).sum()",
    "a copy": "a.clone().sum() * b + (a.clone().T * x[:32]).sum(1)[3]",
    "in one row": "(a.reshape(-1) * x[:1056]).sum() * b",
    "one row of it": "(a[1] * b).sum() + a[-1].pow(2).sum() + a[:, 2].sum() * b",
    "turned back": "(exp(-a * b).T * a.T).sum() * 0.1",
    "in a loop": "y = a * 1\nfor i in range(90):\n    y = y * 0.5 + a * b\n(y * y).sum()",
    "in a branch": "if b > 0:\n    y = a * b\nelse:\n    y = a + 1\n(y.sum(0) * y[1]).sum()",
    "any and all": "where((a > 9).any(), b, a.sum()) + a.sum() * (a < 99).all()",
    "a product": "(a @ x[:33]).sum() * b + (x[:32] @ a * b).pow(2).sum()",
    "products of it": "(a @ a.T).sum() * b + (a.T @ a * 0.1).pow(2).sum()",
    "a product in a loop": "y = a.T @ a * 0.01\nfor i in range(3):\n    y = y @ y * b\ny.sum()",
    "a change": "y = a * 1\ny[2] = b\ny[:, 3] = x[:32]\ny *= a\n(y.sum(1) * y[:, 5]).sum() * b",
}
WITH = {
    "element by element": "(a * c - c).sum(0).pow(2).sum() * b",
    "a choice": "where(a > c, a, c * b).sum(1).pow(2).sum()",
    "a product": "(a @ c.T).sum() * b",
    "joined": "cat([a, c], 1).sum(0).pow(2).sum() * b",
    "in turns": "y = a * 1\nz = c * 1\nfor i in range(90):\n    y, z = z * b, y\n(y - z).sum()",
    "one or the other": "if b > 0.5:\n    y = a * b\nelse:\n    y = c + 1\ny.sum(0).pow(2).sum()",
}


HALVES = [0, pytest.param(1, marks=pytest.mark.long)]
"""Half of the uses: the usual run has one, a long run the other, too. In each layout the usual one
begins at another use than in the layout before.
"""


def check(question, head, uses, half=slice(None)):
    for name, text in [*uses.items()][half]:
        program = load(HEAD + head + text)
        run, code = both(program, question, GIVEN, **ASKED[question])
        assert run == code or "depends on the path" in code, name


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_uses_of_what_lies_so(question, layout, half):
    first = ([*LAYOUTS].index(layout) + half) % 2
    check(question, f"a = {LAYOUTS[layout]}\n", USES, slice(first, None, 2))


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("first", chunks(few=1, many=14, size=1))
def test_two_that_lie_in_two_ways(first, half):
    names = [*LAYOUTS]
    others = names[first + 2 :] + names[: first + 2]
    for k, (a, c) in enumerate(zip(names, others, strict=True)):
        check("grad", f"a = {LAYOUTS[a]}\nc = {LAYOUTS[c]}\n", WITH, slice((k + half) % 2, None, 2))


TURNS = {
    "only backwards": "y = x * b\nfor i in range(300):\n    y = y.flip(0)\n(y[:9] * x[:9]).sum()",
    "backwards": "y = x * 1\nfor i in range(300):\n    y = y.flip(0) * 0.4 + sin(y)\ny.sum() * b",
    "moved on": "y = x * 1\nfor i in range(300):\n    y = cat([y[1:], y[:1] * b])\ny[5] * y.sum()",
    "a product": "k = x[:1056].reshape(33, 32)\nk = sin(k @ k.T) * 0.2\ny = x[:33]\n"
    "for i in range(300):\n    y = sin(k @ y)\n(y * b).sum()",
    "a product with itself": "y = x[:1024].reshape(32, 32) * 0.2\nfor i in range(300):\n"
    "    y = sin(y @ y * 0.2)\ny.sum() * b",
    "turned": "y = x[:1024].reshape(32, 32)\nfor i in range(300):\n    y = sin(y.T * b + y)\ny.sum()",
    "each other": "y = x * 1\nz = x * b\nfor i in range(300):\n    y, z = z, sin(y + z.flip(0))\n"
    "(y - z).sum()",
    "around": "y = x * 1\nz = x * b\nw = x + 1\nfor i in range(300):\n    y, z, w = z, w, y\n"
    "(y - z * w).sum()",
    "sums": "y = x[:1056].reshape(32, 33) * 1\nfor i in range(90):\n"
    "    y = sin(y.sum(0) * 0.1 + y.sum(1, keepdim=True) * b)\ny.sum()",
}
"""What a loop makes of what it has made in the turn before, of which it reads other places, too."""


@pytest.mark.parametrize("name", TURNS)
@pytest.mark.parametrize("question", ASKED)
def test_turns_that_read_what_the_turn_before_has_made(question, name):
    check(question, "", {name: TURNS[name]})
