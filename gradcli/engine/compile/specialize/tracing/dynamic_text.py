"""Text of values that are known only at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import Cell, Text, Vector, origin, parts
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import Tell
from gradcli.engine.run.session.array_text import printed_as
from gradcli.engine.tape.tensor import of_node
from gradcli.engine.values.data import NUMBERS, np


class Texts:
    """The texts of one program; `made` are the functions that its `Tell` instructions call."""

    def __init__(self, trace: Trace, library: str) -> None:
        self._trace = trace
        self._library = library
        self.made: list[Callable[..., str]] = []

    def text(self, make: Callable[[Sequence[Any]], str], values: Sequence[Any]) -> Text:
        """Return the text made from values."""
        self._numbers(values)  # raises if it has no text
        return Text(self._printed(make), values)

    def tell(self, make: Callable[[Sequence[Any]], str], values: Sequence[Any]) -> None:
        """Print the text made from values."""
        numbers = self._numbers(values)
        kept = _Kept(self._printed(make), values, self._trace.names)
        self._trace.add(Tell(self._trace.span, len(self.made), tuple(map(operand, numbers))))
        self.made.append(kept.text)

    def _printed(self, make: Callable[[Sequence[Any]], str]) -> Callable[[Sequence[Any]], str]:
        """The function whose texts show arrays as the program's library does."""
        if self._library == "torch":
            return make

        def made(values: Sequence[Any]) -> str:
            with printed_as(self._library):
                return make(values)

        return made

    def _numbers(self, value: Any) -> list[Any]:
        """Return the unknown numbers in a value, in order."""
        if isinstance(value, Symbol):
            return [value]
        if isinstance(value, (Cell, Vector)):
            inner, node = value.number if isinstance(value, Cell) else value.numbers, origin(value)
            if node is None:
                raise self._trace.refused("the text of a tensor that requires grad names its node")
            return [*self._numbers(inner), *self._numbers(node)]
        if isinstance(value, Text):
            return self._numbers(value.values)
        if isinstance(value, (list, tuple, dict)):
            return [number for item in parts(value) for number in self._numbers(item)]
        if type(value) in NUMBERS or value is None or isinstance(value, str):
            return []
        raise self._trace.refused("a text is made of a value that is not a number")


def parts_of(value: Text, names: Sequence[str]) -> tuple[list[Any], Callable[..., str]]:
    """Return the unknown numbers in a text that has been made, and the function that makes it of
    them. `names` are those of nodes.
    """
    numbers: list[Any] = []

    def gather(part: Any) -> None:
        if isinstance(part, Symbol):
            numbers.append(part)
        elif isinstance(part, (Cell, Vector)):
            gather(part.number if isinstance(part, Cell) else part.numbers)
            gather(origin(part))
        elif isinstance(part, Text):
            gather(part.values)
        else:
            for item in parts(part):
                gather(item)

    gather(value)
    return numbers, _Kept(value.make, value.values, names).text


class _Kept:
    """Makes a text when the numbers in it are known. It copies the content of lists and tensors,
    which may change later.
    """

    def __init__(
        self,
        make: Callable[[Sequence[Any]], str],
        values: Sequence[Any],
        names: Sequence[str],
    ) -> None:
        self.make = make
        self.values = [_kept(value, names) for value in values]

    def text(self, *numbers: Any) -> str:
        """Return the text with these numbers."""
        given = iter(numbers)
        return self.make([_filled(value, given) for value in self.values])


class _Place:
    """The place of a number."""


class _Wrapped:
    """A tensor of a shape with inner values, and the place of its node's name among `names`."""

    def __init__(self, inner: Any, shape: Sequence[int], node: Any, names: Sequence[str]) -> None:
        self.inner = inner
        self.shape = shape
        self.node = node
        self.names = names


def _kept(value: Any, names: Sequence[str]) -> Any:
    if isinstance(value, Symbol):
        return _Place()
    if isinstance(value, (Cell, Vector)):
        shape = value.shape if isinstance(value, Vector) else ()
        inner = value.numbers if isinstance(value, Vector) else value.number
        return _Wrapped(_kept(inner, names), shape, _kept(origin(value), names), names)
    if isinstance(value, Text):
        return _Kept(value.make, value.values, names)
    if isinstance(value, dict):
        return {key: _kept(item, names) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_kept(item, names) for item in value])
    return value


def _filled(value: Any, numbers: Iterator[Any]) -> Any:
    if isinstance(value, _Place):
        return next(numbers)
    if isinstance(value, _Wrapped):
        inner = _filled(value.inner, numbers)
        data = np.array(inner).reshape(value.shape) if value.shape else inner
        return of_node(data, value.names[_filled(value.node, numbers)])
    if isinstance(value, _Kept):
        return value.make([_filled(inner, numbers) for inner in value.values])
    if isinstance(value, dict):
        return {key: _filled(item, numbers) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_filled(item, numbers) for item in value)
    return value
