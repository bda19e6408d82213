"""`gradcli serve`."""

from __future__ import annotations

from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, Line


@command(
    *("served", "expression", "check_nan", "seed", "compile"),
    *(*LIMITS, *MESSAGES),
)
def serve(line: Line) -> None:
    r"""Answer questions, each a line of JSON, until standard input ends.

    NAME=VALUE gives an input a value for all questions.

    Examples:
      echo '{"question": "grad", "inputs": {"x": 2}}' | gradcli serve 'x ** 2'
      gradcli samples cooling -o .
      echo '{"question": "describe"}' | gradcli serve cooling.grad
    """
    from gradcli.cli.serve.loaded import loaded
    from gradcli.cli.serve.sessions import on_standard_streams

    on_standard_streams(loaded(line))
