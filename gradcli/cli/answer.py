"""From a question to its answer: asked of the program, written to the target, its warnings told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gradcli.cli.emit import emit
from gradcli.cli.messages import report
from gradcli.cli.output import Target, resolve_auto

if TYPE_CHECKING:
    from gradcli.cli.records import Batch
    from gradcli.formats.fields import Derivatives
    from gradcli.program import Given, Program


def answer(
    question: Callable[[Mapping[str, Given]], Derivatives],
    program: Program,
    inputs: Mapping[str, Given],
    rows: Batch | None,
    target: Target,
    *,
    precision: int,
    quiet: bool,
    diagnostics: str,
    color: str,
) -> None:
    """Ask the question of the inputs, or of every row, and write the result."""
    if rows is not None:
        _answer_rows(question, program, inputs, rows, target, quiet, diagnostics, color)
        return
    result = question(inputs)
    emit(result, resolve_auto(target), precision)
    if not quiet:
        report(result.warnings, form=diagnostics, color=color)


def _answer_rows(
    question: Callable[[Mapping[str, Given]], Derivatives],
    program: Program,
    inputs: Mapping[str, Given],
    rows: Batch,
    target: Target,
    quiet: bool,
    diagnostics: str,
    color: str,
) -> None:
    from gradcli.cli.rows import Form, answer_rows
    from gradcli.formats.fields import derivative, fields
    from gradcli.formats.json_text import json_fields

    form = Form(fields, json_fields, lambda result: derivative(result).values())
    answer_rows(
        question,
        program,
        inputs,
        rows,
        form,
        target,
        quiet=quiet,
        diagnostics=diagnostics,
        color=color,
    )
