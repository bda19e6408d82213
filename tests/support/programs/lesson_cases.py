"""Programs with the output that PyTorch and NumPy print for them, in text files.

A case begins with `### name`. Its program follows, then its output, each line after `#> `; `#!
refused` marks a program that is refused.
"""

from __future__ import annotations

from pathlib import Path

REFUSED = "#! refused"


class Case:
    """A program and its output."""

    def __init__(self, name: str, program: str, printed: list[str], refused: bool) -> None:
        self.name = name
        self.program = program
        self.printed = printed
        self.refused = refused

    def text(self) -> str:
        """The case as written in its file."""
        printed = "".join(f"#> {line}".rstrip() + "\n" for line in self.printed)
        return (
            f"### {self.name}\n{self.program}{printed}{REFUSED + chr(10) if self.refused else ''}"
        )


def read(path: Path) -> list[Case]:
    """The cases of a file."""
    found = []
    for part in ("\n" + path.read_text("utf-8")).split("\n### ")[1:]:
        name, *lines = part.rstrip("\n").split("\n")
        program = [line for line in lines if not line.startswith(("#>", REFUSED))]
        printed = [line[3:] for line in lines if line.startswith("#>")]
        code = "\n".join(program).rstrip() + "\n"
        found.append(Case(name, code, printed, REFUSED in lines))
    return found
