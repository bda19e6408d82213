"""The output of `gradcli ops` for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap

from gradcli.render.numbers import block
from gradcli.render.text import Line, pad, shorten
from gradcli.results import Kink, Operation

_COLUMN = 34  # cells of most signatures
_WIDEST = 100  # cells: longer lines are hard to read


def operations_view(operations: Sequence[Operation], *, width: int) -> list[Line]:
    """A heading for each family, and a line for each of its operations."""
    lines: list[Line] = []
    for family, group in groupby(operations, key=lambda operation: operation.family):
        lines += [[]] if lines else []
        lines.append([(shorten(family, width), "title")])
        for operation in group:
            signature = pad(shorten(operation.signature, width - 2), _COLUMN)
            meaning = operation.meaning.split(". ")[0].removesuffix(".")
            meaning = f"In Python: {meaning}" if operation.in_python else meaning
            room = width - len(signature) - 4
            lines.append(
                [(f"  {signature}  ", "name"), (shorten(meaning, room) if room > 10 else "", "")]
            )
    return lines


def operation_view(operation: Operation, *, precision: int, width: int) -> list[Line]:
    """Signature, meaning, derivative, kinks and source of one operation."""
    width = min(width, _WIDEST)
    lines: list[Line] = [[(part, "name")] for part in _wrapped(operation.signature, width, "    ")]
    lines += [[]]
    lines += [[(part, "")] for part in wrap(operation.meaning, width)]
    if operation.derivative:
        lines += [[], [("derivative", "heading")]]
        for name, formula in operation.derivative.items():
            lines += _entry(f"g_{name}", formula, "grad", width)
    elif not operation.differentiable:
        lines += [[], [("derivative", "heading"), ("  none", "")]]
    else:
        lines += [[], [("derivative", "heading"), ("  that of the operations it is made of", "")]]
    if operation.kinks:
        lines += [[], [("at kinks, ties and edges", "heading")]]
        for kink in operation.kinks:
            lines += _entry(kink.call, _gradient(kink, precision), "grad", width, sign="gradient")
    lines += [[]]
    also = [f"`{alias}`" for alias in operation.aliases]
    rows = [("also", ", ".join(also)), ("method", _method(operation)), ("source", operation.source)]
    if operation.in_python:
        rows.append(("code", "in Python: machine code calls Python for its value on numbers"))
    for heading, text in rows:
        first = True
        for part in wrap(text, max(width - 8, 20)):
            lines.append([(pad(heading if first else "", 8), "heading"), (part, "")])
            first = False
    return lines


def _entry(name: str, text: str, style: str, width: int, sign: str = "=") -> list[Line]:
    head = f"  {name} {sign} "
    if len(head) + len(text) <= width:
        return [[(head, ""), (text, style)]]
    return [[(head.rstrip(), "")], *([("      " + p, style)] for p in wrap(text, width - 6))]


def _gradient(kink: Kink, precision: int) -> str:
    texts = {name: _flat(value, precision) for name, value in kink.gradient.items()}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return ", ".join(f"{name} {text}" for name, text in texts.items())


def _flat(value: object, precision: int) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_flat(v, precision) for v in value)}]"
    return block(value, precision, 40)[0].strip()


def _method(operation: Operation) -> str:
    if not operation.method or not operation.signature.endswith(")"):
        return "no"
    return f"x.{operation.name}(...)" + (f", x.{operation.name}_(...)" if operation.inplace else "")


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return wrap(text, width, subsequent_indent=indent) or [text]
