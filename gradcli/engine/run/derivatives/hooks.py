"""Hooks of tensors, leaves and graph nodes, which run during a backward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.run.code.functions import called, wrong_function
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import ACCUMULATED, ARRIVING, LEAVING, Hook, Node, Site
from gradcli.engine.tape.packed import Hooks
from gradcli.engine.tape.tensor import AccumulateGrad, Tensor, counter, node_of
from gradcli.engine.values import refusals
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, dtype_of, shape_of
from gradcli.errors import run_error


class Handle:
    """The result of `register_hook`: `remove()` removes the hook."""

    __slots__ = ("_places",)

    def __init__(self, *places: tuple[Node, Hook]) -> None:
        self._places = places

    def remove(self) -> None:
        """Run the hook no more."""
        for node, own in self._places:
            node.hooks = [hook for hook in node.hooks or () if hook is not own] or None


def _registered(node: Node, hook: Hook) -> Handle:
    node.hooks = [*(node.hooks or ()), hook]
    return Handle((node, hook))


def _call(session: Evaluator, function: Any, args: Sequence[Any], by: str, recorded: bool) -> Any:
    before, session.recording = session.recording, recorded
    try:
        return called(function, args, by)
    finally:
        session.recording = before


def _callable(function: Any) -> None:
    if not callable(function):
        raise refusals.not_callable(kind_of(function))


# --- of tensors ------------------------------------------------------------------------------


def register_hook(session: Evaluator, site: Site | None, x: Tensor, function: Any) -> Handle:
    """`x.register_hook(function)`: run it on the gradient by `x`, which it may replace."""
    node = node_of(x)
    if node is None or not node.visible:
        raise run_error("no-graph", "a hook needs a tensor that requires grad")
    _callable(function)

    def change(g: Any, recorded: bool) -> Any:
        given = _own(g)
        before = None if given is None else counter(given).count
        new = _call(session, function, [given], "register_hook", recorded)
        if new is None and (given is None or counter(given).count == before):
            return g
        return _replacement(session, function, given if new is None else new, given, recorded)

    return _registered(node, Hook(x.index, change))


def register_post_accumulate_grad_hook(
    session: Evaluator, site: Site | None, x: Tensor, function: Any
) -> Handle:
    """`x.register_post_accumulate_grad_hook(function)`: run it on a leaf that has its `grad`."""
    node = node_of(x)
    if not isinstance(node, AccumulateGrad):
        raise run_error("no-graph", "such a hook needs a leaf that requires grad")
    _callable(function)

    def tell(leaf: Any, recorded: bool) -> None:
        by = "register_post_accumulate_grad_hook"
        returned = _call(session, function, [leaf], by, recorded)
        if returned is not None:
            message = f"a hook behind a leaf must return None, it returned {kind_of(returned)}"
            raise wrong_function(function, "wrong-rule", message)

    return _registered(node, Hook(0, tell, ACCUMULATED))


def register_multi_grad_hook(session: Session, tensors: Any, fn: Any, mode: str = "all") -> Handle:
    """`register_multi_grad_hook(tensors, fn)`: run it once in each pass that comes to any."""
    _callable(fn)
    if mode not in ("all", "any"):
        message = f'`mode` is "all" or "any", not {mode!r}'
        raise run_error("bad-argument", message, raises=ValueError)
    given = session.items(tensors)
    nodes = [node_of(x) if isinstance(x, Tensor) else None for x in given]
    passing: list[Any] = [None, []]  # the current pass, and its gradients so far

    def change(at: int) -> Hook:
        def note(g: Any, recorded: bool) -> Any:
            found = _shown(g)
            if passing[0] is not session.passes.ending:
                passing[:] = session.passes.ending, [None] * len(given)
                if mode == "any":
                    _call(session, fn, [found], "register_multi_grad_hook", recorded)
                else:
                    own = passing[1]
                    session.passes.ending.append(
                        lambda: _call(session, fn, [own], "register_multi_grad_hook", recorded)
                    )
            passing[1][at] = found
            return g

        return Hook(given[at].index, note)

    places = []
    for at, node in enumerate(nodes):
        if node is None or not node.visible:
            raise run_error("no-graph", "a hook needs tensors that require grad")
        hook = change(at)
        node.hooks = [*(node.hooks or ()), hook]
        places.append((node, hook))
    return Handle(*places)


def push_saved_hooks(session: Session, pack_hook: Any, unpack_hook: Any) -> None:
    """Let these functions pack and unpack what nodes save from here on."""
    refused = session.packing_refused
    if refused:
        raise run_error("bad-context", refused[-1], raises=RuntimeError)
    _callable(pack_hook)
    _callable(unpack_hook)

    def unpack(held: Any) -> Tensor:
        found = _call(session, unpack_hook, [held], "unpack_hook", False)
        if not isinstance(found, Tensor):
            message = f"a hook that unpacks must return a tensor, it returned {kind_of(found)}"
            raise run_error("wrong-type", message)
        return found

    def pack(x: Tensor) -> Any:
        return _call(session, pack_hook, [x], "pack_hook", False)

    session.packing.append(Hooks(pack, unpack))


def pop_saved_hooks(session: Session) -> None:
    """End what `push_saved_hooks` began last."""
    if not session.packing:
        raise run_error("bad-context", "there are no hooks of saved tensors to end")
    session.packing.pop()


def _own(g: Any) -> Any:
    """A cotangent as a hook sees it, which may change it in place: other nodes may have the same
    memory.
    """
    if g is None or isinstance(g, Tensor) or type(g) in NUMBERS:
        return _shown(g)
    return Tensor(g.copy())


def _shown(g: Any) -> Any:
    """A cotangent as the program sees it."""
    return g if g is None or isinstance(g, Tensor) else Tensor(g)


def _replacement(session: Evaluator, function: Any, new: Any, given: Any, recorded: bool) -> Any:
    """The gradient that a hook returned, checked: it replaces the one that the hook got, if any."""
    new = session.tensor(new)
    if not isinstance(new, Tensor) and type(new) not in NUMBERS:
        message = f"a hook must return a gradient or None, it returned {kind_of(new)}"
        raise wrong_function(function, "wrong-type", message)
    if given is None:
        return new if recorded else data_of(new)
    if shape_of(new) != given.shape:
        message = (
            f"a hook returned a gradient of shape {list(shape_of(new))} for one of shape "
            f"{list(given.shape)}"
        )
        raise wrong_function(function, "shape-mismatch", message)
    if type(new) in NUMBERS:
        new = Tensor(float(new))
    if dtype_of(new) != given.dtype:
        message = f"a hook returned a gradient of dtype {dtype_of(new)} for one of {given.dtype}"
        raise wrong_function(function, "dtype-mismatch", message)
    return new if recorded else data_of(new)


# --- of nodes --------------------------------------------------------------------------------


def register_prehook(session: Evaluator, site: Site | None, node: Node, function: Any) -> Handle:
    """`grad_fn.register_prehook(function)`: run it on the gradients that come to a node."""
    _callable(function)

    def change(gs: Sequence[Any], recorded: bool) -> Sequence[Any]:
        given = tuple(map(_shown, gs))
        new = _call(session, function, [given], "register_prehook", recorded)
        return gs if new is None else _replaced(session, function, new, given, recorded)

    return _registered(node, Hook(None, change, ARRIVING))


def register_node_hook(session: Evaluator, site: Site | None, node: Node, function: Any) -> Handle:
    """`grad_fn.register_hook(function)`: run it on the gradients that a node gives, and on those
    that came to it.
    """
    _callable(function)
    if isinstance(node, AccumulateGrad):

        def tell(leaf: Any, recorded: bool) -> None:
            _call(session, function, [(), (leaf.grad,)], "register_hook", recorded)

        return _registered(node, Hook(None, tell, ACCUMULATED))

    def change(passed: Any, recorded: bool) -> Sequence[Any]:
        pulled, gs = passed
        given = tuple(map(_shown, pulled))
        args = [given, tuple(map(_shown, gs))]
        new = _call(session, function, args, "register_hook", recorded)
        return pulled if new is None else _replaced(session, function, new, given, recorded)

    return _registered(node, Hook(None, change, LEAVING))


def _replaced(
    session: Evaluator, function: Any, new: Any, given: Sequence[Any], recorded: bool
) -> list[Any]:
    """The gradients that a hook of a node returned, checked, one for each that it got."""
    found = list(new) if isinstance(new, (list, tuple)) else [new]
    if len(found) != len(given):
        message = f"a hook returned {len(found)} gradients for {len(given)}"
        raise wrong_function(function, "wrong-count", message)
    return [
        None if c is None else _replacement(session, function, c, g, recorded)
        for c, g in zip(found, given, strict=True)
    ]
