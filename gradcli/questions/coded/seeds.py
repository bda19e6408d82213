"""The directions that derivatives are taken along, and the weights of results, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.control import Left
from gradcli.engine.compile.passes.activity import go_through_rules
from gradcli.engine.compile.typed import Operand, Program, Value
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import NUMBERS
from gradcli.questions.coded.given import elements, whole


def units(count: int) -> list[float]:
    """The unit vectors of a space, one behind the other."""
    return [1.0 if i == k else 0.0 for i in range(count) for k in range(count)]


def columns(
    program: Program, points: Sequence[Value], results: Sequence[Operand]
) -> tuple[Sequence[Sequence[Value]], list[float]]:
    """The directions of the matrix of some results by columns: what each of them moves, and how.
    Those through a rule of the program's own go one at a time.
    """
    if go_through_rules(program, points, results):
        return [[point] for point in points], [1.0] * len(points)
    return [points] * len(points), units(len(points))


def numbers_of(given: Any, shape: tuple[int, ...], *, is_whole: bool) -> list[Any]:
    """A direction for a tensor, as inputs of the code: its elements, or one array if `is_whole`.

    Raises:
        Left: If they are not of its shape, which the interpreter tells.
    """
    if not shape:
        return [_number(given)]
    value = value_of(given)
    found = whole(value, "float64", shape) if is_whole else elements(value, shape)
    if found is None:
        raise Left("a direction is of another shape")
    return [found] if is_whole else [*map(float, found)]


def value_of(given: Any) -> Any:
    """The value of a weight or direction, without its origin."""
    return given.value if isinstance(given, Given) else given


def _number(given: Any) -> float:
    """A number that is given for a weight or direction."""
    value = value_of(given)
    if type(value) not in NUMBERS:
        raise Left("a weight or direction is not a single number")
    return float(value)
