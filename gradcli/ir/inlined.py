"""Estimate how many instructions code of a block is made of: calls are inlined, and loops over few
known turns are unrolled.

No answer may depend on the estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from gradcli.ir import program as ir
from gradcli.ir.visit import all_functions, blocks, instructions, operands, writes

Functions: TypeAlias = Callable[[int], ir.Function | None]
"""Gives the function that a slot holds, if that is known."""

UNROLLED = 200
"""The most instructions that an unrolled loop becomes."""
PASS = 20
"""Instructions that a `backward` counts for."""
_MOST = 100_000
"""Instructions beyond which nothing is counted."""


def functions_of(program: ir.Program) -> Functions:
    """The functions of a program by the slots that hold them, without those that change."""
    found: dict[int, ir.Function | None] = {}
    for function in all_functions(program.main):
        for i in instructions(function.body):
            for slot in writes(i):
                is_first = slot not in found
                found[slot] = i.function if isinstance(i, ir.Define) and is_first else None
    return found.get


def size(body: Sequence[ir.Instruction], functions: Functions) -> int:
    """The number of instructions that a block becomes, `functions` told."""
    return _Inlined(functions).of(body)


class _Inlined:
    """Counts instructions. A function that takes no functions is counted once."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._given: dict[int, ir.Function] = {}
        self._inside: list[ir.Function] = []
        self._sizes: dict[int, int] = {}

    def of(self, body: Sequence[ir.Instruction]) -> int:
        """The number of instructions that a block becomes, at most `_MOST`."""
        found = 0
        lengths: dict[int, int] = {}
        for i in body:
            if isinstance(i, ir.For):
                found += self._looped(i, lengths)
            else:
                found += self._of(i)
            for slot in writes(i):
                lengths.pop(slot, None)
            length = _length(i)
            if length is not None:
                lengths[writes(i)[0]] = length
            if found > _MOST:
                return _MOST
        return found

    def _looped(self, i: ir.For, lengths: dict[int, int]) -> int:
        """The size of a loop: of all its turns if they are unrolled, else of one."""
        turn = 1 + self.of(i.body)
        known = lengths.get(i.iterable.index) if isinstance(i.iterable, ir.Slot) else None
        turns = turn * (known or 1)
        return turns if turns <= UNROLLED else turn

    def _of(self, i: ir.Instruction) -> int:
        found = 1 + sum(map(self.of, blocks(i)))
        match i:
            case ir.Call():
                function = self._held(i.function)
                found += 0 if function is None else self._called(i, function)
            case ir.Method() if is_pass(i):
                found += PASS
            case ir.CallBuiltin() | ir.Apply():  # a transform differentiates its function
                several = [f for f in map(self._held, operands(i)) if f is not None]
                found += sum(map(self._size, several))
                self._given.update(zip(writes(i), several, strict=False))
        return found

    def _held(self, operand: Any) -> ir.Function | None:
        if not isinstance(operand, ir.Slot):
            return None
        return self._given.get(operand.index) or self._functions(operand.index)

    def _called(self, call: ir.Call, function: ir.Function) -> int:
        """The size of a called function, with the functions that it is given."""
        given = dict(_matched(call, function))
        held = {slot: self._held(x) for slot, x in given.items()}
        taken = {slot: f for slot, f in held.items() if f is not None}
        if not taken:
            return self._size(function)
        before, self._given = self._given, {**self._given, **taken}
        found = self._body(function)
        self._given = before
        return found

    def _size(self, function: ir.Function) -> int:
        if id(function) not in self._sizes:
            self._sizes[id(function)] = self._body(function)
        return self._sizes[id(function)]

    def _body(self, function: ir.Function) -> int:
        """The size of a function's body: of a recursive one, of one call."""
        if function in self._inside:
            return 0
        self._inside.append(function)
        found = self.of(function.body)
        self._inside.pop()
        return found


def is_pass(i: ir.Instruction) -> bool:
    """True for a `backward` of a tensor."""
    return isinstance(i, ir.Method) and i.name == "backward"


def _matched(call: ir.Call, function: ir.Function) -> Iterator[tuple[int, Any]]:
    """The parameters of a called function with their arguments."""
    named = dict(call.keywords)
    for k, p in enumerate(function.parameters):
        yield p.slot, call.args[k] if k < len(call.args) else named.get(p.name)


def _length(i: ir.Instruction) -> int | None:
    """The length of the range that an instruction makes, if it is known."""
    if not isinstance(i, ir.CallBuiltin) or i.name != "range" or i.keywords:
        return None
    bounds = [x.value for x in i.args if isinstance(x, ir.Const) and type(x.value) is int]
    if len(bounds) != len(i.args) or len(bounds) not in (1, 2, 3) or 0 in bounds[2:]:
        return None
    found = range(*bounds)
    return len(found) if len(found[: UNROLLED + 1]) <= UNROLLED else None
