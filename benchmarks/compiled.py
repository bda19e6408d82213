"""Compiled loops, rows and Hessians, beside the interpreter, PyTorch, JAX, C and awk."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks import peers
from benchmarks.clock import Timing, of_children, race, table
from benchmarks.peers import torch
from gradcli.program import Options, load

Work = dict[str, Callable[[], object]]

INTERPRETED, COMPILED = Options(compile="never"), Options(compile="always")

LOOP = """
input x = 0.001
y = 0.5
for i in range(TURNS):
    y = y + sin(y) * x
y
"""
ROWS = "input a\ninput b\nsin(a) * b + a * b - 3.0"
COUNT = 1_000_000
MODEL = "input w: float[8]\ninput b\ninput x: float[8]\ntanh(w * x).sum() + sigmoid(w @ x + b)"
VECTORS = 100_000
HESSIAN = """
input a = 0.1
input b = 0.2
input c = 0.3
input d = 0.4
input e = 0.5
input f = 0.6
input g = 0.7
input h = 0.8
input i = 0.9
input j = 1.0
x = 0.5
for k in range(1000):
    x = x + 0.001 * (a + b * x + c * sin(d * x) + e * cos(f * x) + g * x * h - i * x * j)
x
"""
C = """
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#ifdef __APPLE__
#define sincos __sincos
#endif
double loop(double x, long turns, double *slope) {
    double *tape = malloc(2 * turns * sizeof *tape), y = 0.5, of_y = 1.0, of_x = 0.0;
    for (long i = 0; i < turns; i++) {
        sincos(y, &tape[2 * i], &tape[2 * i + 1]);
        y = y + tape[2 * i] * x;
    }
    for (long i = turns - 1; i >= 0; i--) {
        of_x = of_x + of_y * tape[2 * i];
        of_y = of_y + of_y * x * tape[2 * i + 1];
    }
    free(tape);
    *slope = of_x;
    return y;
}
void rows(const double *a, const double *b, long count, double *y, double *by_a, double *by_b) {
    for (long i = 0; i < count; i++) {
        double s = sin(a[i]);
        y[i] = s * b[i] + a[i] * b[i] - 3.0;
        by_a[i] = b[i] + b[i] * cos(a[i]);
        by_b[i] = a[i] + s;
    }
}
"""

AWK_LOOP = """
BEGIN {
    x = 0.001; y = 0.5; by_y = 1.0; by_x = 0.0
    for (i = 0; i < 1000000; i++) { before[i] = y; y = y + sin(y) * x }
    for (i--; i >= 0; i--) {
        by_x = by_x + by_y * sin(before[i])
        by_y = by_y + by_y * x * cos(before[i])
    }
    printf "%.17g %.17g\\n", y, by_x
}
"""
AWK_ROWS = """
BEGIN { FS = OFS = ","; OFMT = CONVFMT = "%.17g"; print "result", "grad_a", "grad_b" }
NR > 1 { s = sin($1); print s * $2 + $1 * $2 - 3.0, $2 + $2 * cos($1), $1 + s }
"""


def main(repeats: int = 5) -> None:
    """Print the tables."""
    with _library() as c:
        loop(c, 100_000, repeats)
        rows(c, repeats)
    vectors(repeats)
    hessian(repeats)
    ready()
    commands(repeats)


@contextmanager
def _library() -> Iterator[Any]:
    """The loops written in C by hand, None where there is no compiler."""
    with peers.library(C) as c:
        if c is not None:
            c.loop.restype = ctypes.c_double
            c.loop.argtypes = [ctypes.c_double, ctypes.c_long, ctypes.c_void_p]
            c.rows.argtypes = [*[ctypes.c_void_p] * 2, ctypes.c_long, *[ctypes.c_void_p] * 3]
        yield c


@contextmanager
def _python_alone() -> Iterator[None]:
    """Code by the back end that needs no further library."""
    from gradcli.engine.compile import backends

    found, backends.has_machine_code = backends.has_machine_code, lambda: False
    try:
        yield
    finally:
        backends.has_machine_code = found


def _ready(text: str, method: str, options: Options) -> Callable[[], object]:
    """A question about a program that has been asked before."""
    work = partial(getattr(load(text), method), options=options)
    work()
    return work


def loop(c: Any, turns: int, repeats: int) -> None:
    """A scalar loop: value and gradient, forward mode, second derivative."""
    text = LOOP.replace("TURNS", str(turns))
    works: Work = {}
    if c is not None:
        slope = ctypes.c_double()
        works["C by hand, value and gradient"] = lambda: c.loop(
            0.001, turns, ctypes.addressof(slope)
        )
    works["gradcli, value and gradient"] = _ready(text, "grad", COMPILED)
    along = partial(load(text).jvp, tangents={"x": 1.0}, options=COMPILED)
    along()
    works["gradcli, forward mode"] = along
    works["gradcli, second derivative"] = _ready(text, "hessian", COMPILED)
    with _python_alone():
        works["gradcli, Python code, gradient"] = _ready(text, "grad", COMPILED)
    few = turns // 10
    less = LOOP.replace("TURNS", str(few))
    slow: Work = {"interpreted, gradient": _ready(less, "grad", INTERPRETED)}
    peer = torch()
    if peer is not None:
        slow["PyTorch, gradient"] = partial(_loop_torch, peer, few)
    jax = peers.jax()
    if jax is not None:
        works["JAX jit, value and gradient"] = _loop_jax(jax, turns)
    found = race(works, repeats, process_time)
    found |= {
        name: Timing(t.least * 10, t.median * 10) for name, t in race(slow, 2, process_time).items()
    }
    _print(f"scalar loop of {turns:,} turns of 3 ops", found, "us a turn", 1e6 / turns)


def rows(c: Any, repeats: int) -> None:
    """Many points in memory: value and two derivatives."""
    import numpy as np

    a, b = np.linspace(0, 9, COUNT), np.linspace(1, 2, COUNT)
    both = np.stack([a, b], -1)
    works: Work = {}
    if c is not None:
        out = [np.empty(COUNT) for _ in range(3)]
        at = [x.ctypes.data for x in (a, b, *out)]
        works["C by hand"] = lambda: c.rows(at[0], at[1], COUNT, *at[2:])
    function = load(ROWS).compile("a,b")
    works["gradcli, machine code"] = lambda: function(both)
    with _python_alone():
        python = load(ROWS).compile("a,b")
        python(both[:2])
    works["gradcli, Python code"] = lambda: python(both)
    works["NumPy by hand"] = lambda: _rows_numpy(np, a, b)
    peer = torch()
    if peer is not None:
        works["PyTorch, one batch"] = partial(_rows_torch, peer, a, b)
    jax = peers.jax()
    if jax is not None:
        works["JAX jit, one batch"] = _rows_jax(jax, a, b)
    found = race(works, repeats, process_time)
    _print(f"{COUNT:,} rows of 5 ops, two derivatives", found, "ns a row", 1e9 / COUNT)


def vectors(repeats: int) -> None:
    """Many points of a model of eight weights: value and gradient."""
    import numpy as np

    points = np.random.default_rng(0).normal(size=(VECTORS, 17))
    works: Work = {}
    function = load(MODEL).compile("w,b")
    works["gradcli, machine code"] = lambda: function(points[:, :9], x=points[:, 9:])
    program = load(MODEL)
    one = {"w": points[0, :8], "b": float(points[0, 8]), "x": points[0, 9:]}
    ask = partial(program.grad, one, wrt=("w", "b"), options=INTERPRETED)
    slow: Work = {"interpreted": lambda: [ask() for _ in range(VECTORS // 100)]}
    peer = torch()
    if peer is not None:
        works["PyTorch, one batch"] = partial(_model_torch, peer, points)
        slow["PyTorch, one by one"] = lambda: [
            _model_torch(peer, points[k : k + 1]) for k in range(VECTORS // 100)
        ]
    found = race(works, repeats, process_time)
    found |= {
        name: Timing(t.least * 100, t.median * 100)
        for name, t in race(slow, 2, process_time).items()
    }
    _print(f"{VECTORS:,} points of a model of eight weights", found, "us a point", 1e6 / VECTORS)


def hessian(repeats: int) -> None:
    """Ten parameters, a loop of 1,000 turns."""
    works: Work = {"gradcli, machine code": _ready(HESSIAN, "hessian", COMPILED)}
    jax = peers.jax()
    if jax is not None:
        works["JAX jit"] = _hessian_jax(jax)
    found = race(works, repeats, process_time)
    slow: Work = {}
    peer = torch()
    if peer is not None:
        slow["PyTorch"] = partial(_hessian_torch, peer)
    slow["interpreted"] = _ready(HESSIAN, "hessian", INTERPRETED)
    found |= race(slow, 1, process_time)
    _print("Hessian by ten parameters of a loop of 1,000 turns", found, "ms", 1e3)


STEPS = {
    "arithmetic": ("y = y + 1.5", "y = y * x"),
    "with functions": ("y = y + 1.5", "y = sin(y)", "y = y * x", "z = exp(-y)", "y = y + z / 2"),
}
"""Statements that programs without loops repeat."""

READY = """
import sys, time
start = time.process_time()
from gradcli.program import load
taken = []
for seed in range(7):
    head, *lines = sys.argv[1].splitlines()
    program = load("\\n".join([head, f"y = x * 0.{seed + 1}", *lines, "y"]))
    start = start if not seed else time.process_time()
    program.compile("x")
    taken.append(time.process_time() - start)
print(taken[0], min(taken[1:]))
"""


def ready() -> None:
    """Processor time of making code: the first in a process, with all imports, and later ones."""
    for kind, steps in STEPS.items():
        for count in (5, 100, 1000):
            lines = "\n".join(["input x: float", *(steps[k % len(steps)] for k in range(count))])
            taken = [
                subprocess.run(
                    [sys.executable, "-c", READY, lines], capture_output=True, text=True, check=True
                ).stdout.split()
                for _ in range(3)
            ]
            first, later = (min(map(float, column)) * 1e3 for column in zip(*taken, strict=True))
            print(
                f"  getting ready, {count} statements, {kind}: {first:.0f} ms, then {later:.1f} ms"
            )
    print()


def commands(repeats: int) -> None:
    """Whole commands."""
    works: Work = {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.csv"
        lines = (f"{i * 0.001},{1 + i % 7}\n" for i in range(100_000))
        data.write_text("a,b\n" + "".join(lines), "utf-8")
        looped = Path(folder) / "loop.grad"
        looped.write_text(LOOP.replace("TURNS", "1000000"), "utf-8")
        gradcli = [sys.executable, "-m", "gradcli", "grad"]
        for when in ("auto", "never"):
            asked = [*gradcli, "-e", ROWS, "--rows", str(data), "--compile", when]
            works[f"100,000 rows of a CSV, {when}"] = partial(_done, asked)
        works["a loop of a million turns"] = partial(_done, [*gradcli, str(looped)])
        if shutil.which("awk") is not None:
            works["the rows by awk"] = partial(_done, ["awk", AWK_ROWS, str(data)])
            works["the loop by awk"] = partial(_done, ["awk", AWK_LOOP])
        found = race(works, min(repeats, 2), of_children)
    _print("whole commands", found, "s", 1.0)


def _print(title: str, found: dict[str, Timing], unit: str, scale: float) -> None:
    print(table(title, found, unit, scale, next(iter(found))))


def _done(command: list[str]) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, stdout=subprocess.DEVNULL, env=environment, check=True)


# the peers -------------------------------------------------------------------------------------


def _loop_torch(torch: Any, turns: int) -> object:
    x = torch.tensor(0.001, dtype=torch.float64, requires_grad=True)
    y = torch.tensor(0.5, dtype=torch.float64)
    for _ in range(turns):
        y = y + torch.sin(y) * x
    y.backward()
    return x.grad


def _loop_jax(jax: Any, turns: int) -> Callable[[], object]:
    def f(x: Any) -> Any:
        def turn(y: Any, _: Any) -> tuple[Any, None]:
            return y + jax.numpy.sin(y) * x, None

        return jax.lax.scan(turn, 0.5, None, length=turns)[0]

    made = jax.jit(jax.value_and_grad(f))
    return lambda: jax.block_until_ready(made(0.001))


def _rows_numpy(np: Any, a: Any, b: Any) -> object:
    s = np.sin(a)
    return s * b + a * b - 3.0, b + b * np.cos(a), a + s


def _rows_torch(torch: Any, a: Any, b: Any) -> object:
    x = torch.tensor(a, requires_grad=True)
    y = torch.tensor(b, requires_grad=True)
    (torch.sin(x) * y + x * y - 3.0).sum().backward()
    return x.grad, y.grad


def _model_torch(torch: Any, points: Any) -> object:
    p = torch.tensor(points)
    w, b, x = p[:, :8].requires_grad_(), p[:, 8].clone().requires_grad_(), p[:, 9:]
    (torch.tanh(w * x).sum(1) + torch.sigmoid((w * x).sum(1) + b)).sum().backward()
    return b.grad


def _rows_jax(jax: Any, a: Any, b: Any) -> Callable[[], object]:
    def f(x: Any, y: Any) -> Any:
        return jax.numpy.sin(x) * y + x * y - 3.0

    made = jax.jit(jax.vmap(jax.value_and_grad(f, (0, 1))))
    x, y = jax.numpy.asarray(a), jax.numpy.asarray(b)
    return lambda: jax.block_until_ready(made(x, y))


_POINT = [0.1 * k for k in range(1, 11)]


def _steps(p: Any, sin: Any, cos: Any, x: Any) -> Any:
    a, b, c, d, e, f, g, h, i, j = p
    return x + 0.001 * (a + b * x + c * sin(d * x) + e * cos(f * x) + g * x * h - i * x * j)


def _hessian_torch(torch: Any) -> object:
    def f(p: Any) -> Any:
        x = torch.tensor(0.5, dtype=torch.float64)
        for _ in range(1000):
            x = _steps(p, torch.sin, torch.cos, x)
        return x

    point = torch.tensor(_POINT, dtype=torch.float64)
    return torch.autograd.functional.hessian(f, point)


def _hessian_jax(jax: Any) -> Callable[[], object]:
    def f(p: Any) -> Any:
        def turn(x: Any, _: Any) -> tuple[Any, None]:
            return _steps(p, jax.numpy.sin, jax.numpy.cos, x), None

        return jax.lax.scan(turn, 0.5, None, length=1000)[0]

    made = jax.jit(jax.hessian(f))
    point = jax.numpy.asarray(_POINT)
    return lambda: jax.block_until_ready(made(point))
