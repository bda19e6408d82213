"""Prepare a typed program for its source code: no prints, no value computed twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.differentiate.differentials import LOST
from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.typed import (
    Block,
    Do,
    If,
    Instruction,
    Leave,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Tell,
    Value,
)
from gradcli.engine.compile.walk import (
    blocks,
    defined,
    instructions,
    operands_of,
    read,
    rewritten,
)
from gradcli.engine.ops.catalog import ops


def prepared(program: Program, wanted: Sequence[int]) -> Program:
    """The program with some of its results alone, and with each value computed once."""
    results = tuple([program.block.results[k] for k in wanted])
    body = unwarned(program.block.body, {x.number for x in results if isinstance(x, Value)})
    found = tidy(Program(program.inputs, Block(body, results), ()), 0)
    block = _Shared().block(found.block, {})
    return tidy(Program(found.inputs, block, ()), 0)


def unwarned(body: Sequence[Instruction], results: set[int]) -> tuple[Instruction, ...]:
    """The outermost instructions without tests whether results are nan, which are tested at last,
    and without loops and branches of which nothing but such a test is left.
    """
    read_of = {i.target.number: i for i in body if isinstance(i, Do)}

    def is_of_result(i: Instruction) -> bool:
        x: Operand | None = i.when if isinstance(i, Leave) else None
        for op in (ops.any, ops.isnan):
            if isinstance(x, Value) and x.number in read_of and read_of[x.number].op == op.name:
                x = read_of[x.number].args[0]
        return isinstance(i, Leave) and isinstance(x, Value) and x.number in results

    kept = [i for i in body if not is_of_result(i)]
    wanted, made = set(results), list[Instruction]()
    for i in reversed(kept):
        is_idle = isinstance(i, (If, Loop)) and not any(v.number in wanted for v in defined(i))
        if is_idle and all(map(_is_quiet, instructions([i]))):
            continue
        made.append(i)
        inner = (x for block in blocks(i) for x in read(block))
        wanted.update(x.number for x in (*operands_of(i), *inner) if isinstance(x, Value))
    return tuple(made[::-1])


def _is_quiet(i: Instruction) -> bool:
    """True for an instruction that changes nothing but values, and gives no error."""
    if isinstance(i, Leave):
        return i.reason == LOST
    return not isinstance(i, (Push, Pop, Tell))


class _Shared:
    """Replaces an op whose value has been computed before, in a block that is still open, and
    drops a test that has been made before.
    """

    def __init__(self) -> None:
        self._same: dict[int, Value] = {}

    def _operand(self, x: Operand) -> Operand:
        return self._same.get(x.number, x) if isinstance(x, Value) else x

    def block(self, block: Block, seen: dict[Any, Value]) -> Block:
        """The block without what `seen` holds; it gets what the block computes."""
        seen = dict(seen)
        body: list[Instruction] = []
        for i in block.body:
            match i:
                case If():
                    then, orelse = self.block(i.then, seen), self.block(i.orelse, seen)
                    body.append(If(i.span, i.targets, self._operand(i.test), then, orelse))
                    continue
                case Loop():
                    initial = tuple([self._operand(x) for x in i.initial])
                    inner = self.block(i.body, seen)
                    body.append(Loop(i.span, i.targets, i.turns, i.params, initial, inner))
                    continue
            made = rewritten(i, self._operand)
            if isinstance(made, Do):
                key = _key(made)
                before = seen.get(key)
                if before is not None:
                    self._same[made.target.number] = before
                    continue
                seen[key] = made.target
            if isinstance(made, Leave) and isinstance(made.when, Value):
                if made.when.number in seen:
                    continue
                seen[made.when.number] = made.when  # a test is made once
            body.append(made)
        results = tuple([self._operand(x) for x in block.results])
        return Block(tuple(body), results)


def _key(i: Do) -> Any:
    args = tuple([x.number if isinstance(x, Value) else (repr(x),) for x in i.args])
    params = repr(sorted((n, x if n != "of" or isinstance(x, str) else id(x)) for n, x in i.params))
    return i.op, args, params, i.target.type
