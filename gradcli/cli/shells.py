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
    os.environ[VARIABLE] = f"source_{line.shell}"  # how typer is asked for the text
    with suppress(SystemExit):  # which it raises when the text is written
        line.whole.run([])
    del os.environ[VARIABLE]
