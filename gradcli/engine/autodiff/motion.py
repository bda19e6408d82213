"""Marks of the elements that move, asked for when a tangent or cotangent has become nan.

Beside an infinite slope, a tangent of zero gives nan. That is right if the zero was computed, as
that of x * x at 0 is. An element that no input moves has no part in the derivative, and its zero
must not give nan. The same holds for cotangents: one that `where` has not chosen has no part, that
of sqrt(x) in sqrt(x) ** 2 at 0 was computed. The numbers cannot tell the two zeros apart. So marks
follow the graph beside the tangents, or back beside the cotangents. A mark is zero if the element
does not move or has no part, else a number above zero that differs between elements, so that marks
do not cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.autodiff.paths import Paths
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.rules import has_no_zero, plus
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import OpNode, Tensor, node_of
from gradcli.engine.values.batch import Batch, has_nan
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import np, shape_of

Push: TypeAlias = Callable[[Node, Sequence[Any]], Any]
Pull: TypeAlias = Callable[..., Sequence[Any]]

_TURN = 0.6180339887498949  # its multiples are spread evenly in 0 ... 1


class Motion:
    """The marks of the nodes that a pass has visited.

    Args:
        seeds: Nodes of inputs with their tangents.
        visited: The nodes that the pass has visited, the oldest first.
    """

    def __init__(self, seeds: Mapping[Node, Any], visited: Iterable[Node]) -> None:
        self._marks = {node: _of_seed(dot) for node, dot in seeds.items()}
        for node in visited:
            self.follow(node)

    def follow(self, node: Node) -> None:
        """Mark the moving elements of a node's value."""
        marks = under(node, self._marks)
        if all(mark is None for mark in marks):
            return
        mark = _moving(node, marks)
        if node in self._marks:
            mark = ops.add(self._marks[node], mark)
        self._marks[node] = _spread(mark)

    def push(self, node: Node, dots: Sequence[Any], push: Push) -> Any:
        """The tangent of a node's value, to which only what moves has contributed."""
        if not node.takes_batches:  # the program's own rule, which is called once
            return push(node, dots)
        total: Any = None
        marks = under(node, self._marks)
        for i, dot in enumerate(dots):
            if dot is None or marks[i] is None:
                continue
            part = push(node, _only(i, dots))
            if part is not None:
                part = _where_marked(part, _moving(node, _only(i, marks)), 0.0)
                if has_nan(part):
                    far, rest = ([f(d) for d in dots] for f in (_far, _near))
                    mark = _moving(node, _only(i, far))
                    part = _where_marked(part, mark, push(node, _only(i, rest)))
                total = part if total is None else plus(total, part)
        return total


class Reach:
    """Marks of the nodes that a pass back has visited: which values contribute to its roots. They
    are made when nan asks for them, as far as the pass has come.

    Args:
        roots: Nodes, which of their results is meant, and the cotangents of these.
        paths: The paths of the pass.
    """

    def __init__(self, roots: Iterable[tuple[Node, int, Any]], paths: Paths) -> None:
        self._marks: dict[Node, Any] = {}
        self._live = paths.live
        self._whole = paths.whole
        self._ahead = reversed(paths.order)
        self._last: Node | None = None
        for node, index, g in roots:
            self._add(node, index, _of_seed(g))

    def _advance(self, node: Node) -> None:
        """Follow the nodes that a pass visits before this one."""
        marks = self._marks
        if self._last is not None:
            self._follow(self._last, marks.get(self._last))
        for above in self._ahead:
            if above is node:
                break
            mark = marks.get(above)
            if mark is not None:
                self._follow(above, mark)
        self._last = node

    def _follow(self, node: Node, mark: Any) -> None:
        """Mark what contributes to a node's value, on the paths of the pass."""
        if mark is None or (type(mark) is float and self._follow_number(node, mark)):
            return
        wanted = [edge in self._live for edge in node.edges]
        for edge, index, each in zip(
            node.edges, node.outputs, _reaching(node, mark, wanted), strict=True
        ):
            if edge is not None and each is not None:
                self._add(edge, index, _spread(each))

    def _follow_number(self, node: Node, mark: float) -> bool:
        """Mark the numbers that contribute to a number of an element-wise op, by slopes that are
        not zero. Returns false and does nothing if there is another slope or value.
        """
        if type(node) is not OpNode or type(node.out) is not float:
            return False
        partials: Sequence[Any] | None = node.op.derivatives.partials
        if partials is None:
            return False
        reached = []
        for under, partial in zip(node.edges, partials):  # noqa: B905  # a hot loop
            if under is None or partial is None or not (self._whole or under in self._live):
                continue
            slope = (
                partial if type(partial) is float else partial(node.out, *node.data, **node.params)
            )
            if type(slope) is not float or not slope or type(under.like) is tuple:
                return False
            reached.append(under)
        for under in reached:
            self._marks[under] = mark
        return True

    def pull(self, node: Any, g: Any, wanted: Sequence[bool], pull: Pull) -> Sequence[Any]:
        """The cotangents of an op's operands, with contributions of marked elements only. Nodes
        come in the order of the pass.
        """
        if node.op.derivatives.partials is not None:
            return pull(node, g, wanted, self._still(node, g))
        self._advance(node)
        mark, none = self._marks.get(node), [None] * len(wanted)
        marks = none if mark is None else _reaching(node, mark, wanted)
        pulled = map(_where_marked, pull(node, g, wanted), marks, [0.0] * len(wanted))
        far = _reaching(node, _far(g), wanted)
        return [*map(_where_marked, pulled, far, pull(node, _near(g), wanted))]

    def _still(self, node: Any, g: Any) -> Sequence[Any]:
        """Where the cotangents of the operands of an element-wise op cannot but be zero. A value
        whose cotangent is not zero has a part, so that marks are made for zeros alone.
        """
        idle: Sequence[Any] = node.idle()
        if has_no_zero(g):
            return idle
        self._advance(node)
        still = ops.eq(self._marks.get(node, 0.0), 0.0)
        return [ops.logical_or(still, each) for each in idle]

    def _add(self, node: Node, index: int, mark: Any) -> None:
        before = self._marks.get(node)
        if type(node.like) is tuple:
            marks = [None] * len(node.like) if before is None else before
            marks[index] = mark if marks[index] is None else ops.add(marks[index], mark)
            self._marks[node] = marks
        else:
            self._marks[node] = mark if before is None else ops.add(before, mark)


def _moving(node: Node, marks: Sequence[Any]) -> Any:
    """The marks of a node's value, from those of its operands."""
    return _cleared(node.moving(marks), marks)


def _reaching(node: Node, mark: Any, wanted: Sequence[bool]) -> Sequence[Any]:
    """The marks of a node's operands, from those of its value."""
    given = mark if type(mark) in (list, tuple) else [mark]
    return [_cleared(each, given) for each in node.reaching(mark, wanted)]


def _cleared(mark: Any, given: Sequence[Any]) -> Any:
    """Marks made of given ones. A rule that overflows, as that of `matrix_exp` may, makes nan even
    of a direction that marks nothing; that marks nothing there either.
    """
    if type(mark) is tuple:
        return tuple(_cleared(part, given) for part in mark)
    batches = [data_of(m) for m in given if m is not None]
    if not has_nan(mark) or not all(isinstance(m, Batch) for m in (mark, *batches)):
        return mark
    marks = np.any([m.data.reshape(m.count, -1).any(axis=1) for m in batches], axis=0)
    return Batch(np.where(marks.reshape(-1, *(1,) * mark.ndim), mark.data, 0.0))


def under(node: Node, found: Mapping[Node, Any]) -> list[Any]:
    """The marks found for each value from which a node was made."""
    results = []
    for edge, index in zip(node.edges, node.outputs, strict=True):
        result = None if edge is None else found.get(edge)
        results.append(result[index] if type(result) is tuple else result)
    return results


def _only(i: int, parts: Sequence[Any]) -> list[Any]:
    return [part if k == i else None for k, part in enumerate(parts)]


def _of_seed(dot: Any) -> Any:
    if isinstance(dot, Tensor) and node_of(dot) is not None:
        return _spread(np.ones(dot.shape))
    return _spread(data_of(dot))


def _spread(mark: Any) -> Any:
    """Marks that differ from element to element, where there are any."""
    if type(mark) is tuple:
        return tuple(map(_spread, mark))
    if mark is None or type(mark) is float:
        return mark and 1.0
    size = shape_of(mark)
    numbers = 1.0 + np.arange(np.prod(size, dtype=int)).reshape(size) * _TURN % 1.0
    return ops.where(ops.ne(mark, 0.0), numbers, 0.0)


def _where_marked(part: Any, mark: Any, other: Any) -> Any:
    """A tangent or cotangent. Elements that are nan without a mark are taken from `other`."""
    if type(part) is tuple:
        marks = (None,) * len(part) if mark is None else mark
        others = other if type(other) is tuple else (other,) * len(part)
        return tuple(map(_where_marked, part, marks, others))
    if part is None:
        return None
    lost = ops.isnan(data_of(part))
    if mark is not None:
        lost = ops.logical_and(lost, ops.eq(mark, 0.0))
    return ops.where(lost, other, part)


def _near(x: Any) -> Any:
    """A tangent or cotangent with zeros in place of non-finite elements."""
    if type(x) in (list, tuple):
        return [*map(_near, x)]
    return None if x is None else ops.where(ops.isfinite(data_of(x)), x, 0.0)


def _far(x: Any) -> Any:
    """Marks of the non-finite elements."""
    if type(x) in (list, tuple):
        return [*map(_far, x)]
    return None if x is None else _spread(ops.where(ops.isfinite(data_of(x)), 0.0, 1.0))
