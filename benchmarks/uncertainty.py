"""The uncertainty of a product of powers at every row of a CSV, beside its gradient and the Python
package uncertainties: processor time of whole processes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from benchmarks.clock import of_children, race, table
from benchmarks.rows import done

COUNT = 1_000_000
FEW = 20_000  # for what takes long

TEXT = "V ** 2 / R * exp(-t / 10)"
LOOP = """
import csv, sys
from uncertainties import ufloat
from uncertainties.umath import exp
print("result,uncertainty")
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        V = ufloat(float(row["V"]), float(row["e"]))
        R, t = (ufloat(float(row[n]), 0.02 * float(row[n])) for n in ("R", "t"))
        y = V ** 2 / R * exp(-t / 10)
        print(y.n, y.s, sep=",")
"""


def main(repeats: int = 3) -> None:
    """Print the tables: whole processes."""
    with tempfile.TemporaryDirectory() as folder:
        many, few = (_written(Path(folder), count) for count in (COUNT, FEW))
        title = "rows of a CSV, value, uncertainty and budget, seconds of processor time"
        base = "gradcli grad --rows"
        print(
            table(
                f"{COUNT:,} {title}", race(_asked(many), repeats, of_children), "seconds", 1.0, base
            )
        )
        slow = _asked(few)
        if find_spec("uncertainties"):
            loop = Path(folder) / "loop.py"
            loop.write_text(LOOP, "utf-8")
            slow["a loop of uncertainties"] = partial(done, [sys.executable, str(loop), few])
        print(table(f"{FEW:,} {title}", race(slow, repeats, of_children), "seconds", 1.0, base))
        print()


def _written(folder: Path, count: int) -> str:
    rows = folder / f"{count}.csv"
    lines = (
        f"{5 + i % 97 * 0.01},{0.05 + i % 7 * 0.01},{100 + i % 11},{1 + i % 13}\n"
        for i in range(count)
    )
    rows.write_text("V,e,R,t\n" + "".join(lines), "utf-8")
    return str(rows)


def _asked(data: str) -> dict[str, Callable[[], object]]:
    """The gradient and the uncertainty at every row."""
    gradcli = [sys.executable, "-m", "gradcli"]
    widths = ["--uncertainty", "V=e,R=2%,t=2%"]
    return {
        "gradcli grad --rows": partial(
            done, [*gradcli, "grad", TEXT, "--rows", data, "--wrt", "V,R,t"]
        ),
        "gradcli propagate --rows": partial(
            done, [*gradcli, "propagate", TEXT, "--rows", data, *widths]
        ),
    }
