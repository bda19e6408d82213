"""All that is recorded of an op, in a comparable form."""

import numpy as np

from gradcli.engine.tape.tensor import OpNode, PlannedNode, Tensor
from gradcli.engine.values.carrier import Like


def plain(x):
    """A comparable form with all data of a value."""
    if isinstance(x, Like):
        return "like", x.shape, x.dtype
    if isinstance(x, np.ndarray):
        return x.shape, x.strides, x.dtype, x.tobytes()
    return x if isinstance(x, Tensor) or x is None else (type(x), repr(x))


def told(result, args, before):
    """The result of an op, and all that was recorded for it."""
    node = result.node
    made = [type(result), plain(result.data), shown(result.view), kept(result)]
    made.append([kept(x) - count for x, count in zip(args, before, strict=True)])
    if node is None:
        return made
    assert isinstance(node, OpNode)
    made += [node.op, node.edges, node.outputs, [*map(plain, node.args)], [*map(plain, node.data)]]
    made += [node.params, node.visible, plain(node.like), plain(node.out), node.site, node.saves]
    made += [node.guards, node.versions, len(node.cells), node.name()]
    wanted = [under is not None for under in node.edges]
    for g in cotangents(result.data):
        pulled = node.pull(g, wanted)
        made.append([*map(plain, pulled)])
        if isinstance(node, PlannedNode):
            assert [*map(plain, node.pull_all(g, None, 0))] == made[-1]
    return made


def cotangents(x):
    """Some cotangents for a result; numbers for one that takes a fast path."""
    if type(x) is float:
        return 1.0, -2.5, 0.1
    some = np.linspace(-1.7, 2.3, x.size).reshape(x.shape)
    return np.ones(x.shape), some, np.full(x.shape, -0.0), np.full(x.shape, np.nan)


def shown(view):
    """The data of a view."""
    return view and (view.parent, view.op, view.params, view.index, view.origin, view.seen)


def kept(x):
    """The number of nodes that have saved a tensor's memory."""
    return len(x.version.keepers) if isinstance(x, Tensor) and x.version is not None else 0
