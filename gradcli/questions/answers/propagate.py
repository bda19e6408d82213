"""The uncertainty of results from those of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from gradcli.engine.autodiff.second_order import Slopes
from gradcli.engine.report.values import plain_value
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic, InputError
from gradcli.questions.asked.linearized import LinearizedRun, linearized_run
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request
from gradcli.questions.remarks.warnings import warnings
from gradcli.questions.uncertainty import law
from gradcli.questions.uncertainty.report import (
    Question,
    by_shares,
    covered,
    propagated,
    remarks,
)
from gradcli.questions.uncertainty.spreads import flat, labels
from gradcli.record import Record
from gradcli.views import Propagated, PropagateResult, PropagateRow


class _Found(Record):
    """A result with its gradient, and its covariances with the inputs."""

    __slots__ = ("result", "slopes", "covariances")
    result: Propagated
    slopes: Sequence[float]
    covariances: Sequence[float]


def propagate(
    loaded: Loaded, request: Request, of: Sequence[str | None], question: Question
) -> PropagateResult:
    """The uncertainty of each result, and their covariances."""
    return by_budget(in_order(loaded, request, of, question), question)


def propagation(loaded: Loaded, request: Request) -> PropagateRow:
    """The uncertainty of one result, whose question the request has."""
    return in_order(loaded, request, [request.of], request.question)


def in_order(
    loaded: Loaded, request: Request, of: Sequence[str | None], question: Question
) -> PropagateRow:
    """The uncertainty of each result, with budgets in the order of the inputs."""
    found, runs = _answers(loaded, request, of, question)
    several = len(runs) > 1
    said: dict[Any, Diagnostic] = {}
    for run, slopes in runs:
        unused = [] if several else run.unused
        said |= {(w.code, w.message, w.span): w for w in warnings(run, slopes, unused)}
    results = tuple([each.result for each in found])
    single = not several and not _has_axes(runs[0][0].output)
    names = [] if single else found
    return PropagateRow(
        results=results,
        single=single,
        coverage=question.coverage,
        covariance={a.result.name: {b.result.name: _between(a, b) for b in names} for a in names},
        correlated=question.joint.correlation is not None,
        passed=True,
        printed=runs[0][0].done.lines,
        warnings=(*said.values(), *remarks(results, question.joint)),
    )


def by_budget(row: PropagateRow, question: Question) -> PropagateResult:
    """The answer with the largest shares first, also of a row that code gives."""
    results = tuple([by_shares(covered(one, question)) for one in row.results])
    covariance = row.covariance
    if row.single:
        (one,) = results
        covariance = {one.name: {one.name: one.variance}}
    return PropagateResult(
        results=results,
        single=row.single,
        coverage=row.coverage,
        covariance=covariance,
        correlated=row.correlated,
        passed=row.passed,
        printed=row.printed,
        warnings=row.warnings,
    )


def _between(a: _Found, b: _Found) -> float:
    """The covariance of two results at first order."""
    if a is b:
        return a.result.variance
    return sum(x * y for x, y in zip(a.slopes, b.covariances, strict=True))


def _answers(
    loaded: Loaded,
    request: Request,
    of: Sequence[str | None],
    question: Question,
) -> tuple[list[_Found], list[tuple[LinearizedRun, list[float]]]]:
    """All results of one run; and for each name the run, with the gradients of its elements."""
    watch = loaded.watch(request)
    done = loaded.execute(request.inputs, request.options, watch)
    found: list[_Found] = []
    runs = []
    for each in of:
        name, output = loaded.float_output(done, each)
        names = loaded.differentiated(request, done, watch)
        run = linearized_run(loaded, request, done, watch, name, output, names)
        _check_sizes(run, question)
        own = _of_run(run, question)
        found += own
        runs.append((run, [x for one in own for x in one.slopes]))
    return found, runs


def _of_run(run: LinearizedRun, question: Question) -> list[_Found]:
    """The results of a run: one for each element of its output."""
    value = plain_value(run.output)
    shape = getattr(value, "shape", ())
    inputs = [x for name in run.names for x in _numbers(run, name)]
    weights = [1.0] if not shape else np.eye(int(np.prod(shape))).reshape(-1, *shape)
    several = zip(labels(run.name, value), flat(value), weights, strict=True)
    with run.loaded.passing():
        return [_one(run, question, inputs, *each) for each in several]


def _one(
    run: LinearizedRun,
    question: Question,
    inputs: Sequence[float],
    name: str,
    value: float,
    weight: Any,
) -> _Found:
    slopes = Slopes(run.linearized, weight)
    joint, us = question.joint, question.uncertainties
    if len(us) <= law.FEW:
        mode = "reverse" if run.linearized.hooked else "forward"
        found = law.few(slopes, us, joint.factor, mode)
    else:
        found = law.many(slopes, us, joint.correlation)
    flat_slopes = law.flat(slopes)
    factor = question.factor(inf)
    numbers = law.numbers(value, inputs, us, flat_slopes, found, factor, joint)
    result = propagated(name, numbers, joint)
    return _Found(result, flat_slopes, found.covariances)


def _numbers(run: LinearizedRun, name: str) -> list[float]:
    """The numbers of an input in the run."""
    return flat(plain_value(run.done.session.watched.points[name]))


def _check_sizes(run: LinearizedRun, question: Question) -> None:
    joint = question.joint
    for name, count in zip(joint.names, joint.counts, strict=True):
        there = len(_numbers(run, name))
        if there != count:
            message = f"`{name}` has {there} numbers and {count} uncertainties"
            raise InputError(Diagnostic("shape-mismatch", message))


def _has_axes(output: Any) -> bool:
    return isinstance(output, Tensor) and output.shape != ()
