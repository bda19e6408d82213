"""A loop of three ops on a number: value and gradient, recorded as they run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.clock import race, table
from benchmarks.peers import torch
from gradcli.program import Options, Program, load

SCALAR = """
input x = 0.7
y = x
for i in range(TURNS):
    y = sin(y) * 1.01 + x
y
"""
STEP = 1e-6


def main(repeats: int = 7, turns: int = 10_000) -> None:
    """Print the table."""
    program, interpreted = load(SCALAR.replace("TURNS", str(turns))), Options(compile="never")
    recorded = "gradcli, value and gradient"
    candidates: dict[str, Callable[[], object]] = {
        recorded: lambda: program.grad(options=interpreted),
        "gradcli, central differences": partial(_differences, program, interpreted),
    }
    peer = torch()
    if peer is not None:
        candidates["PyTorch, value and gradient"] = partial(_scalar_torch, peer, turns)
    title = "scalar loop, 3 ops an iteration"
    print(table(title, race(candidates, repeats), "us an iteration", 1e6 / turns, recorded))


def _differences(program: Program, options: Options) -> object:
    """The derivative from two runs: no more is known of the value than of a black box."""
    values = [program.run(x=x, options=options).result for x in (0.7 + STEP, 0.7 - STEP)]
    return (values[0] - values[1]) / (2 * STEP)


def _scalar_torch(torch: Any, turns: int) -> object:
    x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(turns):
        y = torch.sin(y) * 1.01 + x
    y.backward()
    return x.grad
