"""The short way for element-wise ops on tensors of float64 of one shape: steps of loops on vectors.

What is done here is what `call` and `apply` do for values of any kind, without looking at what
cannot be: a test holds the two ways together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from gradcli.engine.ops.direct import one_call
from gradcli.engine.ops.extent import FEW
from gradcli.engine.ops.op import Op
from gradcli.engine.run.session import Session
from gradcli.engine.tape.graph import Node, Site, Version
from gradcli.engine.tape.tensor import OpNode, Tensor, alike
from gradcli.engine.values.carrier import Like
from gradcli.engine.values.data import np
from gradcli.engine.values.limits import check_memory

Function: TypeAlias = Callable[..., Any]
"""Does an op, called with the session, the site and the arguments."""

_FIRST = (0,)
_FIRSTS = (0, 0)
_UNCHANGED = (0,)
_BOTH_UNCHANGED = (0, 0)


def unary(op: Op, general: Function) -> Function:
    """The op of one argument; `general` does it for others than these."""
    function = None if op.partials is None else one_call(op)
    if function is None:
        return general
    array, double = np.ndarray, np.dtype(np.float64)
    (keeps,), (guards,) = _asked(op, (True,))
    pulls = op.cotangents((True,))
    finish = _finish(op)
    params = op.params

    def call(session: Session, site: Site | None, x: Any) -> Any:
        if type(x) is not Tensor or x.view is not None:
            return general(session, site, x)
        a = x.data
        if type(a) is not array or a.dtype is not double or session.keep:
            return general(session, site, x)
        shape = a.shape
        if len(shape) != 1 and (not shape or not a.flags.c_contiguous):
            return general(session, site, x)
        if a.size > FEW:
            check_memory(shape)
        result = Tensor(function(a))
        under = x.node
        if under is None or not session.recording:
            return result
        like = under.like
        if type(like) is not Like or like.shape != shape or like.dtype != "float64":
            like = Like(shape, "float64")  # `x.data = ...` can have made it another
        node = alike(
            op,
            (under,),
            _FIRST if x.index == 0 else (x.index,),
            (x,) if keeps else (like,),
            params,
            under.visible,
            site,
            like,
            pulls,
        )
        version = x.version
        if keeps:
            node.data = (a,)
            if version is None:
                version = x.version = Version()
            version.keep(node, 0)
        if guards:
            node.guards = (x,)
            node.versions = _UNCHANGED if version is None else (version.count,)
        if finish is not None:
            finish(node, result)
        result.node = node
        return result

    return call


def binary(op: Op, general: Function) -> Function:
    """The op of two arguments, of which one may be a float."""
    function = None if op.partials is None else one_call(op)
    if function is None:
        return general
    array, double = np.ndarray, np.dtype(np.float64)
    ways = {(a, b): _way(op, (a, b)) for a, b in ((True, True), (True, False), (False, True))}
    both, of_left, of_right = ways.values()
    finish = _finish(op)
    params = op.params

    def call(session: Session, site: Site | None, x: Any, y: Any) -> Any:
        left: Node | None = None
        right: Node | None = None
        a, b, first, second = x, y, 0, 0
        if type(x) is Tensor:
            a, left, first = x.data, x.node, x.index
            if x.view is not None or type(a) is not array or a.dtype is not double:
                return general(session, site, x, y)
        elif type(x) is not float:
            return general(session, site, x, y)
        if type(y) is Tensor:
            b, right, second = y.data, y.node, y.index
            if y.view is not None or type(b) is not array or b.dtype is not double:
                return general(session, site, x, y)
            shape = b.shape
            if a is not x and a.shape != shape:
                return general(session, site, x, y)
        elif type(y) is float and a is not x:
            shape = a.shape
        else:
            return general(session, site, x, y)
        if session.keep or (
            len(shape) != 1
            and (
                not shape
                or not (a is x or a.flags.c_contiguous)
                or not (b is y or b.flags.c_contiguous)
            )
        ):
            return general(session, site, x, y)
        out = function(a, b)
        if out.size > FEW:
            check_memory(shape)
        result = Tensor(out)
        if (left is None and right is None) or not session.recording:
            return result
        keeps_x, keeps_y, guards_x, guards_y, pulls = (
            of_right if left is None else of_left if right is None else both
        )
        visible: bool = False
        like: Any = None
        if left is not None:
            visible, like = left.visible, left.like
        if type(like) is not Like or like.shape != shape or like.dtype != "float64":
            like = Like(shape, "float64")  # `x.data = ...` can have made it another
        keeps_x, keeps_y = keeps_x and a is not x, keeps_y and b is not y
        node = alike(
            op,
            (left, right),
            _FIRSTS if first == 0 == second else (first, second),
            (x if keeps_x or a is x else like, y if keeps_y or b is y else like),
            params,
            visible or (right is not None and right.visible),
            site,
            like,
            pulls,
        )
        if keeps_x or keeps_y:
            node.data = (a if keeps_x or a is x else like, b if keeps_y or b is y else like)
            if keeps_x:
                if x.version is None:
                    x.version = Version()
                x.version.keep(node, 0)
            if keeps_y:
                if y.version is None:
                    y.version = Version()
                y.version.keep(node, 1)
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


def _count(x: Tensor) -> int:
    return 0 if x.version is None else x.version.count


def _way(op: Op, connected: tuple[bool, bool]) -> tuple[bool, bool, bool, bool, Function]:
    """What is asked where these arguments are connected, and how their cotangents are made."""
    keeps, guards = _asked(op, connected)
    return (keeps[0], keeps[1], guards[0], guards[1], op.cotangents(connected))


def _asked(op: Op, connected: tuple[bool, ...]) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Which arguments the rules of the connected ones read, and which they refuse changes of."""
    keeps = _columns(op.reads, connected)
    return keeps, keeps if op.guards is None else _columns(op.guards, connected)


def _columns(rows: Sequence[Sequence[bool]], connected: Sequence[bool]) -> tuple[bool, ...]:
    asked = [row for row, wanted in zip(rows, connected, strict=True) if wanted]
    return tuple([any(column) for column in zip(*asked, strict=True)])


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
