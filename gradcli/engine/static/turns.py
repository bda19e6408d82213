"""Estimate the steps that a run takes at least: loops over known `range`s, and calls.

No answer may depend on the estimate.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.ir import program as ir
from gradcli.ir.visit import blocks, instructions, writes

_MOST = 10_000  # instructions that are looked at
_LARGEST = 2**62  # ints beyond it are not followed: ranges have no lengths there
_OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def known_steps(program: ir.Program, given: Mapping[str, Any]) -> int:
    """The steps that are known of a run with these values of its inputs: 0 if none are."""
    return _Known(given).of(program.main.body)


class _Known:
    """The values known at this point of a run: ints, ranges of them by their length, functions."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self._values: dict[int, int | range | ir.Function] = {}
        self._inside: list[ir.Function] = []
        self._left = _MOST

    def of(self, body: Sequence[ir.Instruction]) -> int:
        """The steps of a block, without those that it may leave out."""
        found = 0
        for i in body:
            self._left -= 1
            if self._left < 0:
                break
            found += self._steps(i)
        return found

    def _steps(self, i: ir.Instruction) -> int:
        match i:
            case ir.For():
                turns = self._value(i.iterable)
                self._forget(i)
                each = 1 + self.of(i.body)
                return len(turns) * each if isinstance(turns, range) and not _is_left(i) else 0
            case ir.Call():
                function = self._value(i.function)
                self._forget(i)
                return 1 + (self._called(i, function) if isinstance(function, ir.Function) else 0)
            case ir.Mode():
                return self.of(i.body)
        found = self.of(i.body) if isinstance(i, ir.Input) else 0
        value = self._made(i)
        self._forget(i)
        if value is not None:
            self._values[writes(i)[0]] = value
        return found

    def _called(self, call: ir.Call, function: ir.Function) -> int:
        """The steps of a function, with the ints that it is given by place."""
        if function in self._inside:
            return 0
        kept = dict(self._values)
        for n, parameter in enumerate(function.parameters):
            given = call.args[n] if n < len(call.args) else parameter.default
            by_name = [x for name, x in call.keywords if name == parameter.name]
            value = self._value(by_name[0] if by_name else given)
            self._values.pop(parameter.slot, None)
            if value is not None:
                self._values[parameter.slot] = value
        self._inside.append(function)
        found = self.of(function.body)
        self._inside.pop()
        self._values = kept
        return found

    def _made(self, i: ir.Instruction) -> int | range | ir.Function | None:
        """The value that an instruction makes, if it is known."""
        match i:
            case ir.Define():
                return i.function
            case ir.Input():
                given = i.name in self._given
                return _counted(self._given[i.name]) if given else self._value(i.default)
            case ir.Copy():
                return self._value(i.value)
            case ir.Operator(args=(_, _)) if i.operator in _OPERATORS:
                a, b = map(self._value, i.args)
                if isinstance(a, int) and isinstance(b, int):
                    return _counted(_OPERATORS[i.operator](a, b))
            case ir.CallBuiltin(name="range") if not i.keywords:
                bounds = [x for x in map(self._value, i.args) if isinstance(x, int)]
                if len(bounds) == len(i.args) in (1, 2, 3) and 0 not in bounds[2:]:
                    return range(*bounds)
        return None

    def _value(self, operand: Any) -> int | range | ir.Function | None:
        if isinstance(operand, ir.Slot):
            return self._values.get(operand.index)
        return _counted(operand.value) if isinstance(operand, ir.Const) else None

    def _forget(self, i: ir.Instruction) -> None:
        """Forget the values that an instruction, or one inside it, sets."""
        for inside in instructions([i]):
            for slot in writes(inside):
                self._values.pop(slot, None)


def _counted(value: object) -> int | None:
    """A value if it is an int small enough for ranges, else None."""
    return value if type(value) is int and abs(value) < _LARGEST else None


def _is_left(loop: ir.For) -> bool:
    """True if a loop may end before its last turn."""
    return any(map(_leaves, loop.body))


def _leaves(i: ir.Instruction) -> bool:
    """True if an instruction may end the turn that it is in, and the loop."""
    if isinstance(i, (ir.Break, ir.Return)):
        return True
    inside = (x for block in blocks(i) for x in block)
    if isinstance(i, (ir.For, ir.While)):
        return any(isinstance(x, ir.Return) for x in instructions([i]))
    return any(map(_leaves, inside))
