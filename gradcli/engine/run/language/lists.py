"""Lists under `+` and `*`: Python's joining and repeating, or the arithmetic of the tensors that
lists of numbers are. Each function gives None where arithmetic is meant.
"""

from __future__ import annotations

from typing import Any

from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.engine.values.data import NUMBERS
from gradcli.engine.values.limits import check_items

ADDED = (
    "`+` of two lists of numbers adds their items; Python joins the lists",
    "`tensor(a) + b` adds, `[] + a + b` joins",
)
MULTIPLIED = (
    "`*` of a list of numbers and an int multiplies the items; Python repeats them",
    "`tensor(a) * n` multiplies, `([] + a) * n` repeats",
)
SCALED = (
    "`*` of a list and a float multiplies the items; it takes an int to repeat them",
    "`tensor(a) * n` multiplies, `a * int(n)` repeats",
)
"""Warnings about arithmetic that a reader of Python may misread, each with the ways to write either
meaning.
"""

_SCALARS = NUMBERS | {Number}


def joined(session: Session, x: Any, y: Any, site: Site | None) -> list[Any] | None:
    """`x + y` of two lists. None if the op adds them instead."""
    if type(x) is not list or type(y) is not list:
        return None
    if _of_numbers(x) and _of_numbers(y):
        session.output.warn("list-arithmetic", *ADDED, site)
        return None
    return _together(x, y)


def joined_as_written(session: Evaluator, x: Any, y: Any, site: Site | None) -> list[Any] | None:
    """`x + y` with a list literal. None if the op adds the two instead."""
    return _together(x, y) if type(x) is list and type(y) is list else None


def extended(session: Evaluator, x: Any, y: Any, site: Site | None) -> list[Any] | None:
    """`x += y` of a list: it grows in place. None if the op adds instead."""
    if type(x) is not list or isinstance(y, Tensor) or type(y) in NUMBERS:
        return None
    more = session.items(y)
    check_items(len(x) + len(more))
    x.extend(more)
    return x


def repeated(session: Session, x: Any, y: Any, site: Site | None) -> list[Any] | None:
    """`x * y` of a list and a count. None if the op multiplies instead."""
    items, count = (x, y) if type(x) is list else (y, x)
    if type(count) is not int and type(count) is not bool:
        return None
    if _of_numbers(items):
        session.output.warn("list-arithmetic", *MULTIPLIED, site)
        return None
    return _times(items, count)


def repeated_as_written(session: Session, x: Any, y: Any, site: Site | None) -> list[Any] | None:
    """`x * y` with a list literal. None if the op multiplies instead."""
    items, count = (x, y) if type(x) is list else (y, x)
    if type(items) is list and (type(count) is int or type(count) is bool):
        return _times(items, count)
    number = count.data if isinstance(count, Number) else count
    if type(number) is float and number.is_integer():  # perhaps meant as a count
        session.output.warn("list-arithmetic", *SCALED, site)
    return None


def repeated_in_place(session: Session, x: Any, y: Any, site: Site | None) -> list[Any] | None:
    """`x *= y` of a list: it changes in place. None if the op multiplies instead."""
    found = repeated(session, x, y, site)
    if found is None or type(x) is not list:
        return found
    x[:] = found
    return x


def _together(x: list[Any], y: list[Any]) -> list[Any]:
    check_items(len(x) + len(y))
    return x + y


def _times(items: list[Any], count: int) -> list[Any]:
    check_items(len(items) * max(count, 0))
    return items * count


def _of_numbers(items: list[Any]) -> bool:
    return bool(items) and all(type(item) in _SCALARS for item in items)
