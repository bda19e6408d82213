"""Limits on what a program may ask for."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gradcli.errors import Diagnostic, LimitError

_ITEM = 8  # bytes of a float64


def check_memory(size: Sequence[int]) -> None:
    """Refuse a tensor that cannot fit into the machine's memory, before it is made.

    Raises:
        LimitError: If it cannot.
    """
    count = 1
    for n in size:
        count *= n
    if count < 1 << 24:
        if not count:
            check_strides(size)
        return
    limit = _memory()
    if count * _ITEM > limit:
        raise LimitError(
            Diagnostic(
                "memory-limit",
                f"a tensor of size {list(size)} needs {_human(count * _ITEM)} of memory, and there "
                f"are {_human(limit)}",
            )
        )


def check_strides(size: Sequence[int]) -> None:
    """Refuse a tensor that has more elements than an index can count, though it takes no memory."""
    count = 1
    for n in size:
        count *= max(n, 1)
    if count >= 1 << 59:
        raise LimitError(
            Diagnostic("memory-limit", f"a tensor of size {list(size)} has too many elements")
        )


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not told on this system
        return 1 << 40


def _human(count: float) -> str:
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while count >= 1024 and len(units) > 1:
        count /= 1024
        del units[0]
    return f"{count:.3g} {units[0]}"
