"""Exported C beside C by hand: values and gradients of the other benchmarks' loops."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

from benchmarks import by_hand, calls, compiled, loops, peers
from benchmarks.clock import race, table
from gradcli.program import load

TURNS = 100_000
DATA = 200  # numbers of a series
CALLS = 500  # of a function of a series, at a time


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
    _race("lorenz", by_hand.LORENZ, [10.0, 28.0, 2.6], [], DATA, repeats)
    _race("kalman", by_hand.KALMAN, [0.9, -1.0, 0.1], y, DATA, repeats)
    _race("mixture", by_hand.MIXTURE, [0.3, -1.0, 1.5], y, DATA, repeats)
    _race("smoothing", by_hand.SMOOTHING, [0.3, 0.1, 0.9], y, DATA, repeats)


def _race(
    name: str, text: str, x: Sequence[Any], y: Sequence[float], turns: int, repeats: int
) -> None:
    files = load(text).export("exported.c", {"y": y} if len(y) else {})
    both = "\n".join(reversed(files.values())).replace('#include "exported.h"', "")
    call = f"value = {name}(x, y, {turns}, g);"
    with (
        peers.library(by_hand.HAND + calls.C + _repeated(call, 0)) as hand,
        peers.library(_POSIX + both + _exported(both, x, y)) as made,
    ):
        if hand is None or made is None:
            print("there is no C compiler")
            return
        times = max(1, CALLS * DATA // turns)
        works = {
            "C by hand": _work(hand, _numbers(x), y, times),
            "exported C": _work(made, _numbers(x), y, times),
        }
        found = race(works, repeats, process_time)
    title = f"{name}: a loop of {turns:,} turns, value and gradient"
    print(table(title, found, "us a turn", 1e6 / turns / times, "C by hand"))


_POSIX = "#define _POSIX_C_SOURCE 200809L\n#include <stdlib.h>\n"


def _repeated(call: str, size: int) -> str:
    """A C function that does a call many times with as much work memory; the call sets `value`."""
    return f"""
double repeated(long times, const double *x, const double *y, double *g)
{{
    double value = 0.0, *work = malloc({size} * sizeof *work);
    for (long k = 0; k < times; k++) {{
        {call}
    }}
    free(work);
    return value;
}}
"""


def _exported(text: str, x: Sequence[Any], y: Sequence[float]) -> str:
    """The call of the exported function at the numbers and arrays `x`, and at the data."""
    args, at = [], 0
    for v in x:
        args.append(f"&x[{at}]" if isinstance(v, list) else f"x[{at}]")
        at += len(v) if isinstance(v, list) else 1
    args += ["y"] if len(y) else []
    args += ["&value", "g"]
    size = re.search(r"size_t exported_work_size\(void\)\n{\n    return (\d+);", text)
    args += ["work", size[1]] if size else []
    return _repeated(f"if (exported({', '.join(args)})) abort();", int(size[1]) if size else 0)


def _work(library: Any, x: Sequence[float], y: Sequence[float], times: int) -> Callable[[], float]:
    """Calls that one call from Python begins, which takes long itself."""
    function = library.repeated
    function.restype = ctypes.c_double
    given, data, grad = _doubles(x), _doubles(y), _doubles([0.0] * len(x))
    return lambda: float(function(ctypes.c_long(times), given, data, grad))


def _numbers(x: Sequence[Any]) -> list[float]:
    return [number for v in x for number in (v if isinstance(v, list) else [v])]


def _doubles(numbers: Sequence[float]) -> Any:
    return (ctypes.c_double * len(numbers))(*numbers)
