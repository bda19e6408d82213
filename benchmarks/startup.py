"""Whole processes: what a person waits for at the shell."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.clock import race, table

GRADCLI = str(Path(sys.executable).with_name("gradcli"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "gradcli run, numbers": [GRADCLI, "run", "-e", "x = 3.0", "-e", "x ** 2 + sin(x)"],
    "gradcli grad, numbers": [GRADCLI, "grad", "-e", "x ** 2 + 3 * x", "x=2"],
    "gradcli grad, tensors": [GRADCLI, "grad", "-e", "sum(x * x)", "x=[1, 2]"],
}


def main(repeats: int = 40) -> None:
    """Print the table."""
    candidates = {name: _process(command) for name, command in COMMANDS.items()}
    print(table("start-up, whole process", race(candidates, repeats), "ms", 1e3, "import numpy"))


def _process(command: list[str]) -> Callable[[], None]:
    def run() -> None:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    return run
