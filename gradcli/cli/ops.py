"""`gradcli ops`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from gradcli.cli import completion
from gradcli.cli import options as o
from gradcli.cli.output import Target, choose, resolve_auto

if TYPE_CHECKING:
    from gradcli.results import Operation

_SUFFIXES = {".json": "json", ".txt": "plain"}

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="An operation; all without it.",
        show_default=False,
        autocompletion=completion.operations,
    ),
]


def ops(
    name: Name = None,
    form: o.ListFormat = o.ListFormatName.AUTO,
    json: o.Json = False,
    output: o.Output = None,
    precision: o.Precision = 6,
    verbose: o.Verbose = False,
    color: o.Color = o.ColorChoice.AUTO,
    diagnostics: o.Diagnostics = o.DiagnosticsForm.FULL,
) -> None:
    """The built-in operations: meaning, derivative, values at kinks.

    Examples:
      gradcli ops
      gradcli ops logsumexp
      gradcli ops --json | jq -r '.ops[] | select(.differentiable) | .name'
    """
    from gradcli import program

    target = choose(form.value, json=json, output=output, color=color.value, suffixes=_SUFFIXES)
    target = resolve_auto(target)
    found = program.operations() if name is None else (program.operation(name),)
    target.write(_text(found, target, precision, alone=name is not None))


def _text(found: Sequence["Operation"], target: Target, precision: int, alone: bool) -> str:
    if target.form == "json":
        from gradcli.formats.operations import operations_json

        return f"{operations_json(found)}\n"
    if target.form == "plain":
        from gradcli.formats.operations import operation_plain, operations_plain

        return operation_plain(found[0]) if alone else operations_plain(found)

    from gradcli.render.operations import operation_view, operations_view

    if alone:
        lines = operation_view(found[0], precision=precision, width=target.width)
    else:
        lines = operations_view(found, width=target.width)
    return target.draw(lines)
