"""Programs on a tensor of a hundred elements and a number, questions to them, and programs made of
the samples of operations.
"""

import math
import random

import numpy as np
import pytest
from support.programs.vector_programs import answer

from gradcli.engine.compile.python import code as python
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import Quiet, plain

HEAD = "input x: float[100]\ninput b\n"
_NUMBERS = np.random.default_rng(0).normal(size=(2, 100))
GIVEN = {"x": _NUMBERS[0], "b": 0.7}
ASKED = {"grad": {}, "run": {}} | {
    question: {"tangents": {"x": _NUMBERS[1], "b": 1.5}} for question in ("jvp", "hvp")
}
MATRICES = {
    "jacobian forward": {"mode": "forward"},
    "jacobian reverse": {"mode": "reverse"},
    "hessian forward": {"mode": "forward"},
    "hessian reverse": {"mode": "reverse"},
    "hessian diagonal": {"mode": "forward", "diagonal": True},
    "hvp reverse": {"mode": "reverse", **ASKED["hvp"]},
}

PROGRAMS = {
    "a cotangent that lies the other way round": "u = x[:72]\nv = u.reshape(8, 9)\n"
    "for i in range(5):\n    v = v * 0.5 + (v * u[41:50]) * 0.1\n(v.T * u.view(9, 8)).sum() * b",
    "a loop": "y = x\nfor i in range(60):\n    y = y * 0.9 + tanh(y * b)\ny.sum()",
    "element by element": "y = exp(x * b) / (1 + x * x)\n(y * y).mean() + y.max()",
    "matrices": "A = x.reshape(10, 10)\n(A @ A).sum() + (A * b).sum(0).prod()",
    "a softmax": "softmax(x, 0)[3] * b",
    "items": "sin(x[1]) * exp(x[2]) * b",
    "parts": "(x[1:] * x[:-1]).sum() * b",
    "a branch": "y = x\nif b > 0:\n    y = y * 2\nelse:\n    y = -y\n(y * b).sum()",
    "a branch in a loop": "y = x\nfor i in range(20):\n    if y.sum() > b:\n        y = y * 0.5\n"
    "    else:\n        y = y + 1.0\ny.sum()",
    "a while": "y = x\nn = 0\nwhile (y * y).sum() > 1 and n < 50:\n    y = y * 0.9 - b * 0.01\n"
    "    n = n + 1\n(y * b).sum()",
    "put together": "stack([x, x * b]).sum() * cat([x, x]).mean()",
    "an inner product": "(x @ x) * b",
    "functions without loops of NumPy's": "relu(x).sum() + erf(x).sum() * b + sqrt(x * x + 1).std()",
    "a solution": "A = x.reshape(10, 10)\nsolve(A, A[0] * b).sum()",
    "a sum of a view": "(x.reshape(10, 10).T * b).sum(1)[2]",
    "a view": "w = x.view(10, 10)\n(w - w.T * b).pow(2).sum()",
    "a copy of a view": "x.reshape(5, 20).T.reshape(-1)[3] * b",
    "a norm of running sums": "(x.cumsum(0) * b).norm()",
    "choices": "where(x > b, x, b * x).sum() + x.clamp(-1, 1).sum() * b",
    "a param": "param w = [[1.0, 2.0], [3.0, 4.0]]\n(w @ w * b).sum() * x.mean()",
    "a function": "def f(v, k):\n    return (v * v).sum() * k\nf(x, b) + f(x[:50], 2.0)",
    "print": "print(x.sum())\nx.sum() * b",
    "a convolution": "conv1d(x.reshape(1, 1, 100), x[:3].reshape(1, 1, 3)).sum() * b",
    "windows of one picture": "p = x[:18].reshape(1, 3, 6)\n"
    "(conv2d(p, x[20:24].reshape(2, 1, 1, 2), x[:2]) * b).sum()",
    "a loss": "mse_loss(x, x * b) + layer_norm(x.reshape(10, 10), (10,)).pow(3).sum() * b",
    "places": "x[[1, 2, 3, 1]].sum() * b + x[torch.tensor([1, 1])].prod()",
    "a determinant": "det(x.reshape(10, 10)) * b",
    "an outer product": "outer(x, x * b).sum()",
    "a gradient": "g = grad(lambda t, k: (t * t * k).sum(), (0, 1))(x, b)\n(g[0] * g[1]).sum()",
    "a view of a gradient": "g = grad(lambda t: (t * t * x).sum() * b)(x * 2)\n"
    "(g.view(10, 10).T @ g.view(10, 10)).sum() + g.view(4, 25).contiguous().sum(0)[3]",
    "a view of the gradient of a matrix": "A = x.view(10, 10)\n"
    "g = grad(lambda t: (t * A.sum() + t / (2 + t * t)).sum() * b)(A * 2)\ng.view(4, 25).sum(0)[3]",
    "steps down": "y = x\nfor i in range(60):\n"
    "    y = y - 0.1 * grad(lambda t: ((t - b) ** 2).sum() + (t ** 4).mean())(y)\ny.sum()",
    "a product with a Jacobian": "v, d = jvp(lambda t: t * t * b, (x,), (x * 2,))\n(v * d).sum()",
    "one with its transpose": "v, p = vjp(lambda t: t * b, x)\n(p(x * x)[0] * v).sum()",
    "one with a Hessian": "hvp(lambda t: (t ** 3).sum() * b, x, x)[1].sum()",
    "items at places": "s = 0.0\nfor i in range(100):\n    s = s + x[i] * sin(s + b)\ns * b",
    "a loop over items": "s = 0.0\nfor v in x[:5]:\n    s = s + exp(v) * b\ns",
    "an item that is set": "y = x * 1\ny[0] = b\ny[4:6] = x[:2] * b\n(y.sum() + y[5]) * b",
    "a change in place": "y = x * 1\ny += b\n(y * y).sum()",
    "items that are set": "y = zeros(100)\nfor i in range(100):\n"
    "    y[i] = x[i] * b + sin(x[99 - i])\n(y * y).sum()",
    "an item by the one before": "y = x * 0.5\nn = 3\nwhile y.sum() > -50 and n < 40:\n"
    "    y[n] = y[n - 1] - b\n    n = n + 1\ny.sum()",
    "a change of what lies otherwise": "y = x.reshape(10, 10).T * b\ny += x.reshape(10, 10)\n"
    "y.sum(0)[1] * y.sum()",
    "a view of what a loop leaves": "y = x\nfor i in range(70):\n    y = y * 0.9 + x.view(10, 10)"
    ".sum() * b * y\nif b > 0:\n    z = y * 2\nelse:\n    z = y\n"
    "(y.view(10, 10).T.reshape(4, 25) @ z.view(25, 4)).sum()",
    "the largest along a dimension": "m = x.view(10, 10).max(1)\nk = min(x.view(10, 10), dim=0)\n"
    "(m.values * k[0]).sum() * b + m.indices[2] + x.max(0)[0]",
    "what is sorted": "s = (x * b).sort(descending=True)\n(s.values * x).sum() + s.indices[0]",
    "sorted in a loop": "y = x\nfor i in range(60):\n    v, k = (y * b).sort()\n"
    "    y = y * 0.9 + v * 0.1\n(y * x).sum()",
    "the largest few": "v, i = (x * b).topk(5)\n(v * v).sum() + i.sum()",
    "halves": "a, c = x.split(50)\nu, w = x.view(10, 10).chunk(2, 1)\n"
    "(a * c).sum() * b + (u @ w.T).sum()",
    "halves in a loop": "y = x\nfor i in range(60):\n    u, w = (y * b).chunk(2)\n"
    "    y = cat([w, u * 0.5])\n(y * x).sum()",
    "rows one by one": "s = 0.0\nfor row in x.view(10, 10).unbind():\n"
    "    s = s + (row * row[0]).sum() * b\ns",
    "singular values": "u, s, v = svd(x.view(10, 10))\n(s * s).sum() * b + u.sum() * v[0].sum()",
    "an orthogonal matrix": "q, r = torch.linalg.qr(x.view(10, 10) * b)\nr.sum() + q[0, 3]",
    "eigenvalues": "w = x.view(10, 10)\ne, v = torch.linalg.eigh(w @ w.T + w.sum() * b)\n"
    "(e * e).sum() + v[0, 1] ** 2",
    "a determinant's logarithm": "s, l = slogdet(x.view(10, 10) * b)\nl * s",
    "a mean beside": "v, m = var_mean(x * b)\nv * m",
    "one of several alone": "m = x.cummax(0)\n(m.indices * x).sum() * b",
    "several in a branch": "if b > 0:\n    v, i = x.sort()\nelse:\n    v, i = (x * b).topk(100)\n"
    "(v * x).sum() * b",
    "a gradient of what is sorted": "g = grad(lambda t: (t.sort()[0] * x).sum() * b)(x * 2)\n"
    "(g * x).sum()",
    "two names": "y = zeros(3)\nz = y\ny[0] = b\nz.sum() * x[0]",
    "a change in a branch": "y = x * 1\nif b > 0:\n    y[1] = b * b\nelse:\n    y[2] = 1.0\n"
    "(y * x).sum()",
    "mixed": "(x > 0).sum() * b + (x * 0.5).sum().item() * b",
}

INSIDE = {
    "a Jacobian": "J = jacobian(lambda t: tanh(t) * 2)(x[:9])\n(J * J).sum() * b",
    "by columns": "J = jacfwd(lambda t: tanh(t[:7]) * t[3])(x[:9] * 1.5)\n"
    "J.sum(0)[3] * b + J.T.sum(0)[2]",
    "by rows": "J = jacrev(lambda t: tanh(t[:7]) * t[3])(x[:70])\n(J @ x[:70]).sum() * b",
    "of two arguments": "J, K = jacrev(lambda t, k: t[:4] * k, (0, 1))(x, 0.5)\n(J.T @ K) @ x * b",
    "as PyTorch's": "J = torch.autograd.functional.jacobian(lambda t: t * t * t[0], x[:9])\n"
    "(J @ J)[3].sum() * b",
    "a Hessian as PyTorch's": "H = torch.autograd.functional.hessian(lambda t: (t ** 3).sum() * "
    "t[1], x[:9])\n(H @ x[:9]).sum() * b",
    "a Hessian": "H = hessian(lambda t: (t[:3] ** 3).sum() * t[1])(x[:9])\n(H @ x[:9]).sum() * b",
    "of one number": "J = jacobian(lambda t: (t * t).sum())(x)\nJ.sum() * b",
    "of several": "J = jacrev(lambda t: ((t * t).sum(), t[3]))(x)\nJ[0].sum() * b + J[1][3]",
    "by a number": "J = jacobian(lambda k: x[:9] * k * k)(0.5)\nJ.sum() * b",
    "of a matrix": "J = jacobian(lambda t: t.reshape(3, 3).T @ t[:3])(x[:9])\n(J * J).sum() * b",
    "of what is differentiated": "J = jacobian(lambda t: tanh(t) * b)(x[:5])\n(J * J).sum() * b",
    "in a loop": "y = x[:3] * 0.5\nfor i in range(3):\n    with torch.no_grad():\n"
    "        J = jacobian(lambda t: (t - b) ** 3 * x[:3])(y)\n    y = y - 0.1 * J.sum(1)\n"
    "y.sum() * b",
    "a direction that is kept": "v, d = jvp(lambda t: t * 2.0 + b, (x,), (ones(100),))\n"
    "(v * d).sum() * d[3]",
    "a constant": "J = jacfwd(lambda t: t * 2.0 + b)(x[:4])\nJ.sum() * b",
}
"""Matrices of derivatives that programs take."""


def both(program, question, given=GIVEN, **more):
    """The answers of the interpreter and of code."""
    return tuple(answer(program, question, when, given, **more) for when in ("never", "always"))


def machine_code(monkeypatch):
    """The programs that are compiled to machine code from now on; Python code is refused."""
    llvm = pytest.importorskip("gradcli.engine.compile.llvm.code")
    made = []
    monkeypatch.setattr(python, "Code", lambda program: pytest.fail("Python code was made"))
    whole = llvm.Code
    monkeypatch.setattr(llvm, "Code", lambda program: made.append(program) or whole(program))
    return made


def samples():
    """Programs made of the samples of operations on tensors, with values for their inputs."""
    for name, text, given, dots in every_sample():
        if any(map(np.ndim, given.values())):
            yield name, text, given, dots


def every_sample():
    """Programs made of the samples of operations that have a float, with values for their inputs."""
    for name in sorted(ops):
        op = ops[name]
        if (
            op.name == name
            and ops.is_method(name)
            and op.host.call is None
            and (op.value.array or op.value.body)
        ):
            for s in op.page.samples():
                made = _of_sample(op, s)
                if made is not None:
                    yield name, *made


def _of_sample(op, s):
    """The text of a sample's program, and its inputs; None if it has no float."""
    head, given, names = [], {}, []
    for letter, a in zip("abcdefgh", s.args, strict=False):
        shape = np.shape(a)
        if a is None:
            names.append("None")
        elif np.asarray(a).dtype.kind != "f":
            names.append(f"tensor({np.asarray(a).tolist()})")
        else:
            names.append(letter)
            given[letter] = a
            head.append(
                f"input {letter}" + (f": float[{','.join(map(str, shape))}]" if shape else "")
            )
    if not given or any(0 in np.shape(a) for a in given.values()):
        return None
    params = "".join(f", {k.removeprefix('*')}={_said(v)}" for k, v in s.params.items())
    listed = ", ".join(names)
    call = f"r = {op.name}({f'[{listed}]' if op.variadic else listed}{params})"
    rng = random.Random(op.name)
    dots = {k: (np.asarray(a) + rng.gauss(0, 1)).tolist() for k, a in given.items()}
    with Quiet():
        found = op(*[a if a is None else plain(np.asarray(a)) for a in s.args], **s.params)
    parts = [f"r[{k}]" for k in range(len(found))] if isinstance(found, tuple) else ["r"]
    ends = " + ".join(f"({part} * {k + 1.5}).sum()" for k, part in enumerate(parts))
    return "\n".join([*head, call, ends]), given, dots


def _said(value):
    return "..." if value is Ellipsis else repr(value)


class Writer:
    """Writes one program of the inputs x (a vector of 72 floats), b (a float), k (an int)."""

    SHAPES = ((72,), (8, 9), (9,), (8,), (9, 8), (2, 4, 9), (1, 9), (8, 1))

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names = {"x": (72,)}
        self.lines = ["input x: float[72]", "input b", "input k: int = 3"]
        self.count = 0

    def program(self):
        for _ in range(self.rng.randint(2, 7)):
            self.statement("")
        ends = [f"{self.number()} * b", f"({self.of(self.shape())}).sum()"]
        return "\n".join([*self.lines, " + ".join(ends)]) + "\n"

    def given(self):
        numbers = [self.rng.choice([self.rng.gauss(0, 1)] * 5 + [0.0]) for _ in range(72)]
        return {"x": numbers, "b": self.rng.gauss(0, 1), "k": self.rng.randint(0, 4)}

    def shape(self):
        return self.rng.choice(self.SHAPES)

    def new(self):
        self.count += 1
        return f"v{self.count}"

    def of(self, shape, depth=2):
        """An expression for a tensor of a shape."""
        rng = self.rng
        same = [name for name, s in self.names.items() if s == shape]
        if depth <= 0:
            return rng.choice(same) if same else self.reshaped(shape)
        a, b, c = self.of(shape, depth - 1), self.of(shape, depth - 2), self.number(0)
        found = [
            f"({a} + {b})", f"({a} * {b})", f"({a} - {c})", f"{c} * {a}", f"tanh({a})",
            f"exp(-{a} * {a})", f"relu({a})", f"({a}) / (2 + {b} * {b})", f"maximum({a}, {b})",
            f"where({a} > {c}, {a}, {b})", f"({a}) ** 2", f"softmax({a}, -1)", f"sigmoid({b})",
            f"({a}).cumsum(0)", f"sqrt({a} ** 2 + 1)", f"({a}).clamp(-1, {c})", f"erf({b})",
            f"({a}).sort(-1)[0]", f"({a}).cummax(0).values", f"cat([*({a}).chunk(3), {b}])[:{shape[0]}]",
            f"({a}).flip(0).sort(0, descending=True).values", f"stack(({a}).unbind(-1), -1)",
        ]  # fmt: skip
        if len(shape) == 1:
            n = shape[0]
            rows = self.of((n, 9 if n == 8 else 8), 0) if n < 10 else None
            if rows is not None:
                found += [f"({rows}).sum(1)", f"({rows}) @ {self.of((9 if n == 8 else 8,), 0)}",
                          f"({rows}).T[{rng.randrange(8)}]"]  # fmt: skip
            at = rng.randrange(1, n)
            found += [
                f"cat([({a})[{at}:], ({b})[:{at}]])",
                f"({a}).flip(0)",
                f"outer({a}, {b})[{at}]",
            ]
        if len(shape) == 2 and 1 not in shape:
            found += [f"({self.of(shape[::-1], 0)}).T", f"(({a}) @ {self.of(shape[::-1], 0)} @ ({b}))",
                      f"({a} + {self.of((1, shape[1]), 0)})", f"{a} * {self.of(shape[1:], 0)}",
                      f"stack([{self.of(shape[1:], 0)}] * {shape[0]})", f"({a})[torch.arange({shape[0]})]"]  # fmt: skip
        return rng.choice(found)

    def reshaped(self, shape):
        many = math.prod(shape)
        source = self.rng.choice([name for name, s in self.names.items() if s == (72,)])
        size = ", ".join(map(str, shape))
        start = self.rng.randrange(0, 72 - many + 1)
        part = source if many == 72 else f"{source}[{start}:{start + many}]"
        return f"{part}.{self.rng.choice(['reshape', 'view'])}({size})"

    def number(self, depth=1):
        rng, shape = self.rng, self.shape()
        if depth == 0:
            return rng.choice(["b", "b", "0.5", "-1.25", "2"])
        a = self.of(shape, 1)
        at = ", ".join(str(rng.randrange(-n, n)) for n in shape)
        return rng.choice(
            [f"({a}).sum()", f"({a}).mean()", f"({a}).max(0).values.sum()", f"min({a}, -1)[0].norm()", f"({a})[{at}]", f"({a}).max()", f"({a}).norm()",
             f"sin({self.number(0)})", f"({a}).std()", f"{self.number(0)} * b",
             f"{self.of((72,), 0)}[k]"]
        )  # fmt: skip

    def statement(self, margin):
        rng, shape, name = self.rng, self.shape(), self.new()
        kind = rng.choice(["plain", "plain", "loop", "branch", "place", "change", "grad"])
        if kind == "plain":
            self.lines.append(f"{margin}{name} = {self.of(shape)}")
        elif kind == "loop":
            self.lines += [f"{margin}{name} = {self.of(shape)}",
                           f"{margin}for i in range({rng.choice(['k', '3', '260'])}):"]  # fmt: skip
            self.names[name] = shape
            self.lines.append(f"{margin}    {name} = {name} * 0.5 + tanh({self.of(shape)}) * 0.1")
            if rng.random() < 0.3:
                self.lines += [f"{margin}    if {self.number()} > 50:", f"{margin}        break"]
        elif kind == "branch":
            self.lines += [f"{margin}if {self.number()} > {self.number(0)}:",
                           f"{margin}    {name} = {self.of(shape)}", f"{margin}else:",
                           f"{margin}    {name} = {self.of(shape)}"]  # fmt: skip
        elif kind == "place":
            at = rng.choice(["0", "-1", "k", "1:3", "..."])
            self.lines += [f"{margin}{name} = {self.of(shape)} * 1.0",
                           f"{margin}{name}[{at}] = {self.number(1)}"]  # fmt: skip
        elif kind == "change":
            self.lines += [f"{margin}{name} = {self.of(shape)} + 1.0",
                           f"{margin}{name} {rng.choice(['+=', '-=', '*='])} {self.of(shape, 1)}"]  # fmt: skip
        else:
            value = f"(t * t * {self.of(shape, 0)})"
            self.lines.append(
                f"{margin}{name} = grad(lambda t: {value}.sum() * b)({self.of(shape, 1)})"
            )
        self.names[name] = shape
