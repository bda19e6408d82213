"""What `gradcli grad` shows to a person: the output's value, then a row for each input."""

from __future__ import annotations

from gradcli.render.table import table, text_column, value_column
from gradcli.render.text import Line, visible
from gradcli.render.values import named_value, shape_text
from gradcli.results import GradResult


def grad_view(result: GradResult, *, precision: int, width: int) -> list[Line]:
    """The value of the output and a table of name, shape, value and gradient."""
    names = list(result.grad)
    columns = [
        text_column("name", "name", [visible(name) for name in names]),
        text_column("shape", "shape", [shape_text(result.grad[name]) for name in names]),
        value_column("value", "value", [result.inputs.get(n) for n in names], precision),
        value_column("gradient", "grad", [result.grad[n] for n in names], precision),
    ]
    lines = named_value(result.output, result.value, precision, width)
    if names:
        lines += [[], *table(columns, width)]
    return lines
