"""The two-layer network of samples/two_layer.grad, 500 steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.clock import race, table
from benchmarks.peers import torch
from gradcli.program import load

SAMPLE = Path(__file__).parent.parent / "samples" / "two_layer.grad"


def main(repeats: int = 3) -> None:
    """Print the table."""
    program = load(SAMPLE)
    candidates: dict[str, Callable[[], object]] = {"gradcli": program.run}
    peer = torch()
    if peer is not None:
        candidates["PyTorch, float64"] = partial(_network, peer, peer.float64)
        candidates["PyTorch, float32"] = partial(_network, peer, peer.float32)
    print(table("two-layer network, 500 steps", race(candidates, repeats), "s", 1, "gradcli"))


def _network(torch: Any, dtype: Any) -> float:
    x = torch.randn(64, 1000, dtype=dtype)
    y = torch.randn(64, 10, dtype=dtype)
    w1 = torch.randn(1000, 100, dtype=dtype, requires_grad=True)
    w2 = torch.randn(100, 10, dtype=dtype, requires_grad=True)
    for _ in range(500):
        loss = (x.mm(w1).clamp(min=0).mm(w2) - y).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            w1 -= 1e-6 * w1.grad
            w2 -= 1e-6 * w2.grad
            w1.grad.zero_()
            w2.grad.zero_()
    return float(loss.item())
