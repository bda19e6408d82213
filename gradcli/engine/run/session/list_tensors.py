"""Lists of the program as tensors: their numbers, and why a list cannot become one."""

from __future__ import annotations

from typing import Any

from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import NUMBERS, np
from gradcli.engine.values.limits import check_memory
from gradcli.errors import RunError, run_error


def of_numbers(value: list[Any] | tuple[Any, ...]) -> Tensor | None:
    """The tensor of a list of numbers, or of such lists; None if anything else is in it.

    Raises:
        RunError: If its rows are not of one shape, or an int is outside 64 bits.
        LimitError: If it is too large.
    """
    count = _numbers_in(value)
    if count is None:
        return None
    check_memory((count,))
    return Tensor(_array(value))


def from_outside(value: Any) -> Any:
    """A list of plain data as a tensor; any other value unchanged.

    Raises:
        RunError: If the list holds anything but numbers, or its rows are not of one shape.
    """
    if type(value) is not list:
        return value
    made = of_numbers(value)
    if made is None:
        raise ragged(value)
    return made


def _numbers_in(value: Any) -> int | None:
    """The number of numbers in nested lists; None if there is anything else."""
    count = 0
    seen: set[int] = set()
    level = {id(value): (value, 1)}  # each list that stands there, and how often
    while level:
        if not seen.isdisjoint(level):
            raise ragged(value)
        seen.update(level)
        inner: dict[int, tuple[Any, int]] = {}
        for listed, times in level.values():
            for item in listed:
                if isinstance(item, (list, tuple)):
                    before = inner.get(id(item), (item, 0))[1]
                    inner[id(item)] = item, before + times
                elif type(item) in NUMBERS:
                    count += times
                else:
                    return None
        level = inner
    return count


def _array(value: list[Any] | tuple[Any, ...]) -> Any:
    try:
        found = np.array(value)
    except ValueError as error:
        from gradcli.engine.values.refusals import too_many_dimensions

        raise too_many_dimensions(error) or ragged(value) from None
    except OverflowError:
        raise _overflow() from None
    if found.dtype.kind == "u":  # NumPy's type for ints of 2**63 and more
        raise _overflow()
    if found.dtype == object:
        large = any(type(item) is int and abs(item) >= 2**63 for item in found.flat)
        raise _overflow() if large else ragged(value)
    return found.astype(np.float64) if found.size == 0 else found


def _overflow() -> RunError:
    return run_error("integer-overflow", "an int in the list is outside 64 bits")


def ragged(value: list[Any] | tuple[Any, ...]) -> RunError:
    """The error for a list that cannot become a tensor."""
    for item in value:
        if type(item) not in NUMBERS and not isinstance(item, (list, tuple, Tensor)):
            return run_error(
                "wrong-type",
                f"{kind_of(item)} in a list cannot become part of a tensor",
            )
    first, *others = dict.fromkeys(map(_row_of, value))
    found = f"{first} and {others[0]}" if others else f"{first} in each place, not all alike"
    return run_error(
        "ragged-list", f"a list becomes a tensor only if its rows are of one shape, got {found}"
    )


def _row_of(item: Any) -> str:
    """The name of an item of a list in a message about rows."""
    return f"{kind_of(item)} of {len(item)}" if isinstance(item, (list, tuple)) else kind_of(item)
