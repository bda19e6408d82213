"""`+` and `*` of lists on a walk over shapes: joining and repeating, as `engine/run/lists.py` does
it, or arithmetic, where a method gives None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.run.language.lists import ADDED, MULTIPLIED, SCALED
from gradcli.engine.static.findings import Findings
from gradcli.engine.static.kinds import parts
from gradcli.engine.static.lists import LARGEST, List, Lists, linked
from gradcli.engine.static.value import UNSURE, Value, unknown
from gradcli.source import Span


class ListOperators:
    """The operators of one walk."""

    def __init__(self, findings: Findings, lists: Lists) -> None:
        self._findings = findings
        self._lists = lists

    def of(self, sign: str, x: Any, y: Any, span: Span) -> Any:
        """The result of an operator, given by its sign, if one operand is a list."""
        if isinstance(x, List) or isinstance(y, List):
            match sign:
                case "+" | "+[]":
                    return self._joined(x, y, span, written=sign == "+[]")
                case "*" | "*[]":
                    return self._repeated(x, y, span, written=sign == "*[]")
        return None

    def update(self, sign: str, x: Any, y: Any, item: Any, span: Span) -> Any:
        """The result of `x += y` and `x *= y` if one of them is a list; `item` is any item of y."""
        if not isinstance(x, List) or sign not in ("+", "*"):
            return self.of(sign, x, y, span)
        if sign == "*":
            found = self._repeated(x, y, span, written=False)
            if found is not None:
                self._lists.lose((x,))
            return x if isinstance(found, List) else found
        if isinstance(y, Value) and (y.shape is not None or y.kind is None):
            return None if y.shape is not None else self._either([x, *x.any])
        self._lists.extend_by(x, parts(y), item)
        return x

    def _joined(self, x: Any, y: Any, span: Span, *, written: bool) -> Any:
        if not (isinstance(x, List) and isinstance(y, List)):
            if _is_sure(x) and _is_sure(y):
                return None
            return self._either([part for v in (x, y) if isinstance(v, List) for part in v.any])
        numbers = (False,) if written else (_holds_numbers(x), _holds_numbers(y))
        if False in numbers:
            if x.items is None or y.items is None or len(x.items) + len(y.items) > LARGEST:
                return self._lists.new(None, self._lists.all_merged([*x.any, *y.any]))
            return self._lists.new([*x.items, *y.items])
        if UNSURE in numbers:
            return self._either([*x.any, *y.any])
        self._findings.warn("list-arithmetic", ADDED[0], span, ADDED[1])
        return None

    def _repeated(self, x: Any, y: Any, span: Span, *, written: bool) -> Any:
        items, count = (x, y) if isinstance(x, List) else (y, x)
        numbers = False if written else _holds_numbers(items)
        if not isinstance(count, Value) or count.kind not in (None, "number"):
            return None
        if count.dtype not in (None, "int64", "bool"):
            known = count.known
            if written and type(known) is float and known.is_integer():
                self._findings.warn("list-arithmetic", SCALED[0], span, SCALED[1])
            return None
        whole = count.kind == "number" and count.dtype is not None
        if numbers is True:
            if whole:
                self._findings.warn("list-arithmetic", MULTIPLIED[0], span, MULTIPLIED[1])
            return None
        if numbers is UNSURE or not whole:
            return self._either(items.any)
        sure = items.items is not None and count.known is not UNSURE
        if items.items is None or not sure or len(items.items) * count.known > LARGEST:
            return self._lists.new(None, self._lists.all_merged(items.any))
        return self._lists.new(items.items * count.known)

    def _either(self, values: Sequence[Any]) -> Value:
        """A list that holds the values, or a tensor."""
        self._lists.lose(tuple(values))
        return unknown(linked(values))


def _is_sure(value: Any) -> bool:
    """True if it is known whether a value is a list."""
    return not isinstance(value, Value) or value.kind is not None or value.shape is not None


def _holds_numbers(x: List) -> Any:
    """True if a list holds numbers and nothing else, UNSURE if that is not known."""
    kinds = {item.kind if isinstance(item, Value) else "other" for item in x.any}
    if not kinds or kinds - {None, "number"}:
        return False
    return UNSURE if None in kinds or x.items is None else True
