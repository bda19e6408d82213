"""`gradcli completion`."""

import os
from contextlib import suppress

from gradcli.cli.line.command import VARIABLE, command
from gradcli.cli.line.options import MESSAGES, Line


@command("shell", *MESSAGES)
def completion(line: Line) -> None:
    """Print the script for completion in a shell.

    Examples:
      gradcli completion bash >> ~/.bashrc
      gradcli completion zsh > ~/.zfunc/_gradcli
      gradcli completion fish > ~/.config/fish/completions/gradcli.fish
    """
    os.environ[VARIABLE] = f"source_{line.shell}"  # makes typer write the text
    with suppress(SystemExit):  # typer raises it after writing the text
        line.whole.run([])
    del os.environ[VARIABLE]
