"""`gradcli ops`."""

from gradcli.cli.line.command import command
from gradcli.cli.line.options import MESSAGES, Line
from gradcli.cli.line.output import choose, decided, look
from gradcli.cli.terminal.terminal import paged


@command("name", "form", "json", "output", "precision", *MESSAGES, view="operations")
def ops(line: Line) -> None:
    """The built-in operations: meaning, derivative, values at kinks.

    Any other NAME is searched for: a sign, or words in names and meanings.

    Examples:
      gradcli ops
      gradcli ops logsumexp
      gradcli ops '**'
      gradcli ops 'square root'
      gradcli ops --json | jq -r '.ops[] | select(.differentiable) | .name'
    """
    from gradcli import program
    from gradcli.results import Operations

    target = decided(choose(line), line.forms)
    found = program.operations() if line.name is None else program.search(line.name)
    text = target.content(Operations(found), look(line, target))
    if isinstance(text, str) and target.is_for_person and target.terminal:
        paged(text)
    else:
        target.write(text)
