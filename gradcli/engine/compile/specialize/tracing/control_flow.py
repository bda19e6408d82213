"""The control flow after a block: one of these numbers, or a symbol of one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Protocol

from gradcli.engine.compile.specialize.tracing.values import Cell, Frame
from gradcli.engine.tape.tensor import Tensor
from gradcli.ir import program as ir

NEXT: Final = 0
CONTINUE: Final = 1
BREAK: Final = 2
RETURN: Final = 3

RESULT: Final = -1
"""The slot of a function's result."""

AGAIN: Final = -2
"""The slot, at the end of a turn, of whether another follows."""

FLOW: Final = -3
"""The slot, at the end of a turn, of the control flow after the loop."""


class Follower(Protocol):
    """Specializes the instructions of a program (`statements.py`)."""

    def block(self, body: Sequence[ir.Instruction], frame: Frame, at: int = 0) -> Any:
        """Specialize a block from an instruction on; the control flow after it."""

    def where(
        self,
        test: Any,
        frame: Frame,
        then: Callable[[], Any],
        orelse: Callable[[], Any],
        live: Collection[Any],
        live_orelse: Collection[Any] | None = None,
    ) -> Any:
        """Specialize a choice between two paths; the control flow after it. `live` are the slots
        that are read after it, `live_orelse` those after the second path if they differ.
        """

    def flows(self, flow: Any) -> frozenset[int]:
        """The control flows that are possible."""

    def may_be(self, flow: Any, flows: frozenset[int]) -> Any:
        """Record the possible values of an unknown control flow."""

    def read(self, operand: ir.Operand | None, frame: Frame) -> Any:
        """The value of an operand."""

    def truth(self, operand: ir.Operand, frame: Frame) -> Any:
        """Return the truth of a condition: a bool or a symbol of one."""

    def items(self, value: Any) -> Sequence[Any]:
        """The items of a `for` over the value."""

    def check_unchanged(self, sources: Sequence[tuple[Collection[Any], Sequence[Any]]]) -> None:
        """Refuse lists that have changed."""

    def changeable(self, operand: ir.Operand | None, known: Tensor, frame: Frame) -> Cell:
        """Turn a known tensor into a cell before it is changed in place."""

    def hold(self, slot: int, value: Any) -> None:
        """Record the variable that holds a value."""

    def name(self, key: Any) -> str:
        """The name of a slot in a message."""
