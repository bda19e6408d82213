"""Propagation of distributions by Monte Carlo.

Source: JCGM 101:2008; for fitted covariances JCGM 102:2011, 5.3.2.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil, floor, inf, isfinite, log10, sqrt
from typing import Any, TypeVar

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import Data, np
from gradcli.errors import (
    AssertionFailed,
    Diagnostic,
    InputError,
    ProgramError,
    RunError,
    counted,
)
from gradcli.questions.asked.request import Request
from gradcli.questions.coded.compiled import compile_question
from gradcli.questions.coded.pointwise import Pointwise
from gradcli.questions.uncertainty.joint import Joint
from gradcli.questions.uncertainty.report import Question
from gradcli.questions.uncertainty.spreads import flat
from gradcli.results import Result
from gradcli.views import MonteCarlo, Propagated, PropagateResult, PropagateRow

Changed = TypeVar("Changed", bound=Result)

Simulated = TypeVar("Simulated", PropagateResult, PropagateRow)

LEAST = 100  # draws
_TOGETHER = 2**16  # draws that are computed together
_STREAM = 2**24  # blocks of draws of one row of many
_BLOCKS = 20  # parts of the draws, whose results tell the errors


def simulated(
    program: Any,
    result: Simulated,
    asked: Request,
    of: Sequence[str | None],
    question: Question,
    draws: int,
    *,
    strict: bool,
) -> Simulated:
    """The result with a simulation of each of its results beside it.

    Args:
        program: The `Program`.
        result: The result by the law.
        asked: The values of the inputs, and how to run.
        of: The names of the results, None for that of the program.
        question: The uncertainties.
        draws: How many values to draw.
        strict: True if the answer is no where the simulation disagrees.

    Raises:
        InputError: If a distribution cannot be drawn from.
    """
    if draws < LEAST:
        message = f"{draws} draws tell nothing: take at least {LEAST}"
        raise InputError(Diagnostic("bad-input", message, help="`--monte-carlo 1000000` is usual"))
    seed = asked.options.seed
    seed = int.from_bytes(os.urandom(4)) if seed is None else seed
    several = [_Results(program, asked, question, name) for name in of]
    columns: list[Data] = []
    at = {share.name: share.value for share in result.results[0].budget}
    centre = np.array([at[element.label] for element in question.joint.elements])
    for points in _drawn(question, centre, draws, seed, asked.options.stream):
        asked.options.progress(sum(map(len, columns)), draws)
        columns.append(np.concatenate([each.at(points) for each in several], 1))
    whole = np.concatenate(columns)
    found = [
        _summary(one, whole[:, k], question.coverage, seed) for k, one in enumerate(result.results)
    ]
    pairs = zip(result.results, found, strict=True)
    results = tuple([changed(one, monte_carlo=simulation) for one, simulation in pairs])
    agrees = all(simulation.agrees for simulation in found)
    remarks = map(_remark, results)
    said = tuple([remark for remark in remarks if remark is not None])
    passed = agrees or not strict
    return changed(result, results=results, passed=passed, warnings=result.warnings + said)


def changed(record: Changed, **fields: Any) -> Changed:
    """A result with some fields replaced."""
    return type(record)(**{name: getattr(record, name) for name in record._fields} | fields)


# draws --------------------------------------------------------------------------------------------


def _drawn(question: Question, centre: Data, draws: int, seed: int, stream: int) -> Iterator[Data]:
    """Values of all elements with an uncertainty, a row each, some rows at a time."""
    from gradcli.engine.numerics.generator import generator

    joint = question.joint
    _check_shapes(joint)
    bounds = [*range(0, draws, _TOGETHER), draws]
    for part, (start, stop) in enumerate(pairwise(bounds)):
        random = generator(seed, stream * _STREAM + part)
        yield centre + _moves(joint, np.array(question.uncertainties), random, stop - start)


def _moves(joint: Joint, uncertainties: Data, random: Any, count: int) -> Data:
    """Distances from the values: correlated ones are normal, or of Student's distribution if they
    come from one fit.
    """
    normal = random.standard_normal((count, len(uncertainties)))
    if joint.factor is not None:
        normal = normal @ np.array(joint.factor).T
    found = normal * uncertainties
    for places, dof in joint.groups or ():
        if dof != inf:  # JCGM 101:2008, 6.4.9: the dispersion of a mean is itself uncertain
            found[:, list(places)] *= np.sqrt(dof / random.chisquare(dof, count))[:, None]
    for k, element in enumerate(joint.elements):
        if element.shape == "uniform":
            found[:, k] = random.uniform(-element.width, element.width, count)
        elif element.shape == "triangular" and element.width:
            found[:, k] = random.triangular(-element.width, 0.0, element.width, count)
        elif element.shape == "t" and element.spread is not None:
            found[:, k] = element.width * random.standard_t(element.spread.degrees, count)
    return found


def _check_shapes(joint: Joint) -> None:
    """Refuse correlated inputs of a shape that has no correlations."""
    for k, row in enumerate(joint.correlation or ()):
        element = joint.elements[k]
        if element.shape != "normal" and any(row[:k] + row[k + 1 :]):
            message = f"`{element.label}` is {element.shape} and correlated: it cannot be drawn"
            help = "Monte Carlo draws correlated inputs that are normal"
            raise InputError(Diagnostic("bad-covariance", message, help=help))


# results ------------------------------------------------------------------------------------------


class _Results:
    """The results of a program at points, by code where that can be."""

    def __init__(self, program: Any, asked: Request, question: Question, of: str | None) -> None:
        self._program, self._of = program, of
        self._joint = question.joint
        quiet = asked.options.changed(echo=lambda text: None, explain=False, check_nan=False)
        self._asked = asked.changed(of=of, options=quiet)
        self._code = None
        if quiet.compile != "never":
            code = compile_question(program.loaded, "value", self._asked)
            if not isinstance(code, Diagnostic) and not code.lowered.draws:
                self._code = Pointwise(code, self._asked, self._joint.names)
            elif quiet.compile == "always" and isinstance(code, Diagnostic):
                raise ProgramError(code)

    def at(self, points: Data) -> Data:
        """The results at points, a row each; nan where the program fails."""
        columns = self._columns(points)
        if self._code is None:
            return np.array([self._one(columns, k) for k in range(len(points))])
        given = self._asked.inputs.items()
        fixed = {n: np.asarray(x.value, float) for n, x in given if n not in columns}
        same = {n: np.broadcast_to(x, (len(points), *x.shape)) for n, x in fixed.items()}
        found, left = self._code.many({**same, **columns})
        for k in np.flatnonzero(left).tolist():
            found[k] = self._one(columns, k)
        return found

    def _columns(self, points: Data) -> dict[str, Data]:
        """The values of each input with an uncertainty, the points first."""
        found, start = {}, 0
        for name, count in zip(self._joint.names, self._joint.counts, strict=True):
            given = self._asked.inputs.get(name)
            shape = () if given is None else np.shape(given.value)
            found[name] = points[:, start : start + count].reshape(len(points), *shape)
            start += count
        return found

    def _one(self, columns: Mapping[str, Data], k: int) -> list[float]:
        """The result at one point by the interpreter."""
        own = {n: Given(x[k] if x.ndim > 1 else float(x[k]), n) for n, x in columns.items()}
        options = self._asked.options.changed(compile="never")
        try:
            run = self._program.run({**self._asked.inputs, **own}, options=options)
        except (RunError, AssertionFailed):
            return [np.nan]
        return [float(x) for x in flat(run.result if self._of is None else run.values[self._of])]


def _summary(law: Propagated, drawn: Data, coverage: float, seed: int) -> MonteCarlo:
    """The statistics of a result's draws; errors from those of parts: JCGM 101:2008, 7.9.4."""
    inside = drawn[np.isfinite(drawn)]
    if len(inside) < LEAST:
        message = f"`{law.name}` is finite at {counted(len(inside), 'draw')} of {len(drawn):,}"
        raise RunError(Diagnostic("monte-carlo", message, help="the inputs leave its domain"))
    count = len(inside)
    ends = _intervals(np.sort(inside), coverage)
    parts = np.array_split(inside, _BLOCKS)
    spread = np.std([_intervals(np.sort(part), coverage) for part in parts], axis=0, ddof=1)
    errors = (spread / sqrt(_BLOCKS)).tolist()
    mean, deviation = float(inside.mean()), float(inside.std(ddof=1))
    fourth = float(((inside - mean) ** 4).mean())
    of_variance = max(fourth - deviation**4, 0.0) / count
    tolerance = _tolerance(law.uncertainty)
    away = max(
        abs(end - of) - 2.0 * error
        for end, of, error in zip(law.interval, ends[:2], errors[:2], strict=True)
    )
    return MonteCarlo(
        draws=len(drawn),
        seed=seed,
        outside=len(drawn) - count,
        mean=mean,
        mean_error=deviation / sqrt(count),
        deviation=deviation,
        deviation_error=sqrt(of_variance) / (2.0 * deviation) if deviation else 0.0,
        symmetric=(ends[0], ends[1]),
        symmetric_error=(errors[0], errors[1]),
        shortest=(ends[2], ends[3]),
        shortest_error=(errors[2], errors[3]),
        tolerance=tolerance,
        agrees=away <= tolerance and count == len(drawn),
    )


def _intervals(ordered: Data, coverage: float) -> list[float]:
    """Both ends of the symmetric and of the shortest interval: JCGM 101:2008, 7.7."""
    count = len(ordered)
    wide = min(max(round(coverage * count), 1), count - 1)
    start = (count - wide) // 2
    widths = ordered[wide:] - ordered[: count - wide]
    least = int(np.argmin(widths))
    ends = (start, start + wide, least, least + wide)
    return [float(ordered[min(k, count - 1)]) for k in ends]


def _tolerance(uncertainty: float) -> float:
    """Half a unit of the first significant digit of an uncertainty: JCGM 101:2008, 7.9.2."""
    if not (isfinite(uncertainty) and uncertainty > 0.0):
        return 0.0
    return 0.5 * 10.0 ** floor(log10(uncertainty))


def _remark(of: Propagated) -> Diagnostic | None:
    """The warning that a simulation disagrees with the law; None if it agrees."""
    found = of.monte_carlo
    if found is None or found.agrees:
        return None
    notes = []
    if found.outside:
        share = ceil(1000.0 * found.outside / found.draws) / 10.0
        notes.append(f"{found.outside:,} draws of {found.draws:,} ({share:g} %) give no number")
    notes.append(f"the ends of the intervals may be {found.tolerance:g} apart")
    message = f"Monte Carlo does not agree with the law about `{of.name}`"
    help = "take its interval and its deviation"
    return Diagnostic("monte-carlo", message, notes=notes, help=help, severity="warning")
