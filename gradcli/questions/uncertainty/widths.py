"""Uncertainties of inputs as an option gives them: a number, per cent of the value, a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.questions.uncertainty.spreads import Spread, part_of, spread
from gradcli.questions.uncertainty.texts import suffixes
from gradcli.record import Record


class Width(Record):
    """The uncertainty of an input.

    Fields:
        text: As it is written: `0.1`, `2%`, `V_err`, `0.1:uniform`.
        column: The column that has it; "" for a number.
        number: The number, if there is no column.
        percent: True if it is in per cent of the value.
        like: Degrees of freedom and shape.
    """

    __slots__ = ("text", "column", "number", "percent", "like")
    text: str
    column: str
    number: float
    percent: bool
    like: Spread

    def of(self, name: str, given: Mapping[str, Given]) -> Spread:
        """The uncertainty of an input whose value, and the column, are given.

        Raises:
            InputError: If it is none.
        """
        number: Any = self.number
        origin = f"--uncertainty {name}={self.text}"
        if self.column:
            number, origin = given[self.column].value, str(given[self.column].origin)
        if self.percent:
            number = part_of(given[name].value, number) if name in given else None
        return spread(name, origin, number, self.like.dof, self.like.shape, self.like.degrees)


def width(text: str) -> Width:
    """The uncertainty in a text such as `0.1`, `2%`, `V_err` or `0.1:uniform`."""
    rest, dof, shape, degrees = suffixes(text)
    bare = rest.strip()
    percent = bare.endswith("%")
    bare = bare.removesuffix("%").strip()
    try:
        column, number = "", float(bare)
    except ValueError:
        column, number = bare, 0.0
    return Width(text, column, number, percent, Spread(0.0, dof, shape, degrees))
