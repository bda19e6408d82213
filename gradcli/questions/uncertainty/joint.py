"""The joint uncertainty of all inputs: standard uncertainties, correlations, degrees of freedom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite, sqrt
from typing import Any, TypeAlias

from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic, InputError, nearest
from gradcli.questions.uncertainty.spreads import Spread, flat, labels
from gradcli.record import Record

Matrix: TypeAlias = tuple[tuple[float, ...], ...]

_ROUNDING = 1e-8  # below zero: an eigenvalue of a correlation matrix that rounding explains


class Covariance(Record):
    """Covariances by the names of two elements each.

    Fields:
        numbers: The covariances; None in a row stands for no uncertainty.
        dof: Their degrees of freedom, if they come from a fit; else infinite.
        origin: Where they come from, for messages.
    """

    __slots__ = ("numbers", "dof", "origin")
    numbers: Mapping[str, Mapping[str, float | None]]
    dof: float
    origin: str


class Element(Record):
    """One number with an uncertainty.

    Fields:
        label: Its name: `x`, or `x[0]` in a tensor.
        uncertainty: Its standard uncertainty.
        spread: What was given for its input; None if a covariance was.
        width: The number that was given.
        dof: Its degrees of freedom.
    """

    __slots__ = ("label", "uncertainty", "spread", "width", "dof")
    label: str
    uncertainty: float
    spread: Spread | None
    width: float
    dof: float

    @property
    def shape(self) -> str:
        """The shape of its distribution."""
        return "normal" if self.spread is None else self.spread.shape


class Joint(Record):
    """The uncertainties of the inputs of a program.

    Fields:
        names: The inputs that have some, in the order of the program.
        counts: How many numbers each has; 0 for one whose own value tells it.
        elements: These numbers, in order.
        correlation: Their correlations; None if there are none.
        factor: Its triangular factor, or another square root; None if there are none.
        groups: Independent parts with their degrees of freedom, by places among the elements; None
            if an uncertainty with finite degrees of freedom is correlated with others.
    """

    __slots__ = ("names", "counts", "elements", "correlation", "factor", "groups")
    names: tuple[str, ...]
    counts: tuple[int, ...]
    elements: tuple[Element, ...]
    correlation: Matrix | None
    factor: Matrix | None
    groups: tuple[tuple[tuple[int, ...], float], ...] | None

    @property
    def uncertainties(self) -> list[float]:
        """The standard uncertainties of the elements."""
        return [element.uncertainty for element in self.elements]

    @property
    def are_normal(self) -> bool:
        """True if all distributions are normal, for which the second order holds."""
        return all(e.shape == "normal" for e in self.elements)

    @property
    def has_finite(self) -> bool:
        """True if an uncertainty has finite degrees of freedom."""
        return any(e.dof != inf for e in self.elements)


def joint(
    inputs: Sequence[str],
    values: Mapping[str, Any],
    spreads: Mapping[str, Spread],
    correlations: Mapping[tuple[str, str], float],
    covariances: Iterable[Covariance] = (),
) -> Joint:
    """The joint uncertainty of inputs.

    Args:
        inputs: The inputs of the program.
        values: The values that are given, by name.
        spreads: Their uncertainties.
        correlations: Correlations by two names of elements each.
        covariances: Covariances, which take the place of uncertainties.

    Raises:
        InputError: If there is none, a name is not known, or no numbers can have such covariances.
    """
    elements = {e.label: e for n in inputs if n in spreads for e in _elements(n, values, spreads)}
    pairs: dict[tuple[str, str], float] = {}
    fitted: list[tuple[list[str], float]] = []
    for of in covariances:
        fitted.append((_add(of, elements, pairs), of.dof))
    order = {name: k for k, name in enumerate(inputs)}
    labels = sorted(elements, key=lambda label: order[input_of(label)])
    chosen = [elements[label] for label in labels]
    if not chosen:
        message = "no input has an uncertainty"
        help = "an uncertainty is written `x=5.0+/-0.1`"
        raise InputError(Diagnostic("no-uncertainty", message, help=help))
    _correlate(correlations, labels, pairs)
    names = tuple(dict.fromkeys(map(input_of, labels)))
    counts = tuple([sum(input_of(x) == name for x in labels) for name in names])
    matrix, factor = _matrices(labels, pairs)
    groups = _groups(chosen, pairs, fitted)
    return Joint(names, counts, tuple(chosen), matrix, factor, groups)


def input_of(label: str) -> str:
    """The input that an element belongs to."""
    return label.partition("[")[0]


def _elements(name: str, values: Mapping[str, Any], spreads: Mapping[str, Spread]) -> list[Element]:
    of = spreads[name]
    widths = flat(of.width)
    value = values.get(name, of.width)
    found = labels(name, value)
    if len(widths) == 1:
        widths = widths * len(found)
    if len(widths) != len(found):
        message = f"`{name}` has {len(found)} numbers and {len(widths)} uncertainties"
        raise InputError(Diagnostic("shape-mismatch", message))
    factor = of.factor
    return [Element(at, w * factor, of, w, of.dof) for at, w in zip(found, widths, strict=True)]


def _add(
    of: Covariance, elements: dict[str, Element], pairs: dict[tuple[str, str], float]
) -> list[str]:
    """Add covariances to elements and to pairs that are correlated; return the names."""
    numbers = of.numbers
    variances = {x: row.get(x) for x, row in numbers.items()}
    there = [x for x, variance in variances.items() if variance is not None]
    deviations = {}
    for x in there:
        variance: Any = variances[x]
        if type(variance) not in (int, float) or not isfinite(variance) or variance < 0:
            raise _bad(f"the variance of `{x}` in {of.origin} is {variance}")
        deviations[x] = sqrt(variance)
        elements[x] = Element(x, deviations[x], None, deviations[x], of.dof)
    for x in there:
        for y, number in numbers[x].items():
            if y == x or y not in deviations or number is None:
                continue
            other = numbers[y].get(x)
            if type(number) not in (int, float) or not isfinite(number):
                raise _bad(f"the covariance of `{x}` and `{y}` in {of.origin} is {number}")
            if other is not None and abs(other - number) > 1e-9 * deviations[x] * deviations[y]:
                raise _bad(f"{of.origin} has two covariances of `{x}` and `{y}`")
            scale = deviations[x] * deviations[y]
            if scale:
                pairs[x, y] = pairs[y, x] = number / scale
            elif number:
                raise _bad(f"`{x}` or `{y}` has no variance, and a covariance of {number:g}")
    return there


def _correlate(
    correlations: Mapping[tuple[str, str], float],
    labels: Sequence[str],
    pairs: dict[tuple[str, str], float],
) -> None:
    for (x, y), number in correlations.items():
        for label in (x, y):
            if label not in labels:
                message = f"`{label}` in a correlation has no uncertainty"
                help = nearest(label, labels) or f"{', '.join(labels[:8])} have one"
                raise InputError(Diagnostic("bad-covariance", message, help=help))
        if x == y:
            raise _bad(f"`{x}` is correlated with itself")
        if not -1.0 <= number <= 1.0:
            raise _bad(f"the correlation of `{x}` and `{y}` is {number:g}, not from -1 to 1")
        pairs[x, y] = pairs[y, x] = float(number)


def _matrices(
    labels: Sequence[str], pairs: Mapping[tuple[str, str], float]
) -> tuple[Matrix | None, Matrix | None]:
    """The correlations and their square root; None if nothing is correlated.

    Raises:
        InputError: If no numbers can have them.
    """
    if not any(pairs.values()):
        return None, None
    places = {label: k for k, label in enumerate(labels)}
    matrix = np.eye(len(labels))
    for (x, y), number in pairs.items():
        matrix[places[x], places[y]] = number
    least, vectors = np.linalg.eigh(matrix)
    if least[0] < -_ROUNDING:
        worst = sorted(zip(map(abs, vectors[:, 0].tolist()), labels, strict=True), reverse=True)
        among = ", ".join(label for part, label in worst[:3] if part > 0.1)
        message = f"no numbers have such correlations: {among} contradict each other"
        notes = (f"the correlation matrix has the eigenvalue {least[0]:.3g}, below zero",)
        raise InputError(Diagnostic("bad-covariance", message, notes=notes))
    try:
        root = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        root = vectors * np.sqrt(np.maximum(least, 0.0))
    return _rows(matrix), _rows(root)


def _rows(matrix: Any) -> Matrix:
    return tuple([tuple(row) for row in matrix.tolist()])


def _groups(
    elements: Sequence[Element],
    pairs: Mapping[tuple[str, str], float],
    fitted: Sequence[tuple[list[str], float]],
) -> tuple[tuple[tuple[int, ...], float], ...] | None:
    """The independent parts with their degrees of freedom. A fitted covariance is one of them."""
    places = {e.label: k for k, e in enumerate(elements)}
    found: list[tuple[tuple[int, ...], float]] = []
    member: dict[str, int] = {}
    for names, dof in fitted:
        for name in names:
            member[name] = len(found)
        found.append((tuple([places[name] for name in names]), dof))
    for e in elements:
        if e.label not in member:
            member[e.label] = len(found)
            found.append(((places[e.label],), e.dof))
    for (x, y), number in pairs.items():
        finite = min(found[member[x]][1], found[member[y]][1]) != inf
        if number and member[x] != member[y] and finite:
            return None
    return tuple(found)


def _bad(message: str) -> InputError:
    return InputError(Diagnostic("bad-covariance", message))
