"""From a question to its answer: asked of the program, written to the target, its warnings told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gradcli.cli.emit import emit
from gradcli.cli.messages import Telling
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
    telling: Telling,
    *,
    precision: int,
) -> None:
    """Ask the question of the inputs, or of every row, and write the result."""
    if rows is None:
        result = question(inputs)
        emit(result, resolve_auto(target), precision)
        telling.warn(result.warnings)
        return
    from gradcli.cli.rows import Form, answer_rows
    from gradcli.formats.fields import derivative, fields
    from gradcli.formats.json_text import json_fields

    form = Form(fields, json_fields, lambda result: derivative(result).values())
    answer_rows(question, program, inputs, rows, form, target, telling)
