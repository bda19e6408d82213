"""The two-layer network of samples/two_layer.grad, 500 steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.clock import table, take_turns
from gradcli import load

SAMPLE = Path(__file__).parent.parent / "samples" / "two_layer.grad"


def report(repeats: int) -> str:
    """The sample against the same steps in PyTorch, both in float64, and in NumPy by hand."""
    program = load(SAMPLE)
    work: dict[str, Callable[[], object]] = {"gradcli": program.run, "NumPy, by hand": _numpy}
    try:
        import torch
    except ImportError:
        pass
    else:
        work["PyTorch"] = lambda: _torch(torch)
    times = take_turns(work, repeats)
    return table("A network 1000 -> 100 -> 10, 500 steps", times, "gradcli", "s")


def _numpy() -> None:
    import numpy as np

    draw = np.random.default_rng(0).standard_normal
    x, y, w1, w2 = draw((64, 1000)), draw((64, 10)), draw((1000, 100)), draw((100, 10))
    for _ in range(500):
        h = x @ w1
        relu = np.maximum(h, 0)
        g = 2 * (relu @ w2 - y)
        gh = (g @ w2.T) * (h >= 0)
        w2 -= 1e-6 * (relu.T @ g)
        w1 -= 1e-6 * (x.T @ gh)


def _torch(torch: object) -> None:
    kind = {"dtype": torch.float64}
    x, y = torch.randn(64, 1000, **kind), torch.randn(64, 10, **kind)
    w1 = torch.randn(1000, 100, **kind, requires_grad=True)
    w2 = torch.randn(100, 10, **kind, requires_grad=True)
    for _ in range(500):
        loss = (x.mm(w1).clamp(min=0).mm(w2) - y).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            w1 -= 1e-6 * w1.grad
            w2 -= 1e-6 * w2.grad
            w1.grad.zero_()
            w2.grad.zero_()
