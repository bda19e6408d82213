"""Check the memory and work that an op would take before it is done."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.engine.values.data import SCALARS, Data, np, shape_of
from gradcli.engine.values.limits import check_memory, check_work
from gradcli.errors import RunError

if TYPE_CHECKING:  # making a protocol takes as long as importing a room
    from typing import Protocol

    from gradcli.engine.values.entry import Memory, Static

    class Extending(Protocol):
        """Computes the shape of an op's result."""

        name: str
        elementwise: bool
        statics: Static
        memory: Memory


FEW = 1 << 16
"""Elements up to which a result is no matter of memory."""

_MANY = 1 << 13  # elements; fewer are no matter of memory


def check_result(op: Extending, args: Sequence[Data], params: Mapping[str, Any]) -> None:
    """Refuse an op whose results would not fit into memory, or that reads a broadcast view that
    would not. An op that returns a view does no work and is never refused.

    Raises:
        LimitError: If the op is refused.
    """
    if op.memory.view:
        return
    shapes = []
    for a in args:
        if type(a) not in SCALARS:
            shapes.append(a.shape)
            if a.size >= _MANY and 0 in a.strides:
                check_work(a.shape, op.name)
    if op.elementwise:
        if len(set(shapes)) == 1:
            check_memory(shapes[0])
        else:
            _check_broadcast(shapes)
    elif op.statics.shape is not None:
        _check_shape(op.statics.shape, args, params)


def _check_broadcast(shapes: Sequence[Sequence[int]]) -> None:
    try:
        size = np.broadcast_shapes(*shapes)
    except ValueError:
        return  # the op says what does not fit
    check_memory(size)


def _check_shape(rule: Any, args: Sequence[Data], params: Mapping[str, Any]) -> None:
    try:
        found = rule(*(None if a is None else shape_of(a) for a in args), **params)
    except RunError:
        return  # the op says what is wrong
    if type(found) is list:
        check_memory((sum(map(math.prod, found)),))
    else:
        check_memory(found)
