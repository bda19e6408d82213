"""Tests that the sizes of inputs alone decide. The compiler decides them when it writes code for
some sizes, so that code for any size would have one of their outcomes for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Span

_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%", "**", "[]"})
_DECIDING = frozenset({"==", "!=", "<", "<=", ">", ">=", "not", "in", "not in", "is", "is not"})
_MEASURES = frozenset({"shape", "size", "numel", "nelement"})
_CONVERSIONS = frozenset({"int", "float"})
_EXTREMES = frozenset({"min", "max", "abs", "sign", "round", "floor", "ceil", "clamp", "clip"})
_TESTED = (ir.Branch, ir.Choice, ir.Assert)
_LOOPS = (ir.While, ir.For)


def decided_by_size(program: ir.Program) -> Span | None:
    """The place of the first test, comparison or extreme of sizes and constants alone."""
    passed = _Passed({slot for i in program.inputs for _, slot in i.sizes})
    every = [*visit.all_functions(program.main)]
    for function in every:
        for i in visit.instructions(function.body):
            if isinstance(i, ir.Define):
                passed.functions[i.target] = i.function
    while True:  # until no more sizes are passed on
        before = len(passed.sized) + len(passed.returned)
        for function in every:
            found = _Walk(passed).first(function.body)
            if found is not None:
                return found
        if before == len(passed.sized) + len(passed.returned):
            return None


class _Passed:
    """The sizes that functions pass to each other.

    Args:
        sized: The slots of names of sizes, and of parameters that are sizes.

    Fields:
        functions: The functions that there are, by the slot of their name.
        returned: The slots of names of functions that return a size.
    """

    def __init__(self, sized: set[int]) -> None:
        self.sized = sized
        self.functions: dict[int, ir.Function] = {}
        self.returned: set[int] = set()

    def call(self, i: ir.Call, is_sized: Callable[[ir.Operand], bool]) -> None:
        """Note the arguments of a call that are sizes."""
        function = self.functions.get(i.function.index) if isinstance(i.function, ir.Slot) else None
        if function is None:
            return
        pairs = [*zip(function.parameters, i.args, strict=False)]
        named = dict(i.keywords)
        pairs += [(p, named[p.name]) for p in function.parameters if p.name in named]
        self.sized.update(p.slot for p, operand in pairs if is_sized(operand))

    def returns(self, value: ir.Return) -> None:
        """Note that the function with this statement returns a size."""
        for slot, function in self.functions.items():
            if any(i is value for i in visit.instructions(function.body)):
                self.returned.add(slot)


class _Walk:
    """Follows the numbers that sizes alone make through blocks, in the order of the text.

    Args:
        passed: The sizes that functions pass to each other.
    """

    def __init__(self, passed: _Passed) -> None:
        self._passed = passed
        self._sized = {*passed.sized}
        self._fixed: set[int] = set()  # made of constants alone

    def first(self, body: ir.Body) -> Span | None:
        """The place of the first instruction of a block that sizes decide."""
        for i in body:
            if isinstance(i, _LOOPS):  # what a turn writes is another in each
                self._forget(slot for x in visit.instructions([i]) for slot in visit.writes(x))
            found = self._inner(i)
            if found is not None or self._is_decided(i):
                return found or i.span
            self._note(i)
        return None

    def _inner(self, i: ir.Instruction) -> Span | None:
        if isinstance(i, _TESTED) and self._is_sized(i.test):
            return i.span
        for block in visit.blocks(i):
            found = self.first(block)
            if found is not None:
                return found
            if isinstance(i, ir.While) and block is i.condition and self._is_sized(i.test):
                return i.span
        self._forget(slot for b in visit.blocks(i) for x in visit.instructions(b)
                     for slot in visit.writes(x))  # fmt: skip
        return None

    def _is_sized(self, operand: ir.Operand) -> bool:
        return isinstance(operand, ir.Slot) and operand.index in self._sized

    def _is_known(self, operand: ir.Operand) -> bool:
        known = isinstance(operand, ir.Slot) and operand.index in self._fixed
        return known or self._is_sized(operand) or isinstance(operand, ir.Const)

    def _are_sizes(self, i: ir.Instruction) -> bool:
        """True if all operands are sizes or constants, and there is a size."""
        several = visit.operands(i)
        return all(map(self._is_known, several)) and any(map(self._is_sized, several))

    def _is_decided(self, i: ir.Instruction) -> bool:
        deciding = isinstance(i, ir.Operator) and i.operator in _DECIDING
        return (deciding or _called(i) in _EXTREMES) and self._are_sizes(i)

    def _note(self, i: ir.Instruction) -> None:
        """What an instruction writes."""
        if isinstance(i, ir.Watch):  # tells a slot's value, and leaves it
            return
        measures = (
            _called(i) == "len"
            or (isinstance(i, (ir.Method, ir.GetAttribute)) and i.name in _MEASURES)
        )  # fmt: skip
        passed = (
            isinstance(i, ir.Copy)
            or (isinstance(i, ir.Operator) and i.operator in _ARITHMETIC)
            or _called(i) in _CONVERSIONS
        )
        is_sized = measures or (passed and self._are_sizes(i))
        if isinstance(i, ir.Return) and self._is_sized(i.value):
            self._passed.returns(i)
        if isinstance(i, ir.Call):
            self._passed.call(i, self._is_sized)
            function = i.function
            is_sized = isinstance(function, ir.Slot) and function.index in self._passed.returned
        is_fixed = passed and all(map(self._is_known, visit.operands(i)))
        targets = visit.writes(i)
        self._forget(targets)
        if isinstance(i, ir.Input):
            self._sized.update(slot for _, slot in i.sizes)
        elif is_sized:
            self._sized.update(targets)
        elif is_fixed:
            self._fixed.update(targets)

    def _forget(self, slots: Iterable[int]) -> None:
        for slot in slots:
            self._sized.discard(slot)
            self._fixed.discard(slot)


def _called(i: ir.Instruction) -> str:
    """The name of the function that is called, as programs write it."""
    if isinstance(i, ir.Apply):
        return i.op
    return i.name.rpartition("_")[2] if isinstance(i, ir.CallBuiltin) else ""
