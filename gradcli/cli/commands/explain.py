"""`gradcli explain`."""

from gradcli.cli.line.command import command
from gradcli.cli.line.options import MESSAGES, Line
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.shipped import explanation, show
from gradcli.cli.terminal.terminal import write_output
from gradcli.errors import nearest


@command("code", *MESSAGES)
def explain(line: Line) -> None:
    """Explain the code of a message with an example.

    Examples:
      gradcli explain
      gradcli explain shape-mismatch
    """
    from gradcli.codes import CODES, GROUPS

    if line.code is None:
        wide = max(map(len, CODES))
        for heading, rows in GROUPS.items():
            listed = "".join(f"  {row.code:{wide}}  {row.meaning}\n" for row in rows)
            write_output(f"{heading}\n{listed}")
        return
    code = line.code.strip("[]")
    if code not in CODES:
        hint = nearest(code, CODES) or "`gradcli explain` lists them"
        raise usage(f"there is no code `{line.code}`", hint)
    show(explanation(code), line.color)
