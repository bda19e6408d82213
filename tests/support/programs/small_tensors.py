"""Random programs on tensors of 1 to 70 elements: items one by one, parts, joins, products, sets,
loops, branches and functions, mixed.
"""

from support.programs import vector_programs

SIZES = (1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 10, 12, 15, 16, 17, 24, 33, 56, 64, 65, 70)
ALL = 20  # elements up to which an outer product is taken


class Writer(vector_programs.Writer):
    """Writes one program of the inputs x (a vector), b (a float), k (an int)."""

    def __init__(self, seed):
        super().__init__(seed)
        self.size = self.rng.choice(SIZES)

    def program(self):
        text = super().program()
        return text.replace("input x", "param x") if self.rng.random() < 0.4 else text

    def dots(self):
        """Tangents of x and b."""
        return {"x": [self.rng.gauss(0, 1) for _ in range(self.size)], "b": 0.5}

    def at(self):
        return self.rng.randrange(self.size)

    def vector(self, depth=2):
        rng, n = self.rng, self.size
        if not depth or rng.random() > 0.35:
            return super().vector(depth)
        a, b, cut = self.vector(depth - 1), self.vector(depth - 1), rng.randrange(n + 1)
        ways = [
            *(f"tanh({a})", f"sin({a}) * {b}", f"sigmoid({a})", f"exp(-({a}) ** 2)"),
            *(f"log(1 + ({a}) ** 2)", f"flip({a}, 0)", f"({a}).reshape({n}, 1).reshape(-1)"),
            *(f"({a}) * ({b})[{self.at()}]", f"({a}) * ({a} @ {b})", f"({a}).clone()"),
            *(f"{a} / (1 + ({b}).sum() ** 2)", f"stack([{a}, {b}]).sum(0)", f"({a}) ** 3"),
            *(f"stack([{a}, {b}], 1)[:, {rng.randrange(2)}]", f"atan2({a}, 2.0)"),
            *(f"stack([{a}, {b}])[{rng.randrange(2)}]", f"({a}).detach()", f"{a} * 0.0"),
            *(f"outer({a}, {b})[0]", f"sign({a}) * {b}", f"round({a}) + {b}"),
        ]
        if n < ALL:
            ways.append(f"outer({a}, {b}) @ {self.vector(0)}")
        if 0 < cut < n:
            ways += [f"cat(({a}[:{cut}], {b}[{cut}:]))", f"cat(({a}[{cut}:], {b}[:{cut}]))"]
            ways.append(f"cat(split({a}, {cut})[::-1])")
        if n % 2 == 0:
            ways.append(f"cat((chunk({a}, 2)[1], {b}[:{n // 2}]))")
            ways.append(f"({a}).reshape(2, -1).T.reshape(-1)")
        return rng.choice(ways)

    def number(self, depth=1):
        rng, n = self.rng, self.size
        if not depth or rng.random() > 0.3:
            return super().number(depth)
        a, c = self.vector(depth - 1), self.number(depth - 1)
        place = rng.choice(["k", "k - 1", "-1", "(k + 1) % 2"])
        return rng.choice(
            [f"({a} @ {self.vector(0)})", f"{a}[({place}) % {n}] * {c}", f"({a}).max()", f"norm({a})",
             f"exp(-abs({c}))", f"tanh({c})", f"({a}[{self.at()}] * {a}[{self.at()}])",
             f"unbind({a})[{self.at()}]"]
        )  # fmt: skip

    def statement(self, count):
        kinds = (self.system, self.states, self.set, self.until, self.either, self.swap, self.nest)
        kind = self.rng.choice([None, None, *kinds, self.call])
        if kind is None:
            super().statement(count)
            return
        name = f"v{count}"
        kind(name)
        if name not in self.vectors:
            self.vectors.append(name)

    def system(self, name):
        """A step of a system of equations, item by item."""
        rng = self.rng
        items = [
            rng.choice(
                [f"u[{self.at()}] * 0.1 - u[{-1 - self.at()}] * {self.number(0)}", f"sin(u[{self.at()}])",
                 f"{self.number(1)} * 1.0", f"d{rng.randrange(2)}"]
            )
            for _ in range(self.size)
        ]  # fmt: skip
        self.lines += [
            f"u = {self.vector(1)}",
            f"for i in range({rng.choice(['k', '2', 'k + 4'])}):",
            *(f"    d{j} = u[{self.at()}] * u[{self.at()}] * {rng.choice('bi')}" for j in range(2)),
            f"    u = u {rng.choice(['', '* 0.5 '])}+ 0.1 * stack([{', '.join(items)}])",
            f"{name} = u",
        ]

    def states(self, name):
        self.lines += [
            f"s = [{self.vector(1)}, {self.vector(1)}]",
            "for i in range(k):",
            f"    s = [s[1] * 0.5 + {self.vector(1)}, s[0] * {self.number(1)}]",
            f"{name} = s[0] - s[1]",
        ]

    def set(self, name):
        self.lines += [
            f"{name} = {self.vector(1)} * 1.0",
            f"{name}[{self.at()}] = {self.number(1)}",
            f"{name}[{self.at()}:] = {self.number(1)}",
        ]

    def until(self, name):
        self.lines += [
            *(f"{name} = {self.vector(1)}", "j = 0", f"while j < k and {name}[0] < 5:"),
            *(f"    {name} = {name} + abs({self.vector(1)})", "    j = j + 1"),
        ]

    def either(self, name):
        self.lines += [
            *(f"{name} = {self.vector(1)}", "for i in range(k):"),
            f"    if {name}[{self.at()}] > {self.number(0)}:",
            *(f"        {name} = {self.vector(1)} * 0.5", "    else:"),
            f"        {name} = {name} * b + {self.vector(0)}",
        ]

    def swap(self, name):
        other = f"w{name}"
        self.lines += [
            *(f"{name} = {self.vector(1)}", f"{other} = {self.vector(1)}", "for i in range(k):"),
            f"    {name}, {other} = {other}, {name} * 0.5 + {other} * {self.number(0)}",
            f"    {other} = {other} + {self.vector(1)}",
        ]
        self.vectors.append(other)

    def nest(self, name):
        self.lines += [
            *(f"{name} = {self.vector(1)}", "for i in range(k):", "    for j in range(2):"),
            f"        {name} = {name} * 0.5 + {self.vector(1)}",
            f"    {name} = {name} * {name}[{self.at()}]",
        ]

    def call(self, name):
        self.lines += [
            f"def f{name}(t, s):",
            f"    return t * s + {self.vector(1)} * t[{self.at()}]",
            f"{name} = f{name}({self.vector(0)}, {self.number(1)})",
            "for i in range(k):",
            f"    {name} = f{name}({name}, 0.5)",
        ]
