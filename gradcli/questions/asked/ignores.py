"""Warnings that a program's comments ask to leave out: `# gradcli: ignore[float-equality]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gradcli.errors import Diagnostic
from gradcli.source import Source

_COMMENT = re.compile(r"#\s*gradcli:\s*ignore\[([^\]#]*)\]\s*(?:#.*)?$")


def spoken(findings: Iterable[Diagnostic], source: Source) -> list[Diagnostic]:
    """The findings without the warnings whose code a comment names, at the end of a line that the
    place of the warning is on. Errors stay.
    """
    return [f for f in findings if f.severity == "error" or f.code not in _ignored(f, source)]


def _ignored(finding: Diagnostic, source: Source) -> set[str]:
    if finding.span is None:
        return set()
    first, _ = source.position(finding.span.start)
    last, _ = source.position(max(finding.span.start, finding.span.end - 1))
    found = (_COMMENT.search(source.line(number)) for number in range(first, last + 1))
    return {code.strip() for comment in found if comment for code in comment[1].split(",")}
