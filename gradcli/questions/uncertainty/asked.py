"""What `propagate` is asked: the uncertainties of values, from all places that give some."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.errors import Diagnostic, InputError, UsageError, listed, nearest
from gradcli.questions.uncertainty.joint import Covariance, input_of, joint
from gradcli.questions.uncertainty.report import Question
from gradcli.questions.uncertainty.spreads import (
    Fitted,
    Measured,
    Spread,
    in_json,
    is_measured,
    spread,
    written,
)
from gradcli.questions.uncertainty.texts import in_sum
from gradcli.questions.uncertainty.widths import Width


def asked_question(
    inputs: Sequence[str],
    given: Mapping[str, Given],
    uncertainties: Mapping[str, Any],
    correlations: Mapping[tuple[str, str], float],
    covariance: Mapping[str, Mapping[str, float | None]] | Sequence[Covariance],
    coverage: float,
) -> Question:
    """The question with these uncertainties; arguments as of `Program.propagate`.

    Raises:
        InputError: If no input has an uncertainty, or no numbers have such covariances.
        UsageError: If the coverage is no probability.
    """
    if not 0.0 < coverage < 1.0:
        message = f"a coverage is between 0 and 1, got {coverage:g}"
        raise UsageError(Diagnostic("usage", message, help="0.95 is usual"))
    if isinstance(covariance, Mapping):
        covariance = [Covariance(covariance, inf, "the covariance")] if covariance else []
    check_inputs(uncertainties, inputs)
    check_inputs([input_of(x) for of in covariance for x in of.numbers], inputs)
    covariance = [*_fits(given), *covariance]
    spreads = {n: x.spread for n, x in given.items() if isinstance(x, Measured)}
    for name, width in uncertainties.items():
        spreads[name] = _spread(name, width, given)
    values = {name: each.value for name, each in given.items()}
    found = joint(inputs, values, spreads, correlations, covariance)
    return Question(found, tuple(found.uncertainties), coverage)


def check_inputs(names: Iterable[str], inputs: Sequence[str]) -> None:
    """Refuse uncertainties of names that are no inputs.

    Raises:
        InputError: Naming the inputs that there are.
    """
    known = f"its inputs are {', '.join(inputs)}" if inputs else "it has no inputs"
    for name in names:
        if name not in inputs:
            message = f"`{name}` has an uncertainty and is no input of the program"
            help = nearest(name, inputs) or known
            raise InputError(Diagnostic("unknown-input", message, help=help))


def _spread(name: str, width: Any, given: Mapping[str, Given]) -> Spread:
    if isinstance(width, Width):
        return width.of(name, given)
    return width if isinstance(width, Spread) else spread(name, f"{name}+/-{width}", width)


def taken(given: Mapping[str, Given]) -> dict[str, Given]:
    """The values with `5.0+-0.1` taken for a value with an uncertainty, not for a sum."""
    return {name: _taken(name, value) for name, value in given.items()}


def _taken(name: str, given: Given) -> Given:
    origin = given.origin
    if type(given) is not Given or type(origin) is not str or "+" not in origin:
        return given
    found = in_sum(origin.removeprefix(f"{name}="))
    if found is None:
        return given
    value, of = written(found, name, origin, float)
    return Measured(value, origin, of)


def given_in_file(name: str, value: Any, origin: str, printed: Mapping[str, Any]) -> Given:
    """A value of a JSON file with its uncertainty, if it has one.

    Args:
        name: The input.
        value: The value, or an object `{"value": 5.0, "uncertainty": 0.1}`.
        origin: Where it comes from, for messages.
        printed: The other fields of the file if gradcli printed it, else empty.

    Raises:
        InputError: If the uncertainty is none.
    """
    if is_measured(value):
        return in_json(name, value, origin)
    numbers, dof = printed.get("covariance"), printed.get("dof")
    if not numbers:
        return Given(value, origin)
    if isinstance(dof, dict):  # of several results of `propagate`
        dof = min([x for x in dof.values() if x is not None], default=None)
    file = origin.partition(" in ")[2] or origin
    whole = covariance_of(numbers, f"`{file}`", inf if dof is None else dof)
    return Fitted(value, origin, whole)


def _fits(given: Mapping[str, Given]) -> list[Covariance]:
    """The covariances of fitted values, without the names that have other values."""
    found: dict[str, tuple[Any, list[str]]] = {}
    for name, value in given.items():
        if isinstance(value, Fitted):
            found.setdefault(value.covariance.origin, (value.covariance, []))[1].append(name)
    return [_cut(whole, names) for whole, names in found.values()]


def without_uncertainty(given: Mapping[str, Given]) -> list[Diagnostic]:
    """A note for each fit, some of whose values have no uncertainty: they were held, or at a
    bound.
    """
    names: dict[str, list[str]] = {}
    for name, value in given.items():
        if isinstance(value, Fitted) and not _has_any(value.covariance, name):
            names.setdefault(value.covariance.origin, []).append(name)
    return [
        Diagnostic(
            "no-uncertainty",
            f"{listed(found)} of {origin} {'has' if len(found) == 1 else 'have'} no uncertainty",
            notes=("a parameter that was held, or ended at a bound, has none",),
            severity="note",
        )
        for origin, found in names.items()
    ]


def _has_any(whole: Covariance, name: str) -> bool:
    own = [x for x in whole.numbers if input_of(x) == name]
    return any(whole.numbers[x].get(x) is not None for x in own)


def _cut(whole: Covariance, names: Sequence[str]) -> Covariance:
    """The covariances of elements of some inputs."""
    kept = [x for x in whole.numbers if input_of(x) in names]
    numbers = {x: {y: n for y, n in whole.numbers[x].items() if y in kept} for x in kept}
    return Covariance(numbers, whole.dof, whole.origin)


def covariance_of(numbers: Any, origin: str, dof: Any = inf) -> Covariance:
    """Covariances by two names, checked for their form.

    Raises:
        InputError: If they are no mapping of names to such mappings.
    """
    is_table = isinstance(numbers, dict) and all(isinstance(x, dict) for x in numbers.values())
    if not is_table:
        message = f"{origin} is no table of covariances"
        help = 'as in {"a": {"a": 0.04, "b": 0.01}, "b": {"a": 0.01, "b": 0.09}}'
        raise InputError(Diagnostic("bad-covariance", message, help=help))
    if type(dof) not in (int, float) or not dof > 0:
        message = f"{origin} has {dof} degrees of freedom"
        raise InputError(Diagnostic("bad-covariance", message))
    return Covariance(numbers, float(dof), origin)
