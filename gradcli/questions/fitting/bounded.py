"""The bounds of a point, from the program's declarations and from --bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError, UsageError, nearest
from gradcli.ir.program import Program
from gradcli.questions.fitting.model import Layout


def limits(
    program: Program, layout: Layout, more: Mapping[str, tuple[Any, Any]]
) -> tuple[Data, Data]:
    """The lower and upper bounds of the numbers of a point.

    Args:
        program: The program, which may declare some.
        layout: The parameters.
        more: Further bounds by name, which win.

    Raises:
        UsageError: If one is of no parameter, or crosses.
        InputError: If one has another shape than its parameter.
    """
    declared = {i.name: i.bounds for i in program.inputs if i.bounds is not None}
    for name, (low, high) in more.items():
        if name not in layout.shapes:
            help = nearest(name, layout.names) or f"the parameters are {', '.join(layout.names)}"
            message = f"--bounds names `{name}`, which is no parameter"
            raise UsageError(Diagnostic("unknown-name", message, help=help))
        if not np.all(np.asarray(low) < np.asarray(high)):
            message = f"the lower bound of `{name}` is not below the upper one: {low}, {high}"
            raise UsageError(Diagnostic("usage", message))
    both = {**declared, **more}
    ends: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for name, shape in layout.shapes.items():
        for end, value in zip(ends, both.get(name, (-np.inf, np.inf)), strict=True):
            try:
                end[name] = np.broadcast_to(np.asarray(value, np.float64), shape)
            except ValueError:
                message = f"the bounds of `{name}` do not have its shape {[*shape]}"
                raise InputError(Diagnostic("shape-mismatch", message)) from None
    return layout.joined(ends[0]), layout.joined(ends[1])
