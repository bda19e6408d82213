"""The two-layer network of samples/two_layer.grad, 500 steps: whole processes and the loop by
itself, beside NumPy by hand, PyTorch and JAX.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import of_children, race, table
from benchmarks.peers import jax, torch
from gradcli.program import Options, Program, load

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "samples" / "two_layer.grad"
TORCH = """
import torch
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
x, y = torch.randn(64, 1000), torch.randn(64, 10)
w1 = torch.randn(1000, 100, requires_grad=True)
w2 = torch.randn(100, 10, requires_grad=True)
for t in range(500):
    loss = (x.mm(w1).clamp(min=0).mm(w2) - y).pow(2).sum()
    if t % 100 == 99:
        print(t, loss.item())
    loss.backward()
    with torch.no_grad():
        w1 -= 1e-6 * w1.grad
        w2 -= 1e-6 * w2.grad
        w1.grad.zero_()
        w2.grad.zero_()
"""
JAX = """
from benchmarks.network import in_jax
from benchmarks.peers import jax
print(in_jax(jax()))
"""


def main(repeats: int = 3) -> None:
    """Print the tables."""
    program = load(SAMPLE)
    loops: dict[str, Callable[[], object]] = {"gradcli": partial(_run, program, "auto")}
    loops["gradcli, interpreted"] = partial(_run, program, "never")
    loops["NumPy by hand"] = _by_hand
    run = [sys.executable, "-m", "gradcli", "run", str(SAMPLE)]
    processes: dict[str, Callable[[], object]] = {"gradcli": partial(_done, run)}
    processes["gradcli, interpreted"] = partial(_done, [*run, "--compile", "never"])
    peer, other = torch(), jax()
    if peer is not None:
        loops["PyTorch, float64"] = partial(_in_torch, peer, peer.float64)
        loops["PyTorch, float32"] = partial(_in_torch, peer, peer.float32)
        processes["PyTorch, float64"] = partial(_done, [sys.executable, "-c", TORCH])
    if other is not None:
        loops["JAX, float64"] = partial(in_jax, other)
        processes["JAX, float64"] = partial(_done, [sys.executable, "-c", JAX])
    title = "two-layer network, 500 steps, whole processes"
    base = "PyTorch, float64" if peer is not None else "gradcli"
    print(table(title, race(processes, repeats, of_children), "s of processor time", 1, base))
    title = "two-layer network, 500 steps, the loop with all code made"
    found = race(loops, repeats, time.process_time)
    print(table(title, found, "s of processor time", 1, "NumPy by hand"))


def _done(command: list[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, cwd=ROOT, check=True)


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


def _in_torch(torch: Any, dtype: Any) -> float:
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


def in_jax(jax: Any) -> float:
    """The network in JAX, a step of which is one function that it has compiled."""
    rng = np.random.default_rng()
    x, y = rng.standard_normal((64, 1000)), rng.standard_normal((64, 10))
    w1, w2 = rng.standard_normal((1000, 100)), rng.standard_normal((100, 10))
    for _ in range(500):
        loss, w1, w2 = _step_of(jax)(w1, w2, x, y)
    return float(loss)


@cache
def _step_of(jax: Any) -> Any:
    def loss_of(w1: Any, w2: Any, x: Any, y: Any) -> Any:
        return ((jax.numpy.maximum(x @ w1, 0) @ w2 - y) ** 2).sum()

    def step(w1: Any, w2: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
        loss, (by1, by2) = jax.value_and_grad(loss_of, (0, 1))(w1, w2, x, y)
        return loss, w1 - 1e-6 * by1, w2 - 1e-6 * by2

    return jax.jit(step)
