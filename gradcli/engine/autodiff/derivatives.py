"""What a command differentiates, and the gradients of a finished run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.autodiff.backward import cotangents
from gradcli.engine.run.members import seed
from gradcli.engine.run.session import Session, kind_of
from gradcli.engine.tape.graph import AccumulateGrad, Node
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, np, shape_of
from gradcli.errors import Diagnostic, InputError, RunError, UsageError, nearest
from gradcli.ir import Program


def asked(program: Program, wrt: str | Sequence[str], flag: str = "--wrt") -> list[str]:
    """The names of `--wrt`, or of another flag, each once.

    Raises:
        UsageError: If one is no input and not assigned exactly once.
    """
    given = [wrt] if isinstance(wrt, str) else wrt
    names = list(dict.fromkeys(part.strip() for name in given for part in name.split(",")))
    known = [name for name in program.names if name in program.watchable]
    for name in names:
        if name in known:
            continue
        if name in program.names:
            message = f"`{name}` is not assigned exactly once, so no one value can be meant"
        else:
            message = f"{flag} names `{name}`, which the program does not have"
        help = nearest(name, known) or (f"it has {', '.join(known)}" if known else None)
        raise UsageError(Diagnostic("unknown-name", message, help=help))
    return names


def candidates(program: Program) -> list[str]:
    """Names that may be meant where none is asked for; the run tells which of them are.

    The params; if there are none, the inputs that are not int or bool; if none, what the top level
    holds.
    """
    params = [i.name for i in program.inputs if i.kind == "param"]
    inputs = [
        i.name
        for i in program.inputs
        if i.kind in ("input", "free") and (i.type is None or i.type[0] == "float")
    ]
    return params or inputs or [name for name in program.names if name in program.watchable]


def differentiated(
    program: Program, session: Session, names: list[str] | None, values: Mapping[str, Any]
) -> list[str]:
    """The names to differentiate with respect to, after the run.

    Args:
        program: The program.
        session: Its finished run.
        names: Those asked for; None: those candidates that turned out to be floats, of constants
            only if no name holds a leaf that requires grad.
        values: Top-level names and their values.

    Raises:
        RunError: If one that was asked for holds no number or tensor.
        UsageError: If there is none.
    """
    points = session.points
    if names is not None:
        for name in names:
            if name not in points:
                what = f"it is {kind_of(values[name])}" if name in values else "it was not reached"
                message = f"cannot differentiate by `{name}`: {what}"
                raise RunError(Diagnostic("not-differentiable", message))
        return names
    kinds = {i.name: i.kind for i in program.inputs}
    found = [name for name in program.names if name in points]
    if all(kinds.get(name, "constant") == "constant" for name in found):
        leaves = [name for name in found if type(session.watchpoints[name][0]) is AccumulateGrad]
        found = leaves or found
    if not found:
        raise UsageError(
            Diagnostic(
                "nothing-to-differentiate",
                "the program has no input, param or float constant to differentiate by",
                help="name one with --wrt, or declare `param x = 1.0`",
            )
        )
    return found


def starting_cotangent(output: Any, cotangent: Any) -> Any:
    """Plain data of the cotangent of a result: the one given, or 1 for a result of one element.

    Raises:
        RunError: If the result has more elements and none is given.
        InputError: If the one given is no number or tensor of the result's shape.
    """
    x = output if isinstance(output, Tensor) else Tensor(output)
    if cotangent is not None:
        return _shaped_as(x, cotangent, "the cotangent", "the result")
    if math.prod(x.shape) != 1:
        raise RunError(
            Diagnostic(
                "needs-cotangent",
                f"the result has shape {list(x.shape)}: each of its elements needs a weight",
                help="reduce it, as in `sum(...)`, or give the weights with --cotangent VALUE",
            )
        )
    return data_of(seed(x, None, "grad"))


def direction(point: Tensor, tangent: Any, name: str) -> Any:
    """Plain data of a tangent at a point.

    Raises:
        InputError: If it is no number or tensor of the point's shape.
    """
    return _shaped_as(point, tangent, f"the tangent of `{name}`", f"`{name}`")


def _shaped_as(like: Tensor, given: Any, what: str, whose: str) -> Any:
    """Plain data of a value from outside that must have the shape of another."""
    if not isinstance(given, Tensor) and type(given) not in NUMBERS:
        raise InputError(
            Diagnostic("bad-input", f"{what} must be a number or tensor, got {kind_of(given)}")
        )
    data = data_of(given)
    shape = shape_of(data)
    if shape != like.shape:
        message = f"{what} has the shape {list(shape)}, and {whose} {list(like.shape)}"
        raise InputError(Diagnostic("shape-mismatch", message))
    return float(data) if type(data) in NUMBERS else data.astype(like.dtype)


def even_cotangent(output: Any) -> Any:
    """Plain data of the cotangent that weighs every element of a result alike."""
    shape = output.shape if isinstance(output, Tensor) else ()
    return np.ones(shape) if shape else 1.0


def gradients(
    session: Session, output: Any, cotangent: Any, names: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Gradient of an output with respect to watched names.

    Args:
        session: The session of the run, which watched the names.
        output: The result, a number or tensor of any shape.
        cotangent: Plain data of the output's shape, the weight of each of its elements.
        names: Names to differentiate with respect to.

    Returns:
        The gradient by name, plain data shaped as the name's value, and the names that the output
        does not depend on (their gradients are zeros).
    """
    found: dict[Node, Any] = {}
    node = node_of(output) if isinstance(output, Tensor) else None
    targets = {name: session.watchpoints[name][0] for name in names}
    if node is not None:
        start = [(node, output.index, cotangent)]
        found = cotangents(start, targets.values(), retain=True, visible_only=False, spent=True)
    result = {}
    unused = []
    for name in names:
        g = found.get(targets[name])
        if g is None:
            unused.append(name)
            data = session.points[name].data
            g = 0.0 if type(data) in NUMBERS else np.zeros_like(data)
        result[name] = g
    return result, unused
