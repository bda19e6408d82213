"""Random programs that train: loops with backward passes, updates of leaves, and gradients that are
zeroed, dropped or read.
"""

import random


class Writer:
    """Writes a program with some leaves, numbers or arrays, and a loop that trains them."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.shape = self.rng.choice([(), (), (3,), (70,), (2, 3)])
        self.leaves = [f"w{k}" for k in range(self.rng.randint(1, 3))]

    def program(self):
        """Its text."""
        rng = self.rng
        for name in [*self.leaves, "x"]:
            leaf = "" if name == "x" else ", requires_grad=True"
            self.lines.append(f"{name} = tensor({self.data()}{leaf})")
        if rng.random() < 0.3:
            self.lines.append("v = 0.5 * x")
        turns = rng.choice([3, 60, 120])
        self.lines.append(f"for i in range({turns}):")
        self.turn(rng.choice(["zero", "none", "new", "zero", "forgotten", "first"]))
        for name in self.leaves:
            self.lines.append(f"print({name}.detach(), {name}.grad, {name}.is_leaf)")
        self.lines.append(f"{self.leaves[0]}.detach().sum()")
        return "\n".join(self.lines) + "\n"

    def data(self):
        """Random numbers of a shape, as text."""

        def some(shape):
            if not shape:
                return f"{self.rng.uniform(-1.5, 1.5):.3f}"
            return "[" + ", ".join(some(shape[1:]) for _ in range(shape[0])) + "]"

        return some(self.shape)

    def add(self, text, depth=1):
        self.lines.append("    " * depth + text)

    def turn(self, way):
        """The body of the loop; `way` selects the treatment of gradients."""
        rng = self.rng
        if way == "first":
            self.zeroed("None")
        if rng.random() < 0.4:
            self.add(f"h = {self.leaves[0]} * 0.5")
            self.add("for j in range(" + rng.choice(["2", "90"]) + "):")
            self.add(f"h = h * 0.9 + {self.leaf()} * 0.01", 2)
        else:
            self.add(f"h = {self.value(2)}")
        if rng.random() < 0.3:
            self.add("if i % 3 == 1:")
            self.add(f"h = h * {self.value(1)}", 2)
            if rng.random() < 0.5:
                self.add("else:")
                self.add(f"h = h + ({self.leaf()} * {self.value(1)}).detach()", 2)
        self.add(f"loss = ((h - {self.value(1)}) ** 2).{rng.choice(['sum', 'mean'])}()")
        self.passes()
        if rng.random() < 0.3:
            self.add("if i % 20 == 1:")
            self.add(f"print(i, loss.item(), {self.leaf()}.grad)", 2)
        self.updates(way)

    def passes(self):
        rng = self.rng
        several = "[" + ", ".join(self.leaves) + "]"
        match rng.randrange(6):
            case 0:
                self.add(f"more = (h * {self.value(1)}).sum() * 0.01")
                self.add("loss.backward(retain_graph=True)")
                self.add("more.backward()")
            case 1:
                self.add(
                    f"gs = torch.autograd.grad(loss, {several}, retain_graph=True, "
                    "allow_unused=True)"
                )
                self.add("loss.backward()")
            case 2:
                self.add("loss.backward(tensor(0.5))")
            case 3:
                self.add(f"other = ({self.value(2)}).sum() * 0.1")
                self.add("torch.autograd.backward([loss, other])")
            case 4:
                self.add("loss.backward()")
                self.add(f"again = ({self.leaf()} * x).sum() * 0.01")
                self.add("again.backward()")
            case _:
                self.add("loss.backward()")

    def updates(self, way):
        rng = self.rng
        rate = rng.choice(["0.01", "0.003", "0.1 / (i + 10)"])
        if way == "new":
            for name in self.leaves:
                self.add(f"if {name}.grad is not None:")
                self.add(f"{name} = ({name}.detach() - {rate} * {name}.grad).requires_grad_()", 2)
            return
        self.add("with no_grad():")
        if rng.random() < 0.2:
            self.add("pass", 2)
        for name in self.leaves:
            self.add(f"if {name}.grad is not None:", 2)
            if rng.random() < 0.2:
                self.add(f"{name}.grad *= 0.5", 3)
            if rng.random() < 0.2:
                self.add(f"{name}.grad.clamp_(-1.0, 1.0)", 3)
            how = rng.choice(
                [f"{name} -= {rate} * {name}.grad", f"{name}.sub_({rate} * {name}.grad)"]
            )
            self.add(how, 3)
            if way == "zero":
                self.add(f"{name}.grad.zero_()", 3)
        if way == "none":
            self.zeroed("None")

    def zeroed(self, value):
        for name in self.leaves:
            self.add(f"{name}.grad = {value}")

    def leaf(self):
        return self.rng.choice(self.leaves)

    def value(self, depth):
        """An expression of leaves and data."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*self.leaves, *self.leaves, "x", "0.5", f"{self.leaf()}.detach()"])
        a, b = self.value(depth - 1), self.value(depth - 1)
        return rng.choice(
            [
                f"({a} * {b})",
                f"({a} + {b})",
                f"({a} - {b})",
                f"sin({self.leaf()} * {a})",
                f"({self.leaf()} * {a} + {b}).tanh()",
                f"(x * {a} + {self.leaf()}).clamp(min=0)",
                f"({self.leaf()} ** 2 * {b})",
                f"where({self.leaf()} > x, {a}, {b} * {self.leaf()})",
            ]
        )
