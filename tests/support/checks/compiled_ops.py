"""Find out which operations compile, and how far code differs from the interpreter: `python tests
compiled_ops` writes docs/compiled_ops.md.

Each sample of each operation becomes a program. Each back end computes its gradient, tangents and
Hessian products, element by element if possible and with arrays. Differences are in units in the
last place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from itertools import groupby, product
from pathlib import Path
from typing import Any

import pytest
from support.programs.array_programs import samples
from support.programs.vector_programs import answer

from gradcli.engine.compile import backends
from gradcli.engine.compile.specialize.tracing import scalarized
from gradcli.errors import GradError
from gradcli.program import load
from gradcli.record import Record

PAGE = Path(__file__).parents[3] / "docs/compiled_ops.md"
HEAD = """# Which operations compile

Of each operation's sample programs on tensors ([ops.md](ops.md) says what the operations do): how many
become code, and by how many units in the last place code and the interpreter differ at most, in values,
gradients, tangents and products with Hessians; by Python code and by machine code, of arrays and, where
that can be, of their elements one by one. `python tests compiled_ops` measures it anew.

| operation | programs | compiled | largest difference | why not |
|---|---|---|---|---|
"""
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?|nan|inf")


class Found(Record):
    """The result for one program: the largest difference, or the reason why there is no code."""

    __slots__ = ("difference", "reason")
    difference: float
    reason: str


def rows(names: Collection[str] | None = None) -> Iterator[str]:
    """The lines of the table, for some operations or all."""
    wanted = (s for s in samples() if names is None or s[0] in names)
    for name, given in groupby(wanted, key=lambda s: s[0]):
        found = [f for _, *program in given if (f := measured(*program)) is not None]
        if found:
            compiled = sum(not f.reason for f in found)
            largest = max(f.difference for f in found)
            reason = next((f.reason for f in found if f.reason), "")
            yield f"| `{name}` | {len(found)} | {compiled} | {largest:g} | {reason} |\n"


def measured(text: str, given: Any, dots: Any) -> Found | None:
    """The result for one program; None if programs cannot name the operation."""
    try:
        program = load(text)
    except GradError:
        return None
    largest, reason = 0.0, ""
    for question in ("grad", "jvp", "hvp"):
        more = {} if question == "grad" else {"tangents": dots}
        run = answer(program, question, "never", given, **more)
        for most, has_library in product(
            (scalarized.MOST, 0), {False, backends.has_machine_code()}
        ):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(scalarized, "MOST", most)
                patch.setattr(backends, "has_machine_code", lambda has=has_library: has)
                code = answer(load(text), question, "always", given, **more)
            if "not-compilable" not in code:
                largest = max(largest, difference(run, code))
            elif not most:
                reason = code.partition("not compiled: ")[2].rstrip(">)").replace("|", "")
    return Found(largest, reason)


def difference(run: str, code: str) -> float:
    """The largest difference of the numbers in two texts in units in the last place; infinite if
    the texts differ otherwise.
    """
    if run == code:
        return 0.0
    if _NUMBER.sub("", run) != _NUMBER.sub("", code):
        return math.inf
    pairs = zip(_NUMBER.findall(run), _NUMBER.findall(code), strict=True)
    return max(abs(float(a) - float(b)) / math.ulp(float(a)) for a, b in pairs if a != b)


def page() -> str:
    """The whole page."""
    return HEAD + "".join(rows())


if __name__ == "__main__":
    PAGE.write_text(page())
