"""A gradient inside each step of a loop: descent, differentiated as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.clock import race
from benchmarks.peers import torch
from gradcli.program import load

TEXT = """
param rate = 0.01
x = linspace(0, 1, 5)
f = lambda x: sum(x ** 4 - x * sin(x))
for i in range(TURNS):
    x = x - rate * grad(f)(x)
f(x)
"""
TURNS = (10, 20, 40, 80, 160)


def main(repeats: int = 5) -> None:
    """Print the table: seconds, and how they grow where the steps double."""
    _print("gradcli", {n: load(TEXT.replace("TURNS", str(n))).grad for n in TURNS}, repeats)
    peer = torch()
    if peer is not None:
        _print("PyTorch", {n: lambda n=n: _descent(peer, n) for n in TURNS}, repeats)  # type: ignore[misc]  # n as default


def _print(who: str, works: dict[int, Callable[[], object]], repeats: int) -> None:
    found = race({f"{turns} steps": work for turns, work in works.items()}, repeats)
    print(f"a gradient in each step of a loop, {who}")
    before = None
    for name, timing in found.items():
        ratio = "" if before is None else f"{timing.least / before:8.2f} times half of them"
        print(f"  {name:12}{timing.least * 1e3:9.1f} ms{ratio}")
        before = timing.least
    last, quarter = (found[f"{turns} steps"].least for turns in (TURNS[-1], TURNS[-3]))
    print(f"  {TURNS[-1]} steps take {last / quarter:.2f} times {TURNS[-3]}\n")


def _descent(torch: Any, turns: int) -> object:
    def f(x: Any) -> Any:
        return (x**4 - x * torch.sin(x)).sum()

    rate = torch.tensor(0.01, dtype=torch.float64, requires_grad=True)
    x = torch.linspace(0, 1, 5, dtype=torch.float64, requires_grad=True)
    for _ in range(turns):
        (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
        x = x - rate * slope
    return torch.autograd.grad(f(x), rate)
