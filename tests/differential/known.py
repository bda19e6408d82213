"""The differences from PyTorch that are on purpose; docs/kinks.md has the reasons."""

from __future__ import annotations

import re

from .answers import Facts
from .compare import Difference
from .program import Program

PYTORCH_HAS_NO = "PyTorch has no derivative"
OVERLAP = "written from its own memory"
REFUSED_BY_PYTORCH = (
    (re.compile(r"derivative for .* is not implemented"), PYTORCH_HAS_NO),
    (re.compile(r"Subtraction, the `-` operator, with a bool tensor"), PYTORCH_HAS_NO),
    (re.compile(r"unsupported operation: some elements of the input tensor and the"), OVERLAP),
)


def explained(program: Program, ours: Facts, theirs: Facts, found: Difference) -> str | None:
    """The name of the known difference that a difference is, or None."""
    if found.kind.startswith("PyTorch refuses"):
        why = theirs[found.fact]["refused"]
        for pattern, name in REFUSED_BY_PYTORCH:
            if pattern.search(why):
                return name
    return None
