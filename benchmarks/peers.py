"""The peer that may not be installed."""

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
