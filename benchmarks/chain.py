"""A chain of a million recorded operations: time and memory of a node. Linux only: it reads the
process's peak of memory from /proc.
"""

from __future__ import annotations

import subprocess
import sys

NODES = 1_000_000
MEASURE = """
import re, time
def used(): return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
{prepare}
before, start = used(), time.perf_counter()
{work}
print((time.perf_counter() - start) / {nodes} * 1e6, (used() - before) / {nodes})
"""
GRADCLI = (
    "from gradcli import load\n"
    "program = load('input x = 1.0\\ny = x\\nfor i in range({turns}):\\n"
    "    y = y * 0.999999 + x\\ny')",
    "program.grad()",
)
TORCH = (
    "import torch\nx = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)\n"
    "(x * x).backward()",
    "y = x\nfor i in range({turns}): y = y * 0.999999 + x\ny.backward()",
)


def report(repeats: int) -> str:
    """Forward and backward, each contestant in a process of its own."""
    contestants = {"gradcli": GRADCLI}
    try:
        import torch  # noqa: F401
    except ImportError:
        pass
    else:
        contestants["PyTorch"] = TORCH
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for _ in range(min(repeats, 3)):
        for name, texts in contestants.items():
            found[name].append(
                _measure(*(text.replace("{turns}", str(NODES // 2)) for text in texts))
            )
    least = {name: tuple(map(min, zip(*rows, strict=True))) for name, rows in found.items()}
    base = least["gradcli"]
    lines = [
        f"### A chain of {NODES:,} nodes, forward and backward",
        "",
        "| | least time of a node, us | bytes of a node | ratio of times | of bytes |",
        "|---|---|---|---|---|",
    ]
    for name, (time, size) in least.items():
        ratios = f"{time / base[0]:.2f} | {size / base[1]:.2f}"
        lines.append(f"| {name} | {time:.3g} | {size:.0f} | {ratios} |")
    return "\n".join([*lines, ""])


def _measure(prepare: str, work: str) -> tuple[float, float]:
    text = MEASURE.format(prepare=prepare, work=work, nodes=NODES)
    done = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True)
    time, size = map(float, done.stdout.split())
    return time, size
