"""Twins in place that change how a tensor shows its memory, and `detach_`. What is printed is what
PyTorch prints, but for names of views whose base has been changed.
"""

import numpy as np
import pytest

from gradcli.errors import RunError
from gradcli.program import load

X = "x = torch.arange(6.0).reshape(2, 3).clone().requires_grad_()\nw = torch.arange(6.0)\n"
PRINTED = {
    "a computed tensor": (
        "y = x * 1\nz = y.t_()\n(y * w.reshape(3, 2)).sum().backward()\n"
        "print(z is y, y.shape, y.grad_fn)\nprint(x.grad)",
        "True torch.Size([3, 2]) <TBackward1>\ntensor([[0., 2., 4.],\n        [1., 3., 5.]])",
    ),
    "a view turns, its base does not": (
        "b = x * 1\nv = b[:]\nv.t_()\nL = (v * w.reshape(3, 2)).sum()\n"
        "print(v.shape, v.grad_fn, b.shape, b.grad_fn)\nprint(torch.autograd.grad(L, x)[0])",
        "torch.Size([3, 2]) <TBackward1> torch.Size([2, 3]) <MulBackward0>\n"
        "tensor([[0., 2., 4.],\n        [1., 3., 5.]])",
    ),
    "a base turns, its views do not": (
        "b = x * 1\nv = b[0]\nb.t_()\nL = (v * w[:3]).sum() + (b * w.reshape(3, 2)).sum()\n"
        "print(v.tolist())\nprint(torch.autograd.grad(L, x)[0])",
        "[0.0, 1.0, 2.0]\ntensor([[0., 3., 6.],\n        [1., 3., 5.]])",
    ),
    "and are changed": (
        "b = x * 1\nv = b[0]\nb.t_()\nv.mul_(3)\nb[1].mul_(2)\n"
        "L = (v * w[:3]).sum() + (b * b.detach() * w.reshape(3, 2)).sum()\n"
        "print(v.tolist(), b.tolist())\nprint(torch.autograd.grad(L, x)[0])",
        "[0.0, 6.0, 6.0] [[0.0, 3.0], [6.0, 8.0], [6.0, 5.0]]\n"
        "tensor([[ 0., 78., 78.],\n        [ 3., 48., 25.]])",
    ),
    "several times": (
        "b = x * 1\nv = b[0]\nb.t_()\nu = b[0]\nb.unsqueeze_(0)\nb.mul_(2)\n"
        "L = (b * w.reshape(3, 2)).sum() + u @ tensor([1.0, 10.0]) + v @ tensor([3.0, 5.0, 7.0])\n"
        "print(b)\nprint(torch.autograd.grad(L, x)[0])",
        "tensor([[[ 0.,  6.],\n         [ 2.,  8.],\n         [ 4., 10.]]], "
        "grad_fn=<MulBackward0>)\ntensor([[ 8., 14., 22.],\n        [22.,  6., 10.]])",
    ),
    "squeeze_": (
        "y = x[:1, :1] * 3 + 3\ny.squeeze_()\nprint(y, y.grad_fn)\ny *= 2\nprint(y)\n"
        "print(torch.autograd.grad(y * y, x)[0])\nz = x.reshape(1, 6, 1) * 1\nz.squeeze_(0)\n"
        "print(z.shape, z.grad_fn)\nz.squeeze_((0, 1))\nprint(z.shape, z.grad_fn)",
        "tensor(3., grad_fn=<SqueezeBackward3>) <SqueezeBackward3>\n"
        "tensor(6., grad_fn=<MulBackward0>)\n"
        "tensor([[72.,  0.,  0.],\n        [ 0.,  0.,  0.]])\n"
        "torch.Size([6, 1]) <SqueezeBackward4>\ntorch.Size([6]) <SqueezeBackward5>",
    ),
    "transpose_ and its other names": (
        "y = (x * 1).reshape(1, 2, 3).clone()\ny.transpose_(0, 2)\nprint(y.shape, y.grad_fn)\n"
        "y.swapaxes_(0, 1)\nprint(y.shape)\ny.swapdims_(0, -1)\nprint(y.shape)",
        "torch.Size([3, 2, 1]) <TransposeBackward1>\ntorch.Size([2, 3, 1])\ntorch.Size([1, 3, 2])",
    ),
    "plain data": (
        "y = w[:3]\ny.unsqueeze_(0)\ny.t_()\ny[0] = 7.0\nprint(y.tolist(), w.tolist())",
        "[[7.0], [1.0], [2.0]] [7.0, 1.0, 2.0, 3.0, 4.0, 5.0]",
    ),
    "a number": (
        "k = torch.tensor(3.0, requires_grad=True)\ny = k * 2\ny.unsqueeze_(0)\n"
        "print(y, torch.autograd.grad(y.sum(), k))",
        "tensor([6.], grad_fn=<UnsqueezeBackward1>) (tensor(2.),)",
    ),
    "nothing": (
        "y = x[:0] * 1\ny.t_()\ny.mul_(2)\nprint(y.shape, torch.autograd.grad(y.sum(), x))",
        "torch.Size([3, 0]) (tensor([[0., 0., 0.],\n        [0., 0., 0.]]),)",
    ),
    "a view under no_grad": (
        "b = x * 1\nv = b[0]\nwith torch.no_grad():\n    v.unsqueeze_(0)\n"
        "print(v.shape, torch.autograd.grad((v * w[:3]).sum(), x))",
        "torch.Size([1, 3]) (tensor([[0., 1., 2.],\n        [0., 0., 0.]]),)",
    ),
    "detach_": (
        "y = x * 2\ny.detach_()\nprint(y.requires_grad, y.is_leaf, y.grad_fn)\n"
        "k = torch.tensor(1.0, requires_grad=True)\nk.detach_()\nprint(k)",
        "False True None\ntensor(1.)",
    ),
    "others on its memory change": (
        "y = x * 1\nk = y.detach()\ny.unsqueeze_(0)\nk.t_()\nprint(y.grad_fn)\ny.mul_(2)\n"
        "v = y[0]\nv.t_()\nprint(y.grad_fn, v.shape)",
        "<UnsqueezeBackward1>\n<MulBackward0> torch.Size([3, 2])",
    ),
    "detach_ of a base": (
        "y = x * 2\nv = y[0]\ny.detach_()\nprint(v.grad_fn, torch.autograd.grad(v.sum(), x)[0])",
        "<SelectBackward0> tensor([[2., 2., 2.],\n        [0., 0., 0.]])",
    ),
    "detach_ of what has been turned": (
        "y = x * 2\ny.t_()\ny.detach_()\ny.mul_(2)\nprint(y.requires_grad)",
        "False",
    ),
}


@pytest.mark.parametrize("name", PRINTED)
def test_a_tensor_turns_as_pytorchs(name):
    text, printed = PRINTED[name]
    assert "\n".join(load(X + text).run().printed) == printed


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x.t_()", "leaf-in-place"),
        ("x[0].unsqueeze_(0)", "leaf-in-place"),
        ("with torch.no_grad():\n    x.t_()", "leaf-in-place"),
        ("b = x * 1\ny = b * b\nb.t_()\ny.sum().backward()", "changed-in-place"),
        ("b = x * 1\nwith torch.no_grad():\n    v = b[0]\nv.unsqueeze_(0)", "unrecorded-view"),
        ("(x * 1)[0].detach_()", "not-a-leaf"),
        ("(x * 1).unsqueeze_(7)", "index-out-of-range"),
        ("(x * 1).view_(3)", "unknown-attribute"),
    ],
)
def test_what_cannot_be_turned(text, code):
    with pytest.raises(RunError) as caught:
        load(X + text).run()
    assert caught.value.diagnostics[0].code == code


def test_both_modes_go_through_and_no_grad_cuts_nothing():
    text = (
        "param x: float[2, 3] = [[0.1, 0.2, 0.3], [0.5, 0.7, 1.1]]\nb = x * x\nv = b[0]\nb.t_()\n"
        "with no_grad():\n    b.unsqueeze_(0)\nv.pow_(3)\nb.pow_(2)\n"
        "(b * linspace(0, 1, 6).reshape(3, 2)).sum() + v.sum()"
    )
    apart = (
        "param x: float[2, 3] = [[0.1, 0.2, 0.3], [0.5, 0.7, 1.1]]\nb = x * x\n"
        "b = stack([b[0] ** 3, b[1]])\nb = b * b\n"
        "(b.T * linspace(0, 1, 6).reshape(3, 2)).sum() + b[0].sum()"
    )
    expected = load(apart).hessian()
    for mode in ("forward", "reverse"):
        found = load(text).hessian(mode=mode)
        assert np.allclose(found.grad["x"], expected.grad["x"], rtol=1e-14)
        assert np.allclose(found.hessian["x"]["x"], expected.hessian["x"]["x"], rtol=1e-13)
        jacobian = load(text).jacobian(mode=mode).jacobian["x"]
        assert np.allclose(jacobian, expected.grad["x"], rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("x = zeros(2, 3)\ny = x\nx.t_()\ny @ zeros(3, 4)", True),
        ("x = zeros(2, 3)\nfor i in range(3):\n    x.t_()\nx @ zeros(3, 4)", True),
        ("input c = 1.0\nx = zeros(2, 3)\nif c > 0:\n    x.t_()\nx @ zeros(3, 4)", False),
        ("x = zeros(2, 3)\ndef f(a):\n    a.t_()\nf(x)\nx @ zeros(3, 4)", False),
        (
            "input c = 1.0\nx = ones(2, 3)\ny = x if c > 0 else ones(2, 3)\ny.t_()\nx @ ones(3)",
            False,
        ),
    ],
)
def test_check_knows_the_shape_where_it_is_certain(text, known):
    with pytest.raises(RunError):
        load(text).run()
    errors = [f for f in load(text).check().findings if f.severity == "error"]
    assert bool(errors) == known
