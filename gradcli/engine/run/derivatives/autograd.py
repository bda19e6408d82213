"""The program's own use of its graph: leaves, `backward`, gradients of tensors, hooks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, ValuesView
from typing import Any

from gradcli.engine.autodiff import backward as passes
from gradcli.engine.autodiff.seeds import seed
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.derivatives.edges import GradientEdge
from gradcli.engine.run.derivatives.transforms import as_value
from gradcli.engine.run.session.state import Passes, Session
from gradcli.engine.tape.graph import Node, Site, seen
from gradcli.engine.tape.tensor import (
    AccumulateGrad,
    Tensor,
    freeze,
    is_inference,
    node_of,
    require_grad,
    truth,
)
from gradcli.engine.values import refusals
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.sizes import flag
from gradcli.errors import RunError, counted, run_error

_ITERABLES = (Iterator, ValuesView)
"""Types besides lists that may hold inputs, as `net.parameters()`."""

# --- leaves ----------------------------------------------------------------------------------


def requires_grad_(
    session: Session, site: Site | None, x: Tensor, requires_grad: Any = True
) -> Tensor:
    """`x.requires_grad_()`."""
    set_requires_grad(session, x, requires_grad)
    return x


def set_requires_grad(session: Session, x: Tensor, value: Any) -> None:
    """`x.requires_grad = value`."""
    wanted = truth(value)
    if not x.is_leaf:
        if not wanted:
            raise run_error(
                "not-a-leaf",
                "`requires_grad` of a computed tensor cannot be switched off",
                help="use `x.detach()`",
            )
        return
    if wanted and not x.dtype.startswith("float"):
        raise refusals.needs_float(x.dtype)
    if wanted == x.requires_grad:
        return
    if wanted and is_inference(x) and not session.inference.on:
        said = (
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
        )
        message = "a tensor that was made in inference mode cannot require grad outside of it"
        help = "take a `clone()` of it"
        raise run_error("inference-tensor", message, help=help, raises=RuntimeError(said))
    if wanted:
        require_grad(x)
    else:
        freeze(x)
    session.watched.leaf_changed(x)


# --- gradients -------------------------------------------------------------------------------


def backward(
    session: Session,
    site: Site | None,
    x: Tensor,
    gradient: Any = None,
    retain_graph: Any = None,
    create_graph: Any = False,
    inputs: Any = None,
) -> None:
    """`x.backward(gradient)`."""
    if not x.requires_grad:
        raise _unconnected()
    backward_of(session, [x], [gradient], retain_graph, create_graph, inputs)


def backward_of(
    session: Session,
    outputs: Sequence[Tensor | GradientEdge],
    weights: Sequence[Any],
    retain_graph: Any = None,
    create_graph: Any = False,
    inputs: Any = None,
) -> None:
    """`torch.autograd.backward(outputs, weights)`, of outputs that require grad."""
    create = bool(create_graph) or session.transparent
    retain = create if retain_graph is None else bool(retain_graph)
    roots = []
    for i, (x, weight) in enumerate(zip(outputs, weights, strict=True)):
        like = x.like if isinstance(x, GradientEdge) else x
        g = seed(like, session.tensor(weight), "backward", i)
        node = x.node if isinstance(x, GradientEdge) else node_of(x)
        assert node is not None
        roots.append((node, _index(x), g if create else data_of(g)))
        if session.keep and isinstance(x, Tensor):
            session.passes.subject = (x, data_of(g))
    ends = None if inputs is None else _inputs(session, inputs)
    with session.passes.one():
        left, checks = session.passes.left(retain), session.passes.anomaly
        passes.backward(
            roots, ends, session.passes.retained, create_graph=create, left=left, checks=checks
        )


def backward_of_several(
    session: Session, tensors: Any, grad_tensors: Any = None, **options: Any
) -> None:
    """`torch.autograd.backward(tensors, grad_tensors)`."""
    given = _several(tensors)
    several = isinstance(grad_tensors, (list, tuple))
    weights = list(grad_tensors) if several else [grad_tensors] * len(given)
    if len(weights) != len(given):
        message = f"{len(weights)} gradients are given for {len(given)} tensors"
        raise run_error("wrong-count", message)
    for x in given:
        if isinstance(x, GradientEdge):
            continue
        if not isinstance(x, Tensor):
            raise run_error("wrong-type", f"`backward` needs tensors, got {kind_of(x)}")
        if not x.requires_grad:
            raise _unconnected()
    backward_of(session, given, weights, **options)


def _unconnected() -> RunError:
    return run_error(
        "no-graph",
        "`backward` of a value that does not depend on anything that requires grad",
        help="make an input with `tensor(..., requires_grad=True)`, outside `no_grad`",
    )


def _index(x: Tensor | GradientEdge) -> int:
    """The index of a tensor or an edge among the results of its node."""
    return x.output if isinstance(x, GradientEdge) else x.index


def _several(given: Any) -> list[Any]:
    """The items of a list or tuple, or a list of the one value."""
    return (
        list(given)
        if isinstance(given, (list, tuple)) and type(given) is not GradientEdge
        else [given]
    )


def _inputs(session: Session, inputs: Any) -> Collection[Node]:
    """The nodes of the tensors to which `backward` adds gradients; those that are no leaves retain
    theirs from then on. An edge to no leaf gets none.
    """
    wanted = _several(session.items(inputs) if isinstance(inputs, _ITERABLES) else inputs)
    if not wanted:
        raise run_error("unused-input", "`inputs` of `backward` names no tensor")
    found = []
    for x in wanted:
        if isinstance(x, GradientEdge):
            found.append(x.node)
            continue
        if not isinstance(x, Tensor):
            raise run_error("wrong-type", f"`inputs` of `backward` holds {kind_of(x)}, no tensor")
        retain_grad(session, None, x)
        node = seen(node_of(x))
        assert node is not None
        found.append(node)
    return found


def retain_grad(session: Session, site: Site | None, x: Tensor) -> None:
    """`x.retain_grad()`: of the value that it holds when a pass comes to it."""
    if not x.requires_grad:
        raise run_error("no-graph", "`retain_grad` of a tensor that does not require grad")
    if not x.is_leaf:
        session.passes.retain(x)


def gradients(
    session: Session,
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: Any = None,
    create_graph: Any = False,
    allow_unused: Any = None,
    materialize_grads: Any = False,
    is_grads_batched: Any = False,
    only_inputs: Any = True,
) -> tuple[Any, ...]:
    """`torch.autograd.grad`: gradients of outputs by tensors of the graph, one for each."""
    if not flag(only_inputs, "only_inputs"):
        raise run_error("bad-argument", "`only_inputs` must be True", help="use `backward`")
    if isinstance(inputs, _ITERABLES):
        inputs = session.items(inputs)
    if flag(materialize_grads, "materialize_grads") and allow_unused is False:
        message = "`materialize_grads` makes zeros of unused gradients, and `allow_unused` is False"
        raise run_error("bad-argument", message, help="leave `allow_unused` out", raises=ValueError)
    if flag(is_grads_batched, "is_grads_batched"):
        retain = retain_graph if retain_graph is not None else create_graph
        return _batch_of_gradients(
            session, outputs, inputs, grad_outputs, retain, create_graph, allow_unused
        )
    given, wanted = _several(outputs), _several(inputs)
    if not wanted:
        raise run_error("unused-input", "`inputs` of `grad` names no tensor")
    weights = (
        list(grad_outputs)
        if isinstance(grad_outputs, (list, tuple))
        else [grad_outputs] * len(given)
    )
    if len(weights) != len(given):
        raise run_error(
            "wrong-count", f"{len(weights)} gradients are given for {len(given)} outputs"
        )
    create = flag(create_graph, "create_graph") or session.transparent
    retain = create if retain_graph is None else flag(retain_graph, "retain_graph")
    roots = []
    for i, (out, weight) in enumerate(zip(given, weights, strict=True)):
        node = _graph(session.passes, out)
        if node is None:
            raise run_error(
                "no-graph", "`grad` of a value that does not depend on anything that requires grad"
            )
        like = out.like if isinstance(out, GradientEdge) else out
        g = seed(like, session.tensor(weight), "grad", i)
        roots.append((node, _index(out), g if create else data_of(g)))
    targets = []
    for x in wanted:
        node = _graph(session.passes, x)
        if node is None:
            raise run_error("no-graph", f"{kind_of(x)} that does not require grad has no gradient")
        targets.append(node)
    with session.passes.one():
        left, checks = session.passes.left(retain), session.passes.anomaly
        found = passes.gradients(
            roots, targets, session.passes.retained, create_graph=create, left=left, checks=checks
        )
    result: list[Any] = []
    for i, (x, node) in enumerate(zip(wanted, targets, strict=True)):
        g = found.get(node)
        if type(g) is list or type(g) is tuple:
            g = g[_index(x)]
        if g is None and not (allow_unused or materialize_grads):
            raise run_error(
                "unused-input",
                f"the outputs do not depend on input {i}",
                help="pass allow_unused=True to get None for it",
            )
        if g is None and materialize_grads:
            result.append(_zeros(x, create))
        elif isinstance(x, GradientEdge):
            result.append(None if g is None else g if isinstance(g, Tensor) else Tensor(g))
        else:
            result.append(None if g is None else as_value(g, x))
    return tuple(result)


def _zeros(x: Any, create: bool) -> Tensor:
    """The gradient by a tensor that does not affect the result."""
    if isinstance(x, GradientEdge):
        message = "`materialize_grads` needs tensors as inputs: an edge does not tell its zeros"
        raise run_error("no-graph", message)
    made = as_value(None, x)
    if create and isinstance(made, Tensor) and made.node is None:
        require_grad(made)
    return made  # type: ignore[no-any-return]  # a tensor, as x is


def _batch_of_gradients(
    session: Session,
    outputs: Any,
    inputs: Any,
    weights: Any,
    retain: Any,
    create_graph: Any,
    allow_unused: Any,
) -> tuple[Any, ...]:
    """The gradients for each of several cotangents, counted by the first dimension."""
    several = isinstance(weights, (list, tuple))
    batches = [session.items(w) for w in (weights if several else [weights])]
    counts = {len(batch) for batch in batches}
    if len(counts) != 1 or counts == {0}:
        raise run_error("shape-mismatch", "batches of cotangents must have one size above zero")
    rows = [*zip(*batches, strict=True)]
    found = []
    for i, row in enumerate(rows):
        keep = retain if i == len(rows) - 1 else True
        given = row if several else row[0]
        found.append(gradients(session, outputs, inputs, given, keep, create_graph, allow_unused))
    return tuple(
        None if part[0] is None else session.do(ops.stack, part, {"dim": 0})
        for part in zip(*found, strict=True)
    )


def _graph(own: Passes, x: Any) -> Node | None:
    """The node of a value that requires grad; inside a transform its arguments do."""
    if isinstance(x, GradientEdge):
        return x.node
    node = node_of(x) if isinstance(x, Tensor) else None
    return node if node is not None and (node.visible or own.transforms) else None


# --- nodes -----------------------------------------------------------------------------------


def pulled(session: Session, node: Node, *given: Any) -> Any:
    """`grad_fn(g)`: the cotangents of a node's edges, from those of its results."""
    likes = node.like if type(node.like) is tuple else (node.like,)
    if len(given) != len(likes):
        message = f"{node.name()} takes {counted(len(likes), 'gradient')}, it got {len(given)}"
        raise run_error("wrong-arity", message)
    if isinstance(node, AccumulateGrad):
        backward_of_several(session, node.variable, given[0])
        return None
    gs = [seed(like, session.tensor(g), node.name()) for like, g in zip(likes, given, strict=True)]
    cs = passes.through(node, gs if session.recording else [*map(data_of, gs)], session.recording)
    shown = [c if c is None or isinstance(c, Tensor) else Tensor(c) for c in cs]
    return shown[0] if len(shown) == 1 else tuple(shown)
