"""Interrupt real processes of gradcli, over all kinds of jobs, and print a table of their ends.

    python tests interrupts --processes 1000 [--jobs 2] [--seed 1]

Half of the processes get a second interrupt soon after the first. A process must end silently with
status 130 or by the signal itself, leave no process and no temporary file behind, and either write
its output file whole or leave the old one as it is. One that does not end gets SIGABRT, and its
stacks are printed. The status is 1 if a process did anything else.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
ROWS = 300_000
_TURNS = 10**9
_FIRST, _LAST = 0.3, 2.0  # seconds after the start; before, Python itself starts
_GAP = 0.05  # seconds between two interrupts, at most
_HANGS = 30.0  # seconds
_LOOP = f"input x = 1.5\ny = x\nfor i in range({_TURNS}):\n    y = sin(y) * x\n"
_SHORT = "input x = 1.5\ny = x\nfor i in range(300):\n    y = sin(y) * x\n"
_ARRAYS = f"input x = [1.5, 2.5]\ny = x\nfor i in range({_TURNS}):\n    y = sin(y) * x\n"
_WHILE = "input x = 1.5\ny = x\nwhile True:\n    y = y * 1.0\n    z = [y]\n"

JOBS: dict[str, list[str]] = {
    "run, a loop": ["run", "-e", f"{_LOOP}y", "--compile", "never"],
    "run, a loop in code": ["run", "-e", f"{_LOOP}y"],
    "run, arrays": ["run", "-e", f"{_ARRAYS}y", "--compile", "never"],
    "run, arrays in code": ["run", "-e", f"{_ARRAYS}y.sum()"],
    "run, products": ["run", "-e", "a = ones(900, 900)\nwhile True:\n    b = a @ a\n"],
    "run, prints": ["run", "-e", f"for i in range({_TURNS}): print('abcdefgh')"],
    "grad, a loop": ["grad", "-e", f"{_WHILE}y"],
    "grad, a loop in code": ["grad", "-e", f"{_LOOP}y"],
    "jvp": ["jvp", "-e", f"{_LOOP}y", "--tangent", "x=1"],
    "rows, CSV": ["run", "-e", "sin(x) * x", "--rows", "many.csv"],
    "rows, CSV, interpreted": ["grad", "-e", "x ** 2", "--rows", "many.csv", "--compile", "never"],
    "rows, CSV, a loop each": ["grad", "-e", f"{_SHORT}y", "--rows", "many.csv"],
    "rows, CSV, jobs": ["grad", "-e", f"{_SHORT}y", "--rows", "many.csv", "--jobs", "2"],
    "rows, jobs in one row": ["run", "-e", f"{_LOOP}y", "--rows", "many.csv", "--jobs", "2"],
    "rows, JSON": ["run", "-e", "sin(x) * x", "--rows", "many.ndjson"],
    "rows, JSON, interpreted": ["run", "-e", "x", "--rows", "many.ndjson", "--compile", "never"],
    "rows, JSON, jobs": ["grad", "-e", f"{_SHORT}y", "--rows", "many.ndjson", "--jobs", "2"],
    "rows, to a file": ["grad", "-e", f"{_SHORT}y", "--rows", "many.csv", "-o", "old.csv"],
    "check": ["check", "many.grad"],
    "graph": ["graph", "-e", f"{_WHILE}y"],
    "trace": ["trace", "-e", f"{_WHILE}y"],
    "plot": ["plot", "-e", f"{_SHORT}y", "--over", "x=0:6:1000000"],
    "gradcheck": ["gradcheck", "-e", f"{_LOOP}y"],
    "jacobian": ["jacobian", "-e", f"{_ARRAYS}y"],
    "hessian": ["hessian", "-e", f"{_ARRAYS}y.sum()", "-o", "old.json"],
    "hessian, a loop": ["hessian", "-e", f"{_LOOP}y", "--compile", "never"],
}  # fmt: skip
if find_spec("pyarrow"):
    JOBS["rows, Parquet"] = ["grad", "-e", f"{_SHORT}y", "--rows", "many.parquet"]
    JOBS["rows, to Parquet"] = [*JOBS["rows, to a file"][:-1], "old.parquet"]


class Ended(NamedTuple):
    """How an interrupted process ended: in one word, and with what is wrong about it."""

    way: str
    fault: str = ""


def main(arguments: Sequence[str]) -> int:
    """Status of the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    # a shell starts what runs in the background with it ignored, and processes inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chance = random.Random(given.seed)
    names = [[*JOBS][k % len(JOBS)] for k in range(given.processes)]
    whens = [(chance.uniform(_FIRST, _LAST), chance.uniform(0, _GAP)) for _ in names]
    found: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        _inputs(Path(folder))
        pairs = [(first, gap * (k // len(JOBS) % 2)) for k, (first, gap) in enumerate(whens)]
        all_ended = pool.map(lambda name, when: interrupted(folder, name, *when), names, pairs)
        for name, ended in zip(names, all_ended, strict=True):
            found[name][ended.way] += 1
            if ended.fault:
                sys.stdout.write(f"{name}: {ended.way}\n{ended.fault}\n")
    ways = sorted({way for ends in found.values() for way in ends})
    sys.stdout.write("\t".join(["job", *ways]) + "\n")
    for name, ends in found.items():
        sys.stdout.write("\t".join([name, *(str(ends[way]) for way in ways)]) + "\n")
    total: Counter[str] = sum(found.values(), Counter())
    sys.stdout.write("\t".join(["all", *(str(total[way]) for way in ways)]) + "\n")
    return int(any(way not in _RIGHT for way in ways))


_RIGHT = ("status 130", "SIGINT", "over before", "Python's start")


def interrupted(folder: str, name: str, first: float, gap: float) -> Ended:
    """How a process ends that is interrupted after some seconds, and again after a gap unless that
    is 0. It works in a folder of its own with links to the files of `folder`.
    """
    with tempfile.TemporaryDirectory() as own:
        for path in Path(folder).iterdir():
            (Path(own) / path.name).symlink_to(path)
        outputs = [Path(own) / f"old.{suffix}" for suffix in ("csv", "json", "parquet")]
        for path in outputs:
            path.write_text("old")
        with (
            open(os.path.join(own, "errors"), "w+b") as errors,
            subprocess.Popen(
                [sys.executable, "-m", "gradcli", *JOBS[name]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd=own,
                env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1"},
                start_new_session=True,  # its number is that of its group, too
            ) as process,
        ):
            time.sleep(first)
            before = process.poll()
            process.send_signal(signal.SIGINT)
            if gap:
                time.sleep(gap)
                process.send_signal(signal.SIGINT)
            try:
                status = process.wait(_HANGS)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGABRT)
                process.wait()
                status = None
            errors.seek(0)
            said = errors.read().decode(errors="replace")
        stays = _stays(process.pid)
        left = [path.name for path in Path(own).iterdir() if path.name.startswith(".")]
        cut = [path.name for path in outputs if path.read_bytes() != b"old"]
    if status is None:
        return Ended("hangs", said)
    if before is not None:
        return Ended("over before") if status in (0, 1) else Ended(f"fails: {status}", said)
    if "Traceback" in said and "gradcli/cli" not in said and "gradcli/engine" not in said:
        return Ended("Python's start")
    if status not in (130, -signal.SIGINT):
        return Ended(f"status {status}", said)
    if said or stays or left or cut:
        return Ended("leaves something", f"{said}{stays}{left}{cut}")
    return Ended("status 130" if status == 130 else "SIGINT")


def _stays(group: int) -> str:
    """Says so if a process of a group is still there after a while."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return ""
        time.sleep(0.05)
    os.killpg(group, signal.SIGKILL)
    return "a process stays"


def _inputs(folder: Path) -> None:
    rows = [f"{k % 97 / 7}" for k in range(ROWS)]
    (folder / "many.csv").write_text("x\n" + "\n".join(rows) + "\n")
    (folder / "many.ndjson").write_text("".join(f'{{"x": {row}}}\n' for row in rows))
    lines = [f"y{k} = sin(x) * {k}\n" for k in range(40_000)]
    (folder / "many.grad").write_text("input x = 1.5\n" + "".join(lines) + "y1\n")
    if find_spec("pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({"x": [float(row) for row in rows]}), folder / "many.parquet")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
