"""Findings of `check` for other programs: JSON, and lines for GitHub."""

from __future__ import annotations

from gradcli.errors import Diagnostic
from gradcli.formats.texts.json_text import array, diagnostic_json, json_object
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.writers.forms import Parts
from gradcli.results import Declared, Findings


class FindingsParts(Parts):
    """Findings, and the inputs of the checked programs."""

    result: Findings

    def json(self) -> dict[str, str]:
        return {
            "schema": quote("gradcli.check/1"),
            "findings": array(map(diagnostic_json, self.result.findings)),
            "inputs": array(input_json(file, i) for file, i in self.result.inputs),
        }

    def diagnostics(self) -> str:
        """A line of JSON for each finding that people are shown."""
        return "".join(f"{diagnostic_json(d)}\n" for d in self.result.shown)

    def annotations(self) -> str:
        """A line for each finding in GitHub's annotation syntax (its docs: "Workflow commands")."""
        return "".join(f"{_annotation(finding)}\n" for finding in self.result.shown)


def input_json(file: str, declared: Declared) -> str:
    """A declared input of a program in a file."""
    known = {name: literal(getattr(declared, name) or None) for name in declared._fields}
    return json_object({**known, "file": quote(file)})


def _annotation(finding: Diagnostic) -> str:
    fields = {"title": finding.code}
    if finding.source is not None and finding.span is not None:
        line, column = finding.source.told(finding.span.start)
        end_line, end_column = finding.source.told(finding.span.end)
        place = {"file": finding.source.name, "line": line, "endLine": end_line, "col": column}
        fields = {**{k: str(v) for k, v in place.items()}, "endColumn": str(end_column), **fields}
    written = ",".join(f"{name}={_escaped(text, ':,')}" for name, text in fields.items())
    message = "\n".join([finding.message, *([finding.help] if finding.help else [])])
    return f"::{finding.severity} {written}::{_escaped(message)}"


def _escaped(text: str, also: str = "") -> str:
    for sign in f"%\r\n{also}":  # the percent sign first: the others add new ones
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
