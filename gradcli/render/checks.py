"""What `gradcli gradcheck` shows to a person."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.render.numbers import number
from gradcli.render.table import Column, styled_column, table, text_column
from gradcli.render.text import Line, visible
from gradcli.results import Checked, GradcheckResult

_NOTES = {
    "kink": "a corner or jump is here: differences say nothing, the derivative is a choice",
    "cut": "`no_grad`, `detach`, `tensor` or their like cut the gradient; it agrees without them",
    "non-finite": "a value or derivative here is not finite, so there is nothing to compare",
    "unsure": "the values are too irregular here for differences: they neither confirm nor refute",
}


def checks_view(result: GradcheckResult, *, precision: int, width: int) -> list[Line]:
    """A row for each check; under it what failed, with both values, and what is to be known."""
    checks = (*result.checks, *result.rules)
    lines = table(_columns(checks), width)
    for check in checks:
        if not check.passed:
            lines += [[], *_failure(check, precision)]
    for note in dict.fromkeys(check.note for check in checks if check.note):
        names = dict.fromkeys(check.input for check in checks if check.note == note)
        lines += [[], [(f"{note}", "warning"), (f" by {', '.join(names)}: {_NOTES[note]}", "")]]
    failed = sum(not check.passed for check in checks)
    end = f"{failed} of {len(checks)} checks failed" if failed else f"{len(checks)} checks passed"
    return [*lines, [], [(end, "error" if failed else "help")]]


def _columns(checks: Sequence[Checked]) -> list[Column]:
    verdicts = list(map(_verdict, checks))
    return [
        text_column("name", "name", [visible(c.input) for c in checks]),
        text_column("order", "shape", [str(c.order) for c in checks]),
        text_column("mode", "shape", [c.mode for c in checks]),
        text_column("error", "value", [number(c.error, 2) for c in checks]),
        text_column("allowed", "value", [number(c.allowed, 2) for c in checks]),
        text_column("truncation", "value", [number(c.truncation, 2) for c in checks]),
        text_column("rounding", "value", [number(c.rounding, 2) for c in checks]),
        styled_column("", [style for _, style in verdicts], [text for text, _ in verdicts]),
    ]


def _verdict(check: Checked) -> tuple[str, str]:
    """What came of a check, with its style."""
    if not check.passed:
        return check.note or "FAIL", "error"
    return (check.note, "warning") if check.note else ("ok", "help")


def _failure(check: Checked, precision: int) -> list[Line]:
    digits = max(precision, 6)
    place = f"[{', '.join(map(str, check.index))}]" if check.index else ""
    where = f" (line {check.line})" if check.line else ""
    against = "forward mode" if check.mode == "dot" else "differences"
    mode = "reverse mode" if check.mode == "dot" else f"{check.mode} mode"
    order = "second derivative" if check.order == 2 else "derivative"
    truncation, rounding = number(check.truncation, 2), number(check.rounding, 2)
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
                f"  off by {number(check.error, 3)}; allowed are {number(check.allowed, 3)}: "
                f"{truncation} for truncation, {rounding} for rounding",
                "place",
            )
        ],
    ]
