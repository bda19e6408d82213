"""Several fits for people: a line for each group of records, or for each of two programs."""

from __future__ import annotations

from math import inf

from gradcli.render.models.report import rounded
from gradcli.render.numbers import align, number
from gradcli.render.table import styled_column, table, text_column
from gradcli.render.text import Line, visible, wrapped
from gradcli.views import FitComparison, FitGroup, FitGroups, FitResult


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


def comparison_view(result: FitComparison, *, precision: int, width: int) -> list[Line]:
    """Both models side by side, the better first in AIC, and the test of nesting."""
    fits = result.fits
    least = min((f.figures.get("aic", inf) for f in fits.values()), default=inf)
    criteria = {"log L": "log_likelihood", "AIC": "aic", "BIC": "bic"}
    columns = [
        text_column("program", "name", [visible(name) for name in fits]),
        text_column("parameters", "shape", [f"{len(f.covariance):>10}" for f in fits.values()]),
        text_column("std. error", "value", align([_spread(f, precision) for f in fits.values()])),
    ]
    for heading, field in criteria.items():
        known = [f.figures.get(field) for f in fits.values()]
        texts = ["" if x is None else number(x, precision) for x in known]
        columns.append(text_column(heading, "value", align(texts)))
    behind = [f.figures.get("aic", inf) - least for f in fits.values()]
    columns.append(text_column("behind", "value", align([number(x, 3) for x in behind])))
    states = ["" if f.right else "not converged" for f in fits.values()]
    columns.append(styled_column("", ["error"] * len(fits), states))
    lines = table(columns, width)
    test = result.nested
    if test is None:
        return lines
    name = "F" if test.kind == "f" else "chi squared"
    dof = f"{test.more}" if test.dof is None else f"{test.more}, {test.dof}"
    text = f"{name}({dof}) = {number(test.ratio, precision)}, p = {number(test.chance, 3)}: "
    verdict = "explains more than" if test.chance < _LEVEL else "explains no more than chance over"
    text += f"`{visible(test.larger)}` {verdict} `{visible(test.smaller)}`"
    return [*lines, [], *([(part, "help")] for part in wrapped(text, width, width))]


_LEVEL = 0.05


def _spread(found: FitResult, precision: int) -> str:
    spread = found.figures.get("residual_standard_error")
    return "" if spread is None else number(spread, precision)
