"""Questions to `gradcli serve` about a program of five operations, beside a loop of PyTorch's that
reads and writes the same lines, and beside one that reads and writes them and computes nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.clock import of_children, race, table
from benchmarks.peers import torch

COUNT = 200_000
FEW = 10_000  # for what takes long

TEXT = "sin(a) * b + a * b - 3.0"
ASKED = '{"id": %d, "question": "grad", "wrt": ["a", "b"], "inputs": {"a": %r, "b": %r}}\n'

READ = """
import sys
try:
    from orjson import loads, dumps
except ImportError:
    import json
    loads = json.loads
    dumps = lambda value: json.dumps(value).encode()
write = sys.stdout.buffer.write
"""
ECHO = """
for line in sys.stdin.buffer:
    asked = loads(line)
    write(dumps({"id": asked["id"], "value": 1.0, "grad": asked["inputs"]}) + b"\\n")
"""
LOOP = """
import torch
torch.set_num_threads(1)
for line in sys.stdin.buffer:
    asked = loads(line)
    given = asked["inputs"]
    numbers = {name: float(x) for name, x in given.items()}
    more = {"requires_grad": True, "dtype": torch.float64}
    leaves = {name: torch.tensor(x, **more) for name, x in numbers.items()}
    a, b = leaves["a"], leaves["b"]
    y = torch.sin(a) * b + a * b - 3.0
    y.backward()
    grad = {name: leaves[name].grad.item() for name in asked["wrt"]}
    write(dumps({"id": asked["id"], "value": y.item(), "grad": grad}) + b"\\n")
"""


def main(repeats: int = 5) -> None:
    """Print the table: microseconds of processor time a question, without the start."""
    with tempfile.TemporaryDirectory() as folder:
        asked = {count: _questions(Path(folder), count) for count in (1, FEW, COUNT)}
        serve = [sys.executable, "-m", "gradcli", "serve", TEXT]
        few = {"gradcli, interpreted": [*serve, "--compile", "never"]}
        if torch() is not None:
            few["PyTorch"] = [sys.executable, "-c", READ + LOOP]
        many = {
            "gradcli": [*serve, "--compile", "always"],
            "JSON alone": [sys.executable, "-c", READ + ECHO],
        }
        timings = {}
        for count, commands in ((COUNT, many), (FEW, few)):
            starts = _raced(commands, asked[1], repeats)
            whole = _raced(commands, asked[count], repeats)
            for name, found in whole.items():
                timings[name] = type(found)(
                    *((w - s) / count for w, s in zip(found, starts[name], strict=True))
                )
    print(table("a question about five operations", timings, "us of processor", 1e6, "gradcli"))


def _questions(folder: Path, count: int) -> Path:
    path = folder / f"{count}.jsonl"
    path.write_text("".join(ASKED % (i, 1 + i / count, 2 - i / count) for i in range(count)))
    return path


def _raced(commands: dict[str, list[str]], asked: Path, repeats: int) -> dict[str, Any]:
    return race({n: _asking(c, asked) for n, c in commands.items()}, repeats, of_children)


def _asking(command: Sequence[str], asked: Path) -> Callable[[], object]:
    def ask() -> None:
        with asked.open("rb") as questions:
            subprocess.run(command, stdin=questions, stdout=subprocess.DEVNULL, check=True)

    return ask
