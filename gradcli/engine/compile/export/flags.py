"""Leave out of a derivative the flags that tell absent cotangents from zeros.

Compiled code keeps them for the sign of zeros. Source code that people read has plain zeros.
"""

from __future__ import annotations

from math import copysign

from gradcli.engine.compile.differentiate.differentials import Derived
from gradcli.engine.compile.passes.simplify import Simple, tidy
from gradcli.engine.compile.typed import (
    Block,
    Do,
    If,
    Instruction,
    Loop,
    Operand,
    Program,
    Tell,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.internal.whole import Constant


def silent(program: Program) -> Program:
    """A program that prints nothing."""
    return Program(program.inputs, _silent(program.block), ())


def _silent(block: Block) -> Block:
    made: list[Instruction] = []
    for i in block.body:
        match i:
            case Tell():
                continue
            case If():
                sides = _silent(i.then), _silent(i.orelse)
                made.append(If(i.span, i.targets, i.test, *sides))
            case Loop():
                body = _silent(i.body)
                made.append(Loop(i.span, i.targets, i.turns, i.params, i.initial, body))
            case _:
                made.append(i)
    return Block(tuple(made), block.results)


def unflagged(found: Derived) -> Derived:
    """A derivative with zeros in place of absent cotangents."""
    known: dict[int, Operand] = dict.fromkeys(found.flags, False)
    program = found.program
    whole = Program(
        program.inputs,
        Block(program.block.body, (*program.block.results, *found.absent)),
        program.texts,
    )
    made = Simple(known).last(whole)
    block = _positive(made.block, found.first)
    count = len(program.block.results)
    absent = block.results[count:]
    made = tidy(Program(made.inputs, Block(block.body, block.results[:count]), made.texts), 0)
    return Derived(made, absent, found.first, (), found.cotangents)


def _positive(block: Block, first: int) -> Block:
    """A block whose branches and loops of cotangents begin with zero, not with its negative."""
    made: list[Instruction] = []
    for i in block.body:
        match i:
            case Do(op=ops.held.name, target=target) if target.number >= first:
                made.append(_of_zeros(i))
            case If():
                sides = [_positive(side, first) for side in (i.then, i.orelse)]
                if all(t.number >= first for t in i.targets):
                    sides = [Block(s.body, tuple(map(_zero, s.results))) for s in sides]
                made.append(If(i.span, i.targets, i.test, *sides))
            case Loop():
                initial = i.initial
                if all(p.number >= first for p in i.params):
                    initial = tuple(map(_zero, initial))
                body = _positive(i.body, first)
                made.append(Loop(i.span, i.targets, i.turns, i.params, initial, body))
            case _:
                made.append(i)
    return Block(tuple(made), block.results)


def _of_zeros(i: Do) -> Do:
    """A known array with zeros in place of negative ones."""
    ((name, of),) = i.params
    assert isinstance(of, Constant)
    if of.dtype != "float64":
        return i
    return Do(i.span, i.target, i.op, i.args, ((name, Constant(of.data + 0.0)),))


def _zero(x: Operand) -> Operand:
    return 0.0 if type(x) is float and x == 0.0 and copysign(1.0, x) < 0 else x
