"""A function at one point after another for the same records, whose columns are prepared once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError
from gradcli.questions.asked.sizes import Shape, split


class Over:
    """Value and derivatives at a point for each of many records. `Function.over` makes it.

    Args:
        function: The function.
        width: How many numbers a point has.
        data: The values of the other inputs, or columns of them.

    Raises:
        InputError: If the data do not fit.
        ProgramError: If there can be no code for them.
    """

    def __init__(self, function: Any, width: int, data: Mapping[str, Data]) -> None:
        self._function = function
        self._shapes = function.shapes(function.sizes(data), (width,))
        self._columns = broadcast(data, self._shapes)
        self._code = function.code(
            self._shapes, {n: x for n, x in data.items() if x.ndim == len(self._shapes[n])}
        )
        self._at = self._code.over(self._columns)

    def __call__(self, point: Data) -> Any:
        """Value and derivatives, of each record in a row.

        Raises:
            GradError: As of `Program.grad`, at the first record at which the program fails.
        """
        found, left = self._at(point)
        if left.any():
            moved = split(point, self._function.names, self._shapes)
            for i in np.flatnonzero(left).tolist():
                row = {name: column[i] for name, column in self._columns.items()}
                found[i] = self._function.interpreted({**moved, **row}, self._code)
        return self._code.answer(found)


def broadcast(columns: Mapping[str, Data], shapes: Mapping[str, Shape]) -> dict[str, Data]:
    """Columns of one length, from values that may be one for all records.

    Raises:
        InputError: If they have several lengths.
    """
    heads = [c.shape[: c.ndim - len(shapes[n])] for n, c in columns.items()]
    try:
        (count,) = np.broadcast_shapes(*heads)
    except ValueError:
        listed = ", ".join(f"{n} {[*column.shape]}" for n, column in columns.items())
        message = f"the arguments are of no one number of points: {listed}"
        raise InputError(Diagnostic("shape-mismatch", message)) from None
    return {n: np.broadcast_to(c, (count, *shapes[n])) for n, c in columns.items()}
