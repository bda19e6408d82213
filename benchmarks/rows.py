"""A program of five operations on every row of a CSV: rows a second, beside awk, jq and PyTorch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.clock import race, table
from benchmarks.peers import torch

COUNT = 20_000
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
AWK = 'NR > 1 {printf "%.17g\\n", sin($1) * $2 + $1 * $2 - 3.0}'
JQ = '[inputs | split(",") | map(tonumber) | (.[0] | sin) * .[1] + .[0] * .[1] - 3.0] | .[]'


def main(repeats: int = 3) -> None:
    """Print the table: whole processes, the gradient where a peer has one."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.csv"
        lines = (f"{i * 0.001},{1 + i % 7}\n" for i in range(COUNT))
        rows.write_text("a,b\n" + "".join(lines), "utf-8")
        loop = Path(folder) / "loop.py"
        loop.write_text(LOOP, "utf-8")
        gradcli = [sys.executable, "-m", "gradcli"]
        data = str(rows)
        candidates: dict[str, Callable[[], object]] = {
            "gradcli run --rows": partial(_done, [*gradcli, "run", "-e", TEXT, "--rows", data]),
            "gradcli grad --rows": partial(_done, [*gradcli, "grad", "-e", TEXT, "--rows", data]),
            "gradcli grad --rows --jobs 2": partial(
                _done, [*gradcli, "grad", "-e", TEXT, "--rows", data, "--jobs", "2"]
            ),
        }
        if shutil.which("awk"):
            candidates["awk, value only"] = partial(_done, ["awk", "-F,", AWK, data])
        if shutil.which("jq"):
            candidates["jq, value only"] = partial(_done, ["jq", "-R", JQ, data])
        if torch() is not None:
            candidates["a PyTorch loop, gradient"] = partial(
                _done, [sys.executable, str(loop), data]
            )
        found = race(candidates, repeats)
        title = f"{COUNT:,} rows of a CSV through 5 operations, whole processes"
        print(table(title, found, "seconds", 1.0, "gradcli grad --rows"))
        for name, timing in found.items():
            print(f"  {name:34}{COUNT / timing.least:11,.0f} rows a second")
        print()


def _done(command: list[str]) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, stdout=subprocess.DEVNULL, env=environment, check=True)
