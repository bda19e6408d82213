"""Sort values, for `sorted` and the `sort` of a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradcli.engine.run.code.functions import called
from gradcli.engine.run.language.operators import less
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.tape.tensor import truth
from gradcli.engine.values.data import NUMBERS


class _Place:
    """A value by which items are put into order."""

    __slots__ = ("session", "value")

    def __init__(self, session: Evaluator, value: Any) -> None:
        self.session = session
        self.value = value

    def __lt__(self, other: _Place) -> bool:
        return less(self.session, self.value, other.value)


def ordered(session: Evaluator, items: Iterable[Any], key: Any, reverse: Any) -> list[Any]:
    """The items sorted, by the results of `key` if given."""
    items = list(items)
    keys = items if key is None else [called(key, [item], "sorted") for item in items]
    kinds = set(map(type, keys))
    plain = kinds <= NUMBERS or kinds == {str}
    by = keys if plain else [_Place(session, value) for value in keys]
    order = sorted(range(len(items)), key=by.__getitem__, reverse=truth(reverse))
    return [items[i] for i in order]


def extreme(session: Evaluator, items: Iterable[Any], key: Any, largest: bool) -> Any:
    """The first of the items that none is less than, or that is less than none. There is one."""
    first, *others = items
    best, by = first, first if key is None else called(key, [first], "max" if largest else "min")
    for item in others:
        value = item if key is None else called(key, [item], "max" if largest else "min")
        if less(session, *((by, value) if largest else (value, by))):
            best, by = item, value
    return best
