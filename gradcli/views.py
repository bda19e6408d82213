"""What `gradcli trace` and `plot` return: plain, frozen data, apart from the results that a short
command imports.
"""

from __future__ import annotations

from typing import Any, ClassVar

from gradcli.errors import Diagnostic
from gradcli.results import Result, Shown, Value


class TraceRow(Result):
    """An input, or an elementary operation of a run, by its `id`: v1, v2, ... in the order in which
    they were done, an input its name. `variable` is the program's name for what came of it or "",
    `partials` the derivatives by what it was made of, by their ids (None where a Jacobian is too
    large): element by element, or a Jacobian of the result's shape followed by the operand's.
    `adjoint` is the derivative of the output with respect to it, `tangent` its own along a
    direction of the inputs; the one that was not asked for is None. `around` tells in which turns
    of loops and calls of functions it was done, the outermost first.
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
    """So many operations that are left out of a trace: those of some `turns` of the loop at a line,
    or of no one loop, with 0 for both.
    """

    count: int
    turns: int
    line: int


class TraceResult(Shown):
    """What `gradcli trace` found: inputs first, then operations. `columns` names what was asked
    for, "adjoint", "tangent" or both.
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
    """A point at which a curve has a kink: its derivatives to either side and, where it jumps, its
    values there, else None.
    """

    at: float
    left: float
    right: float
    jump: tuple[float, float] | None


class Curve(Result):
    """A result over an input, by its name, and as axes are labelled: values and derivatives at the
    points, and the kinks between them.
    """

    name: str
    label: str
    value: tuple[float, ...]
    grad: tuple[float, ...]
    breaks: tuple[Break, ...]


class PlotResult(Shown):
    """What `gradcli plot` found: the name of the input, and as its axis is labelled, its values,
    and a curve for each result, of one with several elements for each of these.
    """

    view = "curves"
    _defaults: ClassVar[dict[str, Any]] = {"warnings": ()}
    over: str
    label: str
    points: tuple[float, ...]
    curves: tuple[Curve, ...]
    warnings: tuple[Diagnostic, ...]
