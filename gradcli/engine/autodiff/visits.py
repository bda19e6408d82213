"""The passes back through the graph: visit nodes with their cotangents, the youngest first.

The fast pass is `reference.py` with two fast cases. It gives up if it meets something rare, such as
a hook or a function of the program. `FullPass` does everything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.engine.autodiff.numbers import visitor as visitor_of_numbers
from gradcli.engine.autodiff.paths import Paths
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import SPENT, Node, Site, Whole, settle
from gradcli.engine.tape.tensor import AccumulateGrad, OpNode, PlannedNode, Tensor, node_of
from gradcli.engine.values.carrier import Carrier, data_of
from gradcli.errors import Diagnostic, Label, RunError, run_error
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.engine.autodiff.arrays import Visit
    from gradcli.engine.autodiff.motion import Pull, Reach

Root: TypeAlias = tuple[Node, int, Any]
"""A node, the number of one of its results, and the cotangent of that result."""


class Settings(Record):
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


LOOK = Settings(False, SPENT, False, False)
RECORDED_LOOK = Settings(True, SPENT, False, False)


def run_pass(
    roots: Sequence[Root], paths: Paths, ends: Collection[Node], settings: Settings
) -> tuple[dict[Node, Any], list[Node]]:
    """Cotangents of the ends, and the nodes that were visited.

    A nan reaches the ends or has no part in them, so that it is looked for there alone. If an array
    may have made one, the full pass looks at each node's. No node is freed before: that pass needs
    what those above have saved.
    """
    if not settings.recorded and not settings.checks:
        with suppress(_NeedsFullPass):
            found, visited, numbers = _fast_pass(roots, paths, ends, settings.freed)
            if numbers or not any(map(_has_nan, found.values())):
                return found, visited
    found = {}
    whole = FullPass(roots, paths, ends, settings, found)
    whole.visit(reversed(paths.order))
    return found, whole.visited


class _NeedsFullPass(Exception):
    """Raised by a fast pass at a node that only the full pass can visit."""


def _has_nan(c: Any) -> bool:
    """True if a cotangent has a nan, of a node with several results one of them."""
    if type(c) is float:
        return isnan(c)
    from gradcli.engine.values.batch import has_nan

    return has_nan(tuple(c) if type(c) is list else c)


def _fast_pass(
    roots: Sequence[Root], paths: Paths, ends: Collection[Node], most_freed: int
) -> tuple[dict[Node, Any], list[Node], bool]:
    """Visit the nodes on the paths, the youngest first, and return what `run_pass` does. Two fast
    paths visit nodes of ops on numbers, and of ops on arrays that a plan is known for. The last
    result is true if all cotangents were numbers, of which each nan was looked at.

    Raises:
        _NeedsFullPass: If it meets a hook, a function of the program, or nan before an array.
    """
    pending: dict[Any, Any] = {}
    found: dict[Node, Any] = {}
    visited: list[Node] = []
    is_live = paths.live.__contains__
    visit_number = visitor_of_numbers(pending, paths)
    visit_array: Visit | None = None
    reach: Reach | None = None
    numbers = True
    for node, index, g in roots:
        add(pending, node, index, g)
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
        if node.freed > most_freed and node.saves and any(map(is_live, node.edges)):
            raise freed(node)
        if type(g) is float:
            if type(node) is OpNode and visit_number(node, g):
                visited.append(node)
                continue
            is_usual = g and g - g == 0.0  # it makes no nan of a slope
            if isnan(g) and type(node) is PlannedNode:
                raise _NeedsFullPass  # such a node hands nan on, so that the ends would show it
        else:
            is_usual = not isinstance(g, Carrier)
            numbers = False
        if is_usual and type(node) is PlannedNode:
            numbers = False
            if visit_array is None:
                from gradcli.engine.autodiff.arrays import visitor

                visit_array = visitor(pending, paths, add)
            visit_array(node, g, node in found)
            visited.append(node)
            continue
        wanted = [*map(is_live, node.edges)]
        if True not in wanted:
            continue
        if not node.takes_batches:
            raise _NeedsFullPass
        pulled = node.pull(g, wanted)
        if numbers and not is_usual and _has_become_nan(node, g, pulled):
            reach = reach or _reach(roots, paths)
            pulled = reach.pull(node, g, wanted, _plain)
        edges: Any = node.edges  # those that are None pull None
        for under, index, c in zip(edges, node.outputs, pulled, strict=True):
            if c is None:
                continue
            if under not in pending and type(under.like) is not tuple:
                pending[under] = c  # the usual case, without the cost of a call
            else:
                add(pending, under, index, c)
        visited.append(node)
    return found, visited, numbers


class FullPass:
    """A pass that runs hooks and looks at each node's cotangents for nan.

    Args:
        roots, paths, ends, settings: As of `run_pass`.
        found: Gets the cotangents of the ends, one after the other.

    Fields:
        pending: The cotangents that have arrived at nodes which are not visited yet.
        visited: The nodes that passed their cotangents on.
    """

    def __init__(
        self,
        roots: Sequence[Root],
        paths: Paths,
        ends: Collection[Node],
        settings: Settings,
        found: dict[Node, Any],
    ) -> None:
        self.pending: dict[Any, Any] = {}
        self.visited: list[Node] = []
        self._roots = roots
        self._paths = paths
        self._ends = ends
        self._settings = settings
        self._found = found
        self._reach: Reach | None = None
        plain = not (settings.recorded or settings.checks)
        self._takes_numbers = plain and not any(node.hooks for node in paths.order)
        for node, index, g in roots:
            add(self.pending, node, index, g)

    def visit(self, nodes: Iterable[Node]) -> None:
        """Visit these nodes, which follow those that were visited before.

        Raises:
            RunError: If a node is freed that the pass needs, or checks find nan.
        """
        from gradcli.engine.autodiff import hooks as hooked

        pending, found, visited, ends = self.pending, self._found, self.visited, self._ends
        most_freed, accumulates = self._settings.freed, self._settings.accumulates
        recorded, checks = self._settings.recorded, self._settings.checks
        pull = pulled_recorded if recorded else _plain
        is_live = self._paths.live.__contains__
        visit_number = visitor_of_numbers(pending, self._paths)
        takes_numbers = self._takes_numbers
        for node in nodes:
            g = pending.pop(node, None)
            if g is None:
                continue
            if (
                takes_numbers
                and type(g) is float
                and type(node) is OpNode
                and node.freed <= most_freed
            ):
                if node in ends:
                    found[node] = g
                if visit_number(node, g):
                    visited.append(node)
                    continue
            hooks = node.hooks
            if hooks:
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
            if hooks:
                g = hooked.about_to_go(hooks, g, recorded)
            if not passes:
                if hooks:
                    hooked.left(hooks, node, [None] * len(wanted), g, recorded)
                continue
            if node.freed > most_freed and node.saves:
                raise freed(node)
            visited.append(node)
            pulled = pull(node, g, wanted)
            if _has_become_nan(node, g, pulled):
                pulled = self.reached(node, g, wanted, pull)
            if hooks:
                pulled = hooked.left(hooks, node, pulled, g, recorded)
            if checks:
                _refuse_nan(node, pulled)
            for under, index, c in zip(node.edges, node.outputs, pulled, strict=True):
                if c is not None:
                    add(pending, under, index, c)

    def reached(self, node: Node, g: Any, wanted: Sequence[bool], pull: Pull) -> Sequence[Any]:
        """The cotangents that a node passes on beside an infinite slope: zeros that contribute to
        no root add nothing.
        """
        self._reach = self._reach or _reach(self._roots, self._paths)
        return self._reach.pull(node, g, wanted, pull)


def add(pending: dict[Any, Any], node: Any, index: int, c: Any) -> None:
    """Add the cotangent of a result of a node to those that have arrived."""
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


def pulled_recorded(node: Any, g: Any, wanted: Sequence[bool], *still: Any) -> Sequence[Any]:
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


def freed(node: Node) -> RunError:
    """The error for a node whose saved values an earlier pass has freed."""
    return run_error(
        "backward-twice",
        f"`backward` needs values that {node.name()} saved and an earlier `backward` has freed",
        help="pass retain_graph=True to the first `backward`",
    )
