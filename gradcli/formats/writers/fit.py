"""Results of `fit` for pipes: `estimate.a`, `error.a`, figures; CSV, JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradcli.formats.texts.delimited import cells, header, record
from gradcli.formats.texts.json_text import (
    array,
    diagnostic_json,
    fields_json,
    json_object,
    warning_json,
)
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.writers.forms import Parts, ValueParts, failure
from gradcli.results import Value
from gradcli.views import FitComparison, FitGroups, FitResult


class FitParts(ValueParts):
    """The estimates and what is known of them."""

    result: FitResult

    def fields(self) -> dict[str, Value]:
        result = self.result
        found: dict[str, Value] = {f"estimate.{n}": v for n, v in result.values.items()}
        found |= {f"error.{n}": v for n, v in result.error.items()}
        for side, name in enumerate(("lower", "upper")):
            ends = {n: _side(v, side) for n, v in result.interval.items()}
            found |= {f"{name}.{n}": v for n, v in ends.items()}
        found |= {"records": result.records, "dof": result.dof}
        found |= result.figures
        return {**found, "converged": result.converged, "reason": failure(result)}

    def found(self) -> Mapping[str, Value]:
        return self.result.values

    def numbers(self) -> Iterable[Value]:
        return self.result.values.values()

    def json(self) -> dict[str, str]:
        result = self.result
        plain = ("data", "observed", "values", "error", "interval", "covariance")
        told = ["level", "interval_from", "records", "left_out", "dof"]
        if result.compared is not None:
            told.insert(3, "compared")
        figures = {n: literal(v, json=True) for n, v in result.figures.items()}
        loss = {"loss": literal(result.loss), "loss_scale": literal(result.loss_scale, json=True)}
        starts = {}
        if result.starts is not None:
            reached, tried = result.starts
            starts = {"starts": json_object({"reached": str(reached), "tried": str(tried)})}
        return {
            "schema": quote("gradcli.fit/1"),
            **fields_json(result, (*plain, *told)),
            **figures,
            **fields_json(result, ("errors_from", "condition")),
            **loss,
            **starts,
            **fields_json(result, ("converged", "reason", "evaluations")),
            "warnings": array(map(warning_json, result.warnings)),
        }


def _side(interval: Any, side: int) -> Any:
    """One end of an interval, or of each of an array of them."""
    if isinstance(interval[0], list):
        return [_side(part, side) for part in interval]
    return interval[side]


class FitGroupsParts(Parts):
    """A record for each group: its key, then the parts of its fit."""

    result: FitGroups

    def json(self) -> dict[str, str]:
        raise AssertionError("groups are objects of their own")

    def objects(self) -> Iterator[dict[str, str]]:
        """A JSON object for each group."""
        for group in self.result.groups:
            key = {"by": json_object({self.result.by: quote(group.key)})}
            if group.found is not None:
                found = FitParts(group.found, self.look).json()
                yield {"schema": found["schema"], **key, **found}
            elif group.error is not None:
                yield {**key, "error": diagnostic_json(group.error)}

    def records(self) -> Iterator[Sequence[str]]:
        """The header, then a record for each group; fields of one without a fit are empty."""
        known = [FitParts(g.found, self.look) for g in self.result.groups if g.found is not None]
        names = header(known[0].fields()) if known else []
        yield [self.result.by, *names, "error"]
        for group in self.result.groups:
            if group.found is not None:
                yield [group.key, *cells(FitParts(group.found, self.look).fields()), ""]
            elif group.error is not None:
                yield [group.key, *[""] * len(names), group.error.message]

    def lines(self) -> str:
        """The records as a CSV."""
        return "".join(record(texts, ",") for texts in self.records())


_COMPARED = ("rss", "log_likelihood", "aic", "bic")


class FitComparisonParts(Parts):
    """A record for each program: its size and figures; the larger has the test of nesting."""

    result: FitComparison

    def json(self) -> dict[str, str]:
        result, test = self.result, self.result.nested
        fits = {n: json_object(FitParts(f, self.look).json()) for n, f in result.fits.items()}
        names = ("kind", "ratio", "more", "dof", "chance", "smaller", "larger")
        nested = "null" if test is None else json_object(fields_json(test, names))
        return {
            "schema": quote("gradcli.fits/1"),
            "fits": json_object(fits),
            "nested": nested,
            "warnings": array(map(warning_json, result.warnings)),
        }

    def records(self) -> Iterator[Sequence[str]]:
        """The header, then a record for each program."""
        test = self.result.nested
        tested = () if test is None else (test.kind, "p")
        yield ["program", "parameters", "records", "dof", *_COMPARED, "converged", *tested]
        for name, found in self.result.fits.items():
            figures = [found.figures.get(field) for field in _COMPARED]
            values = [len(found.covariance), found.records, found.dof, *figures, found.converged]
            more = [""] * len(tested)
            if test is not None and name == test.larger:
                more = [literal(test.ratio), literal(test.chance)]
            yield [name, *("" if v is None else literal(v) for v in values), *more]

    def lines(self) -> str:
        """The records as a CSV."""
        return "".join(record(texts, ",") for texts in self.records())
