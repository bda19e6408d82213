"""`gradcli serve`."""

from __future__ import annotations

import os

from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, Line
from gradcli.cli.terminal.failures import usage


@command(
    *("served", "expression", "socket", "check_nan", "seed", "compile"),
    *(*LIMITS, *MESSAGES),
)
def serve(line: Line) -> None:
    r"""Answer questions of other programs, each a line of JSON.

    The server ends with standard input; `--socket PATH` serves until it is stopped.
    NAME=VALUE gives an input a value for all questions. `gradcli help server` tells what a
    question is.

    Examples:
      echo '{"question": "grad", "inputs": {"x": 2}}' | gradcli serve 'x ** 2'
      gradcli samples cooling -o .
      echo '{"question": "describe"}' | gradcli serve cooling.grad
    """
    from gradcli.cli.serve.loaded import loaded
    from gradcli.cli.serve.sessions import on_standard_streams

    served = loaded(line)
    if line.socket is None:
        on_standard_streams(served)
        return
    if not hasattr(os, "fork"):
        raise usage("`--socket` needs a system with Unix sockets that can fork processes")
    from gradcli.cli.serve.sockets import on_socket

    on_socket(served, line.socket)
