"""A question that is asked again and again with other numbers, as a function of these numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from gradcli.engine.compile.control import MOST, Left
from gradcli.engine.compile.typed import dtype_and_shape, type_of
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import np
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request
from gradcli.questions.coded.compiled import Compiled
from gradcli.questions.coded.seeds import value_of
from gradcli.questions.remarks.outside import first_outside
from gradcli.results import Derivative, Place

Sizes: TypeAlias = Mapping[str, tuple[int, ...]]
"""Shapes by name."""

_EXACT = 2**53  # up to which each int is a float
_LARGEST = 10_000  # numbers of an answer: text of more takes longer than all else

MARKS = 0.25, 0.5
"""Numbers that differ in these alone show where each of them goes."""


def repeated(
    code: Compiled, asked: Request, loaded: Loaded, held: Collection[str]
) -> Repeated | None:
    """A question as a function of its numbers, for which there is code; None if it cannot be one.
    Arguments as of `Repeated`.
    """
    try:
        return Repeated(code, asked, loaded, held)
    except Left:
        return None


class Repeated:
    """Code for one question, for inputs and directions of the same names and shapes. A call costs
    some microseconds: it looks at nothing but the numbers. Several threads may call it at once.

    Args:
        code: The code of the question.
        asked: What it is asked first.
        loaded: The program.
        held: The names of inputs that have the same values in each call.

    Fields:
        output: The name of the result.
        fields: The fields of an answer, with a `Place` for each of its numbers.
        warnings: The warnings that each answer has.

    Raises:
        Left: If its numbers do not go one by one into the code, or too many come out of it.
    """

    def __init__(
        self, code: Compiled, asked: Request, loaded: Loaded, held: Collection[str]
    ) -> None:
        lowered = code.lowered
        if lowered.program.texts or lowered.tests:
            raise Left("it prints, or the form of its answer depends on the numbers")
        if lowered.effort.turns(asked.options.limits) != MOST:
            raise Left("its steps are counted")
        floats = [n for n, type_, _ in lowered.inputs if dtype_and_shape(type_)[0] == "float64"]
        values = {n: x.value for n, x in asked.inputs.items() if n not in held}
        self._count = len(values)
        self._moving: Sizes = _numbers_first(
            {n: np.shape(values[n]) for n in floats if n in values}
        )
        self._along: Sizes = {n: np.shape(value_of(x)) for n, x in asked.tangents.items()}
        self._directions = len(self._along)
        self._numbers = _getter([n for n, shape in self._moving.items() if not shape])
        self._arrays = [(n, shape) for n, shape in self._moving.items() if shape]
        self._fixed = [(n, x) for n, x in values.items() if n not in floats]
        if any(isinstance(x, np.ndarray) for _, x in self._fixed):
            raise Left("an array of ints is given")
        given = _all(code, asked)
        one, other = (_all(code, self._marked(asked, mark)) for mark in MARKS)
        shapes = *self._moving.values(), *self._along.values()
        count = sum(map(math.prod, shapes))
        self._floats = [float] * count
        point = _moving(one, other, count)
        self._bounds = [(name, ends) for name, ends in loaded.bounded.items() if name in values]
        self._has_more = bool(self._arrays or self._along or self._fixed or self._bounds)
        answers = [_answer(code, mark) for mark in MARKS]
        self.output = answers[0].output
        self.warnings = (*loaded.slips, *answers[0].warnings)
        self.fields = placed(*[{"value": found.value, **found.answer} for found in answers])
        chosen = [*_places(self.fields)]
        if len(chosen) > _LARGEST:
            raise Left("its answer is large")
        results = [dtype_and_shape(type_of(x))[1] for x in lowered.program.block.results]
        where = [(k, i) for k, shape in enumerate(results) for i in range(math.prod(shape))]
        self._listed = code.code.listed(given, point, [where[place] for place in chosen])

    def __call__(
        self, inputs: Mapping[str, Any], along: Mapping[str, Any]
    ) -> Sequence[float] | None:
        """The numbers of the answer in the order of their places in `fields`, all finite; None if
        the question has to be asked otherwise.

        Args:
            inputs: Numbers, lists or arrays by the names of the inputs.
            along: Likewise the directions.
        """
        if len(inputs) != self._count or len(along) != self._directions:
            return None
        try:
            numbers = [*self._numbers(inputs)]
            if self._has_more and not self._is_as_before(inputs, along, numbers):
                return None
        except KeyError:
            return None
        if [*map(type, numbers)] != self._floats and not _are_exact(numbers):
            return None
        return self._listed(numbers) if math.isfinite(sum(numbers)) else None

    def _is_as_before(
        self, inputs: Mapping[str, Any], along: Mapping[str, Any], numbers: list[Any]
    ) -> bool:
        """Add the numbers of arrays and directions to those of the inputs that are numbers; false
        if shapes, fixed values or the sides of bounds differ.
        """
        return (
            all(_gathered(inputs[name], shape, numbers) for name, shape in self._arrays)
            and all(_gathered(along[name], shape, numbers) for name, shape in self._along.items())
            and all(type(inputs[name]) is type(x) and inputs[name] == x for name, x in self._fixed)
            and all(first_outside(inputs[name], ends, 0) is None for name, ends in self._bounds)
        )

    def _marked(self, asked: Request, mark: float) -> Request:
        """The request with the place of each number that moves, and the mark, as its value."""
        start = 0

        def several(shapes: Sizes) -> Iterator[tuple[str, Any]]:
            nonlocal start
            for name, shape in shapes.items():
                end = start + math.prod(shape)
                found = np.arange(start, end).reshape(shape) + mark
                yield name, found if shape else found.item()
                start = end

        inputs = {n: Given(x, n) for n, x in several(self._moving)}
        along = dict(several(self._along))
        return asked.changed(inputs={**asked.inputs, **inputs}, tangents=along)


def _numbers_first(sizes: Sizes) -> Sizes:
    """The sizes, those of numbers in front of those of arrays, as in the memory of the code."""
    return dict(sorted(sizes.items(), key=lambda pair: pair[1] != ()))


def _getter(names: Sequence[str]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    """A function from values by name to those of some names."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: [values[name] for name in names]


def _all(code: Compiled, asked: Request) -> list[Any]:
    """The values of all inputs of the code."""
    inputs = code.inputs(asked)
    if inputs is None:
        raise Left("a number is none that the program can have")
    return [*inputs, *code.lowered.more(asked)]


def _moving(one: Sequence[Any], other: Sequence[Any], count: int) -> list[tuple[int, int]]:
    """The elements of the inputs that differ between two marks, by the places in their values.

    Raises:
        Left: If these are not `count` different places.
    """
    found: dict[int, tuple[int, int]] = {}
    elements = 0
    for k, (a, b) in enumerate(zip(one, other, strict=True)):
        pairs = zip(np.ravel(a).tolist(), np.ravel(b).tolist(), strict=True)
        for element, (x, y) in enumerate(pairs):
            if x != y:
                found[int(x)] = k, element
                elements += 1
    if [*sorted(found)] != [*range(count)] or elements != count:
        raise Left("a number is not used, or used twice")
    return [found[place] for place in range(count)]


def _answer(code: Compiled, mark: float) -> Derivative:
    """An answer with the place of each number, and the mark, as its value."""
    result = code.result(code.grouped([place + mark for place in range(len(code.types))]))
    if not isinstance(result, Derivative):
        raise Left("its answer has other things than numbers")
    return result


def placed(one: Any, other: Any) -> Any:
    """What two answers with different marks have in common, with a `Place` for each number that
    differs.
    """
    if isinstance(one, np.ndarray):
        return placed(one.tolist(), other.tolist())
    if isinstance(one, dict):
        return {name: placed(one[name], other[name]) for name in one}
    if isinstance(one, (list, tuple)):
        return [placed(a, b) for a, b in zip(one, other, strict=True)]
    return one if one == other else Place(int(one))


def _places(fields: Any) -> Iterator[Place]:
    """The places in the fields of an answer, in order."""
    if isinstance(fields, Place):
        yield fields
    elif isinstance(fields, (dict, list)):
        for part in fields.values() if isinstance(fields, dict) else fields:
            yield from _places(part)


def _gathered(value: Any, shape: tuple[int, ...], numbers: list[Any]) -> bool:
    """Add the numbers of a value to others; false if it has not that shape."""
    if not shape:
        numbers.append(value)
        return True
    if type(value) is not list:
        if getattr(value, "shape", None) != shape:
            return False
        numbers += value.ravel().tolist()
        return True
    if len(value) != shape[0]:
        return False
    if len(shape) == 1:
        numbers += value
        return True
    return all(_gathered(part, shape[1:], numbers) for part in value)


def _are_exact(numbers: Sequence[Any]) -> bool:
    """True for floats, and ints that a float holds. A bool is none: the interpreter tells if it may
    stand there.
    """
    return {*map(type, numbers)} <= {int, float} and all(
        type(x) is float or -_EXACT <= x <= _EXACT for x in numbers
    )
