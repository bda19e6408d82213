"""Reverse mode: from the cotangent of results to the cotangents of what they were made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run import scalars
from gradcli.engine.run.own import OwnRule
from gradcli.engine.tape.graph import GONE, SPENT, AccumulateGrad, Node, Version, settle
from gradcli.engine.tape.tensor import Tensor, like_of, node_of, version_of
from gradcli.engine.values.carrier import Like
from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic, Label, RunError, run_error


def cotangents(
    roots: Sequence[tuple[Node, int, Any]],
    targets: Iterable[Node] | None = None,
    *,
    create_graph: bool = False,
    retain: bool = False,
    keep: bool = False,
    visible_only: bool = True,
    spent: bool = False,
    every: bool = False,
) -> dict[Node, Any]:
    """Cotangents of nodes, from those of `roots`, visiting each node once, the newest first.

    Args:
        roots: Node, number of its output, and the cotangent of that output.
        targets: Nodes whose cotangents are wanted; only paths to them are visited. None: all
            leaves.
        create_graph: Record the pass, so that its results can be differentiated.
        retain: Keep what the nodes saved, so that the graph can be passed again.
        keep: Keep it all the same for a pass of the command; to the program it is freed.
        visible_only: Leave out nodes that only the command differentiates.
        spent: Pass through nodes that only the program takes for freed.
        every: Return the cotangent of every node that was reached.

    Returns:
        The cotangent of each reached target (of a node with several outputs a tuple), as plain
        data, or as tensors with `create_graph`.

    Raises:
        RunError: If a needed node has been freed by an earlier pass, or a value that it saved has
            been changed in place since.
    """
    reached = reachable([node for node, _, _ in roots], visible_only)
    order = sorted(reached, key=_seq)
    ends = None if targets is None else set(targets)
    live = reached if ends is None else leading_to(order, ends)
    pending: dict[Node, Any] = {}
    for node, index, g in roots:
        _add(pending, node, index, g)
    found: dict[Node, Any] = {}
    while order:
        node = order.pop()
        g = pending.pop(node, None)
        if g is None:
            continue
        if node.hooks is not None:
            g = _hooked(node, g, create_graph)
        if every or (type(node) is AccumulateGrad if ends is None else node in ends):
            found[node] = g
        if live.isdisjoint(node.edges):
            continue
        if node.freed == GONE or (node.freed and not spent):
            _refuse_freed(node)
        if type(g) is float and not create_graph and scalars.spread(node, g, pending, live):
            check_versions(node)
        else:
            pulled = [g] if node.op is None else _pulled(node, g, create_graph, live)
            if create_graph and node.site is not None:
                for c in pulled:
                    settle(node_of(c) if isinstance(c, Tensor) else None, (), node.site)
            for under, index, c in zip(node.edges, node.outputs, pulled, strict=True):
                if c is not None and under in live:
                    assert under is not None
                    _add(pending, under, index, c)
        if not retain and node.op is not None:
            node.freed = SPENT
            if not keep:
                _free(node)
    return found


def _seq(node: Node) -> int:
    return node.seq


def reachable(roots: Sequence[Node], visible_only: bool = False) -> set[Node]:
    """The nodes from which the roots were made, and the roots."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        for under in stack.pop().edges:
            if under is not None and under not in seen and (under.visible or not visible_only):
                seen.add(under)
                stack.append(under)
    return seen


def leading_to(order: Sequence[Node], ends: set[Node]) -> set[Node]:
    """The ends, and the nodes made from them, of a list sorted from the oldest."""
    live = set(ends)
    for node in order:
        if not live.isdisjoint(node.edges):
            live.add(node)
    return live


def _pulled(node: Node, g: Any, create_graph: bool, live: set[Node]) -> Sequence[Any]:
    op = node.op
    assert op is not None
    if isinstance(op, OwnRule):
        return op.pull(node, _whole(node, g), create_graph)
    check_versions(node)
    args, out = saved_values(node, create_graph)
    g = _whole(node, g)
    wanted = [under in live for under in node.edges]
    return op.pull(g, out, args, node.params, wanted)


def saved_values(node: Node, connected: bool) -> tuple[Sequence[Any], Any]:
    """Arguments and result as the rules want them: plain data, or tensors in the graph."""
    args, out = node.args, node.out
    if not connected:
        return [a.data if isinstance(a, Tensor) else a for a in args], out
    if type(out) is tuple:
        out = tuple(Tensor(o, node, i) for i, o in enumerate(out))
    elif out is not None:
        out = Tensor(out, node)
    return args, out


def _whole(node: Node, g: Any) -> Any:
    """The cotangents of a node's results, zeros for the results that nobody used."""
    if type(node.like) is not tuple:
        return g
    return tuple(_zeros(like) if c is None else c for c, like in zip(g, node.like, strict=True))


def _zeros(like: Like) -> Any:
    if not like.dtype.startswith("float"):
        return None
    return 0.0 if like.shape == () else np.zeros(like.shape, like.dtype)


def _add(pending: dict[Node, Any], node: Node, index: int, c: Any) -> None:
    if type(node.like) is tuple:
        slots = pending.setdefault(node, [None] * len(node.like))
        slots[index] = c if slots[index] is None else ops.add(slots[index], c)
        return
    before = pending.get(node)
    pending[node] = c if before is None else ops.add(before, c)


def _hooked(node: Node, g: Any, create_graph: bool) -> Any:
    if create_graph and type(g) is not list and not isinstance(g, Tensor):
        g = Tensor(g)
    for hook in node.hooks or ():
        g = hook(g)
    return g


def _free(node: Node) -> None:
    """Let go of what a visited node saved."""
    node.freed = GONE
    if isinstance(node.op, OwnRule):
        node.op.free()
        return
    node.args = tuple(like_of(a) if isinstance(a, Tensor) else a for a in node.args)
    if type(node.out) is not float:
        node.out = None


def _refuse_freed(node: Node) -> None:
    op = node.op
    if op is not None and (op.saves_out or any(op.saves)):
        raise run_error(
            "backward-twice",
            f"`backward` needs what {node.name()} saved, and an earlier `backward` has freed it",
            help="pass retain_graph=True to the first `backward`",
        )


def check_versions(node: Node) -> None:
    """Refuse a node that saved a value which has been changed in place since.

    Raises:
        RunError: With the place of the op that saved it and of the change.
    """
    versions = node.versions
    if versions is None:
        return
    for a, before in zip(node.args, versions, strict=False):
        if isinstance(a, Tensor) and version_of(a) != before:
            raise _changed(node, a.version)
    if node.cell is not None and node.cell.count != versions[-1]:
        raise _changed(node, node.cell)


def _changed(node: Node, version: Version | None) -> RunError:
    labels = []
    if node.site is not None:
        labels.append(Label(node.site.span, f"{node.name()} saved it here"))
    if version is not None and version.site is not None:
        labels.append(Label(version.site.span, "it is changed here"))
    return RunError(
        Diagnostic(
            "changed-in-place",
            f"a value that {node.name()} saved for the gradient has been changed in place since",
            labels=labels,
            help="change a `clone()` of it, or make the update before the value is used",
        )
    )
