"""Evaluate and differentiate small program files.

`load(path or text)` gives a `Program`; its methods (`run`, `grad`, ...) return the records of
`gradcli.results`, or raise a `GradError`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # not from `typing`, which takes longer to import than all that is here
if TYPE_CHECKING:
    from typing import Any

    from gradcli.errors import GradError as GradError
    from gradcli.program import Program as Program
    from gradcli.program import fit as fit
    from gradcli.program import load as load
    from gradcli.results import GradResult as GradResult
    from gradcli.results import GraphResult as GraphResult
    from gradcli.results import RunResult as RunResult

__version__ = "0.2.0.dev0"

__all__ = [
    "GradError",
    "GradResult",
    "GraphResult",
    "Program",
    "RunResult",
    "__version__",
    "fit",
    "load",
]

_ROOMS = {
    "GradError": "errors",
    "GradResult": "results",
    "GraphResult": "results",
    "Program": "program",
    "RunResult": "results",
    "fit": "program",
    "load": "program",
}


def __getattr__(name: str) -> Any:
    """A name of the Python API, imported at its first use: commands start without it."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"gradcli.{_ROOMS[name]}"), name)


def load_ipython_extension(shell: object) -> None:
    """Called by `%load_ext gradcli` in IPython: it brings `%%grad`."""
    from gradcli.ipython import load as bring

    bring(shell)
