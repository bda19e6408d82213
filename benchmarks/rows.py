"""A program of five operations on every row of a CSV, beside gawk, Miller, jq, DuckDB and PyTorch,
and one of vectors, beside a batch of PyTorch's: processor time of whole processes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.clock import of_children, race, table
from benchmarks.peers import torch

COUNT = 1_000_000
FEW = 20_000  # for what takes long
VECTORS, SIZE = 5_000, 100  # rows of vectors, and their elements

TEXT = "sin(a) * b + a * b - 3.0"
LOOP = """
import csv, sys
import torch
torch.set_num_threads(1)
print("result,grad.a,grad.b")
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        a = torch.tensor(float(row["a"]), requires_grad=True, dtype=torch.float64)
        b = torch.tensor(float(row["b"]), requires_grad=True, dtype=torch.float64)
        y = torch.sin(a) * b + a * b - 3.0
        y.backward()
        print(y.item(), a.grad.item(), b.grad.item(), sep=",")
"""
VECTOR = "(tanh(x) * x + 1.0).mean()"
BATCH = """
import sys
import numpy as np
import torch
torch.set_num_threads(1)
x = torch.from_numpy(np.loadtxt(sys.argv[1], delimiter=",", skiprows=1)).requires_grad_()
y = (torch.tanh(x) * x + 1.0).mean(1)
y.sum().backward()
rows = np.column_stack([y.detach().numpy(), x.grad.numpy()]).tolist()
names = [f"grad.x.{i}" for i in range(x.shape[1])]
print("row,result", *names, sep=",")
for i, row in enumerate(rows):
    print(i, *row, sep=",")
"""
VALUE = "sin({0}) * {1} + {0} * {1} - 3.0"
AWK = f'NR > 1 {{printf "%.17g\\n", {VALUE.format("$1", "$2")}}}'
MILLER = f"$result = {VALUE.format('$a', '$b')}"
JQ = '[inputs | split(",") | map(tonumber) | (.[0] | sin) * .[1] + .[0] * .[1] - 3.0] | .[]'
DUCKDB = """
import sys, duckdb
duckdb.sql("SET threads = 1")
rows = f"SELECT {sys.argv[2]} AS result FROM read_csv('{sys.argv[1]}')"
duckdb.sql(f"COPY ({rows}) TO '/dev/null' (FORMAT csv)")
"""
BARE = """
import importlib.util as util, sys
find, left = util.find_spec, ("llvmlite", "orjson", "pyarrow")
util.find_spec = lambda name, *more: None if name in left else find(name, *more)
from gradcli.__main__ import main
main()
"""


def main(repeats: int = 3) -> None:
    """Print the tables: whole processes, the gradient where a peer has one."""
    with tempfile.TemporaryDirectory() as folder:
        rows, few = (_written(Path(folder), count) for count in (COUNT, FEW))
        many = race(_fast(rows), repeats, of_children)
        title = "rows of a CSV through 5 operations, seconds of processor time"
        base = "gradcli grad --rows"
        print(table(f"{COUNT:,} {title}", many, "seconds", 1.0, base))
        slow = race(_slow(few, Path(folder)), repeats, of_children)
        print(table(f"{FEW:,} {title}", slow, "seconds", 1.0, base))
        vectors = race(_vectors(Path(folder)), repeats, of_children)
        title = f"rows of a CSV with {SIZE} elements, value and gradient, seconds of processor time"
        print(table(f"{VECTORS:,} {title}", vectors, "seconds", 1.0, base))
        for found, count in ((many, COUNT), (slow, FEW), (vectors, VECTORS)):
            for name, timing in found.items():
                print(f"  {name:40}{count / timing.least:11,.0f} rows a second")
        print()


def _written(folder: Path, count: int) -> str:
    rows = folder / f"{count}.csv"
    lines = (f"{i * 0.001},{1 + i % 7}\n" for i in range(count))
    rows.write_text("a,b\n" + "".join(lines), "utf-8")
    return str(rows)


def _fast(data: str) -> dict[str, Callable[[], object]]:
    """What is asked of many rows."""
    asked = ["-e", TEXT, "--rows", data]
    gradcli = [sys.executable, "-m", "gradcli"]
    bare = [sys.executable, "-c", BARE]
    found = {
        "gradcli run --rows": [*gradcli, "run", *asked],
        "gradcli grad --rows": [*gradcli, "grad", *asked],
        "gradcli grad --rows, no extra": [*bare, "grad", *asked],
    }
    if shutil.which("gawk"):
        found["gawk, value only"] = ["gawk", "-F,", AWK, data]
    if shutil.which("mlr"):
        found["Miller, value only"] = ["mlr", "--icsv", "--ocsv", "put", MILLER, data]
    if shutil.which("jq"):
        found["jq, value only"] = ["jq", "-R", JQ, data]
    if find_spec("duckdb"):
        sql = VALUE.format("a", "b")
        found["DuckDB, value only"] = [sys.executable, "-c", DUCKDB, data, sql]
    return {name: partial(done, command) for name, command in found.items()}


def _slow(data: str, folder: Path) -> dict[str, Callable[[], object]]:
    """What takes longer for a row."""
    loop = folder / "loop.py"
    loop.write_text(LOOP, "utf-8")
    grad = [sys.executable, "-m", "gradcli", "grad", "-e", TEXT, "--rows", data]
    found = {"gradcli grad --rows": grad, "gradcli, interpreted": [*grad, "--compile", "never"]}
    if torch() is not None:
        found["a PyTorch loop, gradient"] = [sys.executable, str(loop), data]
    return {name: partial(done, command) for name, command in found.items()}


def _vectors(folder: Path) -> dict[str, Callable[[], object]]:
    """What is asked of rows that hold a vector each."""
    data, batch = folder / "vectors.csv", folder / "batch.py"
    names = ",".join(f"x.{i}" for i in range(SIZE))
    numbers = np.random.default_rng(0).standard_normal((VECTORS, SIZE)).tolist()
    lines = (",".join(map(repr, row)) for row in numbers)
    data.write_text("\n".join([names, *lines, ""]), "utf-8")
    batch.write_text(BATCH, "utf-8")
    grad = [sys.executable, "-m", "gradcli", "grad", "-e", f"input x: float[{SIZE}]", "-e", VECTOR]
    found = {
        "gradcli grad --rows": [*grad, "--rows", str(data)],
        "gradcli, interpreted": [*grad, "--rows", str(data), "--compile", "never"],
    }
    if torch() is not None:
        found["PyTorch, one batch, gradient"] = [sys.executable, str(batch), str(data)]
    return {name: partial(done, command) for name, command in found.items()}


def done(command: list[str]) -> None:
    """Run a command, and drop what it prints."""
    hidden = ("PYTHONDONTWRITEBYTECODE",)
    environment = {k: v for k, v in os.environ.items() if k not in hidden} | {"LC_ALL": "C"}
    subprocess.run(command, stdout=subprocess.DEVNULL, env=environment, check=True)
