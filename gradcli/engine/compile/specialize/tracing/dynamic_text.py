"""Text of values that are known only at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import Cell, Text, Vector
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import Tell
from gradcli.engine.tape.tensor import Tensor, leaf
from gradcli.engine.values.data import NUMBERS, np


class Texts:
    """The texts of one program; `made` are the functions that its `Tell` instructions call."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.made: list[Callable[..., str]] = []

    def text(self, make: Callable[[Sequence[Any]], str], values: Sequence[Any]) -> Text:
        """Return the text made from values."""
        self._numbers(values)  # raises if it has no text
        return Text(make, values)

    def tell(self, make: Callable[[Sequence[Any]], str], values: Sequence[Any]) -> None:
        """Print the text made from values."""
        numbers = self._numbers(values)
        kept = _Kept(make, values)
        self._trace.add(Tell(self._trace.span, len(self.made), tuple(map(operand, numbers))))
        self.made.append(kept.text)

    def _numbers(self, value: Any) -> list[Any]:
        """Return the unknown numbers in a value, in order."""
        if isinstance(value, Symbol):
            return [value]
        if isinstance(value, (Cell, Vector)):
            if value.visible is not False and not _is_leaf(value):
                raise self._trace.refused("the text of a tensor that requires grad names its node")
            return self._numbers(value.number if isinstance(value, Cell) else value.numbers)
        if isinstance(value, Text):
            return self._numbers(value.values)
        if isinstance(value, (list, tuple)):
            return [number for item in value for number in self._numbers(item)]
        if type(value) in NUMBERS or value is None or isinstance(value, str):
            return []
        raise self._trace.refused("a text is made of a value that is not a number")


class _Kept:
    """Makes a text when the numbers in it are known. It copies the content of lists and tensors,
    which may change later.
    """

    def __init__(self, make: Callable[[Sequence[Any]], str], values: Sequence[Any]) -> None:
        self.make = make
        self.values = [_kept(value) for value in values]

    def text(self, *numbers: Any) -> str:
        """Return the text with these numbers."""
        given = iter(numbers)
        return self.make([_filled(value, given) for value in self.values])


class _Place:
    """The place of a number."""


class _Wrapped:
    """A tensor of a shape with inner values; `leaf` if it requires grad."""

    def __init__(self, inner: Any, shape: Sequence[int] = (), *, leaf: bool = False) -> None:
        self.inner = inner
        self.shape = shape
        self.leaf = leaf


def _is_leaf(value: Any) -> bool:
    return isinstance(value, Cell) and value.is_leaf and value.visible is True


def _kept(value: Any) -> Any:
    if isinstance(value, Symbol):
        return _Place()
    if isinstance(value, Cell):
        return _Wrapped(_kept(value.number), leaf=_is_leaf(value))
    if isinstance(value, Vector):
        return _Wrapped(_kept(value.numbers), value.shape)
    if isinstance(value, Text):
        return _Kept(value.make, value.values)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_kept, value))
    return value


def _filled(value: Any, numbers: Iterator[Any]) -> Any:
    if isinstance(value, _Place):
        return next(numbers)
    if isinstance(value, _Wrapped):
        inner = _filled(value.inner, numbers)
        data = np.array(inner).reshape(value.shape) if value.shape else inner
        return leaf(data) if value.leaf else Tensor(data)
    if isinstance(value, _Kept):
        return value.make([_filled(inner, numbers) for inner in value.values])
    if isinstance(value, (list, tuple)):
        return type(value)(_filled(item, numbers) for item in value)
    return value
