"""Facts about a program's values, for each instruction: the result of `elaborate`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gradcli.engine.static.kinds import FUNCTIONS, Each
from gradcli.engine.static.lists import List
from gradcli.engine.static.value import UNSURE, Value, agree
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.record import Record

_MOST_ITEMS = 100  # of a list whose items have facts of their own


class Fact(Record):
    """The facts known about one value, whenever the program reaches it.

    Fields:
        kind: "number", "tensor", "text", "none", "list", "tuple", "function", "iterator" and so on;
            None if it is unknown or may be one of several.
        dtype: of a number or tensor, None if unknown.
        shape: of a number (`()`) or tensor, None if unknown.
        constant: the value if it is always the same, else UNSURE.
        memory: the instructions, by `id`, that may have made the memory of the value;
            None if any may have. Values whose sets are disjoint share no memory.
        items: facts of the items of a list or tuple that has a known, small number of them, else
            None.
    """

    __slots__ = ("kind", "dtype", "shape", "constant", "memory", "items")
    kind: str | None
    dtype: str | None
    shape: tuple[int, ...] | None
    constant: Any
    memory: frozenset[int] | None
    items: tuple[Fact, ...] | None


NOTHING = Fact(None, None, None, UNSURE, None, None)
"""The facts of an unknown value."""


def told(f: Fact) -> str:
    """A fact in short: `tensor float64[2, 3]`, `number int64 = 3`, `list`; "?" if unknown."""
    if f.kind not in ("number", "tensor", None):
        return f.kind or "?"
    shape = "" if f.kind == "number" else str(list(f.shape)) if f.shape is not None else "[?]"
    text = f"{f.kind or '?'} {f.dtype or '?'}{shape}"
    if (f.kind, f.dtype, f.shape) == (None, None, None):
        text = "?"
    return text if f.constant is UNSURE else f"{text} = {f.constant!r}"


class Known(Record):
    """The facts of an instruction: of its operands, in the order of `visit.operands`, and of the
    values that it puts into its targets.
    """

    __slots__ = ("operands", "targets")
    operands: tuple[Fact, ...]
    targets: tuple[Fact, ...]


def fact(value: Any) -> Fact:
    """The facts of a value of the walk."""
    if isinstance(value, Value):
        if value.fact is None:
            made = value.kind, value.dtype, value.shape, value.known, value.memory
            value.fact = Fact(*made, None)
        found: Fact = value.fact
        return found
    if isinstance(value, List):
        return Fact("list", None, None, UNSURE, value.memory, _facts(value.items))
    if type(value) is tuple:
        return Fact("tuple", None, None, UNSURE, frozenset(), _facts(value))
    if isinstance(value, (*FUNCTIONS, ir.Builtin)):
        return Fact("function", None, None, UNSURE, frozenset(), None)
    return Fact("iterator", None, None, UNSURE, None, None) if isinstance(value, Each) else NOTHING


def _facts(items: Sequence[Any] | None) -> tuple[Fact, ...] | None:
    return None if items is None or len(items) > _MOST_ITEMS else tuple(map(fact, items))


def either(a: Fact, b: Fact) -> Fact:
    """The facts that hold for both of two values."""
    if a is b or a == b:
        return a
    items = None
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = tuple(map(either, a.items, b.items))
    return Fact(
        a.kind if a.kind == b.kind else None,
        a.dtype if a.dtype == b.dtype else None,
        a.shape if a.shape == b.shape else None,
        a.constant if agree(a.constant, b.constant) else UNSURE,
        None if a.memory is None or b.memory is None else a.memory | b.memory,
        items,
    )


class Facts:
    """The facts about each instruction of a program, over all paths of the walk.

    Args:
        program: The program.
        most: Facts are noted for this many instructions at the beginning of main, with all in them;
            None: for all instructions.
    """

    def __init__(self, program: ir.Program, most: int | None = None) -> None:
        self._program = program
        self._known: dict[int, Known] = {}
        self._wanted: frozenset[int] | None = None
        if most is not None and len(program.main.body) > most:
            self._wanted = frozenset(map(id, _inside(program.main.body[:most])))

    def wants(self, i: ir.Instruction) -> bool:
        """True if the facts of an instruction are noted."""
        return self._wanted is None or id(i) in self._wanted

    def of(self, i: ir.Instruction) -> Known | None:
        """The facts of an instruction; None for one that the program does not reach."""
        return self._known.get(id(i))

    def note(self, i: ir.Instruction, operands: Sequence[Fact], targets: Sequence[Fact]) -> None:
        """Add the facts that the walk has met at an instruction."""
        found = Known(tuple(operands), tuple(targets))
        before = self._known.get(id(i))
        self._known[id(i)] = found if before is None else _both(before, found)

    def lose(self, functions: Iterable[ir.Function]) -> None:
        """Make the values in these functions unknown: the walk does not follow their calls."""
        for function in functions:
            for i in filter(self.wants, visit.instructions(function.body)):
                operands = tuple(NOTHING for _ in visit.operands(i))
                self._known[id(i)] = Known(operands, tuple(NOTHING for _ in visit.writes(i)))

    def lose_memories(self) -> None:
        """Assume that any two tensors may share memory."""
        for at, known in self._known.items():
            parts = (tuple(map(_anywhere, part)) for part in (known.operands, known.targets))
            self._known[at] = Known(*parts)

    def __iter__(self) -> Iterator[tuple[ir.Instruction, Known]]:
        for i in visit.everything(self._program):
            known = self._known.get(id(i))
            if known is not None:
                yield i, known


def _inside(body: ir.Body) -> Iterator[ir.Instruction]:
    """The instructions of a block and of the functions in it."""
    yield from visit.instructions(body)
    for made in visit.functions_in(body):
        for function in visit.all_functions(made):
            yield from visit.instructions(function.body)


def _anywhere(f: Fact) -> Fact:
    items = None if f.items is None else tuple(map(_anywhere, f.items))
    memory = f.memory if f.kind == "number" else None
    return Fact(f.kind, f.dtype, f.shape, f.constant, memory, items)


def _both(a: Known, b: Known) -> Known:
    return Known(
        tuple(map(either, a.operands, b.operands)), tuple(map(either, a.targets, b.targets))
    )
