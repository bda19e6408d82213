"""A program of five operations on every row of a CSV, beside awk, Miller, jq, DuckDB and PyTorch,
with and without a kept column, from Parquet to Parquet beside DuckDB, by two jobs, and one of
vectors beside a batch of PyTorch's: processor time of whole processes, wall time for jobs. The most
memory that a process takes for few and for many rows.
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
MANY = 10_000_000  # for jobs, and for the memory
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
AWK = f'NR > 1 {{printf "%.17g\\n", {VALUE.format("$2", "$3")}}}'
DERIVATIVES = "cos({0}) * {1} + {1}", "sin({0}) + {0}"
KEPT = ", ".join(text.format("$2", "$3") for text in (VALUE, *DERIVATIVES))
AWK_KEPT = f'NR > 1 {{printf "%s,%.17g,%.17g,%.17g\\n", $1, {KEPT}}}'
MILLER = f"$result = {VALUE.format('$a', '$b')}"
JQ = '[inputs | split(",") | .[1:] | map(tonumber) | (.[0] | sin) * .[1] + .[0] * .[1] - 3.0] | .[]'
DUCKDB = """
import sys, duckdb
duckdb.sql("SET threads = 1")
rows = f"SELECT {sys.argv[2]} AS result FROM read_csv('{sys.argv[1]}')"
duckdb.sql(f"COPY ({rows}) TO '/dev/null' (FORMAT csv)")
"""
PARQUET = """
import sys, duckdb
duckdb.sql("SET threads = 1")
rows = f"SELECT id, {sys.argv[3]} FROM read_parquet('{sys.argv[1]}')"
duckdb.sql(f"COPY ({rows}) TO '{sys.argv[2]}' (FORMAT parquet)")
"""
BARE = """
import importlib.util as util, sys
find, left = util.find_spec, ("llvmlite", "orjson", "pyarrow")
util.find_spec = lambda name, *more: None if name in left else find(name, *more)
from gradcli.__main__ import main
main()
"""


LAUNCHER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def main(repeats: int = 3) -> None:
    """Print the tables: whole processes, the gradient where a peer has one."""
    with tempfile.TemporaryDirectory() as folder:
        rows, few = (_written(Path(folder), count) for count in (COUNT, FEW))
        many = race(_fast(rows), repeats, of_children)
        title = "rows of a CSV through 5 operations, seconds of processor time"
        base = "gradcli grad --rows"
        print(table(f"{COUNT:,} {title}", many, "seconds", 1.0, base))
        kept = race(_kept(rows), repeats, of_children)
        title = "rows of a CSV, value and two derivatives, seconds of processor time"
        print(table(f"{COUNT:,} {title}", kept, "seconds", 1.0, base))
        if find_spec("pyarrow") is not None:
            stored = race(_stored(rows, Path(folder)), repeats, of_children)
            title = "rows from Parquet to Parquet with a column of ids, seconds of processor time"
            print(table(f"{COUNT:,} {title}", stored, "seconds", 1.0, "gradcli grad --keep id"))
        shared = race(_shared(_written(Path(folder), MANY)), 1)
        title = "rows of a CSV with a kept column, seconds of wall time"
        print(table(f"{MANY:,} {title}", shared, "seconds", 1.0, "--jobs 1"))
        _print_memory(Path(folder))
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
    with rows.open("w", encoding="utf-8") as file:
        file.write("id,a,b\n")
        file.writelines(f"s{i},{i * 0.001},{1 + i % 7}\n" for i in range(count))
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


def _kept(data: str) -> dict[str, Callable[[], object]]:
    """With and without a kept column."""
    grad = [sys.executable, "-m", "gradcli", "grad", "-e", TEXT, "--rows", data]
    found = {
        "gradcli grad --rows": grad,
        "the same with --keep id": [*grad, "--keep", "id"],
        "the same with --keep id, JSON": [*grad, "--keep", "id", "-f", "json"],
    }
    for awk in ("mawk", "gawk"):
        if shutil.which(awk):
            found[f"{awk}, the same columns"] = [awk, "-F,", AWK_KEPT, data]
    return {name: partial(done, command) for name, command in found.items()}


def _stored(data: str, folder: Path) -> dict[str, Callable[[], object]]:
    """From a Parquet file to another."""
    from pyarrow import csv, parquet

    source, target = str(folder / "rows.parquet"), str(folder / "results.parquet")
    parquet.write_table(csv.read_csv(data), source)
    grad = [sys.executable, "-m", "gradcli", "grad", "-e", TEXT, "--rows", source]
    found = {"gradcli grad --keep id": [*grad, "--keep", "id", "-o", target]}
    if find_spec("duckdb"):
        sql = ", ".join(text.format("a", "b") for text in (VALUE, *DERIVATIVES))
        found["DuckDB"] = [sys.executable, "-c", PARQUET, source, target, sql]
    return {name: partial(done, command) for name, command in found.items()}


def _shared(data: str) -> dict[str, Callable[[], object]]:
    """By one job and by two."""
    grad = [sys.executable, "-m", "gradcli", "grad", "-e", TEXT, "--rows", data, "--keep", "id"]
    return {f"--jobs {n}": partial(done, [*grad, "--jobs", str(n)]) for n in (1, 2)}


def _print_memory(folder: Path) -> None:
    """The most memory for a million rows and for ten."""
    asked = [sys.executable, "-m", "gradcli", "grad", "-e", TEXT, "--keep", "id", "--rows"]
    print("value and two derivatives with a kept column, the most memory of the process in MB")
    print(f"  {'':34}" + "".join(f"{f'{count:,} rows':>18}" for count in (COUNT, MANY)))
    found = [_peak([*asked, _written(folder, count)]) for count in (COUNT, MANY)]
    print(f"  {'from CSV to CSV':34}" + "".join(f"{x:18.0f}" for x in found))
    if find_spec("pyarrow") is not None:
        target = str(folder / "results.parquet")
        found = [
            _peak([*asked, _in_groups(_written(folder, count)), "-o", target])
            for count in (COUNT, MANY)
        ]
        print(f"  {'from Parquet to Parquet':34}" + "".join(f"{x:18.0f}" for x in found))
    print()


def _in_groups(data: str) -> str:
    """A CSV as a Parquet file, which is written batch by batch."""
    from pyarrow import csv, parquet

    target = data.replace(".csv", ".parquet")
    with csv.open_csv(data) as rows, parquet.ParquetWriter(target, rows.schema) as writer:
        for batch in rows:
            writer.write_batch(batch, 2**20)
    return target


def _peak(command: list[str]) -> float:
    """The most memory of a command in MB. A process in between starts it, since it would begin with
    the memory of this one.
    """
    line = [sys.executable, "-c", LAUNCHER, *command]
    found = subprocess.run(line, capture_output=True, text=True, check=True)
    return int(found.stdout) / 1000


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
