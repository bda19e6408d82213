"""What one run says: printed text, warnings, plots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.tape.graph import Site
from gradcli.errors import Diagnostic


class Output:
    """Where the output of a run goes.

    Fields:
        echo: takes each text that the program prints, line ends included.
        plots: who draws what the program plots (`pictures.Plots`), None where nobody does.
        warnings: what is to be said of the run, the first of each code.
    """

    def __init__(self, echo: Callable[[str], None] = lambda text: None, plots: Any = None) -> None:
        self.echo = echo
        self.plots = plots
        self.warnings: dict[str, Diagnostic] = {}

    def warn(self, code: str, message: str, help: str, site: Site | None) -> None:
        """Say what may be wrong at a place of the program, unless the same has been said."""
        if site is not None and code not in self.warnings:
            self.warnings[code] = Diagnostic(
                code, message, None, site.span, help=help, severity="warning"
            )
