"""GradBench's LSTM, two layers of 14 units over characters, value and gradient: bound functions
beside JAX's jit and PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

from benchmarks import peers
from benchmarks.calls import each, often
from benchmarks.clock import race, table
from gradcli.program import load

UNITS, LAYERS = 14, 2
CALLS = 20
LSTM = """
param main: float[4, 56]
param extra: float[3, 14]
input sequence: float[n, 14]
input state: float[4, 14]

def layer(weight, bias, hidden, cell, x):
    gates = cat((x, hidden, x, hidden)) * weight + bias
    forget, into, out = sigmoid(gates[:14]), sigmoid(gates[14:28]), sigmoid(gates[28:42])
    cell = cell * forget + into * tanh(gates[42:])
    return out * tanh(cell), cell

h0, c0, h1, c1 = unbind(state)
x = sequence[0]
total = 0.0
for t in range(1, n):
    x = x * extra[0]
    h0, c0 = layer(main[0], main[1], h0, c0, x)
    h1, c1 = layer(main[2], main[3], h1, c1, h0)
    y = h1 * extra[1] + extra[2]
    y = y - log(2 + exp(y).sum())
    x = sequence[t]
    total = total + (x * y).sum()
-total / (n - 1)
"""


def main(repeats: int = 5) -> None:
    """Print the tables."""
    for count in (50, 1024):
        lstm(count, repeats)


def lstm(count: int, repeats: int) -> None:
    """A sequence of so many characters."""
    import numpy as np

    numbers = np.random.default_rng(0)
    sequence = numbers.normal(size=(count, UNITS))
    state = numbers.normal(size=(2 * LAYERS, UNITS))
    x = numbers.normal(size=8 * LAYERS * UNITS + 3 * UNITS) * 0.1
    bound = load(LSTM).compile().bind(sequence=sequence, state=state)
    works: dict[str, Callable[[], object]] = {
        "gradcli, bound": lambda: bound(x),
        "gradcli, the value alone": lambda: bound.value(x),
    }
    jax, torch = peers.jax(), peers.torch()
    if jax is not None:
        works |= _jax(jax, x, sequence, state)
    for work in works.values():
        work()
    found = race(often(works, CALLS), repeats, process_time)
    found = {name: each(t, CALLS) for name, t in found.items()}
    if torch is not None:
        found |= race({"PyTorch": _torch(torch, x, sequence, state)}, 2, process_time)
    title = f"LSTM over {count:,} characters, {len(x)} parameters"
    print(table(title, found, "ms a call", 1e3, "gradcli, bound"))


def _jax(jax: Any, x: Any, sequence: Any, state: Any) -> dict[str, Callable[[], object]]:
    np = jax.numpy
    items, begun = np.asarray(sequence), np.asarray(state)

    def loss(p: Any) -> Any:
        main, extra = p[:224].reshape(4, 56), p[224:].reshape(3, 14)

        def layer(k: int, hidden: Any, cell: Any, x: Any) -> tuple[Any, Any]:
            gates = np.concatenate((x, hidden, x, hidden)) * main[k] + main[k + 1]
            forget, into, out = (jax.nn.sigmoid(gates[14 * j : 14 * (j + 1)]) for j in range(3))
            cell = cell * forget + into * np.tanh(gates[42:])
            return out * np.tanh(cell), cell

        def turn(carried: Any, gold: Any) -> tuple[Any, None]:
            h0, c0, h1, c1, x, total = carried
            h0, c0 = layer(0, h0, c0, x * extra[0])
            h1, c1 = layer(2, h1, c1, h0)
            y = h1 * extra[1] + extra[2]
            y = y - np.log(2 + np.exp(y).sum())
            return (h0, c0, h1, c1, gold, total + (gold * y).sum()), None

        first = (*begun, items[0], 0.0)
        return -jax.lax.scan(turn, first, items[1:])[0][-1] / (len(items) - 1)

    both, value = jax.jit(jax.value_and_grad(loss)), jax.jit(loss)
    at = np.asarray(x)
    return {
        "JAX jit": lambda: jax.block_until_ready(both(at)),
        "JAX jit, the value alone": lambda: jax.block_until_ready(value(at)),
    }


def _torch(torch: Any, x: Any, sequence: Any, state: Any) -> Callable[[], object]:
    items, begun = torch.tensor(sequence), torch.tensor(state)

    def layer(weight: Any, bias: Any, hidden: Any, cell: Any, x: Any) -> tuple[Any, Any]:
        gates = torch.cat((x, hidden, x, hidden)) * weight + bias
        forget, into, out = (torch.sigmoid(gates[14 * j : 14 * (j + 1)]) for j in range(3))
        cell = cell * forget + into * torch.tanh(gates[42:])
        return out * torch.tanh(cell), cell

    def work() -> object:
        at = torch.tensor(x, requires_grad=True)
        main, extra = at[:224].reshape(4, 56), at[224:].reshape(3, 14)
        h0, c0, h1, c1 = begun
        last, total = items[0], 0.0
        for item in items[1:]:
            h0, c0 = layer(main[0], main[1], h0, c0, last * extra[0])
            h1, c1 = layer(main[2], main[3], h1, c1, h0)
            y = h1 * extra[1] + extra[2]
            y = y - torch.log(2 + torch.exp(y).sum())
            total = total + (item * y).sum()
            last = item
        loss = -total / (len(items) - 1)
        loss.backward()
        return loss.item(), at.grad

    return work
