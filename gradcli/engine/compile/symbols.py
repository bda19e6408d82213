"""Symbols: carriers that write down the ops they take part in. The rules in the ops' entries run on
them as they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from gradcli.engine.compile.typed import (
    DTYPES,
    Do,
    Instruction,
    Leave,
    NotCompilable,
    Operand,
    Value,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op
from gradcli.engine.values.carrier import Carrier
from gradcli.source import Span

_TYPES = {dtype: name for name, dtype in DTYPES.items()}


class Builder:
    """Writes a typed program: what it is told goes to the end of the innermost open block.

    Fields:
        span: the program text that asks for what comes next.
    """

    def __init__(self, span: Span, first: int = 0) -> None:
        self.span = span
        self._next = first
        self._open: list[list[Instruction]] = []

    def value(self, type: str) -> Value:
        """A new value, which something will define."""
        made = Value(self._next, type)
        self._next += 1
        return made

    def symbol(self, type: str) -> Symbol:
        """A new value as a symbol."""
        return Symbol(self.value(type), self)

    def add(self, instruction: Instruction) -> None:
        """Put an instruction at the end."""
        self._open[-1].append(instruction)

    @contextmanager
    def block(self) -> Iterator[list[Instruction]]:
        """Open a block inside; its instructions are in the list when it is closed."""
        body: list[Instruction] = []
        with self.inside(body):
            yield body

    @contextmanager
    def inside(self, body: list[Instruction]) -> Iterator[None]:
        """Write at the end of an open block."""
        self._open.append(body)
        try:
            yield
        finally:
            self._open.pop()

    def do(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """What an op makes of numbers and symbols, written down."""
        if op.body is not None:
            return op.body(*args, **params)
        if op.number is None and op.view and op.shape is not None and op.shape((), **params) == ():
            return ops.copied(args[0])  # of a number it is a node of its own, and else that number
        if op.number is None:
            raise NotCompilable(f"`{op.name}` has no value on numbers", self.span)
        dtype = op.dtype(*args, **params) if callable(op.dtype) else None
        if dtype not in _TYPES:
            raise NotCompilable(f"the type of `{op.name}` hangs on its values", self.span)
        target = self.value(_TYPES[dtype])
        self.add(Do(self.span, target, op.name, tuple(map(argument, args)), tuple(params.items())))
        return Symbol(target, self)

    def known(self, x: Operand) -> Any:
        """An operand as a rule reads it."""
        return Symbol(x, self) if isinstance(x, Value) else x


class Symbol(Carrier):
    """A number that is known when the code runs. Ops on it go to its builder. Rules see whether it
    is `recorded`.
    """

    __slots__ = ("_builder", "_recorded", "value")

    def __init__(self, value: Value, builder: Builder, recorded: bool = False) -> None:
        self.value = value
        self._builder = builder
        self._recorded = recorded

    @property
    def recorded(self) -> bool:
        return self._recorded

    @property
    def is_number(self) -> bool:
        return True

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def ndim(self) -> int:
        return 0

    @property
    def dtype(self) -> str:
        return DTYPES[self.value.type]

    def apply(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        return self._builder.do(op, args, params)

    def avoid(self, number: float) -> None:
        builder = self._builder
        when = operand(builder.do(ops.eq, (self, number), {}))
        builder.add(Leave(builder.span, when, "a derivative is special at a number"))

    def undivided(self) -> None:
        reason = "a product of vectors is differentiated twice, or by forward mode"
        raise NotCompilable(reason, self._builder.span)

    def __bool__(self) -> bool:
        raise self._asked()

    def __eq__(self, other: object) -> bool:
        raise self._asked()

    __hash__ = None  # type: ignore[assignment]  # equal to what, is not known before the code runs

    def _asked(self) -> NotCompilable:
        return NotCompilable("a rule asks for a value", self._builder.span)

    def __repr__(self) -> str:
        return f"Symbol(%{self.value.number})"


def operand(x: Any) -> Operand:
    """A number or symbol as an operand."""
    if isinstance(x, Symbol):
        return x.value
    if type(x) in (float, int, bool):
        return x  # type: ignore[no-any-return]  # seen in the line above
    raise NotCompilable(f"an op reads what is no number: {type(x).__name__}")


def argument(x: Any) -> Operand | None:
    """An argument of an op as it is done: a number, a symbol, or None where it is left out."""
    return None if x is None else operand(x)
