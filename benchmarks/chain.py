"""A chain of a million recorded ops, forward and backward: time and bytes a node, and PyTorch's."""

from __future__ import annotations

import importlib.util
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

PEER = """
import sys, time
import torch

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024

def chain(turns):
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    y = x
    for i in range(turns):
        y = y * 0.999999 + x
    y.backward()

torch.set_num_threads(1)
chain(2)
before = peak()
start = time.process_time()
chain(int(sys.argv[1]))
taken = time.process_time() - start
print(taken, peak() - before)
"""


def main(repeats: int = 3) -> None:
    """Print the measures of the best of `repeats` fresh processes of each, in turn."""
    works = {"gradcli, interpreted": MEASURE}
    if importlib.util.find_spec("torch") is not None:
        works["PyTorch"] = PEER
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, code in works.items():
            taken[name].append(_measure(code))
    best = {name: min(measures) for name, measures in taken.items()}
    base = best["gradcli, interpreted"][0]
    print("chain of a million nodes, forward and backward")
    print(f"  {'':34}{'us a node':>11}{'B a node':>11}   ratio to gradcli, interpreted")
    for name, (seconds, size) in best.items():
        of_node = f"{seconds / NODES * 1e6:11.3f}{size / NODES:11.0f}"
        print(f"  {name:34}{of_node}   {seconds / base:.2f}")
    print()


def _measure(code: str) -> tuple[float, float]:
    """Seconds and bytes."""
    command = [sys.executable, "-c", code, str(NODES // 2)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, size = map(float, done.stdout.split())
    return seconds, size
