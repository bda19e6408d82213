"""The output of `gradcli gradcheck` for people."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.render.numbers import number
from gradcli.render.table import Column, styled_column, table, text_column
from gradcli.render.text import Line, bracketed, visible
from gradcli.results import Checked, GradcheckResult

_NOTES = {
    "kink": "a corner or jump is here: differences say nothing, the derivative is a choice",
    "symmetric": "one triangle of a matrix is read, and its gradient shared between both: the "
    "matrix was moved symmetrically",
    "cut": "`no_grad`, `detach`, `tensor` or their like cut the gradient; it agrees without them",
    "non-finite": "a value or derivative here is not finite, so there is nothing to compare",
    "unsure": "the values are too irregular here for differences: they neither confirm nor refute",
}


def checks_view(
    result: GradcheckResult, *, precision: int, width: int, verbose: bool
) -> list[Line]:
    """A row for each input, or for each check if `verbose`, then the failures and notes."""
    checks = (*result.checks, *result.rules)
    shown = checks if verbose else result.worst_of_each
    lines = table(_columns(shown, precision, verbose), width)
    for check in shown:
        if not check.passed:
            lines += [[], *_failure(check, precision)]
    for note in dict.fromkeys(check.note for check in checks if check.note):
        names = dict.fromkeys(check.input for check in checks if check.note == note)
        lines += [[], [(f"{note}", "warning"), (f" by {', '.join(names)}: {_NOTES[note]}", "")]]
    failed = sum(not check.passed for check in checks)
    end = f"{failed} of {len(checks)} checks failed" if failed else f"{len(checks)} checks passed"
    return [*lines, [], [(end, "error" if failed else "help")]]


def _columns(checks: Sequence[Checked], precision: int, every: bool) -> list[Column]:
    """The columns of a table of checks: both values, or the parts of the allowed error if `every`;
    the order if there are several.
    """
    verdicts = list(map(_verdict, checks))
    several = len({c.order for c in checks}) > 1
    columns = [
        text_column("name", "name", [visible(c.input) for c in checks]),
        text_column("order", "shape", [str(c.order) if several or every else "" for c in checks]),
        text_column("mode", "shape", [c.mode if every else "" for c in checks]),
        text_column("line", "place", ["" if every or not c.line else str(c.line) for c in checks]),
        text_column("index", "shape", [bracketed(c.index) for c in checks]),
    ]
    if not every:
        columns += [
            text_column("derivative", "value", [number(c.analytic, precision) for c in checks]),
            text_column("differences", "value", [number(c.numeric, precision) for c in checks]),
        ]
    columns += [
        text_column(name, "value", [number(getattr(c, name), 2) for c in checks])
        for name in ("error", "allowed", *(("truncation", "rounding") if every else ()))
    ]
    styles, texts = [style for _, style in verdicts], [text for text, _ in verdicts]
    return [*columns, styled_column("", styles, texts)]


def _verdict(check: Checked) -> tuple[str, str]:
    """The verdict of a check, with its style."""
    if not check.passed:
        return check.note or "FAIL", "error"
    return (check.note, "warning") if check.note else ("ok", "help")


def _failure(check: Checked, precision: int) -> list[Line]:
    digits = max(precision, 6)
    place = bracketed(check.index)
    where = f" (line {check.line})" if check.line else ""
    against = "forward mode" if check.mode == "dot" else "differences"
    mode = "reverse mode" if check.mode == "dot" else f"{check.mode} mode"
    order = "second derivative" if check.order == 2 else "derivative"
    return [
        [
            (f"{visible(check.input)}{where}", "name"),
            (f": the {order}{' at ' + place if place else ''} is ", ""),
            (number(check.analytic, digits), "error"),
            (f" by {mode}, ", ""),
            (number(check.numeric, digits), "help"),
            (f" by {against}", ""),
        ],
        [
            (
                f"  off by {number(check.error, 3)}; allowed are {number(check.allowed, 3)}",
                "place",
            )
        ],
    ]
