"""Lower assignment targets to the instructions that store values there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradcli.grammar.meaning.modules import has_arrays, library
from gradcli.grammar.meaning.slots import Slots
from gradcli.grammar.syntax import ast
from gradcli.ir import program as ir
from gradcli.source import Span


class Targets(Slots):
    """The part of the lowering that handles targets of assignments, loops and comprehensions."""

    def expression(self, e: ast.Expr, into: int | None = None) -> ir.Operand:
        """The operand that holds the value of an expression."""
        raise NotImplementedError

    def indexed(self, e: ast.Index) -> tuple[ir.Operand, ir.Operand]:
        """The operands of `value[index]`. PyTorch's tensors take no slice with a negative step, as
        NumPy's arrays do: in a program without arrays, an index that may have one is checked.
        """
        value, index = self.expression(e.value), self.expression(e.index)
        entries = e.index.items if isinstance(e.index, ast.Tuple) else (e.index,)
        paths = self.names.imports.values()
        are_arrays = has_arrays(paths) or library(paths) != "torch"
        if are_arrays or not any(map(_may_step_back, entries)):
            return value, index
        checked = self.temporary()
        args = (("value", value), ("index", index))
        self.emit(ir.Apply(e.span, checked, "forward_index", args))
        return value, ir.Slot(checked, e.index.span)

    def store(self, target: ast.Expr, value: ir.Operand, span: Span) -> None:
        """Store a value in a target."""
        match target:
            case ast.Name():
                self.emit(ir.Copy(span, self.own_slot(target.id), value))
            case ast.Attribute():
                receiver = self.expression(target.value)
                self.emit(ir.SetAttribute(target.span, receiver, target.name, value))
            case ast.Index():
                self.emit(ir.SetItem(target.span, *self.indexed(target), value))
            case ast.Tuple() | ast.List():
                self.unpack(target.items, value, span)
            case _:
                raise AssertionError(f"{type(target).__name__} is no target")

    def unpack(self, items: Sequence[ast.Expr], value: ir.Operand, span: Span) -> None:
        """Unpack a value into several targets."""
        stars = [at for at, item in enumerate(items) if isinstance(item, ast.Starred)]
        targets = [item.value if isinstance(item, ast.Starred) else item for item in items]
        slots = [
            self.own_slot(target.id) if isinstance(target, ast.Name) else self.temporary()
            for target in targets
        ]
        self.emit(ir.Unpack(span, tuple(slots), value, stars[0] if stars else None))
        for target, slot in zip(targets, slots, strict=True):
            if not isinstance(target, ast.Name):
                self.store(target, ir.Slot(slot, target.span), span)

    def turns(
        self, span: Span, target: ast.Expr, iterable: ir.Operand, body: Callable[[], None]
    ) -> None:
        """A loop over the items of a value; `body` emits the instructions of its block."""
        outside, self.out = self.out, []
        if isinstance(target, ast.Name):
            slot = self.own_slot(target.id)
        else:
            slot = self.temporary()
            self.store(target, ir.Slot(slot, target.span), target.span)
        body()
        made, self.out = self.out, outside
        self.emit(ir.For(span, slot, iterable, made))


def _may_step_back(entry: ast.Expr) -> bool:
    """True if an entry of an index is a slice whose step may be negative."""
    if not isinstance(entry, ast.Slice) or entry.step is None:
        return False
    return not isinstance(entry.step, ast.Literal)
