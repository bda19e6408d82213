"""A chain of a million recorded ops: time forward and backward, and bytes a node."""

from __future__ import annotations

import subprocess
import sys

NODES = 1_000_000
MEASURE = """
import sys, time
from gradcli.program import Options, load

def peak():  # of this process alone: getrusage counts what its parent had before exec
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024

text = "input x = 1.0\\ny = x\\nfor i in range(TURNS):\\n    y = y * 0.999999 + x\\ny\\n"
interpreted = Options(compile="never")
load(text.replace("TURNS", "2")).grad(options=interpreted)
program = load(text.replace("TURNS", sys.argv[1]))
before = peak()
start = time.process_time()
program.grad(options=interpreted)
taken = time.process_time() - start
print(taken, peak() - before)
"""


def main(repeats: int = 3) -> None:
    """Print the measures of the best of `repeats` fresh processes."""
    best = min(_measure() for _ in range(repeats))
    print("chain of a million nodes, forward and backward")
    print(f"  {best[0]:.2f} s, {best[0] / NODES * 1e6:.2f} us and {best[1] / NODES:.0f} B a node\n")


def _measure() -> tuple[float, float]:
    """Seconds and bytes."""
    command = [sys.executable, "-c", MEASURE, str(NODES // 2)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, size = map(float, done.stdout.split())
    return seconds, size
