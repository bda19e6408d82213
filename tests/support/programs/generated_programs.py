"""Random programs that are smooth near their inputs, for tests without expected numbers."""

from __future__ import annotations

import random


class Writer:
    """Writes one program: inputs `a` (a number) and `v` (a vector of `n`), and a scalar result."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.n = self.rng.randint(0, 5)
        self.lines: list[str] = []
        self.numbers = ["a"]
        self.vectors = ["v"]
        self.count = 0

    def program(self) -> str:
        """Its text."""
        for statement in self.rng.choices(
            [
                self.number, self.vector, self.loop, self.branch, self.function, self.recursion,
                self.update, self.view, self.repeated,
            ],
            k=self.rng.randint(3, 7),
        ):  # fmt: skip
            statement()
        total = " + ".join([*self.numbers[-3:], *(f"sin({v}).sum()" for v in self.vectors[-3:])])
        return "\n".join([*self.lines, total])

    def given(self) -> dict[str, object]:
        """Values of the inputs."""
        v = [round(self.rng.uniform(-1.5, 1.5), 3) for _ in range(self.n)]
        return {"a": round(self.rng.uniform(-1.5, 1.5), 3), "v": v}

    def name(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def scalar(self, depth: int = 2) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*self.numbers, f"{rng.uniform(0.2, 2):.2f}"])
        a, b = self.scalar(depth - 1), self.scalar(depth - 1)
        forms = [
            f"({a} + {b})", f"({a} - {b})", f"(tanh({a}) * tanh({b}))", f"sin({a})", f"cos({a})",
            f"tanh({a})", f"({a} / (1.5 + tanh({b})))", f"exp(tanh({a}))", f"tanh({a}) ** 2",
            f"log(1.5 + tanh({a}))", f"sqrt(1.2 + sin({a}))", f"sigmoid({a})", f"(-{a})",
        ]  # fmt: skip
        if self.n:
            forms.append(f"{rng.choice(self.vectors)}[{rng.randrange(-self.n, self.n)}]")
        return rng.choice([*forms, f"tanh({rng.choice(self.vectors)}).sum()"])

    def array(self) -> str:
        rng = self.rng
        u, w, a = rng.choice(self.vectors), rng.choice(self.vectors), self.scalar(1)
        return rng.choice(
            [
                f"{u} + {w}", f"tanh({u}) * tanh({w})", f"{a} * tanh({u})", f"sin({u}) - {a}",
                f"exp(tanh({u}))", f"{u} / (1.5 + tanh({w}))", f"stack([{u}, {w}]).sum(0)",
                f"sigmoid({u}).reshape(-1)", f"outer(tanh({u}), tanh({w})) @ tanh({u})",
            ]
        )  # fmt: skip

    def number(self) -> None:
        name = self.name()
        self.lines.append(f"{name} = {self.scalar()}")
        self.numbers.append(name)

    def vector(self) -> None:
        name = self.name()
        self.lines.append(f"{name} = {self.array()}")
        self.vectors.append(name)

    def loop(self) -> None:
        name, other = self.name(), self.name()
        turns = self.rng.randint(0, 20)
        self.lines += [
            f"{name} = {self.scalar(1)}",
            f"{other} = {self.rng.choice(self.vectors)} * 1",
            f"for i in range({turns}):",
            f"    {name} = sin({name}) + 0.1 * i * {self.scalar(1)}",
            f"    {other} = tanh({other}) + {name} * 0.1",
        ]
        self.numbers.append(name)
        self.vectors.append(other)

    def branch(self) -> None:
        name, limit = self.name(), self.rng.uniform(-0.7, 0.7)
        self.lines += [
            f"if {self.scalar(1)} > {limit:.4f}1:",
            f"    {name} = {self.scalar()}",
            "else:",
            f"    {name} = {self.scalar()}",
        ]
        self.numbers.append(name)

    def function(self) -> None:
        f, name = self.name(), self.name()
        self.lines += [
            f"def {f}(p, q=0.5):",
            "    r = p * q",
            f"    return {self.rng.choice(['sin(r) + p', 'tanh(p) / (1.5 + q * q)', 'r * r - q'])}",
            f"{name} = {f}(tanh({self.scalar(1)}), tanh({self.scalar(1)}))",
        ]
        self.numbers.append(name)

    def recursion(self) -> None:
        f, name = self.name(), self.name()
        self.lines += [
            f"def {f}(p, k):",
            f"    return p if k == 0 else sin({f}(p * 0.9, k - 1)) + p",
            f"{name} = {f}({self.scalar(1)}, {self.rng.randint(0, 8)})",
        ]
        self.numbers.append(name)

    def update(self) -> None:
        name = self.name()
        self.lines.append(f"{name} = {self.rng.choice(self.vectors)} * 1")
        for _ in range(self.rng.randint(1, 3)):
            change = self.rng.choice(
                [f"{name} += {self.scalar(1)}", f"{name} *= cos({self.scalar(1)})"]
            )
            if self.n:
                i = self.rng.randrange(self.n)
                change = self.rng.choice([change, f"{name}[{i}] = {self.scalar(1)}"])
            self.lines.append(change)
        self.vectors.append(name)

    def view(self) -> None:
        name, part = self.name(), self.name()
        lower = self.rng.randint(0, self.n)
        self.lines += [
            f"{name} = {self.rng.choice(self.vectors)} * 1",
            f"{part} = {name}[{lower}:]",
            f"{part} *= {self.rng.choice(['2.0', f'cos({self.scalar(1)})'])}",
            f"{name} += sin({self.scalar(1)})",
        ]
        if self.n > lower:
            self.lines.append(f"{part}[0] -= {self.scalar(1)}")
        self.vectors.append(name)

    def repeated(self) -> None:
        if self.n == 0:
            return
        name = self.name()
        index = [self.rng.randrange(self.n) for _ in range(self.n)]
        self.lines.append(f"{name} = tanh({self.rng.choice(self.vectors)})[{index}]")
        self.vectors.append(name)


def written(seed: int) -> tuple[str, dict[str, object]]:
    """A program and values of its inputs `a` and `v`."""
    writer = Writer(seed)
    text = writer.program()
    declared = f"input a = 0.5\ninput v: float[{writer.n}]\n"
    return declared + text, writer.given()


class Aliases:
    """A random program with aliases, views and updates in place, and an equal one without: there
    each update makes a new vector of all values, and every name is a list of indices in it.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.n = self.rng.randint(2, 6)
        self.shared = ["m = x * 1"]
        if self.n % 2 == 0 and self.rng.random() < 0.5:  # memory in another order
            self.shared = [f"c = x.reshape(2, {self.n // 2}).T * 1", "m = c.T.view(-1)"]
        self.plain = ["b0 = x * 1"]
        self.version = 0
        self.places: dict[str, list[int]] = {"m": list(range(self.n))}
        self.uses = 0

    def programs(self) -> tuple[str, str]:
        """The texts of both; each has the input `x` of size `n` and a scalar result."""
        for _ in range(self.rng.randint(3, 8)):
            self.rng.choice([self.alias, self.change, self.change, self.use])()
        self.use()
        total = " + ".join(f"u{i}.sum()" for i in range(self.uses))
        head = f"input x: float[{self.n}]\n"
        return tuple(head + "\n".join([*lines, total]) for lines in (self.shared, self.plain))  # type: ignore[return-value]

    def alias(self) -> None:
        old = self.rng.choice(list(self.places))
        places, new = self.places[old], f"w{len(self.places)}"
        lower = self.rng.randrange(len(places))
        upper = self.rng.randint(lower + 1, len(places))
        how = self.rng.choice(["same", "slice", "step", "view", "flat", "split", "unbind"])
        if how == "slice":
            self.shared.append(f"{new} = {old}[{lower}:{upper}]")
            places = places[lower:upper]
        elif how == "step":
            self.shared.append(f"{new} = {old}[{lower}::2]")
            places = places[lower::2]
        elif how == "split":
            sizes = [lower, upper - lower, len(places) - upper]
            self.shared.append(f"{new} = {old}.split({sizes})[1]")
            places = places[lower:upper]
        elif how == "unbind":
            self.shared.append(f"{new} = {old}[:, None].expand(-1, 1).unbind(1)[0]")
        elif how == "view":
            self.shared.append(f"{new} = {old}.unsqueeze(0)[0]")
        elif how == "flat":
            self.shared.append(f"{new} = {old}[None].T[:, 0]")
        else:
            self.shared.append(f"{new} = {old}")
        self.places[new] = places

    def value(self) -> tuple[str, str]:
        name = self.rng.choice(list(self.places))
        i = self.rng.randrange(len(self.places[name]))
        return f"{name}[{i}]", f"b{self.version}[{self.places[name][i]}]"

    def change(self) -> None:
        name = self.rng.choice(list(self.places))
        places, now = self.places[name], f"b{self.version}"
        shared, plain = self.value()
        self.version += 1
        after = f"b{self.version}"
        kind = self.rng.choice(["add", "mul", "square", "item", "items", "sin", "all"])
        before = f"{now}[{places}]"
        made = {
            "add": f"{before} + {plain}",
            "mul": f"{before} * {plain}",
            "square": f"{before} * {before}",
            "sin": f"sin({before})",
            "all": f"({before} * 0 + 1) * {plain}",
        }
        did = {
            "add": f"{name} += {shared}",
            "mul": f"{name} *= {shared}",
            "square": f"{name} *= {name}",
            "sin": f"{name}.sin_()",
            "all": f"{name}[:] = {shared}",
        }
        if kind == "items":
            chosen = self.rng.sample(range(len(places)), self.rng.randint(1, len(places)))
            self.shared.append(f"{name}[{chosen}] = {shared} * 2")
            places = [places[i] for i in chosen]
            new = f"[{', '.join([f'{plain} * 2'] * len(places))}]"
        elif kind == "item":
            i = self.rng.randrange(len(places))
            self.shared.append(f"{name}[{i}] = {shared} * 2")
            places, new = [places[i]], f"[{plain} * 2]"
        else:
            self.shared.append(did[kind])
            new = made[kind]
        self.plain.append(f"r = {new}")
        items = [f"r[{places.index(k)}]" if k in places else f"{now}[{k}]" for k in range(self.n)]
        self.plain.append(f"{after} = stack([{', '.join(items)}])")

    def use(self) -> None:
        name = self.rng.choice(list(self.places))
        form = self.rng.choice(["{} * 3", "{} * {}", "exp({} * 0.1)", "{} ** 3"])
        self.shared.append(f"u{self.uses} = " + form.replace("{}", name))
        self.plain.append(
            f"u{self.uses} = " + form.replace("{}", f"b{self.version}[{self.places[name]}]")
        )
        self.uses += 1


def aliased(seed: int) -> tuple[str, str, dict[str, object]]:
    """A program with aliases, the same without, and the value of the input `x`."""
    writer = Aliases(seed)
    shared, plain = writer.programs()
    return shared, plain, {"x": [round(writer.rng.uniform(-1, 1), 3) for _ in range(writer.n)]}


class Lists:
    """A random program on lists of small vectors: shared, changed, grown and iterated over, in
    loops, branches and functions. It may fail.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lists = ["p"]
        self.count = 0

    def program(self) -> str:
        """Its text; the input `c` is a number."""
        lines = ["input c = 0.5", "p = [ones(2)]"]
        for _ in range(self.rng.randint(4, 10)):
            lines += self.statement(2)
        return "\n".join([*lines, f"len({self.rng.choice(self.lists)}) + c"])

    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        kinds = [self.change] * 4 + [self.read] * 2 + [self.alias]
        if depth:
            kinds += [self.loop, self.branch, self.function, self.count_down]
        return rng.choice(kinds)(depth - 1)

    def value(self) -> str:
        p = self.rng.choice(self.lists)
        items = [f"ones({self.rng.randint(1, 3)})", f"{p}[-1]", f"{p}[-1] * 2", f"{p}[0]"]
        return self.rng.choice(items)

    def change(self, depth: int) -> list[str]:
        p, rng = self.rng.choice(self.lists), self.rng
        return [
            rng.choice(
                [
                    f"{p}.append({self.value()})", f"{p}.append({self.value()})",
                    f"{p}[{rng.randint(-1, 2)}] = {self.value()}", f"{p}.pop()",
                    f"{p}.extend([{self.value()}, {self.value()}])",
                ]
            )
        ]  # fmt: skip

    def read(self, depth: int) -> list[str]:
        p, q, rng = self.rng.choice(self.lists), self.rng.choice(self.lists), self.rng
        i, j = rng.randint(-2, 3), rng.randint(-1, 2)
        uses = [
            f"print({p}[{i}] + {q}[{j}])", f"print({p}[{i}][{rng.randint(0, 2)}])",
            f"assert len({p}) > {rng.randint(0, 2)}", f"print(stack({p}).sum())",
            f"print({p}[{i}] + ones({rng.randint(1, 3)}))",
        ]  # fmt: skip
        return [rng.choice(uses)]

    def alias(self, depth: int) -> list[str]:
        old, new = self.rng.choice(self.lists), self.name()
        made = self.rng.choice(
            [
                old, old, f"[{old}[0]]", f"({old}, 1)[0]", f"{old}[:]", "[ones(2)]",
                f"{old} + {self.rng.choice(self.lists)}", f"[{self.value()}] + {old}", f"{old} * 2",
                f"{self.rng.choice(['2', 'len(p)'])} * [{old}[0]]",
            ]
        )  # fmt: skip
        self.lists.append(new)
        update = [f"{new} += {self.rng.choice([old, f'[{self.value()}]'])}", f"{new} *= 2"]
        return [f"{new} = {made}", *self.rng.choice([[], [], update[:1], update[1:]])]

    def loop(self, depth: int) -> list[str]:
        over = self.rng.choice([f"range({self.rng.randint(0, 3)})", self.rng.choice(self.lists)])
        leave = f"if c * {self.rng.randint(1, 3)} > 1: {self.rng.choice(['break', 'continue'])}"
        return [f"for i{depth} in {over}[:3]:" if over in self.lists else f"for i{depth} in {over}:",
                *self.inside(depth, self.rng.choice([[], [leave]]))]  # fmt: skip

    def branch(self, depth: int) -> list[str]:
        test = self.rng.choice(["c > 0", "c > 1", f"len({self.rng.choice(self.lists)}) > 1"])
        return [f"if {test}:", *self.inside(depth, []), "else:", *self.inside(depth, [])]

    def function(self, depth: int) -> list[str]:
        f, old = self.name(), self.rng.choice(self.lists)
        kept, self.lists = self.lists, [*self.lists, "q"]
        body = self.inside(depth, [])
        self.lists = kept
        return [f"def {f}(q):", *body, f"{f}({old})"]

    def count_down(self, depth: int) -> list[str]:
        n, turns = self.name(), self.rng.choice(["2", "c * 4"])
        return [f"{n} = {turns}", f"while {n} > 0:", f"    {n} = {n} - 1", *self.inside(depth, [])]

    def inside(self, depth: int, first: list[str]) -> list[str]:
        """An indented block, whose new names are forgotten after it."""
        kept = list(self.lists)
        body = [*first, *self.statement(depth), *self.statement(depth)]
        self.lists = kept
        return [f"    {line}" for line in body]

    def name(self) -> str:
        self.count += 1
        return f"n{self.count}"


def listed(seed: int) -> str:
    """A program of lists, which may fail."""
    return Lists(seed).program()
