"""Programs that `export` writes as source code."""

import numpy as np

from gradcli.program import load

TURNS = "input x = 3.0\ninput most = 100.0\nwhile x < most:\n    x = x * x / 2 + exp(-x)\nx"
NESTED = """
input x = 0.3
y = x
for i in range(4):
    z = y
    while z < 3:
        z = z + z * z + 0.1
    y = y + sin(z) * x
y
"""
BREAKS = """
input x = 0.3
y = x
for i in range(100):
    y = y * y + x
    if y > 2:
        break
y
"""
INTS = "input n: int = 3\ninput x = 2.0\nm = n * n - 7\nk = m // 2 + m % 3\nx * k + abs(n)"
COUNTED = "input n: int = 5\ninput x = 1.5\ny = 1.0\nfor i in range(n):\n    y = y * x + i\ny"
WORDS = (
    "input double = 1.0\ninput y0 = 2.0\ninput gamma = 3.0\ninput value = 0.5\ninput work = 2.0\n"
)
WORDS += "int_add = double * y0\nint_add * gamma + value * work * sin(int_add)"
OPS = "input x = 0.7\ninput y = 1.3\nhypot(x, y) + lgamma(y) + sigmoid(x) * erf(y) + x ** y + atan2(x, y)"
WHERE = "input x = 0.5\nwhere(x > 0, log(x), x ** 2) + relu(x) + maximum(x, 0.1) + clamp(x, 0, 1)"
PROGRAMS = {
    "turns": TURNS,
    "nested": NESTED,
    "breaks": BREAKS,
    "ints": INTS,
    "counted": COUNTED,
    "words": WORDS,
    "ops": OPS,
    "choice": WHERE,
    "branch": "input x = 1.0\nif x > 0:\n    y = x * x\nelse:\n    y = sin(x)\ny * y",
    "unread": "input x = 1.0\ninput y = 2.0\ninput z = 4.0\nx * z",
    "constant": "input x = 1.0\nx * 0 + 5",
    "bound": "input x = 2.0\ninput b: bool = True\ny = x * x if b else x\ny",
    "function": "def f(a, b):\n    return a * exp(b)\ninput x = 1.0\nf(x, f(x, 2.0))",
}
"""Programs by name, which their defaults run through."""

_T = ", ".join(str(k / 4 + 0.1) for k in range(12))
_ROWS = [[((i * 7 + j * 3) % 11) / 7 - 0.6 for j in range(4)] for i in range(12)]
_X = f"input x: float[n] = [{_T}]\n"
ARRAYS = {
    "fit": f"input a = 1.0\ninput k = 0.5\n{_X}r = a * exp(-k * x) - 1.0\nsum(r * r)",
    "extreme": f"{_X}mean(x ** 2) + x.max() + x.min() + norm(x) + prod(x)",
    "classes": f"input w: float[4] = [0.1, 0.2, -0.3, 0.4]\nX = tensor({_ROWS})\n"
    "-(log(sigmoid(X @ w))).sum()",
    "softmax": f"{_X}logsumexp(x, 0) + softmax(x, 0)[3]",
    "network": "input W: float[4, 3] = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [-0.1, 0.2, 0.1], "
    f"[0.3, 0.1, 0.2]]\nX = tensor({_ROWS})\nh = tanh(X @ W)\n"
    "(h.sum(dim=0) ** 2).sum() + h.mean(dim=1).sum() + (h.T @ X).sum()",
    "carried": f"{_X}input a = 0.3\ny = x\nfor i in range(6):\n    y = sin(y) * a + x\nsum(y * y)",
    "until": f"{_X}input a = 1.7\ny = x\nwhile sum(y) < 1000:\n    y = y * a + sin(x)\nsum(y)",
    "sides": f"{_X}input a = 1.7\nif sum(x) > 3:\n    y = x * a\nelse:\n    y = x - a\nsum(y * y)",
    "items": f"{_X}s = 0.0\nfor i in range(n):\n    s = s + x[i] * x[n - 1 - i] * i\ns",
    "slices": f"{_X}d = x[1:] - x[:-1]\nsum(d * d) + (x[::2] * 2).sum() + flip(x, [0])[2]",
    "choices": f"{_X}where(x > 1, x * x, sin(x)).sum() + relu(x - 1).sum() + clamp(x, 0.5, 1.5).sum()",
    "joined": f"{_X}y = cat([x, x * 2])\nstack([y, y * y]).sum(dim=0).mean()",
    "groups": f"{_X}g = tensor([0, 1, 1, 0, 2, 2, -1, 3, 1, 0, 2, 1])\n"
    "input w: float[4] = [1.0, 2.0, 3.0, 4.0]\n(w[g] * x).sum()",
    "swapped": f"{_X}y = x\nz = x * 2\nfor i in range(5):\n    y, z = z, y * 0.5 + z\nsum(y * z)",
    "left": f"{_X}y = x\nfor i in range(20):\n    y = y * 1.3\n    if sum(y) > 60:\n        break\n"
    "sum(y * y)",
    "special": f"{_X}(erf(x) + lgamma(x + 1) + log1p(x) + atan(x)).sum()",
    "large": "input a = 0.7\nx = linspace(0, 1, 300)\ny = exp(a * x)\nsum(y * y) / 300",
    "rows": f"{_X}w = x.reshape(6, 2)\nr = embedding(tensor([1, 1, 0, 5]), w)\n(r * r[0]).sum()",
    "along": f"{_X}w = x.reshape(3, 4)\nk = tensor([[2, 0, 2, 1], [0, 0, 1, 1]])\n"
    "(gather(w, 0, k) * w[:2]).sum() + take_along_dim(w, tensor([[3], [-1], [0]]), 1).prod()",
    "transposed": f"{_X}w = x.reshape(3, 4).T * 1.5\nw.sum() + (w * w).sum(dim=0)[1]",
    "one": f"{_X}input b: float[1] = [0.7]\nsum(b * x) + clamp(b, 0, 1)[0] * x[3]",
    "one_of_no_name": "input b: float[1] = [0.7]\nx = linspace(0, 1, 30)\nsum(b * x) + sum(b * x * b)",
    "overwritten": f"{_X}input k: int = 3\ny = -x\nfor i in range(k):\n    y = abs(x) * x[0]\nx[1] * y.mean()",
    "behind": f"{_X}s = 0.0\nfor i in range(2, n):\n    s = s * 0.9 + x[i - 2] * x[i] * x[-1 - i]\ns",
    "unread": f"{_X}w = x.reshape(6, 2)\n(1 - cosine_similarity(w, w * 2 + 1, 1)).mean()",
    "constant": f"{_X}0.1 * x[2]",
    "constants": f"{_X}0.1 * x[2] + x[3] * 0.5 + 2.0 * x[2] + x[4] ** 2",
    "outer": f"{_X}sum(outer(x, x) * 0.5) + (x[:, None] - x[None, :]).abs().sum()",
}
"""Programs on arrays that are too long to be written element by element."""

_SERIES = "input b: float[5] = [0.2, -0.1, 0.05, 0.3, 0.1]\ny = sin(linspace(0, 9, 99))\ns = 0.0\n"
IN_PLACE = {
    "autoregression": f"{_SERIES}for t in range(2, 40):\n"
    "    s = s + (y[t] - b[0] - b[1] * y[t - 1] - b[2] * y[t - 2]) ** 2\ns",
    "sides": f"{_SERIES}for t in range(1, 40):\n    if y[t] > 0: s = s + b[0] * y[t - 1] * s\n"
    "    else: s = s * b[3] + b[1]\ns",
    "joined": f"{_SERIES}for t in range(40):\n    u = b[1]\n    if y[t] > 0: s = s + u * s\n"
    "    else: s = s - u * u\ns",
    "inner": f"{_SERIES}for t in range(5, 40):\n    m = 0.0\n    for k in range(5):\n"
    "        m = m + b[k] * y[t - 1 - k]\n    s = s + (y[t] - m) ** 2\ns",
    "slices": f"{_SERIES}for t in range(90):\n    s = s + ((b[1:4] * y[t]).sum() - b[t % 5]) ** 2\ns",
    "rows": f"input w: float[12, 4] = {_ROWS}\n{_SERIES}for t in range(99):\n"
    "    s = tanh(s + b[1] + (w[1] * y[t]).sum() + w[t % 12, 2])\ns",
}
"""Programs that pick items of an array in a loop; their cotangents are added to elements."""

READ_ELSEWHERE = {
    "whole": f"{_SERIES}for t in range(1, 40):\n    s = s + b[2] * y[t] + (b * b).sum()\ns + b[1] * b[0]",
    "changed": f"{_SERIES}v = b * 1.0\nfor t in range(40):\n    s = s + v[2] * v[1] * y[t]\n    v = v * 0.99\n"
    "s + v[3]",
    "computed": f"{_SERIES}c = b * 2.0\nd = c * c\nfor t in range(40):\n    s = s + c[2] * y[t] * d[1]\n"
    "    if s > 2: s = s * c[1]\ns + c[3] * d[4]",
}
"""Programs whose arrays of cotangents are read elsewhere, too."""
ARRAYS |= {f"in_place_{name}": text for name, text in {**IN_PLACE, **READ_ELSEWHERE}.items()}

MATRICES = {
    "squares": f"input a = 2.0\n{_X}y = x * x * a + x[0]\ny",
    "matrix": f"{_X}w = x.reshape(4, 3)\nw.T @ w",
    "loop": f"{_X}y = x\nfor i in range(30):\n    y = sin(y) * x\ny",
    "until": f"{_X}input a = 1.3\ny = x\nwhile sum(y) < 1000:\n    y = y * a + sin(x)\ny",
    "residuals": f"{_X}w = x.reshape(4, 3)\nw @ tensor([1.0, 2.0, 3.0]) - 1.0",
    "few": f"{_X}cat([x[:2] * x[2:4], x[5:6] * x[6]])",
    "parts": f"{_X}input b: float[2] = [0.5, 1.5]\nouter(x, b) * x[3]",
    "one": f"{_X}sum(x * x, dim=0, keepdim=True) * x[:1]",
    "param": "param x: float[12] = [1,2,3,4,5,6,7,8,9,10,11,12]\ny = x * 2\n"
    "while y.data.norm() < 100:\n    y = y * x[0] * 2\ny",
}
"""Programs whose result is an array, differentiated by arrays."""

CURVED = {
    "powers": f"{_X}input a = 1.3\nsum(x ** 3 * a)",
    "branch": f"{_X}input a = 1.3\nif sum(x) > 3:\n    y = x * x * a\nelse:\n    y = x\nsum(y * y)",
    "loop": f"{_X}input a = 0.3\ny = x\nfor i in range(30):\n    y = sin(y) * a + x\nsum(y * y)",
    "logs": f"{_X}logsumexp(x, 0) + prod(x) * 1e-3 + norm(x) + x.max() * x[0]",
    "items": f"{_X}s = 0.0\nfor i in range(12):\n    s = s + x[i] * x[11 - i] * i\ns",
    "linear": f"{_X}sum(x) * 2",
}
"""Programs of one number, differentiated twice by arrays."""

SECOND = ("turns", "nested", "breaks", "ops", "choice", "function")


def defaults(program):
    """The values that inputs begin with, which the program may change later."""
    lines = program.source.text.splitlines()
    declared = [line for line in lines if line.startswith(("input ", "param "))]
    found = load("\n".join(declared)).run().values
    return {name: found[name] for name in program.inputs if name in found}


def answer(program, values, is_matrix, of=None):
    """The numbers of the value and the first derivatives."""
    if not is_matrix:
        found = program.grad(values, of=of)
        return [found.value], [x for g in found.grad.values() for x in np.ravel(g).tolist()]
    found = program.jacobian(values, of=of)
    rows = [np.reshape(x, (np.size(found.value), -1)) for x in found.jacobian.values()]
    return np.ravel(found.value).tolist(), np.ravel(np.concatenate(rows, axis=1)).tolist()
