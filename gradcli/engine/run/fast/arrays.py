"""The fast path for element-wise ops on tensors of float64: steps of loops on vectors.

What is done here is what `call` and `apply` do for values of any kind, without looking at what
cannot be: a test holds the two ways together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

from gradcli.engine.ops.direct import one_call
from gradcli.engine.ops.extent import FEW, check_result
from gradcli.engine.ops.op import Op
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Node, Site, Version
from gradcli.engine.tape.tensor import (
    Number,
    OpNode,
    Tensor,
    alike,
    counter,
    node_of,
    version_of,
)
from gradcli.engine.values.carrier import Like, like_of
from gradcli.engine.values.data import np

Function: TypeAlias = Callable[..., Any]
"""Does an op, called with the session, the site and the arguments."""

_FIRST = (0,)
_FIRSTS = (0, 0)
_UNCHANGED = (0,)
_EXACT = 2**53  # ints below are floats as they are


def unary(op: Op, general: Function) -> Function:
    """The op of one argument; `general` does it for others than these."""
    function = None if op.derivatives.partials is None else one_call(op)
    if function is None:
        return general
    array, double = np.ndarray, np.dtype(np.float64)
    (keeps,), (guards,) = _asked(op, (True,))
    pulls = op.cotangents((True,))
    finish = _finish(op)
    params = op.params

    def call(session: Session, site: Site | None, x: Any) -> Any:
        if type(x) is not Tensor:
            return general(session, site, x)
        a = x.data
        if type(a) is not array or a.dtype is not double or session.keep:
            return general(session, site, x)
        shape = a.shape
        if len(shape) != 1 and not (shape and a.flags.c_contiguous):
            return general(session, site, x)
        if a.size > FEW:
            check_result(op, (a,), params)
        result = Tensor(function(a))
        under = x.node if x.view is None else node_of(x)
        if under is None or not session.recording:
            return result
        like = under.like
        if type(like) is not Like or like.shape != shape or like.dtype != "float64":
            like = Like(shape, "float64")  # `x.data = ...` can have made it another
        outputs = _FIRST if x.index == 0 else (x.index,)
        saved = (x,) if keeps else (like,)
        node = alike(op, (under,), outputs, saved, params, under.visible, site, like, pulls)
        if keeps:
            node.data = (a,)
            (x.version or counter(x)).keep(node, 0)
        if guards:
            node.guards = (x,)
            node.versions = _UNCHANGED if x.version is None else (x.version.count,)
        if finish is not None:
            finish(node, result)
        result.node = node
        return result

    return call


def binary(op: Op, general: Function) -> Function:
    """The op of two arguments, of which one has dimensions."""
    function = None if op.derivatives.partials is None else one_call(op)
    if function is None:
        return general
    array, double = np.ndarray, np.dtype(np.float64)
    ways = [_way(op, connected) for connected in ((True, True), (True, False), (False, True))]
    both, of_left, of_right = ways
    finish = _finish(op)
    params = op.params

    def call(session: Session, site: Site | None, x: Any, y: Any) -> Any:
        left: Node | None = None
        right: Node | None = None
        a, b, first, second = x, y, 0, 0
        if type(x) is Tensor or type(x) is Number:
            a, first = x.data, x.index
            left = x.node if x.view is None else node_of(x)
        elif type(x) is not float and not (type(x) is int and -_EXACT < x < _EXACT):
            return general(session, site, x, y)
        if type(y) is Tensor or type(y) is Number:
            b, second = y.data, y.index
            right = y.node if y.view is None else node_of(y)
        elif type(y) is not float and not (type(y) is int and -_EXACT < y < _EXACT):
            return general(session, site, x, y)
        sums: tuple[Any, Any] | None = None  # shapes to which cotangents are summed
        if type(a) is array:
            shape = a.shape
            if a.dtype is not double or not shape:
                return general(session, site, x, y)
            if type(b) is array:
                if b.dtype is not double or not b.shape:
                    return general(session, site, x, y)
                if b.shape != shape:
                    sums = shape, b.shape
            elif type(b) is not float and b is not y:
                return general(session, site, x, y)
            elif right is not None:
                sums = shape, ()
        elif type(b) is array and (type(a) is float or a is x):
            shape = b.shape
            if b.dtype is not double or not shape:
                return general(session, site, x, y)
            if left is not None:
                sums = (), shape
        else:
            return general(session, site, x, y)
        if session.keep or not (
            (type(a) is not array or a.ndim == 1 or a.flags.c_contiguous)
            and (type(b) is not array or b.ndim == 1 or b.flags.c_contiguous)
        ):
            return general(session, site, x, y)
        if sums is not None:
            if () not in sums:
                try:
                    shape = np.broadcast_shapes(*sums)
                except ValueError:
                    return general(session, site, x, y)
            sums = _differing(sums, shape)
        if prod(shape) > FEW:
            check_result(op, (a, b), params)
        result = Tensor(function(a, b))
        if (left is None and right is None) or not session.recording:
            return result
        keeps_x, keeps_y, guards_x, guards_y, pulls = (
            of_right if left is None else of_left if right is None else both
        )
        like: Any = None if left is None else left.like
        if type(like) is not Like or like.shape != shape or like.dtype != "float64":
            like = Like(shape, "float64")  # `x.data = ...` can have made it another
        node = alike(
            op,
            (left, right),
            _FIRSTS if first == 0 == second else (first, second),
            (
                x if keeps_x or a is x else like if sums is None else like_of(a),
                y if keeps_y or b is y else like if sums is None else like_of(b),
            ),
            params,
            (left is not None and left.visible) or (right is not None and right.visible),
            site,
            like,
            pulls,
        )
        node.sums = sums
        keeps_x, keeps_y = keeps_x and a is not x, keeps_y and b is not y
        if keeps_x or keeps_y:
            saved_x, saved_y = node.args
            node.data = (a if keeps_x else saved_x, b if keeps_y else saved_y)
            if keeps_x and type(a) is array:
                (x.version or counter(x)).keep(node, 0)
            if keeps_y and type(b) is array:
                (y.version or counter(y)).keep(node, 1)
        if guards_x and type(x) is Tensor:
            if guards_y and type(y) is Tensor:
                node.guards = (x, y)
                node.versions = (version_of(x), version_of(y))
            else:
                node.guards = (x,)
                node.versions = (version_of(x),)
        elif guards_y and type(y) is Tensor:
            node.guards = (y,)
            node.versions = (version_of(y),)
        if finish is not None:
            finish(node, result)
        result.node = node
        return result

    return call


def _differing(sums: tuple[Any, Any], shape: tuple[int, ...]) -> tuple[Any, Any] | None:
    """The shapes of the arguments that are not that of the result."""
    left, right = (None if size == shape else size for size in sums)
    return None if left is None is right else (left, right)


def _way(op: Op, connected: tuple[bool, bool]) -> tuple[bool, bool, bool, bool, Function]:
    """What is asked where these arguments are connected, and how their cotangents are made."""
    keeps, guards = _asked(op, connected)
    return (keeps[0], keeps[1], guards[0], guards[1], op.cotangents(connected))


def _asked(op: Op, connected: tuple[bool, ...]) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Which arguments the rules of the connected ones read, and which they refuse changes of."""
    keeps = _columns(op.tape.reads, connected)
    return keeps, keeps if op.tape.guards is None else _columns(op.tape.guards, connected)


def _columns(rows: Sequence[Sequence[bool]], connected: Sequence[bool]) -> tuple[bool, ...]:
    asked = [row for row, wanted in zip(rows, connected, strict=True) if wanted]
    return tuple([any(column) for column in zip(*asked, strict=True)])


def _finish(op: Op) -> Callable[[OpNode, Tensor], None] | None:
    """How a node takes down a result that its rules read or that it refuses changes of."""
    saves, guards = op.tape.saves_out, op.tape.guards_out
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
