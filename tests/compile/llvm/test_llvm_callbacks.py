"""Machine code that has Python do a step: to the last bit what a run gives, and left as it is left."""

import numpy as np
import pytest
from support.programs.array_programs import ASKED, HEAD, MATRICES, both, machine_code

from gradcli.program import load

pytest.importorskip("llvmlite")

from gradcli.engine.compile.llvm.arrays import body
from gradcli.engine.compile.llvm.arrays.callbacks import callback

REST = "y = y * 0.5 + exp(-y * y) * b / (1 + y * y) - sin(x) * where(x > b, x, b * y)\n"
STEPS = {
    "the largest": "y = y - y.max() * b\n",
    "a softmax": "y = y * softmax(y * b, 0) + log_softmax(y, 0) * 0.1\n",
    "running sums": "y = y + y.cumsum(0) * 0.01\n",
    "a special function": "y = y * erf(y) + torch.lgamma(x * x + 1) * b\n",
    "how far they spread": "y = y / (1 + y.std()) + y.norm() * b\n",
    "a solution": "m = y.reshape(10, 10) + 9 * eye(10)\ny = y + solve(m, m[0] * b).sum() * x\n",
    "of a part": "y = y + y[3::2].cumsum(0).sum() * x - x.reshape(4, 25)[:, ::3].amax(1).sum()\n",
    "of what lies in columns": "y = y + y.reshape(4, 25).T.prod(0).sum() * b\n",
    "a vector by a stack": "y = y + (x[:5] @ y.reshape(4, 5, 5)).sum() * b * 0.01\n",
    "of what is true": "y = y * b + (y > b).cumsum(0) * 0.01\n",
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_in_python_amid_machine_code(name):
    step = STEPS[name]
    inside = "".join(f"    {line}\n" for line in (REST + REST + step).splitlines())
    for text in (f"{REST}{step}", f"for i in range(20):\n{inside}"):
        program = load(f"{HEAD}y = x * b\n{text}y.sum() * b")
        for question, more in ASKED.items():
            run, code = both(program, question, **more)
            assert run == code or "depends on the path" in code, (question, text)


@pytest.mark.parametrize("name", ["the largest", "a softmax", "running sums", "a special function"])
def test_one_step_in_python_leaves_the_others_machine_code(name, monkeypatch):
    made = machine_code(monkeypatch)
    program = load(f"{HEAD}y = x * b\n{REST}{STEPS[name]}{REST}y.sum() * b")
    run, code = both(program, "run")
    assert run == code
    assert made


def test_a_step_that_raises_is_told_as_in_a_run(monkeypatch):
    made = machine_code(monkeypatch)
    text = f"y = x * b\n{REST}m = y.reshape(10, 10) * 0.0\nsolve(m, x[:10]).sum() * b + y.sum()"
    run, code = both(load(HEAD + text), "run", {"x": np.ones(100), "b": 0.5})
    assert run == code
    assert "singular" in code
    assert made


WITHOUT_PYTHON = {
    "element by element": "((x[:20] * b - 1) ** 2).sum() + (exp(x[:20]) / (1 + b * b)).sum()",
    "a logistic regression": "z = x.reshape(10, 10) @ x[:10]\nlog(1 + exp(z)).sum() * b",
    "stacks of matrices": "m = x.reshape(4, 5, 5)\n(m @ m.mT).sum() * b",
    "a stack by a single matrix": "m = x.reshape(4, 5, 5)\n(tanh(m) @ m[0]).sum() * b",
    "a single matrix by a stack": "m = x.reshape(4, 5, 5)\n(m[1] @ tanh(m)).sum() * b",
    "parts of a stack": "m = x.reshape(2, 2, 5, 5)\n(m[:, 0] @ m[:, 1]).sum() * b",
    "stacks of several dimensions": "m = x.reshape(2, 2, 5, 5)\n(m @ tanh(m)).sum() * b",
}


@pytest.mark.parametrize("name", WITHOUT_PYTHON)
@pytest.mark.parametrize("asked", [*ASKED, *MATRICES])
def test_several_directions_need_no_step_in_python(name, asked, monkeypatch):
    called = []
    monkeypatch.setattr(body, "callback", lambda i, *more: called.append(i) or callback(i, *more))
    program = load(HEAD + WITHOUT_PYTHON[name])
    run, code = both(program, asked.partition(" ")[0], **{**ASKED, **MATRICES}[asked])
    assert run == code
    assert not called
