"""The peers that may not be installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any


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
