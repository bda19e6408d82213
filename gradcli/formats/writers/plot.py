"""Curves for pipes and files: the numbers that a plot shows."""

from __future__ import annotations

from gradcli.formats.texts.json_text import array, fields_json, json_object, warning_json
from gradcli.formats.texts.literal import quote
from gradcli.formats.writers.forms import ValueParts
from gradcli.results import Value
from gradcli.views import Curve, PlotResult


class CurvesParts(ValueParts):
    """Vectors of one length, the columns of a table."""

    result: PlotResult

    def fields(self) -> dict[str, Value]:
        values = {curve.name: curve.value for curve in self.result.curves}
        return {self.result.over: self.result.points, **values, **self.found()}

    def found(self) -> dict[str, Value]:
        over, several = self.result.over, len(self.result.curves) > 1
        return {
            f"grad.{curve.name}.{over}" if several else f"grad.{over}": curve.grad
            for curve in self.result.curves
        }

    def json(self) -> dict[str, str]:
        return {
            "schema": quote("gradcli.plot/1"),
            **fields_json(self.result, ("over", "points")),
            "curves": array(map(_curve, self.result.curves)),
            "warnings": array(map(warning_json, self.result.warnings)),
        }


def _curve(curve: Curve) -> str:
    kinks = array(json_object(fields_json(found, found._fields)) for found in curve.breaks)
    return json_object({**fields_json(curve, ("name", "value", "grad")), "kinks": kinks})
