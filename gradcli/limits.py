"""Limits on steps, time, memory and depth of a run, and their texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gradcli.record import Record

MOST_CALLS = 1000  # how deeply functions may call each other, if nobody says otherwise
DEEPEST = 10_000  # what anybody may say: Python's own stack bears no more in each case
SHARE = 0.8  # of the memory that is free, if nobody says otherwise


class Limits(Record):
    """The most that one run of a program may take.

    Fields:
        steps: Turns of loops and calls of its functions; None: any number.
        seconds: The time of a question, derivatives included; None: any.
        memory: Bytes of values and recorded graph together; a float is the share of what the
            machine has free.
        depth: Calls within each other.
    """

    __slots__ = ("steps", "seconds", "memory", "depth")
    steps: int | None
    seconds: float | None
    memory: int | float
    depth: int

    def __init__(
        self,
        steps: int | None = None,
        seconds: float | None = None,
        memory: int | float = SHARE,
        depth: int = MOST_CALLS,
    ) -> None:
        self.steps = steps
        self.seconds = seconds
        self.memory = memory
        self.depth = depth

    def among(self, count: int) -> Limits:
        """The limits of one of `count` processes that share the free memory."""
        memory = self.memory if type(self.memory) is int else self.memory / count
        return Limits(self.steps, self.seconds, memory, self.depth)

    def patient(self, seconds: float) -> Limits:
        """The limits with at least so much time."""
        most = None if self.seconds is None else max(self.seconds, seconds)
        return Limits(self.steps, most, self.memory, self.depth)

    def measured(self, free: int) -> Limits:
        """The limits with a number of bytes in place of a share of `free` bytes."""
        memory = self.memory if type(self.memory) is int else int(self.memory * free)
        return Limits(self.steps, self.seconds, memory, self.depth)


DEFAULT = Limits()
SAFE = Limits(10**7, 10.0, 512 * 2**20, MOST_CALLS)
"""For programs from strangers."""

VARIABLES = {
    "steps": "GRADCLI_MAX_STEPS",
    "seconds": "GRADCLI_TIME_LIMIT",
    "memory": "GRADCLI_MAX_MEMORY",
    "depth": "GRADCLI_MAX_DEPTH",
}
"""The variable of the environment that sets each limit."""

OPTIONS = {
    "steps": "--max-steps",
    "seconds": "--time-limit",
    "memory": "--max-memory",
    "depth": "--max-depth",
}
"""The option that sets each limit."""


def time_reached(seconds: float) -> str:
    """The message of a limit on time."""
    return f"the time limit of {seconds:g} s is reached"


def memory_reached(most: float) -> str:
    """The message of a limit on memory, in bytes."""
    return f"the run takes more than the allowed {human(most)} of memory"


def human(count: float) -> str:
    """A number of bytes as people read it."""
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while abs(count) >= 1024 and len(units) > 1:
        count /= 1024
        del units[0]
    return f"{count:.3g} {units[0]}"


def count(text: str) -> int:
    """A whole number from 1 on: `1000`, `10_000`, `1e7`.

    Raises:
        ValueError: If it is none; the message says what is.
    """
    written = re.fullmatch(r"(\d{1,3}(?:_?\d{1,3}){0,5})(?:e(\d{1,2}))?", text.strip().lower())
    found = 0 if written is None else int(written[1]) * int(10.0 ** int(written[2] or 0))
    if found > 0:
        return found
    raise ValueError("a whole number from 1 on, as `1000` or `1e7`")


def depth(text: str) -> int:
    """A number of nested calls: `500`, `1_000`.

    Raises:
        ValueError: If it is none, or too large; the message says what is right.
    """
    found = count(text)
    if found > DEEPEST:
        raise ValueError(f"a whole number up to {DEEPEST}")
    return found


_SECONDS = {"ms": 0.001, "": 1.0, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """A time: `10`, `0.5`, `500ms`, `2min`, `1h`; without a unit it is seconds.

    Raises:
        ValueError: If it is none; the message says what is.
    """
    number, unit = _split(text)
    found = number * _SECONDS.get(unit, 0.0)
    if found <= 0:
        raise ValueError("a time above 0, as `10`, `0.5`, `500ms` or `2min`")
    return min(found, 1e9)


_BYTES = {"": 1, "b": 1}
for _i, _letter in enumerate("kmgt", 1):
    _BYTES |= {_letter: 1024**_i, f"{_letter}ib": 1024**_i, f"{_letter}b": 1000**_i}


def size(text: str) -> int | float:
    """A size of memory in bytes: `512MiB`, `2G` (1024 a step, as `GiB`), `500MB` (1000 a step), or
    `80%` of what is free, which is a float.

    Raises:
        ValueError: If it is none; the message says what is.
    """
    number, unit = _split(text)
    if unit == "%" and 0 < number <= 100:
        return number / 100
    found = number * _BYTES.get(unit, 0)
    if found < 1:
        raise ValueError("a size, as `512MiB`, `2G` or `80%` of what is free")
    return int(min(found, 2.0**62))


def _split(text: str) -> tuple[float, str]:
    """A number and its unit, in small letters; 0 where there is no number."""
    found = re.fullmatch(r"\s*(\d[\d_]*\.?\d*|\.\d+)\s*([a-zA-Z%]*)\s*", text)
    if found is None:
        return 0.0, ""
    return float(found[1].replace("_", "")), found[2].lower()


_READ: dict[str, Any] = {"steps": count, "seconds": seconds, "memory": size, "depth": depth}


def chosen(
    given: Mapping[str, str | None], environment: Mapping[str, str], *, safe: bool
) -> Limits:
    """The limits of a command line: what its options say counts most, then `--safe`, then the
    environment.

    Args:
        given: Texts of options by field, None for one that is not there.
        environment: Texts by the names in `VARIABLES`; an empty one says nothing.
        safe: Whether those for programs from strangers are asked for.

    Raises:
        ValueError: If a text is no limit; the message names the option or variable.
    """
    found = {}
    for field, read in _READ.items():
        text, name = given.get(field), OPTIONS[field]
        if text is None and not safe:
            text, name = environment.get(VARIABLES[field]) or None, VARIABLES[field]
        if text is None:
            found[field] = getattr(SAFE if safe else DEFAULT, field)
            continue
        try:
            found[field] = read(text)
        except ValueError as error:
            raise ValueError(f"`{text}` in `{name}` is not {error}") from None
    return Limits(**found)
