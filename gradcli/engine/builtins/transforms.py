"""Derivatives of functions, as programs call them."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.op import Op, host
from gradcli.engine.ops.statics import Statics
from gradcli.engine.ops.tracing import Tracing
from gradcli.engine.run.derivatives import functional, transforms
from gradcli.engine.run.derivatives.autograd import backward_of_several, gradients
from gradcli.errors import run_error

FAMILY = 340, "Transforms of functions"


def _grad(
    session: Any,
    outputs: Any,
    inputs: Any,
    grad_outputs: Any,
    argnums: Any,
    has_aux: Any,
    **options: Any,
) -> Any:
    if callable(outputs):
        numbers = argnums if inputs is None else inputs
        return transforms.grad(session, outputs, numbers, grad_outputs or has_aux)
    if inputs is None:
        raise run_error(
            "wrong-arity",
            "`grad` of a tensor needs the inputs to differentiate by",
            help="`grad(y, x)` gives dy/dx; `grad(f)` is the derivative of a function",
        )
    return gradients(session, outputs, inputs, grad_outputs, **options)


def _alone(code: Tracing, has_aux: Any) -> Any:
    """The transforms of code, made only of functions that return nothing beside a value."""
    if has_aux is not False:
        raise ValueError
    return code.transforms


def _traced(code: Tracing, outputs: Any, inputs: Any, weights: Any, **params: Any) -> Any:
    """The gradient of a function that is followed, or of tensors."""
    if code.are_tensors(outputs):
        given = {name: x for name, x in params.items() if name in _OF_TENSORS}
        if params["materialize_grads"] is not False or params["is_grads_batched"] is not False:
            raise ValueError
        return code.graph.gradients_of(outputs, inputs, weights, **given)
    return _alone(code, params["has_aux"]).grad(
        outputs, params["argnums"] if inputs is None else inputs
    )


_OF_TENSORS = ("retain_graph", "create_graph", "allow_unused")


def _gradients_of(known: Statics, outputs: Any, inputs: Any, *weights: Any, **params: Any) -> Any:
    """Gradients of tensors are shaped as the inputs."""
    several = known.items(inputs)
    points = [inputs] if several is None else several
    sure = not known.static(params["allow_unused"]) and not known.static(
        params["materialize_grads"]
    )
    if not sure or any(getattr(x, "shape", None) is None for x in (outputs, *points)):
        return known.unknown(outputs, inputs, *weights)
    return tuple(known.like([outputs, *points], x.shape, x.dtype) for x in points)


grad: Op = host(
    "grad",
    _grad,
    args=("outputs", "inputs=None", "grad_outputs=None"),
    params={
        "retain_graph": None,
        "create_graph": False,
        "allow_unused": None,
        "materialize_grads": False,
        "is_grads_batched": False,
        "only_inputs": True,
        "argnums": 0,
        "has_aux": False,
    },
    transform="scalar",
    infer=_gradients_of,
    traced=_traced,
    doc="Of a function: the function that gives its gradient by argument `argnums` (second place). "
    "Of tensors: their gradients by `inputs`, as a tuple.",
    source="PyTorch: func.grad, autograd.grad",
)

autograd_backward: Op = host(
    "autograd_backward",
    lambda session, tensors, weights, inputs, **options: backward_of_several(
        session, tensors, weights, inputs=inputs, **options
    ),
    args=("tensors", "grad_tensors=None", "inputs=None"),
    params={"retain_graph": None, "create_graph": False},
    order=("tensors", "grad_tensors", "retain_graph", "create_graph", "inputs"),
    infer=lambda known, *given, **options: known.constant(None),
    traced=lambda code, tensors, weights, inputs, **options: code.graph.backward_of(
        tensors, weights, inputs=inputs, **options
    ),
    doc="`torch.autograd.backward`: adds the gradients of several tensors to the `grad` of leaves.",
    source="PyTorch: autograd.backward",
    pure=False,
)

value_and_grad: Op = host(
    "value_and_grad",
    transforms.value_and_grad,
    args=("function",),
    params={"argnums": 0, "has_aux": False},
    transform="scalar",
    traced=lambda code, function, argnums, has_aux: _alone(code, has_aux).value_and_grad(
        function, argnums
    ),
    doc="The function that gives value and gradient of a scalar function.",
    source="PyTorch: func.grad_and_value",
)


grad_and_value: Op = host(
    "grad_and_value",
    lambda session, function, argnums, has_aux: _swapped(
        transforms.value_and_grad(session, function, argnums, has_aux, by="grad_and_value")
    ),
    args=("function",),
    params={"argnums": 0, "has_aux": False},
    transform="scalar",
    traced=lambda code, function, argnums, has_aux: _alone(code, has_aux).grad_and_value(
        function, argnums
    ),
    doc="The function that gives gradient and value of a scalar function.",
    source="PyTorch: func.grad_and_value",
)


def _swapped(both: Any) -> Any:
    return lambda *args, **keywords: both(*args, **keywords)[::-1]


def _jacobian(session: Any, function: Any, inputs: Any, argnums: Any) -> Any:
    if inputs is None:
        return transforms.jacobian(session, function, argnums, mode="reverse")
    return functional.jacobian(session, function, inputs, create_graph=True)


def _hessian(session: Any, function: Any, inputs: Any, argnums: Any) -> Any:
    if inputs is None:
        return transforms.hessian(session, function, argnums)
    return functional.hessian(session, function, inputs, create_graph=True)


def _traced_jacobian(code: Tracing, function: Any, inputs: Any, argnums: Any) -> Any:
    if inputs is None:
        return code.transforms.jacobian(function, argnums, "reverse")
    return code.transforms.jacobian_at(function, inputs, create_graph=True)


def _traced_hessian(code: Tracing, function: Any, inputs: Any, argnums: Any) -> Any:
    if inputs is None:
        return code.transforms.hessian(function, argnums)
    return code.transforms.hessian_at(function, inputs, create_graph=True)


_AT_INPUTS: dict[str, Any] = {"args": ("function", "inputs=None"), "params": {"argnums": 0}}
_BY_ARGNUMS: dict[str, Any] = {"args": ("function",), "params": {"argnums": 0}}

jacobian: Op = host(
    "jacobian",
    _jacobian,
    **_AT_INPUTS,
    transform="any",
    traced=_traced_jacobian,
    doc="The function that gives the Jacobian: shape of the result, then shape of the argument. "
    "With `inputs` its value there.",
    source="PyTorch: autograd.functional.jacobian",
)


def _jacobian_by(name: str, mode: str, part: str) -> Op:
    return host(
        name,
        lambda session, function, argnums, has_aux: transforms.jacobian(
            session, function, argnums, has_aux, mode=mode, by=name
        ),
        args=("function",),
        params={"argnums": 0, "has_aux": False},
        transform="any",
        traced=lambda code, function, argnums, has_aux: _alone(code, has_aux).jacobian(
            function, argnums, mode
        ),
        doc=f"The function that gives the Jacobian, {part} by {part} in {mode} mode.",
        source=f"PyTorch: func.{name}",
    )


jacrev: Op = _jacobian_by("jacrev", "reverse", "row")
jacfwd: Op = _jacobian_by("jacfwd", "forward", "column")

hessian: Op = host(
    "hessian",
    _hessian,
    **_AT_INPUTS,
    transform="any",
    traced=_traced_hessian,
    doc="The function that gives the second derivatives: shape of the result, then twice that of "
    "the argument. With `inputs` the matrix of a scalar function there.",
    source="forward over reverse",
)

func_hessian: Op = host(
    "func_hessian",
    transforms.hessian,
    **_BY_ARGNUMS,
    transform="any",
    traced=lambda code, function, argnums: code.transforms.hessian(function, argnums),
    doc="`torch.func.hessian`: `hessian` with the number of the argument in second place.",
    source="PyTorch: func.hessian",
)

_PRODUCT: dict[str, Any] = {"args": ("function", "inputs", "v=None")}

hvp: Op = host(
    "hvp",
    lambda session, function, inputs, v: functional.hvp(
        session, function, inputs, v, create_graph=True
    ),
    **_PRODUCT,
    transform="scalar",
    traced=lambda code, function, inputs, v: code.transforms.hvp_at(
        function, inputs, v, create_graph=True
    ),
    doc="Value of a scalar function and the product of its Hessian with v, at one input or a tuple "
    "of them.",
    source="Pearlmutter 1994: forward over reverse",
)

jvp: Op = host(
    "jvp",
    transforms.jvp,
    args=("function", "primals", "tangents"),
    params={"has_aux": False},
    transform="any",
    traced=lambda code, *given, has_aux: _alone(code, has_aux).jvp(*given),
    doc="Value of a function and its derivative in the direction of the tangents.",
    source="PyTorch: func.jvp",
)


def _vjp(session: Any, *given: Any, has_aux: Any) -> Any:
    if not given:
        raise run_error("wrong-arity", "`vjp` needs `function`")
    return transforms.vjp(session, given[0], given[1:], has_aux)


vjp: Op = host(
    "vjp",
    _vjp,
    args=("*function",),
    params={"has_aux": False},
    transform="any",
    traced=lambda code, function, *primals, has_aux: _alone(code, has_aux).vjp(function, primals),
    doc="Value of a function, and the function from a cotangent to those of the primals.",
    source="PyTorch: func.vjp",
)


# --- torch.autograd.functional: the results are constants unless `create_graph` -------------------

_OPTIONS: dict[str, Any] = {"create_graph": False, "strict": False}
_MODES = {"reverse-mode": "reverse", "forward-mode": "forward"}


def _mode(strategy: Any) -> str:
    if not isinstance(strategy, str) or strategy not in _MODES:
        raise run_error("bad-argument", "a strategy is 'reverse-mode' or 'forward-mode'")
    return _MODES[strategy]


def _functional_hessian(
    session: Any,
    function: Any,
    inputs: Any,
    vectorize: Any,
    outer_jacobian_strategy: Any,
    **options: Any,
) -> Any:
    _refuse_strict(vectorize, **options)
    mode = _mode(outer_jacobian_strategy)
    hessian = functional.as_pytorch(functional.hessian)
    return hessian(session, function, inputs, mode=mode, **options)


def _functional_jacobian(
    session: Any, function: Any, inputs: Any, vectorize: Any, strategy: Any, **options: Any
) -> Any:
    _refuse_strict(vectorize, **options)
    jacobian = functional.as_pytorch(functional.jacobian)
    return jacobian(session, function, inputs, mode=_mode(strategy), **options)


def _refuse_strict(vectorize: Any, strict: Any, create_graph: Any) -> None:
    if strict and vectorize:
        help = "leave out one of them"
        raise run_error("bad-argument", "`strict` does not work with `vectorize`", help=help)


functional_jacobian: Op = host(
    "functional_jacobian",
    _functional_jacobian,
    args=("function", "inputs"),
    params={**_OPTIONS, "vectorize": False, "strategy": "reverse-mode"},
    transform="any",
    traced=lambda code, function, inputs, vectorize, strategy, **options: (
        code.transforms.with_leaves(inputs, **options).jacobian_at(
            function, inputs, _mode(strategy), **options
        )
    ),
    doc="`torch.autograd.functional.jacobian`: the Jacobian at one input or a tuple of them.",
    source="PyTorch: autograd.functional.jacobian",
)

functional_hessian: Op = host(
    "functional_hessian",
    _functional_hessian,
    args=("function", "inputs"),
    params={**_OPTIONS, "vectorize": False, "outer_jacobian_strategy": "reverse-mode"},
    transform="scalar",
    traced=lambda code, function, inputs, vectorize, outer_jacobian_strategy, **options: (
        code.transforms.with_leaves(inputs, **options).hessian_at(
            function, inputs, _mode(outer_jacobian_strategy), **options
        )
    ),
    doc="`torch.autograd.functional.hessian`: the second derivatives of a scalar function at one "
    "input or, in blocks, at a tuple of them.",
    source="PyTorch: autograd.functional.hessian",
)

functional_vjp: Op = host(
    "functional_vjp",
    functional.as_pytorch(functional.vjp),
    **_PRODUCT,
    params=_OPTIONS,
    transform="any",
    traced=lambda code, function, inputs, v, **options: code.transforms.with_leaves(
        inputs, **options
    ).vjp_at(function, inputs, v, **options),
    doc="`torch.autograd.functional.vjp`: value of a function at one input or a tuple of them, and "
    "the product of the cotangent v with its Jacobian.",
    source="PyTorch: autograd.functional.vjp",
)

functional_jvp: Op = host(
    "functional_jvp",
    functional.as_pytorch(functional.jvp),
    **_PRODUCT,
    params=_OPTIONS,
    transform="any",
    traced=lambda code, function, inputs, v, **options: code.transforms.with_leaves(
        inputs, **options
    ).jvp_at(function, inputs, v, **options),
    doc="`torch.autograd.functional.jvp`: value of a function at one input or a tuple of them, and "
    "the product of its Jacobian with the direction v.",
    source="PyTorch: autograd.functional.jvp",
)


def _functional_hvp_op(name: str, what: str, aliases: tuple[str, ...] = ()) -> Op:
    return host(
        f"functional_{name}",
        functional.as_pytorch(functional.hvp),
        **_PRODUCT,
        params=_OPTIONS,
        transform="scalar",
        traced=lambda code, function, inputs, v, **options: code.transforms.with_leaves(
            inputs, **options
        ).hvp_at(function, inputs, v, **options),
        doc=f"`torch.autograd.functional.{name}`: value of a scalar function at one input or a "
        f"tuple of them, and the product of {what}.",
        source=f"PyTorch: autograd.functional.{name}",
        aliases=aliases,
    )


functional_hvp: Op = _functional_hvp_op("hvp", "its Hessian with the direction v")
functional_vhp: Op = _functional_hvp_op(
    "vhp", "v with its Hessian, which is symmetric", aliases=("vhp",)
)
