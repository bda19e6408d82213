"""One input: a command line with what it reads."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from gradcli.record import Record


class Case(Record):
    """A command line.

    Fields:
        kind: Which writer wrote it.
        argv: Its arguments, without `gradcli`.
        stdin: Standard input.
        files: The files of its folder by name.
    """

    __slots__ = ("kind", "argv", "stdin", "files")
    kind: str
    argv: tuple[str, ...]
    stdin: bytes
    files: Mapping[str, bytes]

    def __init__(
        self,
        kind: str,
        argv: tuple[str, ...],
        stdin: bytes = b"",
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        self.kind = kind
        self.argv = argv
        self.stdin = stdin
        self.files = files or {}

    def __str__(self) -> str:
        """All that it takes to run it again."""
        lines = [f"{name} = {data!r}" for name, data in self.files.items()]
        lines += [f"stdin = {self.stdin!r}"] if self.stdin else []
        return "\n".join([*lines, shlex.join(["gradcli", *self.argv])])
