"""What `gradcheck` and `check` found, for pipes: a line a check, CSV, JSON."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.formats.delimited import record
from gradcli.formats.json_text import array, diagnostic_json, json_object, warning_json
from gradcli.formats.literal import literal, quote
from gradcli.results import Checked, CheckResult, GradcheckResult

_FIELDS = ("input", "order", "mode", "index", "analytic", "numeric", "error", "allowed", "passed")
_COLUMNS = (*_FIELDS, "note", "line", "truncation", "rounding", "kind")


def verdict(check: Checked) -> str:
    """`ok`, `FAIL`, or why neither can be said: `kink`, `cut`, `non-finite`, `unsure`."""
    return check.note or ("ok" if check.passed else "FAIL")


def checks_plain(result: GradcheckResult) -> str:
    """Input, order, mode, error, allowed and verdict, between tabs; own rules after the inputs."""
    rows = (
        (c.input, str(c.order), c.mode, literal(c.error), literal(c.allowed), verdict(c))
        for c in (*result.checks, *result.rules)
    )
    return "".join(f"{chr(9).join(row)}\n" for row in rows)


def checks_delimited(result: GradcheckResult, delimiter: str) -> str:
    """A header and a record a check, whose kind is `input` or `rule`."""
    lines = [record(_COLUMNS, delimiter)]
    for kind, checks in (("input", result.checks), ("rule", result.rules)):
        for check in checks:
            values = [*(getattr(check, name) for name in _COLUMNS[:-1]), kind]
            texts = [v if isinstance(v, str) else literal(v) for v in values]
            lines.append(record(texts, delimiter))
    return "".join(lines)


def checks_json(result: GradcheckResult) -> str:
    """The object of the whole result."""
    return json_object(
        {
            "schema": quote("gradcli.gradcheck/1"),
            "passed": literal(result.passed),
            "checks": array(_checks(result.checks)),
            "rules": array(_checks(result.rules)),
            "warnings": array(map(warning_json, result.warnings)),
        }
    )


def _checks(checks: tuple[Checked, ...]) -> Iterator[str]:
    for check in checks:
        fields = {name: literal(getattr(check, name), json=True) for name in _FIELDS}
        fields["note"] = literal(check.note or None)
        for name in ("line", "truncation", "rounding"):
            fields[name] = literal(getattr(check, name), json=True)
        yield json_object(fields)


# `gradcli check` ----------------------------------------------------------------------------------


def findings_json(result: CheckResult) -> str:
    """The object of what was found without running."""
    inputs = (
        json_object(
            {
                "name": quote(i.name),
                "kind": quote(i.kind),
                "type": literal(i.type or None),
                "default": literal(i.default or None),
            }
        )
        for i in result.inputs
    )
    return json_object(
        {
            "schema": quote("gradcli.check/1"),
            "findings": array(map(diagnostic_json, result.findings)),
            "inputs": array(inputs),
        }
    )
