"""Derivatives as values by name, such as `loss`, `grad.w` and `hessian.w.b`."""

from __future__ import annotations

from typing import Any

from gradcli.formats.writers.forms import ValueParts, named
from gradcli.results import Derivative, Several, Value


class DerivativeParts(ValueParts):
    """The result's value, then its derivatives."""

    result: Derivative | Several

    def fields(self) -> dict[str, Value]:
        result = self.result
        found = result.value if isinstance(result, Several) else {result.output: result.value}
        for name, value in self._values().items():
            found.update(named(name, value))
        return found

    def found(self) -> dict[str, Value]:
        return named(*list(self._values().items())[-1])

    def json(self) -> dict[str, str]:
        from gradcli.formats.texts.json_text import array, fields_json, warning_json
        from gradcli.formats.texts.literal import literal, quote
        from gradcli.formats.writers.kinks import kinks_json

        result = self.result
        return {
            "schema": quote(f"gradcli.{result.question}/1"),
            **fields_json(result, ("output", "value")),
            **{name: literal(value, json=True) for name, value in result.answer.items()},
            "warnings": array(map(warning_json, result.warnings)),
            **kinks_json(getattr(result, "kinks", None)),
        }

    def lines(self) -> str:
        kinks = getattr(self.result, "kinks", None)
        if not kinks:
            return super().lines()
        from gradcli.formats.writers.kinks import kinks_plain

        return super().lines() + kinks_plain(kinks)

    def _values(self) -> dict[str, Any]:
        """The answer without the name of its mode."""
        return {name: v for name, v in self.result.answer.items() if name != "mode"}
