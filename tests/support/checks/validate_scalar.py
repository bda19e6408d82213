"""Validate functions of the scalar form. The tests validate each one that is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gradcli.engine.compile.scalar.form import (
    CHECKED,
    KINDS,
    LIBRARY,
    PRIMITIVES,
    Bail,
    Block,
    Branch,
    Call,
    Do,
    Edge,
    End,
    Function,
    Give,
    GiveUp,
    Instruction,
    Jump,
    Library,
    Operand,
    Repeat,
    Value,
    type_of,
)


def faults(function: Function, called: Mapping[str, Function]) -> list[str]:
    """The broken rules, with function and block. Types fit; each value is defined once and on every
    path to its reads; blocks end once; edges lead to later blocks and pass the arguments that these
    take. `called` has the functions that it may call, by name.
    """
    return [f"{function.name}, {fault}" for fault in _Walk(function, called).faults()]


class _Walk:
    def __init__(self, function: Function, called: Mapping[str, Function]) -> None:
        self.function = function
        self.called = called
        self.blocks = {block.label: block for block in function.blocks}
        self.places = {block.label: k for k, block in enumerate(function.blocks)}
        self.types: dict[int, str] = {}

    def faults(self) -> Iterator[str]:
        """The broken rules. A block may read values of all blocks that every path to it passes."""
        function = self.function
        if len(self.blocks) < len(function.blocks):
            yield "two blocks have one label"
            return
        if sum(isinstance(block.end, Give) for block in function.blocks) != 1:
            yield "it does not give its result in one block"
        if function.blocks[0].params:
            yield "the first block takes arguments"
        before: dict[int, list[_Known]] = {}
        everywhere = _Known(set(), frozenset())
        for fault in self.define(function.params, everywhere.values):
            yield f"parameters: {fault}"
        for k, block in enumerate(function.blocks):
            if k == 0:
                known = everywhere
            elif block.label in before:
                known = _common(before[block.label])
            else:
                known = _Known(set(self.types), frozenset(self.blocks))  # an unreachable block
            known = _Known(set(known.values), known.blocks | {block.label})
            for fault in self.block(block, known):
                yield f"block {block.label}: {fault}"
            for edge in _edges(block.end):
                if not isinstance(block.end, Repeat):
                    before.setdefault(edge.label, []).append(known)

    def block(self, block: Block, known: _Known) -> Iterator[str]:
        yield from self.define(block.params, known.values)
        for i in block.body:
            yield from self.instruction(i, known.values)
        yield from self.end(block, known)

    def instruction(self, i: Instruction, seen: set[int]) -> Iterator[str]:
        match i:
            case Do(target=target, primitive=name, args=args) if name in PRIMITIVES:
                takes, gives = PRIMITIVES[name].takes, PRIMITIVES[name].gives
                yield from self.bails(name in CHECKED)
            case Library(target=target, function=name, args=args) if name in LIBRARY:
                takes, gives = ("float",) * LIBRARY[name], "float"
            case Call(target=target, function=name, args=args) if name in self.called:
                takes = tuple(p.type for p in self.called[name].params)
                gives = self.called[name].type
                yield from self.bails(self.called[name].bails)
            case Bail(when=when, kind=kind):
                yield from self.read(("bool",), (when,), seen, "bail out")
                yield from self.kind(kind)
                return
            case _:
                yield f"{i} is no instruction"
                return
        yield from self.read(takes, args, seen, name)
        if target.type != gives:
            yield f"`{name}` gives {gives}, not {target.type}"
        yield from self.define((target,), seen)

    def end(self, block: Block, known: _Known) -> Iterator[str]:
        match block.end:
            case Jump() | Repeat():
                pass
            case Branch(test=test):
                yield from self.read(("bool",), (test,), known.values, "a branch")
            case Give(result=result):
                yield from self.read((self.function.type,), (result,), known.values, "the result")
            case GiveUp(kind=kind):
                yield from self.kind(kind)
            case _:
                yield "it has no end"
        for edge in _edges(block.end):
            to = self.blocks.get(edge.label)
            if to is None:
                yield f"there is no block {edge.label}"
                continue
            takes = [p.type for p in to.params]
            yield from self.read(takes, edge.args, known.values, f"the edge to {edge.label}")
            back = self.places[edge.label] <= self.places[block.label]
            if back != isinstance(block.end, Repeat):
                yield f"the edge to {edge.label} leads the wrong way"
            elif back and edge.label not in known.blocks:
                yield f"the edge to {edge.label} leads into a loop that has not begun"

    def define(self, values: Iterable[Value], seen: set[int]) -> Iterator[str]:
        for value in values:
            if value.number in self.types:
                yield f"%{value.number} is defined twice"
            self.types[value.number] = value.type
            seen.add(value.number)

    def read(
        self, takes: Sequence[str], args: Sequence[Operand], seen: set[int], by: str
    ) -> Iterator[str]:
        found = [type_of(x) for x in args]
        if found != [*takes]:
            yield f"{by} takes {[*takes]}, not {found}"
        for x in args:
            if isinstance(x, Value):
                if x.number not in seen:
                    yield f"%{x.number} may not be there where {by} reads it"
                elif self.types[x.number] != x.type:
                    yield f"%{x.number} is {self.types[x.number]} and read as {x.type} by {by}"
            elif type(x) is int and not -(2**63) <= x < 2**63:
                yield f"{x}, which {by} reads, is larger than 64 bits"

    def kind(self, kind: str) -> Iterator[str]:
        if kind not in KINDS:
            yield f"{kind!r} is no kind of bail out"
        yield from self.bails(True)

    def bails(self, here: bool) -> Iterator[str]:
        if here and not self.function.bails:
            yield "the function bails out and does not say so"


class _Known:
    """The values that a block may read, and the blocks on every path to it."""

    __slots__ = ("blocks", "values")

    def __init__(self, values: set[int], blocks: frozenset[int]) -> None:
        self.values = values
        self.blocks = blocks


def _common(several: Sequence[_Known]) -> _Known:
    values = set.intersection(*(known.values for known in several))
    return _Known(values, frozenset.intersection(*(known.blocks for known in several)))


def _edges(end: End) -> tuple[Edge, ...]:
    match end:
        case Jump(to=to) | Repeat(to=to):
            return (to,)
        case Branch(yes=yes, no=no):
            return (yes, no)
    return ()
