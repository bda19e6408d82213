"""Sparse second derivatives: bound functions called at point after point, beside peers.

PyTorch and JAX have no sparse Hessians: three products with a Hessian, along directions that are
colored by hand, show all entries of a tridiagonal one. CasADi finds and colors the entries itself.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

from benchmarks import peers
from benchmarks.clock import Timing, race, table
from gradcli.program import load

SIZE = 10_000
FEW = 1_000
CALLS = 5
BASE = "gradcli, vectors"
VECTORS = "input x: float[n]\nsum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)"
LOOP = """
input x: float[n]
s = 0.0
for i in range(len(x) - 1):
    s = s + 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
s
"""


def main(repeats: int = 7) -> None:
    """Print the table."""
    import numpy as np

    works: dict[str, Callable[[], Any]] = {}
    points = [np.linspace(0.5, 1.5, SIZE) + 0.01 * k for k in range(CALLS)]
    few = [np.linspace(0.5, 1.5, FEW) + 0.01 * k for k in range(CALLS)]
    for name, text, at in ((BASE, VECTORS, points), (f"gradcli, a loop over {FEW:,}", LOOP, few)):
        start = process_time()
        bound = load(text).compile(order=2, sparse=True).bind()
        bound(at[0])
        print(f"{name}: entries, colors and code in {process_time() - start:.2f} s")
        works[name] = _calls(bound, at)
    works |= {name: _calls(call, points) for name, call in _peers(np, points[0]).items()}
    found = race(works, repeats, process_time)
    per_call = {n: Timing(t.least / CALLS, t.median / CALLS) for n, t in found.items()}
    title = f"value, gradient and tridiagonal Hessian of {SIZE:,} unknowns, a point"
    print(table(title, per_call, "milliseconds", 1e3, BASE))


def _calls(call: Callable[[Any], Any], points: list[Any]) -> Callable[[], None]:
    def work() -> None:
        for point in points:
            call(point)

    return work


def _peers(np: Any, point: Any) -> dict[str, Callable[[Any], Any]]:
    """The peers that are installed, as functions of a point."""
    found: dict[str, Callable[[Any], Any]] = {}
    seeds = np.array([(np.arange(SIZE) % 3 == k) * 1.0 for k in range(3)])
    torch, jax, casadi = peers.torch(), peers.jax(), peers.casadi()
    if torch is not None:
        found["PyTorch, 3 products by hand"] = _of_torch(torch, seeds)
    if jax is not None:
        found["JAX jit, 3 products by hand"] = _of_jax(jax, seeds)
    if casadi is not None:
        found["CasADi"] = _of_casadi(casadi)
    for call in found.values():
        call(point)
    return found


def _of_torch(torch: Any, seeds: Any) -> Callable[[Any], Any]:
    directions = torch.tensor(seeds)

    def call(point: Any) -> Any:
        x = torch.tensor(point, requires_grad=True)
        y = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        return [torch.autograd.grad(g, x, d, retain_graph=True)[0].numpy() for d in directions]

    return call


def _of_jax(jax: Any, seeds: Any) -> Callable[[Any], Any]:
    def value(x: Any) -> Any:
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    def products(x: Any) -> Any:
        y, pull = jax.vjp(jax.value_and_grad(value), x)
        return y, [pull((0.0, seed))[0] for seed in seeds]

    compiled = jax.jit(products)
    return lambda point: jax.block_until_ready(compiled(point))


def _of_casadi(casadi: Any) -> Callable[[Any], Any]:
    x = casadi.MX.sym("x", SIZE)
    rest, behind = x[:-1], x[1:]
    y = casadi.sum1(100 * (behind - rest**2) ** 2 + (1 - rest) ** 2)
    second, first = casadi.hessian(y, x)
    return casadi.Function("f", [x], [y, first, second])
