"""The two-layer network of samples/two_layer.grad, 500 steps: interpreted, compiled, in PyTorch and
by hand in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import race, table
from benchmarks.peers import torch
from gradcli.program import Options, Program, load

SAMPLE = Path(__file__).parent.parent / "samples" / "two_layer.grad"


def main(repeats: int = 3) -> None:
    """Print the table."""
    program = load(SAMPLE)
    candidates: dict[str, Callable[[], object]] = {"gradcli": partial(_run, program, "never")}
    candidates["gradcli, compiled"] = partial(_run, program, "always")
    candidates["NumPy by hand"] = _by_hand
    peer = torch()
    if peer is not None:
        candidates["PyTorch, float64"] = partial(_network, peer, peer.float64)
        candidates["PyTorch, float32"] = partial(_network, peer, peer.float32)
    print(table("two-layer network, 500 steps", race(candidates, repeats), "s", 1, "gradcli"))


def _run(program: Program, when: str) -> object:
    return program.run(options=Options(compile=when, grad_fn=False))


def _by_hand() -> float:
    rng = np.random.default_rng()
    x, y = rng.standard_normal((64, 1000)), rng.standard_normal((64, 10))
    w1, w2 = rng.standard_normal((1000, 100)), rng.standard_normal((100, 10))
    for _ in range(500):
        h = x @ w1
        kept = np.maximum(h, 0)
        miss = kept @ w2 - y
        loss = (miss**2).sum()
        g = 2.0 * miss
        back = g @ w2.T
        back[h < 0] = 0
        w1 -= 1e-6 * (x.T @ back)
        w2 -= 1e-6 * (kept.T @ g)
    return float(loss)


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
