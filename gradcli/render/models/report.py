"""The report of a fit for people: a table of estimates rounded by their errors, then figures."""

from __future__ import annotations

from math import floor, isfinite, log10

from gradcli.errors import counted
from gradcli.render.numbers import align, number
from gradcli.render.table import Column, styled_column, table, text_column
from gradcli.render.text import Line, visible, wrapped
from gradcli.views import FitResult

_DIGITS = 2  # of an error
_HIGH = 0.9  # a correlation that is shown
_PAIRS = 12  # correlations that are listed
_BAD = 1e8  # a condition that is shown
_SHORT = {"at lower bound": "at bound", "at upper bound": "at bound"}  # the warning says which
_NAMES = {
    "residual_standard_error": "residual standard error",
    "chi_squared": "chi squared",
    "rss": "RSS",
    "r_squared": "R squared",
    "log_likelihood": "log likelihood",
    "aic": "AIC",
    "bic": "BIC",
}


def fit_view(result: FitResult, *, precision: int, width: int, verbose: bool) -> list[Line]:
    """The heading, the table, the figures and the end of the search."""
    lines: list[Line] = []
    for text in wrapped(heading(result), width, width):
        lines.append([(text, "")])
    lines += [[], *table(_columns(result, precision, verbose), width), []]
    for text in figures(result, precision):
        lines += [[(part, "")] for part in wrapped(text, width, width)]
    pairs = correlations(result, 0.0 if verbose else _HIGH)
    if pairs:
        text = "correlations " + ", ".join(pairs)
        lines += [[(part, "")] for part in wrapped(text, width, width)]
    style = "help" if result.converged else "error"
    lines += [[(part, style)] for part in wrapped(end(result), width, width)]
    return lines


def fit_page(result: FitResult, *, precision: int) -> str:
    """The same report in Markdown."""
    heads = ["name", "estimate", "std. error", "%", _interval(result), "start"]
    columns = [[e.name for e in result.estimates], *_texts(result, precision)]
    kept = [k for k, column in enumerate(columns) if any(column)]
    rows = zip(*(columns[k] for k in kept), strict=True)
    lines = [heading(result), ""]
    lines.append(f"| {' | '.join(heads[k] for k in kept)} |")
    lines.append(f"|{'|'.join('---' if k == 0 else '---:' for k in kept)}|")
    lines += [f"| {' | '.join(_escaped(text) for text in row)} |" for row in rows]
    lines += ["", *(f"- {text}" for text in figures(result, precision))]
    pairs = correlations(result, _HIGH)
    lines += [f"- correlations {', '.join(pairs)}"] if pairs else []
    return "\n".join([*lines, f"- {end(result)}"]) + "\n"


def _escaped(text: str) -> str:
    return text.strip().replace("|", "\\|").replace("[", "\\[")


def heading(result: FitResult) -> str:
    """What was taken as what."""
    held = [e.name for e in result.estimates if e.state == "held"]
    names = [*result.error]
    parts = [f"data {', '.join(map(visible, result.data))}"] if result.data else []
    parts.append(f"{'parameters' if len(names) > 1 else 'parameter'} {', '.join(names)}")
    parts += [f"held {', '.join(held)}"] if held else []
    parts += [f"observed {', '.join(map(visible, result.observed))}"] if result.observed else []
    return "; ".join(parts)


def _interval(result: FitResult) -> str:
    kind = "by profile" if result.interval_from == "profile" else "interval"
    return f"{100 * result.level:.6g} % {kind}"


def _columns(result: FitResult, precision: int, verbose: bool) -> list[Column]:
    estimates = result.estimates
    values, errors, parts, intervals, starts = _texts(result, precision)
    styles = ["warning" if e.state else "value" for e in estimates]
    chances = ["" if e.chance is None else f"{e.chance:.2g}" for e in estimates]
    return [
        text_column("name", "name", [visible(e.name) for e in estimates]),
        text_column("estimate", "value", align(values)),
        styled_column("std. error", styles, align(errors)),
        text_column("%", "value", align(parts)),
        text_column(_interval(result), "value", intervals),
        text_column("p", "value", align(chances) if verbose else [""] * len(estimates)),
        text_column("start", "place", align(starts)),
    ]


def _texts(result: FitResult, precision: int) -> tuple[list[str], ...]:
    """The columns of numbers: estimates, errors, per cent, intervals, starts."""
    estimates = result.estimates
    values, errors, parts = [], [], []
    lower, upper = [], []
    for e in estimates:
        value, error = rounded(e.value, e.error, precision)
        values.append(value)
        errors.append(error or _SHORT.get(e.state, e.state))
        share = None if not e.error or not e.value else 100.0 * e.error / abs(e.value)
        parts.append("" if share is None else _percent(share))
        lower.append("" if e.lower is None else rounded(e.lower, e.error, precision)[0])
        upper.append("" if e.upper is None else rounded(e.upper, e.error, precision)[0])
    both = zip(lower, upper, strict=True)
    intervals = [f"{a} to {b}" if a or b else "" for a, b in both]
    starts = ["" if e.state == "held" else number(e.start, precision) for e in estimates]
    return values, errors, parts, intervals, starts


def _percent(share: float) -> str:
    return f"{share:#.2g}".rstrip(".") if not 99.5 <= share < 1e6 else f"{share:.0f}"


def rounded(value: float, error: float | None, precision: int) -> tuple[str, str]:
    """A value rounded to two digits of its error, and the error."""
    if not error or not isfinite(error) or not isfinite(value):
        return number(value, precision), ""
    last = floor(log10(error)) - (_DIGITS - 1)
    last = floor(log10(round(error, -last))) - (_DIGITS - 1)  # 0.0996 is 0.10
    top = max(abs(value), error)
    if 1e-4 <= top < 1e7 and last > -10:
        places = max(-last, 0)
        return f"{round(value, -last):.{places}f}", f"{round(error, -last):.{places}f}"
    exponent = floor(log10(abs(value))) if value else last
    return f"{value:.{max(exponent - last, 0)}e}", f"{error:.{_DIGITS - 1}e}"


def figures(result: FitResult, precision: int) -> list[str]:
    """The lines of figures under the table."""
    count = counted(result.records, "record")
    if result.compared is not None:
        parts = [f"{size:,} of {visible(name)}" for name, size in result.compared.items()]
        count += f" ({', '.join(parts)})"
    count += f", {result.left_out:,} left out" if result.left_out else ""
    count += "" if result.dof is None else f", {_freedom(result.dof)}"
    known = [(name, result.figures[name]) for name in _NAMES if name in result.figures]
    if "chi_squared" in result.figures:  # the sum of squares is the same number
        known = [(name, x) for name, x in known if name != "rss"]
    quality = [f"{_NAMES[n]} {number(x, precision)}" for n, x in known if n not in _CRITERIA]
    criteria = [f"{_NAMES[n]} {number(x, precision)}" for n, x in known if n in _CRITERIA]
    lines = [count, ", ".join(quality), ", ".join(criteria)]
    if result.loss_scale is not None:
        lines.append(f"{result.loss} loss, scale {number(result.loss_scale, precision)}")
    if result.errors_from != "jacobian":
        lines.append(f"errors from {_ERRORS[result.errors_from]}")
    if result.condition > _BAD:
        lines.append(f"condition {result.condition:.1e}")
    if result.starts is not None:
        reached, tried = result.starts
        lines.append(f"{reached} of {tried} starts reached this end")
    return [line for line in lines if line]


def _freedom(dof: int) -> str:
    if dof == 0:
        return "0 degrees of freedom, so there are no errors"
    return "1 degree of freedom" if dof == 1 else f"{dof:,} degrees of freedom"


_CRITERIA = ("log_likelihood", "aic", "bic")
_ERRORS = {"hessian": "second derivatives", "sandwich": "Huber's sandwich"}


def correlations(result: FitResult, least: float) -> list[str]:
    """The pairs of estimates whose correlation is above a size."""
    found, names = [], [*result.covariance]
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            row = result.covariance
            scale = (row[a][a] * row[b][b]) ** 0.5
            r = row[a][b] / scale if scale else 0.0
            if abs(r) > least:
                found.append((abs(r), f"{visible(a)}~{visible(b)}={r:z.3f}"))
    texts = [text for _, text in sorted(found, key=lambda pair: -pair[0])]
    more = len(texts) - _PAIRS
    return texts if more <= 0 else [*texts[:_PAIRS], f"and {more:,} more"]


def end(result: FitResult) -> str:
    """Why the search ended, and after how much work."""
    said = result.reason if result.converged else f"not converged: {result.reason}"
    work = counted(result.evaluations, "evaluation")
    return said if work in said else f"{said} ({work})"
