"""Blocks nested more deeply than Python takes, which move into functions of their own."""

import contextlib
import random
from types import CodeType

import pytest
from support.programs.ir_programs import lowered

from gradcli.engine.run.code.counting import Counting
from gradcli.engine.run.code.translate import translate
from gradcli.program import load
from gradcli.source import Source

HEADS = {
    "for": "for i{n} in range(2):",
    "once": "for i{n} in [{n}]:",
    "while": "j{n} = 0\n{pad}while j{n} < 2:\n{pad} j{n} += 1",
    "with": "with no_grad():",
    "if": "if total >= 0:",
    "try": "try:",
    "finally": "try:",
}
TAILS = {"try": "except ZeroDivisionError: total -= 100", "finally": "finally: total += 1"}


def nested(kinds, inside, indent=0, n=0):
    """Lines of blocks in each other; `total` counts on the way, inside and behind each block."""
    pad = " " * indent
    if not kinds:
        return [pad + line for line in inside]
    kind, *rest = kinds
    lines = (pad + HEADS[kind].format(n=n, pad=pad)).splitlines()
    lines += nested(rest, inside, indent + 1, n + 1)
    lines += [f"{pad} total += 1"]
    return [*lines, pad + TAILS[kind]] if kind in TAILS else lines


def function(*bodies):
    lines = [" " + line for body in bodies for line in body]
    return "\n".join(["def f(stop):", " total = 0", *lines, " return -total"])


INSIDE = ["total += 1", "if total > stop: return total"]


def answers(text, stops):
    """What the function returns: in the language, and in Python."""
    calls = f"[{', '.join(f'f({stop})' for stop in stops)}]"
    found = load(f"{text}\n{calls}").run().result.tolist()
    names = {"no_grad": contextlib.nullcontext}
    exec(text, names)
    return found, [names["f"](stop) for stop in stops]


def blocks(kinds):
    """How many blocks of Python's a nest needs, for which 2 count as loops."""
    return sum(2 if kind in ("with", "try", "finally") else kind != "if" for kind in kinds)


@pytest.mark.parametrize("seed", range(24))
def test_blocks_in_each_other_are_done_as_python_does(seed):
    """Python nests no more than 20, so that the one with few stands for that with many."""
    chance = random.Random(seed)
    few = [*HEADS]
    kinds = []
    while blocks(kinds) < 16:
        kinds.append(chance.choice(few))
        if kinds.count("for") + kinds.count("while") > 5:
            few = ["once", "with", "if", "try", "finally"]
    text = function(nested(kinds, INSIDE), nested(kinds[::-1], INSIDE))
    found, wanted = answers(text, (0, 3, 11, 29, 10**6))
    assert found == wanted, kinds


@pytest.mark.parametrize("depth", [*range(1, 12), 19, 20, 21, 35, 60])
def test_loops_nested_as_deeply_as_one_likes_return_and_go_on(depth):
    kinds = ["once"] * depth
    text = function(nested(kinds, INSIDE), nested(kinds, INSIDE), nested(["for", *kinds], INSIDE))
    stops = (0, 1, depth, depth + 1, depth + 2, 2 * depth + 1, 2 * depth + 2, 3 * depth + 9, 10**6)
    found = load(f"{text}\n[{', '.join(f'f({stop})' for stop in stops)}]").run().result.tolist()
    # each nest counts 1 inside, then 1 a level on the way out
    first, second = 1, depth + 2
    third = [2 * (depth + 1) + 1, 3 * (depth + 1) + 2]
    ends = [first, second, *third]
    whole = 4 * (depth + 1) + 2
    assert found == [next((end for end in ends if end > stop), -whole) for stop in stops]


def moved(text):
    """How many functions of blocks the code of a program has."""
    program = lowered(Source("t", text))
    found, left = 0, [*translate(program, Counting).parts]
    while left:
        code = left.pop()
        found += code.co_name.startswith("%block")
        left += [c for c in code.co_consts if isinstance(c, CodeType)]
    return found


@pytest.mark.parametrize(
    ("kind", "inside"), [("once", 12), ("while", 12), ("with", 6), ("try", 6), ("finally", 6)]
)
def test_blocks_beside_each_other_are_not_in_each_other(kind, inside):
    """Only blocks in each other count: as many as fit have no function, one loop more has one."""
    beside = [nested([kind], INSIDE)] * 30
    for more in (0, 1):
        deep = nested([*[kind] * inside, *["once"] * more], INSIDE)
        text = function(*beside, deep, *beside, deep)
        assert moved(text) == 2 * more
        found, wanted = answers(function(*beside, nested([kind] * 6, INSIDE)), (0, 3, 90, 10**6))
        assert found == wanted


def test_a_generator_keeps_its_blocks():
    """What gives items cannot move into a function of its own."""
    lines = nested(["once"] * 15, ["yield total", "total += 1"])
    text = "\n".join(["def g(total):", *(f" {line}" for line in lines), " yield -total"])
    assert moved(text) == 0
    assert load(f"{text}\n[v for v in g(5)]").run().result.tolist() == [5, -21]
