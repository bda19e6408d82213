"""The protocol that a host's `infer` function uses during the analysis of shapes before a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

UNSURE: Any = object()
"""Stands for a static value that is unknown."""


class Statics(Protocol):
    """The analysis of a program before it runs. A value has a `shape` and a `dtype`, which are None
    if they are not known; a list may be one of the program's.
    """

    def static(self, value: Any) -> Any:
        """A number, text, size and so on as a Python value; UNSURE if unknown."""

    def items(self, value: Any) -> Sequence[Any] | None:
        """The items of a list or tuple. None if they are unknown, or the value is neither."""

    def tensor(self, value: Any) -> Any:
        """A list as the tensor that it becomes; any other value unchanged."""

    def of_numbers(self, value: Any) -> Any:
        """A list as the tensor that it becomes; tensors of one element in it count as numbers."""

    def dtype(self, asked: Any, other: str | None) -> str | None:
        """The dtype that is asked for, the other one if none is."""

    def constant(self, value: Any) -> Any:
        """A known value."""

    def unknown(self, *of: Any) -> Any:
        """A value that depends on these and is otherwise unknown."""

    def text(self) -> Any:
        """An unknown text."""

    def number(self, dtype: str | None, *of: Any) -> Any:
        """An unknown number computed from others, with no gradient."""

    def same_number(self, value: Any, dtype: str | None) -> Any:
        """The number that another value holds, with its gradient."""

    def made(self, shape: Any, dtype: str | None, leaf: Any = False) -> Any:
        """A new tensor. It is a leaf that requires grad if `leaf` is known to be true."""

    def itself(self, value: Any) -> Any:
        """A tensor itself, or a new one of a number."""

    def like(self, value: Any, shape: Any, dtype: str | None) -> Any:
        """A value of that shape and dtype, computed from another; from a number, a number. A float
        keeps the gradient.
        """

    def each(self, values: Sequence[Any], start: Any) -> Any:
        """The iterator over several values at once (`zip`), or over pairs of a number and an item
        if there is a start (`enumerate`).
        """

    def may_record(self) -> None:
        """From here on steps may be recorded."""

    def may_set_default_dtype(self) -> None:
        """From here on floats that the program writes may be of another dtype."""

    def default_dtype(self) -> str | None:
        """The dtype of floats that the program writes; None where it is not known."""

    def tried(self, call: Any, value: Any) -> Any:
        """The result of the host's own `call(session, value)` if the value is known, else None;
        raises an error if the shape alone is refused.
        """
