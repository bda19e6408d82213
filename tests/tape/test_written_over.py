"""A change in place that is written over the old memory is the one that makes new memory."""

import numpy as np
import pytest

from gradcli.engine.ops import inplace
from gradcli.errors import GradError
from gradcli.program import Options, load

HEAD = "param x: float[n]\nw = x.detach().clone().requires_grad_()\n"
PROGRAMS = {
    "steps": "for i in range(3):\n    (w * w).sum().backward()\n    with no_grad():\n"
    "        w -= 0.1 * w.grad\n        w.grad.zero_()\nw",
    "gradients that add up": "for i in range(3):\n    (w * w).sum().backward()\nw.grad",
    "what a node has saved": "y = w * w\nwith no_grad():\n    w += 1.0\ny.sum().backward()",
    "a part of what forward mode reads": "y = x * 1.0\nz = y.tanh()\nwith no_grad():\n"
    "    v = y[1:]\n    v += 1.0\nz",
    "what forward mode reads": "y = x * 1.0\nz = y.tanh()\nwith no_grad():\n    y += 1.0\nz",
}
UNRECORDED = {
    "a view": "a = x.detach().clone()\nb = a[1:]\na *= 2.0\na += b.sum()\nb",
    "a view is changed": "a = x.detach().clone()\nb = a[1:]\nb *= 2.0\na",
    "the same memory": "a = w.detach()\na -= 1.0\n(w, a)",
    "data": "a = x.detach().clone()\nb = zeros(3)\nb.data = a\na /= 2.0\n(a, b)",
    "itself": "a = x.detach().clone()\na -= a\na *= a\na",
    "an input": "with no_grad():\n    x -= 1.0\n    x *= x\nx",
    "an input's memory": "y = x.detach()\ny -= 1.0\n(x, y)",
    "a list of states": "a = zeros(3)\nall = []\nfor i in range(3):\n    a += 1.0\n"
    "    all.append(a)\nall.append(a.clone())\nall",
    "other dtypes": "a = zeros(3)\na += 1\na += True\na += ones(3).float()\nb = ones(3).long()\n"
    "b += 2\n(a, b)",
    "other shapes": "a = zeros(2, 3)\na += x.detach()\na.t_()\na -= ones(3, 2)\na",
    "too large": "a = zeros(3)\na += ones(2, 3)",
    "a number": "a = tensor(2.0)\na *= 3.0\na",
    "a gradient given": "set_grad_enabled(True)\nw.grad = x.detach()\n(w * w).sum().backward()\n(x, w.grad)",
    "a gradient without dimensions": "set_grad_enabled(True)\na = tensor(0.5, requires_grad=True)\n"
    "((w + a) ** 2).sum().backward()\n(w + a).sum().backward()\n"
    "(((w + a) ** 2).sum() + ((w + a) * 3).sum()).backward()\n"
    "with no_grad():\n    a.grad.mul_(tensor(0.5))\n    a.grad += 1.0\na.grad",
    "a bias": "a = zeros(3)\na.add_(x.detach(), alpha=2.0)\na",
}


PROGRAMS |= {name: "set_grad_enabled(False)\n" + text for name, text in UNRECORDED.items()}


def outcome(text):
    given = np.array([0.5, -2.0, 3.0])
    program, never = load(HEAD + text), Options(compile="never")
    found = []
    for ask in (program.run, program.jvp):
        named = {} if ask == program.run else {"tangents": {"x": [1.0, 2.0, 3.0]}}
        try:
            found.append(repr(ask(x=given, options=never, **named)))
        except GradError as error:
            found.append(error.diagnostics[0].message)
    assert given.tolist() == [0.5, -2.0, 3.0]
    return found


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_nothing_shows_that_memory_is_written_over(text, monkeypatch):
    found = outcome(text)
    monkeypatch.setattr(inplace, "_written_over", lambda *args: False)
    assert found == outcome(text)


def test_steps_of_training_are_written_over(monkeypatch):
    real, times = inplace._written_over, []
    monkeypatch.setattr(inplace, "_written_over", lambda *a: times.append(real(*a)) or times[-1])
    load(HEAD + PROGRAMS["steps"]).run(x=[0.5, -2.0, 3.0], options=Options(compile="never"))
    assert times.count(True) == 5, "3 updates, 2 gradients that are added"
