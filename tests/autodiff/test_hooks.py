"""Hooks, `retain_grad`, `backward` by all its options: random programs and what PyTorch prints."""

import json
import re
from pathlib import Path

import pytest
from support.checks.amounts import chunks

from gradcli.errors import GradError
from gradcli.program import load

ROWS = json.loads((Path(__file__).parent / "reference" / "hooks.json").read_text("utf-8"))
"""Lines of a program, and what it prints in PyTorch (None: it is refused)."""

TURN = 25


def seen(printed):
    """The text of tensors without line ends and without the names of nodes."""
    return re.sub(r",?\s*grad_fn=<\w+>", ", recorded", re.sub(r"\s+", " ", printed)).strip()


@pytest.mark.parametrize("start", chunks(len(ROWS) // 2, len(ROWS), TURN))
def test_programs_do_what_they_do_in_pytorch(start):
    for lines, expected in ROWS[start : start + TURN]:
        text = "\n".join(lines)
        try:
            printed = seen("\n".join(load(text).run().printed))
        except GradError:
            printed = None
        assert printed == (None if expected is None else seen(expected)), text


BEFORE = "x = tensor([1.0, 2.0], requires_grad=True)\na = x * 2\n"

PRINTS = {
    "a hook on a result that nobody used gets None": (
        "p, q = x.split(1)\nq.register_hook(lambda g: print(g))\np.sum().backward()\nprint(x.grad)",
        "None\ntensor([1., 0.])",
    ),
    "a hook on one of several results": (
        "v = tensor([[3.0, 1.0]], requires_grad=True)\nm, i = v.max(1)\n"
        "m.register_hook(lambda g: g * 5)\nm.sum().backward()\nprint(v.grad)",
        "tensor([[5., 0.]])",
    ),
    "a gradient by a hooked tensor is what its hooks made": (
        "a.register_hook(lambda g: g * 10)\nprint(torch.autograd.grad(a.sum(), [a, x]))",
        "(tensor([10., 10.]), tensor([20., 20.]))",
    ),
    "a leaf's hook runs as soon as its gradient is complete": (
        "y = tensor([3.0, 4.0], requires_grad=True)\nv = y * y\n"
        "y.register_hook(lambda g: print('y', g))\nx.register_hook(lambda g: print('x', g))\n"
        "w = (x * x).sin()\n(v + w).sum().backward()",
        "x tensor([ 1.0806, -2.6146])\ny tensor([6., 8.])",
    ),
    "a hook does not record in a pass that is not": (
        "x.register_hook(lambda g: print((g * x).requires_grad))\na.sum().backward()\n"
        "(x * x).sum().backward(create_graph=True)",
        "False\nTrue",
    ),
    "a hook that is removed twice": (
        "h = a.register_hook(lambda g: g * 10)\nh.remove()\nh.remove()\na.sum().backward()\n"
        "print(x.grad)",
        "tensor([2., 2.])",
    ),
    "a gradient that is materialized": (
        "y = tensor([1.0], requires_grad=True)\n"
        "print(torch.autograd.grad(a.sum(), [y], materialize_grads=True))",
        "(tensor([0.]),)",
    ),
    "a gradient of `create_graph` is a copy": (
        "(x * x).sum().backward(create_graph=True)\nprint(x.grad)",
        "tensor([2., 4.], grad_fn=<CopyBackwards>)",
    ),
}


@pytest.mark.parametrize(("text", "printed"), PRINTS.values(), ids=list(PRINTS))
def test_a_program_prints(text, printed):
    assert "\n".join(load(BEFORE + text).run().printed) == printed


REFUSED = {
    "a.register_hook(lambda g: g[:1])\na.sum().backward()": ("shape-mismatch", 3),
    "a.register_hook(lambda g: g.to(float32))\na.sum().backward()": ("dtype-mismatch", 3),
    "a.register_hook(lambda g: [1, 2])\na.sum().backward()": ("dtype-mismatch", 3),
    "a.register_hook(lambda g: 3.0)\na.sum().backward()": ("shape-mismatch", 3),
    "a.sum().backward(inputs=[])": ("unused-input", 3),
    "a.sum().backward(inputs=[3.0])": ("wrong-type", 3),
    "a.sum().backward(inputs=[a.detach()])": ("no-graph", 3),
    "torch.autograd.grad(a.sum(), ones(2))": ("no-graph", 3),
    "ones(2).retain_grad()": ("no-graph", 3),
    "ones(2).register_hook(sin)": ("no-graph", 3),
    "a.sum().backward('a')": ("wrong-type", 3),
    "torch.autograd.grad(a.sum(), x, 'a')": ("wrong-type", 3),
    "h = a.register_hook(sin)\nh.remove(1)": ("wrong-arity", 4),
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_wrong_use_is_refused_at_its_place(text):
    code, line = REFUSED[text]
    with pytest.raises(GradError) as caught:
        load(BEFORE + text).run()
    (found,) = caught.value.diagnostics
    assert (found.code, found.place[1]) == (code, line)


@pytest.mark.parametrize("kept", ["a.retain_grad()", "a.retain_grad()\na *= 2"])
def test_what_retains_its_gradient_does_not_stop_the_command(kept):
    program = load(f"x = tensor([1.0, 2.0], requires_grad=True)\na = x ** 3\n{kept}\na.sum()")
    factor = 1 + kept.count("*= 2")
    assert program.hessian().hessian["x"]["x"].tolist() == [[6 * factor, 0], [0, 12 * factor]]
    assert program.jacobian(mode="forward").jacobian["x"].tolist() == [3 * factor, 12 * factor]
    assert program.gradcheck().passed
