"""Branches: specialize each of two paths by itself, then merge the values that each name has on
them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from gradcli.engine.compile.specialize.tracing.trace import CONTENTS, Trace, content, flags, restore
from gradcli.engine.compile.specialize.tracing.values import (
    DEAD,
    MISSING,
    Cell,
    Closure,
    Conflict,
    Either,
    Frame,
    Maybe,
    Own,
    Range,
    Text,
    Transform,
    Vector,
    is_known,
    is_number,
    is_whole,
    is_word,
    kind,
    kinds,
    number_type,
    origin,
    parts,
)
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import Block, If, Instruction, Operand, Value, nothing
from gradcli.engine.ops.catalog import ops

STALE = "a view is read whose base has changed"


class Way:
    """One path through a branch.

    Fields:
        body: its instructions.
        slots: the values of names at its end.
        objects: the lists and tensors that it has changed, by identity, with their content at its
            end.
        flow: how control continues.
    """

    __slots__ = ("_before", "body", "flow", "objects", "slots")

    def __init__(self, slots: dict[Any, Any]) -> None:
        self.body: list[Instruction] = []
        self.slots = slots
        self.objects: dict[int, tuple[Any, Any]] = {}
        self._before: dict[int, tuple[Any, Any]] = {}
        self.flow: Any = None

    def go(self, frame: Frame, trace: Trace, do: Callable[[], Any]) -> None:
        """Continue the path by `do`, then restore the state before the branch."""
        frame.slots, outside = self.slots, frame.slots
        for value, held in self.objects.values():
            restore(value, held)
        trace.objects.append(self._before)
        with trace.inside(self.body):
            self.flow = do()
        trace.objects.pop()
        self.objects = {k: (value, content(value)) for k, (value, _) in self._before.items()}
        for value, held in self._before.values():
            restore(value, held)
        self.slots, frame.slots = frame.slots, outside

    def held(self, value: Any) -> Any:
        """Return the content of a list or tensor at the end of the path."""
        return self.objects[id(value)][1] if id(value) in self.objects else content(value)


class Merge:
    """Merges the states of two paths. `since` is the time at which they split; `around` are the
    values of the enclosing frames. `frame` is that of the names; None if unknown code may hold the
    values, too.
    """

    def __init__(
        self,
        trace: Trace,
        test: Any,
        ways: tuple[Way, Way],
        since: int,
        around: Sequence[Any],
        frame: Frame | None = None,
    ) -> None:
        self.frame = frame
        self.around = around
        self._live: Sequence[Collection[Any]] = ((), ())
        self.trace = trace
        self.test = test
        self.ways = ways
        self.since = since
        self._targets: dict[Any, Value] = {}
        self._results: tuple[list[Operand], list[Operand]] = ([], [])
        self._known: dict[tuple[int, int], Any] = {}
        self._writes: list[tuple[Any, Any]] = []
        self._leaves: list[tuple[Cell, Cell]] = []

    def finish(self, name: Callable[[Any], str], live: Sequence[Collection[Any]]) -> dict[Any, Any]:
        """Return the merged values of names; `live` are the names that are read after each path."""
        then, orelse = self.ways
        self._live = live
        slots: dict[Any, Any] = {}
        for key in {**then.slots, **orelse.slots}:
            a, b = (
                way.slots.get(key, MISSING) if key in read or type(key) is tuple else DEAD
                for way, read in zip(self.ways, live, strict=True)
            )
            if a is not b or not (a is DEAD or a is MISSING):
                slots[key] = self.merged(a, b, name(key))
        changed = {**then.objects, **orelse.objects}
        for value, _ in changed.values():
            if self.trace.born(value) <= self.since:
                self.trace.touch(value)
                self._writes.append((value, self._contents(value, value)))
        for value, held in self._writes:
            restore(value, held)
        self._hold_alone(live)
        return slots

    def _hold_alone(self, live: Sequence[Collection[Any]]) -> None:
        """Refuse a merged leaf if another name holds one of the two: that name would get a
        gradient, too.
        """
        for pair in self._leaves:
            several = []
            for x, way, read in zip(pair, self.ways, live, strict=True):
                slots = {k for k, v in way.slots.items() if k in read and holds(v, x)}
                several.append(slots)
                if not self._is_new(x) and any(holds(v, x) for v in self.around):
                    raise self.trace.refused("a leaf is another one on each of two paths")
            if several[0] != several[1]:
                raise self.trace.refused("a leaf is another one on each of two paths")

    def end(self) -> None:
        """Emit the branch."""
        blocks = [
            Block(tuple(way.body), tuple(found))
            for way, found in zip(self.ways, self._results, strict=True)
        ]
        if self._targets or any(block.body for block in blocks):
            targets = tuple(self._targets.values())
            self.trace.add(If(self.trace.span, targets, operand(self.test), *blocks))

    def merged(self, a: Any, b: Any, name: str) -> Any:
        """Return the merged value of a name."""
        self.trace.budget.use(1)
        if a is DEAD or b is DEAD or a is b:
            return self._moved(b, 1) if a is DEAD else self._moved(a, 0) if b is DEAD else a
        if is_number(a) and is_number(b) and number_type(a) == number_type(b):
            return self._number(a, b)
        if isinstance(a, Maybe) or isinstance(b, Maybe) or a is MISSING or b is MISSING:
            values = [x.value if isinstance(x, Maybe) else DEAD if x is MISSING else x
                      for x in (a, b)]  # fmt: skip
            flags = [x.assigned if isinstance(x, Maybe) else x is not MISSING for x in (a, b)]
            if any(isinstance(x, Conflict) and x is not DEAD for x in values):
                return Conflict(f"{name} may have no value")
            return Maybe(self.merged(values[0], values[1], name), self._number(flags[0], flags[1]))
        if isinstance(a, Conflict) or isinstance(b, Conflict):
            return a if isinstance(a, Conflict) else b
        if is_word(a) and is_word(b) and a == b:
            return a
        a, b = self._unboxed(a, b, 0), self._unboxed(b, a, 1)
        if isinstance(a, Cell) and isinstance(b, Cell) and kind(a) == kind(b):
            if self._is_stale(a, 0) or self._is_stale(b, 1):
                return Conflict(STALE)
            return self._pair(a, b, lambda: self._cell(a, b))
        if (
            isinstance(a, Vector)
            and isinstance(b, Vector)
            and (a.shape, a.type) == (b.shape, b.type)
        ):
            numbers = [self._number(x, y) for x, y in zip(a.numbers, b.numbers, strict=True)]
            visible = a.visible if a.visible is b.visible else None
            made = Vector(numbers, a.shape, visible, self.trace, a.dense and b.dense)
            made.node = self._origin(origin(a), origin(b))
            return made
        if {type(a), type(b)} <= {str, Text} and Text in (type(a), type(b)):
            texts = [self._number(True, False), self._moved(a, 0), self._moved(b, 1)]
            return Text(lambda given: given[1] if given[0] else given[2], texts)
        if kinds(a) and kinds(b):
            return self._either(a, b, name)
        if type(a) is list and type(b) is list and len(self.ways[0].held(a)) == len(
            self.ways[1].held(b)
        ):  # fmt: skip
            return self._pair(a, b, lambda: self._list(a, b))
        if type(a) is tuple and type(b) is tuple and len(a) == len(b):
            return tuple(self.merged(x, y, name) for x, y in zip(a, b, strict=True))
        is_same = type(a) is type(b) is not dict and is_known(a) and is_known(b)
        if is_same and a == b:
            return a
        return Conflict(f"{name} holds something else on each of two paths")

    def _unboxed(self, x: Any, other: Any, way: int) -> Any:
        """Return a tensor that is an array without dimensions as one that is a number, if the other
        path has another kind of value: cotangents of the two go together.
        """
        is_boxed = isinstance(x, Cell) and is_whole(x) and not x.shape
        if not is_boxed or kinds(other).keys() == {kind(x)} or self._is_stale(x, way):
            return x
        number, grad, node, leaf, visible, _ = self.ways[way].held(x)
        if grad is not None or leaf is not False:
            return x
        x.let_go()
        with self.trace.inside(self.ways[way].body):
            made = self.trace.cell(self.trace.on_arrays(ops.unboxed, [number], {}), visible=visible)
        made.frozen, made.node = True, node
        return made

    def _number(self, a: Any, b: Any) -> Any:
        """Merge numbers of one type."""
        return a if same_number(a, b) else self._target(operand(a), operand(b), number_type(a))

    def _either(self, a: Any, b: Any, name: str) -> Any:
        """Merge values of two kinds."""
        found = kinds(a), kinds(b)
        several = sorted(found[0].keys() | found[1].keys())
        if len(several) > 2:
            return Conflict(f"{name} is one of more than two kinds of numbers")
        parts = [
            self.merged(found[0].get(kind, DEAD), found[1].get(kind, DEAD), name)
            for kind in several
        ]
        first = [x.test if isinstance(x, Either) else several[0] in kinds(x) for x in (a, b)]
        self.trace.splits = True
        return Either(self._number(*first), *parts)

    def _target(self, x: Operand, y: Operand, type_: str) -> Symbol:
        """Return the target of the branch that is x on one path and y on the other."""
        key = number_key(x), number_key(y)
        target = self._targets.get(key)
        if target is None:
            target = self._targets[key] = self.trace.value(type_)
            self._results[0].append(x)
            self._results[1].append(y)
            dense = self.trace.dense
            if all(not isinstance(v, Value) or v.number in dense for v in (x, y)):
                dense.add(target.number)
        return Symbol(target, self.trace)

    def _moved(self, a: Any, way: int) -> Any:
        """Return a value of one path, where nothing reads the name on the other."""
        if isinstance(a, Symbol):
            pair = [operand(a), operand(a)]
            pair[1 - way] = nothing(number_type(a))
            return self._target(pair[0], pair[1], number_type(a))
        if isinstance(a, Maybe):
            return Maybe(self._moved(a.value, way), self._moved(a.assigned, way))
        if isinstance(a, Either):
            return Either(*(self._moved(x, way) for x in (a.test, a.then, a.orelse)))
        if type(a) is tuple:
            return tuple(self._moved(x, way) for x in a)
        if isinstance(a, Vector):
            moved = [self._moved(x, way) for x in a.numbers]
            made = Vector(moved, a.shape, a.visible, self.trace, a.dense)
            made.node = self._moved(a.node, way)
            return made
        if isinstance(a, Text):
            return Text(a.make, [self._moved(x, way) for x in a.values])
        if isinstance(a, Range):
            return Range(self._moved(a.start, way), self._moved(a.stop, way), a.step)
        if isinstance(a, Cell) and self._is_stale(a, way):
            return Conflict(STALE)
        if isinstance(a, (Cell, list, dict)) and self._is_new(a):
            return self._pair(a, DEAD, lambda: self._kept(a, way))
        if isinstance(a, Transform) or (isinstance(a, Closure) and self._is_inner(a)):
            return Conflict("a function is made on one of two paths")
        return a

    def _is_stale(self, x: Cell, way: int) -> bool:
        """True if the base of a view has changed on a path."""
        return x.base is not None and self.ways[way].held(x.base[0])[0] is not x.base[1]

    def _is_inner(self, a: Closure) -> bool:
        """True if a function may read values that exist on one path only."""
        return a.frame.birth > self.since or not all(map(is_known, a.defaults.values()))

    def _kept(self, a: Any, way: int) -> Any:
        """Return a list or tensor of one path, with its content moved after the branch."""
        held = self.ways[way].held(a)
        if isinstance(a, Cell):
            moved = [self._moved(x, way) for x in held[: CONTENTS + 1]]
            self._writes.append((a, (*moved, *held[CONTENTS + 1 :])))
        else:
            self._writes.append((a, [self._moved(x, way) for x in held]))
        return a

    def _cell(self, a: Cell, b: Cell) -> Any:
        (_, grad, _, leaf, *_), (_, other_grad, _, is_other_leaf, *_) = (
            way.held(x) for way, x in zip(self.ways, (a, b), strict=True)
        )
        is_leaf_sometimes = leaf is not is_other_leaf
        has_grad = grad is not None or other_grad is not None
        if has_grad or (is_leaf_sometimes and a.goes_back):
            return Conflict("a tensor has a gradient on one of two paths")
        number, _, node, _, visible, saved = self._contents(a, b)
        if not is_number(number):
            return Conflict("a tensor is of another dtype on each of two paths")
        made = self.trace.cell(number, visible=visible)
        made.saved, made.leaf = saved, None if is_leaf_sometimes else leaf
        made.node = node
        if leaf and not is_leaf_sometimes and self.trace.graph is not None:
            self.trace.graph.known(made)
            self._leaves.append((a, b))
        are_new = self._is_new(a) and self._is_new(b)
        if is_leaf_sometimes or not (are_new or self._are_alone(a, b)):
            made.frozen = True
            a.let_go()
            b.let_go()
        return made

    def _list(self, a: list[Any], b: list[Any]) -> list[Any]:
        """Merge two lists. If others may hold one of them, nothing may change them any more."""
        made = list(self._contents(a, b))
        if not (self._is_new(a) and self._is_new(b)):
            for each in (made, a, b):
                self.trace.freeze(each)
        return made

    def _are_alone(self, a: Cell, b: Cell) -> bool:
        """True if no other name and no value holds one of two tensors that names of this frame hold
        on the two paths.
        """
        if self.trace.graph is not None or self.frame is None:
            return False
        names = []
        for x, way, read in zip((a, b), self.ways, self._live, strict=True):
            slots = {k: v for k, v in way.slots.items() if k in read}
            is_older = x.birth <= self.frame.birth  # a caller may hold it
            may_be_held = x.frozen or x.viewed or is_older
            if may_be_held or _has_functions([*slots.values()], self.frame):
                return False
            others = [*self.around, *map(way.held, self.trace.seen)]
            if any(holds(v, x) for v in others):
                return False
            names.append({k for k, v in slots.items() if holds(v, x)})
        return names[0] == names[1]

    def _contents(self, a: Any, b: Any) -> Any:
        """Return the merged content of `a` on one path and `b` on the other."""
        x, y = self.ways[0].held(a), self.ways[1].held(b)
        if isinstance(a, Cell):
            grads = x[1], y[1]
            number = self.merged(x[0], y[0], "a tensor")
            if None in grads and grads != (None, None):
                grad: Any = Conflict("a tensor has a gradient on one of two paths")
            else:
                grad = self.merged(x[1], y[1], "a tensor")
            return (number, grad, self._origin(x[CONTENTS], y[CONTENTS]), *flags(x, y))
        if isinstance(a, dict) and x[0] != y[0]:
            raise self.trace.refused("a dictionary has other keys on each of two paths")
        if len(x) != len(y):
            raise self.trace.refused("a list gets another length on a path that depends on values")
        return tuple(self.merged(p, q, "an item") for p, q in zip(x, y, strict=True))

    def _origin(self, a: Any, b: Any) -> Any:
        """Merge the origins of two tensors."""
        return None if a is None or b is None else self._number(a, b)

    def _pair(self, a: Any, b: Any, make: Callable[[], Any]) -> Any:
        """Return the merge of two lists or tensors; each pair has one merge."""
        key = id(a), id(b)
        if key not in self._known:
            if any(id(a) == x or id(b) == y for x, y in self._known if b is not DEAD):
                for cell in (a, b):
                    if isinstance(cell, Cell):
                        cell.let_go()
                    else:
                        raise self.trace.refused("two lists are one on one of two paths")
            self._known[key] = make()
        return self._known[key]

    def _is_new(self, value: Any) -> bool:
        return self.trace.born(value) > self.since


def _has_functions(values: Sequence[Any], frame: Frame) -> bool:
    """True if there is a function among some values that may hold tensors which neither the names
    of a frame nor those around it hold.
    """
    frames = [frame]
    while (parent := frames[-1].parent) is not None:
        frames.append(parent)
    return any(
        isinstance(v, (Transform, Own))
        or (isinstance(v, Closure) and (v.frame not in frames or v.defaults))
        or _has_functions(parts(v), frame)
        for v in values
    )


def holds(value: Any, x: Any) -> bool:
    """True if a value is `x`, or a list, tuple or dictionary that holds it."""
    return value is x or any(holds(part, x) for part in parts(value))


def number_key(x: Operand) -> Any:
    """Return a key that identifies a number, known or unknown."""
    return (
        ("value", x.number)
        if isinstance(x, Value)
        else (type(x), x.hex() if type(x) is float else x)
    )


def same_number(a: Any, b: Any) -> bool:
    """True if two numbers are the same."""
    return bool(number_key(operand(a)) == number_key(operand(b)))


def selected(trace: Trace, test: Any, a: Any, b: Any) -> Any:
    """Return a value of any kind: the first if a test is true, else the second.

    Raises:
        NotCompilable: If the two do not merge.
    """
    if not isinstance(test, Symbol):
        return a if test else b
    merge = Merge(trace, test, (Way({0: a}), Way({0: b})), trace.tick(), [a, b])
    value = merge.finish(lambda _: "a value", [{0}, {0}])[0]
    merge.end()
    if isinstance(value, Conflict):
        raise trace.refused(value.reason)
    return value


def chosen(trace: Trace, test: Any, a: Any, b: Any) -> Any:
    """Return a number: the first if a test is true, else the second."""
    if not isinstance(test, Symbol):
        return a if test else b
    target = trace.value(number_type(a))
    sides = (Block((), (operand(x),)) for x in (a, b))
    trace.add(If(trace.span, (target,), operand(test), *sides))
    return Symbol(target, trace)
