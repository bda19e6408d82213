"""The differences from PyTorch that are on purpose: docs/kinks.md gives the reason for each by its
name.
"""

from __future__ import annotations

import math
import re
from typing import Any

from .answers import Facts
from .compare import Difference, same_value
from .program import Program

REFUSALS = (  # who refuses, what is said of it, and the name of the difference
    ("PyTorch", "derivative for .* is not implemented", "PyTorch has no derivative"),
    ("PyTorch", "Subtraction, the `-` operator, with a bool", "PyTorch has no derivative"),
    ("PyTorch", "some elements of the input tensor and the", "written from its own memory"),
    ("PyTorch", "function that returns multiple views", "one of several views"),
    ("gradcli", "several elements of this expanded tensor", "an expanded tensor is changed"),
    ("gradcli", "raised to a negative integer power", "an int to a negative power"),
)
CHANGED_DATA = re.compile(r"(?<!grad)\.data( [-+*/]=|\.\w+_\()")


def explained(program: Program, ours: Facts, theirs: Facts, found: Difference) -> str | None:
    """The name of the known difference that a difference is, or None."""
    for who, pattern, name in REFUSALS:
        if found.kind.startswith(f"{who} refuses"):
            facts = theirs if who == "PyTorch" else ours
            if re.search(pattern, facts[found.fact]["refused"]):
                return name
    derived = found.kind in {"gradient", "jvp", "hvp", "grad"}
    if (derived or "changed-in-place" in found.kind) and CHANGED_DATA.search(program.body):
        return "changed through data"
    if derived and same_value(*_where_numbers(found.gradcli, found.pytorch), program.rtol):
        return "nothing comes through"
    return None


def _where_numbers(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Two values without the elements for which PyTorch alone has nan."""
    if ours is None or theirs is None or ours[:2] != theirs[:2]:
        return ["", [], []], ["none", [], []]
    kept = [
        (a, b)
        for a, b in zip(ours[2], theirs[2], strict=True)
        if math.isnan(a) or not math.isnan(b)
    ]
    return [*ours[:2], [a for a, _ in kept]], [*theirs[:2], [b for _, b in kept]]
