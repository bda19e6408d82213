"""Reverse mode: from cotangents of results to cotangents of the values that they depend on.

Two passes use the graph. The program's own, `backward` or `gradients`, frees nodes, and refuses
those that an earlier one has freed. `cotangents`, for commands and transforms, only reads the
graph, and may use nodes that are freed to the program alone.

Each has two forms. `_fast_pass` is `reference.py` with two fast cases. It gives up if it
meets something rare: a hook, a function of the program, nan. `_full_pass` does everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.engine.autodiff.numbers import visitor as visitor_of_numbers
from gradcli.engine.autodiff.paths import Paths, between, visible, whole
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import GONE, LIVE, SPENT, CompositeNode, Node, Site, Whole, settle
from gradcli.engine.tape.tensor import AccumulateGrad, OpNode, PlannedNode, Tensor, node_of
from gradcli.engine.values.carrier import Carrier, data_of
from gradcli.errors import Diagnostic, Label, RunError, run_error
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.engine.autodiff.arrays import Visit
    from gradcli.engine.autodiff.motion import Reach

Root: TypeAlias = tuple[Node, int, Any]
"""A node, the number of one of its results, and the cotangent of that result."""


class _Pass(Record):
    """The settings of a pass.

    Fields:
        recorded: The pass is recorded, so that its results can be differentiated.
        freed: How far a node may be freed that the pass needs.
        accumulates: Leaves with hooks get their gradients when they are visited.
        checks: A node that gives nan is refused.
    """

    __slots__ = ("recorded", "freed", "accumulates", "checks")
    recorded: bool
    freed: int
    accumulates: bool
    checks: bool


_LOOK = _Pass(False, SPENT, False, False)
_RECORDED_LOOK = _Pass(True, SPENT, False, False)


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
    return _run_pass(roots, paths or _paths(roots, targets), targets, _LOOK)[0]


def recorded_cotangents(
    roots: Sequence[Root], targets: Collection[Node], paths: Paths | None = None
) -> dict[Node, Any]:
    """Like `cotangents`, but made of recorded ops, so that they can be differentiated again."""
    return _run_pass(roots, paths or _paths(roots, targets), targets, _RECORDED_LOOK)[0]


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
    _full_pass(roots, paths, paths.live, _LOOK, found)


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
    own = _Pass(create_graph, LIVE, True, checks)
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
    own = _Pass(create_graph, LIVE, False, checks)
    return _program(roots, paths, set(targets), retained, own, left)


def _program(
    roots: Sequence[Root],
    paths: Paths,
    ends: Collection[Node],
    retained: Collection[Tensor],
    own: _Pass,
    left: int,
) -> dict[Node, Any]:
    """A pass of the program's, with the gradients that it leaves at retained tensors."""
    visited = paths.live.union(node for node, _, _ in roots)
    kept = [x for x in retained if node_of(x) in visited]
    met = {*ends, *(node for x in kept if (node := node_of(x)) is not None)}
    if any(node.hooks is not None and type(node) is AccumulateGrad for node in paths.live):
        paths = _leaves_at_once(paths)
    found, done = _run_pass(roots, paths, met, own)
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


# --- visiting them -------------------------------------------------------------------------


def _run_pass(
    roots: Sequence[Root], paths: Paths, ends: Collection[Node], settings: _Pass
) -> tuple[dict[Node, Any], list[Node]]:
    """Cotangents of the ends, and the nodes that were visited.

    A nan reaches the ends or has no part in them, so that it is looked for there alone. If there is
    one, the pass is made once more and looks at each node's. No node is freed before: that pass
    needs what those above have saved.
    """
    if not settings.recorded and not settings.checks:
        with suppress(_NeedsFullPass):
            found, visited = _fast_pass(roots, paths, ends, settings.freed)
            if not any(map(_has_nan, found.values())):
                return found, visited
    found = {}
    return found, _full_pass(roots, paths, ends, settings, found)


class _NeedsFullPass(Exception):
    """Raised by a fast pass at a node that only the full pass can visit."""


def _has_nan(c: Any) -> bool:
    """True if a cotangent has a nan, of a node with several results one of them."""
    if type(c) is float:
        return isnan(c)
    from gradcli.engine.values.batch import has_nan

    return has_nan(tuple(c) if type(c) is list else c)


def _fast_pass(
    roots: Sequence[Root], paths: Paths, ends: Collection[Node], freed: int
) -> tuple[dict[Node, Any], list[Node]]:
    """Visit the nodes on the paths, the youngest first, and return what `_run_pass` does. Two fast
    paths visit nodes of ops on numbers, and of ops on arrays that a plan is known for.

    Raises:
        _NeedsFullPass: If it meets a hook or a function of the program.
    """
    pending: dict[Any, Any] = {}
    found: dict[Node, Any] = {}
    visited: list[Node] = []
    is_live = paths.live.__contains__
    visit_number = visitor_of_numbers(pending, paths)
    visit_array: Visit | None = None
    for node, index, g in roots:
        _add(pending, node, index, g)
    for node in reversed(paths.order):
        g = pending.pop(node, None)
        if g is None:
            continue
        if node.hooks is not None:
            raise _NeedsFullPass
        if node in ends:
            found[node] = g
            if not any(map(is_live, node.edges)):
                continue
        if node.freed > freed and node.saves and any(map(is_live, node.edges)):
            raise _freed(node)
        if type(g) is float:
            if type(node) is OpNode and visit_number(node, g):
                visited.append(node)
                continue
            is_usual = g and g - g == 0.0  # it makes no nan of a slope
        else:
            is_usual = not isinstance(g, Carrier)
        if is_usual and type(node) is PlannedNode:
            if visit_array is None:
                from gradcli.engine.autodiff.arrays import visitor

                visit_array = visitor(pending, paths, _add)
            visit_array(node, g, node in found)
            visited.append(node)
            continue
        wanted = [*map(is_live, node.edges)]
        if True not in wanted:
            continue
        if not node.takes_batches:
            raise _NeedsFullPass
        pulled = node.pull(g, wanted)
        edges: Any = node.edges  # those that are None pull None
        for under, index, c in zip(edges, node.outputs, pulled, strict=True):
            if c is None:
                continue
            if under not in pending and type(under.like) is not tuple:
                pending[under] = c  # the usual case, without the cost of a call
            else:
                _add(pending, under, index, c)
        visited.append(node)
    return found, visited


def _full_pass(
    roots: Sequence[Root],
    paths: Paths,
    ends: Collection[Node],
    settings: _Pass,
    found: dict[Node, Any],
) -> list[Node]:
    """Like `_fast_pass`, but runs hooks and checks each node's cotangents for nan. Adds the
    cotangents to `found` one after the other; returns the nodes that were visited.
    """
    from gradcli.engine.autodiff import hooks as hooked

    recorded, accumulates = settings.recorded, settings.accumulates
    pull = _recorded if recorded else _plain
    is_live = paths.live.__contains__
    pending: dict[Any, Any] = {}
    visited: list[Node] = []
    visit_number = visitor_of_numbers(pending, paths)
    is_usual = not (recorded or settings.checks or any(node.hooks for node in paths.order))
    reach: Reach | None = None
    for node, index, g in roots:
        _add(pending, node, index, g)
    for node in reversed(paths.order):
        g = pending.pop(node, None)
        if g is None:
            continue
        if is_usual and type(g) is float and type(node) is OpNode and node.freed <= settings.freed:
            if node in ends:
                found[node] = g
            if visit_number(node, g):
                visited.append(node)
                continue
        hooks = node.hooks or ()
        g = hooked.arrived(hooks, g, recorded)
        if node in ends:
            if hooks and accumulates and isinstance(node, AccumulateGrad):
                hooked.accumulated(node, hooks, g, recorded)
                continue
            found[node] = g
        wanted = [*map(is_live, node.edges)]
        passes = True in wanted
        if not passes and not accumulates:
            continue
        g = hooked.about_to_go(hooks, g, recorded)
        if not passes:
            hooked.left(hooks, node, [None] * len(wanted), g, recorded)
            continue
        if node.freed > settings.freed and node.saves:
            raise _freed(node)
        visited.append(node)
        pulled = pull(node, g, wanted)
        if _has_become_nan(node, g, pulled):
            reach = reach or _reach(roots, paths)
            pulled = reach.pull(node, g, wanted, pull)
        pulled = hooked.left(hooks, node, pulled, g, recorded)
        if settings.checks:
            _refuse_nan(node, pulled)
        for under, index, c in zip(node.edges, node.outputs, pulled, strict=True):
            if c is not None:
                _add(pending, under, index, c)
    return visited


def through(node: Node, gs: Sequence[Any], recorded: bool) -> list[Any]:
    """The cotangents that a node passes to each edge that the program sees, from those of its
    results.
    """
    if isinstance(node, CompositeNode):
        targets = {under for under, _ in node.shown if under is not None}
        roots = [(node, i, g) for i, g in enumerate(gs)]
        inner = _Pass(recorded, LIVE, False, False)
        found, _ = _run_pass(roots, _paths(roots, targets), targets, inner)
        return [_of_edge(found, under, index) for under, index in node.shown]
    if node.freed > LIVE and node.saves:
        raise _freed(node)
    wanted = [edge is not None for edge in node.edges]
    g = list(gs) if type(node.like) is tuple else gs[0]
    pulled = [*(_recorded(node, g, wanted) if recorded else node.pull(g, wanted))]
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


def _add(pending: dict[Any, Any], node: Any, index: int, c: Any) -> None:
    if type(node.like) is tuple:
        slots = pending.setdefault(node, [None] * len(node.like))
        slots[index] = c if slots[index] is None else ops.add(slots[index], c)
        return
    before = pending.get(node)
    if type(before) is float and type(c) is float:
        pending[node] = before + c
    else:
        pending[node] = c if before is None else ops.add(before, c)


def _has_become_nan(node: Node, g: Any, pulled: Sequence[Any]) -> bool:
    """True if a cotangent has become nan beside a slope that an op has multiplied it by. Of numbers
    only zero and infinity become nan.
    """
    if not isinstance(node, OpNode) or not node.op.derivatives.scales:
        return False
    if type(g) is float and g and g - g == 0.0:
        return False
    return any(c is not None and c is not g and _has_nan(c) for c in pulled)


def _reach(roots: Sequence[Root], paths: Paths) -> Reach:
    from gradcli.engine.autodiff.motion import Reach

    return Reach(roots, paths)


def _plain(node: Any, g: Any, wanted: Sequence[bool], *still: Any) -> Sequence[Any]:
    """The cotangents that a node passes on, as plain data."""
    pulled: Sequence[Any] = node.pull(g, wanted, *still)
    return pulled


def _recorded(node: Any, g: Any, wanted: Sequence[bool], *still: Any) -> Sequence[Any]:
    """The cotangents that a node passes on, by ops recorded at its own place in the program."""
    pulled: Sequence[Any] = node.pull_recorded(g, wanted, *still)
    if node.site is not None:
        for c in pulled:
            made = node_of(c) if isinstance(c, Tensor) else None
            if made is not None and made.site is None:
                settle(made, (), Site(node.site.span, "", Whole(node.op_name, True)))
    return pulled


def _refuse_nan(node: Node, pulled: Sequence[Any]) -> None:
    """Raise an error if one of the cotangents has a nan."""
    for i, c in enumerate(pulled):
        if c is not None and _has_nan(data_of(c)):
            message = f"the derivative of {node.name()} by its argument {i} is nan"
            labels = [Label(node.site.span, "it was done here")] if node.site is not None else []
            raise RunError(Diagnostic("non-finite", message, labels=labels))


def _freed(node: Node) -> RunError:
    return run_error(
        "backward-twice",
        f"`backward` needs values that {node.name()} saved and an earlier `backward` has freed",
        help="pass retain_graph=True to the first `backward`",
    )
