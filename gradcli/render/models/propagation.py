"""The output of `gradcli propagate` for people, in a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.render.models.measured import alone, digits, places, plus_minus, short, two_digits
from gradcli.render.numbers import align, number
from gradcli.render.table import Column, table, text_column
from gradcli.render.text import Line, cells, visible, wrapped
from gradcli.views import MonteCarlo, Propagated, PropagateResult, Share

_HEADINGS = ("input", "value", "sensitivity", "contribution", "share", "given", "dof")
_CORRELATED = "inputs are correlated: shares may be negative, or above 100 %"
_GAP = "   "


def propagation_view(result: PropagateResult, *, width: int) -> list[Line]:
    """Each result with its interval, its budget and its simulation; then how they correlate."""
    lines: list[Line] = []
    for one in result.results:
        lines += [[]] if lines else []
        lines += _lead(one, result.coverage, width)
        lines += [[], *_budget(one, width)]
        lines += [[], *_orders(one)]
        if result.correlated:
            lines.append([(_CORRELATED, "place")])
        if one.monte_carlo is not None:
            lines += [[], *_simulated(one.monte_carlo, result.coverage)]
    if len(result.results) > 1:
        lines += [[], *_correlations(result, width)]
    return lines


def propagation_page(result: PropagateResult) -> str:
    """The same as Markdown."""
    parts = []
    for one in result.results:
        name = f"`{one.name}`"
        found = plus_minus(one.value, one.uncertainty)
        parts += [f"{name} = {found}, {_interval(one, result.coverage)} ({_factor(one)})", ""]
        parts += [*_markdown(_cells(one.budget)), ""]
        said = [text for line in _orders(one) for text, _ in line]
        parts += [*said, *([_CORRELATED] if result.correlated else []), ""]
        if one.monte_carlo is not None:
            simulated = _simulated(one.monte_carlo, result.coverage)
            parts += [f"- {''.join(text for text, _ in line).strip()}" for line in simulated] + [""]
    if len(result.results) > 1:
        heads, *rows = _correlated(result)
        parts += [*_markdown([[cell or "correlation" for cell in heads], *rows]), ""]
    return "\n".join(parts)


def _lead(one: Propagated, coverage: float, width: int) -> list[Line]:
    """`name = value ± uncertainty`, then the interval."""
    found, brief = plus_minus(one.value, one.uncertainty), short(one.value, one.uncertainty)
    head: Line = [(f"{visible(one.name)} = ", "name"), (found, "value")]
    taken = cells(one.name) + 3 + cells(found) + len(_GAP) + cells(brief)
    if brief and taken <= width:
        head.append((f"{_GAP}{brief}", "place"))
    ends, factor = _interval(one, coverage), _factor(one)
    if cells(ends) + len(_GAP) + cells(factor) <= width:
        return [head, [(ends, "value"), (f"{_GAP}{factor}", "place")]]
    return [head, [(ends, "value")], *([(text, "place")] for text in wrapped(factor, width, width))]


def _interval(one: Propagated, coverage: float) -> str:
    low, high = (alone(end, one.uncertainty) for end in one.interval)
    return f"{100 * coverage:.6g} %: {low} to {high}"


def _factor(one: Propagated) -> str:
    if one.dof is None:
        return f"k = {one.factor:.3g}, normal"
    return f"k = {one.factor:.3g}, Student's t with {one.dof:.3g} degrees of freedom"


def _orders(one: Propagated) -> list[Line]:
    """Both orders, and how far the mean is away from the value."""
    second = "none" if one.second_order is None else digits(one.second_order, 3)
    text = f"first order {digits(one.first_order, 3)}, second order {second}"
    lines: list[Line] = [[(text, "place")]]
    if abs(one.shift) > 0.1 * one.uncertainty:
        mean = digits(one.value + one.shift, 6)
        lines.append([(f"the mean is {mean} at second order", "place")])
    return lines


# the budget ---------------------------------------------------------------------------------------


def _budget(one: Propagated, width: int) -> list[Line]:
    """The table of the inputs; where it is too wide, what was given for some stands below it, and
    contributions are left out.
    """
    columns = _columns(one)
    several = (columns, columns[:-2], [*columns[:3], columns[4]], columns)
    tables = [table(chosen, width) for chosen in several]
    rows = len(one.budget) + 1
    found = next((lines for lines in tables if len(lines) == rows), tables[-1])
    if found is tables[0] or found is tables[-1]:
        return found
    more: list[Line] = []
    for share in one.budget:
        said = [] if share.distribution == "normal" else [f"given as {_given(share)}"]
        said += [] if share.dof is None else [f"{share.dof:.3g} degrees of freedom"]
        if said:
            more.append([(f"{visible(share.name)}: ", "name"), (", ".join(said), "place")])
    return [*found, *more]


def _columns(one: Propagated) -> list[Column]:
    headings, *rows = _cells(one.budget)
    names, values, *columns = zip(*rows, strict=True)
    found = [text_column(headings[0], "name", [*names])]
    pairs = [text.split(" ± ") for text in values]
    parts = zip(*(align([*part]) for part in zip(*pairs, strict=True)), strict=True)
    found.append(text_column(headings[1], "value", [" ± ".join(pair) for pair in parts]))
    for heading, texts in zip(headings[2:-2], columns[:-2], strict=True):
        shown = align(texts)
        wide = max(map(cells, [heading, *shown]))
        found.append(text_column(heading.rjust(wide), "value", [t.rjust(wide) for t in shown]))
    more = zip(headings[-2:], columns[-2:], strict=True)
    return [*found, *(text_column(heading, "place", [*texts]) for heading, texts in more)]


def _cells(budget: Sequence[Share]) -> list[list[str]]:
    """The header of the budget, then a row for each input."""
    rows = [[*_HEADINGS]]
    for share in budget:
        number = alone(share.value, share.uncertainty)
        rows.append(
            [
                visible(share.name),
                f"{number} ± {two_digits(share.uncertainty)}",
                digits(share.sensitivity, 3),
                two_digits(share.contribution),
                "" if share.share is None else _percent(share.share),
                "" if share.distribution == "normal" else _given(share),
                "" if share.dof is None else f"{share.dof:.3g}",
            ]
        )
    return rows


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _given(share: Share) -> str:
    """The half-width or scale that was given for an uncertainty."""
    return f"±{two_digits(share.width)} {share.distribution}"


# Monte Carlo --------------------------------------------------------------------------------------


def _simulated(found: MonteCarlo, coverage: float) -> list[Line]:
    percent = f"{100 * coverage:.6g} %"
    head = f"Monte Carlo, {found.draws:,} draws, seed {found.seed}"
    lines: list[Line] = [[(head, "name")]]
    pairs = [
        ("mean", _told(found.mean, found.mean_error)),
        ("deviation", _told(found.deviation, found.deviation_error)),
        (f"{percent} symmetric", _ends(found.symmetric, found.symmetric_error)),
        (f"{percent} shortest", _ends(found.shortest, found.shortest_error)),
    ]
    wide = max(cells(name) for name, _ in pairs) + 2
    lines += [[(name.ljust(wide), "heading"), (text, "value")] for name, text in pairs]
    if found.outside:
        lines.append([(f"{found.outside:,} draws give no number", "warning")])
    if found.agrees:
        verdict = f"agrees with the law: its ends are within {found.tolerance:g}"
        return [*lines, [(verdict, "help")]]
    verdict = f"does not agree with the law: its ends are not within {found.tolerance:g}"
    return [*lines, [(verdict, "warning")]]


def _told(value: float, error: float) -> str:
    return plus_minus(value, error) if places(error) is not None else number(value, 6)


def _ends(ends: tuple[float, float], errors: tuple[float, float]) -> str:
    return " to ".join(short(x, e) or number(x, 6) for x, e in zip(ends, errors, strict=True))


# several results ----------------------------------------------------------------------------------


def _correlations(result: PropagateResult, width: int) -> list[Line]:
    heads, *rows = _correlated(result)
    columns = [*zip(*rows, strict=True)]
    first = text_column("correlation", "name", [*columns[0]])
    others = [
        text_column(head, "value", align(texts))
        for head, texts in zip(heads[1:], columns[1:], strict=True)
    ]
    return table([first, *others], width)


def _correlated(result: PropagateResult) -> list[list[str]]:
    """The correlations of the results at first order: a header, then a row for each."""
    names = [*result.covariance]
    of = result.covariance
    rows = [["", *map(visible, names)]]
    for a in names:
        row = [visible(a)]
        for b in names:
            scale = (of[a][a] * of[b][b]) ** 0.5
            row.append(f"{of[a][b] / scale:.3f}" if scale else "")
        rows.append(row)
    return rows


def _markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of Markdown without its empty columns."""
    filled = [k for k in range(len(rows[0])) if any(row[k] for row in rows[1:])]
    lines = [f"| {' | '.join(row[k] for k in filled)} |" for row in rows]
    return [lines[0], f"|{' --- |' * len(filled)}", *lines[1:]]
