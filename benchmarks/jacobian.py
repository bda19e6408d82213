"""A Jacobian of 200 by 200: its directions pushed together, one by one, and by PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.clock import race, table
from benchmarks.peers import torch
from gradcli.program import load

SIZE = 200
TEXT = """
input w: float[n, n]
input x: float[n]
tanh(w @ sin(x)) + x
"""


def main(repeats: int = 7) -> None:
    """Print the table."""
    import numpy as np

    rng = np.random.default_rng(0)
    given = {"w": rng.standard_normal((SIZE, SIZE)) / SIZE, "x": rng.standard_normal(SIZE)}
    program = load(TEXT)
    unit = np.zeros(SIZE)
    unit[0] = 1.0
    candidates: dict[str, Callable[[], object]] = {
        "jacobian, forward": partial(program.jacobian, given, wrt="x", mode="forward"),
        "jacobian, reverse": partial(program.jacobian, given, wrt="x", mode="reverse"),
        "one product with a direction": partial(program.jvp, given, tangents={"x": unit}),
    }
    peer = torch()
    if peer is not None:
        w, x = (peer.tensor(given[name]) for name in ("w", "x"))
        candidates["PyTorch, jacrev"] = partial(_peer, peer, w, x)
    found = race(candidates, repeats)
    title = f"Jacobian of {SIZE} by {SIZE}, run included"
    print(table(title, found, "milliseconds", 1e3, "one product with a direction"))


def _peer(torch: Any, w: Any, x: Any) -> None:
    torch.func.jacrev(lambda x: torch.tanh(w @ torch.sin(x)) + x)(x)
