"""The peers that may not be installed."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def library(text: str) -> Iterator[Any]:
    """The functions of a C program, None where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "hand.c", Path(folder) / "hand.so"
        source.write_text(text, "utf-8")
        flags = ["-O2", "-ffp-contract=off", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, "-o", made, source, "-lm"], check=True)
        yield ctypes.CDLL(str(made))


def torch() -> Any:
    """PyTorch, on one thread as gradcli is, or None if it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    module = importlib.import_module("torch")
    module.set_num_threads(1)
    return module


def jax() -> Any:
    """JAX with numbers of 64 bits, or None if it is not installed."""
    if importlib.util.find_spec("jax") is None:
        return None
    module = importlib.import_module("jax")
    module.config.update("jax_enable_x64", True)
    return module


def casadi() -> Any:
    """CasADi, or None if it is not installed."""
    if importlib.util.find_spec("casadi") is None:
        return None
    return importlib.import_module("casadi")
