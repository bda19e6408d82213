"""Ops along several directions at once, which only compiled programs name: their arrays have the
directions in front, as a batch has them in a pass that is interpreted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, op
from gradcli.engine.values import memory
from gradcli.engine.values.batch import Batch
from gradcli.engine.values.data import Data, np, shape_of

Known: TypeAlias = Sequence[tuple[str, Any]]


def _along(*args: Any, of: str, wide: Sequence[bool], known: Known = ()) -> Any:
    given = [Batch(a) if w else a for a, w in zip(args, wide, strict=True)]
    found = given[wide.index(True)].apply(ops[of], given, dict(known))
    return tuple([x.data for x in found]) if isinstance(found, tuple) else found.data


along_directions: Op = op(
    "along_directions",
    args=("*tensors",),
    params={"of": REQUIRED, "wide": REQUIRED, "known": ()},
    doc="Results of the op `of`, with parameters, along each direction, of arguments that have a "
    "value for each, which are `wide`, and of others.",
    array=_along,
)

repeated: Op = op(
    "repeated",
    params={"count": REQUIRED},
    doc="The input along each of several directions.",
    array=lambda x, count: np.broadcast_to(x, (count, *shape_of(x))),
)

regarded: Op = op(
    "regarded",
    doc="The same array: what goes along several directions as one value, or such a value as that.",
    source="identity",
    array=lambda x: x,
)


def _rows(x: Any, rows: int, point: Sequence[int], value: Sequence[int]) -> Data:
    return np.concatenate([np.broadcast_to(x, (rows, *point))]).reshape((*value, *point))


rows_block: Op = op(
    "rows_block",
    params={"rows": REQUIRED, "point": REQUIRED, "value": REQUIRED},
    doc="The derivatives of a value of the shape `value` by one of the shape `point`, by rows.",
    array=_rows,
    shape=lambda x, rows, point, value: (*value, *point),
    layout=memory.as_made,
)


def _columns(x: Data, start: int, stop: int, point: Sequence[int]) -> Data:
    part = np.moveaxis(np.concatenate([x])[start:stop], 0, -1)
    return part.reshape((*x.shape[1:], *point))


columns_block: Op = op(
    "columns_block",
    params={"start": REQUIRED, "stop": REQUIRED, "point": REQUIRED},
    doc="The derivatives of a value by one of the shape `point`, from some of all columns.",
    array=_columns,
    shape=lambda x, start, stop, point: (*x[1:], *point),
    layout=memory.as_made,
)
