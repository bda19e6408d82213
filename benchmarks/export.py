"""Exported C beside C by hand: value and gradient of a loop."""

from __future__ import annotations

import ctypes
from time import process_time
from typing import Any

from benchmarks import peers
from benchmarks.clock import race, table
from benchmarks.compiled import LOOP, C
from gradcli.program import load


def main(repeats: int = 9, turns: int = 100_000) -> None:
    """Print the table."""
    files = load(LOOP.replace("TURNS", str(turns))).export("exported.c")
    text = "\n".join(reversed(files.values())).replace('#include "exported.h"', "")
    with peers.library(C) as hand, peers.library(text) as made:
        if hand is None or made is None:
            print("there is no C compiler")
            return
        hand.loop.restype = ctypes.c_double
        hand.loop.argtypes = [ctypes.c_double, ctypes.c_long, ctypes.c_void_p]
        slope = ctypes.c_double()
        work = (ctypes.c_double * made.exported_work_size())()
        works: dict[str, Any] = {
            "C by hand": lambda: hand.loop(0.001, turns, ctypes.addressof(slope)),
            "exported C": lambda: _call(made, work),
        }
        found = race(works, repeats, process_time)
    title = f"scalar loop of {turns:,} turns of 3 ops, value and gradient"
    print(table(title, found, "us a turn", 1e6 / turns, "C by hand"))


def _call(made: Any, work: Any) -> tuple[float, float]:
    value, grad = ctypes.c_double(), ctypes.c_double()
    outputs = ctypes.byref(value), ctypes.byref(grad)
    status = made.exported(ctypes.c_double(0.001), *outputs, work, ctypes.c_size_t(len(work)))
    assert status == 0, f"status {status}"
    return value.value, grad.value
