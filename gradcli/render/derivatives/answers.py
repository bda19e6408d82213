"""The output of derivatives for people: the result's value, then its derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.render.derivatives.elasticities import elasticity_view
from gradcli.render.derivatives.matrix import hessian_matrix, jacobian_matrix
from gradcli.render.table import table, text_column, value_column
from gradcli.render.text import Line, visible
from gradcli.render.values import named_value, shape_text
from gradcli.results import (
    Derivative,
    ElasticityResult,
    GradResult,
    HessianResult,
    HvpResult,
    JacobianResult,
    Several,
    Value,
    VjpResult,
)


def derivative_view(result: Derivative | Several, *, precision: int, width: int) -> list[Line]:
    """The value of each output, followed by the derivatives that were asked for."""
    if isinstance(result, Several):
        lines: list[Line] = []
        for answer in result.answers:
            lines += [[]] if lines else []
            lines += derivative_view(answer, precision=precision, width=width)
        return lines
    lines = named_value(result.output, result.value, precision, width)
    match result:
        case ElasticityResult():
            found = elasticity_view(result, precision=precision, width=width)
        case GradResult():
            found = _table(result.inputs, {"gradient": result.grad}, precision, width)
        case VjpResult():
            found = _table(result.inputs, {"vjp": result.vjp}, precision, width)
        case HvpResult():
            columns = {"gradient": _only(result.grad, result.hvp), "hvp": result.hvp}
            found = [*_table({}, columns, precision, width), *_by(result.mode)]
        case HessianResult(hessian=None):
            columns = {"gradient": result.grad, "second derivative": result.diagonal or {}}
            found = [*_table({}, columns, precision, width), *_by(result.mode)]
        case HessianResult():
            hessian = result.hessian or {}
            found = [*gradient_table(result.grad, precision, width), []]
            found += hessian_matrix(result.grad, hessian, precision, width) or _bands(
                hessian, precision, width
            )
            found += _by(result.mode)
        case JacobianResult():
            asked = result.output, result.value, result.jacobian
            found = jacobian_matrix(*asked, precision, width) or _blocks(
                "jacobian", result.jacobian, precision, width
            )
            found += _by(result.mode)
        case _:
            found = _parts(result.answer, precision, width)
    return [*lines, [], *found] if found else lines


def gradient_table(grad: Mapping[str, Value], precision: int, width: int) -> list[Line]:
    """A row for each name, with the derivative by it."""
    return _table({}, {"gradient": grad}, precision, width)


def _parts(answer: Mapping[str, Any], precision: int, width: int) -> list[Line]:
    """The values one below the other, and the mode."""
    found: list[Line] = []
    for name, value in answer.items():
        if isinstance(value, str):
            found += _by(value)
            continue
        found += [[]] if found else []
        if isinstance(value, dict):
            found += _blocks(name, value, precision, width)
        else:
            found += named_value(name, value, precision, width)
    return found


def _by(mode: str) -> list[Line]:
    return [[], [(f"by {mode} mode", "place")]]


def _only(values: Mapping[str, Value], names: Mapping[str, Value]) -> dict[str, Value]:
    return {name: values[name] for name in names}


def _table(
    inputs: Mapping[str, Value],
    columns: Mapping[str, Mapping[str, Value]],
    precision: int,
    width: int,
) -> list[Line]:
    """A row for each name: its shape, its value if it is known, and the derivatives."""
    names = list(next(iter(columns.values())))
    shown = [
        text_column("name", "name", [visible(name) for name in names]),
        text_column("shape", "shape", [shape_text(next(iter(columns.values()))[n]) for n in names]),
        value_column("value", "value", [inputs.get(n) for n in names], precision),
        *(
            value_column(heading, "grad", [values[n] for n in names], precision)
            for heading, values in columns.items()
        ),
    ]
    return table(shown, width) if names else []


def _bands(hessian: Mapping[str, Mapping[str, Value]], precision: int, width: int) -> list[Line]:
    """The blocks of second derivatives, name by name."""
    found: list[Line] = []
    for name, row in hessian.items():
        found += [[]] if found else []
        found += _blocks(f"hessian.{visible(name)}", row, precision, width)
    return found


def _blocks(kind: str, values: Mapping[str, Value], precision: int, width: int) -> list[Line]:
    """`kind.name = value` for each name, with a blank line before a value of several lines."""
    lines: list[Line] = []
    for name, value in values.items():
        block = named_value(f"{kind}.{name}", value, precision, width)
        lines += [[], *block] if lines and len(block) > 1 else block
    return lines
