"""Small programs of floats, loops and branches: as text for the interpreter, and as typed programs.

A statement is a tuple: `("set", names, expressions)`, `("if", comparison, then, else)` or `("for",
count, body, comparison)`, whose last item breaks the loop at the end of a turn, or is None. An
expression is a name, a number, or an op with its arguments; a count is a number or a name.
"""

import random

from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.symbols import Builder, operand
from gradcli.engine.compile.typed import Block, If, Loop, Program, Value
from gradcli.engine.ops.catalog import ops
from gradcli.source import Span

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "gt": ">"}


def said(statements, indent=""):
    """The text of statements."""
    lines = []
    for kind, *parts in statements:
        match kind:
            case "set":
                names, found = parts
                lines.append(f"{indent}{', '.join(names)} = {', '.join(map(_said, found))}")
            case "if":
                test, then, orelse = parts
                lines.append(f"{indent}if {_said(test)}:")
                lines += said(then, indent + "  ") or [f"{indent}  pass"]
                if orelse:
                    lines += [f"{indent}else:", *said(orelse, indent + "  ")]
            case "for":
                count, body, stop = parts
                lines.append(f"{indent}for _ in range({count}):")
                lines += said(body, indent + "  ")
                if stop is not None:
                    lines += [f"{indent}  if {_said(stop)}:", f"{indent}    break"]
    return lines


def _said(x):
    if not isinstance(x, tuple):
        return str(x)
    op, *args = x
    words = [f"({_said(a)})" if isinstance(a, tuple) else str(a) for a in args]
    sign = _SIGNS.get(op)
    return f"{op}({', '.join(words)})" if sign is None else f" {sign} ".join(words)


def whole_text(inputs, statements, results):
    """The text of a program with these inputs, names and their values."""
    head = [f"input {name} = {value!r}" for name, value in inputs.items()]
    last = results[0] if len(results) == 1 else f"[{', '.join(results)}]"
    return "\n".join([*head, *said(statements), last]) + "\n"


def typed(inputs, statements, results):
    """The typed program, and its inputs by name."""
    tracer = _Tracer()
    given = {name: tracer.builder.value(type(x).__name__) for name, x in inputs.items()}
    tracer.names.update(given)
    with tracer.builder.block() as body:
        tracer.statements(statements)
    block = Block(tuple(body), tuple(tracer.names[name] for name in results))
    program = Program(tuple(given.values()), block, ())
    return tidy(program, 1 << 60), given


class _Tracer:
    def __init__(self):
        self.builder = Builder(Span(0, 0))
        self.names = {}

    def expression(self, x):
        if isinstance(x, str):
            return self.names[x]
        if not isinstance(x, tuple):
            return x
        op, *args = x
        return operand(ops[op](*(self.builder.known(self.expression(a)) for a in args)))

    def statements(self, statements):
        for kind, *parts in statements:
            getattr(self, kind + "_")(*parts)

    def set_(self, names, found):
        self.names.update(zip(names, [self.expression(x) for x in found], strict=True))

    def if_(self, test, then, orelse):
        self.branch(self.expression(test), then, orelse)

    def branch(self, test, *sides):
        before = dict(self.names)
        blocks, ends = [], []
        for side in sides:
            self.names = dict(before)
            with self.builder.block() as body:
                side() if callable(side) else self.statements(side)
            blocks.append(body)
            ends.append(self.names)
        changed = [n for n in before if any(end[n] is not before[n] for end in ends)]
        targets = [self.builder.value("float") for _ in changed]
        whole = [
            Block(tuple(body), tuple(end[n] for n in changed))
            for body, end in zip(blocks, ends, strict=True)
        ]
        self.builder.add(If(Span(0, 0), tuple(targets), test, *whole))
        self.names = {**before, **dict(zip(changed, targets, strict=True))}

    def for_(self, count, body, stop):
        most = self.expression(count)
        if isinstance(most, Value) and stop is None:
            self.tested(most, body)
        elif isinstance(most, Value):
            some = operand(ops.gt(self.builder.known(most), 0))
            self.branch(some, lambda: self.loop(most, body, stop), ())
        elif most > 0:
            self.loop(most, body, stop)

    def tested(self, most, body):
        """A loop whose turns begin with the test for another turn."""
        names = sorted(set(_assigned(body)))
        params = {n: self.builder.value("float") for n in names}
        turn = self.builder.value("int")
        initial = tuple(self.names[n] for n in names)
        self.names.update(params)
        with self.builder.block() as inside:
            test = operand(ops.lt(self.builder.known(turn), self.builder.known(most)))
            with self.builder.block() as then:
                self.statements(body)
                following = operand(ops.add(self.builder.known(turn), 1))
            nexts = tuple(self.names[n] for n in names)
            types = ["bool", "int", *["float"] * len(names)]
            targets = tuple(map(self.builder.value, types))
            sides = (
                Block(tuple(then), (True, following, *nexts)),
                Block((), (False, turn, *params.values())),
            )
            self.builder.add(If(Span(0, 0), targets, test, *sides))
        self.finish(names, turn, params, initial, Block(tuple(inside), targets))

    def finish(self, names, turn, params, initial, body):
        targets = {n: self.builder.value("float") for n in names}
        self.names.update(targets)
        turns = (self.builder.value("int"), *targets.values())
        count = self.builder.value("int")
        all_params = (turn, *params.values())
        self.builder.add(Loop(Span(0, 0), turns, count, all_params, (0, *initial), body))

    def loop(self, most, body, stop):
        names = sorted(set(_assigned(body)))
        params = {n: self.builder.value("float") for n in names}
        turn = self.builder.value("int")
        initial = tuple(self.names[n] for n in names)
        self.names.update(params)
        with self.builder.block() as inside:
            self.statements(body)
            then = operand(ops.add(self.builder.known(turn), 1))
            again = operand(ops.lt(self.builder.known(then), self.builder.known(most)))
            if stop is not None:
                stopped = self.builder.known(self.expression(stop))
                again = operand(
                    ops.logical_and(self.builder.known(again), ops.logical_not(stopped))
                )
        nexts = tuple(self.names[n] for n in names)
        self.finish(names, turn, params, initial, Block(tuple(inside), (again, then, *nexts)))


def _assigned(statements):
    for kind, *parts in statements:
        match kind:
            case "set":
                yield from parts[0]
            case "if":
                yield from _assigned([*parts[1], *parts[2]])
            case "for":
                yield from _assigned(parts[1])


class Writer:
    """Random statements on the names `a`, `b`, `c`, `d` and a count `n`."""

    names = ("a", "b", "c", "d")

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def program(self):
        """Inputs, statements, and the name of the result."""
        rng = self.rng
        inputs = {n: round(rng.uniform(-1.5, 1.5), 3) for n in self.names[: rng.randint(1, 3)]}
        start = [
            ("set", (n,), (rng.choice([*inputs, 0.5, 1.0]),)) for n in self.names[len(inputs) :]
        ]
        inputs["n"] = rng.choice([0, 1, 2, 3, 5, 8])
        rng.shuffle(start)
        body = self.block(rng.randint(2, 5), 2)
        return inputs, [*start, *body], [rng.choice(self.names)]

    def block(self, count, depth):
        return [self.statement(depth) for _ in range(count)]

    def statement(self, depth):
        rng = self.rng
        kind = rng.random()
        if depth and kind < 0.3:
            stop = self.test() if rng.random() < 0.25 else None
            count = rng.choice(["n", "n", 1, 2, 3, 4])
            return ("for", count, self.block(rng.randint(1, 3), depth - 1), stop)
        if depth and kind < 0.45:
            then = self.block(rng.randint(1, 2), depth - 1)
            return ("if", self.test(), then, self.block(rng.randint(0, 2), depth - 1))
        if kind < 0.6:
            names = rng.sample(self.names, 2)
            return ("set", tuple(names), (rng.choice(self.names), self.expression(1)))
        if kind < 0.68:
            return ("set", (rng.choice(self.names),), (rng.choice(self.names),))
        return ("set", (rng.choice(self.names),), (self.expression(2),))

    def test(self):
        return (self.rng.choice(["lt", "gt"]), self.rng.choice(self.names), self.leaf())

    def leaf(self):
        rng = self.rng
        return rng.choice(self.names) if rng.random() < 0.85 else round(rng.uniform(-2, 2), 2)

    def expression(self, depth):
        rng = self.rng
        if not depth:
            return self.leaf()
        one, two = self.expression(depth - 1), self.expression(rng.randint(0, depth - 1))
        return rng.choice(
            [
                ("add", one, two), ("sub", one, two), ("mul", ("sin", one), two),
                ("sin", one), ("cos", one), ("tanh", one), ("exp", ("sin", one)),
                ("mul", one, ("tanh", two)), ("relu", one), ("maximum", one, two),
                ("div", one, ("add", 2.5, ("tanh", two))), ("neg", one),
            ]
        )  # fmt: skip
