"""Trim source code: no variable or array that nothing reads, no function that nothing calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gradcli.engine.compile.export.written import (
    Assign,
    Attempt,
    Called,
    Count,
    Declare,
    Expression,
    Function,
    KeepAll,
    Let,
    Room,
    Statement,
    Store,
    Table,
    Take,
    TakeAll,
    Until,
    Variable,
    When,
    While,
    every,
    names_in,
    read,
    statements,
)


def trimmed(body: Sequence[Statement], wanted: Sequence[Expression]) -> tuple[Statement, ...]:
    """The statements without variables and arrays that are never read; `wanted` are read behind
    them.
    """
    while True:
        uses = _uses(body, wanted)
        made = _without(body, uses)
        if made == tuple(body):
            return _direct(made, uses)
        body = made


def _direct(body: Sequence[Statement], uses: Counter[str]) -> tuple[Statement, ...]:
    """The statements without a variable that nothing does but give the next statement its value."""
    made: list[Statement] = []
    for s in body:
        last = made[-1] if made else None
        if isinstance(last, Let) and last.is_fixed and uses[last.variable.name] == 1:
            if isinstance(s, Assign) and s.value == last.variable:
                made[-1] = Assign(s.variable, last.value)
                continue
            if isinstance(s, Store) and s.value == last.variable:
                made[-1] = Store(s.array, s.at, last.value)
                continue
        match s:
            case When():
                then, orelse = _direct(s.then, uses), _direct(s.orelse, uses)
                made.append(When(s.test, then, orelse))
            case Count():
                inner = _direct(s.body, uses)
                made.append(Count(s.variable, s.start, s.stop, s.step, inner))
            case While():
                made.append(While(s.test, _direct(s.body, uses)))
            case Until():
                made.append(Until(s.test, _direct(s.body, uses)))
            case _:
                made.append(s)
    return tuple(made)


def _uses(body: Sequence[Statement], wanted: Sequence[Expression]) -> Counter[str]:
    """How often each variable and array is read, but to change itself."""
    found: Counter[str] = Counter()
    for x in wanted:
        found.update(names_in(x))
    for s in statements(body):
        own = s.variable.name if isinstance(s, Assign) else None
        own = s.array if isinstance(s, Store) else own
        for x in read(s):
            found.update(name for name in names_in(x) if name != own)
        if isinstance(s, (KeepAll, TakeAll)):
            found[s.array] += 1
    return found


def _without(body: Sequence[Statement], uses: Counter[str]) -> tuple[Statement, ...]:
    made: list[Statement] = []
    for s in body:
        match s:
            case Let(variable=v) | Declare(variable=v) | Assign(variable=v) if not uses[v.name]:
                continue
            case Room(array=array) | Table(array=array) | Store(array=array) if not uses[array]:
                continue
            case When(test=test):
                then, orelse = _without(s.then, uses), _without(s.orelse, uses)
                if then or orelse:
                    made.append(When(test, then, orelse))
            case Count():
                inner = _without(s.body, uses)
                if inner:
                    made.append(Count(s.variable, s.start, s.stop, s.step, inner))
            case While():
                made.append(While(s.test, _without(s.body, uses)))
            case Until():
                made.append(Until(s.test, _without(s.body, uses)))
            case Take(variables=several):
                kept = [v if uses[v.name] else Variable("", v.type) for v in several]
                made.append(Take(tuple(kept)))
            case _:
                made.append(s)
    return tuple(made)


def called(
    functions: Sequence[Function], body: Sequence[Statement], wanted: Sequence[Expression]
) -> tuple[Function, ...]:
    """The functions that statements call, or each other; each stands before those that call it."""
    names = _calls(body, wanted)
    found: list[Function] = []
    for function in reversed(functions):
        if function.name in names:
            found.insert(0, function)
            names |= _calls(function.body, ())
    return tuple(found)


def _calls(body: Sequence[Statement], wanted: Sequence[Expression]) -> set[str]:
    """The names of the functions that statements call."""
    names = {s.function for s in statements(body) if isinstance(s, Attempt)}
    several = [*wanted, *(x for s in statements(body) for x in read(s))]
    return names | {p.function for x in several for p in every(x) if isinstance(p, Called)}
