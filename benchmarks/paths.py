"""What each fast path of the interpreter is worth: user time of value and gradient without it, as a
ratio to that with it.

A fast path that pays less than a tenth in all columns is a second way of doing the same, and goes.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from benchmarks.clock import race
from benchmarks.loops import SCALAR
from benchmarks.network import SAMPLE
from benchmarks.vectors import LOOP
from gradcli.engine.autodiff import arrays, backward
from gradcli.engine.run.fast import call, plans, scalars
from gradcli.program import Options, load

MATRICES = """
param x: float[n, n]
y = x
for i in range(500):
    y = softmax(y @ x, dim=1) + 0.1
y.sum()
"""
TURNS = {8: 3000, 1_000: 2000, 100_000: 80}
STEPS = 100


def main(repeats: int = 9) -> None:
    """Print the ratios."""
    columns: dict[str, Callable[[], object]] = {"a number": _number}
    for size, turns in TURNS.items():
        columns[f"{size:,}"] = partial(_vector, size, turns)
    columns["matrices"] = _matrices
    columns["two layers"] = _two_layers
    print("fast paths of the interpreter, user time without one, as a ratio to that with all")
    print(f"  {'':34}" + "".join(f"{name:>12}" for name in columns))
    ratios = [_ratios(work, repeats) for work in columns.values()]
    for name in PATHS:
        print(f"  {name:34}" + "".join(f"{found[name]:12.2f}" for found in ratios))


def _ratios(work: Callable[[], object], repeats: int) -> dict[str, float]:
    """For each fast path, the median time without it, as a ratio to that with all."""
    works = {name: partial(_without, name, work) for name in PATHS}
    timings = race({"": partial(_without, "", work), **works}, repeats, _user_time)
    return {name: timings[name].median / timings[""].median for name in PATHS}


def _user_time() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


# --- what is measured ----------------------------------------------------------------------


def _number() -> object:
    return load(SCALAR.replace("TURNS", "5000")).grad(options=Options(compile="never"))


def _vector(size: int, turns: int) -> object:
    program = load(LOOP.replace("TURNS", str(turns)))
    return program.grad(x=0.1 + np.arange(size) / size, options=Options(compile="never"))


def _matrices() -> object:
    x = np.eye(6) + np.arange(36.0).reshape(6, 6) / 10
    return load(MATRICES).grad(x=x, options=Options(compile="never"))


def _two_layers() -> object:
    text = SAMPLE.read_text("utf-8").replace("range(500)", f"range({STEPS})")
    return load(text).run(options=Options(compile="never", grad_fn=False))


# --- the paths -----------------------------------------------------------------------------


def _no_step(op: Any, general: Any, of_tensors: Any, reflected: Any = None) -> Any:
    return lambda site: partial(call._at, general, site)


def _no_visit_of_arrays(pending: Any, paths: Any, add: Any) -> Any:
    is_live = paths.live.__contains__

    def visit(node: Any, g: Any, kept: bool) -> None:
        pulled = node.pull(g, [*map(is_live, node.edges)])
        for under, index, c in zip(node.edges, node.outputs, pulled, strict=True):
            if c is not None:
                add(pending, under, index, c)

    return visit


PATHS: Mapping[str, Sequence[tuple[Any, str, Any]]] = {
    "steps on numbers": [(scalars, "unary", _no_step), (scalars, "binary", _no_step)],
    "plans": [(plans, "by_plan", lambda op, params, general, part: general)],
    "the pass through numbers": [
        (backward, "visitor_of_numbers", lambda pending, paths: lambda node, g: False)
    ],
    "the pass through arrays": [(arrays, "visitor", _no_visit_of_arrays)],
}
"""What stands in the place of each fast path: a module, a name in it, and its value."""


def _without(name: str, work: Callable[[], object]) -> None:
    with _replaced(PATHS[name] if name else ()):
        work()


@contextmanager
def _replaced(others: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    """Put others in the place of fast paths, and forget what was made of these."""
    caches = (call.in_order, call.of_tensors, call._keyed, scalars.unary, scalars.binary)
    before = [(module, name, getattr(module, name)) for module, name, _ in others]
    for module, name, value in others:
        setattr(module, name, value)
    for cache in caches:
        cache.cache_clear()
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
        for cache in caches:
            cache.cache_clear()
