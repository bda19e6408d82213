"""The output of `gradcli minimize` and `root` for people."""

from __future__ import annotations

from gradcli.errors import counted
from gradcli.render.table import table, text_column, value_column
from gradcli.render.text import Line, cells, visible, wrapped
from gradcli.render.values import named_value
from gradcli.results import Value
from gradcli.views import MinimizeResult, RootResult


def solution_view(result: MinimizeResult | RootResult, *, precision: int, width: int) -> list[Line]:
    """The value, the point, why the search ended, and how the point moves with other inputs."""
    if isinstance(result, MinimizeResult):
        values: dict[str, Value] = {result.output: result.value}
    else:
        values = result.value
    lines = [x for n, v in values.items() for x in named_value(n, v, precision, width)]
    names = [*result.values]
    columns = [
        text_column("name", "name", [visible(name) for name in names]),
        value_column("value", "value", [result.values[n] for n in names], precision),
    ]
    if isinstance(result, MinimizeResult):
        slopes = [result.gradient[n] for n in names]
        columns.append(value_column("gradient", "grad", slopes, 3))
    columns.append(value_column("start", "place", [result.start[n] for n in names], precision))
    lines = [*lines, [], *table(columns, width), [], *_end(result, width)]
    for name, row in (result.sensitivity or {}).items():
        for other, value in row.items():
            block = named_value(f"d {name} / d {other}", value, precision, width)
            lines += [[], *block] if name == names[0] and other == next(iter(row)) else block
    return lines


def _end(result: MinimizeResult | RootResult, width: int) -> list[Line]:
    style = "help" if result.converged else "warning"
    what = "root" if isinstance(result, RootResult) else result.kind or "point"
    head = what if result.converged else "not converged"
    text = f"{result.reason} ({counted(result.evaluations, 'evaluation')})"
    first, *rest = wrapped(text, width - cells(head) - 2, width)
    lines: list[Line] = [[(head, style), (f": {first}", "")], *([(part, "")] for part in rest)]
    if isinstance(result, MinimizeResult) and result.at_bounds:
        lines.append([(f"at its bound: {', '.join(map(visible, result.at_bounds))}", "place")])
    if result.starts is not None:
        reached, tried = result.starts
        lines.append([(f"{reached} of {tried} starts end there", "place")])
    return lines
