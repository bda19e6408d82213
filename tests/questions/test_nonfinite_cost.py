"""What it costs to tell where nan began: how many runs, passes and closer looks, in any loop."""

from __future__ import annotations

import pytest

from gradcli import load
from gradcli.engine.autodiff import losses, visits
from gradcli.engine.autodiff.losses import CHUNK
from gradcli.engine.run.execution.execute import Executable
from gradcli.engine.run.execution.nonfinite_origins import Origins
from gradcli.questions.asked.request import Options
from gradcli.questions.remarks.nonfinite import _Again

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


@pytest.fixture
def repeated(monkeypatch):
    """The observed runs that look for the origin of nan."""
    seen, plain = [], Origins.__init__
    monkeypatch.setattr(
        Origins, "__init__", lambda self, *a: (seen.append(self), plain(self, *a))[1]
    )
    return seen


@pytest.mark.parametrize("question", ["run", "grad"])
@pytest.mark.parametrize("term", ["log(x - 1.0)", "1 / x"])
@pytest.mark.parametrize("kind", LOOPS)
def test_a_value_costs_one_more_run_up_to_the_first_nan(kind, term, question, counted, repeated):
    for turns in (20, 600):
        counted.clear()
        repeated.clear()
        (warning,) = asked(kind, turns, term, question)
        assert "the result is not finite" in warning.message
        assert any(f"in the {turns // 2 + 1}" in note for note in warning.notes)
        assert counted == {"runs": 2}
        (run,) = repeated
        assert run.answer is not None
        assert run.events <= 10 * (turns // 2) + 20  # a turn has up to ten operations


PROOFS = {
    # what hands it on
    "s = s + 1": True,
    "s = 2 * s - i": True,
    "s = s / 3": True,
    "s += i": True,
    "s = sin(s)": True,
    "s = s if i > 100 else s * 2": True,
    "if i > 100:\n        s = -s\n    else:\n        s = s - 1": True,
    "s, t = s * 2, i": True,
    "s = f(s, i)": True,
    "s = g(s)": True,
    "if i == 3:\n        continue\n    s = s + 1": True,
    "if i == 3:\n        break\n    s = s + 1": True,
    "for k in range(2):\n        s = s + k": True,
    "k = 0\n    while k < 2:\n        k, s = k + 1, s * 2": True,
    "k = 0\n    while True:\n        k, s = k + 1, s * 2\n        if k > 1:\n            break": True,
    # what may make it finite, or is not known to do so
    "s = i * 1.0": False,
    "s = 1 / s": False,
    "s = tanh(s)": False,
    "s = s ** 0": False,
    "s = maximum(s, 1)": False,
    "s = where(s > 0, 1.0, 2.0)": False,
    "s = h(s)": False,
    "s = s if i < 100 else 1.0": False,
    "if i > 4:\n        s = 1.0": False,
    "if i > 100:\n        s = 1.0\n        continue": False,
    "if i > 100:\n        s = 1.0\n        break": False,
    "for k in range(2):\n        s = k * 1.0": False,
    "reset()": False,
    "try:\n        s = s + 1\n    except ValueError:\n        s = 0.0": False,
    "t, s = s * 2, i * 1.0": False,
    "s = [s][0]": False,
}
"""A statement of a loop's body, and whether the nan of an earlier turn certainly reaches the end."""


RESET = """def reset():
    global s
    s = 0.0
"""


@pytest.mark.parametrize("body", PROOFS)
def test_a_run_ends_only_where_its_nan_certainly_reaches_the_answer(body, repeated, monkeypatch):
    text = f"""def f(a, b):
    if b > 3:
        return a - 1
    return a * b
def g(a):
    return g2(a) + 1
def g2(a):
    return a * 2
def h(a):
    if a > 3:
        return a
    return 1.0
{RESET if body == "reset()" else ""}
s = 1.0
for i in range(6):
    if i == 2:
        s = s + log(i - 2 - s * s)
    {body}
s + log(-1.0)
"""
    (warning,) = load(text).run(options=Options(compile="never")).warnings
    assert (repeated[0].answer is not None) == PROOFS[body]
    monkeypatch.setattr(_Again, "hands_on", lambda self, instruction: False)
    (whole,) = load(text).run(options=Options(compile="never")).warnings
    seen = [(w.message, w.span, w.labels, w.notes) for w in (warning, whole)]
    assert seen[0] == seen[1]
