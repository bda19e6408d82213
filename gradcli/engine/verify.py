"""Checking the derivatives of a program and of the own rules that it uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.arrays import is_floating
from gradcli.engine.gradcheck import Check, gradcheck
from gradcli.engine.own import OwnFunction
from gradcli.engine.session import Session
from gradcli.engine.tensor import Number, Tensor, data_of
from gradcli.results import Checked
from gradcli.source import Source

Run = Callable[[Mapping[str, Any], bool], Any]
"""The program's output for values of the watched names; the flag makes cuts transparent."""


def check_program(
    run: Run, session: Session, names: Sequence[str], order: int, lines: Mapping[str, int]
) -> tuple[Checked, ...]:
    """Check the derivatives of a program's output.

    Args:
        run: Runs it at other values.
        session: A finished run, which watched the names.
        names: Names to differentiate with respect to.
        order: 1, or 2 to check second derivatives as well.
        lines: The line of each name, 0 for none.
    """
    points = [_point(session.points[name]) for name in names]

    def output(*values: Any) -> Any:
        return run(dict(zip(names, values, strict=True)), False)

    def uncut(*values: Any) -> Any:
        return run(dict(zip(names, values, strict=True)), True)

    checks = gradcheck(output, points, order=order, session=Session())
    whole: list[Check] | None = None
    found = []
    for number, check in enumerate(checks):
        note = "kink" if check.kink else ""
        if not check.passed:
            if whole is None:
                whole = gradcheck(uncut, points, order=order, session=Session())
            note = "cut" if number < len(whole) and whole[number].passed else ""
        found.append(_checked(check, names[check.input], note, lines.get(names[check.input], 0)))
    return tuple(found)


def check_rules(calls: Sequence[Any], source: Source) -> tuple[Checked, ...]:
    """Check each own function by itself, at the arguments of its first call of each shape."""
    found: list[Checked] = []
    done = set()
    for function, args, site in calls:
        floats = [i for i, a in enumerate(args) if is_floating(data_of(a))]
        shapes = tuple(getattr(data_of(a), "shape", ()) for a in args)
        if not floats or (function.name, shapes) in done:
            continue
        done.add((function.name, shapes))
        line = source.position(site.span.start)[0] if site is not None else 0
        found += _rule(function, args, floats, line)
    return tuple(found)


def _rule(
    function: OwnFunction, args: Sequence[Any], floats: Sequence[int], line: int
) -> list[Checked]:
    session = function.session

    def applied(*values: Any) -> Any:
        given = list(args)
        for i, value in zip(floats, values, strict=True):
            given[i] = value
        out = function.apply(given, None)
        if not isinstance(out, tuple):
            return out
        parts = [o for o in out if isinstance(o, Tensor) and is_floating(o.data)]
        return session.tensor([session.do(_sum(), [p], {}) for p in parts])

    calls, session.own_calls = session.own_calls, None
    try:
        checks = gradcheck(applied, [_point(args[i]) for i in floats], session=session)
    finally:
        session.own_calls = calls
    return [
        _checked(c, f"{function.name}[{floats[c.input]}]", "kink" if c.kink else "", line)
        for c in checks
    ]


def _sum() -> Any:
    from gradcli.engine.ops.registry import ops

    return ops.sum


def _point(x: Any) -> Any:
    """A plain value of the kind of x."""
    data = data_of(x)
    if isinstance(x, Tensor) and not isinstance(x, Number) and type(data) is not float:
        return Tensor(data.copy())
    return Tensor(data) if type(x) is Tensor else float(data)


def _checked(check: Check, name: str, note: str, line: int) -> Checked:
    return Checked(
        input=name,
        order=check.order,
        mode=check.mode,
        index=check.index,
        analytic=check.analytic,
        numeric=check.numeric,
        error=check.error,
        allowed=check.allowed,
        rounding=check.rounding,
        passed=check.passed or note == "cut",
        note=note,
        line=line,
    )
