"""Programs that reach the places where the compiler gives up; bail_outs.toml refers to them by key.
Each has a question, with the name to differentiate by or of the result if needed.
"""

HEAD = """
input x = 0.7
input b = 0.4
input n: int = 3
input v = [1.0, 2.0, 3.0]
w = linspace(0.0, 1.0, 40) * b
class F(Function):
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * t
    def backward(ctx, g):
        t, = ctx.saved_tensors
        return 2 * t * g
"""

PROGRAMS = {
    "`any` of a value known only at run time": ("grad", "any([[x], [b]]) * x"),
    "`add` of tensors that do not fit": ("grad", "y = v * x + ones(4)\ny.sum()"),
    "`as_tensor` makes a new tensor": ("grad", "torch.as_tensor(x) * x"),
    "a condition of a value that is not a number": ("grad", "x if v * x else b"),
    "a tensor with dimensions is changed in place": (
        "grad",
        "y = ones(2) * x\ny += ones(3, 2)\ny.sum()",
    ),
    "a tangent or cotangent is of another shape": (
        "grad",
        "jvp(lambda t: t ** 3, (w,), (v,))[1].sum()",
    ),
    "`backward` of `G` gives another number": (
        "run",
        "class G(Function):\n"
        "    def forward(ctx, t, u): return t * u\n"
        "    def backward(ctx, g): return g\n"
        "t = tensor(x, requires_grad=True)\n"
        "G.apply(t, t).backward()",
    ),
    "the result is no name of the program": ("grad of=q", "x * b"),
    "a name is deleted": ("run", "del x"),
    "a key of a dictionary is known only at run time": ("grad", "d = {}\nd[x] = 1\nb"),
    "`.popitem()` of a dictionary with these arguments": ("grad", "{1: x}.popitem()[1]"),
    "a dictionary has other keys on each of two paths": (
        "grad",
        "d = {}\nif x > b:\n    d[1] = x\nd.get(1, b)",
    ),
    "a loop over a value known only at run time": ("run", "a, c = x"),
    "`y`, which is differentiated, is not a number": ("grad wrt=y", "y = [x]\nb"),
    "list index out of range": ("grad", "[x, b][5]"),
    "the result has no elements": ("jacobian", "x * v[:0]"),
    "the result is a list of tensors": ("grad", "[v * x, x]"),
    "a target with a `*` takes a list": ("run", "a, *c = v\nc"),
    "`set` draws random numbers": ("run", "x in {1, 2}"),
    "`+` of a value that is not a number": ("grad", "v + [x, b]"),
    "an item of a list is taken by an int or a slice": ("grad", '(x, b)["a"]'),
    "another number of items than names": ("grad", "a, c = [x]\na"),
    "a derivative of what is no function": ("grad", 'grad("a")(x)'),
    "`add` of a value that is not a number": ("grad", 'sum([x, "a"])'),
    "`*=` of a list and what is none": ("run", "p = [x]\np *= 2\np"),
    "a run would print a warning": ("run", "p = [1, 2]\np + p"),
    "the kind of a value known only at run time": ("run", "type(lambda: 1)"),
    "`.pop()` of a list with these arguments": ("run", "a = [x]\na.pop(3)"),
    "a number is made of what is none": ("grad", 'float(f"{x}")'),
    "a tensor is made of a value that is not a number": ("run", "tensor(lambda: x)"),
    "`atan2` of a value that is not a number": ("grad", 'atan2(x, "a")'),
    "`in` of a value known only at run time": ("grad", "x if x in v else b"),
    "`in` of a value of too many items": ("grad", "x * 2 if x in range(10**6) else b"),
    "`list` of too many items": ("grad", "list(range(10**12))[0] * x"),
    "a value has too many items": ("grad", "k = [1, 2] * 10**6\nx"),
    "a function goes through too many items": ("grad", "x * len(list(zip(range(10**6), [x])))"),
    "`min` of what is gone through": ("grad", "min([[x, b], [b, x]]) * b"),
    "`<` of a value that is not a number": ("grad", "max([x, [b]]) * b"),
    "a value holds something else on each of two paths": (
        "grad",
        "max(([x], [b, x]), key=lambda t: t[0])[0]",
    ),
    "an item is set where there is none": ("run", "y = [x, b]\ny[5] = 1\ny"),
    "`y` has no value": ("run", "if x > 9:\n    y = x\ny"),
    "`nan_to_num` has a parameter that is not known before it runs": (
        "grad",
        "nan_to_num(x, nan=b)",
    ),
    "a tensor with dimensions is changed in place (2)": ("run", "y = v * b\ny.add_(1)\ny"),
    "inference mode": ("run", "with inference_mode():\n    y = x * 2\ny"),
    "`t_` with these arguments": ("run", "y = tensor(x)\ny.t_()\ny"),
    "an item of a tensor is set": ("run", 't = tensor(x)\nt[0] = "a"'),
    "`<lambda>` takes other arguments": ("grad", "f = lambda t, u: t\nf(x)"),
    "`==` of a value that is not a number": ("grad", "x if [x] == [b] else b"),
    "a tensor with dimensions is changed in place (3)": ("run", "y = v * b\ny += 1\ny"),
    "a tensor is made of a value that is not a number (2)": ("grad", "tensor([x, [b]]).sum()"),
    "a function is differentiated that gives no float": ("grad", "grad(lambda t: n)(x) * x"),
    "a tensor is made of another dtype": ("grad", "tensor(x, dtype=int64) * x"),
    "`<lambda>` takes other arguments (2)": ("grad", "f = lambda t: t\ngrad(f)(x, b)"),
    "a derivative by a value that is not a number": ("grad", 'grad(lambda t: t * 2)("a") * x'),
    "`f` takes any number of arguments": ("grad", "def f(**k):\n    return x\nf()"),
    "a function of `map` does more than compute": ("grad", "sum(map(rand, [1]))[0] * x"),
    "a `try` with `finally` is left": (
        "grad",
        "def f():\n    try:\n        return x\n    finally:\n        x * 2\nf()",
    ),
    "what follows a `try` depends on the path": (
        "grad",
        "def f():\n    try:\n        if x > b:\n            return x\n    finally:\n        x * 2\n"
        "    return b\nf()",
    ),
    "the generator `%generator` does more than compute items": (
        "grad",
        "sum([v for v in (rand(1).item() for _ in range(2))]) * x",
    ),
    "`expand` of a tensor shares its memory": ("grad", "t = tensor(x)\nt.expand(3).sum()"),
    "`view` has no value on numbers alone": ("grad", "t = tensor(x)\nt.view(1, 1).sum()"),
    "a tensor of int32": ("grad", "y = tensor(2, dtype=int32) * 2\nx"),
    "whether a tensor requires grad is not known": ("run", "t = tensor(n)\nt.requires_grad_()"),
    "a tensor of 0 elements of float64": ("grad", "t = torch.empty(0) * x\nt.sum() + x"),
    "`f` assigns to a name around it": (
        "run",
        "def f():\n    global q\n    for q in range(3): pass\nf()\nq",
    ),
    "`q` is assigned by a function in a branch or loop of another": (
        "grad",
        "q = 1\ndef f():\n    global q\n    if x > b:\n        q = x\nf()\nq",
    ),
    "many items are sorted, or in an order known only at run time": (
        "grad",
        "sorted([x * k for k in range(20)])[0]",
    ),
    "a direction is left out": ("grad", "hvp(lambda t, u: t * u, (x, b))[1][0]"),
    "`add` of tensors of bool differs from that of numbers": (
        "grad",
        "y = tensor(True) + tensor(x > 0)\ny * x",
    ),
    "an element is taken twice": ("grad", "y = (v * x)[[0, 0]]\ny += 1\ny.sum()"),
    "a function is differentiated that gives a tensor of ints": (
        "grad",
        "grad(lambda t: (t > 1).sum())(v) * x",
    ),
    "another number of directions than inputs": ("grad", "hvp(lambda t, u: t ** 3 * u, (x, b), x)"),
    "which items of the result move depends on the path": (
        "jacobian wrt=x",
        "[x if x > b else 1.0, b if x > b else x]",
    ),
    "a tangent or cotangent is no float": ("grad", 'jvp(lambda t: t ** 3, (x,), ("a",))[1]'),
    "another number of tangents than arguments": (
        "grad",
        "jvp(lambda t: t ** 3, (x,), (1.0, 2.0))[1]",
    ),
    "a derivative by a tensor of ints": ("grad", "grad(lambda t: t.sum())(tensor([1, 2])) * x"),
    "`grad` is set to what is no tensor that is known when it runs": (
        "run",
        "t = tensor(x, requires_grad=True)\nt.grad = x\nt",
    ),
    "`data` is set to another type of value": (
        "run",
        "t = tensor(x, requires_grad=True)\nt.data = x\nt",
    ),
    "what `vjp` returns takes the cotangent alone": (
        "grad",
        "a, p = vjp(lambda t: t ** 3, x)\np(1.0, 2.0)[0]",
    ),
    "a loop goes over too many items that are no range": (
        "grad",
        "y = 0.0\nfor q in [x, b] * 9999:\n    y = y + q\ny",
    ),
    "`grad` is set to a tensor of another type": (
        "run",
        "t = tensor(x, requires_grad=True)\nt.grad = tensor(n)\nt",
    ),
    "pairs are gone through twice": (
        "run",
        "z = zip([x], [b])\nfor a, c in z: pass\nfor a, c in z: pass",
    ),
    "`backward` of a tensor with dimensions": (
        "run",
        "t = tensor([x, b], requires_grad=True)\n(t * 2).backward()",
    ),
    "`.requires_grad` is assigned": (
        "run",
        "y = tensor(x, requires_grad=True) * 2\ny.requires_grad = False",
    ),
    "3000 directions do not go together": (
        "grad",
        "jacobian(lambda t: t * 2, linspace(0.0, 1.0, 3000)).sum() * x",
    ),
    "a gradient is of another type than its tensor": (
        "run",
        "t = tensor([x, b], requires_grad=True)\n(t * 2).backward(ones(3))",
    ),
    "a function is differentiated that puts numbers together": (
        "grad",
        "jacobian(lambda t: stack([t, t * 2]), tensor(x)).sum()",
    ),
    "`lstsq` gives what is known beside what is not": (
        "grad",
        "lstsq(ones(9, 9) * x, ones(9, 9))[0].sum()",
    ),
    "a list gets another length in each turn of a loop": (
        "run",
        "p = []\nq = []\nfor i in range(n * 99):\n    p.append(x)\n    q.extend(p)\nq",
    ),
    "a cotangent is pulled under another `no_grad`": (
        "grad",
        "a, p = vjp(lambda t: t * 2, x)\nwith no_grad():\n    c = p(1.0)[0]\nc * x",
    ),
    "it is not known whether two tensors are one": (
        "run",
        "t = tensor(x)\nu = tensor(b)\nfor i in range(n * 50):\n    t, u = u, t\nt is u",
    ),
    "a gradient is left at a tensor that is no leaf": (
        "run",
        "t = tensor(x, requires_grad=True)\ns = t * 2\n(s * 3).backward(inputs=[s])\ns.grad",
    ),
    "`add` of tensors differs from that of numbers": (
        "grad",
        "(tensor([True, False]) + tensor([True, x > b])).sum() * x",
    ),
    "another number of gradients than tensors": (
        "run",
        "t = tensor(x, requires_grad=True)\ntorch.autograd.grad([t * 2, t * 3], t, [tensor(1.0)])",
    ),
    "whether a graph is kept is known only at run time": (
        "run",
        "t = tensor(x, requires_grad=True)\n"
        "torch.autograd.grad(t * 2, t, retain_graph=tensor(True))",
    ),
    "a tensor is differentiated by what it is not made from": (
        "run",
        "t = tensor(x, requires_grad=True)\n"
        "z = tensor(b, requires_grad=True)\n"
        "torch.autograd.grad(t * 2, z)",
    ),
    "`forward` of `G` gives no number": (
        "run",
        "class G(Function):\n"
        "    def forward(ctx, t): return [t]\n"
        "    def backward(ctx, g): return g\n"
        "G.apply(x)",
    ),
    "a result does not depend on the differentiated inputs": (
        "run",
        "t = tensor(x, requires_grad=True)\n"
        "u = tensor(b, requires_grad=True)\n"
        "torch.autograd.grad(t * 2 + u * 0, [t, tensor(1.0)])",
    ),
    "`G` is more than forward, backward and jvp": (
        "grad",
        "class G(Function):\n"
        "    def forward(t): return t\n"
        "    def setup_context(ctx, inputs, output): pass\n"
        "    def backward(ctx, g): return g\n"
        "G.apply(x)",
    ),
    "a rule gives a value that is not a number": (
        "run",
        "class G(Function):\n"
        "    def forward(ctx, t, u): return t * u\n"
        '    def backward(ctx, g): return "a", g\n'
        "t = tensor(x, requires_grad=True)\n"
        "G.apply(t, t).backward()",
    ),
    "the shapes [2] and [3] do not broadcast": (
        "run",
        "class G(Function):\n"
        "    def forward(ctx, t, u): return t * u\n"
        "    def backward(ctx, g): return ones(2) + ones(3), g\n"
        "t = tensor(x, requires_grad=True)\n"
        "G.apply(t, t).backward()",
    ),
    "a called function is not one of the program": ("grad", "type(x)(n) * x"),
    "a part is set at a place known only at run time": (
        "grad",
        "t = w * 1\nt[x] = b\nt.sum()",
    ),
    "a part of a tensor is changed to one of another kind": (
        "run",
        "q = zeros(100, dtype=int64)\nfor i in range(n * 40):\n    q[i % 7] += 0.5\nq",
    ),
    "a part of a tensor is changed that is held elsewhere": (
        "grad",
        "t = ones(100) * x\np = [t[0]]\np[0] += 5\nt.sum()",
    ),
    "an item is taken by a value known only at run time": (
        "grad",
        "k = int(x)\ntensor(x)[k, k]",
    ),
    "an item is taken by too many places": ("grad", "k = int(x)\nw[k, k] * x"),
    "inputs that are made leaves": (
        "run",
        "torch.autograd.functional.hessian(lambda t: t ** 3, x, create_graph=True)",
    ),
    "a part of a tensor is set to what is none": ("run", 't = tensor([x, 1.0]) / 2\nt[0] = "a"'),
    "what is no tensor of a graph is differentiated by": (
        "run",
        't = tensor(x, requires_grad=True)\n(t * 2).backward(inputs=["a"])',
    ),
    "a list is changed that others may hold": (
        "grad",
        "p = [x]\nfor i in range(n * 40):\n    q = p\n    p = [b]\n    q[0] = 2.0\np[0]",
    ),
    "it becomes too large a program": (
        "grad",
        "def f(a, d):\n    return a if d == 0 else f(a, d - 1) + f("
        f"{'a * ' * 100}a, d - 1)\nf(x, 9)",
    ),
    "`.k` is not there": (
        "grad",
        "class G(Function):\n"
        "    def forward(ctx, t): return t * 2\n"
        "    def backward(ctx, g): return g * ctx.k\n"
        "G.apply(x)",
    ),
    "an item holds something else in each turn": (
        "run",
        "t = tensor(x, requires_grad=True)\n"
        "for i in range(300):\n"
        "    (t * 2).backward()\n"
        "    g = t.grad\n"
        "    if i > 5:\n"
        "        t.grad = None\n"
        "t.grad",
    ),
    "the place of the largest of bools": (
        "grad",
        "v = x * arange(100.0)\ni = argmax(v > 3)\nv[i] * x + sum(v)",
    ),
    "the order of many elements": ("grad", "v = x * arange(5000.0)\nsort(v)[0].sum()"),
    "the elasticity of a weighed result": ("elasticity cotangent=2", "x * b"),
    "places that may have another layout": (
        "grad",
        "gather(ones(8, 5) * x, 0, tensor([[0, 1], [2, 3]]).T).sum()",
    ),
    "elements at places of another type or shape": (
        "grad",
        "p = argsort(w * x)[:3]\n"
        "zeros(5, dtype=int64).scatter_add(0, tensor([0, 1, 2]), p).sum() * x",
    ),
    "an array of no elements": ("grad", "(x * v)[:0].sum() + b"),
    "a derivative by arguments known only at run time": (
        "grad",
        "i = int(x)\ngrad(lambda p, q: p * q, argnums=i)(x, b)",
    ),
    "the type of a rounded matrix": (
        "grad",
        "m = (ones(30, 30) * x).round().long()\nm.sum(0).sum() * b",
    ),
    "a text, which is differentiated, is not a number": ("grad wrt=y", "y = 'a'\nx"),
    "an array of another dtype": ("grad", "t = w.reshape(4, 10)[1:0, [0, 0]]\n(t * t).sum() * x"),
    "`masked_select` of a tensor with dimensions": (
        "grad",
        "masked_select(w // -2, w // -2 < 0.5).sum() * x",
    ),
    "the default of `p` depends on other inputs": ("grad", "input p: float = x * 2\np * b"),
    "random numbers with another layout": ("run", "rand_like(w.reshape(4, 10).T).sum() * x"),
    "its result is not a number": ("run", "(i for i in range(3))"),
    "along which dimension is the `min` is known only at run time": (
        "grad",
        "w.reshape(4, 10).min(dim=1 if x > b else 0).values.sum() * x",
    ),
    "several directions go through a rule of the program": ("jacobian", "F.apply(x) * v"),
    "two lists are one on one of two paths": (
        "run",
        "u = [0.0, 0.0, 1.0, 0.0, 0.0]\nfor t in range(20):\n    new = [0.0] * 5\n    for i in range(1, 4): new[i] = u[i] + x * (u[i + 1] - u[i - 1])\n    u = new\nu[2]",
    ),
    "a rule asks for a value": ("grad", "w.quantile(b) * x"),
}
