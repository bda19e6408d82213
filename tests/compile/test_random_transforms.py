"""Random functions differentiated inside random programs, compiled: bit for bit the interpreter's."""

import random
import re
from collections import Counter

import pytest
from support.checks.amounts import chunks

from gradcli.engine.compile import backends
from gradcli.errors import GradError
from gradcli.program import Options, load

GIVEN = {"x": 0.7, "b": -1.25, "n": 3}
HEAD = """input x = 0.7
input b = -1.25
input n: int = 3
class Exp(Function):
    def forward(ctx, t):
        y = exp(t)
        ctx.save_for_backward(y)
        return y
    def backward(ctx, g):
        y, = ctx.saved_tensors
        return y * g
"""
ENDS = (
    "v, d = jvp(f, ({p}, {q}), ({w}, 0.5))\nd * v",
    "v, pull = vjp(f, {p}, {q})\ng = pull({w})\ng[0] * g[1] + v",
    "j = jacfwd(f, (0, 1))({p}, {q})\nj[0] * j[1]",
    "h = hessian(f, argnums=(0, 1))({p}, {q})\nh[0][0] * h[1][1] - h[0][1]",
    "v, h = hvp(f, ({p}, {q}), ({w}, 1.0))\nh[0] * h[1] + v",
    "g = lambda t: jvp(lambda s: f(s, t), (t,), ({w},))[1]\ngrad(g)({p}) * x",
    "g = lambda t, s: (f(t, s), f(s, t) * 2)\nj = jacrev(g, (0, 1))({p}, {q})\nj[0][0] * j[1][1]",
    "y, z = {p}, {q}\nfor i in range(n + 9):\n    v, g = value_and_grad(f, (0, 1))(y, z)\n"
    "    y, z = y - 0.01 * g[0], z - 0.01 * g[1]\ny * z",
)
GRADIENTS = (
    "g = grad(f, (0, 1))({p}, {q})\ng[0] * g[1]",
    "v, g = value_and_grad(f, (0, 1))({p}, {q})\ng[0] * v + g[1]",
    "v, pull = vjp(f, {p}, {q})\ng = pull({w})\ng[0] * g[1] + v",
    "j = jacrev(f, (0, 1))({p}, {q})\nj[0] * j[1]",
    "y, z = {p}, {q}\nfor i in range(n + 9):\n    g = grad(f, (0, 1))(y, z)\n"
    "    y, z = y - 0.01 * g[0], z - 0.01 * g[1]\ny * z",
)
QUESTIONS = {
    "run": {},
    "grad": {"wrt": "x,b"},
    "jvp": {"tangents": {"x": 1.5, "b": -0.75}},
    "hessian": {"wrt": "x,b"},
    "hvp": {"wrt": "x,b", "tangents": {"x": 1.5, "b": -0.75}},
    "hvp reverse": {"wrt": "x,b", "tangents": {"x": 1.5, "b": -0.75}, "mode": "reverse"},
}


class Writer:
    """Writes a program from a seed."""

    ends = ENDS

    def __init__(self, seed):
        self.random = random.Random(seed)

    def expression(self, names, depth):
        choice = self.random.choice
        if depth == 0 or self.random.random() < 0.15:
            return choice([*names, *names, "0.5", "-1.5", "3"])
        a, b = (self.expression(names, depth - 1) for _ in range(2))
        called = choice(["sin", "cos", "exp", "tanh", "Exp.apply"])
        forms = [f"{called}({a} * 0.5)", f"({a}) ** {choice([2, 3])}", f"max({a}, {b})"]
        return choice([*forms, *[f"({a} {choice('+-*')} {b})"] * 4])

    def function(self):
        def e(depth=3):
            return self.expression(names, depth)

        names = ["t", "s", *self.random.choice([(), ("x",)])]
        lines = [f"u = {e()}"]
        names.append("u")
        form = self.random.randrange(6)
        if form == 0:
            lines += [f"if {e(1)} > {e(1)}:", f"    u = {e()}", "else:", f"    u = {e()} * u"]
        elif form == 1:
            lines += ["for i in range(n + 9):", f"    u = u * 0.5 + {e(2)} * 0.1"]
        elif form == 2:
            lines += [f"if {e(1)} > 0:", f"    return {e()}"]
        return "\n    ".join(["def f(t, s):", *lines, f"return {e()} * t + u * s\n"])

    def program(self):
        p, q = (self.expression(["x", "b"], 1) for _ in range(2))
        w = self.random.choice(["1.0", "x", "b"])
        return HEAD + self.function() + self.random.choice(self.ends).format(p=p, q=q, w=w)


class WriterOfLoops(Writer):
    """Likewise one that takes gradients of a function with a loop, whose variables share values."""

    ends = GRADIENTS

    def function(self):
        def e(depth=2):
            return self.expression(names, depth)

        choice, chance = self.random.choice, self.random.random
        names = ["t", "s", *choice([(), ("x",)])]
        lines = [f"u = {e()}", f"w = {e()}"]
        names += ["u", "w"]
        body = [
            choice(
                [
                    f"u = u * 0.5 + {e()} * 0.1",
                    f"u, w = {choice('wuts')}, {e(1)} * 0.3",
                    f"w = {e()} * 0.2",
                ]
            )
            for _ in range(self.random.randrange(1, 3))
        ]
        if chance() < 0.4:
            body += [f"if {e(1)} > {e(1)}:", f"    u = {e(1)}"]
            body += ["else:", f"    w = {e(1)} * 0.5"] if chance() < 0.5 else []
        if chance() < 0.2:
            body += [f"if w > {e(1)}:", "    break"]
        lines.append(f"for i in range(n{choice(['', ' + 9'])}):")
        lines += [f"    {line}" for line in body]
        return "\n    ".join(["def f(t, s):", *lines, f"return {e()} * t + u * s + w\n"])


def answer(text, question, when):
    try:
        ask = getattr(load(text), question.partition(" ")[0])
        found = ask(GIVEN, options=Options(compile=when), **QUESTIONS[question])
    except GradError as error:
        return str(error)
    return re.sub(r"Source object at \w+", "Source", repr(found))


@pytest.mark.parametrize("first", chunks(4, 400, 4))
def test_code_gives_the_answer_of_a_run(first, monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    found = Counter()
    for seed in range(first, first + 4):
        text, question = Writer(seed).program(), [*QUESTIONS][seed % len(QUESTIONS)]
        code = answer(text, question, "always")
        refused = "not compiled" in code
        found[refused] += 1
        assert refused or code == answer(text, question, "never"), (seed, question)
    assert found[False]


ONE_VALUE_OF_SEVERAL = (
    "def f(t, s):\n    u = (cos(s * 0.5) - max(t, x))\n    w = tanh((x + -1.5) * 0.5)\n"
    "    for i in range(n + 9):\n        u, w = t, (u + s) * 0.3\n"
    "    return ((u) ** 3 * (x + u)) * t + u * s + w\n"
    "g = grad(f, (0, 1))((x + b), (b) ** 2)\ng[0] * g[1]",
)


@pytest.mark.parametrize("body", ONE_VALUE_OF_SEVERAL)
@pytest.mark.parametrize("question", ["hessian", "hvp reverse"])
def test_a_cotangent_of_several_values_stays_itself_where_another_is_absent(body, question):
    assert answer(HEAD + body, question, "always") == answer(HEAD + body, question, "never")


@pytest.mark.parametrize("first", chunks(2, 600, 2))
def test_gradients_of_loops_are_differentiated_again(first):
    for seed in (first, first + 1):
        text = WriterOfLoops(seed).program()
        for question in ("hessian", "hvp reverse"):
            code = answer(text, question, "always")
            assert "not compiled" not in code, (seed, question)
            assert code == answer(text, question, "never"), (seed, question)
