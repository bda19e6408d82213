"""The protocol that a host's `traced` function uses while a program is compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol


class Tracing(Protocol):
    """Records the operations of a program on numbers that only a run knows."""

    def text(self, make: Callable[[Sequence[Any]], str], values: Sequence[Any]) -> Any:
        """The text that `make` builds from the values."""

    def tell(self, make: Callable[[Sequence[Any]], str], values: Sequence[Any]) -> None:
        """Print the text that `make` builds from the values."""

    def refused(self, reason: str) -> Exception:
        """The exception to raise if a result depends on values that only a run knows."""

    def do(self, op: Any, args: Sequence[Any], params: Any) -> Any:
        """An op on numbers and tensors."""

    def gathered(self, value: Any) -> Sequence[Any] | None:
        """Return the items of an iterator, which is then at its end; None for any other value."""

    def mapped(self, function: Any, iterables: Sequence[Any]) -> Any:
        """Return an iterator over the results of a function for the items of iterables."""

    def items(self, value: Any) -> Sequence[Any]:
        """The items that a `for` over the value visits."""

    def each(self, items: Iterable[Any], of: Sequence[Any]) -> Any:
        """An iterator over items that some values hold; it can be consumed once."""

    def range(self, bounds: Sequence[Any]) -> Any:
        """A `range` of some bounds."""

    def like(self, value: Any) -> Any:
        """Some value of the same kind."""

    def converted(self, value: Any, dtype: str) -> Any:
        """The number in a value, converted to a dtype; no derivative passes to a tensor."""

    def operands(self, op: Any, args: Sequence[Any]) -> Sequence[Any]:
        """The arguments of an op as numbers and tensors."""

    def number(self, value: Any) -> Any:
        """The number; any other value is refused."""

    @property
    def transforms(self) -> Any:
        """The transforms of traced functions, such as `grad`."""

    @property
    def graph(self) -> Any:
        """The graph of recorded ops, on which the program itself calls `backward` and `grad`."""

    def drawn(self, draw: Callable[..., Any], args: Sequence[Any], params: Any) -> Any:
        """The random numbers that `draw(session, *args, **params)` returns."""

    def are_tensors(self, value: Any) -> bool:
        """True for a tensor and for a list or tuple of tensors."""

    def cut(self, number: Any) -> Any:
        """The number as a constant: no derivative passes through it."""

    def cell(self, value: Any, dtype: Any, leaf: Any) -> Any:
        """A new 0-d tensor of a number or of another such tensor."""

    def call(self, function: Any, args: Sequence[Any], keywords: Any) -> Any:
        """The value of a call of a function of the program or of a built-in."""

    def library(self, path: str) -> Any:
        """The function of the library with a full path."""

    def moves(self, value: Any) -> bool:
        """True if a value may be differentiated by."""

    def less(self, a: Any, b: Any) -> Any:
        """`a < b` of numbers and 0-d tensors: a bool, or the number of one."""

    def hold_ordered(self, value: Any) -> None:
        """Bail out if a value is nan, which has no place in an order."""

    def chosen(self, test: Any, a: Any, b: Any) -> Any:
        """The first value if a test is true, else the second."""
