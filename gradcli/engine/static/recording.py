"""Find programs that cannot tell whether their run is recorded; those run without recording."""

from __future__ import annotations

from gradcli.engine.ops.catalog import ops
from gradcli.ir import program as ir
from gradcli.ir import visit

_SAME = (
    *(ir.Copy, ir.Operator, ir.Call, ir.Build, ir.Unpack, ir.Branch, ir.Choice, ir.Yield),
    *(
        ir.Append,
        ir.Extend,
        ir.Delete,
        ir.DeleteItem,
        ir.DeleteAttribute,
        ir.SpreadCall,
        ir.Emit,
        ir.EmitAll,
    ),
    *(ir.While, ir.For, ir.Break, ir.Continue, ir.Return, ir.Define, ir.Input, ir.Watch),
)
"""Instructions that do the same, whether it is recorded or not."""

_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%", "**", "@", "+[]", "*[]"})
"""Operators that make a new tensor or list of two operands."""


def sees_recording(program: ir.Program) -> bool:
    """True if a program may read, print or change something in which a recorded run differs from
    another; also true if that is uncertain.
    """
    own = _own(program)
    formats = any(map(_has_format, visit.everything(program)))
    return any(_sees(i, own) or (formats and _fills(i)) for i in visit.everything(program))


def _has_format(i: ir.Instruction) -> bool:
    """True if an instruction has a text that `%` may put values into."""
    texts = (o.value for o in visit.operands(i) if isinstance(o, ir.Const))
    return any(type(text) is str and "%" in text for text in texts)


def _fills(i: ir.Instruction) -> bool:
    """True if an instruction may be a `%` of a text."""
    return isinstance(i, (ir.Operator, ir.Augment)) and i.operator == "%"


def names_recorded(program: ir.Program) -> bool:
    """True if a top-level name may hold a recorded value."""
    top = frozenset(program.names.values())
    return any(
        not top.isdisjoint(visit.writes(i)) and not _is_plain(i) for i in visit.everything(program)
    )


def _is_plain(i: ir.Instruction) -> bool:
    """True if an instruction writes a function, a constant or a value from outside. A param is a
    leaf, whatever its default.
    """
    match i:
        case ir.Input(kind=kind, default=default):
            return kind == "param" or not isinstance(default, ir.Slot)
        case ir.Copy(value=value):
            return not isinstance(value, ir.Slot)
    return isinstance(i, ir.Define)


def _sees(i: ir.Instruction, own: frozenset[int]) -> bool:
    operands = list(visit.operands(i))
    if any(isinstance(o, ir.Imported) for o in operands):
        return True
    if any(isinstance(o, ir.Builtin) and ops[o.name].host.sees for o in operands):
        return True  # whoever calls it
    match i:
        case ir.CallBuiltin(name=name) if name not in ops:
            return True  # the twin of an operation that changes its argument in place
        case ir.Apply(op=name) | ir.CallBuiltin(name=name):
            return ops[name].host.sees and not all(isinstance(o, ir.Const) for o in operands)
        case ir.Method(name=name) | ir.GetAttribute(name=name):
            from gradcli.engine.run.language.members import UNRECORDED

            return name not in UNRECORDED and name not in ops.fields
        case ir.Augment(receiver=ir.Slot(index=index)):
            return index not in own
        case ir.Assert(message=message):
            return isinstance(message, ir.Slot)
    return not isinstance(i, _SAME)


def _own(program: ir.Program) -> frozenset[int]:
    """The slots that hold nothing but constants and what arithmetic has made of others: no leaf and
    no view of one, which must not be changed in place while that is recorded.
    """
    writers = [(set(visit.writes(i)), _handed_on(i)) for i in visit.everything(program)]
    functions = visit.all_functions(program.main)
    others = {parameter.slot for function in functions for parameter in function.parameters}
    others.update(slot for written, handed in writers if handed is None for slot in written)
    while more := {
        slot
        for written, handed in writers
        if handed and handed & others
        for slot in written - others
    }:
        others |= more
    return frozenset().union(*(written for written, _ in writers)) - others


def _handed_on(i: ir.Instruction) -> set[int] | None:
    """The slots whose values an instruction passes on unchanged; none if it makes a new value, None
    if unknown.
    """
    match i:
        case ir.Copy(value=ir.Slot(index=index)) | ir.Augment(receiver=ir.Slot(index=index)):
            return {index}
        case ir.Watch(slot=slot):
            return {slot}
        case ir.Copy():
            return set()
        case ir.Operator(operator=sign, args=(_, _)) if sign in _ARITHMETIC:
            return set()
    return None
