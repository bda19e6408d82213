"""Run a program's hooks during a pass, and give leaves their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import ACCUMULATED, ARRIVING, LEAVING, Hook, Node
from gradcli.engine.tape.tensor import AccumulateGrad, Tensor, node_of
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS


def arrived(hooks: Sequence[Hook], g: Any, recorded: bool) -> Any:
    """The cotangent of a node after the hooks of its tensors. A node with several results has one
    for each, None if it was not used.
    """
    several = type(g) is list
    for hook in hooks:
        if hook.when == ARRIVING and hook.index is not None:
            c = hook.change(g[hook.index] if several else g, recorded)
            g = [c if i == hook.index else other for i, other in enumerate(g)] if several else c
    return g


def about_to_go(hooks: Sequence[Hook], g: Any, recorded: bool) -> Any:
    """The cotangent of a node after the node's prehooks."""
    several = type(g) is list
    for hook in hooks:
        if hook.when == ARRIVING and hook.index is None:
            changed = hook.change(g if several else [g], recorded)
            g = list(changed) if several else changed[0]
    return g


def accumulated(node: AccumulateGrad, hooks: Sequence[Hook], g: Any, recorded: bool) -> None:
    """Give a leaf its gradient, with the hooks of its node before and behind that."""
    g = about_to_go(hooks, g, recorded)
    leaf = node.variable
    if leaf is None or g is None:
        return
    accumulate(leaf, g, recorded)
    for of_node in (False, True):
        for hook in hooks:
            if hook.when == ACCUMULATED and (hook.index is None) == of_node:
                hook.change(leaf, recorded)


def left(
    hooks: Sequence[Hook], node: Node, pulled: Sequence[Any], g: Any, recorded: bool
) -> Sequence[Any]:
    """The cotangents that a node passes to the edges which the program sees, after the node's
    hooks.
    """
    places = node.places
    for hook in hooks:
        if hook.when == LEAVING:
            given = [pulled[i] for i in places], g if type(g) is list else [g]
            changed = dict(zip(places, hook.change(given, recorded), strict=True))
            pulled = [changed.get(i, c) for i, c in enumerate(pulled)]
    return pulled


def accumulate(x: Tensor, c: Any, create_graph: bool) -> None:
    """Add a gradient to `x.grad`: in place, or as a new tensor when the pass was recorded.

    The gradient never shares memory with the cotangent or with another leaf's gradient.
    """
    if x.grad is None:
        x.grad = copied(c)
    elif create_graph:
        x.grad = ops.add(x.grad, c)
    else:
        from gradcli.engine.ops.inplace import apply_inplace

        apply_inplace(ops.add, x.grad, [c], {}, None, recording=False)


def copied(c: Any) -> Tensor:
    """A cotangent as a tensor of its own memory."""
    if isinstance(c, Tensor) and node_of(c) is not None:
        return ops.copied(c)  # type: ignore[no-any-return]  # an op's result
    data = data_of(c)
    return Tensor(data if type(data) in NUMBERS else data.copy())
