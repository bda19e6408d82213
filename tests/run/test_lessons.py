"""Programs written for PyTorch, as lessons write them, run as they stand.

The numbers are what PyTorch 2.13 prints with float64 as its default.
"""

import pytest

from gradcli.program import Options, load

FIT = '''
# -*- coding: utf-8 -*-
import torch
import math


class Cubic(torch.autograd.Function):
    """The third Legendre polynomial with a backward pass of its own."""

    @staticmethod
    def forward(ctx, input):
        """Value; the input is kept for the derivative."""
        ctx.save_for_backward(input)
        return 0.5 * (5 * input ** 3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input ** 2 - 1)


dtype = torch.float
device = torch.device("cpu")
x = torch.linspace(-math.pi, math.pi, 2000, device=device, dtype=dtype)
y = torch.sin(x)
a = torch.full((), 0.0, device=device, dtype=dtype, requires_grad=True)
b = torch.full((), -1.0, device=device, dtype=dtype, requires_grad=True)
c = torch.full((), 0.0, device=device, dtype=dtype, requires_grad=True)
d = torch.full((), 0.3, device=device, dtype=dtype, requires_grad=True)

learning_rate = 5e-6
for t in range(300):
    P3 = Cubic.apply
    y_pred = a + b * P3(c + d * x)
    loss = (y_pred - y).pow(2).sum()
    if t % 100 == 99:
        print(t, loss.item())
    loss.backward()
    with torch.no_grad():
        a -= learning_rate * a.grad
        b -= learning_rate * b.grad
        c -= learning_rate * c.grad
        d -= learning_rate * d.grad
        a.grad = None
        b.grad = None
        c.grad = None
        d.grad = None

print(f'Result: {b.item():.9f} * P3({d.item():.9f} x)')
'''

LEAVES = """
from __future__ import print_function
import torch
from torch.autograd import Variable

x = Variable(torch.ones(2, 2), requires_grad=True)
print(x)
y = x + 2
print(y.grad_fn)
z = y * y * 3
out = z.mean()
print(z, out)
x_leaf = y.grad_fn.next_functions[0][0]
print(type(x), id(x_leaf.variable) == id(x), 'grad' in dir(x))
out.backward()
print(x.grad)
frozen = Variable(torch.ones(2), volatile=True)
print((frozen * 2).requires_grad)
"""

GRADIENTS = """
import torch
x = torch.arange(4.0)
x.requires_grad_(True)
print(x.grad)
y = 2 * torch.dot(x, x)
print(y)
y.backward()
print(x.grad, x.grad == 4 * x)
x.grad.zero_()
x.sum().backward()
print(x.grad)
x.grad.zero_()
y = x * x
u = y.detach()
z = u * x
z.sum().backward()
print(x.grad == u)

def f(a):
    b = a * 2
    while b.norm() < 1000:
        b = b * 2
    if b.sum() > 0:
        c = b
    else:
        c = 100 * b
    return c

a = torch.randn(size=(), requires_grad=True)
d = f(a)
d.backward()
print(a.grad == d / a)
"""

NETWORK = """
import torch
dtype = torch.FloatTensor
x = torch.linspace(-1, 1, 12).view(4, 3).type(dtype)
y = torch.linspace(1, -1, 8).view(4, 2).type(dtype)
w1 = torch.linspace(-0.5, 0.5, 15).view(3, 5).requires_grad_()
w2 = torch.linspace(0.4, -0.4, 10).view(5, 2).requires_grad_()
for t in range(3):
    y_pred = x.mm(w1).clamp(min=0).mm(w2)
    loss = (y_pred - y).pow(2).sum()
    print(t, loss.data)
    loss.backward()
    w1.data -= 1e-2 * w1.grad.data
    w2.data -= 1e-2 * w2.grad.data
    w1.grad.data.zero_()
    w2.grad.data.zero_()
print(w2)
"""

LESSONS = {
    "a fit with a rule of its own": (
        FIT,
        """\
99 209.9583853175731
199 144.66035693877
299 100.7025681184463
Result: -1.547119474 * P3(0.249785729 x)""",
    ),
    "leaves and the graph": (
        LEAVES,
        """\
tensor([[1., 1.],
        [1., 1.]], requires_grad=True)
<AddBackward0>
tensor([[27., 27.],
        [27., 27.]], grad_fn=<MulBackward0>) tensor(27., grad_fn=<MeanBackward0>)
<class 'torch.Tensor'> True True
tensor([[4.5000, 4.5000],
        [4.5000, 4.5000]])
False""",
    ),
    "gradients of a vector": (
        GRADIENTS,
        """\
None
tensor(28., grad_fn=<MulBackward0>)
tensor([ 0.,  4.,  8., 12.]) tensor([True, True, True, True])
tensor([1., 1., 1., 1.])
tensor([True, True, True, True])
tensor(True)""",
    ),
    "a network of two layers": (
        NETWORK,
        """\
0 tensor(1.8238)
1 tensor(1.7339)
2 tensor(1.6440)
tensor([[ 0.4259,  0.3275],
        [ 0.2389,  0.1427],
        [ 0.0478, -0.0478],
        [-0.1427, -0.2389],
        [-0.3275, -0.4259]], requires_grad=True)""",
    ),
}


@pytest.mark.parametrize(("text", "printed"), LESSONS.values(), ids=LESSONS)
def test_a_lesson_prints_what_pytorch_prints(text, printed):
    seeded = Options(seed=0)  # `a.grad == d / a` hangs on how the quotient of a number is rounded
    got, expected = load(text).run(options=seeded).printed, printed.splitlines()
    assert len(got) == len(expected), got
    for mine, theirs in zip(got, expected, strict=True):
        numbers = mine.split(), theirs.split()
        assert len(numbers[0]) == len(numbers[1]), (mine, theirs)
        for a, b in zip(*numbers, strict=True):
            assert a == b or float(a) == pytest.approx(float(b), rel=1e-12), (mine, theirs)
