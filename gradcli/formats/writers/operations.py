"""The built-in operations as JSON and as lines for pipes."""

from __future__ import annotations

from gradcli.formats.texts.json_text import array, fields_json, json_object
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.writers.forms import Parts
from gradcli.results import Kink, Operation, Operations


class OperationsParts(Parts):
    """Operations; if there is only one, all that is known of it."""

    result: Operations

    def json(self) -> dict[str, str]:
        found = array(map(_operation, self.result.operations))
        return {"schema": quote("gradcli.ops/1"), "ops": found}

    def lines(self) -> str:
        """`name<TAB>family<TAB>signature<TAB>meaning` lines; of a single one `field<TAB>text`
        lines.
        """
        found = self.result.operations
        if len(found) == 1:
            rows = _told(found[0])
        else:
            rows = [(o.name, o.family, o.signature, o.meaning) for o in found]
        return "".join(f"{chr(9).join(row)}\n" for row in rows)


def _told(operation: Operation) -> list[tuple[str, ...]]:
    return [
        ("name", operation.name),
        ("aliases", ",".join(operation.aliases)),
        *((name, getattr(operation, name)) for name in ("family", "signature", "meaning")),
        *((f"derivative.{name}", text) for name, text in operation.derivative.items()),
        *((f"kink.{kink.call}", kink_text(kink)) for kink in operation.kinks),
        ("source", operation.source),
        *((name, literal(getattr(operation, name))) for name in ("method", "inplace", "in_python")),
    ]


def kink_text(kink: Kink) -> str:
    """The gradient at a kink, by argument."""
    return ", ".join(f"{name} {literal(value)}" for name, value in kink.gradient.items())


def _operation(operation: Operation) -> str:
    names = ("name", "aliases", "family", "signature", "meaning", "differentiable", "derivative")
    kinks = array(json_object(fields_json(kink, kink._fields)) for kink in operation.kinks)
    rest = fields_json(operation, ("source", "method", "inplace", "in_python"))
    return json_object({**fields_json(operation, names), "kinks": kinks, **rest})
