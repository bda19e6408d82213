"""A loop of five ops on vectors of several sizes: value and gradient, beside PyTorch, JAX and
NumPy.

gradcli has the bits of NumPy's functions: "NumPy's tanh and exp alone" is the time of these calls,
one each a turn, on parts that stay in the nearest cache. It bounds gradcli's time from below.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

from benchmarks.clock import race, table
from benchmarks.peers import jax, torch
from gradcli.program import Options, load

LOOP = """
param x: float[n]
y = x
for i in range(TURNS):
    y = tanh(y * 0.5 + x) * x - 0.1
y.sum()
"""
PART, PARTS = 512, 8
TURNS = {1: 1000, 10: 1000, 56: 1000, 100: 1000, 1_000: 500, 100_000: 20, 1_000_000: 5}


def main(repeats: int = 7) -> None:
    """Print the tables."""
    for size, turns in TURNS.items():
        vector(size, turns, repeats)


def vector(size: int, turns: int, repeats: int) -> None:
    """The loop on vectors of one size."""
    import numpy as np

    x = 0.1 + np.arange(size) / size
    program = load(LOOP.replace("TURNS", str(turns)))
    function = load(LOOP.replace("TURNS", str(turns))).compile()
    function(x)
    interpreted, compiled = Options(compile="never"), Options(compile="always")
    works: dict[str, Callable[[], object]] = {
        "gradcli, interpreted": lambda: program.grad(x=x, options=interpreted),
        "gradcli, compiled": lambda: program.grad(x=x, options=compiled),
        "gradcli, a compiled function": lambda: function(x),
        "gradcli, its value alone": lambda: function.value(x),
        "NumPy, adjoints by hand": partial(_by_hand, x, turns),
        "NumPy's tanh and exp alone": _functions(x, turns),
    }
    peer = torch()
    if peer is not None:
        works["PyTorch"] = partial(_torch, peer, x, turns)
    compiler = jax()
    if compiler is not None:
        works["JAX, jitted scan"] = _jax(compiler, x, turns)
    title = f"vector of {size:,}, 5 ops a turn, value and gradient"
    timings = race(works, repeats, process_time)
    print(table(title, timings, "us a turn", 1e6 / turns, "gradcli, interpreted"))


def _functions(x: Any, turns: int) -> Callable[[], object]:
    """The calls of the two functions that the loop and its gradient need."""
    import numpy as np

    # the arguments of every part would take much memory: those of some stand for all
    starts = range(0, len(x), max(len(x) // PARTS, PART))
    calls = []
    for start in starts:
        y = part = x[start : start + PART]
        for _ in range(turns):
            u = y * 0.5 + part
            calls.append((u, np.abs(u) * -2.0))
            y = np.tanh(u) * part - 0.1
    times = max(len(x) // (PART * len(starts)), 1)
    out = np.empty(min(PART, len(x)))

    def work() -> None:
        for _ in range(times):
            for u, v in calls:
                np.tanh(u, out=out[: len(u)])
                np.exp(v, out=out[: len(v)])

    return work


def _by_hand(x: Any, turns: int) -> object:
    """The same calls of NumPy as those of a run, cotangents added up in place."""
    import numpy as np

    y, tape = x, []
    for _ in range(turns):
        u = np.add(np.multiply(y, 0.5), x)
        t = np.tanh(u)
        tape.append((u, t))
        y = np.subtract(np.multiply(t, x), 0.1)
    g, of_x = np.ones_like(x), np.zeros_like(x)
    for u, t in reversed(tape):
        np.add(of_x, np.multiply(g, t), of_x)
        np.multiply(g, x, g)
        e = np.exp(np.multiply(np.abs(u), -2.0))
        more = np.add(e, 1.0)
        np.multiply(g, np.divide(np.multiply(e, 4.0), np.multiply(more, more)), g)
        np.add(of_x, g, of_x)
        np.multiply(g, 0.5, g)
    return np.sum(y), np.add(of_x, g, of_x)


def _torch(torch: Any, values: Any, turns: int) -> object:
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(turns):
        y = torch.tanh(y * 0.5 + x) * x - 0.1
    y.sum().backward()
    return x.grad


def _jax(jax: Any, values: Any, turns: int) -> Callable[[], object]:
    def loop(x: Any) -> Any:
        def turn(y: Any, _: Any) -> Any:
            return jax.numpy.tanh(y * 0.5 + x) * x - 0.1, None

        return jax.lax.scan(turn, x, None, length=turns)[0].sum()

    both = jax.jit(jax.value_and_grad(loop))
    x = jax.numpy.array(values)
    return lambda: jax.block_until_ready(both(x))
