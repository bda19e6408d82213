"""Cotangents and tangents of a request, fitted to the values that they belong to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradcli.engine.autodiff.seeds import seed
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, np, shape_of
from gradcli.errors import Diagnostic, GradError, InputError, RunError


def cotangent_of(output: Any, given: Any) -> Any:
    """Plain data of the cotangent of a result: the one given, a single number for each element, or
    1 for a result of one element.

    Raises:
        RunError: If the result has more elements and none is given.
        InputError: If the one given is no number or tensor of the result's shape; the message says
            how it was given.
    """

    def fitted(cotangent: Any) -> Any:
        x = output if isinstance(output, Tensor) else Tensor(output)
        if cotangent is None:
            return _one(x)
        is_spread = _is_number(cotangent) and x.shape
        value = Tensor(np.full(x.shape, data_of(cotangent))) if is_spread else cotangent
        return _shaped_as(x, value, "the cotangent", "the result")

    return _converted(given, fitted)


def tangent_of(name: str, point: Tensor, given: Any) -> Any:
    """Plain data of the tangent of a name with this value.

    Raises:
        InputError: If it is no number or tensor of the value's shape; the message says how it was
            given.
    """
    return _converted(
        given,
        lambda tangent: _shaped_as(point, tangent, f"the tangent of `{name}`", f"`{name}`"),
    )


def even_cotangent(output: Any) -> Any:
    """Plain data of the cotangent that weighs every element of a result alike."""
    shape = output.shape if isinstance(output, Tensor) else ()
    return np.ones(shape) if shape else 1.0


def _one(x: Tensor) -> Any:
    """The cotangent of a result of one element."""
    if math.prod(x.shape) != 1:
        raise RunError(
            Diagnostic(
                "needs-cotangent",
                f"the result has shape {list(x.shape)}: each of its elements needs a weight",
                help="reduce it, as in `sum(...)`, or give the weights with --cotangent VALUE",
            )
        )
    return data_of(seed(x, None, "grad"))


def _is_number(given: Any) -> bool:
    return type(given) in NUMBERS or (isinstance(given, Tensor) and not given.shape)


def _shaped_as(like: Tensor, given: Any, what: str, whose: str) -> Any:
    """Plain data of a value that must have the shape of another."""
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


def _converted(given: Any, fit: Callable[[Any], Any]) -> Any:
    """Fit a value from outside; an error says how it was given."""
    if not isinstance(given, Given):
        return fit(_value(given))
    try:
        return fit(_value(given.value))
    except GradError as error:
        for diagnostic in error.diagnostics:
            diagnostic.notes = (*diagnostic.notes, f"given as {given.origin}")
        raise InputError(*error.diagnostics) from None


def _value(given: Any) -> Any:
    """A value from outside as the program would have it, or an array of numbers as a tensor."""
    if given is None or isinstance(given, Tensor):
        return given
    from gradcli.engine.run.session.list_tensors import from_outside

    if not hasattr(given, "tolist"):
        return from_outside(given)
    array = np.asarray(given)
    if array.dtype.kind in "bif" and array.ndim:
        return Tensor(array)
    return from_outside(array.tolist())
