"""Cotangents and directions that come from outside, fitted to what they belong to."""

from __future__ import annotations

import math
from typing import Any

from gradcli.engine.autodiff.backward import seed
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, np, shape_of
from gradcli.errors import Diagnostic, InputError, RunError


def starting_cotangent(output: Any, cotangent: Any) -> Any:
    """Plain data of the cotangent of a result: the one given, a single number for each element, or
    1 for a result of one element.

    Raises:
        RunError: If the result has more elements and none is given.
        InputError: If the one given is no number or tensor of the result's shape.
    """
    x = output if isinstance(output, Tensor) else Tensor(output)
    if cotangent is not None:
        alike = _is_number(cotangent) and x.shape
        given = Tensor(np.full(x.shape, data_of(cotangent))) if alike else cotangent
        return _shaped_as(x, given, "the cotangent", "the result")
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


def _is_number(given: Any) -> bool:
    return type(given) in NUMBERS or (isinstance(given, Tensor) and not given.shape)


def _shaped_as(like: Tensor, given: Any, what: str, whose: str) -> Any:
    """Plain data of a value from outside that must have the shape of another."""
    if not isinstance(given, Tensor) and type(given) not in NUMBERS:
        raise InputError(
            Diagnostic("bad-input", f"{what} must be a number or tensor, got {kind_of(given)}")
        )
    data = data_of(given)
    if shape_of(data) == (0,) and like.shape[:1] == (0,):  # an empty list says no more of a shape
        data = data.reshape(like.shape)
    shape = shape_of(data)
    if shape != like.shape:
        message = f"{what} has the shape {list(shape)}, and {whose} {list(like.shape)}"
        raise InputError(Diagnostic("shape-mismatch", message))
    return float(data) if type(data) in NUMBERS else data.astype(like.dtype)


def even_cotangent(output: Any) -> Any:
    """Plain data of the cotangent that weighs every element of a result alike."""
    shape = output.shape if isinstance(output, Tensor) else ()
    return np.ones(shape) if shape else 1.0
