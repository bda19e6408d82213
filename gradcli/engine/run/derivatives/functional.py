"""`torch.autograd.functional`: derivatives of a function at a point, one value or a tuple of them.

Without `create_graph` what they give is a constant of the program; with `strict` a function is
refused whose results do not depend on its inputs. `as_pytorch` makes PyTorch's functions of these,
which record under `no_grad`, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.autodiff.linearize import Linearized
from gradcli.engine.run.code.functions import wrong_function
from gradcli.engine.run.derivatives.transforms import (
    NO_TENSOR,
    Traced,
    Tree,
    constant,
    grad,
    mapped,
    matrix,
    several,
    value_and_grad,
    values_in,
)
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Tensor, leaf, node_of
from gradcli.engine.values.carrier import like_of
from gradcli.engine.values.data import np, shape_of
from gradcli.errors import RunError, run_error


def vjp(
    session: Session,
    function: Any,
    inputs: Any,
    v: Any,
    create_graph: Any = False,
    strict: Any = False,
) -> Any:
    """The value of the function, and the product of a cotangent with its Jacobian."""
    traced = _traced(session, function, inputs, "vjp")
    if strict:
        _refuse_unused(traced, function)
    line = traced.linearized(traced.out)
    found = tuple(traced.pulled(line, traced.cotangents(v)))
    if strict and create_graph:
        _refuse_constant(found, function)
    return _left(session, (traced.outside(traced.out), _like(inputs, found)), create_graph)


def jvp(
    session: Session,
    function: Any,
    inputs: Any,
    v: Any,
    create_graph: Any = False,
    strict: Any = False,
) -> Any:
    """The value of the function, and the product of its Jacobian with a direction."""
    traced = _traced(session, function, inputs, "jvp")
    if strict:
        _refuse_unused(traced, function)
    dots = traced.direction(_directions(inputs, v))
    line = traced.linearized(traced.out)
    if strict and create_graph:
        ones = [np.ones(like.shape, like.dtype) for like in map(like_of, values_in(traced.out))]
        _refuse_constant(traced.pulled(line, ones), function)
    found = traced.pushed(line, traced.out, dots)
    return _left(session, (traced.outside(traced.out), found), create_graph)


def hvp(
    session: Session,
    function: Any,
    inputs: Any,
    v: Any,
    create_graph: Any = False,
    strict: Any = False,
) -> Any:
    """The value of a scalar function, and the product of its Hessian with a direction."""
    numbers = range(len(several(inputs)))
    both = value_and_grad(session, function, [*numbers], by="hvp")
    traced = _traced(session, both, inputs, "hvp")
    if strict:
        _refuse_unused(traced, function)
    dots = traced.direction(_directions(inputs, v))
    value, slopes = traced.out
    found = traced.pushed(traced.linearized(slopes), slopes, dots)
    return _left(session, (traced.outside(value), _like(inputs, found)), create_graph)


def jacobian(
    session: Session,
    function: Any,
    inputs: Any,
    create_graph: Any = False,
    strict: Any = False,
    mode: str = "reverse",
) -> Any:
    """The Jacobian in the form of the results, then of the inputs."""
    traced = _traced(session, function, inputs, "jacobian")
    if strict:
        _refuse_independent(traced, function)
    found = matrix(traced, mode, isinstance(inputs, tuple))
    if strict and create_graph:
        _refuse_constant(found, function)
    return _left(session, found, create_graph)


def hessian(
    session: Session,
    function: Any,
    inputs: Any,
    create_graph: Any = False,
    strict: Any = False,
    mode: str = "forward",
) -> Any:
    """The second derivatives of a scalar function in the form of the inputs, twice."""
    form = isinstance(inputs, tuple)
    numbers = range(len(several(inputs)))
    slopes = grad(session, function, [*numbers] if form else 0, by="hessian")
    traced = _traced(session, slopes, inputs, "hessian")
    if strict:
        _refuse_independent(traced, function)
    return _left(session, matrix(traced, mode, form), create_graph)


def as_pytorch(derivative: Callable[..., Any]) -> Callable[..., Any]:
    """A function of this module as PyTorch has it: it records under `no_grad`, too, and with
    `create_graph` inputs that do not require grad become leaves of their own.
    """

    def recorded(
        session: Session, function: Any, inputs: Any, *given: Any, create_graph: Any, **options: Any
    ) -> Any:
        if create_graph:
            inputs = mapped(_as_leaf, inputs)
        before, session.recording = session.recording, True
        try:
            return derivative(
                session, function, inputs, *given, create_graph=create_graph, **options
            )
        except RunError as error:
            if error.diagnostics[0].message.startswith(NO_TENSOR):
                error.raises = TypeError
            raise
        finally:
            session.recording = before

    return recorded


def _as_leaf(x: Any) -> Any:
    if not isinstance(x, Tensor) or node_of(x) is not None or not x.dtype.startswith("float"):
        return x
    return leaf(x.data)


def _traced(session: Session, function: Any, inputs: Any, by: str) -> Traced:
    """Trace a function at its inputs, and differentiate by all of them."""
    given = several(inputs)
    return Traced(session, function, given, range(len(given)), by)


def _like(inputs: Any, found: tuple[Any, ...]) -> Any:
    """One thing for each input, or the only one."""
    return found if isinstance(inputs, tuple) else found[0]


def _left(session: Evaluator, found: Tree, create_graph: Any) -> Tree:
    """The result for the program: without history, unless `create_graph`."""
    return found if create_graph or session.transparent else mapped(constant, found)


def _directions(inputs: Any, v: Any) -> tuple[Any, ...]:
    """The direction, which may be omitted if there is only one."""
    if v is None:
        if isinstance(inputs, (list, tuple)) or int(np.prod(shape_of(inputs))) != 1:
            raise run_error(
                "needs-cotangent", "the direction may be left out only for one input of one element"
            )
        like = like_of(inputs)
        number = like.shape == () and like.dtype == "float64"
        return (1.0 if number else np.ones(like.shape, like.dtype),)
    given, count = several(v), len(several(inputs))
    if len(given) != count or (isinstance(inputs, tuple) and not isinstance(v, tuple)):
        message = f"{len(given)} given as direction of {count} inputs"
        are_tensors = all(isinstance(x, Tensor) for x in given)
        raise run_error("wrong-count", message, raises=RuntimeError if are_tensors else TypeError)
    return given


def _refuse_unused(traced: Traced, function: Any) -> None:
    """Refuse a result that depends on no input, and an input on which no result depends."""
    points = {node: like_of(x) for node, x in traced.points.items()}
    for i, out in enumerate(values_in(traced.out)):
        if len(Linearized([out], points).unused) == len(points):
            raise _independent(function, f"result {i} of the function depends on no input")
    unused = traced.linearized(traced.out).unused
    for i, node in enumerate(points):
        if node in unused:
            raise _independent(function, f"no result of the function depends on input {i}")


def _refuse_independent(traced: Traced, function: Any) -> None:
    """Refuse a result that does not depend on one of the inputs."""
    points = {node: like_of(x) for node, x in traced.points.items()}
    for i, out in enumerate(values_in(traced.out)):
        unused = Linearized([out], points).unused
        for k, node in enumerate(points):
            if node in unused:
                what = f"result {i} of the function does not depend on input {k}"
                raise _independent(function, what)


def _refuse_constant(found: Tree, function: Any) -> None:
    """Refuse a derivative that depends on none of the inputs."""
    if any(not isinstance(x, Tensor) or node_of(x) is None for x in values_in(found)):
        raise _independent(function, "the Jacobian of the function does not depend on its inputs")


def _independent(function: Any, what: str) -> Exception:
    return wrong_function(function, "unused-input", what, "leave out `strict`")
