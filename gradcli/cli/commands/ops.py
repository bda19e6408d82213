"""`gradcli ops`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradcli.cli.line.command import command
from gradcli.cli.line.options import MESSAGES, Line
from gradcli.cli.line.output import Target, choose, resolve_auto
from gradcli.cli.terminal.terminal import paged
from gradcli.formats.writers.forms import LISTS

if TYPE_CHECKING:
    from gradcli.results import Operation


@command("name", "form", "json", "output", "precision", *MESSAGES, forms=LISTS)
def ops(line: Line) -> None:
    """The built-in operations: meaning, derivative, values at kinks.

    A NAME that is none is searched for: a sign, or words of names and meanings.

    Examples:
      gradcli ops
      gradcli ops logsumexp
      gradcli ops '**'
      gradcli ops 'square root'
      gradcli ops --json | jq -r '.ops[] | select(.differentiable) | .name'
    """
    from gradcli import program

    target = resolve_auto(choose(line, LISTS))
    found = program.operations() if line.name is None else program.search(line.name)
    text = _text(found, target, line.precision, alone=len(found) == 1)
    paged(text) if target.form == "human" and target.terminal else target.write(text)


def _text(found: Sequence["Operation"], target: Target, precision: int, alone: bool) -> str:
    if target.form == "json":
        from gradcli.formats.writers.operations import operations_json

        return f"{operations_json(found)}\n"
    if target.form == "plain":
        from gradcli.formats.writers.operations import operation_plain, operations_plain

        return operation_plain(found[0]) if alone else operations_plain(found)

    from gradcli.render.operations import operation_view, operations_view

    if alone:
        lines = operation_view(found[0], precision=precision, width=target.width)
    else:
        lines = operations_view(found, width=target.width)
    return target.draw(lines)
