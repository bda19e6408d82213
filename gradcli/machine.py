"""Facts about the machine: memory, the memory of this process, and processors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_UNKNOWN = 1 << 40
_PAGE = 4096


def resident(process: int | str = "self") -> int:
    """Bytes of memory that a process holds, without those of files, which the system can read
    again, as the code of libraries; 0 where the system does not tell.
    """
    try:
        with open(f"/proc/{process}/statm", "rb", buffering=0) as file:
            _, held, of_files, *_ = file.read(200).split()
            return (int(held) - int(of_files)) * _page()
    except (OSError, IndexError, ValueError):
        return 0


def free(root: Path = Path("/")) -> int:
    """Bytes of memory that this process may still take: what the machine has available, or what is
    left of the least limit of the control groups that it is in (of both versions).

    Args:
        root: Where the system tells it, under `proc` and `sys`.
    """
    return min(_available(root / "proc/meminfo"), *_groups(root), _UNKNOWN)


def _available(file: Path) -> int:
    for line in _lines(file):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:
        return _page() * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not told on this system
        return _UNKNOWN


def _groups(root: Path) -> Iterator[int]:
    """The memory that each control group of the process still allows, from its own upwards."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            base, most, used = root / "sys/fs/cgroup", "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            base = root / "sys/fs/cgroup/memory"
            most, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        folder = base / group.lstrip("/")
        for at in (folder, *folder.parents):
            limit, held = _number(at / most), _number(at / used)
            if limit is not None and held is not None:
                yield max(limit - held + _cached(at / "memory.stat"), 0)
            if at == base:
                break


def _cached(file: Path) -> int:
    """Bytes of files that a group keeps in memory and gives up when it is asked."""
    for line in _lines(file):
        name, _, number = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file") and number.isdigit():
            return int(number)
    return 0


def _number(file: Path) -> int | None:
    """The number in a file; None where there is none, as for `max`."""
    text = next(iter(_lines(file)), "")
    return int(text) if text.isdigit() else None


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text("ascii").splitlines()
    except (OSError, ValueError):
        return []


def _page() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return _PAGE


THREADS = "GRADCLI_NUM_THREADS"
"""The variable of the environment that says how many threads do a large product, or a loop over
long vectors: a number, or "all" for one on each processor. One where it says nothing.
"""


def processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
