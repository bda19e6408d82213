"""Values that perform the ops on them, and the record of a value's shape and dtype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.values.data import NUMBERS, Data, dtype_of


class Carrier:
    """A value that is no plain data: a recorded tensor, several directions at once, a shape or a
    name alone. An op that meets one asks it to do the op.
    """

    __slots__ = ()

    @property
    def is_number(self) -> bool | None:
        """True if it is one of Python's numbers, whose dtype gives way to a tensor's; None where
        that is not known.
        """
        return False

    @property
    def recorded(self) -> bool:
        """True if its results may be differentiated by it again."""
        return False

    @property
    def in_order(self) -> bool:
        """True if its elements are assumed to be contiguous in memory."""
        return True

    def apply(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """The result of the op on the arguments; this is the first carrier among them."""
        raise NotImplementedError

    def avoid(self, number: float) -> None:
        """Note that a rule is incomplete if the value is that number: compiled code then bails out
        to the interpreter.
        """

    def undivided(self) -> None:
        """Note that a rule returns a part of a sum whose terms arrays add in another order.
        Scalarized code cannot have the rule.
        """

    def plain(self) -> Any:
        """The plain data that it holds, or itself if it holds none."""
        return self


class Like:
    """Shape and dtype of an argument whose values the op does not save, as a rule gets it."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)


SCALAR = Like((), "float64")


def data_of(x: Any) -> Data:
    """Plain data of a value."""
    return x.plain() if isinstance(x, Carrier) else x


def like_of(x: Any) -> Like:
    """Shape and dtype of a value."""
    if type(x) in NUMBERS:
        return SCALAR if type(x) is float else Like((), dtype_of(x))
    return Like(x.shape, dtype_of(x))
