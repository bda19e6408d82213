"""Write the page about each code: its meaning, a program that has it, and the corrected program.

`python tests explanations` writes docs/errors.md from explanations.toml, which describes its
fields.
"""

from __future__ import annotations

import os
import shlex
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any, NamedTuple

from support.processes.in_process import command

from gradcli.codes import CODES, GROUPS

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[2] / "docs" / "errors.md"
TABLE = tomllib.loads((HERE / "explanations.toml").read_text("utf-8"))
HEAD = """# Errors and warnings

This page explains the code of each error and warning, with a wrong program and its correction.
`gradcli explain CODE` shows one of these sections.
"""
DEEP = "x = -----…1  # thousands of them"


class Example(NamedTuple):
    """A program and how it is run."""

    program: str
    arguments: list[str]
    stdin: str

    @property
    def line(self) -> str:
        """The command line, as a person types it."""
        given = f"printf {self.stdin!r} | " if self.stdin else ""
        return f"{given}gradcli {shlex.join(self.arguments)}"

    @property
    def data(self) -> bytes:
        """The bytes of the program."""
        if self.program == DEEP:
            return f"x = {'-' * 20_000}1".encode()
        return self.program.encode("latin-1" if "Latin-1" in self.program else "utf-8")

    def run(self) -> tuple[int, str]:
        """Its exit status, and its output on both streams, in the current folder."""
        Path("p.grad").write_bytes(self.data)
        status, out, err = command(*self.arguments, stdin=self.stdin)
        return status, out + err


def example(fields: Mapping[str, Any], side: str) -> Example:
    """The wrong program or the corrected one."""
    more = [*shlex.split(fields.get("with", "")), *shlex.split(fields.get(f"{side}_with", ""))]
    arguments = [fields.get("command", "run"), "p.grad", *more]
    return Example(fields[side], arguments, fields.get("stdin", ""))


def said(code: str, text: str) -> str:
    """The first line of the message with a code."""
    return next((line for line in text.splitlines() if f"[{code}]" in line), "")


def section(code: str) -> str:
    """The page's section about a code."""
    fields, row = TABLE[code], CODES[code]
    meaning = f"{row.meaning[0].upper()}{row.meaning[1:]}."
    parts = [
        f"## {code}",
        *(fill(text, 100, break_on_hyphens=False) for text in (meaning, row.text)),
    ]
    if "why" in fields:
        return "\n\n".join([*parts, f"No program always has this code. {fields['why']}"]) + "\n"
    wrong, mended = example(fields, "wrong"), example(fields, "mended")
    message = "" if fields.get("varies") else said(code, wrong.run()[1])
    parts += ["Wrong:", _block(wrong, message), "Corrected:", _block(mended, "")]
    return "\n\n".join(parts) + "\n"


def _block(shown: Example, message: str) -> str:
    """A program, and its command line unless that is `gradcli run`."""
    lines = [f"```grad\n{shown.program}\n```"]
    plain = shown.arguments == ["run", "p.grad"] and not shown.stdin
    if message or not plain:
        lines.append("\n".join(["```text", f"$ {shown.line}", *filter(None, [message]), "```"]))
    return "\n\n".join(lines)


def page() -> str:
    """The whole page; its programs run in the current folder."""
    return "\n".join([HEAD, *(section(row.code) for rows in GROUPS.values() for row in rows)])


def main() -> None:
    """Write the page."""
    sys.modules["matplotlib"] = None  # type: ignore[assignment]  # one message is that it is missing
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
