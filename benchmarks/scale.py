"""Parquet rows in parts, value and two derivatives with a column of ids, from folder to folder: by
one process, by two workers of Dask, by Dask with the derivatives written by hand, and by DuckDB.
Processor time of whole processes; what a cluster takes to start and stop is told apart: it is the
time for a few rows, of which each worker has a part. Then a fit to the same rows.

`GRADCLI_BENCH_ROWS=100000000 python -m benchmarks scale` sets the number of rows.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.clock import of_children
from benchmarks.rows import DERIVATIVES, PARQUET, TEXT, VALUE, done

COUNT = 2_000_000
PART = 500_000  # rows of a file
WORKERS, FEW = 2, 10
BY_HAND = """
import glob, os, sys
import numpy as np
import pyarrow
from pyarrow import parquet

def answer(name, folder):
    rows = parquet.read_table(name, use_threads=False)
    a, b = (rows[name].to_numpy() for name in "ab")
    found = np.sin(a) * b + a * b - 3.0, np.cos(a) * b + b, np.sin(a) + a
    names = "id", "result", "grad.a", "grad.b"
    table = pyarrow.table([rows["id"], *map(pyarrow.array, found)], names=names)
    parquet.write_table(table, f"{folder}/{os.path.basename(name)}", use_dictionary=False)

if __name__ == "__main__":
    import distributed
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            files = sorted(glob.glob(f"{sys.argv[1]}/*.parquet"))
            client.gather([client.submit(answer, name, sys.argv[2]) for name in files])
"""


MODEL = ("c * b / (d + b)", "c=1", "d=1", "--observed", "b / (2 + b) + sin(a) / 50")
FIT_BY_HAND = """
import glob, sys
import numpy as np
from pyarrow import parquet

def read(name):
    rows = parquet.read_table(name, columns=["a", "b"], use_threads=False)
    a, b = (rows[name].to_numpy() for name in "ab")
    return b, b / (2 + b) + np.sin(a) / 50

def sums(data, c, d):
    b, y = data
    slopes = np.stack([b / (d + b), -c * b / (d + b) ** 2])
    return slopes @ slopes.T, slopes @ (c * slopes[0] - y)

if __name__ == "__main__":
    import distributed
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            parts = [client.submit(read, name) for name in sorted(glob.glob(f"{sys.argv[1]}/*"))]
            found = np.array([1.0, 1.0])
            for _ in range(6):
                tasks = [client.submit(sums, part, *found, pure=False) for part in parts]
                squares, slopes = map(sum, zip(*client.gather(tasks)))
                found -= np.linalg.solve(squares, slopes)
            print(*found)
"""


class Taken(NamedTuple):
    """Seconds of processor and of wall time."""

    cpu: float
    wall: float


def main(repeats: int = 1) -> None:
    """Print the table."""
    count = int(os.environ.get("GRADCLI_BENCH_ROWS", COUNT))
    if find_spec("distributed") is None or find_spec("pyarrow") is None:
        print("scale: needs the extra `cluster`\n")
        return
    with tempfile.TemporaryDirectory(dir=os.environ.get("GRADCLI_BENCH_FOLDER")) as name:
        folder = Path(name)
        lake, little = folder / "lake", folder / "little"
        _write(lake, count, PART)
        _write(little, FEW * WORKERS, FEW)
        script = folder / "by_hand.py"
        script.write_text(BY_HAND, "utf-8")
        results = folder / "out"
        few = {
            n: _taken(c, results, repeats) for n, c in _commands(little, results, script).items()
        }
        many = {n: _taken(c, results, repeats) for n, c in _commands(lake, results, script).items()}
        _print(count, few, many)
        fits = folder / "fit_by_hand.py"
        fits.write_text(FIT_BY_HAND, "utf-8")
        few, many = (
            {n: _taken(c, results, repeats) for n, c in _fits(rows, fits).items()}
            for rows in (little, lake)
        )
        _print(count, few, many, "a fit of two parameters")


def _write(lake: Path, count: int, size: int) -> None:
    """Rows of an id and two numbers, in files of a size."""
    import pyarrow
    from pyarrow import parquet

    lake.mkdir()
    for k, begin in enumerate(range(0, count, size)):
        i = np.arange(begin, min(begin + size, count))
        columns = {"id": i, "a": i * 0.001, "b": 1.0 + i % 7}
        parquet.write_table(pyarrow.table(columns), lake / f"p{k:04d}.parquet")


def _commands(lake: Path, results: Path, script: Path) -> dict[str, list[str]]:
    grad = [sys.executable, "-m", "gradcli", "grad", "-e", TEXT, "--rows", f"{lake}/", "-q"]
    grad += ["--keep", "id", "-o", f"{results}/"]
    found = {
        "gradcli, one process": grad,
        f"gradcli --cluster local:{WORKERS}": [*grad, "--cluster", f"local:{WORKERS}"],
        f"Dask by hand, {WORKERS} workers": [sys.executable, str(script), str(lake), str(results)],
    }
    if find_spec("duckdb"):
        sql = ", ".join(text.format("a", "b") for text in (VALUE, *DERIVATIVES))
        source, target = f"{lake}/*.parquet", str(results / "all.parquet")
        found["DuckDB, one thread"] = [sys.executable, "-c", PARQUET, source, target, sql]
    return found


def _fits(lake: Path, script: Path) -> dict[str, list[str]]:
    fit = [sys.executable, "-m", "gradcli", "fit", *MODEL, "--rows", f"{lake}/", "-q", "--json"]
    return {
        "gradcli, one process": fit,
        f"gradcli --cluster local:{WORKERS}": [*fit, "--cluster", f"local:{WORKERS}"],
        f"Dask by hand, {WORKERS} workers": [sys.executable, str(script), str(lake)],
    }


def _taken(command: list[str], results: Path, repeats: int) -> Taken:
    """What a command takes at least, each time into a new folder."""
    found = []
    for _ in range(repeats):
        results.mkdir()
        used, began = of_children(), time.perf_counter()
        done(command)
        found.append(Taken(of_children() - used, time.perf_counter() - began))
        shutil.rmtree(results)
    return min(found)


def _print(
    count: int,
    few: Mapping[str, Taken],
    many: Mapping[str, Taken],
    asked: str = "value and two derivatives, with ids",
) -> None:
    base = "gradcli, one process"
    print(f"{count:,} rows in Parquet files of {PART:,}, {asked}")
    heads = ("processor", "of it start, stop", "the rows", "wall")
    print(f"  {'':30}" + "".join(f"{head:>18}" for head in heads) + f"   ratio to {base}")
    for name, (cpu, wall) in many.items():
        start = few[name].cpu
        ratio = (cpu - start) / (many[base].cpu - few[base].cpu)
        cells = "".join(f"{x:18.2f}" for x in (cpu, start, cpu - start, wall))
        print(f"  {name:30}{cells}   {ratio:.2f}")
    print("  (seconds; the ratio is that of the rows, without start and stop)\n")
