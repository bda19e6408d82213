"""The extra `fit`, which is SciPy: loaded when an optimisation is asked for."""

from __future__ import annotations

from typing import Any

from gradcli.errors import Diagnostic, UsageError


def optimize(what: str) -> Any:
    """SciPy's module of optimisation.

    Args:
        what: The command that needs it, for the message.

    Raises:
        UsageError: If SciPy is not installed.
    """
    try:
        from scipy import optimize as found  # type: ignore[import-untyped]
    except ImportError:
        message = f"`{what}` needs SciPy, which is not installed"
        help = "pip install 'gradcli[fit]'"
        raise UsageError(Diagnostic("missing-extra", message, help=help)) from None
    return found
