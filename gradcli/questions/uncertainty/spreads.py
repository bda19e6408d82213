"""The uncertainty of one value: standard uncertainty, degrees of freedom, shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, isfinite, sqrt
from typing import Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.errors import Diagnostic, InputError
from gradcli.questions.uncertainty.texts import SHAPES, Uncertain, suffixes
from gradcli.record import Record

FIELDS = ("value", "uncertainty", "dof", "distribution")
"""The keys of a value with an uncertainty in JSON."""


class Spread(Record):
    """How uncertain a value is.

    Fields:
        width: The number that is given for it: the standard uncertainty of a normal value, the
            half-width of a uniform or triangular one, the scale of Student's `t`; a list in the
            shape of a list of values.
        dof: Degrees of freedom of the standard uncertainty; infinite if it is known.
        shape: "normal", "uniform", "triangular" or "t".
        degrees: Degrees of freedom of the shape "t"; infinite for others.
    """

    __slots__ = ("width", "dof", "shape", "degrees")
    width: Any
    dof: float
    shape: str
    degrees: float

    @property
    def factor(self) -> float:
        """The standard uncertainty in units of the width: JCGM 100:2008, 4.3.7 and 4.3.9."""
        if self.shape == "uniform":
            return 1.0 / sqrt(3.0)
        if self.shape == "triangular":
            return 1.0 / sqrt(6.0)
        return sqrt(self.degrees / (self.degrees - 2.0)) if self.shape == "t" else 1.0


class Measured(Given):
    """A value from outside with an uncertainty, which `propagate` uses."""

    __slots__ = ("spread",)
    spread: Spread


class Fitted(Given):
    """A value that a fit has found, with the covariances of all that it has found."""

    __slots__ = ("covariance",)
    covariance: Any


def written(
    found: Uncertain, name: str, origin: str, constant: Callable[[str], Any]
) -> tuple[Any, Spread]:
    """Value and uncertainty of a text.

    Args:
        found: The text.
        name: What gets the value.
        origin: The whole text in messages.
        constant: Gives the value of a constant expression.

    Raises:
        InputError: If the uncertainty is not one.
    """
    value, width = constant(found.value), constant(found.width)
    if found.percent:
        width = part_of(value, width)
    return value, spread(name, origin, width, found.dof, found.shape, found.degrees)


def spread(
    name: str,
    origin: str,
    width: Any,
    dof: float = inf,
    shape: str = "normal",
    degrees: float = inf,
) -> Spread:
    """An uncertainty, checked.

    Raises:
        InputError: If a number in it cannot be what it is.
    """
    numbers = [*flat(width)]
    if not numbers or not all(_is_number(x) and isfinite(x) and x >= 0 for x in numbers):
        message = f"the uncertainty of `{name}` is a finite number of at least 0"
        raise InputError(_bad(message, origin, "as in `5.0+/-0.1`, `5.0+/-2%` or `'5.00(12)'`"))
    if not dof > 0:
        raise InputError(_bad(f"`{name}` has {dof:g} degrees of freedom", origin, None))
    if shape not in SHAPES:
        message = f"`{name}` has the distribution `{shape}`"
        raise InputError(_bad(message, origin, f"known are {', '.join(SHAPES)}"))
    if shape == "t" and not degrees > 2:
        message = f"a t distribution of {degrees:g} degrees of freedom has no standard deviation"
        raise InputError(_bad(message, origin, "it needs more than 2"))
    return Spread(_each(float, width), dof, shape, degrees)


def in_json(name: str, found: Mapping[str, Any], origin: str) -> Given:
    """The value of an object `{"value": 5.0, "uncertainty": 0.1, "dof": 9}`."""
    width, dof = found.get("uncertainty"), found.get("dof")
    if width is None:
        return Given(found["value"], origin)
    if dof is not None and not _is_number(dof):
        raise InputError(_bad(f"the degrees of freedom of `{name}` are no number", origin, None))
    shape, degrees = str(found.get("distribution", "normal")), inf
    if shape not in SHAPES:
        rest, _, known, degrees = suffixes(f":{shape}")
        shape = known if not rest else shape
    of = (inf if dof is None else float(dof), shape, degrees)
    return Measured(found["value"], origin, spread(name, origin, width, *of))


def part_of(value: Any, percent: Any) -> Any:
    """So many per cent of each number in a value; None if one is no number."""
    if not _is_number(percent) or not all(map(_is_number, flat(value))):
        return None
    return _each(lambda x: abs(x) * percent / 100.0, value)


def is_measured(value: Any) -> bool:
    """True for an object of JSON that is a value with an uncertainty."""
    return isinstance(value, dict) and "value" in value and set(value) <= set(FIELDS)


def flat(value: Any) -> list[Any]:
    """The numbers of a value in row-major order."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (list, tuple)):
        return [x for part in value for x in flat(part)]
    return [value]


def labels(name: str, value: Any) -> list[str]:
    """The names of the elements of a value: `x`, or `x[0]`, `x[1]`, or `x[0, 0]`, ..."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return [f"{name}[{at}]" if at else name for at in _places(value)]


def _places(value: Any) -> list[str]:
    if not isinstance(value, (list, tuple)):
        return [""]
    return [f"{k}, {at}" if at else f"{k}" for k, part in enumerate(value) for at in _places(part)]


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    """A function of each number in a value, in its shape."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (list, tuple)):
        return [_each(function, part) for part in value]
    return function(value)


def _is_number(x: Any) -> bool:
    return type(x) in (int, float)


def _bad(message: str, origin: str, help: str | None) -> Diagnostic:
    return Diagnostic("bad-input", message, notes=(f"given as {origin}",), help=help)
