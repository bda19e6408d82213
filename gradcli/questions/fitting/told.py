"""The result of a fit from the end of its search: errors, intervals and figures."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite, isnan, nan, sqrt
from typing import Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, listed
from gradcli.questions.fitting.asked import Asked
from gradcli.questions.fitting.ended import Ended
from gradcli.questions.fitting.model import Layout
from gradcli.questions.fitting.predictions import drawn, predicted
from gradcli.questions.fitting.problem import Found
from gradcli.questions.fitting.sums import about
from gradcli.views import Estimate, FitResult

UNTOLD = "not told"


def told(ended: Ended) -> FitResult:
    """The result of a fit."""
    found, layout, asked = ended.best.found, ended.layout, ended.asked
    variances = np.where(found.moved & ~found.untold, np.diag(found.covariance), nan)
    errors = np.sqrt(np.where(variances >= 0.0, variances, nan))
    lower, upper, missed = _ends(ended, errors)
    states = _states(found, ended)
    has_error = np.isfinite(errors)
    covariance = {
        a: {b: float(found.covariance[i, j]) for j, b in enumerate(layout.labels) if has_error[j]}
        for i, a in enumerate(layout.labels)
        if has_error[i]
    }
    values = {**layout.values(found.point), **{n: v.tolist() for n, v in ended.held.items()}}
    order = [*layout.names, *ended.held]
    both = np.stack([lower, upper], -1)
    return FitResult(
        data=tuple(ended.roles.data),
        observed=tuple(asked.observed),
        values={name: values[name] for name in order},
        error=_by_name(layout, errors),
        interval=_by_name(layout, both),
        covariance=covariance,
        estimates=(*_estimates(ended, errors, lower, upper, states), *_held(ended.held)),
        level=asked.level,
        interval_from="profile" if _is_profiled(ended) else "errors",
        records=_count(ended),
        compared=_compared(ended),
        left_out=ended.facts.left_out,
        dof=_dof(found, asked),
        figures=_figures(ended),
        errors_from=found.errors_from,
        condition=found.condition,
        loss=asked.loss,
        loss_scale=found.loss_scale,
        starts=(ended.best.reached, ended.best.tried) if ended.best.tried > 1 else None,
        converged=found.converged and not ended.best.is_stopped,
        reason="interrupted" if ended.best.is_stopped else found.reason,
        evaluations=found.evaluations,
        warnings=(*ended.roles.notes, *_warnings(ended, states, missed)),
        picture=drawn(ended) if asked.draw else None,
        predicted=None if asked.predict is None else predicted(ended, asked.predict),
    )


def _dof(found: Found, asked: Asked) -> int | None:
    """The degrees of freedom of a sum of squares, n - p."""
    return None if asked.likelihood else found.count - int(np.count_nonzero(found.moved))


def _count(ended: Ended) -> int:
    """How many records count."""
    if not ended.asked.observed:
        return ended.best.found.count if not ended.roles.data else ended.facts.count
    return ended.facts.compared[0].count if _is_shared(ended) else ended.facts.count


def _is_shared(ended: Ended) -> bool:
    """True if each result is compared with all records."""
    return all(one.records == ended.facts.count for one in ended.facts.compared)


def _compared(ended: Ended) -> dict[str, int] | None:
    """How many records each of several results is compared with; None if all with all."""
    if _is_shared(ended):
        return None
    return {n: one.count for n, one in zip(ended.asked.of, ended.facts.compared, strict=True)}


def _by_name(layout: Layout, numbers: Data) -> dict[str, Any]:
    """Numbers by parameter, in its shape and their own behind; None for those that there are
    not.
    """
    found: dict[str, Any] = {}
    at = 0
    for name, shape in layout.shapes.items():
        size = int(np.prod(shape))
        part = numbers[at : at + size].reshape((*shape, *numbers.shape[1:]))
        found[name] = _plain(part.tolist())
        at += size
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isnan(value) else value


def _number(x: float) -> float | None:
    return float(x) if isfinite(x) else None


def _estimates(
    ended: Ended, errors: Data, lower: Data, upper: Data, states: list[str]
) -> list[Estimate]:
    from gradcli.models.statistics import two_sided

    found = ended.best.found
    several = zip(
        *(ended.layout.labels, found.point.tolist(), errors.tolist(), lower.tolist()),
        *(upper.tolist(), ended.start.tolist(), states),
        strict=True,
    )
    return [
        Estimate(
            *(name, x, _number(error), _number(low), _number(high), start, state),
            _number(two_sided(x / error, found.dof)) if error > 0.0 else None,
        )
        for name, x, error, low, high, start, state in several
    ]


def _held(held: Mapping[str, Any]) -> list[Estimate]:
    layout = Layout({name: value.shape for name, value in held.items()})
    if not held:
        return []
    pairs = zip(layout.labels, layout.joined(held).tolist(), strict=True)
    return [Estimate(name, x, None, None, None, x, "held", None) for name, x in pairs]


def _states(found: Found, ended: Ended) -> list[str]:
    """What hinders the numbers of a point from having an error."""
    problem = ended.best.problem
    states = []
    for k in range(len(found.point)):
        if not found.moved[k]:
            is_low = found.point[k] <= problem.lower[k]
            states.append(f"at {'lower' if is_low else 'upper'} bound")
        else:
            states.append(UNTOLD if found.untold[k] else "")
    return states


def _ends(ended: Ended, errors: Data) -> tuple[Data, Data, list[str]]:
    """The ends of the intervals, nan for those that there are not; and the names whose profile has
    no end.
    """
    from gradcli.models.statistics import quantile

    found, asked = ended.best.found, ended.asked
    half = quantile(asked.level, found.dof) * errors
    lower, upper = found.point - half, found.point + half
    if not _is_profiled(ended):
        return lower, upper, []
    from gradcli.models.profile import end

    problem = ended.best.problem
    rise = quantile(asked.level, found.dof) ** 2 * found.factor
    missed = []
    for k, label in enumerate(ended.layout.labels):
        for side, ends in ((-1.0, lower), (1.0, upper)):
            if not isfinite(half[k]):
                continue
            limit = (problem.lower if side < 0 else problem.upper)[k]
            at = end(
                *(problem.refit, found.point, k, side * float(half[k]), rise, found.cost),
                float(limit),
            )
            ends[k] = nan if at is None else at
            if at is None:
                missed.append(f"the {'lower' if side < 0 else 'upper'} end of `{label}`")
    return lower, upper, missed


def _is_profiled(ended: Ended) -> bool:
    """True if the ends of the intervals are the profile's; a search that was stopped has none."""
    return ended.asked.profile and not ended.best.is_stopped


def _figures(ended: Ended) -> dict[str, float]:
    """The figures that compare fits."""
    from gradcli.models.statistics import explained, minus_two_log, minus_two_log_known

    found, asked = ended.best.found, ended.asked
    estimated = int(np.count_nonzero(found.moved))
    if asked.likelihood:
        criteria = _criteria(found.cost, estimated, max(ended.facts.count, 1))
        return {"log_likelihood": 0.0 - 0.5 * found.cost, **criteria}
    count, dof = found.count, found.count - estimated
    told: dict[str, float] = {}
    if asked.sigma:
        told["chi_squared"] = found.squares
    if dof > 0:
        told["residual_standard_error"] = sqrt(found.squares / dof)
    told["rss"] = found.squares
    if not asked.observed or asked.loss != "linear":
        return told

    several = ended.facts.compared
    mean = sum(one.weighted for one in several) / sum(one.weight for one in several)
    total = sum(ended.shares.each(ended.setup, about, mean))
    told["r_squared"] = explained(found.squares, total)
    if asked.sigma and not asked.scale_errors:
        logs = sum(one.log_sigma for one in several)
        least, own = minus_two_log_known(found.squares, logs, count), 0
    else:
        logs = sum(one.log_weight for one in several)
        least, own = minus_two_log(found.squares, logs, count), 1
    return {
        **told,
        "log_likelihood": 0.0 - 0.5 * least,
        **_criteria(least, estimated + own, count),
    }


def _criteria(least: float, parameters: int, count: int) -> dict[str, float]:
    """AIC and BIC."""
    from math import log

    if least == -inf:
        return {}
    return {"aic": least + 2.0 * parameters, "bic": least + log(count) * parameters}


def _warnings(ended: Ended, states: list[str], missed: list[str]) -> list[Diagnostic]:
    """What a reader of the result should know."""
    said: list[Diagnostic] = []
    facts, found = ended.facts, ended.best.found
    if facts.first_left is not None:
        name, line, reason = facts.first_left
        count = facts.left_out + facts.count
        place = f"line {line} of `{name}`" if facts.several_files else f"line {line}"
        text = f"{facts.left_out:,} of {count:,} rows left out, the first at {place}"
        said.append(Diagnostic("rows-left-out", text, notes=(reason.message,)))
    untold = [n for n, s in zip(ended.layout.labels, states, strict=True) if s == UNTOLD]
    if untold:
        help = "hold one of them, `--fix NAME=VALUE`, or write the model with fewer"
        said.append(Diagnostic("not-told", f"the data do not tell {listed(untold)}", help=help))
    at = [
        f"`{name}` is at its {state.removeprefix('at ')}"
        for name, state in zip(ended.layout.labels, states, strict=True)
        if state.startswith("at ")
    ]
    if at:
        text = f"{', '.join(at)}: it has no error, and the errors of others are those with it held"
        said.append(Diagnostic("at-bound", text))
    if missed:
        text = f"the profile has no end for {', '.join(missed)}"
        said.append(Diagnostic("no-profile-end", text))
    if ended.best.is_stopped:
        text = "interrupted: these are the best estimates so far"
        said.append(Diagnostic("not-converged", text))
    elif not found.converged:
        help = "try other starts, `--starts 20`, or more `--max-evaluations`"
        text = f"not converged: {found.reason}"
        said.append(Diagnostic("not-converged", text, help=help))
    for one in said:
        one.severity = "warning"
    return said
