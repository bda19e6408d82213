"""What a program does with its own graph: leaves, `backward`, gradients of tensors, hooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.autodiff import backward as passes
from gradcli.engine.autodiff.backward import seed
from gradcli.engine.run.functions import called, wrong_function
from gradcli.engine.run.naming import kind_of
from gradcli.engine.run.session import Session
from gradcli.engine.run.transforms import as_value
from gradcli.engine.tape.graph import Hook, Node, Site
from gradcli.engine.tape.tensor import Tensor, freeze, node_of, require_grad
from gradcli.engine.values import refusals
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, dtype_of, shape_of
from gradcli.engine.values.sizes import flag
from gradcli.errors import run_error

# --- leaves ----------------------------------------------------------------------------------


def requires_grad_(
    session: Session, site: Site | None, x: Tensor, requires_grad: Any = True
) -> Tensor:
    """`x.requires_grad_()`."""
    set_requires_grad(session, x, requires_grad)
    return x


def set_requires_grad(session: Session, x: Tensor, value: Any) -> None:
    """`x.requires_grad = value`."""
    wanted = session.truth(value)
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
    if wanted:
        require_grad(x)
    else:
        freeze(x)
    session.leaf_changed(x)


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
        raise run_error(
            "no-graph",
            "`backward` of a value that does not depend on anything that requires grad",
            help="make an input with `tensor(..., requires_grad=True)`, outside `no_grad`",
        )
    g = seed(x, session.tensor(gradient), "backward")
    create = bool(create_graph) or session.transparent
    retain = create if retain_graph is None else bool(retain_graph)
    wanted = None if inputs is None else _inputs(session, inputs)
    if session.keep:
        session.subject = (x, data_of(g))
    passes.backward(
        x,
        g if create else data_of(g),
        wanted,
        session.retained,
        create_graph=create,
        left=session.left(retain),
    )


def _inputs(session: Session, inputs: Any) -> Sequence[Tensor]:
    """The tensors whose gradients `backward` is to leave; those that are no leaves retain theirs
    from then on.
    """
    wanted: Sequence[Any] = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if not wanted:
        raise run_error("bad-argument", "`inputs` of `backward` names no tensor")
    for x in wanted:
        if not isinstance(x, Tensor):
            raise run_error("wrong-type", f"`inputs` of `backward` holds {kind_of(x)}, no tensor")
        retain_grad(session, None, x)
    return wanted


def retain_grad(session: Session, site: Site | None, x: Tensor) -> None:
    """`x.retain_grad()`: of the value that it holds when a pass comes to it."""
    if not x.requires_grad:
        raise run_error("no-graph", "`retain_grad` of a tensor that does not require grad")
    if not x.is_leaf:
        session.retain(x)


def gradients(
    session: Session,
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: Any = None,
    create_graph: Any = False,
    allow_unused: Any = None,
    materialize_grads: Any = False,
) -> tuple[Any, ...]:
    """`torch.autograd.grad`: gradients of outputs by tensors of the graph, one for each."""
    given = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    wanted = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
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
    for out, weight in zip(given, weights, strict=True):
        node = _graph(session, out)
        if node is None:
            raise run_error(
                "no-graph", "`grad` of a value that does not depend on anything that requires grad"
            )
        g = seed(out, session.tensor(weight), "grad")
        roots.append((node, out.index, g if create else data_of(g)))
    targets = []
    for x in wanted:
        node = _graph(session, x)
        if node is None:
            raise run_error("no-graph", f"{kind_of(x)} that does not require grad has no gradient")
        targets.append(node)
    found = passes.gradients(
        roots, targets, session.retained, create_graph=create, left=session.left(retain)
    )
    result = []
    for i, (x, node) in enumerate(zip(wanted, targets, strict=True)):
        g = found.get(node)
        if type(g) is list or type(g) is tuple:
            g = g[x.index]
        if g is None and not (allow_unused or materialize_grads):
            raise run_error(
                "unused-input",
                f"the outputs do not depend on input {i}",
                help="pass allow_unused=True to get None for it",
            )
        result.append(None if g is None and not materialize_grads else as_value(g, x))
    return tuple(result)


def _graph(session: Session, x: Any) -> Node | None:
    """The node of a value that requires grad; inside a transform its arguments do."""
    node = node_of(x) if isinstance(x, Tensor) else None
    return node if node is not None and (node.visible or session.transforms) else None


# --- hooks -----------------------------------------------------------------------------------


class Handle:
    """What `register_hook` gives: `remove()` takes the hook away."""

    __slots__ = ("_hook", "_node")

    def __init__(self, node: Node, hook: Hook) -> None:
        self._node = node
        self._hook = hook

    def remove(self) -> None:
        """Run the hook no more."""
        left = [hook for hook in self._node.hooks or () if hook is not self._hook]
        self._node.hooks = left or None


def register_hook(session: Session, site: Site | None, x: Tensor, function: Any) -> Handle:
    """`x.register_hook(function)`: run it on the gradient by `x`, which it may replace."""
    node = node_of(x)
    if node is None or not node.visible:
        raise run_error("no-graph", "a hook needs a tensor that requires grad")
    if not callable(function):
        raise refusals.not_callable(kind_of(function))

    def change(g: Any, recorded: bool) -> Any:
        given = g if isinstance(g, Tensor) else Tensor(g)
        before, session.recording = session.recording, recorded
        try:
            new = called(function, [given], "register_hook")
        finally:
            session.recording = before
        return g if new is None else _replacement(session, function, new, given, recorded)

    hook = Hook(x.index, change)
    node.hooks = [*(node.hooks or ()), hook]
    return Handle(node, hook)


def _replacement(session: Session, function: Any, new: Any, given: Tensor, recorded: bool) -> Any:
    """What a hook returned, which takes the place of the gradient that it was given."""
    new = session.tensor(new)
    if not isinstance(new, Tensor) and type(new) not in NUMBERS:
        message = f"a hook must return a gradient or None, it returned {kind_of(new)}"
        raise wrong_function(function, "wrong-type", message)
    if shape_of(new) != given.shape:
        message = (
            f"a hook returned a gradient of shape {list(shape_of(new))} for one of shape "
            f"{list(given.shape)}"
        )
        raise wrong_function(function, "shape-mismatch", message)
    if type(new) in NUMBERS:
        new = Tensor(float(new))
    if dtype_of(new) != given.dtype:
        message = f"a hook returned a gradient of dtype {dtype_of(new)} for one of {given.dtype}"
        raise wrong_function(function, "dtype-mismatch", message)
    return new if recorded else data_of(new)
