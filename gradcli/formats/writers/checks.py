"""Results of `gradcheck` for pipes: one check a line, CSV, JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.formats.texts.json_text import array, fields_json, json_object, warning_json
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.writers.forms import ValueParts
from gradcli.results import Checked, GradcheckResult, Value

_FIELDS = ("input", "order", "mode", "index", "analytic", "numeric", "error", "allowed", "passed")
_COLUMNS = (*_FIELDS, "note", "line", "truncation", "rounding", "kind")


def verdict(check: Checked) -> str:
    """`ok`, `FAIL`, or the note: `kink`, `cut`, `non-finite`, `symmetric`, `unsure`."""
    return check.note or ("ok" if check.passed else "FAIL")


class ChecksParts(ValueParts):
    """A record for each check of one answer; for a row among many, whether it passed and its worst
    check.
    """

    result: GradcheckResult

    def fields(self) -> dict[str, Value]:
        worst = self.result.worst
        names = ("input", "order", "mode", "index", "analytic", "numeric", "error", "allowed")
        found = {name: None if worst is None else getattr(worst, name) for name in names}
        index = "" if worst is None else literal(worst.index)
        verdicts = "ok" if worst is None else verdict(worst)
        return {"passed": self.result.passed, **found, "index": index, "verdict": verdicts}

    def json(self) -> dict[str, str]:
        return {
            "schema": quote("gradcli.gradcheck/1"),
            "passed": literal(self.result.passed),
            "checks": array(_checks(self.result.checks)),
            "rules": array(_checks(self.result.rules)),
            "warnings": array(map(warning_json, self.result.warnings)),
        }

    def records(self) -> Iterator[Sequence[str]]:
        """A header, and a record for each check, whose kind is `input` or `rule`."""
        yield _COLUMNS
        for kind, checks in (("input", self.result.checks), ("rule", self.result.rules)):
            for check in checks:
                values = [*(getattr(check, name) for name in _COLUMNS[:-1]), kind]
                yield [v if isinstance(v, str) else literal(v) for v in values]

    def lines(self) -> str:
        """Input, order, mode, error, allowed and verdict, separated by tabs; own rules last."""
        rows = (
            (c.input, str(c.order), c.mode, literal(c.error), literal(c.allowed), verdict(c))
            for c in (*self.result.checks, *self.result.rules)
        )
        return "".join(f"{chr(9).join(row)}\n" for row in rows)


def _checks(checks: tuple[Checked, ...]) -> Iterator[str]:
    for check in checks:
        note = {"note": literal(check.note or None)}
        more = fields_json(check, ("line", "truncation", "rounding"))
        yield json_object({**fields_json(check, _FIELDS), **note, **more})
