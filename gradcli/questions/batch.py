"""A question at many values of some inputs, whose answers are one with an axis more in front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, GradError, InputError, UsageError
from gradcli.questions.coded.repeated import MARKS, placed
from gradcli.questions.table import floats
from gradcli.results import Derivative, Place

if TYPE_CHECKING:
    from gradcli.questions.asked.request import Options

_FIRST, _MOST = 16, 1 << 16  # values that are answered together: at first, and at most


class Batch:
    """A question at many values.

    Args:
        program: The program.
        name: The question: a method whose answer is a `Derivative`.
        given: Values that are the same for all.
        columns: Lists or arrays by name, with an item for each value.
        options: How to run.
        arguments: What else the method is asked.
    """

    def __init__(
        self,
        program: Any,  # which imports this module
        name: str,
        given: Mapping[str, Any],
        columns: Mapping[str, Sequence[Any]],
        options: Options,
        arguments: Mapping[str, Any],
    ) -> None:
        self._program, self._name, self._given = program, name, given
        self._columns, self._options, self._arguments = columns, options, arguments
        self._printed: list[str] = []
        self._warnings: dict[tuple[str, str], Diagnostic] = {}

    def answer(self) -> Derivative:
        """The answer to all. Its arrays have an axis of the values in front.

        Raises:
            InputError: If the columns differ in length, or answers in shape.
            GradError: As of the question, with the number of the value.
        """
        lengths = {name: _length(name, column) for name, column in self._columns.items()}
        count = max(lengths.values(), default=0)
        if not count:
            raise UsageError(Diagnostic("usage", "there are no values to ask at"))
        if {*lengths.values()} != {count}:
            said = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise InputError(Diagnostic("shape-mismatch", f"the values differ in number: {said}"))
        self._arrays = {name: _array(column) for name, column in self._columns.items()}
        parts: list[Any] = []
        start, size = 0, _FIRST
        while start < count:
            end = min(start + size, count)
            parts += self._together(start, end) or self._one_by_one(range(start, end))
            start, size = end, min(2 * size, _MOST)
        whole = _joined(parts)
        printed, warnings = tuple(self._printed), tuple(self._warnings.values())
        others = {"printed": printed, "warnings": warnings}
        kept = {name: getattr(self._like, name) for name in self._like._fields}
        return type(self._like)(**{**kept, **others, **whole})

    def _together(self, start: int, end: int) -> list[Any]:
        """The answers at some values by code, in one part; none if there is no code."""
        columns = {name: x if x is None else x[start:end] for name, x in self._arrays.items()}
        if any(x is None for x in columns.values()):
            return []
        given = {**self._given, **self._values(start)}
        many = self._program.many(self._name, given, options=self._options, **self._arguments)
        found = None if many is None else many.arrays(columns)
        if many is None or found is None:
            return []
        results, left = found
        marked = [[place + mark for place in range(len(many.types))] for mark in MARKS]
        one, other = map(many.result, marked)
        self._heard(one, start)
        fields = _columns(placed(_fields(one), _fields(other)), results, end - start)
        if not left:
            return [fields]
        parts, at = [], 0
        for k in left:  # which have answers of their own between those before and behind
            parts += [_cut(fields, at, k), *self._one_by_one([start + k])]
            at = k + 1
        return [*parts, _cut(fields, at, end - start)]

    def _one_by_one(self, numbers: Sequence[int]) -> list[Any]:
        return [_items(_fields(self._at(k))) for k in numbers]

    def _at(self, k: int) -> Derivative:
        """The answer at one value."""
        ask = getattr(self._program, self._name)
        try:
            found: Derivative = ask(
                {**self._given, **self._values(k)}, options=self._options, **self._arguments
            )
        except GradError as error:
            for said in error.diagnostics[:1]:
                said.notes = (*said.notes, _place(k))
            raise
        self._heard(found, k)
        return found

    def _values(self, k: int) -> dict[str, Any]:
        return {name: column[k] for name, column in self._columns.items()}

    def _heard(self, found: Derivative, k: int) -> None:
        """Keep what an answer says beside its numbers: a warning once, with its first value."""
        self._like = found
        self._printed += found.printed
        for warning in found.warnings:
            key = warning.code, warning.message
            if key not in self._warnings:
                warning.notes = (*warning.notes, f"first {_place(k)}")
                self._warnings[key] = warning


def _place(k: int) -> str:
    return f"at number {k} of the values, counted from 0"


def _length(name: str, column: Any) -> int:
    try:
        return len(column)
    except TypeError:
        message = f"`{name}` needs a list with an item for each value, got one item"
        raise InputError(Diagnostic("bad-input", message)) from None


def _array(column: Any) -> Data | None:
    """A column as an array of floats; None if it is none."""
    try:
        return floats(np.asarray(column))
    except ValueError:  # lists of several lengths
        return None


def _fields(found: Derivative) -> dict[str, Any]:
    return {"value": found.value, **found.answer}


def _columns(fields: Any, results: Sequence[Data], count: int) -> Any:
    """The fields of many answers: arrays of the results at the places in the fields of one."""
    if isinstance(fields, dict):
        return {name: _columns(part, results, count) for name, part in fields.items()}
    if isinstance(fields, str):
        return fields
    leaves = [*_leaves(fields)]
    several = [results[x] if type(x) is Place else np.full(count, x) for x in leaves]
    found = np.stack(several, -1) if several else np.zeros((count, 0))
    return found.reshape(count, *np.shape(fields))


def _leaves(value: Any) -> Sequence[Any]:
    return [x for part in value for x in _leaves(part)] if isinstance(value, list) else [value]


def _items(fields: Any) -> Any:
    """The fields of one answer, with an axis of one in front."""
    if isinstance(fields, dict):
        return {name: _items(part) for name, part in fields.items()}
    return fields if isinstance(fields, str) else np.asarray(fields)[None]


def _cut(fields: Any, start: int, end: int) -> Any:
    """The fields of some of many answers."""
    if isinstance(fields, dict):
        return {name: _cut(part, start, end) for name, part in fields.items()}
    return fields if isinstance(fields, str) else fields[start:end]


def _joined(parts: Sequence[Any]) -> Any:
    """The fields of all answers from those of some each."""
    first = parts[0]
    if isinstance(first, str):
        return first
    if isinstance(first, dict):
        return {name: _joined([part[name] for part in parts]) for name in first}
    shapes = {part.shape[1:] for part in parts}
    if len(shapes) > 1:
        several = " and ".join(f"[{', '.join(map(str, shape))}]" for shape in sorted(shapes))
        message = f"the answers have several shapes: {several}"
        raise InputError(Diagnostic("shape-mismatch", message, help="ask one by one"))
    return np.concatenate(parts)
