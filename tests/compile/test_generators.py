"""Generators in compiled code: all items at once, where nobody can tell; else refused."""

import pytest

from gradcli import load
from gradcli.errors import GradError
from gradcli.questions.asked.request import Options

POWERS = """def powers(t, n):
    p = 1
    for i in range(n):
        yield p
        p = p * t
"""
MULTIPLES = """def multiples():
    i = 0
    while True:
        yield i * x
        i = i + 1
"""
COMPILED = {
    "a sum": f"{POWERS}sum(powers(x, 5))",
    "a loop": f"{POWERS}s = 0\nfor p in powers(x, 5):\n    s += p\ns",
    "any": "y = [x, x * 2, 1.5]\nx if any(v > 2 for v in y) else 0.5 * x",
    "all": "y = [x, x * 2, 1.5]\nx if all(v > 0 for v in y) else 0.5 * x",
    "no item": "x if any(v > 2 for v in []) else 0.5 * x",
    "an item by itself": "def two():\n    yield x\n    yield x * 2\na, b = two()\na * b",
    "items of a list": "def some():\n    yield x\n    yield from [x * 2, 3]\nsum(some())",
    "what is sent": "def some():\n    a = yield x\n    yield x if a is None else 2 * x\nsum(some())",
    "an early end": "def some(n):\n    for i in range(9):\n        if i == n:\n            return\n"
    "        yield i * x\nsum(some(3))",
    "loops in loops": "def some(n):\n    for i in range(n):\n        for j in range(i):\n"
    "            yield i * j * x\nsum(some(6))",
    "pairs": "def some():\n    yield x\n    yield 2 * x\ns = 0\nfor k, v in enumerate(some()):\n"
    "    s = s + k * v\ns",
    "two side by side": "sum(a * b for a, b in zip((v * x for v in [1.0, 2.0]), [3.0, 4.0]))",
    "many": "sum(v for v in (k * x for k in range(300)))",
    "map": "s = 0\nfor v in map(lambda a, b: a * b * x, [1.0, 2.0], [3.0, 4.0, 5.0]):\n    s += v\ns",
    "map of a built-in": "a, c = map(sin, [x, 2.0])\na * c",
    "map of a map": "max(map(abs, map(lambda v: v - x, [1.0, 0.2])))",
    "map of pairs": "any(map(lambda p: p[0] * p[1] > 1, enumerate([x, 2.0]))) * x",
}
SEEN = {
    "a list changes before": "y = [1.0, x]\ng = (v * x for v in y)\ny[0] = 9.0\nsum(g)",
    "a list grows meanwhile": "y = [1.0, x]\ns = 0\nfor v in (v * x for v in y):\n    s = s + v\n"
    "    if len(y) < 4:\n        y.append(2.0)\ns",
    "a name changes before": "c = 1\ng = (c * v * x for v in [1.0, 2.0])\nc = 5\nsum(g)",
    "a name changes meanwhile": "c = 1\ns = 0\nfor v in (c * v * x for v in [1.0, 2.0, 3.0]):\n"
    "    c = c + 1\n    s = s + v\ns",
    "an item changes": f"{POWERS}s = 0\nfor p in powers(x * 1, 5):\n    p += 1\n    s = s + p\ns",
    "an item is a list that changes": "def some():\n    w = [x, x]\n    yield w\n"
    "    w = [w[1], 2.0]\n    yield w\ns = 0\nfor w in some():\n    w[1] = 5.0\n"
    "    s = s + w[0] + w[1]\ns",
    "it prints": "def some():\n    yield x\n    print('a')\n    yield x * 2\ns = 0\n"
    "for v in some():\n    print('b')\n    s = s + v\ns",
    "it draws": "s = 0\nfor v in (rand(1).item() * x for _ in range(2)):\n    s = s + v + rand(1).item()\ns",
    "it changes a list": "y = []\ndef some():\n    y.append(1.0)\n    yield x\ng = some()\n"
    "n = len(y)\nsum(g) * n",
    "it has no end": f"{MULTIPLES}s = 0\nfor v in multiples():\n    s = s + v\n    if v > 3:\n"
    "        break\ns",
    "an error after the item that decides": "y = [2, 0]\nx if any(4 // v > 1 for v in y) else 1.0",
    "a list changes before map is asked": "y = [1.0, x]\nm = map(lambda v: v * x, y)\ny[0] = 5.0\nsum(m)",
    "a function of map prints": "m = map(lambda v: print(v), [1.0])\nprint(2)\nlist(m)\nx",
    "it is consumed twice": "g = (v * x for v in [1.0, 2.0])\nsum(g) + sum(g)",
    "an item is asked for": "g = (v * x for v in [1.0, 2.0])\nnext(g) + sum(g)",
}
"""Programs in which it shows when the items are computed."""


def answers(text, question):
    for when in ("never", "always"):
        try:
            options = Options(compile=when, seed=3)
            yield repr(getattr(load(f"param x = 0.7\n{text}"), question)(options=options))
        except GradError as error:
            yield repr(error)


@pytest.mark.parametrize("question", ["run", "grad"])
@pytest.mark.parametrize("name", COMPILED)
def test_code_has_the_answers_of_a_run(name, question):
    run, code = answers(COMPILED[name], question)
    assert run == code


@pytest.mark.parametrize("name", SEEN)
def test_a_generator_whose_time_shows_is_not_compiled(name):
    _, code = answers(SEEN[name], "grad")
    assert "not-compilable" in code
