"""Random programs on numbers and 0-d tensors: loops, branches, functions, changes in place."""

import random


class Writer:
    """Writes one program of the inputs x (a float), n (an int), b (a float)."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names = ["x", "b"]
        self.ints = ["n"]
        self.tensors = []
        self.functions = []
        self.lists = []
        self.lines = []
        self.depth = 0
        self.count = 0

    def program(self):
        head = ["input x = 0.7", "input b = -1.25", "input n: int = 3"]
        for _ in range(self.rng.randint(1, 4)):
            self.statement()
        names = self.names[-4:] + self.tensors[-2:]
        kind = self.rng.random()
        end = f"[{', '.join(names)}]" if kind < 0.15 else " + ".join(names)
        return "\n".join([*head, *self.lines, end]) + "\n"

    def put(self, line):
        self.lines.append("    " * self.depth + line)

    def name(self, letter="v"):
        self.count += 1
        return f"{letter}{self.count}"

    def number(self, depth=2):
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*self.names, *self.names, f"{rng.uniform(-2, 2):.2f}", "2", "0.5"])
        a, b = self.number(depth - 1), self.number(depth - 1)
        forms = [
            f"({a} + {b})", f"({a} - {b})", f"{a} * {b}", f"sin({a})", f"cos({a})", f"-({a})",
            f"tanh({a})", f"({a}) / (1.5 + tanh({b}))", f"exp(tanh({a}))", f"tanh({a}) ** 2",
            f"abs({a})", f"max({a}, {b})", f"min({a}, {b})", f"sqrt(abs({a}))",
            f"({a} if {self.test()} else {b})", f"float({a})", f"relu({a})",
            f"{self.rng.choice(self.ints)} * {a}", f"maximum({a}, {b})", f"({a}) // 1.5",
            f"sum(({a}, {b}))", f"clamp({a}, max=1.5)", f"clamp({a}, -1, 1)", f"round({a}, 2)",
            f"({a}) % 1.5", f"where({self.test()}, {a}, {b})",
        ]  # fmt: skip
        if self.functions:
            f, count = rng.choice(self.functions)
            forms += [f"{f}({', '.join([a, b][:count])})"] * 3
        return rng.choice(forms)

    def test(self):
        rng = self.rng
        a, b = rng.choice(self.names), rng.choice([*self.names, "0.3", "-0.2", "1"])
        plain = f"{a} {rng.choice(['<', '>', '<=', '>=', '!='])} {b}"
        other = f"{rng.choice(self.ints)} {rng.choice(['<', '>', '==', '!='])} {rng.randint(0, 5)}"
        return rng.choice(
            [plain, plain, other, f"{plain} and {other}", f"{plain} or {other}", f"not {plain}",
             f"0 < {a} < {b}", f"{a} > 0"]
        )  # fmt: skip

    def statement(self):
        kinds = [self.assign, self.update, self.branch, self.loop, self.while_loop, self.tensor]
        if self.depth == 0:
            kinds += [self.function, self.closure, self.items, self.tell, self.swap, self.counted]
            kinds += [self.list, self.aliases, self.best, self.untracked, self.late]
        if self.lists:
            kinds += [self.item, self.item]
        elif self.depth > 1:
            kinds = [self.assign, self.update]
        self.rng.choice(kinds)()

    def body(self, count=2):
        self.depth += 1
        kept = list(self.names), list(self.ints), list(self.tensors)
        for _ in range(self.rng.randint(1, count)):
            self.statement()
        self.names, self.ints, self.tensors = kept
        self.depth -= 1

    def assign(self):
        value = self.number()
        if self.depth and self.rng.random() < 0.6:
            self.put(f"{self.rng.choice(self.names)} = {value}")
            return
        name = self.name()
        self.put(f"{name} = {value}")
        self.names.append(name)

    def update(self):
        sign = self.rng.choice(["+", "-", "*"])
        self.put(f"{self.rng.choice(self.names)} {sign}= {self.number(1)}")

    def swap(self):
        if len(self.names) > 1:
            a, b = self.rng.sample(self.names, 2)
            self.put(f"{a}, {b} = {b}, {a} * 0.5")

    def branch(self):
        self.put(f"if {self.test()}:")
        self.body()
        if self.rng.random() < 0.6:
            self.put("else:")
            self.body()

    def loop(self):
        rng = self.rng
        turns = rng.choice(["n", "20", "n + 15", "3", "0", "60", "1", "n * n", "2, 30, 3"])
        i = self.name("i")
        start = self.name()
        self.put(f"{start} = {rng.choice(['0', '1', '0.0', self.number(1)])}")
        self.put(f"for {i} in range({turns}):")
        self.ints.append(i)
        self.depth += 1
        self.put(f"{start} = {start} * 0.5 + sin({self.number(1)}) * 0.1")
        if rng.random() < 0.3:
            self.put(f"if {self.test()}:")
            self.put(f"    {rng.choice(['break', 'continue'])}")
        self.depth -= 1
        self.body()
        self.ints.remove(i)
        if turns in ("20", "3", "60", "1"):
            self.ints.append(i)
        self.names.append(start)

    def while_loop(self):
        name, limit = self.name("k"), self.rng.choice(["n", "7", "24", "n + 2"])
        self.put(f"{name} = 0")
        guard = "" if self.rng.random() < 0.5 else f" and {self.rng.choice(self.names)} < 3"
        self.put(f"while {name} < {limit}{guard}:")
        self.depth += 1
        self.put(f"{name} += 1")
        self.depth -= 1
        self.body()
        self.ints.append(name)

    def tensor(self):
        name = self.name("t")
        kept = self.rng.choice(["tensor(1.5)", f"tensor({self.rng.choice(self.names)})"])
        self.put(f"{name} = {kept} * {self.number(1)}")
        if self.rng.random() < 0.5:
            self.put(f"for j{name} in range({self.rng.choice(['n', '4', '55'])}):")
            self.put(f"    {name} {self.rng.choice(['+', '-'])}= {self.number(1)} * 0.1")
        if self.rng.random() < 0.3:
            self.put(f"{name}.add_({self.number(1)})")
        if self.depth == 0:
            self.tensors.append(name)
            self.names.append(f"{name}.item()" if self.rng.random() < 0.3 else name)
            if self.names[-1] == name:
                self.names.pop()

    def function(self):
        f, count = self.name("f"), self.rng.randint(1, 2)
        params = ["p", "q"][:count]
        self.put(f"def {f}({', '.join(params)}):")
        outside = self.names, self.functions
        self.names, self.functions = [*params, *self.names], []
        self.depth += 1
        local = self.name()
        self.put(f"{local} = {self.number(1)}")
        self.names = [*params, local]
        if self.rng.random() < 0.6:
            self.put(f"if {self.test()}:")
            self.put(f"    return {self.number(1)}")
        if self.rng.random() < 0.5:
            self.put(f"for i in range({self.rng.choice(['n', '5', '30'])}):")
            self.put(f"    {local} = {local} * 0.7 + {self.number(1)} * 0.01")
            if self.rng.random() < 0.5:
                self.put(f"    if {self.test()}:")
                self.put(f"        return {local}")
        self.put(f"return {self.number(1)}")
        self.depth -= 1
        self.names, self.functions = outside
        self.functions = [*self.functions, (f, count)]

    def closure(self):
        f = self.name("g")
        self.put(f"{f} = lambda u: u * {self.number(1)} + {self.rng.choice(self.names)}")
        self.functions.append((f, 1))

    def items(self):
        rng = self.rng
        xs, total = self.name("l"), self.name()
        self.put(f"{xs} = [{', '.join(self.number(1) for _ in range(3))}]")
        self.put(f"{xs}[{rng.randint(-3, 2)}] = {self.number(1)}")
        if rng.random() < 0.5:
            self.put(f"{xs}.append({self.number(1)})")
        self.put(f"{total} = 0")
        self.put(f"for i, item in enumerate({xs}):")
        self.put(f"    {total} = {total} + item * i")
        self.names.append(rng.choice([total, f"{xs}[0]"]))

    def tell(self):
        a = self.rng.choice(self.names)
        self.put(self.rng.choice([f"print({a})", f"print(f'{{{a}:.3f}} of {{n}}')",
                                  f"print('v', {a}, [{a}, n])"]))  # fmt: skip

    def counted(self):
        total = self.name()
        self.put(f"{total} = n ** 2 + {self.rng.randint(0, 9)}")
        self.put(f"assert {total} >= 0")
        self.ints.append(total)

    def list(self):
        """A list that branches and loops change."""
        name = self.name("l")
        self.put(f"{name} = [{self.number(1)}, {self.number(1)}]")
        self.lists.append(name)
        self.names += [f"{name}[0]", f"{name}[1]"]

    def item(self):
        name = self.rng.choice(self.lists)
        self.put(f"{name}[{self.rng.randint(0, 1)}] = {self.number(1)}")

    def aliases(self):
        """Two names of one tensor, which a loop or a branch changes."""
        a, c = self.name("t"), self.name("t")
        self.put(f"{a} = tensor({self.rng.choice(self.names)}) + {self.number(1)}")
        self.put(f"{c} = {a}")
        self.put(self.rng.choice([f"if {self.test()}:", f"for j{a} in range(n + 30):"]))
        self.put(f"    {self.rng.choice([a, c])} += {self.number(1)} * 0.1")
        self.put(f"    {c} = {self.rng.choice([c, a, f'{c} * 0.5', f'{a} + 1'])}")
        self.tensors += [a, c]

    def best(self):
        name, i = self.name(), self.name("i")
        self.put(f"{name} = None")
        self.put(f"for {i} in range({self.rng.choice(['60', '4', 'n + 1'])}):")
        self.put(f"    if {name} is None or {name} < {self.rng.choice(self.names)} * {i}:")
        self.put(f"        {name} = {self.number(1)} + {i}")
        self.names.append(name)

    def untracked(self):
        name = self.name()
        self.put("with no_grad():")
        self.put(f"    {name} = {self.number(1)} * 1.5")
        self.names.append(name)

    def late(self):
        """A function that reads a name which changes after its definition."""
        f, name = self.name("f"), self.name()
        self.put(f"{name} = {self.number(1)}")
        self.put(f"def {f}(p):")
        self.put(f"    for i in range({self.rng.choice(['3', 'n', '50'])}):")
        self.put(f"        p = p * 0.5 + {name}")
        self.put(f"        if {self.test()}:")
        self.put(f"            return p - {name}")
        self.put("    return p")
        self.put(f"{name} = {name} + {self.number(1)}")
        self.functions.append((f, 1))
        self.names.append(name)
