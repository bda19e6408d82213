"""Doing an op on tensors, and recording it.

An op is recorded when one of its arguments is connected to a leaf and its result is floating. This
room knows no derivatives; the rules know no recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.engine.tape.graph import AccumulateGrad, Node, Site, Version
from gradcli.engine.tape.tensor import (
    SCALAR,
    Fields,
    Like,
    Number,
    Tensor,
    View,
    array_of,
    data_of,
    like_of,
    node_of,
    version_of,
)
from gradcli.engine.values.data import NUMBERS, SCALARS, Data, dtype_of, is_floating, np
from gradcli.errors import run_error

if TYPE_CHECKING:
    from gradcli.engine.ops.registry import Op


def apply(op: Op, args: Sequence[Any], params: Mapping[str, Any], site: Site | None) -> Any:
    """Do an op on values of which one at least is a tensor; record it where that is wanted.

    Returns:
        A `Number` when every argument is a number, else a `Tensor`; a tuple of them for an op of
        several outputs.
    """
    out, kind = _value(op, args, params)
    if type(out) is tuple:
        return _record_many(op, args, params, out, site)
    result = kind(out)
    if op.differentiable and is_floating(out):
        node = record(op, args, params, site)
        if node is not None:
            _keep_result(node, op, result)
            result.node = node
    if op.view and type(out) not in NUMBERS:
        _share(result, args[0], op, params)
    return result


def unrecorded(op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    """Do an op without recording it, under `no_grad`; views still share their memory."""
    out, kind = _value(op, args, params)
    if type(out) is tuple:
        return named(op, map(Tensor, out))
    result = kind(out)
    if op.view and type(out) not in NUMBERS and _shares(out, args[0]):
        result.version = shared(args[0])
    return result


def named(op: Op, results: Iterable[Any]) -> tuple[Any, ...]:
    """Several results, with their names where the op gives any."""
    return (
        Fields(op.name.removesuffix("_along"), op.fields, results) if op.fields else tuple(results)
    )


def record(
    op: Op, args: Sequence[Any], params: Mapping[str, Any], site: Site | None
) -> Node | None:
    """The node of an op on these arguments, or None where no argument is connected."""
    edges: list[Node | None] = []
    outputs = []
    connected = visible = False
    for a in args:
        node = node_of(a) if isinstance(a, Tensor) else None
        edges.append(node)
        if node is None:
            outputs.append(0)
        else:
            outputs.append(a.index)
            connected = True
            visible = visible or node.visible
    if not connected:
        return None
    saves = op.saves * len(args) if op.variadic else _kept(op, edges)
    saved = tuple(
        a if kept or not isinstance(a, Tensor) else like_of(a)
        for a, kept in zip(args, saves, strict=False)
    )
    node = Node(op, tuple(edges), tuple(outputs), saved, dict(params), visible, site)
    node.versions = tuple(version_of(a) if isinstance(a, Tensor) else 0 for a in saved)
    node.keeps = any(under is not None and under.keeps for under in edges)
    return node


def _kept(op: Op, edges: Sequence[Node | None]) -> Sequence[bool]:
    """Which arguments the rules of the connected ones read."""
    reads = [read for read, under in zip(op.reads, edges, strict=True) if under is not None]
    return reads[0] if len(reads) == 1 else [any(column) for column in zip(*reads, strict=True)]


def apply_inplace(
    op: Op,
    x: Tensor,
    args: Sequence[Any],
    params: Mapping[str, Any],
    site: Site | None,
    *,
    recording: bool,
) -> Tensor:
    """Change `x` to the op's result on `x` and `args`, in place, and return it.

    Raises:
        RunError: If `x` is a leaf that requires grad (or a view of one) and recording is on, if the
            result does not fit into its shape or dtype, or if its memory overlaps itself.
    """
    old = Tensor(x.data, node_of(x), x.index)  # what the rules see as the argument
    args = [_snapshot(a, x) for a in args]
    if recording:
        _refuse_leaf(x)
    out, _ = _value(op, (x, *args), params)
    own = getattr(out, "base", None) is None
    fresh = own and all(out is not a and out is not data_of(a) for a in args)
    _write(x, out, op, old, site, fresh)
    if not recording:
        return x
    node = None
    if op.differentiable and is_floating(x.data):
        node = record(op, (old, *args), params, site)
    if node is not None:
        _keep_result(node, op, x)
    if node is not None or node_of(x) is not None:
        _rebase(x, node, site)
    return x


def _value(op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> tuple[Any, type[Tensor]]:
    kind: type[Tensor] = Number if op.number is not None else Tensor
    data = []
    for a in args:
        if isinstance(a, Tensor):
            if type(a) is Tensor:
                kind = Tensor
            data.append(array_of(a) if op.view else a.data)
        else:
            if type(a) not in SCALARS:
                kind = Tensor
            data.append(a)
    return op.value(data, params), kind


def _keep_result(node: Node, op: Op, result: Tensor) -> None:
    data = result.data
    if type(data) is float:
        node.out = data
        node.like = SCALAR
    else:
        node.like = Like(data.shape, dtype_of(data))
        if op.saves_out or node.keeps:
            node.out = data.copy() if node.keeps else data
    if op.saves_out:
        if result.version is None:
            result.version = Version()
        node.cell = result.version
        node.versions = (*(node.versions or ()), result.version.count)


def _record_many(
    op: Op, args: Sequence[Any], params: Mapping[str, Any], out: tuple[Data, ...], site: Site | None
) -> tuple[Any, ...]:
    results = tuple(map(Tensor, out))
    floating = tuple(map(is_floating, out))
    node = record(op, args, params, site) if op.differentiable and any(floating) else None
    if node is not None:
        node.like = tuple(map(like_of, results))
        if op.saves_out or node.keeps:
            node.out = out
        for i, result in enumerate(results):
            if floating[i]:
                result.node = node
                result.index = i
    if op.view:
        for result in results:
            if _shares(result.data, args[0]):
                result.version = shared(args[0])
    return named(op, results)


def _share(result: Tensor, base: Tensor, op: Op, params: Mapping[str, Any]) -> None:
    if not _shares(result.data, base):
        return
    result.version = shared(base)
    result.view = View(base, op, dict(params), result.version.count)


def _shares(data: Data, base: Tensor) -> bool:
    if type(data) in NUMBERS or type(base.data) in NUMBERS:
        return False
    return data is base.data or bool(np.may_share_memory(data, base.data))


def _counter(x: Tensor) -> Version:
    if x.version is None:
        x.version = Version()
    return x.version


def shared(x: Tensor) -> Version:
    """The version counter of memory on which another tensor will lie, too."""
    version = _counter(x)
    version.shared = True
    return version


def _refuse_leaf(x: Tensor) -> None:
    if type(node_of(x)) is AccumulateGrad:
        raise run_error(
            "leaf-in-place",
            "a leaf tensor that requires grad is changed in place",
            help="put the update under `with no_grad():`, or assign a new tensor",
        )
    view = x.view
    while view is not None:
        if type(view.parent.node) is AccumulateGrad:
            raise run_error(
                "leaf-in-place",
                "a view of a leaf tensor that requires grad is changed in place",
                help="put the update under `with no_grad():`, or change a `clone()` of it",
            )
        view = view.parent.view


def _snapshot(a: Any, x: Tensor) -> Any:
    """An argument as it was, if it lies on the memory that is about to change."""
    if not isinstance(a, Tensor) or not (
        a is x or (a.version is not None and a.version is x.version)
    ):
        return a
    data = a.data if type(a.data) in NUMBERS else a.data.copy()
    return Tensor(data, node_of(a), a.index)


def _write(x: Tensor, out: Data, op: Op, old: Tensor, site: Site | None, fresh: bool) -> None:
    """Put the result `out` into `x`; `fresh` tells that it is no argument of the op."""
    before, after = like_of(x), like_of(out)
    if before.shape != after.shape:
        raise run_error(
            "shape-mismatch",
            f"the result of shape {list(after.shape)} does not fit into the tensor of shape "
            f"{list(before.shape)} that is changed in place",
        )
    if before.dtype != after.dtype and _RANK[after.dtype] > _RANK[before.dtype]:
        raise run_error(
            "dtype-mismatch",
            f"a result of dtype {after.dtype} cannot be put into a tensor of dtype {before.dtype}",
        )
    if type(x.data) in NUMBERS:
        x.data = type(x.data)(out)
    else:
        if any(n > 1 and s == 0 for n, s in zip(x.data.shape, x.data.strides, strict=True)):
            raise run_error(
                "overlapping-memory",
                "several elements of this expanded tensor share one memory place, so it cannot be "
                "changed in place",
                help="change a `clone()` of it",
            )
        version = x.version
        if before.dtype == after.dtype and fresh and (version is None or not version.shared):
            x.data = out  # nobody else looks at the old memory
        else:
            if op.saves[0]:
                old.data = x.data.copy()
            x.data[...] = out
    version = _counter(x)
    version.count += 1
    version.site = site


_RANK = {"bool": 0, "int64": 1, "float32": 2, "float64": 2}


def _rebase(x: Tensor, node: Node | None, site: Site | None) -> None:
    """Make `node` the origin of `x`; of a view, the origin of its part of the base.

    The node of a changed view, and of every other view of that base, is made anew from the base's
    when it is next asked for: the version has moved on.
    """
    if x.view is None:
        x.node = node
        x.index = 0
        return
    from gradcli.engine.ops.internal.core import view_update

    part = Tensor(x.data, node)
    chain = []
    base = x
    while base.view is not None:
        chain.append((base.view.op, base.view.params))
        base = base.view.parent
    params = {"chain": tuple(reversed(chain))}
    under = Tensor(base.data, base.node, base.index)
    made = record(view_update, (under, part), params, site)
    if made is not None:
        made.like = like_of(base)
    base.node = made
    base.index = 0
