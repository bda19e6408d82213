"""Writers of programs that want to take all time, memory or stack, or that lie to what asks them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from .case import Case

HUGE = ("10 ** 6", "10 ** 9", "10 ** 12", "2 ** 40", "2 ** 62", "9223372036854775807", "-10 ** 9", "10 ** 18 + 1", "1e308", "inf", "nan")  # fmt: skip
TRAPS = (
    "__eq__", "__lt__", "__hash__", "__len__", "__iter__", "__next__", "__bool__", "__str__", "__repr__", "__getattr__", "__getitem__", "__contains__",
    "__add__", "__radd__", "__call__", "__enter__", "__index__", "__int__", "__float__", "__setattr__", "__format__", "__abs__", "__iadd__",
)  # fmt: skip
USES = (
    "o == o", "o < o", "hash(o)", "len(o)", "list(o)", "next(o)", "bool(o)", "str(o)", "repr(o)", "o.a", "o[0]", "1 in o", "o + 1", "1 + o", "o(1)", "[1][o]", "int(o)", "float(o)", "f'{o}'", "f'{o:>9}'",
    "{o: 1}[o]", "{o, o}", "sorted([o, o, o])", "max([o, o])", "print(o)", "print([o])", "sum(o)", "dict(o)", "zip(o, o)", "o == [o]", "[o, o].index(o)", "[o].count(o)", "abs(o)", "range(o)", "torch.tensor(o)", "torch.ones(2) + o",
    "torch.ones(2)[o]", "isinstance(o, o)", "'%s' % o", "'{}'.format(o)", "','.join(o)", "enumerate(o)", "map(o, [1])", "tuple(o)", "o.a.a.a", "setattr(o, 'b', 1)", "getattr(o, 'c', 1)", "torch.stack(o)", "torch.zeros(o)",
)  # fmt: skip
ANSWERS = (
    "self", "self == o", "self + o", "[self]", "iter(self)", "len(self)", "str(self)", "f'{self}'", "self.a", "self[0]", "hash(self)", "o", "o == self", "None", "10 ** 30", "-1", "'x' * 10 ** 9", "nan", "NotImplemented", "{self: self}", "self()", "torch.ones(3)",
    "range(10 ** 12)", "raised()", "(yield self)", "sorted([self, self])", "repr([self])", "1.5", "True", "lambda: self", "self.__dict__", "getattr(self, 'q')", "setattr(self, 'q', self)",
)  # fmt: skip


def lying(chance: random.Random) -> str:
    """A class whose special methods call themselves, or give what they must not."""
    lines = ["def raised():", "    raise ValueError('from inside')", "class O:"]
    for name in chance.sample(TRAPS, chance.randint(1, 5)):
        lines += [f"    def {name}(self, *o, **more):", f"        return {chance.choice(ANSWERS)}"]
    lines += [
        f"class P({chance.choice(('O', 'ValueError', 'KeyError', 'dict', 'O'))}):",
        f"    {chance.choice(('pass', 'x = O()', 'a = property(lambda self: self.a)'))}",
    ]
    lines += [f"o = {chance.choice(('O()', 'P()', 'O', '[O()]'))}"]
    lines += [chance.choice(USES) for _ in range(chance.randint(1, 3))]
    return "\n".join(lines)


def deep(chance: random.Random) -> str:
    """Nesting of texts, values, calls, classes and blocks."""
    n = chance.choice((50, 500, 3_000, 20_000))
    pairs = (
        ("(", ")"),
        ("[", "]"),
        ("{1: ", "}"),
        ("-", ""),
        ("not ", ""),
        ("lambda: ", ""),
        ("f(", ")"),
        ("[x for x in ", "]"),
        ("x[", "]"),
        ("1 + (", ")"),
        ("f'{", "}'"),
        ("(x if ", " else 1)"),
        ("torch.sin(", ")"),
    )
    a, b = chance.choice(pairs)
    texts = (
        f"{a * n}1{b * n}",
        "l = []\nfor i in range({n}):\n    l = [l]\n{use}",
        "d = {{}}\nfor i in range({n}):\n    d = {{'k': d}}\n{use2}",
        "t = ()\nfor i in range({n}):\n    t = (t,)\n{use3}",
        "def f(n):\n    return f(n - 1) if n else 0\nf({n})",
        "def f(n):\n    yield n\n    yield from f(n + 1)\nlist(f(0))",
        "f = lambda x: x\nfor i in range({n}):\n    f = (lambda g: lambda x: g(x))(f)\nf(1)",
        "class A: pass\nfor i in range({n}):\n    class A(A): pass\nA()",
        "\n".join(f"{'    ' * i}if 1:" for i in range(min(n, 200)))
        + f"\n{'    ' * min(n, 200)}pass",
        "x = torch.ones(1, requires_grad=True)\ny = x\nfor i in range({n}):\n    y = y * 1.0\ny.backward()",
        "it = iter([1])\nfor i in range({n}):\n    it = map(lambda v: v, it)\nlist(it)",
        "g = (v for v in [1])\nfor i in range({n}):\n    g = (v for v in g)\nsum(g)",
        "def f():\n    try:\n        f()\n    finally:\n        f()\nf()",
        "def f():\n    try:\n        raise ValueError\n    except ValueError:\n        f()\nf()",
        "f = lambda x: x * x\nfor i in range({n}):\n    f = torch.func.grad(f)\nf(2.0)",
        "l = []\nl.append(l)\n{use}",
        "d = {{}}\nd['d'] = d\n{use2}",
        "x = 1\n" + "x = x + 1\n" * min(n, 5000),
        "x" + ".a" * n,
        "x" + "[0]" * n,
        "f" + "()" * n,
        "a = " * n + "1",
        "1" + " + 1" * n,
        "1" + " < 1" * n,
        "if 1: pass\n" + "elif 1: pass\n" * n,
        "with no_grad(), " * min(n, 500) + "no_grad(): pass",
    )
    uses = {
        "use": "print(l)|l == l|l == [l]|str(l)|torch.tensor(l)|copy.deepcopy(l)|hash(str(l))|l < l|sorted([l, l])|sum(l, [])",
        "use2": "print(d)|d == d|str(d)|import copy\ncopy.deepcopy(d)|d == {'d': d}|f'{d}'",
        "use3": "hash(t)|print(t)|t == (t,)|{t: 1}|isinstance(1, t)|t < t|torch.ones(t)|'%s' % t",
    }
    chosen = {name: chance.choice(text.split("|")) for name, text in uses.items()}
    text = chance.choice(texts)
    try:
        return text.format(n=n, **chosen)
    except (ValueError, KeyError, IndexError):
        return text


def large(chance: random.Random) -> str:
    """Numbers, texts, lists and tensors without measure."""
    n, m = chance.choice(HUGE), chance.choice(HUGE)
    return chance.choice(
        (
            f"'a' * ({n})", f"[0] * ({n})", f"list(range({n}))", f"sum(range({n}))", f"for i in range({n}): pass", "x = 'ab'\nfor i in range(60): x = x + x\nlen(x)", "x = 'a' * 1000\nfor i in range(9): x = x.replace('a', x)", "l = [1]\nfor i in range(70): l = l + l + []", "l = [1]\nfor i in range(70): l.extend(l)",
            f"f'{{1.5:>{10 ** chance.randint(3, 18)}}}'", f"f'{{1:0{10 ** chance.randint(3, 12)}d}}'", f"'{{:>{10 ** chance.randint(3, 12)}}}'.format(1)", f"'%*d' % ({n}, 1)", f"'%{10 ** chance.randint(3, 12)}d' % 1", f"'%.{10 ** chance.randint(3, 12)}f' % 1.0", f"'{{:.{10 ** chance.randint(3, 12)}f}}'.format(1.0)", f"w = {n}\nf'{{1:{{w}}}}'", f"w = {n}\nf'{{1.0:.{{w}}f}}'", f"'a'.ljust({n})", f"'a'.center({n})", f"'a'.zfill({n})", f"'\\t'.expandtabs({n})", f"'a'.rjust({n}, 'b')",
            f"','.join('a' for i in range({n}))", "('a' * 10 ** 6).split('a') * 1000", "'x'.join(['a' * 10 ** 6] * 1000)", "'{0!r:>{1}}'.format('a', 10 ** 11)", "'{0[0][0][0]}'.format([[[1]]])", "'{0.a.b}'.format(1)", "'{' * 100000", "'%' * 100000 % ()", "'{}' * 10 ** 5", "str(10 ** 18) * 10 ** 8",
            f"torch.zeros({n})", f"torch.zeros({n}, {m})", f"torch.ones(1).expand({n}).sum()", f"torch.eye({n})", f"torch.arange({n})", f"torch.linspace(0, 1, {n})", f"torch.ones(2).repeat({n})", f"torch.ones(9).reshape(-1, 1).expand(9, {n}) * 1", f"torch.randperm({n})", f"torch.zeros(*([2] * {chance.randint(20, 70)}))", f"F.one_hot(torch.tensor([1]), {n})", f"torch.ones(3).repeat_interleave({n})", "x = torch.ones(2)\nwhile True: x = torch.cat([x, x])", "x = torch.ones(50, 50)\nwhile True: x = torch.kron(x, x)",
            f"F.pad(torch.ones(2), ({n}, 0))", f"torch.ones(2).roll({n})", f"torch.combinations(torch.ones(60), {chance.randint(5, 40)})", f"torch.cartesian_prod(*[torch.ones(50)] * {chance.randint(3, 12)})", "torch.einsum('a,b,c,d,e,f->abcdef', *[torch.ones(90)] * 6)", f"torch.ones(9, 9).matrix_power({n})", f"torch.vander(torch.ones(3), {n})", f"torch.tril_indices({n}, 3)", f"nn.Linear({n}, 2)", f"torch.nn.Embedding({n}, 9)", "torch.block_diag(*[torch.ones(99, 99)] * 500)", "torch.ones(99).outer(torch.ones(99)).flatten().outer(torch.ones(9999))",
            f"import math\nmath.factorial({n})", "import math\nmath.comb(10 ** 5, 5 * 10 ** 4)", f"2 ** ({n})", "10 ** 10 ** 10", f"(-7) ** ({n})", f"pow(3, {n})", "1 << 60", f"int('9' * {chance.choice((30, 5000, 10 ** 6))})", "float('9' * 10 ** 6)", f"round(1.5, {n})", f"int({n})", f"chr({n})", f"bytes({n})", f"slice({n})", f"[1, 2][{n}:{m}:{n}]", f"range({n})[{m}]", f"range({n}, {m}, 1)", f"{n} in range(10 ** 18)", f"len(range({n}))", f"list(reversed(range({n})))", f"divmod({n}, {m})", f"hash({n})",
        )
    )  # fmt: skip


def endless(chance: random.Random) -> str:
    """Iteration and growth without an end."""
    n = chance.choice(HUGE)
    return "import itertools, functools, collections\n" + chance.choice(
        (
            "while True: pass", "list(itertools.count())", "sum(itertools.cycle([1]))", "list(itertools.product(range(99), repeat=9))", "list(itertools.permutations(range(14)))", "len(list(itertools.combinations(range(60), 30)))", "sorted(itertools.product('ab', repeat=60))", "max(itertools.count())", "any(i < 0 for i in itertools.count())", "list(zip(itertools.count(), itertools.count()))",
            "list(itertools.zip_longest(itertools.count(), [1]))", "next(i for i in itertools.count() if i < 0)", "list(itertools.accumulate(itertools.repeat(2), lambda a, b: a * b))", "functools.reduce(lambda a, b: a + b, itertools.repeat([1]))", "list(itertools.islice(itertools.count(), 10 ** 12))", "dict(zip(itertools.count(), itertools.count()))", "set(itertools.count())", "tuple(itertools.repeat(0))", "[*itertools.count()]",
            "d = {}\ni = 0\nwhile True:\n    d[i] = [i] * 1000\n    i += 1", "s = set()\nfor i in range(10 ** 12): s.add(str(i) * 9)", "l = [1]\nfor x in l: l.append(x)", "d = {1: 1}\nfor k in d: d[k + 1] = 1", "s = {1}\nfor k in s: s.add(k + 1)", "q = collections.deque([1])\nfor x in q: q.append(x)", "c = collections.Counter()\nwhile True: c[len(c)] += 1", "d = collections.defaultdict(list)\nwhile True: d[len(d)].append(d)", "collections.deque(itertools.count())",
            "def g():\n    while True: yield 1\nlist(g())", "def g():\n    yield from g()\nnext(g())", "def g():\n    while True:\n        try: yield 1\n        except GeneratorExit: pass\nit = g()\nnext(it)\nit.close()", "def g():\n    while True:\n        try: yield 1\n        except Exception: pass\nit = g()\nnext(it)\nwhile True: it.throw(ValueError())", "def g(): x = yield x\nit = g()\nit.send(1)", "def g():\n    yield next(it)\nit = g()\nnext(it)", "g = (next(g) for i in [1])\nnext(g)",
            "while True:\n    try: raise ValueError\n    except ValueError: pass", "while True:\n    try: 1 // 0\n    except Exception: continue\n    finally: pass", "def f():\n    while True:\n        try: return 1\n        finally: continue\nf()", "e = ValueError('a')\nwhile True:\n    try: raise e\n    except ValueError as d:\n        try: raise KeyError from d\n        except KeyError as k: e = ValueError(k)", "x = ValueError()\nfor i in range(10 ** 4): x = ValueError(x)\nprint(x)\nrepr(x)", "raise ValueError('x' * 10 ** 7)", "raise ValueError('\\x1b[2J' * 1000)",
            "sorted(range(10 ** 5), key=lambda v: [v] * 1000)", "sorted([3, 1, 2], key=lambda v: sorted([v], key=lambda w: nan))", "l = list(range(1000))\nl.sort(key=lambda v: l.append(v) or v)", "l = [3, 1, 2]\nsorted(l, key=lambda v: l.clear() or v)", "max([[]] * 10 ** 7, key=lambda v: 'a')", "sorted([nan] * 1000)", "class K:\n    def __lt__(self, o): raise ValueError\nsorted([K(), K()])", "class K:\n    def __lt__(self, o): return sorted([self, o])\nsorted([K(), K()])",
            "print('a' * 10 ** 6)\nwhile True: print('b' * 1000)", "while True: print(torch.ones(1000))", "for i in range(10 ** 7): print()", "for i in range(10 ** 6): print(i, end='')", "print(*range(10 ** 7))", "assert False, 'x' * 10 ** 8", "import time\ntime.sleep(10 ** 9)", "import time\ntime.sleep(nan)", "import random\nrandom.sample(range(10 ** 12), 10 ** 7)", "import random\nrandom.choices([1], k=10 ** 12)", "import random\nrandom.randint(0, 10 ** 400)",
            "x = torch.ones(1, requires_grad=True)\ny = x\nwhile True: y = y + x", "x = torch.ones(1, requires_grad=True)\nwhile True: (x * x).backward()", "x = torch.tensor(1.0, requires_grad=True)\nx.register_hook(lambda g: x.backward())\nx.backward()", "x = torch.tensor(1.0, requires_grad=True)\ny = x * 1\ny.register_hook(lambda g: y.backward(retain_graph=True))\ny.backward(retain_graph=True)", "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): return F.apply(x)\n    @staticmethod\n    def backward(ctx, g): return F.apply(g)\nF.apply(torch.ones(1, requires_grad=True))",
            "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): return x * 1\n    @staticmethod\n    def backward(ctx, g): return torch.autograd.grad(F.apply(torch.ones(1, requires_grad=True)).sum(), [])\nF.apply(torch.ones(1, requires_grad=True)).sum().backward()", "x = torch.tensor(1.0)\nwhile x == x: x = x * 1.0000001 % 2", f"torch.vmap(lambda v: v)(torch.ones(1).expand({n}))", "f = lambda x: torch.func.jacrev(f)(x)\nf(torch.ones(2))", "torch.func.hessian(lambda v: (v ** 2).sum())(torch.ones(2000))",
            "class A:\n    x = property(lambda self: self.x)\nA().x", "class A:\n    def __getattr__(self, n): return getattr(self, n + 'a')\nA().b", "class A:\n    def __setattr__(self, n, v): self.x = v\nA().y = 1", "class A:\n    def __init__(self): A()\nA()", "class A:\n    def __enter__(self):\n        with self: pass\n    def __exit__(self, *a): pass\nwith A(): pass", "class A:\n    def __iter__(self): return self\n    def __next__(self): return A()\nlist(A())", "class A:\n    def __len__(self): return 10 ** 18\nlist(A())\nreversed(A())", "class A:\n    def __getitem__(self, i): return self\nlist(A())", "class A:\n    def __call__(self): return self()\nA()()",
            "from contextlib import contextmanager\n@contextmanager\ndef c():\n    with c(): yield\nwith c(): pass", "def d(f): return d(f)\n@d\ndef g(): pass", "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.m = self\nprint(M())\nlist(M().parameters())", "import copy\nclass A: pass\na = A()\na.a = a\ncopy.deepcopy(a)", "from dataclasses import dataclass\n@dataclass\nclass A:\n    a: object = None\nx = A()\nx.a = x\nprint(x)\nx == x", "from collections import namedtuple\nP = namedtuple('P', 'a ' * 10000)", "x = []\nx += [x]\ny = []\ny += [y]\nx == y",
        )
    )  # fmt: skip


def nested(chance: random.Random) -> Case:
    """Values from outside that are deep, long or of the wrong kind."""
    n = chance.choice((100, 5_000, 200_000))
    value = chance.choice(
        (
            f"{'[' * n}1{']' * n}",
            f"{'{' + chr(34) + 'x' + chr(34) + ':'}" * n + "1" + "}" * n,
            "[" + "1," * n + "1]",
            '"' + "a" * n + '"',
            "9" * n,
            "1e" + "9" * min(n, 300),
            "[[1]," * n + "1" + "]" * n,
            "-" * n + "1",
            "[" * n,
            json.dumps({"x" * n: 1}),
        )
    )
    how = chance.choice((["-i", "v.json"], ["x=@v.json"], ["--rows", "v.json"], ["--rows", "-"]))
    text = chance.choice(("x", "input x\nx * x", "input x: float[n]\nx.sum()", "print(x)"))
    stdin = value.encode() if how[-1] == "-" else b""
    return Case(
        "hostile",
        (chance.choice(("run", "grad")), "-e", text, *how, *LIMITS),
        stdin,
        {"v.json": value.encode()},
    )


LIMITS = ("--safe", "--time-limit", "1s")
KINDS: tuple[Callable[[random.Random], str], ...] = (
    lying,
    lying,
    deep,
    deep,
    large,
    large,
    endless,
    endless,
)


def hostile(chance: random.Random) -> Case:
    """A hostile program, as one from a stranger is run."""
    if chance.random() < 0.08:
        return nested(chance)
    text = chance.choice(KINDS)(chance)
    if chance.random() < 0.15:
        body = "\n".join(f"    {line}" for line in text.split("\n"))
        handler = chance.choice(
            ("except Exception as e:\n    print(e)", "except:\n    pass", "finally:\n    print(1)")
        )
        text = f"try:\n{body}\n{handler}"
    asked = chance.choice(
        (
            ("run",),
            ("run",),
            ("run", "--json"),
            ("grad", "--wrt", "o"),
            ("check",),
            ("gradcheck",),
            ("run", "--compile", "always"),
        )
    )
    limits = LIMITS if asked[0] not in ("check",) else ()
    return Case(
        "hostile", (asked[0], "p.grad", *asked[1:], *limits), b"", {"p.grad": text.encode()}
    )
