"""How instructions treat values that are not finite, called lost: which hand them on, and which
may make one finite in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, TypeAlias

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op
from gradcli.engine.run.language.operators import OPS
from gradcli.engine.values.data import Quiet, holds_finite, np
from gradcli.ir import program as ir
from gradcli.ir import visit

_BAD = (float("nan"), float("inf"), float("-inf"))
_OTHERS = (0.0, -0.0, 0.5, 1.0, -2.5, 3.0, 1e300, *_BAD)


def operation(i: ir.Instruction) -> tuple[Op, Sequence[ir.Operand]] | None:
    """The op that an instruction does, with its operands in the op's order; None if it does none,
    or in another way.
    """
    match i:
        case ir.Operator() if (i.operator, len(i.args)) in OPS and i.operator != "[]":
            return ops[OPS[i.operator, len(i.args)]], i.args
        case ir.Augment() if (i.operator, 2) in OPS:
            return ops[OPS[i.operator, 2]], (i.receiver, i.value)
        case ir.Apply() | ir.Inplace() if tuple(n for n, _ in i.arguments) == ops[i.op].args:
            return ops[i.op], tuple(operand for _, operand in i.arguments)
    return None


@cache
def hands_on(op: Op, at: int, count: int) -> bool:
    """True if an op with this many operands is not finite wherever one of them is not, and another
    value is never beside it.
    """
    with Quiet():
        if op.value.number is not None and count <= 2:
            others = product(_OTHERS, repeat=count - 1)
            made = (op.value.number(*rest[:at], bad, *rest[at:]) for rest in others for bad in _BAD)
            return not any(map(holds_finite, made))
        if count == 1 and op.value.number is None and op.host.call is None:
            return not any(holds_finite(_of_array(op, bad)) for bad in _BAD)
    return False


def _of_array(op: Op, bad: float) -> Any:
    """The result of an op on an array with a value that is not finite; 0 if it has none."""
    try:
        return op.evaluate([np.array([1.0, bad, -2.0])], op.params)
    except Exception:  # an op that does not take it proves nothing
        return 0.0


def stays_lost(program: ir.Program, made_by: ir.Instruction) -> bool:
    """True if nothing in a program makes the lost result of an instruction finite in place, as far
    as the text tells: not by that name, not by another that shares its memory.

    A gradient may be set to zero. It shares its memory with nothing but what is made of it by
    views, and the result of an instruction here is none.
    """
    if not _has_own_memory(made_by):
        return False
    if isinstance(made_by, ir.Augment) and any(map(_is_of_library, visit.everything(program))):
        return False  # a module may hold the tensor
    makers = _makers(program)
    return not any(_may_make_finite(i, by, makers) for i, by in _with_receivers(program))


def steady_slots(program: ir.Program) -> Iterator[int]:
    """The slots of the main program that share their memory with no gradient and no object of the
    library, as far as the text tells.
    """
    if not any(map(_is_of_library, visit.everything(program))):
        makers = _makers(program)
        yield from (slot for slot in program.main.locals if _all_own(makers.get(slot, ())))


Makers: TypeAlias = Mapping[int, Sequence[ir.Instruction]]
"""The instructions that write a slot."""


def _makers(program: ir.Program) -> Makers:
    found: dict[int, list[ir.Instruction]] = {}
    for i in visit.everything(program):
        for slot in visit.writes(i):
            found.setdefault(slot, []).append(i)
    return found


def _all_own(makers: Sequence[ir.Instruction]) -> bool:
    """True if all that a slot gets has memory of its own, whatever a function returns."""
    return bool(makers) and all(not isinstance(i, ir.Call) and _has_own_memory(i) for i in makers)


def _has_own_memory(i: ir.Instruction) -> bool:
    """True if the result of an instruction is no view; `x += e` keeps that of `x`."""
    match i:
        case ir.Operator():
            return i.operator != "[]"
        case ir.Apply():
            return not ops[i.op].memory.view
    return isinstance(i, (ir.Augment, ir.Build, ir.Call, ir.Input))


def _is_of_library(i: ir.Instruction) -> bool:
    """True if an instruction uses the library, apart from optimizers: their steps add to what they
    train, which stays lost.
    """
    found = (operand.path for operand in visit.operands(i) if isinstance(operand, ir.Imported))
    return any(not path.startswith("torch.optim.") for path in found)


def _may_make_finite(i: ir.Instruction, receiver: ir.Instruction | None, makers: Makers) -> bool:
    """True if an instruction may make a value finite in place, or has operators of its own.

    Args:
        i: The instruction.
        receiver: The instruction that has just made the receiver; None if that is not known.
        makers: Those of all slots.
    """
    is_gradient = isinstance(receiver, ir.GetAttribute) and receiver.name == "grad"
    match i:
        case ir.Augment() | ir.Inplace():
            done = operation(i)
            return not is_gradient and (done is None or not hands_on(done[0], 0, len(done[1])))
        case ir.CallBuiltin() | ir.Method():
            return i.name.endswith("_") and not is_gradient
        case ir.SetItem():  # of a lost receiver the proof itself knows
            return not (isinstance(i.receiver, ir.Slot) and _all_own(makers[i.receiver.index]))
        case ir.SetAttribute():
            is_none = isinstance(i.value, ir.Const) and i.value.value is None
            return i.name in ("data", "grad") and not is_none
    return isinstance(i, (ir.DefineClass, ir.SpreadMethod))


def _with_receivers(
    program: ir.Program,
) -> Iterator[tuple[ir.Instruction, ir.Instruction | None]]:
    """The instructions of a program, each with the one of its block that has made its receiver."""
    for function in visit.all_functions(program.main):
        waiting = [function.body]
        for block in waiting:  # the loop extends it
            made: dict[int, ir.Instruction] = {}
            for i in block:
                receiver = getattr(i, "receiver", None)
                yield i, made.get(receiver.index) if isinstance(receiver, ir.Slot) else None
                inner = visit.blocks(i)
                waiting.extend(inner)
                if inner:
                    made.clear()
                made.update((slot, i) for slot in visit.writes(i))
