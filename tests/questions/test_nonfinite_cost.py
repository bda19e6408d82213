"""What it costs to tell where nan began: how many runs, passes and closer looks, in any loop."""

from __future__ import annotations

import pytest

from gradcli import load
from gradcli.engine.autodiff import losses, motion, visits
from gradcli.engine.autodiff.losses import CHUNK
from gradcli.engine.run.execution.execute import Executable
from gradcli.engine.run.execution.nonfinite_origins import Origins
from gradcli.made.library_index import FILES
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
    monkeypatch.setattr(_Again, "hands_on", lambda self, *asked: False)
    (whole,) = load(text).run(options=Options(compile="never")).warnings
    seen = [(w.message, w.span, w.labels, w.notes) for w in (warning, whole)]
    assert seen[0] == seen[1]


OWN_STEP = """w = tensor([3.0, 2.0], requires_grad=True)
for i in range({turns}):
    loss = (w * w).sum() + {term}
    loss.backward()
    with no_grad():
        w -= 0.0001 * w.grad
        w.grad.zero_()
loss
"""

STEPS = {
    "own": OWN_STEP,
    "new": OWN_STEP.replace("        w.grad.zero_()\n", "        w.grad = None\n"),
    "SGD": """import torch
w = torch.tensor([3.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.0001)
for i in range({turns}):
    optimizer.zero_grad()
    loss = (w * w).sum() + {term}
    loss.backward()
    optimizer.step()
loss
""",
    "a transform": """def f(w, i):
    return (w * w).sum() + {term}
w = tensor([3.0, 2.0])
for i in range({turns}):
    w = w - 0.0001 * grad(f)(w, 1.0 * i)
w.sum()
""",
    "a number": """def f(w, i):
    return w * w + {number}
w = 3.0
for i in range({turns}):
    w = w - 0.0001 * grad(f)(w, 1.0 * i)
w
""",
}
STEPS["Adam"] = STEPS["SGD"].replace("SGD", "Adam")

LOST = {
    "a value": "log({at} - i + 0.001 * w[0] - 0.5)",
    "a slope": "sqrt((w[0] - w[0] + i - {at}) ** 2)",
}
"""Terms that are nan from turn number `at` + 1 on, or have a derivative that is nan there."""


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("kind", STEPS)
def test_a_training_that_diverges_is_repeated_up_to_its_first_nan_only(
    kind, lost, counted, repeated
):
    """The turns behind it are not looked through, be they few or many."""
    for turns, at in ((30, 0), (80, 12), (30, 27)):
        counted.clear()
        repeated.clear()
        term = LOST[lost].format(at=at)
        text = STEPS[kind].format(turns=turns, term=term, number=term.replace("w[0]", "w"))
        (warning,) = load(text).run(options=Options(compile="never")).warnings
        blamed = "`log` made nan" if lost == "a value" else "derivative of `sqrt` is not finite"
        assert blamed in warning.message
        assert any(f"in the {at + 1}" in note for note in warning.notes)
        (run,) = repeated
        assert run.answer is not None
        assert run.events <= 20 * (at + 3)  # a turn has up to 20 operations
        assert counted["runs"] <= (2 if lost == "a value" else 4)


@pytest.mark.parametrize("kind", ["own", "SGD"])
def test_a_pass_of_nan_makes_no_marks(kind, monkeypatch):
    """They tell the zeros that take part; here is none."""
    made, plain = [], motion.Reach._advance
    monkeypatch.setattr(
        motion.Reach, "_advance", lambda self, node: (made.append(node), plain(self, node))[1]
    )
    text = STEPS[kind].format(turns=20, term="log(w[0] - 5.0)")
    load(text).run(options=Options(compile="never", explain=False))
    assert made == []


KEEP = {
    # what keeps a tensor that is nan as it is
    "w.grad.zero_()": True,
    "w.grad = None": True,
    "w.sub_(0.1 * w.grad)": True,
    "w.mul_(0.5)": True,
    "w /= 2.0": True,
    "losses[i] = 1.0": True,
    # what may make it finite, or something that shares its memory, or is not known to keep it
    "w.zero_()": False,
    "w.fill_(1.0)": False,
    "w.copy_(tensor([3.0, 2.0]))": False,
    "w.data = tensor([3.0, 2.0])": False,
    "w.data[0] = 3.0": False,
    "w[0] = 3.0": False,
    "v = w[:1]\n        v[0] = 3.0": False,
    "v = w.detach()\n        v.zero_()": False,
    "w **= 0": False,
    "w.grad = w.detach()\n        w.grad.zero_()": False,
}
"""A statement of a step, and whether a tensor that is nan in one turn certainly is in the next."""


@pytest.mark.parametrize("change", KEEP)
def test_a_run_ends_only_if_nothing_makes_its_nan_finite_in_place(change, repeated, monkeypatch):
    text = f"""w = tensor([3.0, 2.0], requires_grad=True)
losses = zeros(6)
for i in range(6):
    loss = (w * w).sum() + log(w[0] - 4.0 + i)
    loss.backward()
    with no_grad():
        w -= 0.0001 * w.grad
        {change}
loss + log(-1.0)
"""
    (warning,) = load(text).run(options=Options(compile="never")).warnings
    assert (repeated[0].answer is not None) == KEEP[change]
    monkeypatch.setattr(_Again, "hands_on", lambda self, *asked: False)
    (whole,) = load(text).run(options=Options(compile="never")).warnings
    seen = [(w.message, w.span, w.labels, w.notes) for w in (warning, whole)]
    assert seen[0] == seen[1]


OPTIMIZERS = [
    path.rpartition(".")[2]
    for path, file in FILES.items()
    if path.startswith("torch.optim.") and path.count(".") == 2 and path != "torch.optim.Optimizer"
]


@pytest.mark.parametrize("lost", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_no_optimizer_makes_a_lost_parameter_finite(name, lost):
    """The search for nan ends early on that ground."""
    text = f"""import torch
w = torch.tensor([float('{lost}'), 2.0], requires_grad=True)
v = torch.tensor([3.0, 2.0], requires_grad=True)
optimizer = torch.optim.{name}([w, v])
def closure():
    optimizer.zero_grad()
    loss = (w * w).sum() + (v * v).sum()
    loss.backward()
    return loss
for i in range(3):
    optimizer.step(closure)
w.isfinite()
"""
    found = load(text).run(options=Options(compile="never"))
    assert found.result.data[0] == 0
