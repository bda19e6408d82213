"""From a question to its answer: asked of the program, written to the target, its warnings told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gradcli.cli.emit import emit
from gradcli.cli.messages import report
from gradcli.cli.output import Target

if TYPE_CHECKING:
    from gradcli.formats.fields import Derivatives
    from gradcli.program import Given


def answer(
    question: Callable[[Mapping[str, Given]], Derivatives],
    inputs: Mapping[str, Given],
    target: Target,
    *,
    precision: int,
    quiet: bool,
    diagnostics: str,
    color: str,
) -> None:
    """Ask the question of the inputs and write the result."""
    result = question(inputs)
    emit(result, target, precision)
    if not quiet:
        report(result.warnings, form=diagnostics, color=color)
