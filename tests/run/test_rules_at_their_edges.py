"""Programs at the edges of rules of a run: what each prints, or how it is refused."""

import pytest

from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import Options

OWN = """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a): return a * 2
    @staticmethod
    def backward(ctx, g): return {}
x = torch.tensor([1.0, 2.0], requires_grad=True)
"""
OWN_GRAD = OWN + "F.apply(x).sum().backward()\nprint(x.grad)"
OWN_JVP = (
    OWN
    + "print(torch.func.jvp(lambda a: F.apply(a), (x.detach(),), (torch.tensor([3.0, 5.0]),))[1])"
)
DUALS = "import torch.autograd.forward_ad as fwAD\nwith fwAD.dual_level():\n    "
LEAF = "x = torch.tensor([2.0, 1.0], requires_grad=True)\n"

PRINTED = {
    "an own gradient of numbers": (OWN_GRAD.format("[2.0, 3.0]"), "tensor([2., 3.])"),
    "an own gradient that is summed": (OWN_GRAD.format("torch.ones(3, 2)"), "tensor([3., 3.])"),
    "an own tangent": (OWN_JVP.format("g * 2"), "tensor([ 6., 10.])"),
    "an own tangent of nothing": (OWN_JVP.format("None"), "tensor([0., 0.])"),
    "an own tangent of zero": (OWN_JVP.format("0.0 * torch.ones(2)"), "tensor([0., 0.])"),
    "an own tangent of two results": (
        """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b): return a * b, a > 0, a + b
    @staticmethod
    def backward(ctx, g, _, h): return g * 2 + h, g * 3 + h
given = (torch.tensor([2.0]), torch.tensor([3.0]))
value, _, other = torch.func.jvp(F.apply, given, (torch.tensor([1.0]), torch.tensor([10.0])))[1]
print(value, other)
""",
        "tensor([32.]) tensor([11.])",
    ),
    "gradients in a batch": (
        LEAF + "print(torch.autograd.grad(x * x, x, torch.eye(2), is_grads_batched=True)[0])",
        "tensor([[4., 0.],\n        [0., 2.]])",
    ),
    "gradients in a batch of one": (
        LEAF + "print(torch.autograd.grad(x * x, x, torch.ones(1, 2), is_grads_batched=True)[0])",
        "tensor([[4., 2.]])",
    ),
    "the number of a result": (
        LEAF + "print(x.output_nr, (x * 2).output_nr, [v.output_nr for v in x.unbind()])\n"
        "print(torch.ones(2).output_nr, torch.ones(2).unbind()[1].output_nr)",
        "0 0 [0, 1]\n0 0",
    ),
    "edges of a node of two results": (
        LEAF + "v, i = x.max(0)\nedge = torch.autograd.graph.GradientEdge\n"
        "print([edge(v.grad_fn, k).output_nr for k in [0, 1]])",
        "[0, 1]",
    ),
    "the gradient by an edge of a leaf": (
        LEAF + "e = torch.autograd.graph.get_gradient_edge(x)\n"
        "print(torch.autograd.grad((x * x).sum(), e)[0])",
        "tensor([4., 2.])",
    ),
    "a tangent beside a gradient": (
        DUALS
        + """x = torch.tensor(2.0, requires_grad=True)
    t = torch.tensor(3.0, requires_grad=True)
    y = fwAD.make_dual(x, t)
    print(fwAD.unpack_dual(y * y).tangent, fwAD.unpack_dual(y * 1).tangent.requires_grad)
    q = fwAD.unpack_dual(y * y).tangent
    q.backward()
    print(x.grad, t.grad)""",
        "tensor(12., grad_fn=<AddBackward0>) True\ntensor(6.) tensor(4.)",
    ),
    "a tangent of what is recorded beside it": (
        DUALS
        + """w = torch.tensor(5.0, requires_grad=True)
    q = fwAD.unpack_dual(fwAD.make_dual(torch.tensor(2.0), torch.tensor(3.0)) * w).tangent
    q.backward()
    print(q, w.grad)""",
        "tensor(15., grad_fn=<MulBackward0>) tensor(3.)",
    ),
    "a tangent alone": (
        DUALS
        + """x = torch.tensor([1.0, 2.0])
    a = fwAD.make_dual(x, torch.tensor([1.0, 0.0]))
    b = fwAD.make_dual(x * 2, torch.tensor([0.0, 1.0]))
    print(fwAD.unpack_dual(a * b), fwAD.unpack_dual((a * b).detach()).tangent)
    print(fwAD.unpack_dual(x * 2).tangent, fwAD.unpack_dual(x).tangent)""",
        "UnpackedDualTensor(primal=tensor([2., 8.]), tangent=tensor([2., 2.])) None\nNone None",
    ),
    "an object that is gone through by its items": (
        """
class It:
    def __getitem__(self, i):
        if i > 2: raise IndexError('end')
        return i * 10
print([v for v in It()])
""",
        "[0, 10, 20]",
    ),
    "the largest of what one goes through": (
        "print(max([], default=3), max([1, 2], default=3), max([-1, 2], key=lambda v: -v))\n"
        "print(max(1, 2.5), min([3, 1]), max([torch.ones(1), torch.zeros(1)]))\n"
        "print(max(torch.tensor([1.0, 5.0])), min(3, 1, 2), max([2]), min((4, 3), default=9))",
        "3 2 -1\n2.5 1 tensor([1.])\ntensor(5.) 1 2 3",
    ),
    "all and any": (
        "print(all([]), any([]), all([1, 0]), any([0, 2]), any([0, 0]), all([1, 2]))",
        "True False False True False True",
    ),
    "backwards": (
        "print([*reversed([1, 2, 3, 4])], [*reversed(range(3))], [*reversed('abc')])",
        "[4, 3, 2, 1] [2, 1, 0] ['c', 'b', 'a']",
    ),
    "nothing given": ("print(list(), tuple(), set(), dict(), str(), int(), float(), bool())",
                      "[] () set() {}  0 0.0 False"),
    "what stands between and behind": (
        "print('a', 1, sep=None, end=None)\nprint('a', 1, sep='-', end='!')\nprint('b', 'c', sep='')\n"
        "print()\nprint(1, flush=True)",
        "a 1\na-1!bc\n\n1",
    ),
    "one thing is in a list though it is not equal to itself": (
        "n = [nan]\nprint(n in [n], n in [[nan]], nan in [nan], 1 in [1.0], [1] in [[1]])",
        "True False False True True",
    ),
    "sorted either way": (
        "l = [2, 1, 3]\nprint(sorted(l), sorted(l, reverse=True), sorted(l, reverse=0))\n"
        "print(sorted(l, reverse=1), sorted(l, reverse=None), sorted(l, key=lambda v: -v))\n"
        "print(sorted(l, key=None), sorted(l, reverse=tensor(True)), sorted([]))",
        "[1, 2, 3] [3, 2, 1] [1, 2, 3]\n[3, 2, 1] [1, 2, 3] [3, 2, 1]\n[1, 2, 3] [3, 2, 1] []",
    ),
    "one thing and another": (
        "print(2 is 2, 2 is 3, 1 is 1.0, 'a' is 'a', 'a' is 'b', 1 is 'a', 2 is not 3, None is None)",
        "True False False True False False True True",
    ),
    "a range with a float anywhere": (
        "print(arange(3), arange(0, 3, 1.0), arange(0.0, 2, 1), arange(0, 2.0), arange(2.0))",
        "tensor([0, 1, 2]) tensor([0., 1., 2.]) tensor([0., 1.]) tensor([0., 1.]) tensor([0., 1.])",
    ),
    "a draw of the only one with a weight": (
        "print(multinomial(tensor([0.0, 2.0]), 1), multinomial(tensor([0.0, 2.0]), 3, True))",
        "tensor([1]) tensor([1, 1, 1])",
    ),
    "numbers stay numbers": (
        "print(clamp(2.5, max=1.0), clamp(2.5, min=1.0), add(1, 2), torch.sum(2.5), relu(2.0))",
        "1.0 2.5 3 2.5 2.0",
    ),
    "a function in a batch that gives a dictionary": (
        "f = lambda x: {'a': x * 2, 'b': (x, x + 1)}\nprint(torch.vmap(f)(tensor([1.0, 2.0])))",
        "{'a': tensor([2., 4.]), 'b': (tensor([1., 2.]), tensor([2., 3.]))}",
    ),
    "a batch of one argument and of a dictionary": (
        "f = lambda d, y: d['x'] * y\n"
        "print(torch.vmap(f, in_dims=({'x': 0}, None))({'x': tensor([1.0, 2.0])}, tensor(3.0)))",
        "tensor([3., 6.])",
    ),
    "a batch along another dimension": (
        "x = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])\n"
        "print(torch.vmap(lambda x: x.sum(), in_dims=1)(x), torch.vmap(lambda x: x * 2, 1, 1)(x))",
        "tensor([5., 7., 9.]) tensor([[ 2.,  4.,  6.],\n        [ 8., 10., 12.]])",
    ),
    "cotangents of a number among the results": (
        "f = lambda x: (x * 2, 3.0)\n"
        "print(torch.func.vjp(f, tensor(2.0))[1]((tensor(1.0), 1.0)))\n"
        "print(torch.func.vjp(lambda x: (x * 2, x * x), 2.0)[1]((1.0, 0.5)))",
        "(tensor(2.),)\n(4.0,)",
    ),
    "trees of several": (
        "import jax\n"
        "t = jax.tree_util.tree_map(lambda a, b: a + b, [1, {'a': (2,)}], [10, {'a': (20,)}])\n"
        "print(t, jax.tree_util.tree_leaves([1, (2, {'k': 3, 'a': 4})]))",
        "[11, {'a': (22,)}] [1, 2, 4, 3]",
    ),
    "a data class": (
        "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: float\n    y: float = 2.0\n"
        "p = P(1.0)\nprint(p, p == P(1.0, 2.0), p == P(2.0), dataclasses.asdict(p))\n"
        "print(dataclasses.replace(p, y=3.0), dataclasses.asdict(P([1], {'k': p})))",
        "P(x=1.0, y=2.0) True False {'x': 1.0, 'y': 2.0}\n"
        "P(x=1.0, y=3.0) {'x': [1], 'y': {'k': {'x': 1.0, 'y': 2.0}}}",
    ),
}  # fmt: skip

REFUSED = {
    "an own gradient of few dimensions": (
        OWN_GRAD.format("torch.tensor(3.0)"),
        "wrong-rule: `backward` of `F` returns a gradient of shape [] for input 0 of shape [2]",
    ),
    "an own gradient of another shape": (
        OWN_GRAD.format("torch.ones(3)"),
        "wrong-rule: `backward` of `F` returns a gradient of shape [3] for input 0 of shape [2]",
    ),
    "an own gradient that is text": (
        OWN_GRAD.format("'a'"),
        "wrong-rule: `backward` of `F` returns a string as gradient 0",
    ),
    "an own tangent by a rule that cuts": (
        OWN_JVP.format("g.detach() * 2"),
        "wrong-rule: `backward` of `F` cuts its gradient, as by `detach`, so forward mode needs a "
        "`jvp` beside it",
    ),
    "an own tangent by a rule that gives numbers": (
        OWN_JVP.format("[2.0, 0.0]"),
        "wrong-rule: `backward` of `F` cuts its gradient, as by `detach`, so forward mode needs a "
        "`jvp` beside it",
    ),
    "two own functions as bases": (
        OWN.format("g") + "class G(F): pass\nclass H(F, G): pass",
        "bad-class: `H` can inherit from one own function and nothing else",
    ),
    "a number as a base": (
        "class A: pass\nclass B(A, 3): pass",
        "bad-class: a number cannot be the base of `B`",
    ),
    "a batch of no gradients": (
        LEAF + "torch.autograd.grad(x * x, x, torch.ones(0, 2), is_grads_batched=True)",
        "shape-mismatch: batches of cotangents must have one size above zero",
    ),
    "batches of several sizes": (
        LEAF + "w = (torch.ones(2, 2), torch.ones(3, 2))\n"
        "torch.autograd.grad((x * x, x * 3), x, w, is_grads_batched=True)",
        "shape-mismatch: batches of cotangents must have one size above zero",
    ),
    "an edge of no result": (
        LEAF + "torch.autograd.graph.GradientEdge((x * 2).grad_fn, 1)",
        "index-out-of-range: MulBackward0 has no result 1",
    ),
    "an edge before the first result": (
        LEAF + "torch.autograd.graph.GradientEdge((x * 2).grad_fn, -1)",
        "index-out-of-range: MulBackward0 has no result -1",
    ),
    "an edge behind two results": (
        LEAF + "torch.autograd.graph.GradientEdge(x.max(0)[0].grad_fn, 2)",
        "index-out-of-range: MaxBackward0 has no result 2",
    ),
    "another exception of an iterator": (
        "class It:\n    def __iter__(self): return self\n    def __next__(self): raise ValueError('bad')\n"
        "for v in It(): print(v)",
        "unhandled-exception: `ValueError`: bad",
    ),
    "another exception of items": (
        "class It:\n    def __getitem__(self, i): raise KeyError('bad')\nfor v in It(): print(v)",
        "unhandled-exception: `KeyError`: 'bad'",
    ),
    "batches of two sizes": (
        "torch.vmap(lambda x, y: x + y)(ones(2), ones(3))",
        "shape-mismatch: `vmap` needs batches of one size, got 2 and 3",
    ),
    "a cotangent of another shape": (
        "torch.func.vjp(lambda x: x * 2, ones(2))[1](ones(3))",
        "shape-mismatch: a cotangent of shape [3] for a value of shape [2]",
    ),
    "trees of two forms": (
        "import jax\njax.tree_util.tree_map(lambda a, b: a + b, [1, 2], [1])",
        "wrong-count: `tree_map` needs trees of one structure",
    ),
    "a copy of no data class": (
        "import dataclasses\nclass Q: pass\ndataclasses.replace(Q(), y=3.0)",
        "wrong-type: `replace` takes an object of a data class",
    ),
    "the fields of no data class": (
        "import dataclasses\nclass Q: pass\ndataclasses.asdict(Q())",
        "wrong-type: `asdict` takes an object of a data class",
    ),
    "text in a row of tensors": (
        "torch.cat([torch.ones(2), 'a'])",
        "wrong-type: `cat` needs a number or tensor as `tensors`, got a string",
    ),
    "text as a second argument": (
        "torch.add(torch.ones(2), 'b')",
        "wrong-type: `add` needs a number or tensor as `other`, got a string",
    ),
    "text as a third argument": (
        "torch.where(torch.ones(2) > 0, torch.ones(2), 'a')",
        "wrong-type: `where` needs a number or tensor as `other`, got a string",
    ),
    "nothing as a required argument": (
        "torch.add(torch.ones(2), None)",
        "wrong-type: `add` needs a number or tensor as `other`, got None",
    ),
    "the items of a tensor without dimensions": (
        "for v in tensor(1.0): print(v)",
        "not-iterable: a 0-d tensor has no items to iterate over",
    ),
    "the shape of text": ("'a'.shape", "unknown-attribute: a string has no `shape`"),
    "the shape of a list": ("x = [1]\nx.shape", "unknown-attribute: a list has no `shape`"),
    "text in a tensor": ("'a' in torch.ones(2)", "wrong-type: a string cannot be in a tensor"),
    "a number in text": ("1 in 'a'", "wrong-type: a number cannot be in a string"),
    "an item of a number": ("x = 3\nx[0]", "wrong-type: a number has no items"),
    "an item of nothing": ("x = None\nx[0]", "wrong-type: None has no items"),
    "text and a number": ("def f(a, b): return a + b\nf('a', 1)", "wrong-type: `+` joins strings or adds numbers, got a string and a number"),
    "a number and text": ("def f(a, b): return a + b\nf(1, 'a')", "wrong-type: `+` joins strings or adds numbers, got a string and a number"),
    "a tuple and nothing": ("(1,) + None", "wrong-type: `+` cannot add a tuple and None"),
    "more items than a slice shows": (
        "l = ['a', 'b', 'c']\nl[::2] = ['d']",
        "wrong-count: 1 items cannot take the place of the 2 that the slice shows",
    ),
}  # fmt: skip


def printed(text):
    lines = []
    load(f"import torch\n{text}\n").run(options=Options(echo=lines.append))
    return "".join(lines)


@pytest.mark.parametrize(("text", "wanted"), PRINTED.values(), ids=PRINTED)
def test_a_program_prints(text, wanted):
    assert printed(text) == wanted + "\n"


@pytest.mark.parametrize(("text", "wanted"), REFUSED.values(), ids=REFUSED)
def test_a_program_is_refused(text, wanted):
    with pytest.raises(GradError) as error:
        printed(text)
    first = error.value.diagnostics[0]
    assert f"{first.code}: {first.message}" == wanted
    assert first.span is not None
