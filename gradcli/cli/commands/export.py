"""`gradcli export`."""

import os

from gradcli.cli.line.arguments import split_names
from gradcli.cli.line.command import command
from gradcli.cli.line.inputs import load_source
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, Line
from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.cli.terminal.terminal import write_output


@command(*PROGRAM, "wrt", "several", "highest", "mode", "with_check", "written", *LIMITS, *MESSAGES)
def export(line: Line) -> None:
    """Write a program and its derivatives as source code.

    The function takes the inputs, those of --wrt first, and gives the value and the derivatives. It
    is named after the program's file.

    Examples:
      gradcli samples cooling -o .
      gradcli export cooling.grad --wrt k,T0 -o model.c
      gradcli export 'exp(-k * t)' k=1 t=2 --wrt k --order 2 -o decay.c
    """
    from gradcli import __version__, program
    from gradcli.formats.texts.file import write_atomically

    file = line.written
    if file is None:
        raise usage("`export` needs a file to write", "`-o model.c` writes C")
    source, given = load_source(line)
    loaded = program.load_source(source, frozenset(given))
    texts = loaded.export(
        file,
        given,
        wrt=split_names(line.wrt, "--wrt"),
        of=split_names(line.several, "--of"),
        order=line.highest,
        mode=line.mode,
        check=line.with_check,
        by=f"gradcli {__version__}",
    )
    for name, text in texts.items():
        try:
            write_atomically(name, text.encode())
        except OSError as error:
            raise unwritable(f"`{name}`", error.strerror or os.strerror(error.errno or 0)) from None
    write_output("".join(f"{name}\n" for name in texts))
