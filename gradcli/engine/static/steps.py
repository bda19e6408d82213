"""Effects of instructions without blocks on the slots of the abstract run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED
from gradcli.engine.run.language import operators
from gradcli.engine.run.session.wrong_calls import wrong_call
from gradcli.engine.static.calls import Calls
from gradcli.engine.static.inference import static, unbound
from gradcli.engine.static.kinds import FUNCTIONS, Applied, Closure, Rule, Slots
from gradcli.engine.static.lists import List, plain
from gradcli.engine.static.transfer import Transfer
from gradcli.engine.static.value import (
    LINKED,
    Value,
    constant,
    made_float,
    of_any_precision,
    placed,
    unknown,
)
from gradcli.engine.values import refusals
from gradcli.errors import GradError
from gradcli.ir import program as ir
from gradcli.source import Span


class Steps:
    """The single steps of one walk. `asked` are the names whose ints become floats. `shared` are
    the slots that inner functions write: their values are unknown. `exchanged` is true once a
    tensor has taken over the memory of another.
    """

    def __init__(
        self,
        transfer: Transfer,
        calls: Calls,
        asked: Collection[str],
        shared: frozenset[int],
    ) -> None:
        self._transfer = transfer
        self._findings = transfer.findings
        self._lists = transfer.lists
        self._calls = calls
        self._asked = asked
        self._shared = shared
        self.exchanged = False

    def do(self, i: ir.Instruction, slots: Slots) -> None:
        """Do an instruction that has no blocks."""
        match i:
            case ir.Operator() | ir.Apply() | ir.Copy():  # most are
                self._put(i, slots)
            case ir.Assert():
                self._transfer.truth(self.read(i.test, slots), i.test.span)
            case ir.Unpack():
                self._unpack(i, slots)
            case ir.Append():
                receiver = self.read(i.receiver, slots)
                self._transfer.list_method(receiver, "append", [self.read(i.value, slots)], i.span)
            case ir.Extend():
                receiver = self.read(i.receiver, slots)
                self._transfer.list_method(receiver, "extend", [self.read(i.value, slots)], i.span)
            case ir.DeleteItem() | ir.DeleteAttribute():
                self._transfer.out_of_sight([self.read(i.receiver, slots)])
            case ir.SetItem():
                self._set_item(i, slots)
            case ir.SetAttribute():
                self._set_attribute(i, slots)
            case ir.Watch() if i.name in self._asked and (held := slots.get(i.slot)) is not None:
                slots.own[i.slot] = placed(made_float(held), id(i))
            case _ if hasattr(i, "target"):
                self._put(i, slots)

    def _put(self, i: Any, slots: Slots) -> None:
        """Put the value that an instruction makes into its target."""
        found = placed(self._value(i, slots), id(i))
        unsettled = self._transfer.session.unsettled
        slots.own[i.target] = of_any_precision(found) if unsettled else found

    def _value(self, i: ir.Instruction, slots: Slots) -> Any:
        """The value that an instruction puts into its target."""
        match i:
            case ir.Operator():
                args = [self.read(a, slots) for a in i.args]
                return self._transfer.operated(i.operator, args, i.span, i.args)
            case ir.Apply():
                return self._apply(i, slots)
            case ir.Copy():
                return self.read(i.value, slots)
            case ir.Augment():
                operands = (i.receiver, i.value)
                args = [self.read(a, slots) for a in operands]
                found = self._transfer.updated(i.operator, args, i.span, operands)
                if i.operator == "@=":
                    return found
                return self._transfer.changed(args[0], found, i.span, operands, args)
            case ir.Inplace():
                return self._inplace(i, slots)
            case ir.CallBuiltin():
                return self._call_builtin(i, slots)
            case ir.Call():
                function = self.read(i.function, slots)
                args = [self.read(a, slots) for a in i.args]
                keywords = {k: self.read(v, slots) for k, v in i.keywords}
                self._check_call(i, function)
                return self._calls.call(function, args, keywords, i.span)
            case ir.SpreadCall() | ir.SpreadMethod():
                return self._spread(i, slots)
            case ir.Method():
                receiver = self.read(i.receiver, slots)
                args = [self.read(a, slots) for a in i.args]
                keywords = {k: self.read(v, slots) for k, v in i.keywords}
                return self._calls.method(receiver, i.name, args, keywords, i.span)
            case ir.GetAttribute():
                receiver = self.read(i.receiver, slots)
                if isinstance(receiver, Rule):
                    found = receiver.methods.get(i.name) or unknown()
                    return Applied(receiver) if i.name == "apply" else found
                return self._transfer.attribute(receiver, i.name, i.span)
            case ir.Build():
                return self._transfer.built(i.kind, [self.read(item, slots) for item in i.items])
            case ir.Define():
                return self._closure(i.function, slots)
            case ir.DefineClass():
                self._transfer.out_of_sight([self.read(a, slots) for _, a in i.members])
            case ir.DefineRule() if i.bases or i.attributes:
                methods = [self._closure(m, slots) for m in i.methods]
                held = [self.read(a, slots) for _, a in i.attributes]
                self._transfer.out_of_sight([*methods, *held])
            case ir.DefineRule():
                return Rule({m.name: self._closure(m, slots) for m in i.methods})
        return unknown()

    def _spread(self, i: ir.SpreadCall | ir.SpreadMethod, slots: Slots) -> Any:
        """A call with the items of a list. One with a dictionary is not followed."""
        called = self.read(i.receiver if isinstance(i, ir.SpreadMethod) else i.function, slots)
        args = self.read(i.args, slots)
        items = args.items if isinstance(args, List) else None
        if items is None or i.keywords is not None:
            self._transfer.out_of_sight([called, args])
            self._lists.lose_all()
            return unknown()
        if isinstance(i, ir.SpreadMethod):
            return self._calls.method(called, i.name, [*items], {}, i.span)
        return self._calls.call(called, [*items], {}, i.span)

    def _check_call(self, i: ir.Call, function: Any) -> None:
        """Report arguments that a function of the program does not take."""
        if isinstance(function, Closure):
            wrong = wrong_call(i, function.function, self._findings.source.text)
            if wrong is not None:
                self._findings.refuse(wrong, i.span)

    def _closure(self, function: ir.Function, slots: Slots) -> Closure:
        given = [p for p in function.parameters if p.default is not None]
        return Closure(function, slots, {p.name: self.read(p.default, slots) for p in given})

    def read(self, operand: ir.Operand | None, slots: Slots) -> Any:
        """The value of an operand; unknown for a slot without a value, which is reported."""
        match operand:
            case ir.Slot():
                if operand.index in self._shared:
                    return unknown()
                found = slots.get(operand.index)
                if found is None:
                    self._unassigned(operand)
                    found = slots.own[operand.index] = unknown()
                return found
            case ir.Const():
                return self._transfer.known.constant(operand.value)
            case ir.Builtin():
                value = ops[operand.name].constant
                return operand if value is REQUIRED else constant(value)
            case ir.Imported():
                return unknown()
        return constant(None)

    def _unassigned(self, operand: ir.Slot) -> None:
        """Report a name of the top level that has no value on any way to here; in a loop on its
        first turn, in which nothing else is reported.
        """
        if self._findings.unsure or self._calls.depth:
            return
        name = self._findings.source.text[operand.span.start : operand.span.end]
        silent, self._findings.silent = self._findings.silent, 0
        self._findings.refuse(refusals.unassigned(name), operand.span)
        self._findings.silent = silent

    def _apply(self, i: ir.Apply, slots: Slots) -> Any:
        named = {name: self.read(operand, slots) for name, operand in i.arguments}
        first = next(iter(named.values()), None)
        if isinstance(first, FUNCTIONS) and self._calls.is_transform(i.op):
            return self._calls.derivative(i.op, *unbound(i.op, named), i.span)
        return self._transfer.bound(i.op, named, i.span, [o for _, o in i.arguments])

    def _inplace(self, i: ir.Inplace, slots: Slots) -> Any:
        named = {name: self.read(operand, slots) for name, operand in i.arguments}
        operands = [operand for _, operand in i.arguments]
        found = self._transfer.bound(i.op, named, i.span, operands)
        x = named[ops[i.op].args[0]]
        return self._changed(i.op, x, found, i.span, operands, [*named.values()])

    def _changed(
        self,
        name: str,
        x: Any,
        found: Any,
        span: Span,
        operands: Sequence[ir.Operand],
        values: Sequence[Any],
    ) -> Any:
        """The result of an in-place twin of an op."""
        if ops[name].memory.turned is not None:
            return self._transfer.turned(x, found, inside=bool(self._calls.depth))
        return self._transfer.changed(x, found, span, operands, values)

    def _call_builtin(self, i: ir.CallBuiltin, slots: Slots) -> Any:
        args = [self.read(a, slots) for a in i.args]
        keywords = {k: self.read(v, slots) for k, v in i.keywords}
        if self._calls.is_transform(i.name) and args and isinstance(args[0], FUNCTIONS):
            return self._calls.derivative(i.name, args, keywords, i.span)
        if i.name in ops or not args:
            return self._transfer.applied(i.name, args, keywords, i.span, i.args)
        name = i.name.removesuffix("_")
        found = self._transfer.applied(name, args, keywords, i.span, i.args)
        return self._changed(name, args[0], found, i.span, i.args, args)

    def _set_item(self, i: ir.SetItem, slots: Slots) -> None:
        receiver, value = self.read(i.receiver, slots), self.read(i.value, slots)
        index = self.read(i.index, slots)
        if isinstance(receiver, List):
            at = static(plain(index))
            if receiver.items is not None and type(at) is int:
                try:
                    operators.set_item(
                        self._transfer.session, list(receiver.items), at, value, None
                    )
                except GradError as error:
                    self._findings.refuse(error, i.span)
                    return
            self._lists.put(receiver, at, value)
        elif isinstance(receiver, Value) and receiver.shape:
            self._transfer.put(receiver, value, index, i.span)
        else:
            self._transfer.out_of_sight([value])

    def _set_attribute(self, i: ir.SetAttribute, slots: Slots) -> None:
        receiver, value = self.read(i.receiver, slots), self.read(i.value, slots)
        self._transfer.out_of_sight([value])
        if i.name == "data":
            self.exchanged = True
            shapes = getattr(receiver, "shape", None), getattr(value, "shape", None)
            self._findings.replaced = (
                self._findings.replaced or None in shapes or shapes[0] != shapes[1]
            )
        if i.name == "requires_grad" and isinstance(receiver, Value) and receiver.kind != "number":
            receiver.link = LINKED

    def _unpack(self, i: ir.Unpack, slots: Slots) -> None:
        value, n = self.read(i.value, slots), len(i.targets)
        self._transfer.check_items(value, i.span)
        item, count = self._transfer.items(value)
        items = value.items if isinstance(value, List) else value
        if i.starred is not None:
            self._spread_over(i, items, item, count, slots)
            return
        if count is not None and count != n:
            self._findings.refuse(refusals.wrong_count(count, n), i.span)
        parts = items if isinstance(items, (list, tuple)) and len(items) == n else [item] * n
        for target, part in zip(i.targets, parts, strict=True):
            slots.own[target] = part

    def _spread_over(
        self, i: ir.Unpack, items: Any, item: Any, count: int | None, slots: Slots
    ) -> None:
        """Assign items to several targets, one of which takes the list of the remaining items."""
        before, n = i.starred or 0, len(i.targets)
        if count is not None and count < n - 1:
            self._findings.refuse(refusals.too_few(count, n - 1), i.span)
        parts: list[Any] = [item] * n
        if isinstance(items, (list, tuple)) and len(items) >= n - 1:
            left = len(items) - n + 1
            rest = self._lists.new(items[before : before + left])
            parts = [*items[:before], rest, *items[before + left :]]
        else:
            parts[before] = self._lists.new(None, item)
        for target, part in zip(i.targets, parts, strict=True):
            slots.own[target] = part
