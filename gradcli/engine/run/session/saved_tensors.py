"""The values that a node of the graph has saved, as `grad_fn._saved_self` shows them."""

from __future__ import annotations

from typing import Any

from gradcli.engine.tape.graph import LIVE, Node
from gradcli.engine.tape.tensor import OpNode, Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS
from gradcli.errors import run_error

PREFIX = "_saved_"
NAMES = frozenset(
    f"{PREFIX}{name}"
    for name in ("self", "other", "result", "exponent", "dim", "keepdim", "mat1", "mat2", "tensors")
)
_PLACES = {"self": 0, "other": 1, "exponent": 1, "mat1": 1, "mat2": 2}


def saved(node: Node, name: str) -> Any:
    """`grad_fn._saved_NAME`: a saved argument, parameter or result of a node's op."""
    if not isinstance(node, OpNode):
        raise run_error("unknown-attribute", f"{node.name()} has no `{name}`")
    if node.freed != LIVE:
        raise run_error(
            "backward-twice",
            f"values that {node.name()} saved have been freed by an earlier `backward`",
            help="pass retain_graph=True to it",
        )
    what = name.removeprefix(PREFIX)
    if what in node.params:
        return node.params[what]
    if what == "result":
        made = node.out if node.out is not None else _again(node)
        return Tensor(made) if not isinstance(made, Tensor) else made
    place = _PLACES.get(what, len(node.args))
    if place >= len(node.args):
        raise run_error("unknown-attribute", f"{node.name()} has no `{name}`")
    return _argument(node, place)


def _argument(node: OpNode, place: int) -> Any:
    """An argument as the rules keep it, None if none of them reads it."""
    kept = node.args[place]
    if isinstance(kept, Tensor) or type(kept) in NUMBERS:
        return kept
    return Tensor(kept) if hasattr(kept, "flags") else None


def _again(node: OpNode) -> Any:
    """The result, from the arguments: where rules read these it is not kept."""
    given = [_argument(node, i) for i in range(len(node.args))]
    if any(x is None for x in given):
        return None
    return node.op.evaluate([data_of(x) for x in given], node.params)
