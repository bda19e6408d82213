"""Where searches begin, and the best of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, GradError, InputError
from gradcli.questions.asked.request import Options
from gradcli.questions.fitting.asked import Asked
from gradcli.questions.fitting.problem import Found, Interrupted, Problem
from gradcli.questions.fitting.roles import Roles
from gradcli.record import Record

_DECADES = 1.5  # to either side of a start, where no bound says how far
_SAME = 1e-6  # of the cost: two ends that are one


class Best(Record):
    """The best of several searches.

    Fields:
        found: Its end.
        problem: What was made least.
        reached: How many searches ended there.
        tried: How many there were.
        is_stopped: True if Ctrl-C ended the last.
    """

    __slots__ = ("found", "problem", "reached", "tried", "is_stopped")
    found: Found
    problem: Problem
    reached: int
    tried: int
    is_stopped: bool


def begun(
    program: Any,
    roles: Roles,
    given: Mapping[str, Any],
    asked: Asked,
    first: Mapping[str, Any],
    options: Options,
) -> dict[str, Any]:
    """The values of all parameters at the start: given, held, or the program's defaults; 1 for one
    that has none. The program is run with the first record's values of its data.

    Raises:
        GradError: If the program fails at its first record.
    """
    names = [*roles.estimated, *roles.held]
    found = {name: given[name] for name in names if name in given}
    found |= {name: value for name, value in asked.fix.items() if value is not None}
    found |= dict.fromkeys(roles.missing, 1.0)
    left = [name for name in names if name not in found]
    if left:
        quiet = options.changed(compile="never", explain=False)
        values = program.run({**given, **found, **first}, options=quiet).values
        found |= {name: values[name] for name in left}
    wrong = next((n for n in names if not _is_number(found[n])), None)
    if wrong is not None:
        message = f"the start of `{wrong}` is not a finite number or tensor"
        raise InputError(Diagnostic("bad-input", message))
    return {name: np.asarray(found[name], np.float64) for name in names}


def _is_number(value: Any) -> bool:
    try:
        return bool(np.isfinite(np.asarray(value, np.float64)).all())
    except (TypeError, ValueError):
        return False


def several(problem: Problem, asked: Asked, start: Data) -> Best:
    """The best end of searches from a start and from random ones.

    Raises:
        GradError: If the model is not finite at any start.
    """
    points = [start, *_random(problem, asked, start)]
    ends: list[Found] = []
    tried, is_stopped = 0, False
    for point in points:
        tried += 1
        try:
            found = problem.search(point)
        except Interrupted as stopped:
            found, is_stopped = stopped.best, True
        except GradError:
            if len(points) == 1:
                raise
            continue
        if found is not None:
            ends.append(found)
        if is_stopped:
            break
    if not ends:
        raise problem.not_finite(start)
    best = min(ends, key=lambda end: (end.cost, not end.converged))
    same = [e for e in ends if e.converged and e.cost - best.cost <= _SAME * abs(best.cost)]
    return Best(best, problem, len(same), tried, is_stopped)


def _random(problem: Problem, asked: Asked, start: Data) -> list[Data]:
    """Further starts: uniform between bounds, else log-uniform around the first."""
    if asked.starts == 1:
        return []  # a generator takes as long as an evaluation
    random = np.random.Generator(np.random.Philox(asked.seed))
    found = []
    lower, upper = problem.lower, problem.upper
    is_bounded = np.isfinite(lower) & np.isfinite(upper)
    low, high = np.where(is_bounded, lower, 0.0), np.where(is_bounded, upper, 1.0)
    for _ in range(asked.starts - 1):
        part = random.random(len(start))
        power = 10.0 ** (_DECADES * (2.0 * part - 1.0))
        around = np.where(start == 0.0, 2.0 * part - 1.0, start * power)
        point = np.where(is_bounded, low + part * (high - low), around)
        found.append(np.clip(point, lower, upper))
    return found
