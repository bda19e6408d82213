"""Find the top-level names on whose last values a result may depend: by some path of the program,
whatever path a run takes.

A forward data-flow analysis. Each assignment of a slot is a definition. The state holds, for every
slot, the definitions that its present value may come from (`now`) and those on which that value may
depend (`deps`). A function counts as depending on all that it reads, at each place where it may be
called. A change in place reaches every slot whose value may share an object with the changed one.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradcli.engine.ops.catalog import ops
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.record import Record

Definitions = frozenset[int]
NONE: Definitions = frozenset()

_CHANGES = (ir.SetAttribute, ir.SetItem, ir.Append, ir.Extend, ir.Inplace, ir.DeleteItem)
_INNER = (ir.Mode, ir.Assert, ir.Input)
"""Instructions whose blocks run once, where they stand."""


class Origins(Record):
    """What a result may come from.

    Fields:
        names: the top-level names on whose last value it may depend.
        leafy: those of them that may hold a leaf at the end and are assigned more than once.
        leaves: true if the program may make a leaf that requires grad.
    """

    __slots__ = ("names", "leafy", "leaves")
    names: frozenset[str]
    leafy: frozenset[str]
    leaves: bool


def origins(program: ir.Program, of: str | None) -> Origins:
    """The origins of a result.

    Args:
        program: The program.
        of: The top-level name that is the result; None: the program's own. If it has none, the
            result may depend on all names.
    """
    everything = list(visit.everything(program))
    leaves = any(map(makes_leaf, everything)) or any(map(_imports, everything))
    slot = program.result if of is None else ir.Slot(program.names[of], program.main.span)
    walk = _Walk(program)
    walk.block(program.main.body, weak=False)
    names = frozenset(program.names)
    if slot is not None:
        reached = walk.closed(walk.of(slot))
        names = frozenset(n for n, at in program.names.items() if walk.now.get(at, NONE) & reached)
    several = names - program.watchable
    leafy = frozenset(n for n in several if leaves and walk.may_hold_leaf(program.names[n]))
    return Origins(names, leafy, leaves)


def _imports(i: ir.Instruction) -> bool:
    """True if an instruction uses something of the library: modules make leaves."""
    return any(isinstance(operand, ir.Imported) for operand in visit.operands(i))


def makes_leaf(i: ir.Instruction) -> bool:
    """True if an instruction may make a leaf that requires grad."""
    match i:
        case ir.Input():
            return i.kind == "param"
        case ir.Apply():
            return any(name == "requires_grad" for name, _ in i.arguments)
        case ir.CallBuiltin() | ir.Method():
            named = any(name == "requires_grad" for name, _ in i.keywords)
            return named or i.name == "requires_grad_"
        case ir.SetAttribute():
            return i.name == "requires_grad"
    return False


class _Walk:
    """One analysis. Definitions are numbers: the `id` of the instruction that writes a slot, or of
    the function that it defines.
    """

    def __init__(self, program: ir.Program) -> None:
        self._functions = {id(f): f for f in visit.all_functions(program.main)}
        self._named = frozenset(program.names.values())
        self._by_id = {id(i): i for i in visit.everything(program)}
        self._switched = any(map(_switches, self._by_id.values()))
        self._reads = {at: _read_in(f) for at, f in self._functions.items()}
        self.now: dict[int, Definitions] = {}
        self._deps: dict[int, Definitions] = {}

    def of(self, operand: ir.Operand) -> Definitions:
        """The definitions on which an operand may depend."""
        return self._deps.get(operand.index, NONE) if isinstance(operand, ir.Slot) else NONE

    def closed(self, deps: Definitions) -> Definitions:
        """Definitions, and those that the functions among them read."""
        pending, found = list(deps), set(deps)
        while pending:
            for slot in self._reads.get(pending.pop(), ()):
                more = self._deps.get(slot, NONE) - found
                found |= more
                pending += more
        return frozenset(found)

    def may_hold_leaf(self, slot: int) -> bool:
        """True if the present value of a slot may be a leaf that requires grad."""
        pending, met = [*self.now.get(slot, NONE)], set(self.now.get(slot, NONE))
        while pending:
            i = self._by_id[pending.pop()]
            if isinstance(i, ir.Copy):
                before = self.now.get(i.value.index, NONE) if isinstance(i.value, ir.Slot) else NONE
                pending += before - met
                met |= before
            elif self._switched or _may_give_leaf(i):
                return True
        return False

    def block(self, body: ir.Body, *, weak: bool) -> None:
        """Follow a block; `weak` if its assignments may not happen, or happen again."""
        for i in body:
            self._follow(i, weak=weak)

    def _follow(self, i: ir.Instruction, *, weak: bool) -> None:
        blocks = visit.blocks(i)
        if isinstance(i, ir.Branch):
            self._branch(i, weak=weak)
        elif blocks and not isinstance(i, _INNER):
            before = -1
            while before != (before := self._size()):
                self._do(i, weak=True)
                for block in blocks:
                    self.block(block, weak=True)
        else:
            for block in blocks:
                self.block(block, weak=weak)
            self._do(i, weak=weak)

    def _branch(self, i: ir.Branch, *, weak: bool) -> None:
        now, deps = dict(self.now), dict(self._deps)
        self.block(i.then, weak=weak)
        then = self.now, self._deps
        self.now, self._deps = now, deps
        self.block(i.orelse, weak=weak)
        for mine, other in zip((self.now, self._deps), then, strict=True):
            for slot, found in other.items():
                mine[slot] = mine.get(slot, NONE) | found

    def _size(self) -> int:
        return sum(map(len, self.now.values())) + sum(map(len, self._deps.values()))

    def _do(self, i: ir.Instruction, *, weak: bool) -> None:
        """The effect of an instruction itself."""
        if isinstance(i, ir.Watch):
            return  # the slot keeps its value
        operands = list(visit.operands(i))
        made = frozenset().union(*map(self.of, operands), (id(f) for f in visit.functions(i)))
        called = [] if isinstance(i, (ir.Copy, ir.Define, ir.Build)) else self._called(made)
        if called:
            made = self.closed(made)
        if isinstance(i, ir.Choice):
            yields = [y for block in (i.then, i.orelse) for y in block if isinstance(y, ir.Yield)]
            made = made.union(*(self.of(y.value) for y in yields))
        if isinstance(i, _CHANGES) or _changes(i):
            self._change(operands[:1], made)
        for function in called:
            self._call(function, made)
        for slot in visit.writes(i):
            self._write(i, slot, made, weak=weak or isinstance(i, ir.Augment))

    def _write(self, i: ir.Instruction, slot: int, made: Definitions, *, weak: bool) -> None:
        own = frozenset({id(i)})
        now, deps = (self.now.get(slot, NONE), self._deps.get(slot, NONE)) if weak else (NONE, NONE)
        self.now[slot] = now | own
        self._deps[slot] = deps | made | (own if slot in self._named else NONE)

    def _change(self, receivers: Iterable[ir.Operand], made: Definitions) -> None:
        """Let all that may share an object with some values depend on more."""
        changed = frozenset().union(*map(self.of, receivers))
        for slot, deps in self._deps.items():
            if deps & changed:
                self._deps[slot] = deps | made

    def _called(self, made: Definitions) -> list[ir.Function]:
        """The functions that may be called where these definitions are used."""
        return [self._functions[at] for at in self.closed(made) if at in self._functions]

    def _call(self, function: ir.Function, made: Definitions) -> None:
        """What a call changes around a function."""
        inside = list(visit.instructions(function.body))
        around = visit.written_around(function)
        for i in inside:
            for slot in around.intersection(visit.writes(i)):
                self._write(i, slot, made, weak=True)
        if any(isinstance(i, _CHANGES) or _changes(i) for i in inside):
            self._change((ir.Slot(slot, function.span) for slot in function.captures), made)


def _switches(i: ir.Instruction) -> bool:
    """True if an instruction may make a leaf of a value that is there."""
    if isinstance(i, ir.SetAttribute):
        return i.name == "requires_grad"
    return isinstance(i, (ir.Method, ir.SpreadMethod)) and i.name == "requires_grad_"


def _may_give_leaf(i: ir.Instruction) -> bool:
    """True if the value that an instruction puts into a slot may be a leaf."""
    match i:
        case ir.Operator():
            return i.operator == "[]"
        case ir.Apply():
            return makes_leaf(i) or ops[i.op].host.call is not None
        case ir.Augment() | ir.Build() | ir.Format() | ir.Define() | ir.DefineClass():
            return False
    return True


def _changes(i: ir.Instruction) -> bool:
    """True if a method may change its receiver: one that is no built-in operation."""
    if isinstance(i, ir.CallBuiltin):
        return i.name.endswith("_")
    return isinstance(i, (ir.Method, ir.SpreadMethod)) and bool(
        (i.args if isinstance(i.args, tuple) else True) or getattr(i, "keywords", ())
    )


def _read_in(function: ir.Function) -> frozenset[int]:
    """The slots that a function reads, and the functions in it."""
    return frozenset(
        slot.index for i in visit.instructions(function.body) for slot in visit.reads(i)
    ).union(*(_read_in(inner) for inner in visit.functions_in(function.body)))
