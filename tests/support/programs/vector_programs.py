"""Programs on a small vector and a number, with questions to them, and random ones: element by
element, sums, items, loops, branches.
"""

import random
import re
import struct
from math import isnan

import numpy as np

from gradcli.errors import GradError
from gradcli.program import Options

HEAD = "input x: float[3]\ninput b\n"
GIVEN = {"x": [1.5, -0.25, 2.0], "b": 0.7}
DOTS = {"x": [0.5, -1.0, 2.0], "b": 1.5}
QUESTIONS = {
    "grad": {},
    "jvp": {"tangents": DOTS},
    "jacobian": {"mode": "forward"},
    "hessian": {},
    "hvp": {"tangents": DOTS},
}


def bits(x):
    return "nan" if isnan(x) else struct.pack("d", x)


def answer(program, question, when, given, **more):
    """The answer to a question as text; code that is refused does not count."""
    try:
        options = Options(compile=when, grad_fn=False)
        found = getattr(program, question)(
            given, options=options, **(more or QUESTIONS.get(question, {}))
        )
    except GradError as error:
        found = error
    with np.printoptions(precision=17, threshold=10**6):
        return re.sub(r"Source object at \w+", "Source", repr(found))


class Writer:
    """Writes one program of the inputs x (a vector of `size` floats), b (a float), k (an int)."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.size = self.rng.choice([1, 2, 3, 3, 9])
        self.vectors, self.numbers, self.lines = ["x"], ["b"], []

    def program(self):
        head = [f"input x: float[{self.size}]", "input b", "input k: int = 3"]
        for count in range(self.rng.randint(1, 4)):
            self.statement(count)
        return "\n".join([*head, *self.lines, f"{self.number(2)} + {self.number(1)} * b"]) + "\n"

    def given(self):
        rng = self.rng
        x = [rng.choice([rng.gauss(0, 1), rng.gauss(0, 1), 0.0]) for _ in range(self.size)]
        return {"x": x, "b": rng.gauss(0, 1), "k": rng.randint(0, 3)}

    def vector(self, depth=2):
        rng = self.rng
        if depth == 0 or rng.random() < 0.25:
            return rng.choice(self.vectors)
        a, b, c = self.vector(depth - 1), self.vector(depth - 1), self.number(0)
        return rng.choice(
            [f"({a} + {b})", f"({a} * {b})", f"({a} - {c})", f"{c} * {a}", f"relu({a})", f"abs({a})",
             f"({a}) / (2 + {b} * {b})", f"maximum({a}, {b})", f"where({a} > {c}, {a}, {b})",
             f"({a}) ** 2", f"-({a})", f"clamp({a}, -1, 1)", f"minimum({a}, {c})",
             f"sqrt(({a}) ** 2 + 1)", f"{a} * {rng.choice([0.0, -0.0, 0.5])}"]
        )  # fmt: skip

    def number(self, depth=1):
        rng = self.rng
        if depth == 0:
            return rng.choice([*self.numbers, *self.numbers, "0.5", "-1.25", "2"])
        a, c = self.vector(depth - 1), self.number(depth - 1)
        at = rng.randrange(-self.size, self.size)
        return rng.choice(
            [f"({a}).sum()", f"({a}).mean()", f"({a})[{at}]", f"sin({c})", f"x[{at}] * {c}",
             f"({c} * {self.number(depth - 1)})", f"({a})[{self.size - 1}:].sum()", f"{c} * 0.0"]
        )  # fmt: skip

    def statement(self, count):
        rng, name = self.rng, f"v{count}"
        kind = rng.choice(["vector", "number", "stack", "branch", "loop", "items"])
        match kind:
            case "vector":
                self.lines.append(f"{name} = {self.vector()}")
            case "stack":
                numbers = [f"{self.number()} * 1.0" for _ in range(self.size)]
                self.lines.append(f"{name} = stack([{', '.join(numbers)}])")
            case "branch":
                self.lines += [f"{name} = {self.vector(1)}", f"if {self.number()} > {self.number(0)}:",
                               f"    {name} = {self.vector()}"]  # fmt: skip
            case "loop":
                turns = rng.choice(["k", "2"])
                self.lines += [f"{name} = {self.vector(1)}", f"for i in range({turns}):"]
                self.vectors.append(name)
                self.lines.append(f"    {name} = {self.vector()}")
            case "number":
                self.lines.append(f"{name} = {self.number(2)} * 1.0")
            case "items":
                self.lines += [f"{name} = 0.0", f"for w in {self.vector(1)}:",
                               f"    {name} = {name} + w * {self.number()}"]  # fmt: skip
        known = self.numbers if kind in ("number", "items") else self.vectors
        if name not in known:
            known.append(name)


OF_NUMBERS = (
    "g = grad(f)({v}, {c})\n(g * x).sum() + g[0]",
    "g = grad(f, (0, 1))({v}, {c})\n(g[0] * x).sum() * g[1]",
    "v, d = jvp(f, ({v}, {c}), (x, {c}))\nd * v",
    "h = hessian(f)({v}, {c})\nh[0][0] * b + h[-1][0]",
    "v, h = hvp(f, ({v}, {c}), (x, {c}))\n(h[0] * x).sum() + v * h[1]",
    "w = {v}\nfor i in range(k + 9):\n    w = w - 0.01 * grad(f)(w, {c})\n(w * x).sum()",
    "grad(lambda u: (grad(f)(u, b) * x).sum())({v}).sum() * b",
)
OF_VECTORS = (
    "j = jacobian(f)({v}, {c})\nj[0][0] * b + j[-1][0]",
    "j = jacfwd(f, (0, 1))({v}, {c})\nj[0][0][-1] * b + j[1][0]",
    "v, pull = vjp(f, {v}, {c})\ng = pull(x)\n(g[0] * v).sum() + g[1]",
    "v, d = jvp(f, ({v}, {c}), (x, b * 1.0))\n(d * v).sum()",
)


def transformed(seed):
    """A program that differentiates a function of a vector and a number, and its inputs."""
    writer = Writer(seed)
    writer.vectors, writer.numbers = ["t"], ["s"]
    is_number = writer.rng.random() < 0.6
    value = f"{writer.number(2)} + {writer.number(1)} * s" if is_number else writer.vector(3)
    value = re.sub(r"\bx\b", "t", value)
    lines = [f"def f(t, s):\n    u = {writer.vector(2)}"]
    if writer.rng.random() < 0.4:
        lines.append(f"    for i in range(k):\n        u = u * 0.5 + {writer.vector(1)}")
    body = f"{value} + (u * t).sum()" if is_number else f"{value} + u"
    lines.append(f"    return {body}")
    end = writer.rng.choice(OF_NUMBERS if is_number else OF_VECTORS)
    v, c = writer.rng.choice(["x", "x * b", "x + 1"]), writer.rng.choice(["b", "0.5"])
    head = f"input x: float[{writer.size}]\ninput b\ninput k: int = 3\n"
    return head + "\n".join(lines) + "\n" + end.format(v=v, c=c) + "\n", writer.given()
