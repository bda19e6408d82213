"""The short way for element-wise ops on tensors of float64 of one shape: steps of loops on vectors.

What is done here is what `call` and `apply` do for values of any kind, without looking at what
cannot be: a test holds the two ways together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from gradcli.engine.ops.op import Op
from gradcli.engine.run.session import Session
from gradcli.engine.tape.graph import Node, Site, Version
from gradcli.engine.tape.tensor import AlikeNode, OpNode, Tensor
from gradcli.engine.values.carrier import Like

Function: TypeAlias = Callable[..., Any]
"""Does an op, called with the session, the site and the arguments."""


def unary(op: Op, general: Function) -> Function:
    """The op of one argument; `general` does it for others than these."""
    if op.partials is None:
        return general
    keeps, guards = _asked(op, (True,))
    kept, guarded = keeps == (True,), guards == (True,)
    finish = _finish(op)

    def call(session: Session, site: Site | None, x: Any) -> Any:
        if type(x) is not Tensor or x.view is not None or session.keep:
            return general(session, site, x)
        data = x.data
        out = (op._direct or op.direct)(data)
        if out is None or (out.ndim > 1 and not data.flags.c_contiguous):
            return general(session, site, x)
        result = Tensor(out)
        under = x.node
        if under is None or not session.recording:
            return result
        like = Like(out.shape, "float64")
        saved = x if kept else like
        node = AlikeNode(op, (under,), (x.index,), (saved,), op.params, under.visible, site)
        node.like = like
        if kept:
            node.data = (data,)
            _keep(node, x, 0)
        if guarded:
            node.guards = (x,)
            node.versions = (_count(x),)
        if finish is not None:
            finish(node, result)
        result.node = node
        return result

    return call


def binary(op: Op, general: Function) -> Function:
    """The op of two arguments, of which one may be a float."""
    if op.partials is None:
        return general
    asked = {ways: _asked(op, ways) for ways in ((True, False), (False, True), (True, True))}
    finish = _finish(op)

    def call(session: Session, site: Site | None, x: Any, y: Any) -> Any:
        left: Node | None = None
        right: Node | None = None
        a, b, first, second = x, y, 0, 0
        if type(x) is Tensor:
            if x.view is not None:
                return general(session, site, x, y)
            a, left, first = x.data, x.node, x.index
            if type(a) is float:  # of which the other's shape makes many
                return general(session, site, x, y)
        if type(y) is Tensor:
            if y.view is not None:
                return general(session, site, x, y)
            b, right, second = y.data, y.node, y.index
            if type(b) is float:
                return general(session, site, x, y)
        out = None if session.keep else (op._direct or op.direct)(a, b)
        if out is None or (out.ndim > 1 and not _in_order(a, b)):
            return general(session, site, x, y)
        result = Tensor(out)
        if (left is None and right is None) or not session.recording:
            return result
        (keeps_x, keeps_y), (guards_x, guards_y) = asked[left is not None, right is not None]
        visible = (left is not None and left.visible) or (right is not None and right.visible)
        like = Like(out.shape, "float64")
        with_x, with_y = keeps_x or a is x, keeps_y or b is y
        saved = (x if with_x else like, y if with_y else like)
        node = AlikeNode(op, (left, right), (first, second), saved, op.params, visible, site)
        node.like = like
        if keeps_x or keeps_y:
            node.data = (a if with_x else like, b if with_y else like)
            if keeps_x and a is not x:
                _keep(node, x, 0)
            if keeps_y and b is not y:
                _keep(node, y, 1)
        if guards_x and a is not x:
            if guards_y and b is not y:
                node.guards = (x, y)
                node.versions = (_count(x), _count(y))
            else:
                node.guards = (x,)
                node.versions = (_count(x),)
        elif guards_y and b is not y:
            node.guards = (y,)
            node.versions = (_count(y),)
        if finish is not None:
            finish(node, result)
        result.node = node
        return result

    return call


def _in_order(a: Any, b: Any) -> bool:
    return all(type(x) is float or x.flags.c_contiguous for x in (a, b))


def _count(x: Tensor) -> int:
    return 0 if x.version is None else x.version.count


def _keep(node: OpNode, x: Tensor, place: int) -> None:
    version = x.version
    if version is None:
        version = x.version = Version()
    version.keep(node, place)


@cache
def _asked(op: Op, connected: tuple[bool, ...]) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Which arguments the rules of the connected ones read, and which they refuse changes of."""
    keeps = _columns(op.reads, connected)
    return keeps, keeps if op.guards is None else _columns(op.guards, connected)


def _columns(rows: Sequence[Sequence[bool]], connected: Sequence[bool]) -> tuple[bool, ...]:
    asked = [row for row, wanted in zip(rows, connected, strict=True) if wanted]
    return tuple([any(column) for column in zip(*asked, strict=True)])


@cache
def _finish(op: Op) -> Callable[[OpNode, Tensor], None] | None:
    """How a node takes down a result that its rules read or that it refuses changes of."""
    saves, guards = op.saves_out, op.guards_out
    if not saves and not guards:
        return None

    def finish(node: OpNode, result: Tensor) -> None:
        version = result.version = Version()
        if saves:
            node.out = result.data
            version.keep(node, -1)
            node.held = (version,)
        if guards:
            node.cells = (version,)
            node.versions = (*(node.versions or ()), 0)

    return finish
