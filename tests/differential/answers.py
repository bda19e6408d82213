"""What is told about a program, the same by gradcli and by PyTorch: facts by name.

A value is [dtype, shape, its elements in a row]; a list is ["list", its items]. A question that is
refused has the fact {"refused": why}; "run" refused means that there are no others. "bug" holds
what is neither an answer nor a refusal.
"""

from __future__ import annotations

from typing import Any

Facts = dict[str, Any]


def listed(items: Any) -> list[Any] | None:
    """A list or tuple as a fact, if all of its items are values."""
    found = list(items)
    return None if None in found else ["list", found]


def is_refusal(fact: Any) -> bool:
    """Whether a fact tells that a question was refused."""
    return isinstance(fact, dict) and "refused" in fact


def is_float(fact: Any) -> bool:
    """Whether a fact is a floating value, which has derivatives."""
    return isinstance(fact, list) and str(fact[0]).startswith("float")
