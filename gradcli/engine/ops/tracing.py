"""What the hosts' `traced` asks of a program that is being specialized."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol


class Tracing(Protocol):
    """Writes down what a program does with numbers that are known only when its code runs."""

    def text(self, make: Callable[[Sequence[Any]], str], values: Sequence[Any]) -> Any:
        """The text made of values."""

    def tell(self, make: Callable[[Sequence[Any]], str], values: Sequence[Any]) -> None:
        """Print that text."""

    def refused(self, reason: str) -> Exception:
        """What is raised where only a run tells what becomes of it."""

    def do(self, op: Any, args: Sequence[Any], params: Any) -> Any:
        """An op on numbers and tensors."""

    def items(self, value: Any) -> Sequence[Any]:
        """What a `for` over the value goes through."""

    def each(self, items: Iterable[Any], of: Sequence[Any]) -> Any:
        """Items that are gone through once, of what some values hold."""

    def range(self, bounds: Sequence[Any]) -> Any:
        """A `range` of some bounds."""

    def like(self, value: Any) -> Any:
        """Some value of the same kind."""

    def converted(self, value: Any, dtype: str) -> Any:
        """The number in a value as one of another dtype; no derivative goes from a tensor to it."""

    def number(self, value: Any) -> Any:
        """A number, which a tensor is not."""

    @property
    def transforms(self) -> Any:
        """The derivatives of functions that are followed."""

    @property
    def graph(self) -> Any:
        """The graph that the program goes back through itself."""

    def drawn(self, draw: Callable[..., Any], args: Sequence[Any], params: Any) -> Any:
        """What draws random numbers, `draw(session, *args, **params)`, gives."""

    def are_tensors(self, value: Any) -> bool:
        """Whether it is a tensor, or a list or tuple of such."""

    def cut(self, number: Any) -> Any:
        """The same number, which no derivative goes through."""

    def cell(self, value: Any, dtype: Any, leaf: Any) -> Any:
        """A new 0-d tensor of a number or of another such tensor."""
