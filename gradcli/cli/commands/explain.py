"""`gradcli explain`."""

import re

from gradcli.cli.line.command import command
from gradcli.cli.line.options import MESSAGES, Line
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.shipped import explanation, show
from gradcli.cli.terminal.terminal import write_output
from gradcli.errors import nearest

MOST = 8
"""Codes that are listed for a word at most."""


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
        stem = re.escape(code.removesuffix("s"))
        word = re.compile(rf"\b{stem}s?\b", re.IGNORECASE)
        named = [c for c in CODES if word.search(c.replace("-", " "))]
        about = named + [c for c in CODES if c not in named and word.search(CODES[c].meaning)]
        listed = ", ".join(f"`{c}`" for c in about[:MOST])
        hint = nearest(code, CODES) or (listed and f"codes about it: {listed}")
        raise usage(f"there is no code `{line.code}`", hint or "`gradcli explain` lists them")
    show(explanation(code), line.color)
