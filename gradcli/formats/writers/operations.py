"""The built-in operations as JSON and as lines for pipes."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.formats.texts.json_text import array, json_object
from gradcli.formats.texts.literal import literal, quote
from gradcli.results import Kink, Operation


def operations_json(operations: Sequence[Operation]) -> str:
    """One JSON object that holds the operations."""
    found = array(map(_operation, operations))
    return json_object({"schema": quote("gradcli.ops/1"), "ops": found})


def operations_plain(operations: Sequence[Operation]) -> str:
    """`name<TAB>family<TAB>signature<TAB>meaning` lines."""
    rows = ((o.name, o.family, o.signature, o.meaning) for o in operations)
    return "".join(f"{chr(9).join(row)}\n" for row in rows)


def operation_plain(operation: Operation) -> str:
    """What is known of one operation: `field<TAB>text` lines."""
    rows = [
        ("name", operation.name),
        ("aliases", ",".join(operation.aliases)),
        ("family", operation.family),
        ("signature", operation.signature),
        ("meaning", operation.meaning),
        *((f"derivative.{name}", text) for name, text in operation.derivative.items()),
        *((f"kink.{kink.call}", kink_text(kink)) for kink in operation.kinks),
        ("source", operation.source),
        ("method", literal(operation.method)),
        ("inplace", literal(operation.inplace)),
    ]
    return "".join(f"{name}\t{text}\n" for name, text in rows)


def kink_text(kink: Kink) -> str:
    """The gradient at a kink, by argument."""
    return ", ".join(f"{name} {literal(value)}" for name, value in kink.gradient.items())


def _operation(operation: Operation) -> str:
    return json_object(
        {
            "name": quote(operation.name),
            "aliases": array(map(quote, operation.aliases)),
            "family": quote(operation.family),
            "signature": quote(operation.signature),
            "meaning": quote(operation.meaning),
            "differentiable": literal(operation.differentiable),
            "derivative": json_object({k: quote(v) for k, v in operation.derivative.items()}),
            "kinks": array(map(_kink, operation.kinks)),
            "source": quote(operation.source),
            "method": literal(operation.method),
            "inplace": literal(operation.inplace),
        }
    )


def _kink(kink: Kink) -> str:
    return json_object(
        {
            "call": quote(kink.call),
            "cotangent": literal(kink.cotangent, json=True),
            "gradient": json_object(
                {name: literal(value, json=True) for name, value in kink.gradient.items()}
            ),
        }
    )
