"""A table of small programs over every part of autograd, with what they print or how they fail.

The outcomes are those of PyTorch 2, with two exceptions: a change through `.data` is watched here, so
that it is refused where a saved value changed; and an update that reads the tensor it changes
(`y *= y`, `y[1] *= y[0]`) is differentiated right where PyTorch refuses it. Where an own rule is
wrong, the line is the rule's.
"""

import pytest

from gradcli.errors import GradError
from gradcli.program import load

PRINTS = {
    # --- accumulate
    "two backward calls from different outputs add up": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
(3 * x).sum().backward()
print(x.grad)""",
        "tensor([5., 7.])",
    ),
    "the gradient of one leaf is not that of another": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = tensor([3.0, 4.0], requires_grad=True)
(x + y).sum().backward()
x.grad[0] = 7.0
print(x.grad, y.grad)""",
        "tensor([7., 1.]) tensor([1., 1.])",
    ),
    "the gradient does not share memory with the cotangent": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
g = tensor([5.0, 6.0])
(x + 0).backward(g)
x.grad.zero_()
print(g)""",
        "tensor([5., 6.])",
    ),
    "a cotangent given to a leaf becomes its gradient, not its memory": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
g = tensor([5.0, 6.0])
x.backward(g)
x.backward(g)
print(g, x.grad)""",
        "tensor([5., 6.]) tensor([10., 12.])",
    ),
    "accumulation without create_graph keeps the object": (
        """\
x = tensor([1.0], requires_grad=True)
x.sum().backward()
before = x.grad
x.sum().backward()
print(before is x.grad, before)""",
        "True tensor([2.])",
    ),
    "accumulation with create_graph makes a new object": (
        """\
x = tensor([1.0], requires_grad=True)
(x * x).sum().backward(create_graph=True)
before = x.grad
(x * x).sum().backward(create_graph=True)
print(before is x.grad, before.detach(), x.grad.detach())""",
        "False tensor([2.]) tensor([4.])",
    ),
    "a gradient set by hand is added to": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
x.grad = tensor([10.0, 20.0])
(x * x).sum().backward()
print(x.grad)""",
        "tensor([12., 24.])",
    ),
    "zero_ and backward in a loop": (
        """\
w = tensor(1.0, requires_grad=True)
for i in range(3):
    loss = (w - 3.0) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.25 * w.grad
    w.grad.zero_()
print(w)""",
        "tensor(2.7500, requires_grad=True)",
    ),
    "a broadcast leaf gets the sum": (
        """\
x = tensor([2.0], requires_grad=True)
y = tensor([[1.0, 2.0], [3.0, 4.0]])
(x * y).sum().backward()
print(x.grad)""",
        "tensor([10.])",
    ),
    "a kept dim gets the sum with its shape": (
        """\
x = tensor([[1.0], [2.0]], requires_grad=True)
y = tensor([[1.0, 2.0, 3.0]])
(x * y).sum().backward()
print(x.grad)""",
        """\
tensor([[6.],
        [6.]])""",
    ),
    "a 0-d leaf in a matrix": (
        """\
x = tensor(2.0, requires_grad=True)
(x * ones(2, 3)).sum().backward()
print(x.grad)""",
        "tensor(6.)",
    ),
    "a leaf used in a diamond": (
        """\
x = tensor(2.0, requires_grad=True)
a = x * x
b = a * 3
c = a * a
(b * c).backward()
print(x.grad)""",
        "tensor(576.)",
    ),
    "the gradient of a leaf has no grad_fn": (
        """\
x = tensor(2.0, requires_grad=True)
(x * x).backward()
print(x.grad.requires_grad, x.grad.grad_fn, x.grad.is_leaf)""",
        "False None True",
    ),
    # --- what is a leaf, what requires grad
    "a constant is a leaf that requires nothing": (
        """\
x = ones(2)
y = x * 2
print(x.is_leaf, y.is_leaf, y.requires_grad, y.grad_fn)""",
        "True True False None",
    ),
    "requires_grad_ afterwards": (
        """\
x = ones(2)
y = x * 2
y.requires_grad_()
print(y.is_leaf, y.requires_grad)
(y * y).sum().backward()
print(y.grad, x.grad)""",
        """\
True True
tensor([4., 4.]) None""",
    ),
    "requires_grad switched off": (
        """\
x = ones(2, requires_grad=True)
x.requires_grad_(False)
print((x * 2).requires_grad)""",
        "False",
    ),
    "requires_grad assigned": (
        """\
x = ones(2)
x.requires_grad = True
(x * 3).sum().backward()
print(x.grad)""",
        "tensor([3., 3.])",
    ),
    "a comparison does not require grad": (
        """\
x = tensor([1.0, -1.0], requires_grad=True)
y = x > 0
print(y, y.requires_grad)""",
        "tensor([ True, False]) False",
    ),
    "an int result does not require grad": (
        """\
x = tensor([1.0, 3.0], requires_grad=True)
i = x.argmax()
print(i, i.requires_grad)""",
        "tensor(1) False",
    ),
    "clone is not a leaf": (
        """\
x = tensor([1.0], requires_grad=True)
y = x.clone()
print(y.is_leaf, y)
(y * 3).sum().backward()
print(x.grad)""",
        """\
False tensor([1.], grad_fn=<CloneBackward0>)
tensor([3.])""",
    ),
    "float() of ints starts a new leaf": (
        """\
x = tensor([1, 2]).double()
x.requires_grad_()
(x * x).sum().backward()
print(x.grad)""",
        "tensor([2., 4.])",
    ),
    "a gradient of float32 is float32": (
        """\
x = tensor([1.0, 2.0], dtype=torch.float32, requires_grad=True)
y = tensor([3.0, 4.0], dtype=torch.float64)
(x * y).sum().backward()
print(x.grad)""",
        "tensor([3., 4.], dtype=torch.float32)",
    ),
    # --- bad calls
    "one element in a matrix needs no gradient": (
        """\
x = tensor([[3.0]], requires_grad=True)
(x * x).backward()
print(x.grad)""",
        "tensor([[6.]])",
    ),
    # --- backward twice
    "backward through a shared part that saved nothing": (
        """\
x = tensor(2.0, requires_grad=True)
a = x + 1
b = a * a
c = a * 3
b.backward()
c.backward()
print(x.grad)""",
        "tensor(9.)",
    ),
    "create_graph keeps the buffers": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * x * x
torch.autograd.grad(y, x, create_graph=True)
print(torch.autograd.grad(y, x))""",
        "(tensor(12.),)",
    ),
    "linear ops may be passed again": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = (x.reshape(2, 1).T - 3).sum()
y.backward()
y.backward()
print(x.grad)""",
        "tensor([2., 2.])",
    ),
    "the forward value survives": (
        """\
x = tensor(2.0, requires_grad=True)
y = torch.exp(x * 0)
y.backward()
print(y.detach(), y.item())""",
        "tensor(1.) 1.0",
    ),
    "the part that was not visited is not freed": (
        """\
x = tensor(2.0, requires_grad=True)
w = tensor(3.0, requires_grad=True)
y = x * x
z = w * w
out = y * z
print(torch.autograd.grad(out, y))
print(torch.autograd.grad(y, x), torch.autograd.grad(z, w))""",
        """\
(tensor(9.),)
(tensor(4.),) (tensor(6.),)""",
    ),
    # --- deep graphs
    "a chain of 5000 additions": (
        """\
x = tensor(1.0, requires_grad=True)
y = x
for i in range(5000):
    y = y + 1
y.backward()
print(y.detach(), x.grad)""",
        "tensor(5001.) tensor(1.)",
    ),
    "a chain of 3000 products with branches": (
        """\
x = tensor(1.0, requires_grad=True)
y = x * 1
for i in range(3000):
    y = y * 0.5 + y * 0.5
y.backward()
print(x.grad)""",
        "tensor(1.)",
    ),
    "a deep graph of views": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
for i in range(500):
    y = y.view(2)
y.sum().backward()
print(x.grad)""",
        "tensor([1., 1.])",
    ),
    "a second derivative through a loop": (
        """\
x = tensor(1.0, requires_grad=True)
y = x * 1
for i in range(9):
    y = y * x
g, = torch.autograd.grad(y, x, create_graph=True)
h, = torch.autograd.grad(g, x)
print(g.detach(), h)""",
        "tensor(10.) tensor(90.)",
    ),
    # --- hooks
    "a hook sees the gradient": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * x
y.register_hook(lambda g: print("y", g))
(y * 3).sum().backward()""",
        "y tensor([3., 3.])",
    ),
    "a hook on a leaf": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
x.register_hook(lambda g: g * 2)
(x * x).sum().backward()
print(x.grad)""",
        "tensor([4., 8.])",
    ),
    "hooks run in order": (
        """\
x = tensor(1.0, requires_grad=True)
y = x * 5
y.register_hook(lambda g: g + 1)
y.register_hook(lambda g: g * 10)
y.backward()
print(x.grad)""",
        "tensor(100.)",
    ),
    "a hook runs once, after all contributions": (
        """\
x = tensor(1.0, requires_grad=True)
y = x * 2
y.register_hook(lambda g: print("got", g))
(y * 3 + y * 4).backward()""",
        "got tensor(7.)",
    ),
    "a leaf's hook sees the sum of one pass, not the accumulation": (
        """\
x = tensor(1.0, requires_grad=True)
x.register_hook(lambda g: print("got", g))
(x * 3 + x * 4).backward()
(x * 2).backward()
print(x.grad)""",
        """\
got tensor(7.)
got tensor(2.)
tensor(9.)""",
    ),
    "a hook that is not on the path does not run": (
        """\
x = tensor(1.0, requires_grad=True)
y = x * 2
z = x * 3
y.register_hook(lambda g: print("never"))
z.backward()
print(x.grad)""",
        "tensor(3.)",
    ),
    "a hook that returns None changes nothing": (
        """\
x = tensor(1.0, requires_grad=True)
def look(g):
    seen = g * 100
y = x * 2
y.register_hook(look)
y.backward()
print(x.grad)""",
        "tensor(2.)",
    ),
    "a hook under create_graph is differentiated": (
        """\
x = tensor(3.0, requires_grad=True)
y = x * x
y.register_hook(lambda g: g * x)
g, = torch.autograd.grad(y, x, create_graph=True)
print(g.detach(), torch.autograd.grad(g, x))""",
        "tensor(18.) (tensor(12.),)",
    ),
    "retain_grad sees what the hook before it made": (
        """\
x = tensor(1.0, requires_grad=True)
y = x * 2
y.register_hook(lambda g: g * 10)
y.retain_grad()
y.backward()
print(y.grad, x.grad)""",
        "tensor(10.) tensor(20.)",
    ),
    "a hook of one of several results": (
        """\
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
a, b, c = x.unbind()
a.register_hook(lambda g: g * 100)
(a + b + c).backward()
print(x.grad)""",
        "tensor([100.,   1.,   1.])",
    ),
    # --- retain_grad
    "retain_grad of a leaf does nothing": (
        """\
x = tensor(2.0, requires_grad=True)
x.retain_grad()
(x * x).backward()
print(x.grad)""",
        "tensor(4.)",
    ),
    "an inner gradient is None without it": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * x
y.backward()
print(x.grad)""",
        "tensor(4.)",
    ),
    "retained gradients accumulate": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * 2
y.retain_grad()
(y * 3).backward(retain_graph=True)
(y * 4).backward()
print(y.grad, x.grad)""",
        "tensor(7.) tensor(14.)",
    ),
    "retain_grad twice is once": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * 2
y.retain_grad()
y.retain_grad()
(y * 3).backward()
print(y.grad)""",
        "tensor(3.)",
    ),
    "the retained gradient of a vector": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
h = x * x
h.retain_grad()
(h * h).sum().backward()
print(h.grad, x.grad)""",
        "tensor([2., 8.]) tensor([ 4., 32.])",
    ),
    "retain_grad with autograd.grad fills nothing": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * 2
z = y * y
g, = torch.autograd.grad(z, y)
print(g, x.grad)""",
        "tensor(8.) None",
    ),
    "a gradient has the dtype of what it is the gradient of": (
        """\
y = tensor([1.5], dtype=torch.float32, requires_grad=True)
y.backward(tensor([2.0]))
x = tensor([1.5], requires_grad=True)
x.register_hook(lambda g: print(g.dtype))
x.backward(tensor([2.0], dtype=torch.float32))
g = tensor([2.0], dtype=torch.float32, requires_grad=True)
h, = torch.autograd.grad(x, x, g, create_graph=True)
print(y.grad, x.grad, h, torch.autograd.grad(h, g)[0])""",
        "torch.float64\ntorch.float64\n"
        "tensor([2.], dtype=torch.float32) tensor([2.]) tensor([2.], grad_fn=<ToCopyBackward0>) "
        "tensor([1.], dtype=torch.float32)",
    ),
    # --- no_grad, enable_grad, detach, data
    "a view of a view is changed under no_grad": (
        """\
x = tensor([[1.0, 2.0]], requires_grad=True)
v = x[-1]
with torch.no_grad():
    w = v[1]
    w.mul_(2)
v.sum().backward()
print(w, x.grad, x)""",
        "tensor(4., grad_fn=<Invalid>) tensor([[1., 1.]]) tensor([[1., 4.]], requires_grad=True)",
    ),
    "nothing is recorded under no_grad": (
        """\
x = tensor(2.0, requires_grad=True)
with torch.no_grad():
    y = x * x
    z = tensor(1.0, requires_grad=True)
print(y.requires_grad, y.is_leaf, z.requires_grad)""",
        "False True True",
    ),
    "a function called under no_grad": (
        """\
def f(a):
    return a * a
x = tensor(2.0, requires_grad=True)
with torch.no_grad():
    y = f(x)
print(y, f(x))""",
        "tensor(4.) tensor(4., grad_fn=<MulBackward0>)",
    ),
    "no_grad ends with its block": (
        """\
x = tensor(2.0, requires_grad=True)
with torch.no_grad():
    with torch.no_grad():
        pass
    a = x * 2
b = x * 2
print(a.requires_grad, b.requires_grad)""",
        "False True",
    ),
    "what no_grad made is a constant": (
        """\
x = tensor(2.0, requires_grad=True)
with torch.no_grad():
    s = x * x
(s * x).backward()
print(x.grad)""",
        "tensor(4.)",
    ),
    "detach shares memory": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x.detach()
y[0] = 9.0
print(x, y.requires_grad)""",
        "tensor([9., 2.], requires_grad=True) False",
    ),
    "data assigned keeps the leaf": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
x.data = x.data - 0.5 * x.grad
print(x, x.is_leaf)""",
        "tensor([0., 0.], requires_grad=True) True",
    ),
    "data updated in place": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
x.data -= 1
x.data.add_(3)
print(x)""",
        "tensor([3., 4.], requires_grad=True)",
    ),
    "detach inside an expression is a constant": (
        """\
x = tensor(3.0, requires_grad=True)
y = x * x.detach()
g, = torch.autograd.grad(y, x)
print(g)""",
        "tensor(3.)",
    ),
    "straight-through rounding": (
        """\
x = tensor([0.4, 1.6], requires_grad=True)
y = x + (x.round() - x).detach()
(y * y).sum().backward()
print(y.detach(), x.grad)""",
        "tensor([0., 2.]) tensor([0., 4.])",
    ),
    "an update under no_grad between passes": (
        """\
w = tensor([1.0, 2.0], requires_grad=True)
(w * w).sum().backward()
with torch.no_grad():
    w.sub_(w.grad)
    w.grad.zero_()
(w * w).sum().backward()
print(w, w.grad)""",
        "tensor([-1., -2.], requires_grad=True) tensor([-2., -4.])",
    ),
    "no_grad in the middle of a loop": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * 1
for i in range(4):
    if i % 2 == 0:
        y = y * x
    else:
        with torch.no_grad():
            c = y * 1
        y = y + c
y.backward()
print(y.detach(), x.grad)""",
        "tensor(32.) tensor(16.)",
    ),
    # --- indexing
    "repeated indices in a loss": (
        """\
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
i = tensor([0, 2, 2, 2])
(x[i] * tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
print(x.grad)""",
        "tensor([1.0000e+00, 0.0000e+00, 1.1100e+03])",
    ),
    "repeated rows": (
        """\
x = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
x[[1, 1, 0]].sum().backward()
print(x.grad)""",
        """\
tensor([[1., 1.],
        [2., 2.]])""",
    ),
    "pairs of indices with repeats": (
        """\
x = zeros(2, 3, requires_grad=True)
x[[0, 0, 1], [2, 2, 0]].sum().backward()
print(x.grad)""",
        """\
tensor([[0., 0., 2.],
        [1., 0., 0.]])""",
    ),
    "a mask": (
        """\
x = tensor([-1.0, 2.0, -3.0], requires_grad=True)
(x[x > -2] * 5).sum().backward()
print(x.grad)""",
        "tensor([5., 5., 0.])",
    ),
    "a mask that selects nothing": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x[x > 10].sum()
y.backward()
print(y.detach(), x.grad)""",
        "tensor(0.) tensor([0., 0.])",
    ),
    "a step in a slice": (
        """\
x = arange(6.0).requires_grad_()
(x[::2] * x[1::2]).sum().backward()
print(x.grad)""",
        "tensor([1., 0., 3., 2., 5., 4.])",
    ),
    "negative indices": (
        """\
x = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
(x[-1] * x[:, -1]).sum().backward()
print(x.grad)""",
        """\
tensor([[0., 3.],
        [2., 8.]])""",
    ),
    "an ellipsis and None": (
        """\
x = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x[..., None, 0]
print(y.shape)
(y * y).sum().backward()
print(x.grad)""",
        """\
torch.Size([2, 1])
tensor([[2., 0.],
        [6., 0.]])""",
    ),
    "gather with repeats": (
        """\
x = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
x.gather(1, tensor([[0, 0], [1, 0]])).sum().backward()
print(x.grad)""",
        """\
tensor([[2., 0.],
        [1., 1.]])""",
    ),
    "index_select with repeats": (
        """\
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
x.index_select(0, tensor([1, 1, 2])).sum().backward()
print(x.grad)""",
        "tensor([0., 2., 1.])",
    ),
    "the second derivative of repeated indices": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = (x[[0, 0, 1]] ** 3).sum()
g, = torch.autograd.grad(y, x, create_graph=True)
h, = torch.autograd.grad(g.sum(), x)
print(g.detach(), h)""",
        "tensor([ 6., 12.]) tensor([12., 12.])",
    ),
    # --- in place
    "a leaf made part of a graph by requires_grad_ afterwards": (
        """\
x = ones(2)
x += 1
x.requires_grad_()
(x * x).sum().backward()
print(x.grad)""",
        "tensor([4., 4.])",
    ),
    "a constant takes up a gradient": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = zeros(2)
y += x * 3
print(y)
y.sum().backward()
print(x.grad)""",
        """\
tensor([3., 6.], grad_fn=<AddBackward0>)
tensor([3., 3.])""",
    ),
    "the input that add does not save": (
        """\
a = tensor([2.0], requires_grad=True)
b = a * 1
c = b + a
b += 1
c.backward()
print(a.grad)""",
        "tensor([2.])",
    ),
    "sum saves nothing": (
        """\
a = tensor([1.0, 2.0], requires_grad=True)
b = a * 1
c = b.sum()
b.mul_(5)
c.backward()
print(a.grad)""",
        "tensor([1., 1.])",
    ),
    "a factor is not saved when the other needs no gradient": (
        """\
a = tensor([2.0], requires_grad=True)
b = a * 1
c = b * tensor([4.0])
b += 1
c.backward()
print(a.grad)""",
        "tensor([4.])",
    ),
    "a chain in place": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x.clone()
y.mul_(3).add_(1)
y.sum().backward()
print(y.detach(), x.grad)""",
        "tensor([4., 7.]) tensor([3., 3.])",
    ),
    "exp_ in place saves the new result": (
        """\
x = tensor([0.0, 1.0], requires_grad=True)
y = x * 1
y.exp_()
y.sum().backward()
print(x.grad)""",
        "tensor([1.0000, 2.7183])",
    ),
    "sin_ in place keeps the old input": (
        """\
x = tensor([0.0], requires_grad=True)
y = x * 1
y.sin_()
y.sum().backward()
print(x.grad)""",
        "tensor([1.])",
    ),
    "an in-place product with itself": (
        """\
x = tensor([3.0], requires_grad=True)
y = x * 1
y *= y
y.sum().backward()
print(y.detach(), x.grad)""",
        "tensor([9.]) tensor([6.])",
    ),
    "an alias sees the update": (
        """\
x = tensor([3.0], requires_grad=True)
a = x * 2
b = a
b += 1
print(a is b, a.detach())
(a * b).sum().backward()
print(x.grad)""",
        """\
True tensor([7.])
tensor([28.])""",
    ),
    "clone is not an alias": (
        """\
x = tensor([3.0], requires_grad=True)
a = x * 2
b = a.clone()
b += 1
(a * b).sum().backward()
print(x.grad)""",
        "tensor([26.])",
    ),
    "the sum of an accumulator": (
        """\
x = tensor(2.0, requires_grad=True)
acc = tensor(0.0)
for i in range(4):
    acc += x ** i
acc.backward()
print(acc.detach(), x.grad)""",
        "tensor(15.) tensor(17.)",
    ),
    "an accumulator that is used before it changes": (
        """\
x = tensor(2.0, requires_grad=True)
acc = tensor(1.0)
total = tensor(0.0)
for i in range(3):
    acc = acc * x
    total = total + acc * acc
total.backward()
print(x.grad)""",
        "tensor(228.)",
    ),
    "zero_ cuts": (
        """\
x = tensor([3.0], requires_grad=True)
y = x * 2
y.zero_()
z = y + x
z.backward()
print(x.grad)""",
        "tensor([1.])",
    ),
    "fill_ cuts": (
        """\
x = tensor([3.0, 4.0], requires_grad=True)
y = x * 2
y.fill_(7)
(y * x).sum().backward()
print(x.grad)""",
        "tensor([7., 7.])",
    ),
    "copy_ connects": (
        """\
x = tensor([3.0, 4.0], requires_grad=True)
y = zeros(2)
y.copy_(x)
(y * y).sum().backward()
print(x.grad)""",
        "tensor([6., 8.])",
    ),
    "an assigned item is differentiated by the value": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = zeros(4)
y[1:3] = x * x
(y * arange(4.0)).sum().backward()
print(x.grad)""",
        "tensor([2., 8.])",
    ),
    "an assigned slice with a step": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = ones(4) * x[0]
y[::2] = x
y.sum().backward()
print(x.grad)""",
        "tensor([3., 1.])",
    ),
    "an item assigned by a mask": (
        """\
x = tensor([1.0, -2.0, 3.0], requires_grad=True)
y = x * 1
y[x < 0] = 0.0
(y * y).sum().backward()
print(x.grad)""",
        "tensor([2., 0., 6.])",
    ),
    "items assigned by an index tensor": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = zeros(3)
y[tensor([2, 0])] = x
(y * tensor([1.0, 10.0, 100.0])).sum().backward()
print(x.grad)""",
        "tensor([100.,   1.])",
    ),
    "an item updated in place": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
y[0] += y[1]
y[1] *= y[0]
y.sum().backward()
print(y.detach(), x.grad)""",
        "tensor([3., 6.]) tensor([3., 6.])",
    ),
    "a scalar assigned to several items": (
        """\
x = tensor(2.0, requires_grad=True)
y = zeros(2, 3)
y[:, 1] = x
y.sum().backward()
print(x.grad)""",
        "tensor(2.)",
    ),
    "an item assigned to a leaf under no_grad": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    x[0] = 5.0
print(x)""",
        "tensor([5., 2.], requires_grad=True)",
    ),
    "clamp_ in place": (
        """\
x = tensor([-1.0, 0.5, 3.0], requires_grad=True)
y = x * 1
y.clamp_(0, 1)
y.sum().backward()
print(y.detach(), x.grad)""",
        "tensor([0.0000, 0.5000, 1.0000]) tensor([0., 1., 0.])",
    ),
    "an int tensor takes no float": (
        """\
x = tensor([1, 2, 3])
x[0] = 2.7
print(x)""",
        "tensor([2, 2, 3])",
    ),
    "relu_ in place": (
        """\
x = tensor([-1.0, 2.0], requires_grad=True)
y = x * 1
y.relu_()
y.sum().backward()
print(x.grad)""",
        "tensor([0., 1.])",
    ),
    "in place with a broadcast value": (
        """\
x = tensor([1.0], requires_grad=True)
y = ones(3) * 2
y *= x
y.sum().backward()
print(x.grad)""",
        "tensor([6.])",
    ),
    # --- views
    "an update through a view of a view": (
        """\
x = arange(6.0).reshape(2, 3).requires_grad_()
y = x * 1
v = y[1]
w = v[1:]
w *= 10
(y * y).sum().backward()
print(y.detach(), x.grad)""",
        """\
tensor([[ 0.,  1.,  2.],
        [ 3., 40., 50.]]) tensor([[   0.,    2.,    4.],
        [   6.,  800., 1000.]])""",
    ),
    "a sibling view sees the update": (
        """\
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 1
a = y[:2]
b = y[1:]
a *= 10
b.sum().backward()
print(b.detach(), x.grad)""",
        "tensor([20.,  3.]) tensor([ 0., 10.,  1.])",
    ),
    "an update through a transposed view": (
        """\
x = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x * 1
y.t()[0] *= 5
(y * y).sum().backward()
print(y.detach(), x.grad)""",
        """\
tensor([[ 5.,  2.],
        [15.,  4.]]) tensor([[ 50.,   4.],
        [150.,   8.]])""",
    ),
    "an update through reshape": (
        """\
x = tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
y = x * 1
m = y.view(2, 2)
m[0, 1] = 0.0
y.sum().backward()
print(y.detach(), x.grad)""",
        "tensor([1., 0., 3., 4.]) tensor([1., 0., 1., 1.])",
    ),
    "an update through squeeze and unsqueeze": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
y.unsqueeze(0).squeeze(0).mul_(3)
(y * y).sum().backward()
print(x.grad)""",
        "tensor([18., 36.])",
    ),
    "a view of a constant takes up a gradient": (
        """\
x = tensor(2.0, requires_grad=True)
y = zeros(3)
v = y[1:]
v += x
print(y.requires_grad, y.detach())
(y * y).sum().backward()
print(x.grad)""",
        """\
True tensor([0., 2., 2.])
tensor(8.)""",
    ),
    "the view itself after its update": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
v = y[0:1]
v *= 4
v.sum().backward()
print(x.grad)""",
        "tensor([4., 0.])",
    ),
    "a view made before its base changed": (
        """\
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 1
v = y[1:]
y *= x
(v * tensor([1.0, 10.0])).sum().backward()
print(v.detach(), x.grad)""",
        "tensor([4., 9.]) tensor([ 0.,  4., 60.])",
    ),
    "a view of a view after its base changed": (
        """\
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 1
v = y[1:]
w = v[1:]
y *= 2
v *= 3
w.sum().backward()
print(w.detach(), x.grad)""",
        "tensor([18.]) tensor([0., 0., 6.])",
    ),
    "an unrelated clone of a view is left alone": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
v = y[0].clone()
y *= 0
(v * v).backward()
print(x.grad)""",
        "tensor([2., 0.])",
    ),
    "a change of a detached view is seen, not differentiated": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x + 0
y.detach()[0] = 10.0
y.sum().backward()
print(y.detach(), x.grad)""",
        "tensor([10.,  2.]) tensor([1., 1.])",
    ),
    "a second derivative through a view update": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
y[0] *= x[1]
s = (y ** 2).sum()
g, = torch.autograd.grad(s, x, create_graph=True)
h, = torch.autograd.grad(g.sum(), x)
print(g.detach(), h)""",
        "tensor([8., 8.]) tensor([16., 12.])",
    ),
    # --- own functions
    "two results": (
        """\
class Both(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y
    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h, g * x + h
x = tensor(2.0, requires_grad=True)
y = tensor(3.0, requires_grad=True)
p, s = Both.apply(x, y)
(p * 10 + s).backward()
print(p, s, x.grad, y.grad)""",
        "tensor(6., grad_fn=<BothBackward>) tensor(5., grad_fn=<BothBackward>) tensor(31.) tensor(21.)",
    ),
    "the unused result has a zero cotangent": (
        """\
class Both(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3
    @staticmethod
    def backward(ctx, g, h):
        print(g, h)
        return g * 2 + h * 3
x = tensor([1.0, 2.0], requires_grad=True)
a, b = Both.apply(x)
b.sum().backward()
print(x.grad)""",
        """\
tensor([0., 0.]) tensor([1., 1.])
tensor([3., 3.])""",
    ),
    "None for an input": (
        """\
class Scale(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k
    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None
x = tensor([1.0, 2.0], requires_grad=True)
Scale.apply(x, 5).sum().backward()
print(x.grad)""",
        "tensor([5., 5.])",
    ),
    "needs_input_grad": (
        """\
class Mul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        print(ctx.needs_input_grad)
        return x * y
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        print(ctx.needs_input_grad)
        return (g * y if ctx.needs_input_grad[0] else None), (g * x if ctx.needs_input_grad[1] else None)
x = tensor(2.0, requires_grad=True)
y = tensor(3.0)
Mul.apply(x, y).backward()
print(x.grad)""",
        """\
(True, False)
(True, False)
tensor(3.)""",
    ),
    "mark_non_differentiable": (
        """\
class Split(Function):
    @staticmethod
    def forward(ctx, x):
        mask = x * 0 + 1
        ctx.mark_non_differentiable(mask)
        ctx.save_for_backward(mask)
        return x * 2, mask
    @staticmethod
    def backward(ctx, g, h):
        return g * 2
x = tensor([1.0, 2.0], requires_grad=True)
y, m = Split.apply(x)
print(y.requires_grad, m.requires_grad)
(y * m).sum().backward()
print(x.grad)""",
        """\
True False
tensor([2., 2.])""",
    ),
    "no result needs a gradient without an input that does": (
        """\
class Id(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        return g
print(Id.apply(ones(2)))""",
        "tensor([1., 1.])",
    ),
    "forward is not recorded": (
        """\
class Sq(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        print(y.requires_grad)
        ctx.save_for_backward(x)
        return y
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 2 * x
x = tensor(3.0, requires_grad=True)
y = Sq.apply(x)
print(y.requires_grad, y.grad_fn.name())""",
        """\
False
True SqBackward""",
    ),
    "double backward through backward": (
        """\
class Sq(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * x ** 2
x = tensor(2.0, requires_grad=True)
g, = torch.autograd.grad(Sq.apply(x), x, create_graph=True)
h, = torch.autograd.grad(g, x, create_graph=True)
t, = torch.autograd.grad(h, x)
print(g.detach(), h.detach(), t)""",
        "tensor(12.) tensor(12.) tensor(6.)",
    ),
    "a result saved and differentiated twice": (
        """\
class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, g):
        y, = ctx.saved_tensors
        return g * y
x = tensor(0.0, requires_grad=True)
g, = torch.autograd.grad(Exp.apply(x), x, create_graph=True)
print(torch.autograd.grad(g, x))""",
        "(tensor(1.),)",
    ),
    "a rule that is wrong on purpose is obeyed": (
        """\
class Reverse(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        return -g
x = tensor([1.0, 2.0], requires_grad=True)
(Reverse.apply(x) * 3).sum().backward()
print(x.grad)""",
        "tensor([-3., -3.])",
    ),
    "superfluous Nones are no error": (
        """\
class Id(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        return g, None, None
x = tensor(2.0, requires_grad=True)
Id.apply(x).backward()
print(x.grad)""",
        "tensor(1.)",
    ),
    "a gradient that can be summed to the shape": (
        """\
class AddOne(Function):
    @staticmethod
    def forward(ctx, x):
        return x + ones(3)
    @staticmethod
    def backward(ctx, g):
        return g
x = ones(1, requires_grad=True)
AddOne.apply(x).sum().backward()
print(x.grad)""",
        "tensor([3.])",
    ),
    "an own function in a chain with a hook": (
        """\
class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
x = tensor(1.0, requires_grad=True)
y = Twice.apply(Twice.apply(x))
y.register_hook(lambda g: g * 10)
y.backward()
print(x.grad, y.grad_fn.name(), y.grad_fn.next_functions[0][0].name())""",
        "tensor(40.) TwiceBackward TwiceBackward",
    ),
    "the result of an own function changed in place": (
        """\
class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
x = tensor([1.0], requires_grad=True)
y = Twice.apply(x)
y += 1
(y * y).backward()
print(x.grad)""",
        "tensor([12.])",
    ),
    "forward calls another own function": (
        """\
class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
class Four(Function):
    @staticmethod
    def forward(ctx, x):
        return Twice.apply(Twice.apply(x))
    @staticmethod
    def backward(ctx, g):
        return g * 4
x = tensor([1.0], requires_grad=True)
y = Four.apply(x)
print(y)
y.backward()
print(x.grad)""",
        """\
tensor([4.], grad_fn=<FourBackward>)
tensor([4.])""",
    ),
    "grad inside backward": (
        """\
class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        with torch.enable_grad():
            z = x.detach().requires_grad_()
            d, = torch.autograd.grad(z ** 3, z)
        return g * d
x = tensor(2.0, requires_grad=True)
Cube.apply(x).backward()
print(x.grad)""",
        "tensor(12.)",
    ),
    "None for the gradient of a needed input is zero": (
        """\
class Stop(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        return None
x = tensor(2.0, requires_grad=True)
(Stop.apply(x) * x + x).backward()
print(x.grad)""",
        "tensor(3.)",
    ),
    # --- unused and unreachable inputs
    "an unused leaf has no gradient": (
        """\
x = tensor(2.0, requires_grad=True)
w = tensor(3.0, requires_grad=True)
(x * x).backward()
print(x.grad, w.grad)""",
        "tensor(4.) None",
    ),
    "allow_unused gives None": (
        """\
x = tensor(2.0, requires_grad=True)
w = tensor(3.0, requires_grad=True)
print(torch.autograd.grad(x * x, (x, w), allow_unused=True))""",
        "(tensor(4.), None)",
    ),
    "a value that was overwritten is unreachable": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * 3
y = x * 5
y.backward()
print(x.grad)""",
        "tensor(5.)",
    ),
    "the untaken branch is unreachable": (
        """\
x = tensor(2.0, requires_grad=True)
w = tensor(3.0, requires_grad=True)
y = x * x if x > 0 else w * w
y.backward()
print(x.grad, w.grad)""",
        "tensor(4.) None",
    ),
    "multiplied by zero is used": (
        """\
x = tensor(2.0, requires_grad=True)
(x * 0).backward()
print(x.grad)""",
        "tensor(0.)",
    ),
    # --- autograd.grad
    "several inputs": (
        """\
x = tensor(2.0, requires_grad=True)
y = tensor(3.0, requires_grad=True)
print(torch.autograd.grad(x * y * y, [x, y]))
print(x.grad, y.grad)""",
        """\
(tensor(9.), tensor(12.))
None None""",
    ),
    "several outputs are summed": (
        """\
x = tensor(2.0, requires_grad=True)
print(torch.autograd.grad([x * x, x * 5], x))""",
        "(tensor(9.),)",
    ),
    "grad_outputs": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * x
print(torch.autograd.grad(y, x, grad_outputs=tensor([1.0, 10.0])))""",
        "(tensor([ 2., 40.]),)",
    ),
    "by an inner value": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * x
z = y ** 3
print(torch.autograd.grad(z, y))""",
        "(tensor(48.),)",
    ),
    "by an inner value and the leaf below it": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * x
z = y * x
print(torch.autograd.grad(z, (y, x)))""",
        "(tensor(2.), tensor(12.))",
    ),
    "of the input itself": (
        """\
x = tensor(2.0, requires_grad=True)
print(torch.autograd.grad(x, x))""",
        "(tensor(1.),)",
    ),
    "to the third order": (
        """\
x = tensor(2.0, requires_grad=True)
y = x ** 4
for i in range(3):
    y, = torch.autograd.grad(y, x, create_graph=True)
print(y.detach())""",
        "tensor(48.)",
    ),
    "backward through a gradient": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = (x ** 3).sum()
g, = torch.autograd.grad(y, x, create_graph=True)
(g * g).sum().backward()
print(x.grad)""",
        "tensor([ 36., 288.])",
    ),
    "a gradient penalty": (
        """\
w = tensor([1.0, -2.0], requires_grad=True)
x = tensor([3.0, 4.0], requires_grad=True)
out = (w * x * x).sum()
g, = torch.autograd.grad(out, x, create_graph=True)
penalty = (g ** 2).sum()
penalty.backward()
print(w.grad, x.grad)""",
        "tensor([  72., -256.]) tensor([ 24., 128.])",
    ),
    "a Hessian-vector product by two passes": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
v = tensor([1.0, 1.0])
y = x[0] ** 2 * x[1] + x[1] ** 3
g, = torch.autograd.grad(y, x, create_graph=True)
print(torch.autograd.grad(g @ v, x))""",
        "(tensor([ 6., 14.]),)",
    ),
    "the gradient without create_graph is a constant": (
        """\
x = tensor(2.0, requires_grad=True)
g, = torch.autograd.grad(x ** 3, x)
print(g.requires_grad)
(g * x).backward()
print(x.grad)""",
        """\
False
tensor(12.)""",
    ),
    "backward with inputs leaves the others alone": (
        """\
x = tensor(2.0, requires_grad=True)
w = tensor(3.0, requires_grad=True)
(x * w).backward(inputs=[x])
print(x.grad, w.grad)""",
        "tensor(3.) None",
    ),
    "the same input twice": (
        """\
x = tensor(2.0, requires_grad=True)
print(torch.autograd.grad(x * x, (x, x)))""",
        "(tensor(4.), tensor(4.))",
    ),
    "by one row of an unbound tensor": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
a, b = x.unbind()
print(torch.autograd.grad(a * a + b * b * b, (a, b)))""",
        "(tensor(2.), tensor(12.))",
    ),
    # --- the graph
    "names of nodes": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
print(x.grad_fn, (x + 1).grad_fn, (x - 1).grad_fn, (x * 2).grad_fn, (x / 2).grad_fn)
print((-x).grad_fn, (x ** 2).grad_fn, x.sum().grad_fn, x.mean().grad_fn, x.exp().grad_fn)
print((x @ x).grad_fn, x[0].grad_fn, x.reshape(2, 1).grad_fn, x.relu().grad_fn, x.sin().grad_fn)""",
        """\
None <AddBackward0> <SubBackward0> <MulBackward0> <DivBackward0>
<NegBackward0> <PowBackward0> <SumBackward0> <MeanBackward0> <ExpBackward0>
<DotBackward0> <SelectBackward0> <ViewBackward0> <ReluBackward0> <SinBackward0>""",
    ),
    "names of matrix nodes": (
        """\
a = ones(2, 2, requires_grad=True)
print((a @ a).grad_fn, a.t().grad_fn, a.T.grad_fn, (a @ ones(2)).grad_fn, a.sum(0).grad_fn)
print(a.view(4).grad_fn, a.unsqueeze(0).grad_fn, a.max().grad_fn, a.clone().grad_fn, a[0:1].grad_fn)
print(torch.cat([a, a]).grad_fn, torch.stack([a, a]).grad_fn, a.softmax(0).grad_fn, a.tanh().grad_fn)""",
        """\
<MmBackward0> <TBackward0> <PermuteBackward0> <MvBackward0> <SumBackward1>
<ViewBackward0> <UnsqueezeBackward0> <MaxBackward1> <CloneBackward0> <SliceBackward0>
<CatBackward0> <StackBackward0> <SoftmaxBackward0> <TanhBackward0>""",
    ),
    "next_functions of a constant input is None": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * tensor(3.0)
print(len(y.grad_fn.next_functions), y.grad_fn.next_functions[1], y.grad_fn.next_functions[0][1])""",
        "2 (None, 0) 0",
    ),
    "the numbers of several results": (
        """\
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
a, b, c = x.unbind()
y = c * a
print(y.grad_fn.next_functions[0][1], y.grad_fn.next_functions[1][1])""",
        "2 0",
    ),
    "the walk down to the leaf": (
        """\
x = tensor(2.0, requires_grad=True)
fn = ((x + 1) * x).exp().grad_fn
while fn.name() != "torch::autograd::AccumulateGrad" and fn.name() != "AccumulateGrad":
    print(fn)
    fn = fn.next_functions[0][0]
print(fn.variable is x)""",
        """\
<ExpBackward0>
<MulBackward0>
<AddBackward0>
True""",
    ),
    "in-place ops name their nodes": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
y += 1
print(y.grad_fn)
y[0] = 0.0
print(y.grad_fn)""",
        """\
<AddBackward0>
<CopySlices>""",
    ),
    # --- transforms
    "grad of a lambda": (
        """\
print(grad(lambda x: x ** 3)(tensor(2.0)))""",
        "tensor(12.)",
    ),
    "grad of grad of grad": (
        """\
f = lambda x: x ** 4
print(grad(grad(grad(f)))(tensor(2.0)))""",
        "tensor(48.)",
    ),
    "grad by the second argument": (
        """\
f = lambda x, y: x * y ** 2
print(grad(f, argnums=1)(tensor(2.0), tensor(3.0)))""",
        "tensor(12.)",
    ),
    "grad by two arguments": (
        """\
f = lambda x, y: x * y ** 2
print(grad(f, argnums=(0, 1))(tensor(2.0), tensor(3.0)))""",
        "(tensor(9.), tensor(12.))",
    ),
    "value_and_grad": (
        """\
print(value_and_grad(lambda x: (x * x).sum())(tensor([1.0, 2.0])))""",
        "(tensor(5.), tensor([2., 4.]))",
    ),
    "jacobian of a vector function": (
        """\
f = lambda x: x[0] * x
print(jacobian(f)(tensor([2.0, 3.0])))""",
        """\
tensor([[4., 0.],
        [3., 2.]])""",
    ),
    "jacrev and jacfwd agree": (
        """\
f = lambda x: torch.stack([x.prod(), x.sum(), x[0] ** 2])
x = tensor([2.0, 3.0])
print(jacrev(f)(x))
print(jacfwd(f)(x))""",
        """\
tensor([[3., 2.],
        [1., 1.],
        [4., 0.]])
tensor([[3., 2.],
        [1., 1.],
        [4., 0.]])""",
    ),
    "hessian of a cubic": (
        """\
print(hessian(lambda x: x[0] ** 2 * x[1])(tensor([2.0, 3.0])))""",
        """\
tensor([[6., 4.],
        [4., 0.]])""",
    ),
    "jacobian of grad is the hessian": (
        """\
f = lambda x: (x ** 3).sum() * x[0]
x = tensor([1.0, 2.0])
print(jacfwd(grad(f))(x))
print(jacrev(grad(f))(x))
print(hessian(f)(x))""",
        """\
tensor([[12., 12.],
        [12., 12.]])
tensor([[12., 12.],
        [12., 12.]])
tensor([[12., 12.],
        [12., 12.]])""",
    ),
    "the third derivative by three modes": (
        """\
f = lambda x: (x ** 4).sum()
x = tensor([1.0, 2.0])
print(jacfwd(hessian(f))(x)[0, 0, 0], jacrev(hessian(f))(x)[1, 1, 1], jacrev(jacrev(jacrev(f)))(x)[1, 1, 1])""",
        "tensor(24.) tensor(48.) tensor(48.)",
    ),
    "jvp": (
        """\
y, dot = jvp(lambda x: x * x, (tensor([1.0, 2.0]),), (tensor([1.0, 10.0]),))
print(y, dot)""",
        "tensor([1., 4.]) tensor([ 2., 40.])",
    ),
    "jvp of two inputs": (
        """\
y, dot = jvp(lambda x, y: x * y, (tensor(2.0), tensor(3.0)), (tensor(1.0), tensor(10.0)))
print(y, dot)""",
        "tensor(6.) tensor(23.)",
    ),
    "vjp": (
        """\
y, pull = vjp(lambda x: x * x, tensor([1.0, 2.0]))
print(y, pull(tensor([1.0, 10.0])))""",
        "tensor([1., 4.]) (tensor([ 2., 40.]),)",
    ),
    "vjp of two inputs": (
        """\
y, pull = vjp(lambda x, y: x * y, tensor(2.0), tensor(3.0))
print(pull(tensor(1.0)))""",
        "(tensor(3.), tensor(2.))",
    ),
    "jvp of grad is a Hessian-vector product": (
        """\
f = lambda x: (x ** 3).sum()
print(jvp(grad(f), (tensor([1.0, 2.0]),), (tensor([1.0, 1.0]),))[1])""",
        "tensor([ 6., 12.])",
    ),
    "grad of jvp": (
        """\
f = lambda x: x ** 3
print(grad(lambda x: jvp(f, (x,), (tensor(1.0),))[1])(tensor(2.0)))""",
        "tensor(12.)",
    ),
    "jvp of jvp": (
        """\
f = lambda x: x ** 3
d = lambda x: jvp(f, (x,), (tensor(1.0),))[1]
print(jvp(d, (tensor(2.0),), (tensor(1.0),)))""",
        "(tensor(12.), tensor(12.))",
    ),
    "grad of a function with a loop": (
        """\
def f(x):
    y = x
    for i in range(3):
        y = y * x + i
    return y
print(grad(f)(tensor(2.0)), grad(grad(f))(tensor(2.0)))""",
        "tensor(33.) tensor(48.)",
    ),
    "grad of a function with a branch": (
        """\
f = lambda x: x * x if x > 1 else x ** 3
print(grad(f)(tensor(2.0)), grad(f)(tensor(0.5)))""",
        "tensor(4.) tensor(0.7500)",
    ),
    "grad of a recursive function": (
        """\
def power(x, n):
    return tensor(1.0) if n == 0 else x * power(x, n - 1)
print(grad(lambda x: power(x, 5))(tensor(2.0)))""",
        "tensor(80.)",
    ),
    "grad of a function that updates in place": (
        """\
def f(x):
    y = x * 1
    y[0] *= x[1]
    y += 1
    return (y * y).sum()
print(grad(f)(tensor([2.0, 3.0])))
print(jacfwd(f)(tensor([2.0, 3.0])))""",
        """\
tensor([42., 36.])
tensor([42., 36.])""",
    ),
    "jacfwd through an assigned item": (
        """\
def f(x):
    y = zeros(3) * x.sum()
    y[1] = x[0] * x[1]
    y[2] = x[0]
    return y
print(jacfwd(f)(tensor([2.0, 3.0])))""",
        """\
tensor([[0., 0.],
        [3., 2.],
        [1., 0.]])""",
    ),
    "a closure over a leaf is a constant to grad": (
        """\
w = tensor(3.0, requires_grad=True)
f = lambda x: w * x * x
g = grad(f)(tensor(2.0))
print(g.item())""",
        "12.0",
    ),
    "backward through grad of a function": (
        """\
w = tensor(3.0, requires_grad=True)
g = grad(lambda x: w * x * x)(tensor(2.0))
g.backward()
print(w.grad)""",
        "tensor(4.)",
    ),
    "grad of a function called with a leaf": (
        """\
x = tensor(2.0, requires_grad=True)
g = grad(lambda x: x ** 3)(x)
g.backward()
print(x.grad)""",
        "tensor(12.)",
    ),
    "a constant function": (
        """\
print(grad(lambda x: tensor(3.0))(tensor(2.0)))""",
        "tensor(0.)",
    ),
    "the jacobian of what does not depend on it": (
        """\
print(jacrev(lambda x: ones(2))(tensor([1.0, 2.0])))""",
        """\
tensor([[0., 0.],
        [0., 0.]])""",
    ),
    "detach under grad is a constant": (
        """\
print(grad(lambda x: x.detach() * x)(tensor(3.0)))""",
        "tensor(3.)",
    ),
    "detach under jvp is a constant": (
        """\
print(jvp(lambda x: x.detach() * x, (tensor(3.0),), (tensor(1.0),))[1])""",
        "tensor(3.)",
    ),
    "no_grad inside grad": (
        """\
def f(x):
    with torch.no_grad():
        c = x * x
    return c * x
print(grad(f)(tensor(3.0)))""",
        "tensor(9.)",
    ),
    "detach of one level keeps the others": (
        """\
f = lambda x: grad(lambda y: x * y * y)(x.detach())
print(grad(f)(tensor(3.0)))""",
        "tensor(6.)",
    ),
    # --- perturbation confusion
    "the classic: d/dx x * d/dy (x + y)": (
        """\
print(grad(lambda x: x * grad(lambda y: x + y)(tensor(1.0)))(tensor(1.0)))""",
        "tensor(1.)",
    ),
    "the classic by jvp": (
        """\
D = lambda f, x: jvp(f, (x,), (tensor(1.0),))[1]
print(D(lambda x: x * D(lambda y: x + y, tensor(1.0)), tensor(1.0)))""",
        "tensor(1.)",
    ),
    "the classic, forward over reverse": (
        """\
D = lambda f, x: jvp(f, (x,), (tensor(1.0),))[1]
print(D(lambda x: x * grad(lambda y: x + y)(tensor(1.0)), tensor(1.0)))""",
        "tensor(1.)",
    ),
    "the classic, reverse over forward": (
        """\
D = lambda f, x: jvp(f, (x,), (tensor(1.0),))[1]
print(grad(lambda x: x * D(lambda y: x + y, tensor(1.0)))(tensor(1.0)))""",
        "tensor(1.)",
    ),
    "the product: d/dx x * d/dy x * y": (
        """\
D = lambda f, x: jvp(f, (x,), (tensor(1.0),))[1]
print(D(lambda x: x * D(lambda y: x * y, tensor(2.0)), tensor(3.0)))
print(grad(lambda x: x * grad(lambda y: x * y)(tensor(2.0)))(tensor(3.0)))""",
        """\
tensor(6.)
tensor(6.)""",
    ),
    "the inner point is the outer variable": (
        """\
D = lambda f, x: jvp(f, (x,), (tensor(1.0),))[1]
print(D(lambda x: x * D(lambda y: x * y * y, x), tensor(3.0)))
print(grad(lambda x: x * grad(lambda y: x * y * y)(x))(tensor(3.0)))""",
        """\
tensor(54.)
tensor(54.)""",
    ),
    "three levels": (
        """\
D = lambda f, x: jvp(f, (x,), (tensor(1.0),))[1]
print(D(lambda x: D(lambda y: D(lambda z: x * y * y * z * z, y), x), tensor(2.0)))""",
        "tensor(72.)",
    ),
    "three levels of mixed modes": (
        """\
D = lambda f, x: jvp(f, (x,), (tensor(1.0),))[1]
print(grad(lambda x: D(lambda y: grad(lambda z: x * y * y * z * z)(y), x))(tensor(2.0)))""",
        "tensor(72.)",
    ),
    "a function made at one level and called at another": (
        """\
D = lambda f, x: jvp(f, (x,), (tensor(1.0),))[1]
shift = lambda offset: lambda g: lambda a: g(a + offset)
slope = lambda f: lambda x: D(f, x)
inner = lambda u: slope(shift(u)(torch.exp))(tensor(0.0))
print(D(inner, tensor(0.0)), torch.exp(tensor(0.0)))""",
        "tensor(1.) tensor(1.)",
    ),
    "the derivative of a curried function (Manzyuk et al.)": (
        """\
D = lambda f, x: jvp(f, (x,), (tensor(1.0),))[1]
s = lambda u: lambda f: lambda x: f(x + u)
def dd(f):
    return lambda x: D(f, x)
h = lambda u: dd(dd(s(u)(lambda t: t ** 4)))(tensor(1.0))
print(D(h, tensor(0.0)))""",
        "tensor(24.)",
    ),
    "a saddle point: min and max nested": (
        """\
f = lambda x, y: x * x - y * y + x * y
best = lambda x: grad(lambda y: f(x, y))(x * 0.5)
print(grad(best)(tensor(2.0)))""",
        "tensor(0.)",
    ),
    "a gradient step inside a gradient": (
        """\
def step(w, rate):
    return w - rate * grad(lambda v: v ** 4)(w)
print(grad(lambda rate: step(tensor(2.0), rate) ** 2)(tensor(0.01)))
print(grad(lambda w: step(w, 0.01) ** 2)(tensor(2.0)))""",
        """\
tensor(-107.5200)
tensor(1.7472)""",
    ),
    "the inner variable does not leak": (
        """\
def f(x):
    y = x * x
    return grad(lambda z: z * y)(tensor(5.0)) + grad(lambda z: z * y)(y)
print(grad(f)(tensor(3.0)))""",
        "tensor(12.)",
    ),
    "branches on values of both levels": (
        """\
def f(x):
    inner = lambda y: x * y if y > x else y * y
    return grad(inner)(x + 1) + grad(inner)(x - 1)
print(grad(f)(tensor(3.0)))""",
        "tensor(3.)",
    ),
    "a hessian inside a gradient": (
        """\
f = lambda x: hessian(lambda v: (v ** 3).sum() * v[0])(x).sum()
print(grad(f)(tensor([1.0, 2.0])))""",
        "tensor([36., 30.])",
    ),
    "vjp inside jvp": (
        """\
def f(x):
    y, pull = vjp(lambda v: v ** 3, x)
    return pull(y)[0]
print(jvp(f, (tensor(2.0),), (tensor(1.0),)))""",
        "(tensor(96.), tensor(240.))",
    ),
    "a tangent that depends on the point": (
        """\
f = lambda x: jvp(lambda v: v ** 2, (x,), (x,))[1]
print(grad(f)(tensor(3.0)), jvp(f, (tensor(3.0),), (tensor(1.0),))[1])""",
        "tensor(12.) tensor(12.)",
    ),
    "a cotangent that depends on the point": (
        """\
f = lambda x: vjp(lambda v: v ** 2, x)[1](x)[0]
print(grad(f)(tensor(3.0)), jvp(f, (tensor(3.0),), (tensor(1.0),))[1])""",
        "tensor(12.) tensor(12.)",
    ),
    # --- forward mode, own rules
    "jvp of repeated indices": (
        """\
x = tensor([1.0, 2.0])
print(jvp(lambda x: x[[0, 0, 1]] ** 2, (x,), (tensor([1.0, 10.0]),))[1])""",
        "tensor([ 2.,  2., 40.])",
    ),
    "jvp of a matrix product": (
        """\
a = tensor([[1.0, 2.0], [3.0, 4.0]])
print(jvp(lambda a: a @ a, (a,), (torch.eye(2),))[1])""",
        """\
tensor([[2., 4.],
        [6., 8.]])""",
    ),
    "jvp of a broadcast": (
        """\
print(jvp(lambda x, y: x + y, (ones(2, 1), ones(3)), (ones(2, 1), zeros(3)))[1])""",
        """\
tensor([[1., 1., 1.],
        [1., 1., 1.]])""",
    ),
    "jvp with an argument that is not used": (
        """\
print(jvp(lambda x, y: x * 2, (tensor(1.0), tensor(2.0)), (tensor(1.0), tensor(5.0)))[1])""",
        "tensor(2.)",
    ),
    "jvp through max at a tie": (
        """\
print(jvp(lambda x: x.max(), (tensor([1.0, 3.0, 3.0]),), (tensor([1.0, 2.0, 4.0]),))[1])""",
        "tensor(3.)",
    ),
    "jvp through where": (
        """\
x = tensor([-1.0, 4.0])
print(jvp(lambda x: torch.where(x > 0, torch.sqrt(x), x * 0), (x,), (ones(2),))[1])""",
        "tensor([0.0000, 0.2500])",
    ),
    "an own jvp is used in forward mode": (
        """\
class Cube(Function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * x ** 2
    def jvp(ctx, dot):
        x, = ctx.saved_tensors
        return dot * 3 * x ** 2
print(jvp(lambda x: Cube.apply(x), (tensor(2.0),), (tensor(10.0),)))
print(hessian(lambda x: Cube.apply(x))(tensor(2.0)))""",
        """\
(tensor(8.), tensor(120.))
tensor(12.)""",
    ),
    "without a jvp it comes from backward": (
        """\
class Cube(Function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * x ** 2
print(jvp(lambda x: Cube.apply(x), (tensor(2.0),), (tensor(10.0),)))
D = lambda f: lambda x: jvp(f, (x,), (tensor(1.0),))[1]
print(D(D(D(lambda x: Cube.apply(x))))(tensor(2.0)))""",
        """\
(tensor(8.), tensor(120.))
tensor(6.)""",
    ),
    "a jvp of two results": (
        """\
class Both(Function):
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h, g * x + h
    def jvp(ctx, a, b):
        x, y = ctx.saved_tensors
        return a * y + b * x, a + b
def f(x, y):
    p, s = Both.apply(x, y)
    return p * s
print(jvp(f, (tensor(2.0), tensor(3.0)), (tensor(1.0), tensor(0.0)))[1], grad(f)(tensor(2.0), tensor(3.0)))""",
        "tensor(21.) tensor(21.)",
    ),
    "newton by two levels inside a derivative": (
        """\
def root(a):
    x = tensor(1.0)
    for i in range(8):
        r = lambda t: t * t - a
        x = x - r(x) / grad(r)(x)
    return x
print(root(tensor(4.0)), grad(root)(tensor(4.0)), jvp(root, (tensor(4.0),), (tensor(1.0),))[1])""",
        "tensor(2.) tensor(0.2500) tensor(0.2500)",
    ),
    "a jacobian inside a gradient": (
        """\
def f(x):
    j = jacrev(lambda v: torch.stack([v[0] * v[1], v[0] ** 2 + v[1]]))(x)
    return j[0, 0] * j[1, 1] - j[0, 1] * j[1, 0]
print(grad(f)(tensor([2.0, 3.0])))""",
        "tensor([-8.,  1.])",
    ),
}

REFUSED = {
    # --- what is a leaf, what requires grad
    "requires_grad of a computed tensor cannot be switched off": (
        """\
x = ones(2, requires_grad=True)
y = x * 2
y.requires_grad_(False)""",
        "not-a-leaf",
        3,
    ),
    "detach_ cannot be undone by requires_grad of ints": (
        """\
x = tensor([1, 2])
x.requires_grad_()""",
        "needs-float",
        2,
    ),
    # --- bad calls
    "backward of a constant": (
        """\
x = ones(1)
x.backward()""",
        "no-graph",
        2,
    ),
    "backward of a vector without a gradient": (
        """\
x = ones(3, requires_grad=True)
y = x * 2
y.backward()""",
        "needs-cotangent",
        3,
    ),
    "a gradient of the wrong shape": (
        """\
x = ones(3, requires_grad=True)
y = x * 2
y.backward(ones(2))""",
        "shape-mismatch",
        3,
    ),
    "a scalar gradient for a vector": (
        """\
x = ones(3, requires_grad=True)
y = x * 2
y.backward(tensor(1.0))""",
        "shape-mismatch",
        3,
    ),
    "backward of a detached value": (
        """\
x = ones(1, requires_grad=True)
y = (x * 2).detach()
y.backward()""",
        "no-graph",
        3,
    ),
    "grad of a constant": (
        """\
x = ones(1, requires_grad=True)
y = ones(1)
torch.autograd.grad(y, x)""",
        "no-graph",
        3,
    ),
    "grad by a constant": (
        """\
x = ones(1)
w = ones(1, requires_grad=True)
torch.autograd.grad(w * 2, x)""",
        "no-graph",
        3,
    ),
    "a hook on a constant": (
        """\
x = ones(1)
x.register_hook(lambda g: g)""",
        "no-graph",
        2,
    ),
    "retain_grad of a constant": (
        """\
x = ones(1)
x.retain_grad()""",
        "no-graph",
        2,
    ),
    "a gradient assigned with the wrong shape": (
        """\
x = ones(2, requires_grad=True)
x.grad = ones(3)""",
        "shape-mismatch",
        2,
    ),
    "a gradient assigned that is no tensor": (
        """\
x = ones(2, requires_grad=True)
x.grad = 0""",
        "shape-mismatch",
        2,
    ),
    "a complex step: item of several elements": (
        """\
x = ones(2, requires_grad=True)
print(x.item())""",
        "shape-mismatch",
        2,
    ),
    # --- backward twice
    "backward through a shared part": (
        """\
x = tensor(2.0, requires_grad=True)
a = x * x
b = a * a
c = a * 3
b.backward()
c.backward()""",
        "backward-twice",
        6,
    ),
    "retain_graph for the first is enough for a second, not for a third": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * x
y.backward(retain_graph=True)
y.backward()
print(x.grad)
y.backward()""",
        "backward-twice",
        6,
    ),
    "grad frees as well": (
        """\
x = tensor(2.0, requires_grad=True)
y = x * x
print(torch.autograd.grad(y, x))
torch.autograd.grad(y, x)""",
        "backward-twice",
        4,
    ),
    "exp frees its result": (
        """\
x = tensor(1.0, requires_grad=True)
y = torch.exp(x)
y.backward()
y.backward()""",
        "backward-twice",
        4,
    ),
    "multiplication by a number may be passed again": (
        """\
x = tensor(1.0, requires_grad=True)
y = x * 2
y.backward()
y.backward()
print(x.grad)""",
        "backward-twice",
        4,
    ),
    # --- no_grad, enable_grad, detach, data
    "a change through detach is watched": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * x
x.detach()[0] = 5.0
y.sum().backward()""",
        "changed-in-place",
        4,
    ),
    "detach of an inner value is watched": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x.sigmoid()
y.detach().mul_(0)
y.sum().backward()""",
        "changed-in-place",
        4,
    ),
    "an update under no_grad of a saved leaf is refused": (
        """\
w = tensor([1.0, 2.0], requires_grad=True)
y = (w * w).sum()
with torch.no_grad():
    w += 1
y.backward()""",
        "changed-in-place",
        5,
    ),
    # --- indexing
    "an index out of range": (
        """\
x = ones(2, requires_grad=True)
x[[0, 5]]""",
        "index-out-of-range",
        2,
    ),
    # --- in place
    "a leaf through a method": (
        """\
x = ones(2, requires_grad=True)
x.mul_(2)""",
        "leaf-in-place",
        2,
    ),
    "a view of a leaf through a method": (
        """\
x = ones(2, 2, requires_grad=True)
x[0].mul_(2)""",
        "leaf-in-place",
        2,
    ),
    "the input that mul saved": (
        """\
a = tensor([2.0], requires_grad=True)
b = a * 1
c = b * a
b += 1
c.backward()""",
        "changed-in-place",
        5,
    ),
    "pow saves its base": (
        """\
a = tensor([2.0], requires_grad=True)
b = a * 1
c = b ** 2
b += 1
c.backward()""",
        "changed-in-place",
        5,
    ),
    "exp saves its result": (
        """\
a = tensor([2.0], requires_grad=True)
b = a.exp()
c = b + 1
b += 1
c.backward()""",
        "changed-in-place",
        5,
    ),
    "division saves both": (
        """\
a = tensor([2.0], requires_grad=True)
b = tensor([4.0])
c = a / b
b += 1
c.backward()""",
        "changed-in-place",
        5,
    ),
    "a factor that needs no gradient is saved for the other": (
        """\
a = tensor([2.0], requires_grad=True)
b = tensor([4.0])
c = a * b
b += 1
c.backward()""",
        "changed-in-place",
        5,
    ),
    "an update of a saved index target is refused": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
z = y * y
y[0] = 3.0
z.sum().backward()""",
        "changed-in-place",
        5,
    ),
    "an update of another part is refused all the same": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
z = y[0] * y[0]
y[1] = 3.0
z.backward()""",
        "changed-in-place",
        5,
    ),
    "an in-place op that does not fit": (
        """\
x = ones(2)
x += ones(3, 2)""",
        "shape-mismatch",
        2,
    ),
    # --- views
    "a saved view is refused when its base changes": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
v = y[0]
z = v * v
y += 1
z.backward()""",
        "changed-in-place",
        6,
    ),
    "a saved base is refused when a view changes": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
z = y * y
v = y[0]
v += 1
z.sum().backward()""",
        "changed-in-place",
        6,
    ),
    "an expanded tensor cannot be changed": (
        """\
x = tensor([1.0], requires_grad=True)
y = (x * 1).expand(3)
y += 1""",
        "overlapping-memory",
        3,
    ),
    "a view made under no_grad": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
with torch.no_grad():
    v = y[0]
z = y * y
with torch.no_grad():
    v += 1
z.sum().backward()""",
        "changed-in-place",
        8,
    ),
    # --- own functions
    "too few gradients": (
        """\
class Add(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y
    @staticmethod
    def backward(ctx, g):
        return g
x = tensor(2.0, requires_grad=True)
Add.apply(x, x).backward()""",
        "wrong-rule",
        6,
    ),
    "too many gradients": (
        """\
class Id(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        return g, g
x = tensor(2.0, requires_grad=True)
Id.apply(x).backward()""",
        "wrong-rule",
        6,
    ),
    "a gradient of the wrong shape of an own function": (
        """\
class Sum(Function):
    @staticmethod
    def forward(ctx, x):
        return x.sum()
    @staticmethod
    def backward(ctx, g):
        return g * ones(3)
x = ones(2, requires_grad=True)
Sum.apply(x).backward()""",
        "wrong-rule",
        6,
    ),
    "a gradient that is no tensor": (
        """\
class Id(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        return "g"
x = tensor(2.0, requires_grad=True)
Id.apply(x).backward()""",
        "wrong-rule",
        6,
    ),
    "saved tensors are freed": (
        """\
class Sq(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 2 * x
x = tensor(3.0, requires_grad=True)
y = Sq.apply(x)
y.backward()
y.backward()""",
        "backward-twice",
        13,
    ),
    "a saved tensor that changed": (
        """\
class Sq(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 2 * x
x = tensor([3.0], requires_grad=True)
a = x * 1
y = Sq.apply(a)
a += 1
y.backward()""",
        "changed-in-place",
        8,
    ),
    # --- unused and unreachable inputs
    "grad of an unused input is refused": (
        """\
x = tensor(2.0, requires_grad=True)
w = tensor(3.0, requires_grad=True)
torch.autograd.grad(x * x, w)""",
        "unused-input",
        3,
    ),
    # --- autograd.grad
    "the second derivative of a linear function is unconnected": (
        """\
x = tensor(2.0, requires_grad=True)
g, = torch.autograd.grad(x * 3, x, create_graph=True)
print(g.requires_grad)
torch.autograd.grad(g, x)""",
        "no-graph",
        4,
    ),
    # --- transforms
    "hessian through an in-place update": (
        """\
def f(x):
    y = x.clone()
    y *= x
    y[0] = y[0] * x[1]
    return y.sum()
print(hessian(f)(tensor([2.0, 3.0])))""",
        "changed-in-place",
        6,
    ),
    "grad of a vector function": (
        """\
grad(lambda x: x * x)(tensor([1.0, 2.0]))""",
        "needs-cotangent",
        1,
    ),
    # --- forward mode, own rules
    "a tangent of the wrong shape": (
        """\
jvp(lambda x: x * x, (ones(2),), (ones(3),))""",
        "shape-mismatch",
        1,
    ),
    "too few tangents": (
        """\
jvp(lambda x, y: x * y, (ones(2), ones(2)), (ones(2),))""",
        "wrong-count",
        1,
    ),
    "a jvp of the wrong count": (
        """\
class Id(Function):
    def forward(ctx, x):
        return x * 1
    def backward(ctx, g):
        return g
    def jvp(ctx, dot):
        return dot, dot
jvp(lambda x: Id.apply(x), (tensor(2.0),), (tensor(1.0),))""",
        "wrong-rule",
        6,
    ),
    "a jvp of the wrong shape": (
        """\
class Id(Function):
    def forward(ctx, x):
        return x * 1
    def backward(ctx, g):
        return g
    def jvp(ctx, dot):
        return dot.sum()
jvp(lambda x: Id.apply(x), (ones(2),), (ones(2),))""",
        "wrong-rule",
        6,
    ),
    "data shares memory and is watched": (
        """\
x = tensor([1.0, 2.0], requires_grad=True)
y = x * x
x.data[0] = 5.0
y.sum().backward()""",
        "changed-in-place",
        4,
    ),
    "a view of a view that was made under no_grad": (
        """\
x = tensor([[1.0, 2.0]], requires_grad=True)
h = x * 1
v = h[0]
with torch.no_grad():
    w = v[1:]
h[0, 0] = 7.0
w.sum()""",
        "unrecorded-view",
        7,
    ),
    "no rule at all": (
        """\
class Id(Function):
    def forward(ctx, x):
        return x * 1
x = tensor(2.0, requires_grad=True)
Id.apply(x).backward()""",
        "wrong-rule",
        2,
    ),
    "an own function that raises says so at its line": (
        """\
class Bad(Function):
    def forward(ctx, x):
        return x * 1
    def backward(ctx, g):
        return g * ones(2) @ ones(3)
x = tensor(2.0, requires_grad=True)
Bad.apply(x).backward()""",
        "shape-mismatch",
        5,
    ),
}


@pytest.mark.parametrize(("text", "printed"), PRINTS.values(), ids=PRINTS)
def test_prints(text, printed):
    found = "\n".join(load(text).run().printed)
    assert found == printed, f"{text}\nprinted {found}\nexpected {printed}"


@pytest.mark.parametrize(("text", "code", "line"), REFUSED.values(), ids=REFUSED)
def test_refused(text, code, line):
    with pytest.raises(GradError) as caught:
        load(text).run()
    first = caught.value.diagnostics[0]
    assert (first.code, first.place[1]) == (code, line), f"{text}\n{first.message}"
