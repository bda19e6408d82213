"""What it costs to tell where nan began: how many runs, passes and closer looks, in any loop."""

from __future__ import annotations

import pytest

from gradcli import load
from gradcli.engine.autodiff import losses, visits
from gradcli.engine.autodiff.losses import CHUNK
from gradcli.engine.run.execution.execute import Executable
from gradcli.questions.asked.request import Options

LOOPS = {
    "for": """param x = 0.0
y, s = 1.0, 0.0
for i in range({turns}):
    y = sin(y * 2.0) + 0.1 * y
    s = s + y * y * x
    if i == {at}:
        s = s + {term}
s
""",
    "while": """param x = 0.0
y, s, i = 1.0, 0.0, 0
while i < {turns}:
    y = sin(y * 2.0) + 0.1 * y
    s = s + y * y * x
    if i == {at}:
        s = s + {term}
    i = i + 1
s
""",
    "function": """param x = 0.0
def step(y, s, i):
    s = s + y * y * x
    if i == {at}:
        s = s + {term}
    return s
y, s = 1.0, 0.0
for i in range({turns}):
    y = sin(y * 2.0) + 0.1 * y
    s = step(y, s, i)
s
""",
    "tensors": """param x = 0.0
y, s = tensor([1.0, 2.0]), 0.0
for i in range({turns}):
    y = sin(y * 2.0) + 0.1 * y
    s = s + (y * y).sum() * x
    if i == {at}:
        s = s + {term}
s
""",
    "a tensor": """x = tensor(0.0, requires_grad=True)
y, s = 1.0, 0.0
for i in range({turns}):
    y = sin(y * 2.0) + 0.1 * y
    s = s + y * y * x
    if i == {at}:
        s = s + {term}
s
""",
}

SLOPES = {"sqrt(x)": "sqrt", "sqrt(x) * x": "sqrt", "x * 1e200 * 1e200": "mul"}
"""Terms with a derivative that is not finite at 0, and the op that is blamed."""


@pytest.fixture
def counted(monkeypatch):
    """Counts calls: `runs` of the program, `slow` passes, nodes visited `closely`."""
    counts = {}

    def count(owner, name, key):
        plain = getattr(owner, name)

        def noted(self, *args, **keywords):
            counts[key] = counts.get(key, 0) + 1
            return plain(self, *args, **keywords)

        monkeypatch.setattr(owner, name, noted)

    count(Executable, "run", "runs")
    count(visits.FullPass, "__init__", "slow")
    count(losses, "_put_before", "closely")
    return counts


def asked(kind, turns, term, question):
    text = LOOPS[kind].format(turns=turns, at=turns // 2, term=term)
    return getattr(load(text), question)(options=Options(compile="never")).warnings


@pytest.mark.parametrize("term", SLOPES)
@pytest.mark.parametrize("kind", LOOPS)
def test_a_gradient_costs_a_run_and_a_pass_more(kind, term, counted):
    """Beyond them it looks closely at the nodes of one chunk."""
    for turns in (20, 600):
        counted.clear()
        (warning,) = asked(kind, turns, term, "grad")
        assert f"the derivative of `{SLOPES[term]}` is not finite" in warning.message
        assert any(f"in the {turns // 2 + 1}" in note for note in warning.notes)
        assert counted["runs"] == 2
        assert counted["slow"] <= (2 if kind == "tensors" else 1)  # the pass in search of it
        assert counted["closely"] <= 2 * CHUNK


@pytest.mark.parametrize("kind", LOOPS)
def test_an_infinite_slope_that_adds_nothing_costs_no_second_pass(kind, counted):
    assert asked(kind, 20, "sqrt(x * 0.0) * 0.0", "grad") == ()
    assert counted == {"runs": 1}
