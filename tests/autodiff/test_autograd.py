"""Small programs and what they print: the meaning of autograd, one line of behaviour each."""

import pytest

from gradcli.errors import GradError
from gradcli.program import load

PRINTS = {
    "a leaf and what is computed from it": (
        "x = tensor(3.0, requires_grad=True)\ny = x * x\nprint(x.is_leaf, y.is_leaf, y.grad_fn)",
        "True False <MulBackward0>",
    ),
    "a sum through two paths": (
        "a = tensor(2.0, requires_grad=True)\nb = tensor(1.0, requires_grad=True)\n"
        "e = (a + b) * (b + 1)\ne.backward()\nprint(a.grad, b.grad)",
        "tensor(2.) tensor(5.)",
    ),
    "a transform's point is its own": (
        "x = tensor([1.0, 2.0])\ndef f(v):\n    w = v[:1]\n    w *= 2\n    return (v * v).sum()\n"
        "print(grad(f)(x), jacobian(f)(x), jvp(f, x, ones(2))[1], vjp(f, x)[1](1.0)[0])\n"
        "print(hessian(f)(x).diag(), hvp(f, x, ones(2))[1], value_and_grad(f)(x)[0], x)",
        "tensor([8., 4.]) tensor([8., 4.]) tensor(12.) tensor([8., 4.])\n"
        "tensor([8., 2.]) tensor([8., 2.]) tensor(8.) tensor([1., 2.])",
    ),
    "an index is copied where it is used": (
        "x = tensor([1.0, 2.0, 3.0], requires_grad=True)\ni = tensor([0, 1])\nw = i[:1]\ny = x[i]\n"
        "z = x * 1\nz[i] = x[2]\nw += 1\n((y * y).sum() + (z * z).sum()).backward()\nprint(x.grad)",
        "tensor([ 2.,  4., 18.])",
    ),
    "tensors of one element in a list are numbers": (
        "x = tensor([5.0], requires_grad=True)\nprint(tensor([x, tensor([[2.0]])]), tensor([[x], [1]]))",
        "tensor([5., 2.]) tensor([[5.],\n        [1.]])",
    ),
    "`torch.embedding` takes the matrix first": (
        "w = tensor([[1.0, 2.0], [3.0, 4.0]])\ni = tensor([1])\n"
        "print(torch.embedding(w, i), F.embedding(i, w))",
        "tensor([[3., 4.]]) tensor([[3., 4.]])",
    ),
    "the same value twice": (
        "x = tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\nprint(x.grad)",
        "tensor(6.)",
    ),
    "gradients accumulate over calls": (
        "x = tensor(3.0, requires_grad=True)\n(x * 2).backward()\n(x * 2).backward()\nprint(x.grad)",
        "tensor(4.)",
    ),
    "zero_ starts them anew": (
        "x = tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\nx.grad.zero_()\n"
        "x.sum().backward()\nprint(x.grad)",
        "tensor([1., 1.])",
    ),
    "grad = None and zero_grad": (
        "x = tensor(3.0, requires_grad=True)\n(x * 2).backward()\nx.grad = None\nprint(x.grad)\n"
        "(x * 2).backward()\nx.zero_grad()\nprint(x.grad)",
        "None\nNone",
    ),
    "a gradient is accumulated in place": (
        "x = tensor(3.0, requires_grad=True)\n(x * 2).backward()\ng = x.grad\n(x * 3).backward()\n"
        "print(g, g is x.grad)",
        "tensor(5.) True",
    ),
    "retain_graph allows a second pass": (
        "x = tensor(3.0, requires_grad=True)\ny = x * x\ny.backward(retain_graph=True)\n"
        "y.backward()\nprint(x.grad)",
        "tensor(12.)",
    ),
    "a second pass where nothing was saved": (
        "x = tensor(3.0, requires_grad=True)\ny = x + 1\ny.backward()\ny.backward()\nprint(x.grad)",
        "tensor(2.)",
    ),
    "create_graph gives the second derivative": (
        "x = tensor(3.0, requires_grad=True)\ny = x ** 3\ny.backward(create_graph=True)\n"
        "g = x.grad\nx.grad = None\ng.backward()\nprint(g, x.grad)",
        "tensor(27., grad_fn=<CopyBackwards>) tensor(18.)",
    ),
    "a cotangent weighs the elements": (
        "x = tensor([1.0, 2.0, 3.0], requires_grad=True)\ny = x * x\n"
        "y.backward(tensor([0.1, 1.0, 0.0001]))\nprint(x.grad)",
        "tensor([2.0000e-01, 4.0000e+00, 6.0000e-04])",
    ),
    "no_grad does not record": (
        "x = tensor(3.0, requires_grad=True)\nwith no_grad():\n    y = x * 2\n"
        "print(y.requires_grad, (x * 2).requires_grad)",
        "False True",
    ),
    "enable_grad inside no_grad": (
        "x = tensor(3.0, requires_grad=True)\nwith no_grad():\n    with enable_grad():\n"
        "        y = x * 2\n    z = x * 2\nprint(y.requires_grad, z.requires_grad)",
        "True False",
    ),
    "detach cuts": (
        "x = tensor([2.0], requires_grad=True)\ny = x * x\nz = y.detach() * x\nz.sum().backward()\n"
        "print(x.grad)",
        "tensor([4.])",
    ),
    "a leaf is changed under no_grad": (
        "w = tensor([1.0, 2.0], requires_grad=True)\n(w * w).sum().backward()\n"
        "with no_grad():\n    w -= 0.5 * w.grad\nprint(w, w.is_leaf)",
        "tensor([0., 0.], requires_grad=True) True",
    ),
    "an in-place update is differentiated": (
        "x = tensor([1.0, 2.0], requires_grad=True)\ny = x * 1\ny *= x\ny.sum().backward()\n"
        "print(y, x.grad)",
        "tensor([1., 4.], grad_fn=<MulBackward0>) tensor([2., 4.])",
    ),
    "an assigned item": (
        "x = tensor(2.0, requires_grad=True)\ny = zeros(3)\ny[1] = x * x\ny.sum().backward()\n"
        "print(y.detach(), x.grad)",
        "tensor([0., 4., 0.]) tensor(4.)",
    ),
    "an assigned item cuts what was there": (
        "x = tensor([1.0, 2.0], requires_grad=True)\ny = x * 3\ny[0] = 5\ny.sum().backward()\n"
        "print(x.grad)",
        "tensor([0., 3.])",
    ),
    "an update through a view is seen in its base": (
        "x = tensor([1.0, 2.0, 3.0], requires_grad=True)\ny = x * 1\nv = y[1:]\nv *= 10\n"
        "(y * y).sum().backward()\nprint(y.detach(), x.grad)",
        "tensor([ 1., 20., 30.]) tensor([  2., 400., 600.])",
    ),
    "an update of the base is seen in a view": (
        "x = tensor([1.0, 2.0], requires_grad=True)\ny = x * 1\nv = y[1]\ny *= 3\n(v * v).backward()\n"
        "print(v.detach(), x.grad)",
        "tensor(6.) tensor([ 0., 36.])",
    ),
    "a view of a view": (
        "x = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)\ny = x * 1\nv = y.T[1]\nv += x[0]\n"
        "(y * y).sum().backward()\nprint(y.detach(), x.grad)",
        "tensor([[1., 3.],\n        [3., 6.]]) tensor([[ 8., 18.],\n        [ 6., 12.]])",
    ),
    "an alias is the same tensor": (
        "a = ones(2)\nb = a\nb += 1\nprint(a, a is b)",
        "tensor([2., 2.]) True",
    ),
    "a number is not": ("a = 1\nb = a\nb += 1\nprint(a, b)", "1 2"),
    "repeated indices add up": (
        "x = tensor([1.0, 2.0], requires_grad=True)\nx[[0, 0]].sum().backward()\nprint(x.grad)",
        "tensor([2., 0.])",
    ),
    "retain_grad keeps an inner gradient": (
        "x = tensor(3.0, requires_grad=True)\ny = x * 2\ny.retain_grad()\n(y * y).backward()\n"
        "print(y.grad, x.grad)",
        "tensor(12.) tensor(24.)",
    ),
    "a hook changes a gradient": (
        "x = tensor(3.0, requires_grad=True)\ny = x * 2\ny.register_hook(lambda g: g * 10)\n"
        "y.backward()\nprint(x.grad)",
        "tensor(20.)",
    ),
    "next_functions lead to the leaf": (
        "x = tensor(3.0, requires_grad=True)\ny = x * 2\nleaf = y.grad_fn.next_functions[0][0]\n"
        "print(leaf.name(), leaf.variable is x)",
        "AccumulateGrad True",
    ),
    "an own function": (
        "class Cube(Function):\n    def forward(ctx, x, scale):\n        ctx.save_for_backward(x)\n"
        "        ctx.scale = scale\n        return scale * x ** 3\n    def backward(ctx, g):\n"
        "        x, = ctx.saved_tensors\n        return 3 * ctx.scale * x ** 2 * g, None\n"
        "x = tensor(2.0, requires_grad=True)\ny = Cube.apply(x, 2)\nprint(y)\ny.backward()\nprint(x.grad)",
        "tensor(16., grad_fn=<CubeBackward>)\ntensor(24.)",
    ),
    "a saved result is differentiated again": (
        "class Exp(Function):\n    def forward(ctx, x):\n        y = exp(x)\n"
        "        ctx.save_for_backward(y)\n        return y\n    def backward(ctx, g):\n"
        "        y, = ctx.saved_tensors\n        return g * y\n"
        "x = tensor(0.5, requires_grad=True)\ng, = torch.autograd.grad(Exp.apply(x), x, create_graph=True)\n"
        "h, = torch.autograd.grad(g, x, create_graph=True)\nk, = torch.autograd.grad(h, x)\n"
        "print(g.item() == exp(0.5), h.item() == exp(0.5), k.item() == exp(0.5))\n"
        "print(grad(grad(Exp.apply))(0.5) == exp(0.5), jvp(grad(Exp.apply), 0.5, 1.0)[1] == exp(0.5))",
        "True True True\nTrue True",
    ),
    "a leaf that nobody holds": (
        "def f():\n    x = tensor(2.0, requires_grad=True)\n    return x + 1\ny = f()\ny.backward()\nprint(y)",
        "tensor(3., grad_fn=<AddBackward0>)",
    ),
    "max over a dim has two results": (
        "x = tensor([[1.0, 5.0], [7.0, 2.0]], requires_grad=True)\nbest = x.max(dim=1)\n"
        "best.values.sum().backward()\nprint(best.indices, x.grad)",
        "tensor([1, 0]) tensor([[0., 1.],\n        [1., 0.]])",
    ),
    "a list is the tensor of its items": (
        "a = tensor(2.0, requires_grad=True)\ny = sum([a, a * a, 1])\ny.backward()\nprint(y.detach(), a.grad)",
        "tensor(7.) tensor(5.)",
    ),
    "a second pass through an own function that saved nothing": (
        "class F(Function):\n    def forward(ctx, a):\n        ctx.factor = 3\n        return a * 3\n"
        "    def backward(ctx, g):\n        return g * ctx.factor + sum(ctx.saved_tensors)\n"
        "x = tensor(2.0, requires_grad=True)\ny = F.apply(x)\ny.backward()\ny.backward()\nprint(x.grad)",
        "tensor(6.)",
    ),
}

REFUSED = {
    "backward twice": (
        "x = tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\ny.backward()",
        "backward-twice",
        4,
    ),
    "a saved value changed": (
        "x = tensor([3.0], requires_grad=True)\ny = x * 1\nz = y * y\ny += 1\nz.sum().backward()",
        "changed-in-place",
        5,
    ),
    "a saved result changed": (
        "x = tensor([3.0], requires_grad=True)\ny = exp(x)\ny += 1\ny.sum().backward()",
        "changed-in-place",
        4,
    ),
    "a leaf in place": ("x = ones(2, requires_grad=True)\nx += 1", "leaf-in-place", 2),
    "a view of a leaf": ("x = ones(2, requires_grad=True)\nx[0] = 1", "leaf-in-place", 2),
    "no cotangent": ("x = ones(2, requires_grad=True)\n(x * 2).backward()", "needs-cotangent", 2),
    "a cotangent of the wrong shape": (
        "x = ones(2, requires_grad=True)\n(x * 2).backward(ones(3))",
        "shape-mismatch",
        2,
    ),
    "nothing recorded": ("x = ones(2)\nx.sum().backward()", "no-graph", 2),
    "under no_grad": (
        "x = ones(2, requires_grad=True)\nwith no_grad():\n    y = x.sum()\ny.backward()",
        "no-graph",
        4,
    ),
    "an int leaf": ("x = tensor([1, 2], requires_grad=True)", "needs-float", 1),
    "an expanded tensor in place": ("x = zeros(1).expand(3)\nx += 1", "overlapping-memory", 2),
    "a wider result in place": ("x = zeros(3)\nx += ones(2, 3)", "shape-mismatch", 2),
    "a float into ints": ("x = tensor([1, 2])\nx += 0.5", "dtype-mismatch", 2),
    "too few gradients": (
        "class F(Function):\n    def forward(ctx, a, b):\n        return a * b\n"
        "    def backward(ctx, g):\n        return g\n"
        "x = tensor(2.0, requires_grad=True)\nF.apply(x, x).backward()",
        "wrong-rule",
        4,
    ),
    "a forward of fewer arguments": (
        "class F(Function):\n    def forward(ctx):\n        return ones(2)\n"
        "    def backward(ctx, g):\n        return g\nF.apply(1.0)",
        "wrong-rule",
        2,
    ),
    "a forward of more arguments": (
        "class F(Function):\n    def forward(ctx, a, b):\n        return a\n"
        "    def backward(ctx, g):\n        return g\nF.apply(1.0)",
        "wrong-rule",
        2,
    ),
    "a backward without a gradient": (
        "class F(Function):\n    def forward(ctx, a):\n        return a * 2\n"
        "    def backward(ctx):\n        return ones(2)\n"
        "F.apply(tensor(2.0, requires_grad=True)).backward()",
        "wrong-rule",
        4,
    ),
    "a jvp of more tangents": (
        "class F(Function):\n    def forward(ctx, a):\n        return a * 2\n"
        "    def backward(ctx, g):\n        return g * 2\n"
        "    def jvp(ctx, t, u):\n        return t * 2\njvp(F.apply, 2.0, 1.0)",
        "wrong-rule",
        6,
    ),
    "a gradient of the wrong shape": (
        "class F(Function):\n    def forward(ctx, a):\n        return a.sum()\n"
        "    def backward(ctx, g):\n        return ones(3)\n"
        "x = ones(2, requires_grad=True)\nF.apply(x).backward()",
        "wrong-rule",
        4,
    ),
    "forward mode through a rule that cuts": (
        "class F(Function):\n    def forward(ctx, a):\n        return a * 3\n"
        "    def backward(ctx, g):\n        return g.detach() * 3\njvp(F.apply, 2.0, 1.0)",
        "wrong-rule",
        4,
    ),
    "a number has no grad": ("x = 3.0\nx.backward()", "unknown-attribute", 2),
}


@pytest.mark.parametrize(("text", "printed"), PRINTS.values(), ids=PRINTS)
def test_prints(text, printed):
    assert "\n".join(load(text).run().printed) == printed


@pytest.mark.parametrize(("text", "code", "line"), REFUSED.values(), ids=REFUSED)
def test_refused(text, code, line):
    with pytest.raises(GradError) as caught:
        load(text).run()
    first = caught.value.diagnostics[0]
    assert (first.code, first.place[1]) == (code, line), first.message


def test_a_changed_value_names_both_places():
    text = "x = tensor([3.0], requires_grad=True)\ny = x * 1\nz = y * y\ny += 1\nz.sum()"
    for question in (load(text + ".backward()").run, load(text).grad):
        with pytest.raises(GradError) as caught:
            question()
        labels = [
            (text[a.span.start : a.span.end], a.text) for a in caught.value.diagnostics[0].labels
        ]
        assert labels == [("y * y", "MulBackward0 saved it here"), ("y += 1", "it is changed here")]


SAVES = (  # what `forward` does with its argument `u`, that saves what its result shows
    "ctx.save_for_backward(u); return u",
    "ctx.save_for_backward(u); return u.view(-1)",
    "ctx.save_for_backward(u); return u.detach()",
    "v = u * 1; ctx.save_for_backward(v); return v",
    "v = u * 1; ctx.save_for_backward(v); return v.view(-1)",
    "v = u * 1; ctx.save_for_backward(v.view(-1)); return v",
    "v = u * 1; ctx.save_for_backward(v); return v, u * 2",
)


@pytest.mark.parametrize("forward", SAVES)
@pytest.mark.parametrize(
    "change", ["t.mul_(5)", "t.detach().mul_(5)", "with torch.no_grad(): t.add_(1)", "t[0] = 4.0"]
)
def test_a_result_that_shows_what_is_saved_must_not_change(forward, change):
    lines = [
        "class Own(torch.autograd.Function):",
        "    @staticmethod",
        f"    def forward(ctx, u): {forward}",
        "    @staticmethod",
        "    def backward(ctx, g, *_): return g * ctx.saved_tensors[0]",
        "z = torch.tensor([1.7, -1.5], requires_grad=True)",
        "t = Own.apply(z * 2)",
        "t = t[0] if isinstance(t, tuple) else t",
        change,
        "t.sum().backward()",
    ]
    with pytest.raises(GradError) as refused:
        load("\n".join(lines)).run()
    shown = forward.endswith(("return u", "return u.view(-1)"))
    code = "view-in-place" if shown else "changed-in-place"
    assert refused.value.diagnostics[0].code == code
    load("\n".join([*lines[:-2], lines[-1]])).run()
