"""Provenance: the points that each number of a program under construction was made from. They
decide whether the interpreter would record the number as a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gradcli.engine.compile.typed import (
    Do,
    DoSeveral,
    If,
    Instruction,
    Loop,
    Operand,
    Pop,
    Push,
    Ruled,
    Value,
    is_floating,
)
from gradcli.engine.ops.catalog import ops
from gradcli.record import Record


class Links(Record):
    """The points, and the params of open loops, that a number was made from.

    Fields:
        may: those on some path.
        must: those on every path.
    """

    __slots__ = ("may", "must")
    may: frozenset[int]
    must: frozenset[int]

    def joined(self, other: Links) -> Links:
        """Return the links that hold on either of two paths."""
        return Links(self.may | other.may, self.must & other.must)


NONE = Links(frozenset(), frozenset())
_LEAF = -1
_OF_LEAVES = Links(frozenset({_LEAF}), frozenset({_LEAF}))  # which leaf does not matter


class Connections:
    """The links of the values of one program under construction.

    Fields:
        asked: the number of queries.
    """

    def __init__(self) -> None:
        self.asked = 0
        self._begun: dict[int, tuple[Callable[[], Sequence[Operand]], int]] = {}
        self._links: dict[int, Links] = {}
        self._stacks: dict[tuple[int, int], Links] = {}
        self._nodes: set[int] = set()
        self._points = {_LEAF}
        self._leaves: set[int] = set()
        self._closed: set[int] = set()
        self._read: list[tuple[list[Instruction], int]] = []

    def plain(self, v: Value) -> None:
        """Record a value that is no node."""
        self._links[v.number] = NONE

    def source(self, v: Value) -> None:
        """Record a value that may be a node of its own."""
        self._nodes.add(v.number)

    def point(self, v: Value) -> None:
        """Record a value that is a node of its own."""
        self._nodes.add(v.number)
        self._points.add(v.number)

    def leaf(self, v: Value) -> None:
        """Record a value that is a leaf of the program's own graph."""
        self._leaves.add(v.number)

    def begin(self, params: Iterable[Value], initial: Callable[[], Sequence[Operand]]) -> None:
        """Give the params of an open loop the links of their initial values."""
        self._begun.update({v.number: (initial, k) for k, v in enumerate(params)})

    def carried(
        self, params: Sequence[Value], body: Sequence[Instruction], then: Sequence[Operand]
    ) -> list[Links]:
        """Return the links of the params of a loop, joined with those of their next values."""
        self._body(body)
        pairs = zip(params, then, strict=True)
        return [self._open(self._of(v).joined(self._of(x))) for v, x in pairs]

    def hold(self, params: Sequence[Value], links: Sequence[Links]) -> bool:
        """Give params these links. True if they had them before."""
        held = [self._open(self._of(v)) for v in params]
        self._links.update(zip([v.number for v in params], links, strict=True))
        return held == links

    def close(self, points: Iterable[Value]) -> None:
        """Record that nothing is differentiated by some points any more."""
        self._closed.update(v.number for v in points)

    def of(self, x: Operand, written: Sequence[list[Instruction]]) -> Links:
        """Return the links of an operand, given the open blocks, the outermost first."""
        return self._open(self.every(x, written))

    def every(self, x: Operand, written: Sequence[list[Instruction]]) -> Links:
        """Return the links of an operand, including closed points."""
        self.asked += 1
        self._follow(written)
        return self._of(x)

    def _open(self, links: Links) -> Links:
        return Links(links.may - self._closed, links.must - self._closed)

    def is_node(self, links: Links) -> bool:
        """True if a number with these links is certainly a node."""
        return not links.must.isdisjoint(self._points)

    def forget(self, body: list[Instruction], start: int) -> None:
        """Forget a block from an instruction on, after a rewrite."""
        self._read = [(b, min(at, start) if b is body else at) for b, at in self._read]

    def _follow(self, written: Sequence[list[Instruction]]) -> None:
        """Read the new instructions of open blocks."""
        before = {id(body): at for body, at in self._read}
        self._read = []
        for body in written:
            self._body(body[before.get(id(body), 0) :])
            self._read.append((body, len(body)))

    def _of(self, x: Operand | None) -> Links:
        if not isinstance(x, Value) or not is_floating(x.type):
            return NONE
        if x.number in self._leaves:
            return _OF_LEAVES
        found = self._links.get(x.number)
        if found is None and x.number in self._begun:
            initial, k = self._begun[x.number]
            found = self._links[x.number] = self._of(initial()[k])
        if found is None or x.number in self._nodes:
            own = frozenset({x.number})
            found = found or NONE
            return Links(found.may | own, found.must | own)
        return found

    def _body(self, body: Iterable[Instruction]) -> None:
        for i in body:
            match i:
                case Do():
                    self._links[i.target.number] = self._made(i)
                case DoSeveral():
                    for target in i.targets:
                        self._links[target.number] = self._made(i)
                case Ruled():
                    for target in i.targets:
                        self._links[target.number] = self._from(i.args)
                case If():
                    self._body(i.then.body)
                    self._body(i.orelse.body)
                    sides = zip(i.targets, i.then.results, i.orelse.results, strict=True)
                    for target, a, b in sides:
                        self._links[target.number] = self._of(a).joined(self._of(b))
                case Loop():
                    self._loop(i)
                case Push():
                    for k, x in enumerate(i.values):
                        found = self._of(x)
                        before = self._stacks.get((i.stack, k), found)
                        self._stacks[i.stack, k] = before.joined(found)
                case Pop():
                    for k, target in enumerate(i.targets):
                        self._links[target.number] = self._stacks.get((i.stack, k), NONE)

    def _made(self, i: Do | DoSeveral) -> Links:
        return self._from(i.args) if ops[i.op].differentiable else NONE

    def _from(self, args: Iterable[Operand | None]) -> Links:
        found = [*map(self._of, args)]
        return Links(
            frozenset().union(*(x.may for x in found)), frozenset().union(*(x.must for x in found))
        )

    def _loop(self, i: Loop) -> None:
        held = [*map(self._of, i.initial)]
        while True:
            for param, links in zip(i.params, held, strict=True):
                self._links[param.number] = links
            self._body(i.body.body)
            then = [*map(self._of, i.body.results[1:])]
            found = [a.joined(b) for a, b in zip(held, then, strict=True)]
            if found == held:
                break
            held = found
        for target, links in zip(i.targets, then, strict=True):
            self._links[target.number] = links
