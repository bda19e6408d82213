"""Exported C beside C by hand: values and gradients of the other benchmarks' loops."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

from benchmarks import calls, compiled, loops, peers
from benchmarks.clock import race, table
from gradcli.program import load

TURNS = 100_000
DATA = 200  # numbers of a series
CALLS = 500  # of a function of a series, at a time

HAND = """
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#ifdef __APPLE__
#define sincos __sincos
#endif
double growth(const double *x, const double *y, long n, double *g) {
    double *tape = malloc(2 * n * sizeof *tape), s = 0.5, of_s = 1.0, of_x = 0.0;
    (void) y;
    for (long i = 0; i < n; i++) {
        sincos(s, &tape[2 * i], &tape[2 * i + 1]);
        s = s + tape[2 * i] * x[0];
    }
    for (long i = n - 1; i >= 0; i--) {
        of_x = of_x + of_s * tape[2 * i];
        of_s = of_s + of_s * x[0] * tape[2 * i + 1];
    }
    free(tape);
    g[0] = of_x;
    return s;
}
double sines(const double *x, const double *y, long n, double *g) {
    double *tape = malloc(n * sizeof *tape), s = x[0], of_s = 1.0, of_x = 0.0;
    (void) y;
    for (long i = 0; i < n; i++) {
        double sine;
        sincos(s, &sine, &tape[i]);
        s = sine * 1.01 + x[0];
    }
    for (long i = n - 1; i >= 0; i--) {
        of_x += of_s;
        of_s *= 1.01 * tape[i];
    }
    free(tape);
    g[0] = of_x + of_s;
    return s;
}
double regression(const double *x, const double *y, long n, double *g) {
    double c = x[5], w = exp(-x[6]), total = 0.0;
    for (long k = 0; k < 7; k++) {
        g[k] = 0.0;
    }
    for (long t = 5; t < n; t++) {
        double m = c;
        for (long k = 0; k < 5; k++) {
            m += x[k] * y[t - 1 - k];
        }
        double r = (y[t] - m) * w;
        total = total - 0.5 * r * r - x[6];
        for (long k = 0; k < 5; k++) {
            g[k] += r * w * y[t - 1 - k];
        }
        g[5] += r * w;
        g[6] += r * r - 1.0;
    }
    return total;
}
"""


def main(repeats: int = 9) -> None:
    """Print the tables."""
    import numpy as np

    y = np.random.default_rng(0).normal(size=DATA)
    slopes = [[0.2, 0.1, 0.05, -0.1, 0.02], 0.1, 0.1]
    text = compiled.LOOP.replace("TURNS", str(TURNS))
    _race("growth", text, [0.001], [], TURNS, repeats)
    text = loops.SCALAR.replace("TURNS", str(TURNS))
    _race("sines", text, [0.7], [], TURNS, repeats)
    _race("garch", calls.GARCH, [0.1, 0.2, 0.3, 0.4], y, DATA, repeats)
    _race("regression", calls.REGRESSION, slopes, y, DATA, repeats)


def _race(
    name: str, text: str, x: Sequence[Any], y: Sequence[float], turns: int, repeats: int
) -> None:
    files = load(text).export("exported.c", {"y": y} if len(y) else {})
    both = "\n".join(reversed(files.values())).replace('#include "exported.h"', "")
    with (
        peers.library(HAND + calls.C) as hand,
        peers.library(f"#define _POSIX_C_SOURCE 200809L\n{both}") as made,
    ):
        if hand is None or made is None:
            print("there is no C compiler")
            return
        times = max(1, CALLS * DATA // turns)
        works = {
            "C by hand": _repeated(_by_hand(hand, name, _numbers(x), y, turns), times),
            "exported C": _repeated(_exported(made, x, y), times),
        }
        found = race(works, repeats, process_time)
    title = f"{name}: a loop of {turns:,} turns, value and gradient"
    print(table(title, found, "us a turn", 1e6 / turns / times, "C by hand"))


def _repeated(work: Callable[[], float], times: int) -> Callable[[], float]:
    def repeated() -> float:
        for _ in range(times):
            found = work()
        return found

    return repeated


def _by_hand(
    hand: Any, name: str, x: Sequence[float], y: Sequence[float], turns: int
) -> Callable[[], float]:
    function = getattr(hand, name)
    function.restype = ctypes.c_double
    given, data, grad = _doubles(x), _doubles(y), _doubles([0.0] * len(x))
    count = ctypes.c_long(turns)
    return lambda: float(function(given, data, count, grad))


def _exported(made: Any, x: Sequence[Any], y: Sequence[float]) -> Callable[[], float]:
    """A call of the exported function at the numbers and arrays `x`, and at the data."""
    args = [_doubles(v) if isinstance(v, list) else ctypes.c_double(v) for v in x]
    args += [_doubles(y)] if len(y) else []
    value, grad = ctypes.c_double(), _doubles([0.0] * len(_numbers(x)))
    args += [ctypes.byref(value), grad]
    if hasattr(made, "exported_work_size"):
        made.exported_work_size.restype = ctypes.c_size_t
        size = made.exported_work_size()
        args += [_doubles([0.0] * size), ctypes.c_size_t(size)]

    def call() -> float:
        status = made.exported(*args)
        assert status == 0, f"status {status}"
        return value.value

    return call


def _numbers(x: Sequence[Any]) -> list[float]:
    return [number for v in x for number in (v if isinstance(v, list) else [v])]


def _doubles(numbers: Sequence[float]) -> Any:
    return (ctypes.c_double * len(numbers))(*numbers)
