"""The fits of groups for people: a line a group, with each parameter and its error."""

from __future__ import annotations

from gradcli.render.models.report import rounded
from gradcli.render.numbers import align, number
from gradcli.render.table import styled_column, table, text_column
from gradcli.render.text import Line, visible
from gradcli.views import FitGroup, FitGroups


def groups_view(result: FitGroups, *, precision: int, width: int) -> list[Line]:
    """A row for each group: key, estimates with errors, records, residual standard error."""
    groups = result.groups
    known = next((g.found for g in groups if g.found is not None), None)
    names = [] if known is None else [e.name for e in known.estimates]
    columns = [text_column(visible(result.by), "name", [visible(g.key) for g in groups])]
    for k, name in enumerate(names):
        pairs = [_pair(group, k, precision) for group in groups]
        values, errors = align([a for a, _ in pairs]), [b for _, b in pairs]
        both = [f"{a} {b}".rstrip() for a, b in zip(values, errors, strict=True)]
        columns.append(text_column(visible(name), "value", both))
    counts = ["" if g.found is None else f"{g.found.records:,}" for g in groups]
    columns.append(text_column("records", "shape", [f"{count:>7}" for count in counts]))
    columns.append(text_column("std. error", "value", align([_residual(g) for g in groups])))
    states = [_state(group) for group in groups]
    columns.append(styled_column("", ["error"] * len(groups), states))
    return table(columns, width)


def _pair(group: FitGroup, k: int, precision: int) -> tuple[str, str]:
    """An estimate and what stands behind it: its error, or why it has none."""
    if group.found is None:
        return "", ""
    e = group.found.estimates[k]
    value, error = rounded(e.value, e.error, precision)
    return value, f"+/- {error}" if error else e.state


def _residual(group: FitGroup) -> str:
    figures = {} if group.found is None else group.found.figures
    found = figures.get("residual_standard_error")
    return "" if found is None else number(found, 3)


def _state(group: FitGroup) -> str:
    if group.error is not None:
        return visible(group.error.message)
    return "" if group.found is None or group.found.converged else "not converged"
