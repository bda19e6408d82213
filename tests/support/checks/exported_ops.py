"""Find out which operations have source code: `python tests exported_ops` writes docs/exported_ops.md.

Each sample of each operation becomes a program of which C gives the value and the gradient. The
interpreter's digits are those of NumPy's functions where an argument is a tensor, and those of the C
library where all are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from support.checks.exported_c import called, library
from support.programs.array_programs import every_sample

from gradcli.engine.compile.export.languages import c
from gradcli.errors import GradError
from gradcli.program import Options, load
from gradcli.questions.asked.request import request
from gradcli.questions.exported.export import written

PAGE = Path(__file__).parents[3] / "docs/exported_ops.md"
HEAD = """# Which operations have source code

Of each operation's sample programs ([ops.md](ops.md) says what the operations do): how many
[export](export.md) writes as C with their gradient, and why not the others. `python tests exported_ops`
finds it out anew. Every program that is written is compiled and called. Where all arguments are numbers
its digits are the interpreter's. Where one is a tensor they may differ in the last places, since NumPy has
functions and orders of addition of its own.

| operation | programs | written as C | why not |
|---|---|---|---|
"""
_BATCH = 200  # programs that are compiled together
_OPTIONS = Options(compile="never")


class Case:
    """A sample's program.

    Fields:
        op: the operation.
        text: the program.
        is_of_numbers: True if no input is a tensor.
        reason: why it has no source code; empty if it has.
        expected: gradcli's value and gradient; None if it has none, or they are not finite.
        found: those of C; None if the function refuses.
    """

    def __init__(self, op: str, text: str, given: dict[str, Any], name: str) -> None:
        self.op, self.text, self.reason, self.found = op, text, "", None
        self.is_of_numbers = not any(map(np.ndim, given.values()))
        self.program, self.given = load(text), given
        self.expected = self._expected()
        self.unit = None
        if self.expected is not None:
            asked = request(given, {})
            try:
                self.unit = written(self.program.loaded, asked, [], 1, name, c.RESERVED)
            except GradError as error:
                self.reason = error.diagnostics[0].message.partition("source code: ")[2]

    def _expected(self) -> list[float] | None:
        try:
            found = self.program.grad(self.given, options=_OPTIONS)
        except GradError:
            return None
        numbers = [found.value, *(float(x) for g in found.grad.values() for x in np.ravel(g))]
        return numbers if all(map(math.isfinite, numbers)) else None

    @property
    def files(self) -> dict[str, str]:
        """The C file and its header."""
        assert self.unit is not None
        head = f"{self.unit.name}.h"
        return {f"{self.unit.name}.c": c.source(self.unit, "0", head),
                head: c.header(self.unit, "0", head)}  # fmt: skip

    def call(self, loaded: Any) -> None:
        """Call the function."""
        status, found = called(loaded, self.unit, self.given)
        if status == 0:
            self.found = [x for o in found.values() for x in o.tolist()]

    @property
    def difference(self) -> float:
        """The largest difference in units in the last place of the largest number."""
        if self.found is None or len(self.found) != len(self.expected):
            return math.inf
        unit = math.ulp(max(1.0, *map(abs, self.expected)))
        return max(abs(a - b) / unit for a, b in zip(self.found, self.expected, strict=True))


def cases(names: Collection[str] | None = None) -> list[Case]:
    """The samples of some operations or all that have a finite gradient, with what C gives."""
    found: list[Case] = []
    for k, (name, text, given, _) in enumerate(every_sample()):
        if names is None or name in names:
            try:
                found.append(Case(name, text, given, f"f{k}"))
            except GradError:
                continue  # programs cannot name the operation
    found = [case for case in found if case.expected is not None]
    have = [case for case in found if case.unit is not None]
    for first in range(0, len(have), _BATCH):
        part = have[first : first + _BATCH]
        with TemporaryDirectory() as folder:
            files = {name: text for case in part for name, text in case.files.items()}
            loaded = library(Path(folder), files, ["-O0", "-fno-builtin"])
            for case in part:
                case.call(loaded)
    return found


def rows(found: list[Case]) -> Iterator[str]:
    """The lines of the table."""
    for name, several in groupby(found, key=lambda case: case.op):
        group = [*several]
        reason = next((case.reason.replace("|", "") for case in group if case.reason), "")
        count = sum(case.unit is not None for case in group)
        yield f"| `{name}` | {len(group)} | {count} | {reason} |\n"


if __name__ == "__main__":
    PAGE.write_text(HEAD + "".join(rows(cases())))
