"""Code that gives value and derivatives at points: lists of numbers for some of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import prod
from typing import Any

from gradcli.engine.compile.control import nowhere
from gradcli.engine.compile.typed import dtype_and_shape, is_array, type_of
from gradcli.engine.values.data import Data, np
from gradcli.questions.asked.request import Request, given_values
from gradcli.questions.coded.compiled import Compiled
from gradcli.results import GradResult, HessianResult, JacobianResult, ValueResult

Answer = ValueResult | GradResult | JacobianResult | HessianResult


class Pointwise:
    """Code for one set of shapes.

    Args:
        code: The code of a question.
        asked: What it was made for.
        names: The names that a point is made of, in their order.

    Fields:
        modes: The mode in which it finds derivatives, by the keyword that asks for it.
    """

    def __init__(self, code: Compiled, asked: Request, names: Sequence[str]) -> None:
        self._code, self._asked, self._names = code, asked, names
        places = {}
        k = 0
        for name, type_, shape in code.lowered.inputs:
            count = prod(shape)
            if is_array(type_):
                places[name] = [(k, element) for element in range(count)]
                k += 1
            else:
                places[name] = [(k + element, 0) for element in range(count)]
                k += count
        self._point = [place for name in names for place in places[name]]
        numbers, self._results = numbered(code)
        result = code.result(numbers)
        self.modes = {"mode": result.mode} if hasattr(result, "mode") else {}
        found = parts(result, names)
        self._shapes = [part.shape for part in found]
        self._ends = [*accumulate(part.size for part in found)]
        self._is_gradient = self._shapes[0] == () and len(self._shapes) == 2
        self._chosen = [int(x) for part in found for x in part.ravel()]

    @property
    def made(self) -> str:
        """The kind of code."""
        return self._code.code.made

    @property
    def source(self) -> str:
        """The text of the code."""
        return self._code.code.source

    def at(self, data: Mapping[str, Any]) -> Callable[[Data], Data | None] | None:
        """Value and derivatives, one behind the other, as a function of the point alone, which
        gives None where the interpreter has the answer; None if it always has.
        """
        inputs = self._code.inputs(self._given(data))
        if inputs is None or self._code.lowered.program.texts:
            return None
        behind = self._code.lowered.more(self._asked)
        chosen = [self._results[k] for k in self._chosen]
        return self._code.code.at([*inputs, *behind], self._point, chosen)

    def once(self, data: Mapping[str, Any]) -> Data | None:
        """Value and derivatives for one set of values of all inputs, within the limits of a
        question; None if the interpreter has the answer.
        """
        if self._code.lowered.program.texts:
            return None
        found = self._code.answer(self._given(data), nowhere)
        return None if found is None else flat(found, self._names)

    def many(self, columns: Mapping[str, Any]) -> tuple[Data, Data]:
        """Value and derivatives for many points, each in a row, and where the interpreter has the
        answer. Columns have the points first.
        """
        given, fit = self._code.columns(columns)
        found, left = self._together(given, len(fit))
        return found, left | ~fit

    def over(self, columns: Mapping[str, Any]) -> Callable[[Data], tuple[Data, Data]]:
        """The same for many records as a function of one point for all of them. Columns of the
        records are prepared here, once.
        """
        count = len(next(iter(columns.values())))
        shapes = {name: shape for name, _, shape in self._code.lowered.inputs}
        free = {n: np.broadcast_to(0.0, (count, *shapes[n])) for n in self._names}
        given, fit = self._code.columns({**columns, **free})
        moved = sorted({k for k, _ in self._point})

        def at(point: Data) -> tuple[Data, Data]:
            inputs = [*given]  # several threads may ask at once
            for k in moved:
                inputs[k] = np.empty_like(given[k])
            for (k, element), x in zip(self._point, point.tolist(), strict=True):
                inputs[k].reshape(count, -1)[:, element] = x
            found, left = self._together(inputs, count)
            return found, left | ~fit

        return at

    def _together(self, given: Sequence[Any], count: int) -> tuple[Data, Data]:
        """Value and derivatives for columns of all inputs, each in a row, and where the interpreter
        has the answer.
        """
        numbers, left = self._code.arrays(self._asked, given, count)
        whole = [x.reshape(count, -1) for x in numbers]
        of = [self._results[k] for k in self._chosen]
        return np.stack([whole[k][:, element] for k, element in of], 1), left

    def answer(self, found: Data) -> Any:
        """Value and derivatives of one point, or of many with these in front, from their numbers,
        which lie along the last axis. A single number is a float.
        """
        if found.ndim == 1:  # the most common ones
            if self._is_gradient:
                return found.item(0), found[1:]
            if self._shapes == [()]:
                return found.item()
        split = [found[..., start:end] for start, end in pairwise([0, *self._ends])]
        pairs = zip(split, self._shapes, strict=True)
        several = [part.reshape((*found.shape[:-1], *shape)) for part, shape in pairs]
        value, *derivatives = [part if part.ndim else part.item() for part in several]
        return (value, *derivatives) if derivatives else value

    def _given(self, data: Mapping[str, Any]) -> Request:
        """The request with other values."""
        return self._asked.changed(inputs={**self._asked.inputs, **given_values(data, {})})


def flat(found: Answer, names: Sequence[str]) -> Data:
    """The numbers of value and derivatives, one behind the other."""
    return np.concatenate([part.ravel() for part in parts(found, names)])


def parts(found: Answer, names: Sequence[str]) -> list[Data]:
    """The value of an answer and its derivatives, with an axis of the elements of all names in
    place of each name's own axes.
    """
    value = np.asarray(found.value, np.float64)
    if isinstance(found, JacobianResult):
        return [value, _joined(found.jacobian, names, value.shape)]
    if isinstance(found, ValueResult):
        return [value]
    slopes = _joined(found.grad, names, ())
    if isinstance(found, GradResult):
        return [value, slopes]
    assert found.hessian is not None, "the diagonal alone was asked for"
    rows = []
    for name in names:
        size = np.size(found.grad[name])
        rows.append(_joined(found.hessian[name], names, (size,)))
    return [value, slopes, np.concatenate(rows)]


def _joined(by_name: Mapping[str, Any], names: Sequence[str], head: tuple[int, ...]) -> Data:
    """Derivatives by several names, behind each other along the last axis."""
    several = [np.asarray(by_name[n], np.float64) for n in names]
    size = prod(head)
    return np.concatenate([x.reshape(*head, x.size // max(size, 1)) for x in several], -1)


def numbered(code: Compiled) -> tuple[list[Any], list[tuple[int, int]]]:
    """Results that are numbers of their elements, and the elements by these numbers."""
    numbers: list[Any] = []
    places: list[tuple[int, int]] = []
    for k, x in enumerate(code.lowered.program.block.results):
        type_ = type_of(x)
        shape = dtype_and_shape(type_)[1]
        count = prod(shape)
        found = np.arange(len(places), len(places) + count, dtype=np.float64).reshape(shape)
        numbers.append(found if is_array(type_) else found.item())
        places += [(k, element) for element in range(count)]
    return numbers, places
