"""Results of `propagate` for pipes: values by name, and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, nan
from typing import Any

from gradcli.errors import Diagnostic
from gradcli.formats.texts.json_text import array, warning_json
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.writers.forms import ValueParts, named
from gradcli.results import Value
from gradcli.views import MonteCarlo, Propagated, PropagateResult, PropagateRow, Share

SCHEMA = quote("gradcli.propagate/1")
_NUMBERS = ("uncertainty", "first_order", "second_order", "shift", "linear", "factor")
_PARTS = ("value", "uncertainty", "sensitivity", "contribution", "share")
_MORE = ("width", "distribution", "dof")


class PropagationParts(ValueParts):
    """The parts of the uncertainty of one result or of several."""

    result: PropagateResult

    def fields(self) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for one in self.result.results:
            begin = {one.name: one.value} | {name: _real(getattr(one, name)) for name in _NUMBERS}
            parts = {n: _numbers(part) for n, part in budget(one.budget).items()}
            dof = inf if one.dof is None else one.dof
            more: dict[str, Any] = {"interval": [*one.interval], "dof": dof, "budget": parts}
            if one.monte_carlo is not None:
                more["monte_carlo"] = _simulation(one.monte_carlo)
            of = begin | {n: v for name, part in more.items() for n, v in named(name, part).items()}
            lead = "" if self.result.single else f"{one.name}."
            found |= {name if name == one.name else f"{lead}{name}": v for name, v in of.items()}
        if not self.result.single:
            found |= named("covariance", self.result.covariance)
        return found

    def found(self) -> dict[str, Value]:
        return _values(self.result)

    def json(self) -> dict[str, str]:
        result = self.result
        whole = _together(result, [_fields(one) for one in result.results])
        before, after = ("output", *_LEADING), ("interval", "dof", "budget")
        return {
            "schema": SCHEMA,
            **{name: literal(whole[name], json=True) for name in before},
            "coverage": literal(result.coverage),
            **{name: literal(whole[name], json=True) for name in after},
            "covariance": literal(result.covariance, json=True),
            "monte_carlo": literal(whole["monte_carlo"], json=True),
            "warnings": array(map(warning_json, result.warnings)),
        }


_LEADING = ("value", *_NUMBERS)


class RowParts(ValueParts):
    """The parts of the uncertainty of a result in one row of many. Whether it is linear is a field
    of its own there, in place of a warning.
    """

    result: PropagateRow

    def fields(self) -> dict[str, Value]:
        fields = ("sensitivity", "contribution", "share")
        found: dict[str, Value] = {}
        for one in self.result.results:
            parts = {f"{f}.{share.name}": getattr(share, f) for f in fields for share in one.budget}
            orders = {name: getattr(one, name) for name in _NUMBERS[:3]}
            more: dict[str, Any] = {**orders, "interval": [*one.interval], **parts}
            if one.monte_carlo is not None:
                more |= named("monte_carlo", _simulation(one.monte_carlo))
            lead = "" if self.result.single else f"{one.name}."
            found |= {one.name: one.value, **{f"{lead}{n}": _real(x) for n, x in more.items()}}
        return found | named("covariance", self.result.covariance)

    def found(self) -> dict[str, Value]:
        return _values(self.result)

    def json(self) -> dict[str, str]:
        result = self.result
        whole = _together(result, [_row_fields(one) for one in result.results])
        said = [w for w in result.warnings if not is_of_field(w)]
        after = ["interval", "dof", "budget"]
        after += ["monte_carlo"] if result.results[0].monte_carlo is not None else []
        covariance = {} if result.single else {"covariance": result.covariance}
        return {
            "schema": SCHEMA,
            **{name: literal(whole[name], json=True) for name in ("output", *_LEADING)},
            "coverage": literal(result.coverage),
            **{n: literal(whole[n], json=True) for n in after},
            **{n: literal(x, json=True) for n, x in covariance.items()},
            "warnings": array(map(warning_json, said)),
        }


def _row_fields(one: Propagated) -> dict[str, Any]:
    """All fields of a result in a row."""
    return {**_fields(one), "budget": _parts(one.budget)}


def _together(result: PropagateResult | PropagateRow, each: Sequence[Mapping[str, Any]]) -> Any:
    """The fields of a single result; of several each field by the results' names."""
    if result.single:
        return each[0]
    names = [one.name for one in result.results]
    return {field: dict(zip(names, [one[field] for one in each], strict=True)) for field in each[0]}


def _values(result: PropagateResult | PropagateRow) -> dict[str, Value]:
    """Values and uncertainties by name."""
    found: dict[str, Value] = {}
    for one in result.results:
        lead = "" if result.single else f"{one.name}."
        found |= {one.name: one.value, f"{lead}uncertainty": one.uncertainty}
    return found


def _numbers(part: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of an input, without the name of its distribution."""
    return {field: _real(x) for field, x in part.items() if not isinstance(x, str)}


def _real(x: Any) -> Any:
    """A number that columns and arrays can hold: nan where there is none."""
    return nan if x is None else x


def is_of_field(warning: Diagnostic) -> bool:
    """True for a warning that a field of a row tells."""
    return warning.code == "not-linear"


def budget(shares: tuple[Share, ...]) -> dict[str, dict[str, Any]]:
    """What each input adds, by its name."""
    return {
        share.name: {name: getattr(share, name) for name in (*_PARTS, *_shown(share))}
        for share in shares
    }


def _parts(shares: tuple[Share, ...]) -> dict[str, dict[str, Any]]:
    """The numbers of each input, which differ from row to row."""
    return {share.name: {name: getattr(share, name) for name in _PARTS} for share in shares}


def _shown(share: Share) -> tuple[str, ...]:
    """Further fields of an input, where they say something."""
    if share.distribution != "normal":
        return _MORE
    return () if share.dof is None else ("dof",)


def _fields(one: Propagated) -> Mapping[str, Any]:
    """All fields of a result."""
    found = None if one.monte_carlo is None else _simulation(one.monte_carlo)
    return {
        "output": one.name,
        "value": one.value,
        **{name: getattr(one, name) for name in _NUMBERS},
        "interval": one.interval,
        "dof": one.dof,
        "budget": budget(one.budget),
        "monte_carlo": found,
    }


def _simulation(found: MonteCarlo) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found._fields}
