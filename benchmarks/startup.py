"""The whole process, from the shell and back: what a call of the command costs."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.clock import table, take_turns

NUMPY = "python -c 'import numpy'"
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    NUMPY: ["-c", "import numpy"],
    "gradcli --version": ["-m", "gradcli", "--version"],
    "gradcli run, numbers": ["-m", "gradcli", "run", "-e", "x ** 2 + 3 * x", "x=2"],
    "gradcli grad, numbers": ["-m", "gradcli", "grad", "-e", "x ** 2 + 3 * x", "x=2"],
    "gradcli run, tensors": ["-m", "gradcli", "run", "-e", "sum(x ** 2)", "x=[1, 2]"],
    "gradcli grad, tensors": ["-m", "gradcli", "grad", "-e", "sum(x ** 2)", "x=[1, 2]"],
}
TORCH = """
import torch
x = torch.tensor(2.0, requires_grad=True)
(x ** 2 + 3 * x).backward()
print(x.grad)
"""


def report(repeats: int) -> str:
    """Processes against the start of Python with NumPy."""
    commands = dict(COMMANDS)
    try:
        import torch  # noqa: F401
    except ImportError:
        pass
    else:
        commands["the same gradient, PyTorch"] = ["-c", TORCH]
    work = {name: (lambda a=arguments: _process(a)) for name, arguments in commands.items()}
    return table("Whole process", take_turns(work, 2 * repeats), NUMPY)


def _process(arguments: list[str]) -> None:
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
