"""Ops along several directions at once, which only compiled programs name: their arrays have the
directions in front, as a batch has them in a pass that is interpreted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, op
from gradcli.engine.values.batch import Batch
from gradcli.engine.values.data import Data, np, shape_of

Known: TypeAlias = Sequence[tuple[str, Any]]


def _along(*args: Any, of: str, wide: Sequence[bool], known: Known = ()) -> Data:
    given = [Batch(a) if w else a for a, w in zip(args, wide, strict=True)]
    return given[wide.index(True)].apply(ops[of], given, dict(known)).data


along_directions: Op = op(
    "along_directions",
    args=("*tensors",),
    params={"of": REQUIRED, "wide": REQUIRED, "known": ()},
    doc="What the op `of`, with parameters, gives along each direction, of arguments that have a "
    "value for each, which are `wide`, and of others.",
    source="definition",
    array=_along,
    method=False,
)

repeated: Op = op(
    "repeated",
    args=("input",),
    params={"count": REQUIRED},
    doc="The input along each of several directions.",
    source="definition",
    array=lambda x, count: np.broadcast_to(x, (count, *shape_of(x))),
    method=False,
)

merged: Op = op(
    "merged",
    args=("input",),
    doc="The values along all directions as one array.",
    source="definition",
    array=lambda x: x,
    method=False,
)
