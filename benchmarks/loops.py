"""Loops that are recorded and differentiated: numbers, short and long vectors."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks.clock import table, take_turns
from gradcli import load

SCALAR = """
input x = 0.7
y = x
for i in range({turns}):
    y = sin(y * x) + x
y
"""
VECTOR = """
input a: float[n]
v = a
for i in range({turns}):
    v = tanh(sin(v * a) * 0.9 + v)
v.sum()
"""


def scalars(repeats: int) -> str:
    """A loop over numbers with three operations a turn."""
    turns = 20_000
    program = load(SCALAR.format(turns=turns))

    def differences() -> None:
        program.run(x=0.7 + 1e-6)
        program.run(x=0.7 - 1e-6)

    def python() -> None:
        x = y = 0.7
        for _ in range(turns):
            y = math.sin(y * x) + x

    work: dict[str, Callable[[], object]] = {
        "gradcli: value and gradient": lambda: program.grad(wrt="x"),
        "gradcli: value alone": program.run,
        "gradcli: central differences, one input": differences,
        "Python: value alone": python,
    }
    torch = _torch()
    if torch is not None:

        def eager() -> None:
            x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
            y = x
            for _ in range(turns):
                y = torch.sin(y * x) + x
            y.backward()

        work["PyTorch: value and gradient"] = eager
    title = "A loop over numbers, three operations a turn: time of a turn"
    return table(title, take_turns(work, repeats), next(iter(work)), "us", turns)


def vectors(repeats: int) -> str:
    """Loops over vectors with five operations a turn."""
    return "\n".join(_vector(repeats, *sizes) for sizes in ((100, 2000), (100_000, 50)))


def _vector(repeats: int, size: int, turns: int) -> str:
    program = load(VECTOR.format(turns=turns))
    a = np.linspace(0.1, 0.9, size)

    def numpy() -> None:
        v = a
        for _ in range(turns):
            v = np.tanh(np.sin(v * a) * 0.9 + v)

    work: dict[str, Callable[[], object]] = {
        "gradcli: value and gradient": lambda: program.grad(wrt="a", a=a),
        "gradcli: value alone": lambda: program.run(a=a),
        "NumPy: value alone": numpy,
    }
    torch = _torch()
    if torch is not None:

        def eager() -> None:
            x = torch.tensor(a, requires_grad=True)
            v = x
            for _ in range(turns):
                v = torch.tanh(torch.sin(v * x) * 0.9 + v)
            v.sum().backward()

        work["PyTorch: value and gradient"] = eager
    title = f"A loop over a vector of {size:,}, five operations a turn: time of a turn"
    return table(title, take_turns(work, repeats), next(iter(work)), "us", turns)


def _torch() -> Callable[..., object] | None:
    try:
        import torch
    except ImportError:
        return None
    return torch
