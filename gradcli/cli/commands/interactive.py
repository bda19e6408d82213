"""`gradcli repl` and `gradcli lsp`."""

from __future__ import annotations

import gc
import sys

from gradcli.cli.asking.inquiry import limits_of
from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, Line
from gradcli.cli.terminal.terminal import is_terminal
from gradcli.errors import Diagnostic, UsageError


@command("seed", *LIMITS, *MESSAGES)
def repl(line: Line) -> None:
    r"""Run a program line by line, as you type it.

    The lines are one program that grows. Each one shows the value of its last expression. `:help`
    lists what else the prompt does. Needs the extra `prompt`: pip install 'gradcli[prompt]'.
    Without a terminal it reads lines from standard input.

    Examples:
      printf 'x = 3.0\nx ** 2\n' | gradcli repl
      printf 'x = randn(3)\nx.sum()\n' | gradcli repl --seed 1
    """
    from gradcli.cli.repl.conversation import Conversation
    from gradcli.cli.repl.typed import piped

    gc.enable()  # lines make reference cycles, and a prompt lives long
    conversation = Conversation(line.seed, limits_of(line), line.diagnostics, line.color)
    if is_terminal(sys.stdin):
        from gradcli.cli.repl.prompt import typed

        texts = typed(conversation)
    else:
        texts = piped(sys.stdin)
    for text in texts:
        if not conversation.answer(text):
            break


@command("line_length", *MESSAGES)
def lsp(line: Line) -> None:
    """Serve an editor by the language server protocol.

    An editor starts this command, and gets findings, hover, completion and layout of .grad files
    on its standard output. `gradcli help editors` has settings for VS Code and Neovim. Needs the
    extra `lsp`: pip install 'gradcli[lsp]'.

    Examples:
      gradcli help editors
      gradcli lsp --line-length 100
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
