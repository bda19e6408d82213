"""The table of wrong inputs, bad_inputs.toml: the input, and its refusal."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_suffix(".toml")


class BadInput(NamedTuple):
    """A command line that is refused.

    Fields:
        name: A description of the fault.
        argv: The command line without `gradcli`.
        status: The exit status.
        says: The first line on standard error.
        shows: Texts further down, such as the help.
        stdin: Standard input.
        files: Files of the working folder by name.
    """

    name: str
    argv: tuple[str, ...]
    status: int
    says: str
    shows: tuple[str, ...]
    stdin: bytes
    files: dict[str, bytes]

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        for name, data in self.files.items():
            (folder / name).write_bytes(data)


def bad_inputs() -> list[BadInput]:
    """The rows of the table. One with a `program` and no `argv` runs it as `p.grad`; `bytes` are
    files in hexadecimal.
    """
    return [_read(row) for row in tomllib.loads(TABLE.read_text("utf-8"))["input"]]


def _read(row: dict[str, object]) -> BadInput:
    fields = dict(row)
    program = fields.pop("program", None)
    files = {name: text.encode() for name, text in fields.pop("files", {}).items()}
    files |= {name: bytes.fromhex(text) for name, text in fields.pop("bytes", {}).items()}
    if program is not None:
        files["p.grad"] = program.encode()
    return BadInput(
        argv=tuple(fields.pop("argv", ("run", "p.grad"))),
        shows=tuple(fields.pop("shows", ())),
        stdin=fields.pop("stdin", "").encode(),
        files=files,
        **fields,
    )
