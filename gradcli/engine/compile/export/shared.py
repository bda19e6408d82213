"""Prepare a typed program for its source code: no prints, no value computed twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.typed import (
    Block,
    Do,
    DoSeveral,
    If,
    Instruction,
    Loop,
    Operand,
    Program,
    Value,
)
from gradcli.engine.compile.walk import rewritten


def prepared(program: Program, wanted: Sequence[int]) -> Program:
    """The program with some of its results alone, and with each value computed once."""
    results = tuple([program.block.results[k] for k in wanted])
    found = tidy(Program(program.inputs, Block(program.block.body, results), ()), 0)
    block = _Shared().block(found.block, {})
    return tidy(Program(found.inputs, block, ()), 0)


class _Shared:
    """Replaces an op whose value has been computed before, in a block that is still open."""

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
            elif isinstance(made, DoSeveral):
                pass
            body.append(made)
        results = tuple([self._operand(x) for x in block.results])
        return Block(tuple(body), results)


def _key(i: Do) -> Any:
    args = tuple([x.number if isinstance(x, Value) else (repr(x),) for x in i.args])
    params = repr(sorted((n, x if n != "of" or isinstance(x, str) else id(x)) for n, x in i.params))
    return i.op, args, params, i.target.type
