"""Check a program before it runs: errors on the way, and names that are never read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from gradcli.cpython import NESTED, Room
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.static.elaborate import elaborate
from gradcli.engine.static.liveness import unread
from gradcli.engine.static.rehearsal import MOST_REHEARSED, rehearsed
from gradcli.errors import Diagnostic
from gradcli.ir import program as ir
from gradcli.source import Source, Span


def missing(
    program: ir.Program, source: Source, given: Mapping[str, Given]
) -> Iterator[Diagnostic]:
    """Warnings of free names without a value that a run needs only if an unnamed function runs."""
    for i in program.inputs:
        if i.needed or i.name in given:
            continue
        yield Diagnostic(
            "missing-input",
            f"input `{i.name}` has no value; it is read only in a function that nothing names",
            source,
            i.span,
            help=f"add {i.name}=VALUE, or assign `{i.name}`",
            severity="warning",
        )


def examine(
    program: ir.Program,
    source: Source,
    given: Mapping[str, Given],
    varying: Sequence[str],
    asked: Collection[str],
    of: str | None,
) -> list[Diagnostic]:
    """The findings, in the order of the text.

    Args:
        program: The program.
        source: Its text.
        given: Values from outside by name.
        varying: Names that would be differentiated.
        asked: Those that the user has named.
        of: The top-level name that is taken as the result; None: the program's own.

    Raises:
        InputError: If a value from outside does not fit its declaration.
    """
    result = program.result if of is None else ir.Slot(program.names[of], Span(0, 0))
    facts, found = elaborate(program, source, given, varying, asked, result, MOST_REHEARSED)
    refused = rehearsed(program, given, varying, facts)
    if refused is not None:
        refused.source = source
        found.append(refused)
    with Room(NESTED):
        found += unread(program, source, result)
    found += missing(program, source, given)
    return sorted(found, key=lambda d: d.span.start if d.span else 0)
