"""Generators: all items are computed where the generator is made, if nobody can tell.

The body then becomes that of a function which returns a list. It must do nothing but compute, and
whatever it reads must stay as it is until its items have been taken, so that it makes no difference
when it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gradcli.engine.compile.specialize.tracing.values import Cell, Frame, Vector
from gradcli.engine.ops.catalog import ops
from gradcli.ir import program as ir
from gradcli.ir import visit

_ITEMS = -4
"""The slot of the list."""

_COMPUTE = (
    *(ir.Copy, ir.Operator, ir.Build, ir.Unpack, ir.Branch, ir.Choice, ir.Yield, ir.For, ir.While),
    *(ir.Break, ir.Continue, ir.Return, ir.Emit, ir.EmitAll),
)
"""Instructions that change nothing but slots of their function."""


def as_list(function: ir.Function) -> ir.Function | None:
    """Return a function of the items of a generator as a list; None if its body may do more than
    compute them.
    """
    if not only_computes(function):
        return None
    f, span = function, function.span
    items = ir.Slot(_ITEMS, span)
    made = ir.Build(span, _ITEMS, "list", ())
    body = [made, *_listed(f.body, items), ir.Return(span, items)]
    return ir.Function(f.name, f.parameters, body, (*f.locals, _ITEMS), f.captures, span)


def only_computes(function: ir.Function) -> bool:
    """True if a function changes nothing but its own slots."""
    return all(map(_computes, visit.instructions(function.body)))


def _computes(i: ir.Instruction) -> bool:
    if isinstance(i, (ir.Apply, ir.CallBuiltin)):
        name = i.op if isinstance(i, ir.Apply) else i.name
        return name in ops and ops[name].host.pure and ops[name].host.transform is None
    return isinstance(i, _COMPUTE)


def _listed(body: Sequence[ir.Instruction], items: ir.Slot) -> list[ir.Instruction]:
    """A block that puts what it emits into the list."""
    made: list[ir.Instruction] = []
    for i in body:
        match i:
            case ir.Emit():
                made += [ir.Append(i.span, items, i.value), _nothing(i)]
            case ir.EmitAll():
                made += [ir.Extend(i.span, items, i.value), _nothing(i)]
            case ir.Return():
                made.append(ir.Return(i.span, items))
            case ir.Branch():
                sides = _listed(i.then, items), _listed(i.orelse, items)
                made.append(ir.Branch(i.span, i.test, *sides))
            case ir.Choice():
                sides = _listed(i.then, items), _listed(i.orelse, items)
                made.append(ir.Choice(i.span, i.target, i.kind, i.test, *sides))
            case ir.For():
                made.append(ir.For(i.span, i.target, i.iterable, _listed(i.body, items)))
            case ir.While():
                condition, inner = _listed(i.condition, items), _listed(i.body, items)
                made.append(ir.While(i.span, condition, i.test, inner))
            case _:
                made.append(i)
    return made


def _nothing(i: ir.Emit | ir.EmitAll) -> ir.Copy:
    """What a `yield` gives if nobody sends a value."""
    return ir.Copy(i.span, i.target, ir.Const(None, i.span))


class Read:
    """What a generator reads and gives, as it is now: the slots around it and other values, with
    the items and numbers inside.
    """

    def __init__(self, frame: Frame | None, slots: Sequence[int], values: Sequence[Any]) -> None:
        self._frame = frame
        self._slots = slots
        self._values = values

    def __iter__(self) -> Iterator[Any]:
        frame = self._frame
        around = [] if frame is None else [frame.holder(s).slots.get(s) for s in self._slots]
        return _inside((*around, *self._values))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, value: object) -> bool:
        return any(held is value for held in self)


def _inside(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        yield value
        if isinstance(value, Cell):
            yield value.number
        elif isinstance(value, Vector):
            yield from value.numbers
        elif isinstance(value, (list, tuple)):
            yield from _inside(value)
        elif isinstance(value, dict):
            yield from value
            yield from _inside(value.values())
