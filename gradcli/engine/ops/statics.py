"""The protocol that a host's `infer` function uses during the analysis of shapes before a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

UNSURE: Any = object()
"""The static value of what has none."""


class Statics(Protocol):
    """The analysis of a program before it runs. A value has a `shape` and a `dtype`, which are None
    if they are not known; a list may be one of the program's.
    """

    def static(self, value: Any) -> Any:
        """A number, text, size and the like as Python's own; UNSURE where it is not known."""

    def items(self, value: Any) -> Sequence[Any] | None:
        """The items of a list or tuple, None where they are not known or it is none."""

    def tensor(self, value: Any) -> Any:
        """A list as the tensor that it becomes, anything else as it is."""

    def of_numbers(self, value: Any) -> Any:
        """A list as the tensor that it becomes; tensors of one element in it count as numbers."""

    def dtype(self, asked: Any, other: str | None) -> str | None:
        """The dtype that is asked for, the other one if none is."""

    def constant(self, value: Any) -> Any:
        """A value that is known."""

    def unknown(self, *of: Any) -> Any:
        """A value that depends on these and is otherwise unknown."""

    def text(self) -> Any:
        """A text that is not known."""

    def number(self, dtype: str | None, *of: Any) -> Any:
        """A number that is not known, made of others by a way that no gradient goes."""

    def same_number(self, value: Any, dtype: str | None) -> Any:
        """The number that another value holds, through which a gradient goes."""

    def made(self, shape: Any, dtype: str | None, leaf: Any = False) -> Any:
        """A new tensor; a leaf that requires grad if that is known to be true."""

    def itself(self, value: Any) -> Any:
        """A tensor itself, or a new one of a number."""

    def like(self, value: Any, shape: Any, dtype: str | None) -> Any:
        """A value of that shape and dtype made of another one, a number of a number; a gradient
        goes through it if it is of floats.
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
