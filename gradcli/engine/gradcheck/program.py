"""Checks the derivatives of a program and of the own rules that it uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.gradcheck.compare import Check, Function, gradcheck
from gradcli.engine.gradcheck.elsewhere import Coded, Elsewhere
from gradcli.engine.gradcheck.trace import Trace
from gradcli.engine.run.derivatives.own import OwnFunction
from gradcli.engine.run.session.taken_steps import TakenSteps
from gradcli.engine.run.session.watched_names import WatchedNames
from gradcli.engine.tape.graph import Site, Watchpoint
from gradcli.engine.tape.tensor import Number, Tensor, node_of
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, dtype_of, is_floating, shape_of
from gradcli.errors import GradError, LimitError
from gradcli.results import Checked
from gradcli.source import Source

Run = Callable[[Mapping[str, Any], bool], tuple[WatchedNames, Any]]
"""Runs the program with plain data in the place of watched names' values; the flag makes cuts
transparent. Gives the run, which watched the names, and the output."""


def check_program(
    run: Run,
    names: Sequence[str],
    order: int,
    lines: Mapping[str, int],
    code: Callable[[Mapping[str, Any]], Coded | None],
) -> tuple[Checked, ...]:
    """Check the derivatives of a program's output.

    Args:
        run: Runs the program, with other values of some names.
        names: Names to differentiate with respect to.
        order: 1, or 2 to check second derivatives as well.
        lines: The line of each name, 0 for none.
        code: Computes the output with other values of some names by compiled code; None if the
            interpreter has to run.
    """

    def function(moved: Mapping[int, Any]) -> Trace:
        found = code({names[i]: data for i, data in moved.items()}) if moved else None
        if found is None:
            return traced(moved, False)
        return Elsewhere(found, [found.values.shape], lambda: traced(moved, False))

    def traced(moved: Mapping[int, Any], transparent: bool) -> Trace:
        watched, output = run({names[i]: data for i, data in moved.items()}, transparent)
        points = [(watched.nodes[n], watched.points[n].data) for n in names]
        return Trace([output], points)

    checks = _by_triangles(function, gradcheck(function, order=order), order)
    cuts = [False] * len(checks)
    if not all(check.passed for check in checks):
        cuts = _cuts(lambda moved: traced(moved, True), checks, order)
    return tuple(
        _checked(check, names[check.input], lines.get(names[check.input], 0), cut)
        for check, cut in zip(checks, cuts, strict=True)
    )


def _by_triangles(function: Function, checks: list[Check], order: int) -> list[Check]:
    """Repeat the checks with symmetric moves for a matrix of which an op reads one triangle: its
    gradient is shared between both triangles. Failed checks that pass now are replaced.
    """
    if all(check.passed for check in checks) or not function({}).reads_triangles():
        return checks
    again = gradcheck(function, order=order, symmetric=True)
    return [
        symmetric.noted("symmetric") if symmetric.passed and not check.passed else check
        for check, symmetric in zip(checks, again, strict=True)
    ]


def _cuts(uncut: Function, checks: Sequence[Check], order: int) -> list[bool]:
    """True for each check that failed only because the program detaches values: it passes in a run
    in which nothing is detached.
    """
    try:
        passed = [check.passed for check in gradcheck(uncut, order=order)]
    except LimitError:
        raise
    except GradError:
        passed = [True] * len(checks)
    return [right and not check.passed for check, right in zip(checks, passed, strict=True)]


class OwnCalls:
    """The first call of each own function for each kind of arguments, with copies of these."""

    def __init__(self) -> None:
        self._calls: dict[Any, tuple[OwnFunction, list[Any], list[bool], Site | None]] = {}

    def __call__(self, function: OwnFunction, args: Sequence[Any], site: Site | None) -> None:
        """Record a call."""
        kinds = tuple((type(a), _kind(data_of(a))) for a in args)
        connected = [isinstance(a, Tensor) and node_of(a) is not None for a in args]
        key = (function.name, kinds, tuple(connected))
        if key not in self._calls:
            self._calls[key] = function, list(map(_unconnected, args)), connected, site

    def checked(self, source: Source, order: int) -> tuple[Checked, ...]:
        """Check each function alone, at its recorded arguments."""
        return tuple(
            check
            for function, args, connected, site in list(self._calls.values())
            for check in _rule(function, args, connected, order, _line(site, source))
        )


def _rule(
    function: OwnFunction, args: Sequence[Any], connected: Sequence[bool], order: int, line: int
) -> list[Checked]:
    """The checks by each float argument. An argument counts as a constant if `backward` gives it no
    gradient and the program passed no recorded value.
    """
    steps = TakenSteps()

    def evaluation(numbers: Sequence[int]) -> Function:
        return lambda moved: _evaluated(
            function, args, numbers, moved, TakenSteps(steps.calls) if moved else steps
        )

    floats = [i for i, a in enumerate(args) if is_floating(data_of(a))]
    base = evaluation(floats)({})
    reached = base.reaches()
    numbers = [i for i, r in zip(floats, reached, strict=True) if r or connected[i]]
    if not numbers:
        return []
    checks = _by_triangles(evaluation(numbers), gradcheck(evaluation(numbers), order=order), order)
    return [_checked(c, f"{function.name}[{numbers[c.input]}]", line, False) for c in checks]


def _evaluated(
    function: OwnFunction,
    args: Sequence[Any],
    numbers: Sequence[int],
    moved: Mapping[int, Any],
    steps: TakenSteps,
) -> Trace:
    """One call of an own function, recorded with respect to some arguments."""
    session = function.session
    given = list(map(_unconnected, args))
    points = []
    for k, i in enumerate(numbers):
        data = moved.get(k, data_of(args[i]))
        node = Watchpoint("", None, 0, None)
        node.visible = True  # it requires a gradient in the rule's eyes
        given[i] = (Tensor if type(args[i]) is Tensor else Number)(_copied(data), node)
        points.append((node, data))
    calls, session.own_calls = session.own_calls, None
    before, session.steps = session.steps, steps
    random = session.random
    random.begin(random.seed, random.stream)
    try:
        out = function.apply(given, None)
    finally:
        session.own_calls, session.steps = calls, before
    outs = out if isinstance(out, tuple) else (out,)
    return Trace([o for o in outs if isinstance(o, Tensor) and o.node is not None], points)


def _kind(data: Any) -> Any:
    known = type(data) in NUMBERS or hasattr(data, "dtype")
    return (shape_of(data), dtype_of(data)) if known else None


def _unconnected(x: Any) -> Any:
    """A copy of a value in memory of its own, outside the graph."""
    if type(x) is Tensor:
        return Tensor(_copied(x.data))
    return x.data if isinstance(x, Number) else x


def _copied(data: Any) -> Any:
    return data if type(data) in NUMBERS else data.copy()


def _line(site: Site | None, source: Source) -> int:
    return 0 if site is None else source.told(site.span.start)[0]


def _checked(check: Check, name: str, line: int, cut: bool) -> Checked:
    return Checked(
        input=name,
        order=check.order,
        mode=check.mode,
        index=check.index,
        analytic=check.analytic,
        numeric=check.numeric,
        error=check.error,
        allowed=check.allowed,
        truncation=check.truncation,
        rounding=check.rounding,
        passed=check.passed or cut,
        note="cut" if cut else check.note,
        line=line,
    )
