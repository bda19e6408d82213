"""Programs with classes: attributes, inheritance, special methods, own derivative rules."""

from __future__ import annotations

from ..expressions import number
from ..writer import Writer
from .formulas import condition, formula, lines, pair, some


def plain(w: Writer) -> None:
    """A class with attributes, methods, properties, and uses of its object."""
    rng, a = w.rng, some(w)
    name, o = w.name("A"), w.name("o")
    kept = rng.choice([number(w), a, f"{a} * 2", f"[{number(w)}, {number(w)}]"])
    k = "self.k[0]" if kept.startswith("[") else "self.k"
    tensors = ["u"] if kept[0] in "[-0123456789" else ["u", "self.k"]
    w.statement(
        lines(
            f"class {name}:",
            rng.choice(["", "    count = 0", f"    factor = {number(w)}\n    names = []"]),
            f"    def __init__(self, k, bias={number(w)}):",
            "        self.k = k",
            "        self.bias = bias",
            "        self.calls = 0",
            "    def value(self, u):",
            "        self.calls += 1",
            f"        return {formula(w, tensors, [k if len(tensors) == 1 else 'self.bias', 'self.bias'])}",
            "    def twice(self, u, times=2):",
            "        for _ in range(times):",
            "            u = self.value(u) * 0.5",
            "        return u",
            "    def __call__(self, u):",
            f"        return self.value(u) {rng.choice('+-*')} self.half",
            "    @property",
            "    def half(self):",
            "        return self.bias / 2",
            *(["    @half.setter", "    def half(self, v):", "        self.bias = v * 2"]
              if rng.random() < 0.5 else []),
            *(["    @staticmethod", "    def scaled(u, by=3):", "        return u * by"]),
            *(["    @classmethod", "    def made(cls, k):", "        return cls(k, 1.5)"]),
            *([f"    def __repr__(self):\n        return f'{name}(bias={{self.bias}}, calls={{self.calls}})'"]),
        )
    )  # fmt: skip
    if not w.statement(f"{o} = {rng.choice([name, name + '.made'])}({kept})"):
        return
    uses = [f"{o}.value({a})", f"{o}.twice({a})", f"{o}({a})", f"{o}.twice({a}, times={rng.randint(0, 3)})",
            f"{name}.scaled({a})", f"{o}.scaled({a}, {number(w)})", f"{name}({kept}, bias=2.0)({a})",
            f"{name}.value({o}, {a})", f"sum(f({a}) for f in [{o}, {name}.made({kept})])"]  # fmt: skip
    acts = [f"{o}.half = {number(w)}", f"{o}.bias += 1", f"print({o}, {o}.half, {o}.calls)",
            f"{name}.count = 3\nprint({o}.count)", f"{o}.extra = {a} * 2", f"print(hasattr({o}, 'extra'))",
            f"del {o}.bias", f"setattr({o}, 'bias', 0.25)", f"print(sorted(vars({o})))",
            f"print(isinstance({o}, {name}), type({o}).__name__, callable({o}))",
            f"print(getattr({o}, 'nothing', 'absent'))", f"print({o}.nothing)"]  # fmt: skip
    for _ in range(rng.randint(1, 4)):
        w.assign(rng.choice(uses))
        w.statement(rng.choice(acts))


def inherited(w: Writer) -> None:
    """Bases, overridden methods, `super()`, two bases."""
    rng, a = w.rng, some(w)
    base, left, right, both = (w.name(c) for c in "BLRD")
    w.statement(
        lines(
            f"class {base}:",
            f"    scale = {number(w)}",
            "    def __init__(self, p=1.5):",
            "        self.p = p",
            "        self.trace = []",
            "    def step(self, u):",
            "        self.trace.append('base')",
            f"        return {formula(w, ['u'], ['self.p', 'self.scale'])}",
            "    def run(self, u):",
            "        return self.step(u) + self.extra(u)",
            "    def extra(self, u):",
            f"        return {formula(w, ['u'], ['self.scale'], 1)}",
        )
    )
    for name in (left, right):
        w.statement(
            lines(
                f"class {name}({base}):",
                rng.choice(["", f"    scale = {number(w)}"]),
                *([] if rng.random() < 0.5 else [
                    "    def __init__(self, p=0.5, **more):",
                    f"        super().__init__(p {rng.choice('+*')} 2, **more)"]),
                "    def step(self, u):",
                f"        self.trace.append('{name[0]}')",
                f"        return super().step({formula(w, ['u'], ['self.p'], 1)}) * self.scale",
                *([f"    def extra(self, u):\n        return u * {number(w)}"] if rng.random() < 0.4 else []),
            )
        )  # fmt: skip
    bases = rng.choice([f"{left}, {right}", f"{right}, {left}", left])
    w.statement(
        lines(
            f"class {both}({bases}):",
            rng.choice(["    pass", f"    scale = {number(w)}", "    def extra(self, u):\n        return super().extra(u) - u"]),
        )
    )  # fmt: skip
    o = w.name("o")
    w.statement(f"{o} = {rng.choice([base, left, both, both])}({rng.choice(['', '2.0', 'p=0.3'])})")
    w.assign(f"{o}.run({a})")
    w.statement(
        f"print({o}.trace, {o}.p, {o}.scale, isinstance({o}, {base}), isinstance({o}, {right}))"
    )
    if rng.random() < 0.5:
        w.assign(f"sum(c().run({a}) for c in ({base}, {left}, {right}, {both}))")
    if rng.random() < 0.3:
        w.statement(f"print({both}.__name__, isinstance({both}(), {left}))")


OPERATORS = {
    "__add__": "{n}(self.v + (o.v if isinstance(o, {n}) else o))",
    "__radd__": "{n}(o + self.v * 2)",
    "__sub__": "{n}(self.v - (o.v if isinstance(o, {n}) else o))",
    "__rsub__": "{n}(o - self.v)",
    "__mul__": "{n}(self.v * (o.v if isinstance(o, {n}) else o))",
    "__rmul__": "{n}(o * self.v)",
    "__truediv__": "{n}(self.v / ((o.v if isinstance(o, {n}) else o) ** 2 + 1))",
    "__matmul__": "(self.v * o.v).sum()",
    "__mod__": "{n}(self.v * 0.1)",
    "__floordiv__": "{n}(self.v * 0.2)",
    "__and__": "{n}(torch.minimum(self.v, o.v))",
    "__or__": "{n}(torch.maximum(self.v, o.v))",
    "__lt__": "bool(self.v.sum() < o.v.sum())",
    "__le__": "bool(self.v.sum() <= o.v.sum())",
    "__eq__": "isinstance(o, {n}) and bool((self.v == o.v).all())",
    "__contains__": "bool((self.v > o).any())",
    "__getitem__": "self.v.reshape(-1)[o]",
    "__call__": "self.v * o",
}
ALONE = {
    "__neg__": "{n}(-self.v)",
    "__pos__": "{n}(self.v.abs())",
    "__abs__": "{n}(self.v.abs())",
    "__invert__": "{n}(self.v * -3)",
    "__len__": "self.v.numel()",
    "__bool__": "bool(self.v.sum() > 0)",
    "__hash__": "7",
    "__iter__": "iter([self.v, self.v * 2])",
    "__repr__": "'{n}<' + str(list(self.v.shape)) + '>'",
    "__str__": "'{n} of ' + str(self.v.numel())",
}


def operators(w: Writer) -> None:
    """Special methods and what calls them."""
    rng, (a, b) = w.rng, pair(w)
    n = w.name("V")
    two = rng.sample(list(OPERATORS), rng.randint(4, 10))
    one = rng.sample(list(ALONE), rng.randint(2, 6))
    rest = []
    if rng.random() < 0.5:
        rest += [
            "    def __iadd__(self, o):",
            "        self.v = self.v + 1.5",
            "        return self",
        ]
    acts = []
    if rng.random() < 0.4:
        acts.append("{p}[2] = 0.5")
        rest += ["    def __setitem__(self, i, value):", "        self.v = self.v + i * value"]
    if rng.random() < 0.4:
        rest += ["    def __getattr__(self, name):", "        if name.startswith('_'):",
                 "            raise AttributeError(name)", "        return 'no ' + name"]  # fmt: skip
    if rng.random() < 0.3:
        acts.append("del {p}[2]")
        rest += ["    def __delitem__(self, i):", "        self.v = self.v * i"]
    w.statement(
        lines(
            f"class {n}:",
            "    def __init__(self, v):",
            "        self.v = v",
            *(f"    def {m}(self, o):\n        return {OPERATORS[m].format(n=n)}" for m in two),
            *(f"    def {m}(self):\n        return {ALONE[m].format(n=n)}" for m in one),
            *rest,
        )
    )
    p, q = w.name("o"), w.name("o")
    w.statement(f"{p} = {n}({a})")
    w.statement(f"{q} = {n}({b} * 1)")
    forms = ["({p} + {q}).v", "({p} + 2).v", "(3 + {p}).v", "({p} - {q}).v", "(1 - {q}).v", "({p} * {q}).v",
             "(2 * {p}).v", "({p} / {q}).v", "{p} @ {q}", "(-{p}).v", "(+{p}).v", "abs({p}).v", "(~{p}).v",
             "{p}[0] + {q}[-1]", "{p}({b})", "sum(t for t in {p})", "({p} % {q}).v", "({p} // 2).v",
             "({p} & {q}).v", "({p} | {q}).v", "({p} + {q} * 2 - {p}).v", "max([{p}, {q}]).v", "sum([{p}, {q}]).v",
             "sorted([{p}, {q}])[0].v", "({p} if {p} else {q}).v"]  # fmt: skip
    tests = ["{p} == {q}", "{p} != {q}", "{p} < {q}", "{p} > {q}", "{p} <= {q}", "0.5 in {p}", "len({p})", "bool({p})",
             "not {p}", "{p} == {p}", "{p} in [{q}, {p}]", "{p} is {q}", "hash({p}) == hash({q})",
             "len({{{p}, {q}}})", "{p}.missing", "repr({p}), str({q})", "f'{{{p}}} and {{{q}!r}}'", "[{p}, {q}]",
             "{p} and 1", "{{'k': {p}}}"]  # fmt: skip
    for _ in range(rng.randint(2, 5)):
        w.assign(rng.choice(forms).format(p=p, q=q, b=b))
        if {"__repr__", "__str__"} & set(one) or rng.random() < 0.5:
            w.statement(f"print({rng.choice(tests).format(p=p, q=q)})")
        w.statement(
            rng.choice(
                [f"{p} += {q}", f"{p}.other = 3", *(act.format(p=p) for act in acts), "pass"]
            )
        )


RULES = (
    ("u * u", "2 * u * g"), ("torch.exp(u)", "torch.exp(u) * g"), ("u.clamp(min=0)", "g * (u > 0)"),
    ("torch.sin(u)", "g * torch.cos(u)"), ("u * 3", "g * 3"), ("u ** 3", "3 * u ** 2 * g"),
    ("torch.tanh(u)", "g * (1 - torch.tanh(u) ** 2)"), ("u.sum()", "g * torch.ones_like(u)"),
    ("u.abs()", "g * u.sign()"),
)  # fmt: skip


def rule(w: Writer) -> None:
    """An own derivative rule with saved values, several inputs, settings on `ctx`, inheritance."""
    rng, a = w.rng, some(w)
    name = w.name("Own")
    kind = rng.randrange(5)
    head = f"class {name}(torch.autograd.Function):"
    static = "    @staticmethod"
    if kind == 0:  # two tensors and a number
        w.statement(
            lines(
                head, static, "    def forward(ctx, u, v, k):", "        ctx.save_for_backward(u, v)",
                "        ctx.k = k", "        return u * v * k", static, "    def backward(ctx, g):",
                "        u, v = ctx.saved_tensors",
                rng.choice(["        if not ctx.needs_input_grad[0]:\n            return None, g * u * ctx.k, None", ""]),
                "        return g * v * ctx.k, g * u * ctx.k, None",
            )
        )  # fmt: skip
        sizes = w.held(a).shape
        c = w.pick(lambda x: x.is_floating_point() and x.shape == sizes) or a
        w.assign(f"{name}.apply({a}, {c}, {number(w)})")
    elif kind == 1:  # two results
        w.statement(
            lines(
                head, static, "    def forward(ctx, u):", "        ctx.save_for_backward(u)",
                "        return torch.sin(u), u * 2", static, "    def backward(ctx, g, h):",
                "        u, = ctx.saved_tensors", "        return g * torch.cos(u) + h * 2",
            )
        )  # fmt: skip
        s, t = w.name(), w.name()
        if w.statement(f"{s}, {t} = {name}.apply({a})"):
            w.assign(rng.choice([f"{s} * {t}", s, f"{t}.sum() + {s}"]))
    elif kind == 2:  # setup_context
        forward, backward = rng.choice(RULES)
        w.statement(
            lines(
                head, static, "    def forward(u):", f"        return {forward}", static,
                "    def setup_context(ctx, inputs, output):", "        u, = inputs",
                "        ctx.save_for_backward(u)", static, "    def backward(ctx, g):",
                "        u, = ctx.saved_tensors", f"        return {backward}",
            )
        )  # fmt: skip
        w.assign(f"{name}.apply({a})")
    elif kind == 3:  # a mask that has no derivative
        w.statement(
            lines(
                head, static, "    def forward(ctx, u):", "        mask = (u > 0).to(u.dtype)",
                "        ctx.save_for_backward(mask)", "        ctx.mark_non_differentiable(mask)",
                "        return u * mask, mask", static, "    def backward(ctx, g, _):",
                "        mask, = ctx.saved_tensors", f"        return g * mask * {number(w)}",
            )
        )  # fmt: skip
        s, t = w.name(), w.name()
        if w.statement(f"{s}, {t} = {name}.apply({a})"):
            w.assign(f"{s} + {t} * {s}")
            w.statement(f"print({t}.requires_grad, {s}.requires_grad)")
    else:  # a helper of the class, and a class that inherits
        forward, backward = rng.choice(RULES[:7])
        w.statement(
            lines(
                head, f"    factor = {number(w)}", static, "    def slope(u, g):",
                f"        return {backward}", static, "    def forward(ctx, u):",
                "        ctx.save_for_backward(u)", f"        return {forward}", static,
                "    def backward(ctx, g):", "        u, = ctx.saved_tensors",
                f"        return {name}.slope(u, g) * {rng.choice(['1', name + '.factor'])}",
            )
        )  # fmt: skip
        other = w.name("Own")
        if w.statement(
            f"class {other}({name}):\n    @staticmethod\n    def slope(u, g):\n        return g * 5"
        ):
            w.assign(f"{other}.apply({a})")
        w.assign(f"{name}.apply({name}.apply({a} * 0.5))")


def recorded(w: Writer) -> None:
    """Data classes and named tuples."""
    rng, (a, b) = w.rng, pair(w)
    n, o = w.name("P"), w.name("o")
    if rng.random() < 0.5:
        w.statement("from dataclasses import dataclass, field, replace, asdict")
        w.statement(
            lines(
                rng.choice(["@dataclass", "@dataclass(frozen=True)"]), f"class {n}:", "    v: object",
                f"    k: float = {number(w)}", "    seen: list = field(default_factory=list)",
                "    def total(self):", "        return self.v * self.k",
            )
        )  # fmt: skip
        w.statement(f"{o} = {n}({a}{rng.choice(['', ', 2.0', ', k=0.5'])})")
        w.statement(
            rng.choice(
                [f"{o}.k = 3", f"{o}.seen.append({o}.k)", f"{o} = replace({o}, k=4.0)", "pass"]
            )
        )
        w.statement(
            f"print({o}.k, {o}.seen, {n}(1, 2.0) == {n}(1, 2.0), {n}(1, 0.5), asdict({n}(2, 3.0)))"
        )
        w.assign(f"{o}.total() + {b}")
    else:
        w.statement("from collections import namedtuple")
        fields = rng.choice(["'v k'", "['v', 'k']", "'v, k'"])
        w.statement(f"{n} = namedtuple('{n}', {fields})")
        w.statement(f"{o} = {n}({a}, k={number(w)})")
        w.statement(
            f"print({o}.k, {o}[1], len({o}), {n}(1, 2), {n}._fields, {n}(1, 2)._replace(k=5), {n}(1, 2) == (1, 2))"
        )
        w.assign(rng.choice([f"{o}.v * {o}.k", f"{o}[0] + {o}[1]", f"sum({o}._replace(k={b}))"]))


def collected(w: Writer) -> None:
    """Objects in lists and dictionaries, that share what their class holds."""
    rng, a = w.rng, some(w)
    n, o, d = w.name("N"), w.name("l"), w.name("d")
    w.statement(
        lines(
            f"class {n}:", "    made = 0", "    all = []", "    def __init__(self, w):", f"        {n}.made += 1",
            "        self.w = w", f"        self.number = {n}.made", "        self.all.append(self.number)",
            "    def __lt__(self, other):", "        return self.number > other.number",
            "    def apply(self, u):", f"        return {formula(w, ['u'], ['self.w'])}",
        )
    )  # fmt: skip
    w.statement(f"{o} = [{n}(k * 0.5) for k in range({rng.randint(1, 4)})]")
    w.statement(f"{d} = {{c.number: c for c in {o}}}")
    r = w.name()
    w.statement(f"{r} = {a}\nfor c in {rng.choice([o, f'sorted({o})', f'reversed({o})', f'{d}.values()'])}:\n"
                f"    {r} = c.apply({r}) {rng.choice('+-*')} {rng.choice(['c.w', 'c.number', '1'])}")  # fmt: skip
    w.statement(
        f"print({n}.made, {n}.all, [c.number for c in sorted({o}, key=lambda c: -c.w)], list({d}))"
    )


def closures(w: Writer) -> None:
    """Classes that functions make, and methods as values."""
    rng, a = w.rng, some(w)
    f, c, m = w.name("f"), w.name("C"), w.name("m")
    w.statement(
        lines(
            f"def {f}(k):", "    count = 0", "    class Inner:", "        def __init__(self):",
            "            self.k = k", "        def __call__(self, u):", "            nonlocal count",
            "            count += 1", f"            return {formula(w, ['u'], ['self.k', 'k'])} + count",
            "    return Inner",
        )
    )  # fmt: skip
    w.statement(f"{c} = {f}({number(w)})()")
    w.assign(f"{c}({a}) * {c}({a})")
    w.statement(f"{m} = {c}.__call__")
    w.assign(rng.choice([f"{m}({a})", f"sum(map({c}, [{a}, {a} * 2]))", f"torch.func.grad(lambda u: {c}(u).sum())({a})",
                         f"torch.func.jvp({c}, ({a},), (torch.ones_like({a}),))[1]"]))  # fmt: skip


def guarded(w: Writer) -> None:
    """Attributes that methods give and take, and contexts."""
    rng, a = w.rng, some(w)
    n, o = w.name("G"), w.name("o")
    w.statement(
        lines(
            f"class {n}:", "    def __init__(self):", "        self.log = []", "        self.value = 1.0",
            "    def __setattr__(self, name, value):",
            rng.choice(["        super().__setattr__(name, value)", "        self.__dict__[name] = value"]),
            "        if name != 'log':", "            self.log.append(name)",
            "    def __enter__(self):", "        self.log.append('in')", rng.choice(["        return self", "        return self.log"]),
            "    def __exit__(self, kind, error, trace):", "        self.log.append('out' if kind is None else kind.__name__)",
            f"        return {rng.choice(['True', 'False', 'None', 'kind is ValueError'])}",
        )
    )  # fmt: skip
    w.statement(f"{o} = {n}()")
    t = w.name()
    inside = rng.choice(
        [
            f"{o}.value = 2.0",
            "raise ValueError('inside')",
            f"if {condition(w, a)}:\n        raise KeyError('k')",
            "pass",
        ]
    )
    w.statement(
        f"{t} = {a} * 1\nwith {o} as held:\n    {t} = {formula(w, [a])}\n    {inside}\n    {t} = {t} * {o}.value"
    )
    w.statement(f"print({o}.log, {o}.value)")


STATEMENTS = (plain, plain, inherited, inherited, operators, operators, rule, rule, recorded, collected, closures, guarded)  # fmt: skip
