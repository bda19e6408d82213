"""The warning about a value outside of the bounds that the program declares for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic
from gradcli.questions.asked.loaded import Loaded


def outside(loaded: Loaded, given: Mapping[str, Given]) -> Iterator[Diagnostic]:
    """A warning for each given value that is outside of its bounds."""
    for name, bounds in loaded.bounded.items():
        if name not in given or first_outside(given[name].value, bounds, 0) is None:
            continue
        i = next(i for i in loaded.program.inputs if i.name == name)
        low, high = bounds
        message = f"`{name}` is outside of its bounds [{low}, {high}]"
        notes = (f"given as {given[name].origin}",)
        yield Diagnostic(
            "outside-bounds", message, loaded.source, i.span, notes=notes, severity="warning"
        )


def first_outside(values: Any, bounds: tuple[Any, Any], axes: int = 1) -> int | None:
    """The first of many values, which lie along the first axis, that has an element outside of the
    bounds; with `axes` 0 a single value, whose place is 0. None if there is none, or if the values
    have not the shape of the bounds.
    """
    try:
        found = np.asarray(values, np.float64)
        low, high = (np.asarray(end, np.float64) for end in bounds)
        wrong = (found < low) | (found > high)
    except (TypeError, ValueError):
        return None  # a run tells what is wrong
    where = np.flatnonzero(wrong.reshape(len(wrong), -1).any(1) if axes else wrong.any())
    return int(where[0]) if len(where) else None
