"""Programs that go back through their own graph, as code: `backward` and `torch.autograd.grad`."""

import re

import pytest
from support.checks.amounts import chunks
from support.programs.training_programs import Writer

from gradcli.errors import GradError
from gradcli.program import Options, load

HEAD = "w = tensor([1.0, -2.0, 0.5], requires_grad=True)\nx = tensor([0.1, 0.2, 0.3])\n"
DOWN = "    with no_grad():\n        w -= 0.1 * w.grad\n"

PROGRAMS = {
    "a node that is printed": "y = (w * x).sum()\ny.backward()\nprint(y, w)",
    "a loop that trains": "for i in range(90):\n    loss = ((w * x).sum() - 3.0) ** 2\n"
    f"    loss.backward()\n{DOWN}        w.grad.zero_()\nw.grad",
    "gradients that are let go": "for i in range(90):\n    loss = ((w * x).sum() - 3.0) ** 2\n"
    f"    loss.backward()\n{DOWN}    w.grad = None\nw.grad is None",
    "gradients that are forgotten": f"for i in range(9):\n    (w * x * w).sum().backward()\n{DOWN}w",
    "another leaf in each turn": "for i in range(90):\n    loss = ((w * x).sum() - 3.0) ** 2\n"
    "    loss.backward()\n    w = (w.detach() - 0.1 * w.grad).requires_grad_()\nw",
    "a graph over turns": "s = tensor(0.0)\nfor i in range(90):\n    s = s + (w * x).sum() ** 2 / (i + 1)\n"
    "s.backward()\nprint(w.grad)",
    "turns within a turn": "for i in range(90):\n    h = w * 0\n    for j in range(70):\n"
    "        h = h * 0.9 + w * x\n    loss = (h - 1.0).pow(2).mean()\n    loss.backward()\n"
    f"{DOWN}    w.grad.zero_()\nloss.item()",
    "two passes through one graph": "for i in range(90):\n    a = (w * x).sum()\n"
    "    (g,) = torch.autograd.grad(a ** 2, [w], retain_graph=True)\n    (a ** 3).backward()\n"
    "    with no_grad():\n        w -= 0.1 * (g + w.grad)\n    w.grad = None\nw",
    "several roots": "for i in range(90):\n    torch.autograd.backward([(w * x).sum(), w.pow(2).sum()])\n"
    f"{DOWN}    w.grad.zero_()\nw",
    "a gradient that is given": "for i in range(90):\n    (w * w).backward(x)\n"
    f"{DOWN}    w.grad.zero_()\nw",
    "two ways": "for i in range(90):\n    loss = (w * x).sum() if i % 3 else (w - x).pow(2).sum()\n"
    "    loss.backward()\n    with no_grad():\n        if w.grad.norm() > 1:\n"
    "            w.grad /= w.grad.norm()\n        w.sub_(0.1 * w.grad)\n    w.grad.zero_()\nw",
    "numbers": "a = tensor(0.5, requires_grad=True)\nfor i in range(90):\n"
    "    loss = (a * (i * 0.01) - 1.0) ** 2\n    loss.backward()\n    with no_grad():\n"
    "        a -= 0.1 * a.grad\n        a.grad.zero_()\nprint(a.is_leaf, a.requires_grad, a.item())",
    "a leaf that a function trains": "def step(p):\n    (p * x).sum().pow(2).backward()\n"
    "    with no_grad():\n        p -= 0.1 * p.grad\n    p.grad.zero_()\n"
    "for i in range(90):\n    step(w)\nw",
    "the memory of a leaf": "d = w.detach()\nq = x\nfor i in range(90):\n    (w * w).sum().backward()\n"
    f"{DOWN}    w.grad.zero_()\n    q = d\nprint(q, d)",
    "data": "for i in range(90):\n    (w * w * x).sum().backward()\n    w.data -= 0.1 * w.grad\n"
    "    w.grad.data.zero_()\n    w.data = w.data * 0.99\nw.data",
    "what it tells": "for i in range(3):\n    (w * x).sum().backward()\n    print(w, w.grad, w.is_leaf)",
    "inputs": "v = tensor(2.0, requires_grad=True)\nfor i in range(90):\n    y = (w * x).sum() * v\n"
    f"    y.backward(inputs=[w])\n{DOWN}    w.grad.zero_()\nprint(v.grad)",
}

REFUSED = {
    "y = (w * x).sum()\ny.backward()\ny.backward()": "gone back through twice",
    "y = (w * w).sum()\nwith no_grad():\n    w.zero_()\ny.backward()": "has been changed",
    "s = (w * x).sum()\nfor i in range(900):\n    s.backward(retain_graph=True)": "over turns",
    "y = (w * x).sum()\ny.backward(create_graph=True)": "a backward pass is recorded",
    "(w * x).sum().register_hook(print)": "`.register_hook()` of a value known",
    "u = w\nfor i in range(90):\n    (w * x).sum().backward()\n"
    "    w = (w.detach() * 0.9).requires_grad_()\nu.grad": "has two names",
    "for i in range(90):\n    h = w.detach()\n    (w * h).sum().backward()\n"
    f"{DOWN}    w.grad = None\nh": "a view is read whose base has changed",
    "x.requires_grad_()\nx.sum().backward()": "of a value known only",
    "y = (w * w).sum()\nprint(torch.autograd.grad(y * w.sum(), (y, w)))": "another and by what",
    "u = w.detach()\nw.data = w.data * 2\nu": "a view is read whose base has changed",
    "t = tensor(2.0, requires_grad=True)\nfor i in range(300):\n    (t * 2).backward()\n"
    "    g = t.grad\n    if i > 5:\n        t.grad = None": "holds something else in each turn",
}


def answered(text, when):
    """What a run gives and prints, by code or without."""
    printed = []
    try:
        options = Options(compile=when, grad_fn=False, echo=printed.append)
        found = load(text).run({}, options=options)
    except GradError as error:
        return str(error), printed
    bindings = re.sub(r", grad_fn='\w+'", "", repr(found.bindings))  # at which nobody looks
    return repr(found.result), bindings, printed


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_gives_the_answer_of_a_run(name):
    text = HEAD + PROGRAMS[name]
    assert answered(text, "always") == answered(text, "never")


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_compiled_says_why(text):
    assert REFUSED[text] in answered(HEAD + text, "always")[0]


DIFFERENTIATED = {
    "a leaf that is an array": "y = (w * x * w).sum()",
    "after a pass of its own": "y = (w * x * w).sum()\ny.backward()",
    "a gradient is a constant": "(w * w * w).sum().backward()\ny = (w * w.grad).sum()",
    "a gradient that is changed": "(w * w * w).sum().backward()\nwith no_grad():\n    w.grad.add_(w)\n"
    "    w.grad *= w.grad\ny = (w * w.grad).sum()",
    "gradients that add up": "(w * w).sum().backward()\nx.sum().item()\n(w * x).sum().backward()\n"
    "g = w.grad * 1\nw.grad.zero_()\n(w * g).sum().backward()\ny = (w * w.grad * g).sum()",
    "numbers": "a = tensor(1.5, requires_grad=True)\nb = sin(a) * a\nb.backward()\ny = a * b * a.grad",
    "two leaves": "v = ones(3, requires_grad=True)\n(w * v).sum().backward()\ny = (w * v + v.grad).sum()",
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_a_program_with_passes_of_its_own_is_differentiated(name):
    program = load(HEAD + DIFFERENTIATED[name])
    for question in ("grad", "jacobian", "hessian"):
        code, run = (
            getattr(program, question)({}, of="y", options=Options(compile=when))
            for when in ("always", "never")
        )
        assert repr(code.answer) == repr(run.answer)
        assert code.value == run.value


def test_a_leaf_that_a_program_changes_is_not_differentiated_by_code():
    text = (
        HEAD
        + "(w * x).sum().backward()\n"
        + DOWN.replace("    ", "", 1).replace("        ", "    ")
    )
    text += "y = (w * w).sum()"
    with pytest.raises(GradError, match="not compiled"):
        load(text).grad({}, of="y", options=Options(compile="always"))


@pytest.mark.parametrize(
    "given", ["gradient=tensor(2.0)", "tensor(2.0), inputs=[w]", "tensor(2.0), gradient=x", "foo=1"]
)
def test_backward_takes_its_arguments_by_name(given):
    text = f"{HEAD}(w * x).sum().backward({given})\nw.grad"
    run, code = answered(text, "never"), answered(text, "always")
    assert run == code or "`.backward()` of a value known only at run time" in code[0]
    assert ("cannot be called" in run[0]) is (run != code)


@pytest.mark.parametrize("text", ["lambda: x", "[sin, lambda: x]", "grad(sin)", "type([x])"])
def test_a_function_is_no_result(text):
    assert answered(HEAD + text, "always") == answered(HEAD + text, "never")
    assert answered(HEAD + text, "always")[0] == "None"


@pytest.mark.parametrize("first", chunks(few=1, many=50, size=8))
def test_random_programs(first):
    for seed in range(first, first + 8):
        text = Writer(seed).program()
        code = answered(text, "always")
        assert "not compiled" in code[0] or code == answered(text, "never"), text
