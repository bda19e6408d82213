"""Results of `gradcli trace` and `plot`: plain, frozen data, apart from the results that short
commands import.
"""

from __future__ import annotations

from typing import Any, ClassVar

from gradcli.errors import Diagnostic
from gradcli.results import Result, Shown, Value


class TraceRow(Result):
    """An input or an elementary operation of a run.

    Fields:
        id: v1, v2, ... in the order of execution, or the name of an input.
        variable: the program's name for the result, or "".
        partials: the derivatives by its operands, by their ids: element by element, or a Jacobian
            of the result's shape followed by the operand's; None for a large one.
        adjoint, tangent: the derivative of the output by it, and its own along a direction of the
            inputs; None if not asked for.
        around: the enclosing turns of loops and calls of functions, the outermost first.
    """

    id: str
    variable: str
    expression: str
    line: int
    value: Value
    partials: dict[str, Value]
    adjoint: Value
    tangent: Value
    around: tuple[str, ...]


class TraceGap(Result):
    """Operations that a trace leaves out: `count` of them, in `turns` of the loop at `line`, or
    both 0.
    """

    count: int
    turns: int
    line: int


class TraceResult(Shown):
    """The result of `gradcli trace`: inputs first, then operations. `columns` has "adjoint",
    "tangent" or both.
    """

    view = "trace"
    _defaults: ClassVar[dict[str, Any]] = {"printed": (), "warnings": ()}
    output: str
    value: Value
    rows: tuple[TraceRow | TraceGap, ...]
    columns: tuple[str, ...]
    printed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]


class Break(Result):
    """A kink of a curve: its derivatives on either side and, at a jump, its values there, else
    None.
    """

    at: float
    left: float
    right: float
    jump: tuple[float, float] | None


class Curve(Result):
    """A result over an input: its name, the label of its axis, its values and derivatives at the
    points, and the kinks between them.
    """

    name: str
    label: str
    value: tuple[float, ...]
    grad: tuple[float, ...]
    breaks: tuple[Break, ...]


class PlotResult(Shown):
    """The result of `gradcli plot`: the input's name, the label of its axis, its values, and a
    curve for each result or for each element of one.
    """

    view = "curves"
    _defaults: ClassVar[dict[str, Any]] = {"warnings": ()}
    over: str
    label: str
    points: tuple[float, ...]
    curves: tuple[Curve, ...]
    warnings: tuple[Diagnostic, ...]
