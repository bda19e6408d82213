"""Twice the program is at most twice the work, in every stage: calls are counted, no time taken."""

import sys

import pytest

from gradcli.engine.run.execution.execute import Executable
from gradcli.engine.run.language.names import Builtins
from gradcli.engine.run.session.state import Session
from gradcli.grammar.meaning.check import check
from gradcli.grammar.meaning.lower import lower
from gradcli.grammar.meaning.names import analyse
from gradcli.grammar.syntax.parser import parse
from gradcli.program import Program
from gradcli.source import Source

START = "x = 1.5\ny = x\n"
SHAPES = {
    "lines of seven operations": lambda n: (
        "y = y * 0.5 + sin(x) * (x - 3.5) ** 2 / 3.0\n" * (n // 3)
    ),
    "names": lambda n: "".join(f"a{i} = x * {i}\n" for i in range(n)),
    "terms": lambda n: " + ".join(["x"] * 3 * n),
    "comparisons": lambda n: " < ".join(["x"] * n),
    "functions that are called": lambda n: "".join(
        f"def f{i}(a):\n    return a * x\ny = f{i}(y)\n" for i in range(n)
    ),
    "branches": lambda n: "".join(
        f"if x > {i}:\n    b{i} = y\nelse:\n    y = y + 1\n" for i in range(n)
    ),
    "branches among many names": lambda n: (
        "".join(f"a{i} = x\n" for i in range(5 * n)) + "if x > y:\n    b = y\n" * n
    ),
    "loops": lambda n: "".join(f"for i in range(2):\n    a{i} = y * {i}\n" for i in range(n)),
    "methods": lambda n: "t = ones(3)\n" + "t = t.relu().sum() + t\n" * n,
    "items": lambda n: "t = zeros(3)\n" + "t[0] = t[1] + 1\n" * n,
    "a list that grows": lambda n: f"s = [{'x, ' * 99}]\n" + "s.append(x)\n" * n,
    "text": lambda n: "t = f'{x:.2f} and {y}'\n" * n,
    "own rules": lambda n: "".join(
        f"class A{i}(Function):\n    def forward(ctx, v):\n        return v\n"
        f"    def backward(ctx, g):\n        return g\n"
        for i in range(n)
    ),
}
SIZE = 20


def work(text):
    """How many calls, of Python's functions too, each stage makes."""
    source, builtins = Source("t", START + text), Builtins()
    counts = {}
    made = {}

    def stage(name, call):
        count = 0

        def event(_frame, kind, _argument):
            nonlocal count
            count += kind in ("call", "c_call")

        sys.setprofile(event)
        try:
            made[name] = call()
        finally:
            sys.setprofile(None)
        counts[name] = count

    stage("parse", lambda: parse(source))
    stage("names", lambda: analyse(made["parse"], builtins, frozenset()))
    given = made["parse"], source, builtins, frozenset(), made["names"]
    stage("check", lambda: check(*given))
    stage("lower", lambda: lower(made["parse"], made["names"], source))
    program = Executable(made["lower"])
    stage("translate", lambda: program._main)
    stage("run", lambda: program.run(Session(), {}))
    stage("walk before a run", lambda: Program(source, made["lower"]).check({}))
    return counts


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_program_is_twice_the_work(shape):
    work(SHAPES[shape](3))  # imports, and what is made once
    few, many = work(SHAPES[shape](SIZE)), work(SHAPES[shape](2 * SIZE))
    slopes = {stage: many[stage] / few[stage] for stage in few}
    assert max(slopes.values()) < 2.2, slopes
