"""Reverse mode: from the cotangent of results to the cotangents of what they were made from.

Two passes go through the graph. The program's own, `backward` or `gradients`, meets what an earlier
one has freed and frees nodes itself. A command's look at the graph, or a transform's, `cotangents`,
disturbs nothing and passes what only the program takes for freed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.engine.autodiff.numbers import visitor as visitor_of_numbers
from gradcli.engine.autodiff.paths import Paths, age, between, reachable, visible
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import (
    ACCUMULATED,
    ARRIVING,
    GONE,
    LEAVING,
    LIVE,
    SPENT,
    CompositeNode,
    Hook,
    Node,
    Site,
    Whole,
    settle,
)
from gradcli.engine.tape.tensor import (
    AccumulateGrad,
    OpNode,
    PlannedNode,
    Tensor,
    node_of,
)
from gradcli.engine.values.carrier import Carrier, Like, data_of, like_of
from gradcli.engine.values.data import NUMBERS, np
from gradcli.engine.values.sizes import describe
from gradcli.errors import Diagnostic, Label, RunError, run_error
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.engine.autodiff.arrays import Visit
    from gradcli.engine.autodiff.motion import Reach

Root: TypeAlias = tuple[Node, int, Any]
"""A node, which of its results is meant, and the cotangent of that."""


class _Way(Record):
    """How a pass goes through the nodes: whether it is recorded, how far a node that it meets may
    be freed, what it leaves of it, whether its ends get gradients, with what hooks do there, and
    whether a node that gives nan is refused.
    """

    __slots__ = ("recorded", "passes", "leaves", "ends", "checks")
    recorded: bool
    passes: int
    leaves: int
    ends: bool
    checks: bool


_LOOK = _Way(False, SPENT, LIVE, False, False)
_RECORDED_LOOK = _Way(True, SPENT, LIVE, False, False)


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
    return _swept(roots, paths or _paths(roots, targets), targets, _LOOK)


def recorded_cotangents(
    roots: Sequence[Root], targets: Collection[Node], paths: Paths | None = None
) -> dict[Node, Any]:
    """As `cotangents`, made of recorded ops, so that they can be differentiated again."""
    return _swept(roots, paths or _paths(roots, targets), targets, _RECORDED_LOOK)


def all_cotangents(roots: Sequence[Root]) -> dict[Node, Any]:
    """As `cotangents`, of every node that the roots were made from."""
    found: dict[Node, Any] = {}
    find_all_cotangents(roots, found)
    return found


def find_all_cotangents(roots: Sequence[Root], found: dict[Node, Any]) -> None:
    """Likewise, into `found`, which has those above where the pass was refused."""
    live = reachable(node for node, _, _ in roots)
    _sweep(roots, Paths(sorted(live, key=age), live), live, _LOOK, found, closely=True)


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
        roots: What is differentiated, connected to leaves.
        inputs: The nodes of the tensors whose gradients are wanted; None: the leaves.
        retained: Tensors, no leaves, that get theirs on the way: those of the inputs, too.
        create_graph: Record the pass, so that the gradients can be differentiated.
        left: What becomes of the nodes on the way: `LIVE`, `SPENT` or `GONE`.
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
    way = _Way(create_graph, LIVE, left, True, checks)
    found = _program(roots, paths, ends, retained, way)
    for node in ends:
        leaf = node.variable if isinstance(node, AccumulateGrad) else None
        if leaf is not None and node in found:
            accumulate(leaf, found[node], create_graph)
        _leave(node, left)


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
    way = _Way(create_graph, LIVE, left, False, checks)
    return _program(roots, paths, set(targets), retained, way)


def _program(
    roots: Sequence[Root],
    paths: Paths,
    ends: Collection[Node],
    retained: Collection[Tensor],
    way: _Way,
) -> dict[Node, Any]:
    """A pass of the program's, with the gradients that it leaves at retained tensors."""
    visited = paths.live.union(node for node, _, _ in roots)
    kept = [x for x in retained if node_of(x) in visited]
    met = {*ends, *(node for x in kept if (node := node_of(x)) is not None)}
    if any(node.hooks is not None and type(node) is AccumulateGrad for node in paths.live):
        paths = _leaves_at_once(paths)
    found = _swept(roots, paths, met, way)
    for x in kept:
        c = _part(found, x)
        if c is not None and x.grad is None:
            x.grad = _copied(c)
        elif c is not None:
            before = x.grad if way.recorded else data_of(x.grad)
            x.grad = _copied(ops.add(before, c))
    return found


def _leaves_at_once(paths: Paths) -> Paths:
    """The same paths with each leaf where the last part of its gradient has come: its hooks show
    when it is visited.
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


def seed(x: Tensor | Like, gradient: Any, what: str) -> Any:
    """The cotangent to start from: the one given, or 1 for a value of one element."""
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
        )
    return gradient if given.dtype == like.dtype else ops.cast(gradient, dtype=like.dtype)


def seed_of_one(x: Tensor, by: str) -> Any:
    """The cotangent of a function's result, which the transform `by` wants to be one number."""
    like = like_of(x)
    if int(np.prod(like.shape)) != 1:
        raise run_error(
            "needs-cotangent",
            f"`{by}` wants a function that gives one number, this one gives shape "
            f"{list(like.shape)}",
            help="reduce it, as by `.sum()`; `jacobian` has the derivatives of all elements",
        )
    return seed(x, None, by)


def accumulate(x: Tensor, c: Any, create_graph: bool) -> None:
    """Add a gradient to `x.grad`: in place, or as a new tensor when the pass was recorded.

    The gradient never shares memory with the cotangent or with another leaf's gradient.
    """
    if x.grad is None:
        x.grad = _copied(c)
    elif create_graph:
        x.grad = ops.add(x.grad, c)
    else:
        from gradcli.engine.ops.inplace import apply_inplace

        apply_inplace(ops.add, x.grad, [c], {}, None, recording=False)


def _copied(c: Any) -> Tensor:
    """A cotangent as a tensor of its own memory."""
    if isinstance(c, Tensor) and node_of(c) is not None:
        return ops.copied(c)  # type: ignore[no-any-return]  # an op's result
    data = data_of(c)
    return Tensor(data if type(data) in NUMBERS else data.copy())


# --- visiting them -------------------------------------------------------------------------


def _swept(
    roots: Sequence[Root], paths: Paths, ends: Collection[Node], way: _Way
) -> dict[Node, Any]:
    """Cotangents of the ends, after a visit of the nodes on the paths, the newest first.

    A nan comes through to the ends or has no part in them, so that arrays are looked at there; a
    pass that finds one, or is about to show cotangents to the program, is made once more and looks
    at each node's.
    """
    if not way.recorded and not way.checks:
        with suppress(_LookCloser):
            found: dict[Node, Any] = {}
            visited = _sweep(roots, paths, ends, way, found, closely=False)
            if not any(map(_has_nan, found.values())):
                return _done(visited, way, found)
    found = {}
    return _done(_sweep(roots, paths, ends, way, found, closely=True), way, found)


def _done(visited: Sequence[Node], way: _Way, found: dict[Node, Any]) -> dict[Node, Any]:
    """What was found, after the nodes have been left: not before, as a nan asks what those above
    have saved.
    """
    for node in visited:
        _leave(node, way.leaves)
    return found


class _LookCloser(Exception):
    """A pass that did not look at each array meets a function of the program."""


def _has_nan(c: Any) -> bool:
    """Whether what was found has a nan, of a node with several results one of them."""
    if type(c) is float:
        return isnan(c)
    from gradcli.engine.values.batch import has_nan

    return has_nan(tuple(c) if type(c) is list else c)


def _sweep(
    roots: Sequence[Root],
    paths: Paths,
    ends: Collection[Node],
    way: _Way,
    found: dict[Node, Any],
    *,
    closely: bool,
) -> Sequence[Node]:
    """Likewise, into `found`, one after the other; whether each node's are looked at `closely`.
    Returns the nodes that are to be left, if any are.
    """
    recorded, passes, leaves = way.recorded, way.passes, way.leaves
    is_live, whole = paths.live.__contains__, paths.whole
    pending: dict[Any, Any] = {}
    reach: Reach | None = None
    visited: list[Node] = []
    visit: Visit | None = None
    visit_number = visitor_of_numbers(pending, paths)
    plain = not (recorded or way.checks)  # what nodes pull goes on as it is
    for node, index, g in roots:
        _add(pending, node, index, g)
    for node in reversed(paths.order):
        g = pending.pop(node, None)
        if g is None:
            continue
        hooks = node.hooks
        if hooks is not None:
            if not closely:
                raise _LookCloser
            g = _arrived(hooks, g, recorded)
        is_end = node in ends
        if is_end and hooks is not None and way.ends and type(node) is AccumulateGrad:
            _accumulated(node, hooks, g, recorded)
            continue
        if is_end:
            found[node] = g
        if type(node) is OpNode:
            if (
                type(g) is float
                and g
                and g - g == 0.0
                and plain
                and hooks is None
                and node.freed <= passes
                and reach is None
                and visit_number(node, g)
            ):
                if leaves != LIVE:
                    visited.append(node)
                continue
        elif (
            type(node) is PlannedNode
            and not (closely or recorded or reach)
            and not isinstance(g, Carrier)
            and (type(g) is not float or (g and g - g == 0.0))
            and not (is_end and not any(map(is_live, node.edges)))
        ):
            if node.freed > passes and node.saves:
                raise _freed(node)
            if visit is None:
                from gradcli.engine.autodiff.arrays import visitor

                visit = visitor(pending, paths, _add)
            visit(node, g, is_end)
            if leaves != LIVE:
                visited.append(node)
            continue
        edges: Any = node.edges  # of which those that are None pull None
        wanted: Sequence[bool]
        if whole and len(edges) == 2:
            wanted = edges[0] is not None, edges[1] is not None
        else:
            wanted = [*map(is_live, edges)]
        passed_by = True not in wanted
        if hooks is not None and not (passed_by and not way.ends):
            g = _about_to_go(hooks, g, recorded)
        if passed_by:
            if hooks is not None and way.ends:
                _left(hooks, node, [None] * len(wanted), g, recorded)
            continue
        if type(node) is not OpNode and not (closely or node.takes_batches):
            raise _LookCloser
        if node.freed > passes and node.saves:
            raise _freed(node)
        pulled = _recorded(node, g, wanted) if recorded else node.pull(g, wanted)
        # of numbers only zero and infinity can have become nan, which is no zero any more
        if (
            (closely if type(g) is not float else not g or g - g)
            and isinstance(node, OpNode)
            and node.op.derivatives.scales
            and (type(g) is not float or node.op.derivatives.partials is None or any(pulled))
            and _has_become_nan(g, pulled)
        ):
            reach = reach or _reach(roots, paths, node)
            pulled = reach.pull(node, g, wanted, _recorded if recorded else _plain)
        if reach is not None:
            reach.follow(node, wanted)
        if hooks is not None:
            pulled = _left(hooks, node, pulled, g, recorded)
        if way.checks:
            _refuse_nan(node, pulled)
        for under, index, c in zip(edges, node.outputs, pulled, strict=True):
            if c is None:
                continue
            before = pending.get(under)
            if before is None and type(under.like) is not tuple:
                pending[under] = c
            elif type(before) is float and type(c) is float:
                pending[under] = before + c
            else:
                _add(pending, under, index, c)
        if leaves != LIVE:
            visited.append(node)
    return visited


def through(node: Node, gs: Sequence[Any], recorded: bool) -> list[Any]:
    """What one node makes of the cotangents of its results, for each edge that the program sees."""
    if isinstance(node, CompositeNode):
        targets = {under for under, _ in node.shown if under is not None}
        roots = [(node, i, g) for i, g in enumerate(gs)]
        way = _Way(recorded, LIVE, LIVE, False, False)
        found = _swept(roots, _paths(roots, targets), targets, way)
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


def _leave(node: Node, left: int) -> None:
    """What becomes of a node that a pass has visited."""
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
    pending[node] = c if before is None else ops.add(before, c)


def _has_become_nan(g: Any, pulled: Sequence[Any]) -> bool:
    """Whether a cotangent has become nan beside a slope that it was multiplied by."""
    for c in pulled:
        if type(c) is float:
            if isnan(c):
                return True
        elif c is not None and c is not g and _has_nan(c):
            return True
    return False


def _reach(roots: Sequence[Root], paths: Paths, node: Node) -> Reach:
    """What of the values above a node has a part in the roots."""
    from gradcli.engine.autodiff.motion import Reach

    reach = Reach(roots)
    for above in reversed(paths.order):
        if above is node:
            break
        reach.follow(above, [*map(paths.live.__contains__, above.edges)])
    return reach


def _plain(node: Any, g: Any, wanted: Sequence[bool], *still: Any) -> Sequence[Any]:
    """What a node pulls, as plain data."""
    pulled: Sequence[Any] = node.pull(g, wanted, *still)
    return pulled


def _recorded(node: Any, g: Any, wanted: Sequence[bool], *still: Any) -> Sequence[Any]:
    """What a node pulls by recorded ops, which stand at its own place in the program."""
    pulled: Sequence[Any] = node.pull_recorded(g, wanted, *still)
    if node.site is not None:
        for c in pulled:
            made = node_of(c) if isinstance(c, Tensor) else None
            if made is not None and made.site is None:
                settle(made, (), Site(node.site.span, "", Whole(node.op_name, True)))
    return pulled


def _arrived(hooks: Sequence[Hook], g: Any, recorded: bool) -> Any:
    """What the hooks of tensors make of the cotangent of their node: of several results, each of
    that of its own, which is None if nobody used it.
    """
    several = type(g) is list
    for hook in hooks:
        if hook.when == ARRIVING and hook.index is not None:
            c = hook.change(g[hook.index] if several else g, recorded)
            g = [c if i == hook.index else other for i, other in enumerate(g)] if several else c
    return g


def _about_to_go(hooks: Sequence[Hook], g: Any, recorded: bool) -> Any:
    """What the hooks of a node make of its cotangent before it goes on."""
    several = type(g) is list
    for hook in hooks:
        if hook.when == ARRIVING and hook.index is None:
            changed = hook.change(g if several else [g], recorded)
            g = list(changed) if several else changed[0]
    return g


def _accumulated(node: AccumulateGrad, hooks: Sequence[Hook], g: Any, recorded: bool) -> None:
    """Give a leaf its gradient, with the hooks of its node before and behind that."""
    g = _about_to_go(hooks, g, recorded)
    leaf = node.variable
    if leaf is None or g is None:
        return
    accumulate(leaf, g, recorded)
    for of_node in (False, True):
        for hook in hooks:
            if hook.when == ACCUMULATED and (hook.index is None) == of_node:
                hook.change(leaf, recorded)


def _left(
    hooks: Sequence[Hook], node: Node, pulled: Sequence[Any], g: Any, recorded: bool
) -> Sequence[Any]:
    """What hooks make of the cotangents that a node gives to the edges that the program sees."""
    places = node.places
    for hook in hooks:
        if hook.when == LEAVING:
            given = [pulled[i] for i in places], g if type(g) is list else [g]
            changed = dict(zip(places, hook.change(given, recorded), strict=True))
            pulled = [changed.get(i, c) for i, c in enumerate(pulled)]
    return pulled


def _refuse_nan(node: Node, pulled: Sequence[Any]) -> None:
    """Refuse cotangents of which one has a nan."""
    for i, c in enumerate(pulled):
        if c is not None and _has_nan(data_of(c)):
            message = f"the derivative of {node.name()} by its argument {i} is nan"
            labels = [Label(node.site.span, "it was done here")] if node.site is not None else []
            raise RunError(Diagnostic("non-finite", message, labels=labels))


def _freed(node: Node) -> RunError:
    return run_error(
        "backward-twice",
        f"`backward` needs what {node.name()} saved, and an earlier `backward` has freed it",
        help="pass retain_graph=True to the first `backward`",
    )
