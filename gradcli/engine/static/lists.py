"""Lists in the analysis of shapes: their items, the names that share them, and their changes.

A change that surely happens, and once, is applied exactly. Any other change, and a change of a list
that may be one of several, only widens what an item may be. A list that unknown code has may hold
anything from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradcli.engine.static.value import (
    HERE,
    NEW,
    UNSURE,
    Link,
    Memory,
    Value,
    agree,
    joined,
    unknown,
)

_DEEPEST = 50  # known levels of nested lists
LARGEST = 10_000
"""Items that are known of a list, with those in it, that an operation makes."""


class List:
    """One list: its `items`. If their number is unknown, that is None and `item` describes any of
    them. `family` are the lists that a name may stand for, `memory` the instructions that may have
    made it. A `lost` list may hold anything.
    """

    def __init__(self, items: list[Any] | None, item: Any, age: int, memory: Memory) -> None:
        self.memory = memory
        self.items = items
        self.item = item
        self.age = age
        self.family = [self]
        self.lost = False

    @property
    def any(self) -> Any:
        """The items if they are known, else a list of the one abstract item."""
        return [self.item] if self.items is None else self.items


class Lists:
    """All lists of one walk, counted in the order in which they were made.

    Fields:
        since: number of the first list made in the present part of the program; such a part may
            not be reached, or run again.
        oldest: the smallest number of a list that was widened.
        at: the `id` of the instruction that is being followed.
        lost: other values that unknown code has.
        blurred: true if a value may be one of several, even one that is no list.
    """

    def __init__(self) -> None:
        self._made: list[List] = []
        self.since = 0
        self.oldest = 0
        self.at = HERE
        self.lost: list[Any] = []
        self.blurred = False
        self._lost = False

    @property
    def count(self) -> int:
        """The number of lists."""
        return len(self._made)

    def new(self, items: Sequence[Any] | None, item: Any = None) -> List:
        """A new list of these items, or of any number of such an item."""
        at = frozenset({self.at})
        if items is not None and not is_small(items):
            self.lose(tuple(items))
            item, items = unknown(linked(items)), None
        made = List(None if items is None else list(items), item or unknown(), self.count, at)
        if self._lost:
            self.lose(tuple(made.any))
            made.items, made.item = None, unknown(linked(made.any))
        self._made.append(made)
        return made

    # --- changes -----------------------------------------------------------------------

    def append(self, to: List, item: Any) -> None:
        """`to.append(item)`."""
        if not _may_hold(to, item):
            self.lose((to, item))
        elif self._is_sure(to) and to.items is not None:
            to.items.append(item)
        else:
            self._widen(to, [item])

    def extend_by(self, to: List, items: Sequence[Any] | None, item: Any) -> None:
        """`to.extend` of these items, or of any number of such an item."""
        if items is None or (to.items is not None and len(to.items) + len(items) > LARGEST):
            self._widen(to, [item])
            return
        for part in list(items):
            self.append(to, part)

    def pop(self, of: List, at: Any) -> Any:
        """`of.pop(at)`."""
        if self._is_sure(of) and of.items is not None and type(at) is int:
            return of.items.pop(at)
        self._widen(of, [])
        return of.item

    def put(self, into: List, at: Any, item: Any) -> None:
        """`into[at] = item`."""
        if not _may_hold(into, item):
            self.lose((into, item))
            return
        if self._is_sure(into) and into.items is not None and type(at) is int:
            into.items[at] = item
            return
        for member in into.family:
            before = member.any
            after = [self.merged(old, item) for old in before]
            self._note(member, same(before, after))
            if member.items is None:
                member.item = after[0]
            else:
                member.items = after

    def lose(self, value: Any) -> None:
        """Note that unknown code may change the lists in a value."""
        if isinstance(value, (list, tuple)):
            for part in value:
                self.lose(part)
        elif isinstance(value, List):
            for member in value.family:
                if member.lost:
                    continue
                parts = member.any
                lost = unknown(linked(parts))
                self._note(member, member.items is None and same(member.item, lost))
                member.items, member.item, member.lost = None, lost, True
                self.lose(parts)
        elif not isinstance(value, Value):
            self.lost.append(value)

    def lose_all(self) -> None:
        """Note that unknown code may have changed any list."""
        if not self._lost:
            for made in self._made:
                self.lose(made)

    def lose_forever(self) -> None:
        """Note that unknown code may change any list at any time, also one that is made later."""
        self.lose_all()
        self._lost = True

    def _is_sure(self, changed: List) -> bool:
        return changed.age >= self.since and len(changed.family) == 1

    def _widen(self, changed: List, items: list[Any]) -> None:
        """Let a list hold any number of its items and of these."""
        for member in changed.family:
            after = self.all_merged([*member.any, *items])
            self._note(member, member.items is None and same(member.item, after))
            member.items, member.item = None, after

    def _note(self, changed: List, unchanged: bool) -> None:
        if not unchanged:
            self.oldest = min(self.oldest, changed.age)

    # --- one of several ----------------------------------------------------------------

    def merged(self, a: Any, b: Any) -> Any:
        """The facts that hold for both of two values."""
        if a is b:
            return a
        if isinstance(a, List) and isinstance(b, List):
            return self._related(a, b)
        if isinstance(a, Value) and isinstance(b, Value):
            self.blurred = True
            return Value(
                a.shape if a.shape == b.shape else None,
                a.dtype if a.dtype == b.dtype else None,
                joined((a.link, b.link)),
                a.known if agree(a.known, b.known) else UNSURE,
                a.kind if a.kind == b.kind else None,
                None if a.memory is None or b.memory is None else a.memory | b.memory,
            )
        if type(a) is tuple and type(b) is tuple and len(a) == len(b):
            return tuple(self.merged(x, y) for x, y in zip(a, b, strict=True))
        self.lose((a, b))
        return unknown(linked((a, b)))

    def all_merged(self, values: Iterable[Any]) -> Any:
        """The facts that hold for each of the values."""
        found: Any = None
        for value in values:
            found = value if found is None else self.merged(found, value)
        return unknown() if found is None else found

    def _related(self, a: List, b: List) -> List:
        if a.items is not None and b.items is not None and len(a.items) == len(b.items):
            pairs = zip(a.items, b.items, strict=True)
            both = self.new([self.merged(x, y) for x, y in pairs])
        else:
            both = self.new(None, self.all_merged([*a.any, *b.any]))
        family = list(dict.fromkeys((*a.family, *b.family, both)))
        memory = (a.memory or NEW) | (b.memory or NEW)
        for member in family:
            member.family = family
            member.memory = memory
        return both


def is_small(items: Sequence[Any]) -> bool:
    """True if the items, with all in them, are few and not nested deeply."""
    if not any(isinstance(item, (List, tuple)) for item in items):
        return True
    level, count = list(items), 0
    for _ in range(_DEEPEST):
        count += len(level)
        inner = [v.any if isinstance(v, List) else v for v in level if isinstance(v, (List, tuple))]
        if not inner:
            return True
        if count + sum(map(len, inner)) > LARGEST:
            return False
        level = [value for values in inner for value in values]
    return False


def _may_hold(holder: List, item: Any) -> bool:
    """True if a list may be known to hold an item: not one in which it is itself."""
    if isinstance(item, Value):
        return True
    return is_small([item]) and not _is_in(holder, item)


def _is_in(holder: List, item: Any) -> bool:
    pending = [item]
    while pending:
        value = pending.pop()
        if isinstance(value, List):
            if holder in value.family:
                return True
            pending += value.any
        elif isinstance(value, tuple):
            pending += value
    return False


def plain(value: Any) -> Any:
    """A value with its lists as Python's; one whose number of items is not known is unknown."""
    if isinstance(value, List):
        return unknown(linked([value])) if value.items is None else [plain(v) for v in value.items]
    return tuple(map(plain, value)) if type(value) is tuple else value


def linked(values: Iterable[Any]) -> Link:
    """The joined links of the values and of the items in them."""
    return joined(_links(values))


def _links(values: Iterable[Any]) -> Iterable[Link]:
    for value in values:
        if isinstance(value, Value):
            yield value.link
        elif isinstance(value, List):
            yield from _links(value.any)
        elif isinstance(value, (list, tuple)):
            yield from _links(value)


def same(a: Any, b: Any) -> bool:
    """True if the same facts are known of two values."""
    if a is b:
        return True
    if isinstance(a, Value) and isinstance(b, Value):
        ways = (a.kind, a.shape, a.dtype, a.link, a.memory)
        return agree(a.known, b.known) and ways == (b.kind, b.shape, b.dtype, b.link, b.memory)
    if isinstance(a, List) and isinstance(b, List):
        return (a.items is None) == (b.items is None) and same(a.any, b.any)
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(map(same, a, b))
    return False
