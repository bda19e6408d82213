"""Random loops over tensors that keep the best, skip turns and stop early: of the tensors that a
turn keeps, some have a part in the derivative on one side of a branch only.
"""

import random

import numpy as np

SIZES = [1, 3, 64, 65, 100, 0]
KINDS = {
    "float": "input b: float[n]",
    "int": "input b: int[n]",
    "bool": "input b: bool[n]",
    "float32": "input c: float[n]\nb = c.float()",
}
FIRST = [
    *("x * 1.0", "x", "w * 2", "ones(n)", "zeros(n)", "x.detach()", "w", "x * 0", "x[0] * w"),
]
TURNS = ["for k in range(6):", "k = 0\nwhile k < t:\n    k += 1", "for k in range(t):"]
NEXT = [
    *("x * w * (k - 3)", "y * 0.9 + w", "sin(x * k)", "w * (k - 2.0)", "x * q * k"),
    *("best * 0.5 + x", "where(m, x, w) * k", "cumsum(x, 0) * 0.1 * k", "x * x[0] + k"),
]
SCORES = [
    *("(y * y).sum()", "y.sum()", "(x * k).sum() - 2", "w.sum() * k", "k - 2.5", "3 - k"),
    "(y * w).max()",
]
ENDS = [
    "if l < low:\n    low = l\n    best = y\nelse:\n    break",
    "if l > low * 0.5:\n    break\nlow = l\nbest = y",
    "if l < 0.3:\n    best = y\n    break\ns = s + l",
    "if l < low:\n    low = l\n    best = y\nif k > 3:\n    break",
    "if k == 1:\n    continue\nbest = best + y\nif l < 0.1:\n    break",
    "if l < 0.1:\n    best = w * 2\n    continue\nbest = best * 0.5 + y",
    "if l < 0.1:\n    best = w * 2\n    break\nbest = y",
    "if l > 0.1:\n    best = w * 2\nelif l > -3:\n    best = x\n    break\n"
    "else:\n    best = y.detach()",
    "if l < 0.2:\n    if s > 1:\n        break\n    best = y\nelse:\n    s = s + 1\n    best = w",
    "if l < 0.1:\n    break\ni = b * 1\nif i.sum() > 2:\n    best = best * i\n    continue\nbest = y",
    "if l < 0.1:\n    break\nz = y * 0.5\nif l > 4:\n    best = best + z\n    continue\nbest = z",
    "if l < low:\n    low = l\n    best = y\n    keep = b\nelse:\n    break",
    "j = 0\nwhile j < 3:\n    j += 1\n    if l < j:\n        break\n    best = best * 0.9 + y\n"
    "if l < 0:\n    break",
]
RESULTS = [
    *("(best * x).sum()", "best.sum()", "(best * best * w).sum() + s", "(best + keep * x).sum()"),
    *("best.sum() * x.sum()", "low + best.sum()", "s + (y * best).sum()"),
]
QUESTIONS = {
    "grad": {"wrt": ["x"]},
    "grad by w": {"wrt": ["w"]},
    "grad by both": {"wrt": ["x", "w"]},
    "jvp": {},
    "hessian": {"wrt": ["x"]},
    "hvp": {"wrt": ["x"]},
    "jacobian": {"wrt": ["x"], "mode": "forward"},
    "run": {},
}


class Loop:
    """The loop of a seed.

    Fields:
        text: The program.
        given: Its inputs.
        question: The method of the program that asks a question of it.
        asked: Further arguments of that.
    """

    def __init__(self, seed):
        rng = random.Random(seed)
        kind, size = rng.choice([*KINDS]), rng.choice(SIZES)
        ends, result = rng.choice(ENDS), rng.choice(RESULTS)
        keeps = ["keep = b"] if "keep" in ends + result else []
        turn = f"y = {rng.choice(NEXT)}\nl = {rng.choice(SCORES)}\n{ends}"
        lines = [
            *("input x: float[n]", "input w: float[n]", "input q = 0.5", "input t: int = 5"),
            *("input m: bool[n]", KINDS[kind], f"best = {rng.choice(FIRST)}", "low = 1e9"),
            *("s = 0.0", "y = x", *keeps, rng.choice(TURNS)),
            *(f"    {line}" for line in turn.splitlines()),
            *(result, ""),
        ]
        self.text = "\n".join(lines)
        numbers = np.random.default_rng(seed)
        x, w, b = numbers.normal(size=(3, size)).round(2)
        several = {"int": (b * 3).astype(np.int64), "bool": b > 0}.get(kind, b)
        self.given = {"x": x, "w": w, "m": x > w, "c" if kind == "float32" else "b": several}
        name = rng.choice([q for q in QUESTIONS if q != "hessian" or size < 4])
        self.question, self.asked = name.split()[0], QUESTIONS[name]
        if self.question in ("jvp", "hvp"):
            self.asked = {**self.asked, "tangents": {"x": w}}
