"""Loops of three ops on a number, of five on a vector: value and gradient, recorded as they run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.clock import Timing, race, table
from benchmarks.peers import torch
from gradcli.program import Program, load

SCALAR = """
input x = 0.7
y = x
for i in range(TURNS):
    y = sin(y) * 1.01 + x
y
"""
VECTOR = """
param x: float[n]
y = x
for i in range(TURNS):
    y = tanh(y * 0.5 + x) * x - 0.1
y.sum()
"""
STEP = 1e-6


def main(repeats: int = 7) -> None:
    """Print the tables."""
    scalar(10_000, repeats)
    for size, turns in ((100, 2000), (100_000, 20)):
        vector(size, turns, repeats)


def scalar(turns: int, repeats: int) -> None:
    """The loop on a number."""
    program = load(SCALAR.replace("TURNS", str(turns)))
    candidates: dict[str, Callable[[], object]] = {
        "gradcli, value and gradient": program.grad,
        "gradcli, central differences": partial(_differences, program),
    }
    peer = torch()
    if peer is not None:
        candidates["PyTorch, value and gradient"] = partial(_scalar_torch, peer, turns)
    _print("scalar loop, 3 ops an iteration", race(candidates, repeats), turns)


def vector(size: int, turns: int, repeats: int) -> None:
    """The loop on a vector."""
    program = load(VECTOR.replace("TURNS", str(turns)))
    values = [0.1 + i / size for i in range(size)]
    if size > 1000:
        import numpy as np

        data: Any = np.array(values)
    else:
        data = values
    candidates: dict[str, Callable[[], object]] = {
        "gradcli, value and gradient": lambda: program.grad(x=data)
    }
    peer = torch()
    if peer is not None:
        candidates["PyTorch, value and gradient"] = partial(_vector_torch, peer, values, turns)
    _print(f"vector of {size:,}, 5 ops an iteration", race(candidates, repeats), turns)


def _print(title: str, timings: dict[str, Timing], turns: int) -> None:
    base = next(iter(timings))
    print(table(title, timings, "us an iteration", 1e6 / turns, base))


def _differences(program: Program) -> object:
    """The derivative from two runs: no more is known of the value than of a black box."""
    values = [program.run(x=x).result for x in (0.7 + STEP, 0.7 - STEP)]
    return (values[0] - values[1]) / (2 * STEP)


def _scalar_torch(torch: Any, turns: int) -> object:
    x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(turns):
        y = torch.sin(y) * 1.01 + x
    y.backward()
    return x.grad


def _vector_torch(torch: Any, values: list[float], turns: int) -> object:
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(turns):
        y = torch.tanh(y * 0.5 + x) * x - 0.1
    y.sum().backward()
    return x.grad
