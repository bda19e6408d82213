"""What `gradcheck` and `check` found, for pipes: a line a check, CSV, JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradcli.errors import Diagnostic
from gradcli.formats.texts.delimited import record
from gradcli.formats.texts.json_text import array, diagnostic_json, json_object, warning_json
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.writers.forms import Parts
from gradcli.results import Checked, Declared, GradcheckResult, Value

_FIELDS = ("input", "order", "mode", "index", "analytic", "numeric", "error", "allowed", "passed")
_COLUMNS = (*_FIELDS, "note", "line", "truncation", "rounding", "kind")


def verdict(check: Checked) -> str:
    """`ok`, `FAIL`, or why neither can be said: `kink`, `cut`, `non-finite`, `symmetric`,
    `unsure`.
    """
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
    return json_object(_json_fields(result))


def _json_fields(result: GradcheckResult) -> dict[str, str]:
    return {
        "schema": quote("gradcli.gradcheck/1"),
        "passed": literal(result.passed),
        "checks": array(_checks(result.checks)),
        "rules": array(_checks(result.rules)),
        "warnings": array(map(warning_json, result.warnings)),
    }


def checks_parts(result: GradcheckResult) -> Parts:
    """What a row of many is written from: whether it passed, and its worst check."""

    def fields() -> dict[str, Value]:
        worst = result.worst
        names = ("input", "order", "mode", "index", "analytic", "numeric", "error", "allowed")
        found = {name: None if worst is None else getattr(worst, name) for name in names}
        index = "" if worst is None else literal(worst.index)
        verdicts = "ok" if worst is None else verdict(worst)
        return {"passed": result.passed, **found, "index": index, "verdict": verdicts}

    return Parts(fields, fields, lambda: _json_fields(result))


def _checks(checks: tuple[Checked, ...]) -> Iterator[str]:
    for check in checks:
        fields = {name: literal(getattr(check, name), json=True) for name in _FIELDS}
        fields["note"] = literal(check.note or None)
        for name in ("line", "truncation", "rounding"):
            fields[name] = literal(getattr(check, name), json=True)
        yield json_object(fields)


# `gradcli check` ----------------------------------------------------------------------------------


def findings_json(findings: Iterable[Diagnostic], inputs: Iterable[tuple[str, Declared]]) -> str:
    """The object of what was found without running; each input with the file that declares it."""
    declared = (
        json_object(
            {
                "name": quote(i.name),
                "kind": quote(i.kind),
                "type": literal(i.type or None),
                "default": literal(i.default or None),
                "file": quote(file),
            }
        )
        for file, i in inputs
    )
    return json_object(
        {
            "schema": quote("gradcli.check/1"),
            "findings": array(map(diagnostic_json, findings)),
            "inputs": array(declared),
        }
    )


def findings_github(findings: Iterable[Diagnostic]) -> str:
    """A line a finding, as GitHub's jobs take annotations ("Workflow commands", its docs)."""
    return "".join(f"{_annotation(finding)}\n" for finding in findings)


def _annotation(finding: Diagnostic) -> str:
    fields = {"title": finding.code}
    if finding.source is not None and finding.span is not None:
        line, column = finding.source.position(finding.span.start)
        end_line, end_column = finding.source.position(finding.span.end)
        place = {"file": finding.source.name, "line": line, "endLine": end_line, "col": column}
        fields = {**{k: str(v) for k, v in place.items()}, "endColumn": str(end_column), **fields}
    written = ",".join(f"{name}={_escaped(text, ':,')}" for name, text in fields.items())
    message = "\n".join([finding.message, *([finding.help] if finding.help else [])])
    return f"::{finding.severity} {written}::{_escaped(message)}"


def _escaped(text: str, also: str = "") -> str:
    for sign in f"%\r\n{also}":  # the percent sign first: the others bring new ones
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
