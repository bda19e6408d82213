"""What the passes need that a program makes through its own graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from gradcli.engine.tape.graph import GONE, LIVE, SPENT, Node
from gradcli.engine.tape.tensor import Tensor


class Passes:
    """`backward`, `grad` and dual tensors of one run.

    Fields:
        subject: the tensor that `backward` was called on last, with its cotangent, in a run that
            keeps values.
        transforms: how many functions are being differentiated by others at this point.
        ending: what is to be done at the end of the pass that is under way.
        duals: tangents of dual tensors, by their points; None outside `dual_level`.
        anomaly: passes refuse a node that gives nan.
    """

    def __init__(self, *, repeated: bool) -> None:
        self.subject: tuple[Tensor, Any] | None = None
        self.transforms = 0
        self.ending: list[Callable[[], Any]] = []
        self.duals: dict[Node, Any] | None = None
        self.anomaly = False
        self._repeated = repeated  # the command may go through the same nodes later
        self._retained: WeakSet[Tensor] | None = None

    def left(self, retain: bool) -> int:
        """What a `backward` of the program leaves of the nodes that it visits: what it frees may
        still be needed for another derivative.
        """
        if retain:
            return LIVE
        return SPENT if self._repeated or self.transforms > 0 else GONE

    def retain(self, x: Tensor) -> None:
        """Keep the gradient of a tensor that is no leaf, in each pass."""
        if self._retained is None:
            self._retained = WeakSet()
        self._retained.add(x)

    @property
    def retained(self) -> list[Tensor]:
        """The tensors, no leaves, that keep their gradient in each pass."""
        return [*(self._retained or ())]

    @contextmanager
    def one(self) -> Iterator[None]:
        """A pass, at whose end is done what hooks have asked for."""
        before, self.ending = self.ending, []
        try:
            yield
            for end in self.ending:
                end()
        finally:
            self.ending = before
