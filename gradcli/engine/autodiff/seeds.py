"""The cotangents that passes start from."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import Like, like_of
from gradcli.engine.values.data import NUMBERS, np
from gradcli.engine.values.sizes import describe
from gradcli.errors import run_error


def seed(x: Tensor | Like, gradient: Any, what: str, i: int = 0) -> Any:
    """The cotangent to start from: the one given, or 1 for a value of one element. The value is
    number i of those that a pass starts from.
    """
    like = like_of(x)
    if gradient is None:
        if like.shape not in ((), (1,)) and int(np.prod(like.shape)) != 1:
            raise run_error(
                "needs-cotangent",
                f"`{what}` of a value of shape {list(like.shape)} needs a gradient of that shape",
                help="reduce it, as in `.sum()`, or pass a gradient such as `ones_like(y)`",
            )
        number = like.shape == () and like.dtype == "float64"
        return 1.0 if number else np.ones(like.shape, like.dtype)
    if type(gradient) in NUMBERS:
        gradient = float(gradient)
    elif not isinstance(gradient, Tensor) and not hasattr(gradient, "dtype"):
        raise run_error("wrong-type", f"a gradient is a number or tensor, got {describe(gradient)}")
    given = like_of(gradient)
    if given.shape != like.shape:
        raise run_error(
            "shape-mismatch",
            f"a gradient of shape {list(given.shape)} was given for a value of shape "
            f"{list(like.shape)}",
            raises=RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of torch.Size("
                f"{list(given.shape)}) and output[{i}] has a shape of torch.Size("
                f"{list(like.shape)})."
            ),
        )
    return gradient if given.dtype == like.dtype else ops.cast(gradient, dtype=like.dtype)


def seed_of_one(x: Tensor, by: str) -> Any:
    """The cotangent of a function's result, which the transform `by` wants to be one number."""
    like = like_of(x)
    if int(np.prod(like.shape)) != 1:
        raise run_error(
            "needs-cotangent",
            f"`{by}` needs a function that returns one number, this one returns shape "
            f"{list(like.shape)}",
            help="reduce it, as by `.sum()`; `jacobian` has the derivatives of all elements",
        )
    return seed(x, None, by)
