"""Find out at run time which names of a typed program are the same value.

A target of a branch, and a param or target of a loop, is not a new value. It is another name of the
value that reaches it on the path taken. If two names may be the same value, the program compares
identity numbers: each value gets one when it is made, and branches and loops pass it on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from gradcli.engine.compile.passes.activity import Activity
from gradcli.engine.compile.typed import Block, Do, If, Instruction, Loop, Operand, Program, Value
from gradcli.engine.compile.walk import Fresh, blocks, defined, instructions, renamed
from gradcli.engine.ops.catalog import ops
from gradcli.record import Record
from gradcli.source import Span

Earlier: TypeAlias = Mapping[int, Sequence[tuple[Operand, Value]]]
"""For the number of a name: the earlier values in scope that may be the same value, the oldest
first. Each comes after the bool that is true if they are the same.
"""


class Identified(Record):
    """A program that computes which of its names are the same value.

    Fields:
        program: the program with the comparisons.
        earlier: their results, by name.
    """

    __slots__ = ("program", "earlier")
    program: Program
    earlier: Earlier


def identified(program: Program, active: Activity) -> Identified:
    """Add comparisons that find out which active names are the same value.

    Args:
        program: The program.
        active: The values that matter.
    """
    candidates = _Candidates(program, active)
    if not candidates.found:
        return Identified(program, {})
    writer = _Writer(program, candidates)
    return Identified(writer.program(), writer.earlier)


class _Candidates:
    """The earlier values that each name may be the same as.

    Fields:
        found: these earlier values, by the name's number.
        origins: for each compared value, the numbers of the values that it may have been made as.
    """

    def __init__(self, program: Program, active: Activity) -> None:
        self._active = active
        self._origins: dict[int, set[int]] = {}
        self._find(program)
        self._seen: dict[int, list[Value]] = {}
        self._age: dict[int, int] = {}
        self.found: dict[int, list[Value]] = {}
        self._see(program.inputs)
        self._block(program.block)
        told = {
            origin
            for number, earlier in self.found.items()
            for each in (number, *(w.number for w in earlier))
            for origin in self._origins[each]
        }
        self.origins = {n: found & told for n, found in self._origins.items() if found & told}

    def _find(self, program: Program) -> None:
        names: dict[int, list[int]] = {}
        for i in instructions(program.block.body):
            for x, name in renamed(i):
                if isinstance(x, Value) and x in self._active and name in self._active:
                    names.setdefault(x.number, []).append(name.number)
        made = {n for each in names.values() for n in each}
        for origin in [n for n in names if n not in made]:
            waiting = [origin]
            while waiting:
                number = waiting.pop()
                reached = self._origins.setdefault(number, set())
                if origin not in reached:
                    reached.add(origin)
                    waiting += names.get(number, ())

    def _see(self, values: Iterable[Value], *, are_names: bool = False) -> None:
        """Bring values into scope; names are compared with the values seen before."""
        for v in values:
            origins = self._origins.get(v.number, ())
            if are_names:
                earlier = {w.number: w for o in origins for w in self._seen.get(o, ())}
                if earlier:
                    self.found[v.number] = sorted(earlier.values(), key=self._order)
            for origin in origins:
                self._seen.setdefault(origin, []).append(v)
            self._age[v.number] = len(self._age)

    def _order(self, v: Value) -> int:
        """Return a sort key: the position in the program."""
        return self._age[v.number]

    def _block(self, block: Block) -> None:
        before = {origin: len(seen) for origin, seen in self._seen.items()}
        for i in block.body:
            for inner in blocks(i):
                kept = {origin: len(seen) for origin, seen in self._seen.items()}
                if isinstance(i, Loop):
                    self._see(i.params, are_names=True)
                self._block(inner)
                self._forget(kept)
            self._see(defined(i), are_names=isinstance(i, (If, Loop)))
        self._forget(before)

    def _forget(self, before: Mapping[int, int]) -> None:
        for origin, seen in self._seen.items():
            del seen[before.get(origin, 0) :]


class _Writer:
    """Writes the program with identity numbers and comparisons.

    Fields:
        earlier: the results of the comparisons, by name.
    """

    def __init__(self, program: Program, candidates: _Candidates) -> None:
        self._program = program
        self._candidates = candidates
        self._value = Fresh(program)
        self._identity: dict[int, Operand] = {}
        self._made: Operand = 0
        self.earlier: dict[int, list[tuple[Operand, Value]]] = {}

    def program(self) -> Program:
        program, body = self._program, list[Instruction]()
        self._number(program.inputs, program.block.body, body)
        body += self._body(program.block.body)
        return Program(program.inputs, Block(tuple(body), program.block.results), program.texts)

    def _is_told(self, v: Operand) -> bool:
        return isinstance(v, Value) and v.number in self._candidates.origins

    def _of(self, x: Operand) -> Operand:
        """Return the identity number of a value, or -1, which no value has, if nothing compares
        it.
        """
        return self._identity.get(x.number, -1) if isinstance(x, Value) else -1

    def _number(
        self, values: Iterable[Value], at: Sequence[Instruction], body: list[Instruction]
    ) -> None:
        """Give identity numbers to new values."""
        span = at[0].span if at else Span(0, 0)
        for v in values:
            if self._is_told(v):
                self._identity[v.number] = self._made
                if isinstance(self._made, Value):
                    after = self._value("int")
                    body.append(Do(span, after, ops.add.name, (self._made, 1), ()))
                    self._made = after
                else:
                    self._made += 1

    def _name(
        self, names: Iterable[Value], numbers: Iterable[Value], span: Span
    ) -> Iterator[Instruction]:
        """Give names the identity numbers of their values, and yield the comparisons."""
        self._identity.update(zip([v.number for v in names], numbers, strict=True))
        for v in names:
            for w in self._candidates.found.get(v.number, ()):
                same = self._value("bool")
                yield Do(span, same, ops.eq.name, (self._of(v), self._of(w)), ())
                self.earlier.setdefault(v.number, []).append((same, w))

    def _body(self, body: Sequence[Instruction]) -> list[Instruction]:
        made: list[Instruction] = []
        for i in body:
            match i:
                case If():
                    self._branch(i, made)
                case Loop():
                    self._loop(i, made)
                case _:
                    made.append(i)
                    self._number(defined(i), [i], made)
        return made

    def _branch(self, i: If, made: list[Instruction]) -> None:
        told = [k for k, t in enumerate(i.targets) if self._is_told(t)]
        begun, sides, ends = self._made, [], []
        for side in (i.then, i.orelse):
            self._made = begun
            body = self._body(side.body)
            numbers = [self._of(side.results[k]) for k in told]
            sides.append((body, (*side.results, *numbers)))
            ends.append(self._made)
        named = [self._value("int") for _ in told]
        targets: list[Value] = [*i.targets, *named]
        a, b = ends
        if isinstance(a, Value) or isinstance(b, Value):
            end = self._value("int")
            targets.append(end)
            sides = [(body, (*found, x)) for (body, found), x in zip(sides, ends, strict=True)]
            self._made = end
        else:
            self._made = max(a, b)
        then, orelse = (Block(tuple(body), found) for body, found in sides)
        made.append(If(i.span, tuple(targets), i.test, then, orelse))
        made += self._name([i.targets[k] for k in told], named, i.span)

    def _loop(self, i: Loop, made: list[Instruction]) -> None:
        told = [
            k for k, p in enumerate(i.params) if self._is_told(p) or self._is_told(i.targets[k])
        ]
        begun, count, last = self._made, self._value("int"), self._value("int")
        initial = [self._of(i.initial[k]) for k in told]
        params, targets = ([self._value("int") for _ in told] for _ in range(2))
        self._made = count
        body = [*self._name([i.params[k] for k in told], params, i.span)]
        body += self._body(i.body.body)
        nexts = [self._of(i.body.results[k + 1]) for k in told]
        loop = Loop(
            i.span,
            (*i.targets, *targets, last),
            i.turns,
            (*i.params, *params, count),
            (*i.initial, *initial, begun),
            Block(tuple(body), (*i.body.results, *nexts, self._made)),
        )
        self._made = last
        made.append(loop)
        made += self._name([i.targets[k] for k in told], targets, i.span)
