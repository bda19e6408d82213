"""The parts of a run: its result, or the names that were asked for."""

from __future__ import annotations

from collections.abc import Iterable

from gradcli.errors import Diagnostic, UsageError
from gradcli.formats.writers.forms import ValueParts, named
from gradcli.results import RunResult, Value


class RunParts(ValueParts):
    """The result alone."""

    result: RunResult

    def fields(self) -> dict[str, Value]:
        result = self.result
        if result.result is None:
            message = "the program does not end in an expression, so it has no result"
            help = "name what to write with --show"
            raise UsageError(Diagnostic("no-result", message, help=help))
        return named(result.output, result.result)

    def numbers(self) -> Iterable[Value]:
        return () if self.result.result is None else self.fields().values()

    def lines(self) -> str:
        """The result as a literal, nothing if the program has no result; then the kinks."""
        return self._values() + self._kinks()

    def _values(self) -> str:
        from gradcli.formats.texts.literal import literal

        result = self.result.result
        return "" if result is None else f"{literal(result)}\n"

    def _kinks(self) -> str:
        if not self.result.kinks:
            return ""
        from gradcli.formats.writers.kinks import kinks_plain

        return kinks_plain(self.result.kinks)

    def json(self) -> dict[str, str]:
        from gradcli.formats.texts.json_text import array, fields_json, json_object, warning_json
        from gradcli.formats.texts.literal import quote
        from gradcli.formats.writers.kinks import kinks_json

        result = self.result
        fields = {
            "schema": quote("gradcli.run/1"),
            **fields_json(result, ("output", "result", "values", "grad", "printed")),
            "warnings": array(map(warning_json, result.warnings)),
        }
        if result.graph is not None:
            from gradcli.formats.writers.graph import graph_fields

            fields["graph"] = json_object(graph_fields(result.graph, "full"))
        return {**fields, **kinks_json(result.kinks)}


class NamesParts(RunParts):
    """The names that were asked for."""

    def fields(self) -> dict[str, Value]:
        return self.result.values

    def numbers(self) -> Iterable[Value]:
        return self.result.values.values()

    def _values(self) -> str:
        return ValueParts.lines(self)
