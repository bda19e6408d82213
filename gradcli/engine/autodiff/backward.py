"""Reverse mode: from cotangents of results to cotangents of the values that they depend on.

Two passes use the graph. The program's own, `backward` or `gradients`, frees nodes, and refuses
those that an earlier one has freed. `cotangents`, for commands and transforms, only reads the
graph, and may use nodes that are freed to the program alone.

`visits.py` visits the nodes of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gradcli.engine.autodiff.paths import Paths, between, visible, whole
from gradcli.engine.autodiff.visits import (
    LOOK,
    RECORDED_LOOK,
    FullPass,
    Root,
    Settings,
    freed,
    pulled_recorded,
    run_pass,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import GONE, LIVE, SPENT, CompositeNode, Node
from gradcli.engine.tape.tensor import AccumulateGrad, Tensor, node_of
from gradcli.engine.values.carrier import data_of

# --- a look at the graph -------------------------------------------------------------------


def cotangents(
    roots: Sequence[Root], targets: Collection[Node], paths: Paths | None = None
) -> dict[Node, Any]:
    """Cotangents of targets from those of roots, as plain data.

    Nodes are visited once, the newest first, and only on the paths to the targets; they stay as
    they are. `paths` are these paths where they are known.

    Returns:
        The cotangent of each target that was reached; of a node with several results a sequence.

    Raises:
        RunError: If the saved values of a needed node are gone, or one has been changed in place
            since.
    """
    return run_pass(roots, paths or _paths(roots, targets), targets, LOOK)[0]


def recorded_cotangents(
    roots: Sequence[Root], targets: Collection[Node], paths: Paths | None = None
) -> dict[Node, Any]:
    """Like `cotangents`, but made of recorded ops, so that they can be differentiated again."""
    return run_pass(roots, paths or _paths(roots, targets), targets, RECORDED_LOOK)[0]


def all_cotangents(roots: Sequence[Root], paths: Paths | None = None) -> dict[Node, Any]:
    """Like `cotangents`, for every node on the paths, the youngest first; without `paths` for every
    node from which the roots were made.
    """
    found: dict[Node, Any] = {}
    find_all_cotangents(roots, found, paths)
    return found


def find_all_cotangents(
    roots: Sequence[Root], found: dict[Node, Any], paths: Paths | None = None
) -> None:
    """Like `all_cotangents`, into `found`. If the pass is refused, those so far are there."""
    paths = paths or whole(node for node, _, _ in roots)
    FullPass(roots, paths, paths.live, LOOK, found).visit(reversed(paths.order))


def _paths(roots: Sequence[Root], targets: Collection[Node]) -> Paths:
    return between((node for node, _, _ in roots), targets)


# --- the program's own pass ----------------------------------------------------------------


def backward(
    roots: Sequence[Root],
    inputs: Collection[Node] | None,
    retained: Collection[Tensor],
    *,
    create_graph: bool,
    left: int,
    checks: bool = False,
) -> None:
    """Add gradients to the `grad` of tensors: the program's `backward`.

    Args:
        roots: The differentiated results, connected to leaves.
        inputs: The nodes of the tensors whose gradients are wanted; None: the leaves.
        retained: Non-leaf tensors that get theirs during the pass, too.
        create_graph: Record the pass, so that the gradients can be differentiated.
        left: The state of the visited nodes afterwards: `LIVE`, `SPENT` or `GONE`.
        checks: Refuse a node that gives nan.

    Raises:
        RunError: If an earlier pass has freed a needed node, or a value that it saved has been
            changed in place since.
    """
    ends: set[Node]
    if inputs is None:
        paths = visible(node for node, _, _ in roots)
        ends = {node for node in paths.live if type(node) is AccumulateGrad}
    else:
        ends = {*inputs}
        paths = between((node for node, _, _ in roots), ends)
    own = Settings(create_graph, LIVE, True, checks)
    found = _program(roots, paths, ends, retained, own, left)
    from gradcli.engine.autodiff.hooks import accumulate

    for node in ends:
        leaf = node.variable if isinstance(node, AccumulateGrad) else None
        if leaf is not None and node in found:
            accumulate(leaf, found[node], create_graph)
        _release(node, left)


def gradients(
    roots: Sequence[Root],
    targets: Collection[Node],
    retained: Collection[Tensor],
    *,
    create_graph: bool,
    left: int,
    checks: bool = False,
) -> dict[Node, Any]:
    """Cotangents of targets: the program's `grad` of tensors. Arguments as of `backward`."""
    paths = _paths(roots, targets)
    own = Settings(create_graph, LIVE, False, checks)
    return _program(roots, paths, set(targets), retained, own, left)


def _program(
    roots: Sequence[Root],
    paths: Paths,
    ends: Collection[Node],
    retained: Collection[Tensor],
    own: Settings,
    left: int,
) -> dict[Node, Any]:
    """A pass of the program's, with the gradients that it leaves at retained tensors."""
    visited = paths.live.union(node for node, _, _ in roots)
    kept = [x for x in retained if node_of(x) in visited]
    met = {*ends, *(node for x in kept if (node := node_of(x)) is not None)}
    if any(node.hooks is not None and type(node) is AccumulateGrad for node in paths.live):
        paths = _leaves_at_once(paths)
    found, done = run_pass(roots, paths, met, own)
    for node in done:
        _release(node, left)
    for x in kept:
        c = _part(found, x)
        if c is not None and x.grad is not None:
            c = ops.add(x.grad if own.recorded else data_of(x.grad), c)
        if c is not None:
            from gradcli.engine.autodiff.hooks import copied

            x.grad = copied(c)
    return found


def _leaves_at_once(paths: Paths) -> Paths:
    """The same paths, with each leaf right after the last node that adds to its gradient: its hooks
    show when it is visited.
    """
    uses = Counter(under for node in paths.order for under in node.edges)
    visited: list[Node] = []
    for node in reversed(paths.order):
        if uses[node] == 0 or type(node) is not AccumulateGrad:
            visited.append(node)
        for under in node.edges:
            uses[under] -= 1
            if uses[under] == 0 and type(under) is AccumulateGrad:
                visited.append(under)
                uses[under] = -1
    return Paths(visited[::-1], paths.live)


def _part(found: Mapping[Node, Any], x: Tensor) -> Any:
    """The cotangent of a tensor, which may be one of several results of its node."""
    return _of_edge(found, node_of(x), x.index)


def through(node: Node, gs: Sequence[Any], recorded: bool) -> list[Any]:
    """The cotangents that a node passes to each edge that the program sees, from those of its
    results.
    """
    if isinstance(node, CompositeNode):
        targets = {under for under, _ in node.shown if under is not None}
        roots = [(node, i, g) for i, g in enumerate(gs)]
        inner = Settings(recorded, LIVE, False, False)
        found, _ = run_pass(roots, _paths(roots, targets), targets, inner)
        return [_of_edge(found, under, index) for under, index in node.shown]
    if node.freed > LIVE and node.saves:
        raise freed(node)
    wanted = [edge is not None for edge in node.edges]
    g = list(gs) if type(node.like) is tuple else gs[0]
    pulled = [*(pulled_recorded(node, g, wanted) if recorded else node.pull(g, wanted))]
    return [pulled[i] for i in node.places]


def _of_edge(found: Mapping[Node, Any], under: Node | None, index: int) -> Any:
    """The cotangent of a result of a node."""
    c = None if under is None else found.get(under)
    return c[index] if type(c) is list else c


def _release(node: Node, left: int) -> None:
    """Free a visited node as far as the pass demands."""
    if left == GONE:
        node.free()
    elif left == SPENT:
        node.freed = SPENT
