"""How it goes on behind a block: by these numbers, or by a symbol of one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Protocol

from gradcli import ir
from gradcli.engine.compile.specialize.tracing.values import Frame

NEXT: Final = 0
CONTINUE: Final = 1
BREAK: Final = 2
RETURN: Final = 3

RESULT: Final = -1
"""The slot of what a function returns."""

AGAIN: Final = -2
"""The slot of whether there is another turn, at the end of one."""

FLOW: Final = -3
"""The slot of how it goes on behind a loop, at the end of a turn."""


class Follower(Protocol):
    """Goes through the instructions of a program."""

    def block(self, body: Sequence[ir.Instruction], frame: Frame, at: int = 0) -> Any:
        """Go through a block from an instruction on; how it goes on behind it."""

    def where(
        self,
        test: Any,
        frame: Frame,
        then: Callable[[], Any],
        orelse: Callable[[], Any],
        live: Collection[Any],
        live_orelse: Collection[Any] | None = None,
    ) -> Any:
        """Go one of two ways by a test; how it goes on behind them. `live` are the slots that are
        read behind them, behind the second if that differs.
        """

    def flows(self, flow: Any) -> frozenset[int]:
        """How it may go on."""

    def may_be(self, flow: Any, flows: frozenset[int]) -> Any:
        """A flow that is known to be one of some."""

    def read(self, operand: ir.Operand | None, frame: Frame) -> Any:
        """What an operand holds."""

    def truth(self, operand: ir.Operand, frame: Frame) -> Any:
        """A condition's value, a bool or a symbol of one."""

    def items(self, value: Any) -> Sequence[Any]:
        """What a `for` over the value goes through."""

    def check_unchanged(self, sources: Sequence[tuple[list[Any], Sequence[Any]]]) -> None:
        """Refuse lists that hold something else than they did."""

    def name(self, key: Any) -> str:
        """What a slot is called in a reason."""
