"""Results of `minimize` and `root` for pipes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.formats.texts.json_text import array, fields_json, warning_json
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.writers.forms import ValueParts, failure, named
from gradcli.results import Value
from gradcli.views import MinimizeResult, RootResult

_NONE = {"hessian": "null", "kind": "null"}  # of a root


class SolutionParts(ValueParts):
    """The point and what is known of it."""

    result: MinimizeResult | RootResult

    def fields(self) -> dict[str, Value]:
        result = self.result
        found: dict[str, Value]
        if isinstance(result, MinimizeResult):
            found = {result.output: result.value, **named("values", result.values)}
            found |= {**named("gradient", result.gradient), "kind": result.kind or ""}
        else:
            found = {**result.value, **named("values", result.values)}
        found |= {"converged": result.converged, "reason": failure(result)}
        found |= {"evaluations": result.evaluations}
        return found | named("sensitivity", result.sensitivity or {})

    def found(self) -> Mapping[str, Value]:
        return self.result.values

    def json(self) -> dict[str, str]:
        result = self.result
        is_minimum = isinstance(result, MinimizeResult)
        starts: dict[str, Any] | None = None
        if result.starts is not None:
            starts = {"reached": result.starts[0], "tried": result.starts[1]}
        return {
            "schema": quote(f"gradcli.{'minimize' if is_minimum else 'root'}/1"),
            **self._results(),
            **fields_json(result, ("values", "gradient")),
            **(fields_json(result, ("hessian", "kind")) if is_minimum else _NONE),
            **fields_json(result, ("converged", "reason", "evaluations")),
            **({"starts": literal(starts)} if starts else {}),
            "sensitivity": literal(result.sensitivity, json=True),
            "warnings": array(map(warning_json, result.warnings)),
        }

    def _results(self) -> dict[str, str]:
        """The names of the results and their values, objects by name if there are several."""
        result = self.result
        if isinstance(result, MinimizeResult):
            return fields_json(result, ("output", "value"))
        names, value = [*result.value], result.value
        if len(names) == 1:
            return {"output": quote(names[0]), "value": literal(value[names[0]], json=True)}
        output = {name: name for name in names}
        return {"output": literal(output), "value": literal(value, json=True)}
