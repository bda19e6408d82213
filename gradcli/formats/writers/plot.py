"""Curves for pipes and files: the numbers that a plot shows."""

from __future__ import annotations

from gradcli.formats.texts.json_text import array, json_object, warning_json
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.writers.forms import Parts
from gradcli.results import Value
from gradcli.views import Break, Curve, PlotResult


def plot_parts(result: PlotResult) -> Parts:
    """What a plot is written from: vectors of one length, which tables have as columns."""

    def slopes() -> dict[str, Value]:
        several = len(result.curves) > 1
        return {
            f"grad.{curve.name}.{result.over}" if several else f"grad.{result.over}": curve.grad
            for curve in result.curves
        }

    def fields() -> dict[str, Value]:
        values = {curve.name: curve.value for curve in result.curves}
        return {result.over: result.points, **values, **slopes()}

    return Parts(fields, slopes, lambda: _json(result))


def _json(result: PlotResult) -> dict[str, str]:
    return {
        "schema": quote("gradcli.plot/1"),
        "over": quote(result.over),
        "points": literal(result.points, json=True),
        "curves": array(map(_curve, result.curves)),
        "warnings": array(map(warning_json, result.warnings)),
    }


def _curve(curve: Curve) -> str:
    return json_object(
        {
            "name": quote(curve.name),
            "value": literal(curve.value, json=True),
            "grad": literal(curve.grad, json=True),
            "kinks": array(map(_kink, curve.breaks)),
        }
    )


def _kink(found: Break) -> str:
    names = ("at", "left", "right", "jump")
    return json_object({name: literal(getattr(found, name), json=True) for name in names})
