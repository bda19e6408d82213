"""Follow which inputs each value of a typed program depends on.

Everything that does not depend on these inputs is computed: ints that count and choose, and tests.
So a loop over the elements is followed turn by turn, and of a branch the side that is taken. At a
test that is not known the sets of both sides are joined.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.compile.sparsity.local import Passage, Use
from gradcli.engine.compile.sparsity.sets import Array, Number, Sets, as_array
from gradcli.engine.compile.sparsity.stacks import Side, Stacks
from gradcli.engine.compile.typed import (
    Block,
    Do,
    DoSeveral,
    If,
    Instruction,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Ruled,
    Value,
    dtype_and_shape,
    is_array,
    is_floating,
    nothing,
    type_of,
)
from gradcli.engine.compile.walk import blocks, defined, instructions, operands_of
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import np, shape_of

_SETS = (Number, Array)  # the types of values that are not known
_TURNS = 40  # of a loop with an unknown end, until all that it reads counts


def followed(
    program: Program, points: Sequence[Value], known: Mapping[int, Any]
) -> tuple[list[Array], list[str]]:
    """The inputs that the elements of each result depend on, and the names of ops that have no
    pattern, so that all of their elements count as dependent on all elements of their arguments.

    Args:
        program: A typed program.
        points: The values whose elements are the inputs, one behind the other.
        known: The values of other inputs of the program, by number.

    Raises:
        Unfollowed: If the program cannot be followed.
        TooMany: If the sets become too large.
    """
    follower = _Follower(points)
    for v in program.inputs:
        follower.define(v, known.get(v.number, follower.unknown(v)))
    follower.body(program.block.body)
    found = [as_array(follower.sets(x), follower.count) for x in program.block.results]
    return found, sorted(follower.dense)


class _Follower:
    def __init__(self, points: Sequence[Value]) -> None:
        self.values: dict[int, Any] = {}
        self.stacks = Stacks()
        self.dense: set[str] = set()
        self._passages: dict[tuple[int, int, int], tuple[list[Any], Passage | None]] = {}
        self._points: dict[int, Any] = {}
        sizes = [_size(v) for v in points]
        self.count = max(sum(sizes), 1)
        start = 0
        for v, size in zip(points, sizes, strict=True):
            numbers = np.arange(start, start + size)
            own = np.arange(size) * self.count + numbers
            is_whole = is_array(v.type)
            self._points[v.number] = (
                Array(size, self.count, (own,)) if is_whole else Number(1 << start)
            )
            start += size

    # --- values ------------------------------------------------------------------------

    def unknown(self, v: Value) -> Any:
        """A value that depends on no input and is not known."""
        return Array(_size(v), self.count) if is_array(v.type) else Number()

    def define(self, v: Value, value: Any) -> None:
        """Set a value. The points are the inputs, whatever they are computed from."""
        self.values[v.number] = self._points.get(v.number, value)

    def of(self, x: Operand | None) -> Any:
        """The value of an operand, or its sets if it is not known."""
        return self.values[x.number] if isinstance(x, Value) else x

    def sets(self, x: Operand) -> Any:
        """The sets of an operand."""
        found = self.of(x)
        if type(found) in _SETS:
            return found
        return self.unknown(x) if isinstance(x, Value) else Number()

    # --- instructions ------------------------------------------------------------------

    def body(self, body: Sequence[Instruction]) -> None:
        """Follow the instructions of a block."""
        for i in body:
            match i:
                case Do():
                    self.define(i.target, self._done(i, (i.target,))[0])
                case DoSeveral():
                    for target, value in zip(i.targets, self._done(i, i.targets), strict=True):
                        self.define(target, value)
                case If():
                    self._branch(i)
                case Loop():
                    self._loop(i)
                case Push():
                    self.stacks.push(i.stack, tuple(map(self.of, i.values)))
                case Pop():
                    for t, value in zip(i.targets, self.stacks.pop(i.stack), strict=True):
                        self.define(t, value)
                case Ruled():
                    self.dense.add("a rule of the program's own")
                    bits = _bits([self.of(x) for x in i.args])
                    for t in i.targets:
                        self.define(t, self._filled(t, bits))

    def _done(self, i: Do | DoSeveral, targets: Sequence[Value]) -> Sequence[Any]:
        """The values of an op's results."""
        args = [self.values[x.number] if type(x) is Value else x for x in i.args]
        op = ops[i.op]
        if not any(type(a) in _SETS for a in args):
            found = op.evaluate(args, dict(i.params))
            return found if type(found) is tuple else (found,)
        if not op.differentiable:
            return [self.unknown(t) for t in targets]
        if len(targets) == 1 and targets[0].type == "float" and op.elementwise:
            return (self._number(op, args),)
        return [
            self._result(i, op, args, k, t) if is_floating(t.type) else self.unknown(t)
            for k, t in enumerate(targets)
        ]

    def _number(self, op: Any, args: Sequence[Any]) -> Number:
        """The set of an op's value on numbers."""
        bits = 0
        rules = op.derivatives.partials or op.derivatives.vjp
        for a, rule in zip(args, rules, strict=False):
            if rule is not None and rule != 0.0 and type(a) in _SETS:
                bits |= a.bits
        return Number(bits)

    def _result(self, i: Do | DoSeveral, op: Any, args: Sequence[Any], t: int, out: Value) -> Sets:
        """The sets of result number `t` of an op."""
        found = Array(_size(out), self.count)
        for k, a in enumerate(args):
            if type(a) not in _SETS:
                continue
            passage = self._passage(i, op, args, k, t)
            if passage is not None:
                found = found.union(passage.passed(as_array(a, self.count)))
                if passage.kind == "dense":
                    self.dense.add(op.name)
        return found if is_array(out.type) else Number(found.bits)

    def _passage(
        self, i: Do | DoSeveral, op: Any, args: Sequence[Any], k: int, t: int
    ) -> Passage | None:
        """How sets pass from argument number `k` of an op to its result number `t`."""
        known = [type(a) not in _SETS for a in args]
        given = [a if is_known else None for a, is_known in zip(args, known, strict=True)]
        kept = self._passages.get((id(i), k, t))
        if kept is not None and all(map(_is, given, kept[0])):
            return kept[1]
        pairs = zip(args, known, i.args, strict=True)
        like = [a if is_known else _zeros(type_of(x)) for a, is_known, x in pairs]
        outs = tuple([_zeros(v.type) for v in defined(i)])
        out = outs if isinstance(i, DoSeveral) else outs[0]
        use = Use(op, like, known, dict(i.params), out)
        old = None if kept is None or not all(map(_is_like, given, kept[0])) else kept[1]
        if old is not None and old.kind == "moved":
            return use.elsewhere(k, t, old)
        found = use.passage(k, t)
        self._passages[id(i), k, t] = given, found
        return found

    # --- control -----------------------------------------------------------------------

    def _branch(self, i: If) -> None:
        test = self.of(i.test)
        if type(test) not in _SETS:
            side = i.then if test else i.orelse
            self.body(side.body)
            found = [self.of(x) for x in side.results]
        else:
            outer = self.stacks
            then, values = self._side(i.then, outer)
            orelse, others = self._side(i.orelse, outer)
            outer.settle(then, orelse, self.joined)
            found = [*map(self.joined, values, others)]
        for t, value in zip(i.targets, found, strict=True):
            self.define(t, value)

    def _side(self, block: Block, outer: Stacks) -> tuple[Side, list[Any]]:
        """One side of a branch, nobody knows whether it is taken: its stacks and results."""
        self.stacks = side = Side(outer)
        self.body(block.body)
        self.stacks = outer
        return side, [self.of(x) for x in block.results]

    def joined(self, a: Any, b: Any) -> Any:
        """The value that is one of two."""
        kept = [x for x in (a, b) if type(x) in _SETS]
        if not kept:
            if _equal(a, b):
                return a
            return Array(a.size, self.count) if isinstance(a, np.ndarray) else Number()
        if len(kept) == 1:
            return kept[0]
        if type(a) is Number and type(b) is Number:
            return Number(a.bits | b.bits)
        return as_array(a, self.count).union(as_array(b, self.count))

    def _loop(self, i: Loop) -> None:
        state = [self.of(x) for x in i.initial]
        steps = [x for x in instructions(i.body.body) if isinstance(x, (Push, Pop))]
        if any(isinstance(x, Pop) and self.stacks.is_endless(x.stack) for x in steps):
            self._whole_loop(i, state, steps)
            return
        depths = {x.stack: self.stacks.depth(x.stack) for x in steps}
        turns, test = 0, True
        while test:
            self._turn(i, state)
            test = self.of(i.body.results[0])
            nexts = [self.of(x) for x in i.body.results[1:]]
            if type(test) in _SETS:
                if steps or not self._settles(i, nexts):
                    for stack, depth in depths.items():
                        self.stacks.cut(stack, depth)
                    self._whole_loop(i, state, steps)
                return
            turns += 1
            state = nexts
        self._ended(i, state, turns)

    def _turn(self, i: Loop, state: Sequence[Any]) -> None:
        for p, value in zip(i.params, state, strict=True):
            self.define(p, value)
        self.body(i.body.body)

    def _ended(self, i: Loop, state: Sequence[Any], turns: Any) -> None:
        for t, value in zip(i.targets, state, strict=True):
            self.define(t, value)
        self.define(i.turns, turns)

    def _settles(self, i: Loop, state: Sequence[Any]) -> bool:
        """Follow any number of further turns of a loop; False if their values do not settle."""
        for _ in range(_TURNS):
            self._turn(i, state)
            nexts = [self.of(x) for x in i.body.results[1:]]
            both = [*map(self.joined, state, nexts)]
            if all(map(_same, both, state)):
                self._ended(i, both, Number())
                return True
            state = both
        return False

    def _whole_loop(self, i: Loop, state: Sequence[Any], steps: Sequence[Push | Pop]) -> None:
        """Let all that a loop with an unknown end changes depend on all that it reads."""
        self.dense.add("a loop with an unknown end")
        read = [*state, *self._read(i.body)]
        for stack in {x.stack for x in steps if isinstance(x, Pop)}:
            read += self.stacks.pop_endless(stack)
        bits = _bits(read)
        for stack, values in {x.stack: x.values for x in steps if isinstance(x, Push)}.items():
            self.stacks.push_endless(stack, tuple([self._filled(x, bits) for x in values]))
        self._ended(i, [self._filled(t, bits) for t in i.targets], Number())

    def _filled(self, x: Operand, bits: int) -> Any:
        """A value whose elements have one set; that of an int is empty."""
        type_ = type_of(x)
        found = Number(bits if is_floating(type_) else 0)
        if not is_array(type_):
            return found
        return as_array(found, self.count).out_of(np.zeros(_size(x), np.int64))

    def _read(self, block: Block) -> Iterator[Any]:
        """The values from outside that a block reads."""
        own: set[int] = set()
        for i in instructions(block.body):
            own |= {v.number for v in defined(i)}
            if isinstance(i, Loop):
                own |= {v.number for v in i.params}
        for i in instructions(block.body):
            inner = [x for b in blocks(i) for x in b.results]
            for x in (*operands_of(i), *inner):
                if isinstance(x, Value) and x.number not in own and x.number in self.values:
                    yield self.values[x.number]


def _size(v: Operand) -> int:
    return math.prod(dtype_and_shape(type_of(v))[1])


def _zeros(type: str) -> Any:
    if type == "none":
        return None
    dtype, shape = dtype_and_shape(type)
    return np.zeros(shape, dtype) if is_array(type) else nothing(type)


def _bits(values: Sequence[Any]) -> int:
    """The inputs that any of some values depends on."""
    bits = 0
    for x in values:
        if type(x) in _SETS:
            bits |= x.bits
    return bits


def _is(a: Any, b: Any) -> bool:
    """True if two known values are certainly the same."""
    return a is b or (type(a) is int and type(b) is int and a == b)


def _is_like(a: Any, b: Any) -> bool:
    """True if two known values are the same, or both are ints."""
    return a is b or (type(a) is int and type(b) is int)


def _equal(a: Any, b: Any) -> bool:
    """True if two known values are the same."""
    if type(a) is not type(b) or shape_of(a) != shape_of(b):
        return False
    return bool(np.array_equal(a, b))


def _same(a: Any, b: Any) -> bool:
    return a.same(b) if type(a) in _SETS else type(b) not in _SETS and _equal(a, b)
