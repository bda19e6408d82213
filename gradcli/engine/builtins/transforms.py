"""Derivatives of functions, as the program calls them."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.op import Op, host
from gradcli.engine.ops.statics import Statics
from gradcli.engine.run import transforms
from gradcli.errors import run_error

FAMILY = 340, "Transforms of functions"


def _grad(
    session: Any, outputs: Any, inputs: Any, grad_outputs: Any, argnums: Any, **options: Any
) -> Any:
    if callable(outputs):
        return transforms.grad(session, outputs, argnums if inputs is None else inputs)
    if inputs is None:
        raise run_error(
            "wrong-arity",
            "`grad` of a tensor needs the inputs to differentiate by",
            help="`grad(y, x)` gives dy/dx; `grad(f)` is the derivative of a function",
        )
    return transforms.gradients(session, outputs, inputs, grad_outputs, **options)


def _nothing(known: Statics, *args: Any, **params: Any) -> Any:
    """Of a function that is not followed nothing is known."""
    return known.unknown(*args, *params.values())


def _gradients_of(known: Statics, outputs: Any, inputs: Any, *weights: Any, **params: Any) -> Any:
    """Gradients of tensors are shaped as the inputs."""
    several = known.items(inputs)
    points = [inputs] if several is None else several
    sure = known.static(params["allow_unused"]) is False
    if not sure or any(getattr(x, "shape", None) is None for x in (outputs, *points)):
        return _nothing(known, outputs, inputs, *weights)
    return tuple(known.like([outputs, *points], x.shape, x.dtype) for x in points)


grad: Op = host(
    "grad",
    _grad,
    args=("outputs", "inputs=None", "grad_outputs=None"),
    params={"retain_graph": None, "create_graph": False, "allow_unused": False, "argnums": 0},
    transform="scalar",
    infer=_gradients_of,
    keeps=True,
    doc="Of a function: the function that gives its gradient by argument `argnums` (second place). "
    "Of tensors: their gradients by `inputs`, as a tuple.",
    source="PyTorch: func.grad, autograd.grad",
)

value_and_grad: Op = host(
    "value_and_grad",
    transforms.value_and_grad,
    args=("function",),
    params={"argnums": 0},
    transform="scalar",
    infer=_nothing,
    keeps=True,
    doc="The function that gives value and gradient of a scalar function.",
    source="PyTorch: func.grad_and_value",
)


def _jacobian(mode: str) -> Any:
    def jacobian(session: Any, function: Any, inputs: Any, argnums: Any) -> Any:
        if inputs is None:
            return transforms.jacobian(session, function, argnums, mode=mode)
        several = isinstance(inputs, tuple)
        given = inputs if several else (inputs,)
        numbers = tuple(range(len(given))) if several else 0
        return transforms.jacobian(session, function, numbers, mode=mode)(*given)

    return jacobian


_JACOBIAN: dict[str, Any] = {"args": ("function", "inputs=None"), "params": {"argnums": 0}}

jacobian: Op = host(
    "jacobian",
    _jacobian("reverse"),
    **_JACOBIAN,
    transform="any",
    infer=_nothing,
    keeps=True,
    doc="The function that gives the Jacobian: shape of the result, then shape of the argument. "
    "With `inputs` its value there.",
    source="PyTorch: autograd.functional.jacobian",
    aliases=("jacrev",),
)

jacfwd: Op = host(
    "jacfwd",
    _jacobian("forward"),
    **_JACOBIAN,
    transform="any",
    infer=_nothing,
    keeps=True,
    doc="As `jacobian`, column by column in forward mode.",
    source="PyTorch: func.jacfwd",
)


def _hessian(session: Any, function: Any, inputs: Any, argnums: Any) -> Any:
    made = transforms.hessian(session, function, argnums)
    return made if inputs is None else made(inputs)


hessian: Op = host(
    "hessian",
    _hessian,
    **_JACOBIAN,
    transform="scalar",
    infer=_nothing,
    keeps=True,
    doc="The function that gives the matrix of second derivatives of a scalar function.",
    source="forward over reverse",
)

hvp: Op = host(
    "hvp",
    transforms.hvp,
    args=("function", "inputs", "v"),
    transform="scalar",
    infer=_nothing,
    keeps=True,
    doc="Value of a scalar function and the product of its Hessian with v.",
    source="Pearlmutter 1994: forward over reverse",
)

jvp: Op = host(
    "jvp",
    transforms.jvp,
    args=("function", "primals", "tangents"),
    transform="any",
    infer=_nothing,
    keeps=True,
    doc="Value of a function and its derivative in the direction of the tangents.",
    source="PyTorch: func.jvp",
)

vjp: Op = host(
    "vjp",
    lambda session, function, *primals: transforms.vjp(session, function, primals),
    args=("*function",),
    transform="any",
    infer=_nothing,
    keeps=True,
    doc="Value of a function, and the function from a cotangent to those of the primals.",
    source="PyTorch: func.vjp",
)
