"""`gradcli lsp`."""

from __future__ import annotations

import gc

from gradcli.cli.line.command import command
from gradcli.cli.line.options import MESSAGES, Line
from gradcli.errors import Diagnostic, UsageError


@command("line_length", *MESSAGES)
def lsp(line: Line) -> None:
    """Serve an editor: findings, hover, completion and layout of .grad files.

    The editor starts this command and talks to it by the language server protocol on standard
    input and output. `gradcli help editors` has settings for VS Code and Neovim. Needs the extra
    `lsp`: pip install 'gradcli[lsp]'.
    """
    try:
        from gradcli.cli.lsp.server import made
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        message = "`lsp` needs pygls, which is not installed"
        help = "pip install 'gradcli[lsp]'"
        raise UsageError(Diagnostic("missing-extra", message, help=help)) from None
    gc.enable()  # texts make reference cycles, and a server lives long
    made(line.line_length).start_io()
