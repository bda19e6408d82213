"""Loops of 400 turns over 100,000 elements, value and gradient, beside PyTorch: processor time on
one thread, memory in processes of their own, and the time of two threads.

gradcli has the bits of NumPy's functions and calls its loops: "functions alone" is the time of
these calls, each once a turn, without arithmetic and memory. It bounds gradcli's time from below.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time
from typing import Any

from benchmarks.clock import race, table
from benchmarks.peers import torch
from gradcli.program import load

SIZE = 100_000
TURNS = 400
BODIES = {
    "sin": "sin(y) * x + exp(-y)",
    "tanh": "tanh(y * 0.5 + x) * x - 0.1",
    "exp": "exp(-y) * x + 0.1 * y",
    "log": "log(1.0 + y * y) * x + 0.1",
}
FUNCTIONS = {
    "sin": {"sin": "y", "cos": "y", "exp": "-y"},
    "tanh": {"tanh": "y * 0.5 + x", "exp": "-abs(y * 0.5 + x)"},
    "exp": {"exp": "-y"},
    "log": {"log": "1.0 + y * y"},
}
"""The functions that a turn and its gradient need, and their arguments; the slope of `tanh` is made
of an exponential, since 1 - tanh(x) ** 2 has no digits left for large x.
"""
BLOCK = 512  # elements of a call: what the functions read and write stays in the nearest cache
LOOP = "param x: float[n]\ny = x\nfor i in range(TURNS): y = BODY\ny.sum()"

PEAK = """
import sys
from benchmarks.blocks import BODIES, asked

def peak():  # of this process alone: getrusage counts what its parent had before exec
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

name, body = sys.argv[1:]
work = asked(name, BODIES[body])
before = peak()
work()
print(peak() - before)
"""


def main(repeats: int = 5) -> None:
    """Print the tables."""
    candidates = ["gradcli", *(["PyTorch"] if torch() is not None else [])]
    for name, body in BODIES.items():
        works = {"functions alone": _functions(name)}
        works |= {who: asked(who, body) for who in candidates}
        timings = race(works, repeats, process_time)
        title = f"y = {body}, {SIZE:,} elements, {TURNS} turns, value and gradient"
        print(table(title, timings, "s", 1, candidates[-1]).rstrip())
        memory = ", ".join(f"{who} {_peak(who, name):.0f} MB" for who in candidates)
        print(f"  memory of a call: {memory}\n")
    work = asked("gradcli", BODIES["sin"])
    works = {f"threads: {n}": partial(_with_threads, n, work) for n in (1, 2)}
    print(
        table("the first loop, wall time", race(works, repeats, perf_counter), "s", 1, "threads: 1")
    )


def asked(who: str, body: str) -> Callable[[], object]:
    """The work of a candidate, made ready."""
    import numpy as np

    x = 0.1 + np.arange(SIZE) / SIZE
    if who == "PyTorch":
        peer = torch()
        names = {name: getattr(peer, name) for name in BODIES}
        return partial(_torch, peer, x, compile(body, "body", "eval"), names)
    text = LOOP.replace("BODY", body)
    function = load(text.replace("TURNS", str(TURNS))).compile()
    function.code({"x": (SIZE,)}, {})
    return partial(function, x)


def _functions(name: str) -> Callable[[], object]:
    """The calls of NumPy's functions that a loop and its gradient need."""
    import numpy as np

    x = 0.1 + np.arange(SIZE) / SIZE
    # the arguments of every turn would take 1 GB: those of some blocks stand for those of all
    starts = range(0, SIZE - BLOCK, SIZE // 8)
    names = {function: getattr(np, function) for function in (*BODIES, "cos")}
    calls = []
    for start in starts:
        y = part = x[start : start + BLOCK]
        for _ in range(TURNS):
            known = {"x": part, "y": y, **names}
            calls += [
                (names[function], eval(argument, known))
                for function, argument in FUNCTIONS[name].items()
            ]
            y = eval(BODIES[name], known)
    repeats = SIZE // (BLOCK * len(starts))
    out = np.empty(BLOCK)

    def work() -> None:
        for _ in range(repeats):
            for function, argument in calls:
                function(argument, out=out)

    return work


def _with_threads(count: int, work: Callable[[], object]) -> None:
    os.environ["GRADCLI_NUM_THREADS"] = str(count)
    work()


def _torch(torch: Any, values: Any, body: Any, names: dict[str, Any]) -> object:
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(TURNS):
        y = eval(body, names, {"x": x, "y": y})
    y.sum().backward()
    return x.grad


def _peak(who: str, body: str) -> float:
    """The memory that the first call adds, in MB."""
    command = [sys.executable, "-c", PEAK, who, body]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
