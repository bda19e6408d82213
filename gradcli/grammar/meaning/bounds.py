"""Bounds of declarations: `param k: float in [0, 10] = 0.1`."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isnan, nan, pi
from typing import Any

from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.faults import Fault

_WORDS = {"inf": inf, "nan": nan, "pi": pi}
_WAY = "write `{}: float in [0, 10] = 0.1`, with `-inf` or `inf` for no bound"


def faults(s: ast.Declaration, text: str) -> Iterator[Fault]:
    """The faults of a declaration's bounds, also of bounds that stand behind the default."""
    head = f"{s.kind} {s.name}"
    if isinstance(s.default, ast.Compare) and s.default.ops == ("in",) and s.bounds is None:
        right = s.default.rest[0]
        if isinstance(right, ast.List) and len(right.items) == 2:
            default, bounds = (text[slice(*e.span)] for e in (s.default.first, right))
            kind = "float" if s.type is None else text[slice(*s.type.span)]
            help = f"write `{head}: {kind} in {bounds} = {default}`"
            message = "bounds stand before the default"
            yield Fault("bad-declaration", message, *s.default.span, help=help)
    if s.bounds is None:
        return
    lower, upper = s.bounds
    span = (lower.span.start, upper.span.end)
    help = _WAY.format(head)
    if s.type is None:
        yield Fault("bad-declaration", "an input with bounds needs a type", *span, help=help)
        return
    low, high = value(lower), value(upper)
    if low is None or high is None:
        yield Fault("bad-declaration", "bounds are numbers, or lists of them", *span, help=help)
    elif not _all_pairs(low, high, lambda a, b: a < b):
        message = "the lower bound must be below the upper one"
        yield Fault("bad-declaration", message, *span, help=help)
    elif s.default is not None and (start := value(s.default)) is not None:
        inside = _all_pairs(low, start, lambda a, b: a <= b)
        if not (inside and _all_pairs(start, high, lambda a, b: a <= b)):
            message = f"the default of `{s.name}` is outside of its bounds"
            yield Fault("bad-declaration", message, *s.default.span)


def value(e: ast.Expr) -> Any:
    """A number or a list of numbers in the program's text; None for anything else, and nan."""
    match e:
        case ast.Literal(value=bool()):
            return None
        case ast.Literal(value=int(x) | float(x)):
            return x
        case ast.Name(id=name) if name in _WORDS:
            return None if isnan(_WORDS[name]) else _WORDS[name]
        case ast.Unary(op="-" | "+" as sign, operand=operand):
            x = value(operand)
            return x if x is None or isinstance(x, list) or sign == "+" else -x
        case ast.List(items=items):
            found = [value(item) for item in items]
            return None if None in found else found
    return None


def _all_pairs(a: Any, b: Any, holds: Any) -> bool:
    """True if a relation holds for all elements; a number is one for all of a list."""
    if isinstance(a, list) or isinstance(b, list):
        count = len(a if isinstance(a, list) else b)
        left, right = (x if isinstance(x, list) else [x] * count for x in (a, b))
        return len(left) == len(right) and all(map(_all_pairs, left, right, [holds] * count))
    return bool(holds(a, b))
