"""Change a tensor in place to the result of an op, and record that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from sys import getrefcount
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op
from gradcli.engine.tape.graph import Node, Site, seen
from gradcli.engine.tape.tensor import (
    RECORDED,
    AccumulateGrad,
    Tensor,
    counter,
    evaluated,
    fixed_view,
    keep_result,
    node_of,
    record,
    shows_another,
    turn,
)
from gradcli.engine.values import memory, refusals
from gradcli.engine.values.carrier import data_of, like_of
from gradcli.engine.values.conversion import can_hold
from gradcli.engine.values.data import NUMBERS, Data, is_floating, np
from gradcli.errors import run_error


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
    if x.version is not None:
        x.version.check_change()
    if not recording and _written_over(op, x, args, params):
        _count(x, site)
        return x
    old = _as_it_is(x, x.data, recording)  # the argument as the rules see it
    args = _snapshots(args, x, recording)
    if recording:
        refuse_change(x, args)
    out, _ = evaluated(op, (x, *args), params)
    if op.tape.saves[0] and _is_shared(x):
        old.data = x.data.copy()
    _write(x, out, site)
    if not recording:
        return x
    node = None
    if op.differentiable and is_floating(x.data):
        node = record(op, (old, *args), params, site)
    if node is not None:
        keep_result(node, op, x)
    if node is not None or node_of(x) is not None:
        rebase(x, node, 0, site)
    return x


def _written_over(op: Op, x: Tensor, args: Sequence[Any], params: Mapping[str, Any]) -> bool:
    """Write the op's result over an array that only the tensor refers to, if one call of NumPy can.
    A step of training then allocates no array.
    """
    if len(args) != 1 or type(x.data) is not np.ndarray or getrefcount(x.data) > 2:
        return False
    value, data = data_of(args[0]), x.data
    alike = type(value) is np.ndarray and value.shape == data.shape and value.dtype.char == "d"
    if data.dtype.char != "d" or data.base is not None or not (alike or type(value) is float):
        return False
    from gradcli.engine.ops.direct import one_call

    function = one_call(op) if params is op.params or not params else None
    if not isinstance(function, np.ufunc):
        return False
    function(data, value, out=data)
    return True


def replace(
    x: Tensor,
    args: Sequence[Any],
    make: Callable[[Sequence[Any]], Tensor],
    site: Site | None,
    *,
    recording: bool,
) -> Tensor:
    """Change `x`, in place, to the result of several ops on it and `args`, and return it. `make`
    gets their values before the change. Raises as `apply_inplace`.
    """
    if x.version is not None:
        x.version.check_change()
    old = _as_it_is(x, x.data.copy() if _is_shared(x) else x.data, recording)
    args = _snapshots(args, x, recording)
    if recording:
        refuse_change(x, args)
    made = make([old, *args])
    if is_floating(x.data) and is_floating(made.data) and made.dtype != x.dtype:
        made = ops.cast(made, dtype=x.dtype)
    _write(x, made.data, site)
    node = node_of(made)
    if recording and (node is not None or node_of(x) is not None):
        rebase(x, node, 0, site)
    return x


def turned(
    op: Op, x: Tensor, params: Mapping[str, Any], site: Site | None, *, recording: bool
) -> Tensor:
    """Let `x` show its memory as the op, which gives views, shows it, and return it. That is
    recorded in any case: the elements move, they do not change.

    Raises:
        RunError: If `x` is a leaf that requires grad, or, with recording on, a view of one.
    """
    if x.version is not None:
        x.version.check_change()
    if recording:
        refuse_change(x, ())
    elif type(seen(node_of(x))) is AccumulateGrad:
        raise run_error(
            "leaf-in-place",
            "a leaf tensor that requires grad keeps its shape",
            help=f"assign a new tensor, such as `x = x.{op.name}(...).detach().requires_grad_()`",
        )
    turn(
        x,
        op,
        params,
        op.memory.turned(params) if callable(op.memory.turned) else op.memory.turned or "",
        site,
    )
    return x


def refuse_change(x: Tensor, args: Sequence[Any]) -> None:
    """Refuse to change `x` in place, with recording on, to a value that depends on `args`.

    Raises:
        RunError: If `x` is a leaf that requires grad, a view of one, or a view whose node cannot be
            made again.
    """
    _refuse_leaf(x)
    _refuse_fixed(x, args)


def _refuse_leaf(x: Tensor) -> None:
    if type(seen(node_of(x))) is AccumulateGrad:
        raise run_error(
            "leaf-in-place",
            "a leaf tensor that requires grad is changed in place",
            help="put the update under `with no_grad():`, or assign a new tensor",
        )
    view = x.view
    while view is not None:
        if type(seen(view.of.node)) is AccumulateGrad:
            raise run_error(
                "leaf-in-place",
                "a view of a leaf tensor that requires grad is changed in place",
                help="put the update under `with no_grad():`, or change a `clone()` of it",
            )
        view = view.of.view


def _refuse_fixed(x: Tensor, args: Sequence[Any]) -> None:
    """Refuse to change a view whose node cannot be made again where the program sees a history."""
    view = x.view
    while view is not None:
        if view.origin != RECORDED and any(
            isinstance(a, Tensor) and a.requires_grad for a in (view.of, *args)
        ):
            raise fixed_view(view, None)
        view = view.of.view


def _snapshots(args: Sequence[Any], x: Tensor, recording: bool) -> list[Any]:
    return [_snapshot(a, x, recording) for a in args]


def _snapshot(a: Any, x: Tensor, recording: bool) -> Any:
    """A copy of an argument if it shares the memory that is about to change, else the argument."""
    if not isinstance(a, Tensor) or not (
        a is x or (a.version is not None and a.version is x.version)
    ):
        return a
    data = a.data if type(a.data) in NUMBERS else a.data.copy()
    return _as_it_is(a, data, recording)


def _as_it_is(x: Tensor, data: Data, recording: bool) -> Tensor:
    """A tensor of its own, with the history of another if that is recorded: a view that was made
    under `no_grad` has none that could be asked for.
    """
    return Tensor(data, node_of(x), x.index) if recording else Tensor(data)


def _is_shared(x: Tensor) -> bool:
    """True if a change must be written into the tensor's memory because others may share it."""
    version = x.version
    return version is not None and version.shared and type(x.data) not in NUMBERS


def _write(x: Tensor, out: Data, site: Site | None) -> None:
    """Put the result `out`, which has memory of its own, into `x`."""
    before, after = like_of(x), like_of(out)
    if before.shape != after.shape:
        raise refusals.outgrown(after.shape, before.shape)
    if not can_hold(before.dtype, after.dtype):
        raise refusals.uncast(after.dtype, before.dtype)
    if type(x.data) in NUMBERS:
        x.data = type(x.data)(out)
    else:
        if memory.overlaps(x.data):
            raise run_error(
                "overlapping-memory",
                "several elements of this expanded tensor share one memory place, so it cannot be "
                "changed in place",
                help="change a `clone()` of it",
            )
        if _is_shared(x):
            counter(x).part()
            x.data[...] = out
        else:
            x.data = _laid_as(out, x.data)  # nothing else uses the old memory
    _count(x, site)


def _count(x: Tensor, site: Site | None) -> None:
    """Count the change in place of the tensor's memory."""
    version = counter(x)
    version.count += 1
    version.site = site


def _laid_as(out: Data, x: Data) -> Data:
    if type(out) not in NUMBERS and out.strides == x.strides and out.dtype == x.dtype:
        return out
    made = np.empty_like(x)
    made[...] = out
    return made


def rebase(x: Tensor, node: Node | None, index: int, site: Site | None) -> None:
    """Make a result of `node` the origin of `x`; of a view, the origin of its part of the base.

    The node of a changed view, and of every other view of its base, is made again from the base's
    node when it is next needed, because the version has changed.
    """
    if x.view is None:
        x.node = node
        x.index = index
        return
    part = Tensor(x.data, node, index)
    chain = []
    base = x
    while base.view is not None:
        chain.append((base.view.op, base.view.params, base.view.index))
        base = base.view.of
    params = {"chain": tuple(reversed(chain))}
    under = Tensor(base.data, base.node, base.index)
    made = record(ops.view_update, (under, part), params, site)
    if made is not None:
        made.like = like_of(base)
    base.node = made
    base.index = 0
    if not shows_another(x):
        x.node, x.index, x.view.seen, x.view.cut = node, index, counter(x).count, made
