"""Results of `propagate` from the numbers of the law, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, isnan
from typing import Any

from gradcli.engine.numerics.coverage import coverage_factor
from gradcli.errors import Diagnostic, counted
from gradcli.questions.uncertainty.joint import Element, Joint
from gradcli.questions.uncertainty.law import FACTOR, LEAD
from gradcli.record import Record
from gradcli.views import Propagated, Share

_SIZE = 5  # numbers of an input


class Question(Record):
    """What `propagate` is asked.

    Fields:
        joint: The uncertainties of the inputs.
        uncertainties: Standard uncertainties in place of those in `joint`, of one row of many.
        coverage: The probability that intervals are made for.
    """

    __slots__ = ("joint", "uncertainties", "coverage")
    joint: Joint
    uncertainties: tuple[float, ...]
    coverage: float

    @property
    def key(self) -> Any:
        """Equal for questions that the same code answers."""
        elements = tuple([(e.label, e.shape, e.dof) for e in self.joint.elements])
        return elements, self.joint.factor, self.joint.groups, self.coverage

    def factor(self, dof: float) -> float:
        """The coverage factor."""
        return coverage_factor(self.coverage, dof)


def propagated(name: str, numbers: Sequence[Any], joint: Joint) -> Propagated:
    """A result from its numbers, with a budget in the order of the inputs."""
    value, uncertainty, first, second, shift, low, high, linear, variance = numbers[:FACTOR]
    factor, dof = numbers[FACTOR:LEAD]
    budget = []
    for k, element in enumerate(joint.elements):
        x, u, slope, contribution, share = numbers[LEAD + _SIZE * k :][:_SIZE]
        of = None if isnan(share) else share
        budget.append(Share(element.label, x, u, slope, contribution, of, **_given(element)))
    bad = isnan(second)
    return Propagated(
        name=name,
        value=value,
        uncertainty=first if bad else uncertainty,
        first_order=first,
        second_order=None if bad else second,
        shift=shift,
        linear=linear,
        variance=variance,
        factor=factor,
        interval=(value - factor * first, value + factor * first) if bad else (low, high),
        dof=_limited(dof),
        budget=tuple(budget),
        monte_carlo=None,
    )


def _given(element: Element) -> dict[str, Any]:
    """What was given for an uncertainty: its width, shape and degrees of freedom."""
    dof = _limited(element.dof)
    return {"width": element.width, "distribution": element.shape, "dof": dof}


def covered(of: Propagated, question: Question) -> Propagated:
    """A result with what is given for its inputs, and with the interval for its degrees of freedom,
    which code for other numbers of the same question does not know.
    """
    pairs = zip(of.budget, question.joint.elements, strict=True)
    fields = {name: getattr(of, name) for name in of._fields}
    fields["budget"] = tuple(
        Share(**{name: getattr(one, name) for name in one._fields} | _given(element))
        for one, element in pairs
    )
    if of.dof is not None:
        factor = question.factor(of.dof)
        wide = factor * of.uncertainty
        fields |= {"factor": factor, "interval": (of.value - wide, of.value + wide)}
    return Propagated(**fields)


def by_shares(of: Propagated) -> Propagated:
    """A result whose budget begins with the largest share."""
    fields = {name: getattr(of, name) for name in of._fields}
    parts = sorted(of.budget, key=lambda s: -abs(s.contribution if s.share is None else s.share))
    return Propagated(**{**fields, "budget": tuple(parts)})


def _limited(dof: float) -> float | None:
    return dof if 0.0 < dof < inf else None


# what is said -------------------------------------------------------------------------------------


def remarks(results: Sequence[Propagated], joint: Joint) -> list[Diagnostic]:
    """The warnings about results."""
    found = []
    bent = [r for r in results if not r.linear and isfinite(r.value)]
    if bent:
        worst = max(bent, key=_excess)
        found.append(_nonlinear(worst, len(bent) - 1, joint))
    if joint.groups is None:
        message = "an uncertainty with degrees of freedom is correlated with others"
        notes = ("the formula of Welch and Satterthwaite is for independent ones",)
        help = "the coverage factor is that of the normal distribution"
        found.append(_warn("normal-coverage", message, notes, help))
    return found


def _excess(of: Propagated) -> float:
    """How far both orders are apart, relative to the first."""
    if of.second_order is None or of.first_order == 0.0:
        return inf
    return abs(of.second_order / of.first_order - 1.0)


def _nonlinear(of: Propagated, more: int, joint: Joint) -> Diagnostic:
    """The warning that a result is not linear within the uncertainty of its inputs."""
    name = f"`{of.name}`"
    if of.second_order is None:
        message = f"the variance of {name} is negative at second order, so that the law fails"
    elif of.first_order == 0.0:
        message = f"the uncertainty of {name} is zero at first order, not at second"
    elif (apart := _excess(of)) > 0.05:
        message = f"first and second order of the uncertainty of {name} differ by {apart:.2g}"
        message = message.replace(f"{apart:.2g}", f"{100 * apart:.2g} %")
    else:
        where = "above" if of.shift > 0 else "below"
        message = f"the mean of {name} is {abs(of.shift):.2g} {where} its value"
    notes = [f"it is not linear within the uncertainty; so are {counted(more, 'other result')}"]
    if not more:
        notes = ["it is not linear within the uncertainty"]
    if not joint.are_normal:
        shapes = {e.label: e.shape for e in joint.elements if e.shape != "normal"}
        first, shape = next(iter(shapes.items()))
        notes.append(f"the second order holds for normal inputs; `{first}` is {shape}")
    help = "`--monte-carlo 1000000` simulates it"
    return _warn("not-linear", message, notes, help)


def _warn(code: str, message: str, notes: Sequence[str], help: str) -> Diagnostic:
    return Diagnostic(code, message, notes=notes, help=help, severity="warning")
