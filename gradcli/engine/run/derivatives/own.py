"""Functions with the program's own derivative rules: `class NAME(Function)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from gradcli.engine.autodiff.linearize import Linearized
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.inplace import rebase, refuse_change
from gradcli.engine.ops.rules import fit
from gradcli.engine.run.code.functions import PARAMETERS, RESULT, called, misfit, wrong_function
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import GONE, Node, Site, Watchpoint, whole
from gradcli.engine.tape.packed import Hooks, Packed
from gradcli.engine.tape.tensor import (
    FROM_OWN_FUNCTION,
    Number,
    Tensor,
    View,
    array_of,
    cut,
    node_of,
    shared,
    version_of,
)
from gradcli.engine.values.carrier import Like, data_of, like_of
from gradcli.engine.values.data import NUMBERS, Data, is_floating, np, shape_of
from gradcli.errors import GradError, RunError, counted, run_error
from gradcli.ir.program import DefineRule

OWN_NAMES = frozenset(
    {
        "apply",
        "defgrad",
        "defjvp",
        "defjvps",
        "defvjp",
        "defvjp_is_zero",
        "mark_dirty",
        "mark_non_differentiable",
        "needs_input_grad",
        "save_for_backward",
        "save_for_forward",
        "saved_tensors",
        "set_materialize_grads",
    }
)
"""Attributes of an own function or of its `ctx`."""


_OF_CONTEXT = frozenset(
    {
        *("mark_dirty", "mark_non_differentiable", "save_for_backward", "save_for_forward"),
        "set_materialize_grads",
    }
)


class Context:
    """The `ctx` of an own function, on which `forward` stores values for `backward`."""

    __slots__ = (
        *("constants", "dirty", "fields", "materialize", "needs_input_grad", "node", "results"),
        *("saved", "versions"),
    )

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved: tuple[Any, ...] | None = ()
        self.versions: tuple[int, ...] = ()
        self.fields: dict[str, Any] = {}
        self.constants: tuple[Any, ...] = ()
        self.dirty: tuple[Any, ...] = ()  # arguments that `forward` has changed in place
        self.materialize = True  # cotangents of unused results are zeros, not None
        self.results: dict[int, int] = {}  # saved values that are results: their indices
        self.node: Node | None = None  # only while a rule runs

    def get(self, name: str) -> Any:
        """`ctx.name`."""
        if name == "saved_tensors":
            return self._unpacked()
        if name == "needs_input_grad":
            return self.needs_input_grad
        if name in self.fields:
            return self.fields[name]
        raise run_error("unknown-attribute", f"`ctx` has no `{name}`")

    def call(self, name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """`ctx.name(args)`."""
        if name in _OF_CONTEXT and keywords:
            raise run_error("wrong-arity", f"`{name}` takes no arguments by name")
        if name == "save_for_backward":
            self.saved = tuple(args)
            self.versions = tuple(version_of(a) if isinstance(a, Tensor) else 0 for a in args)
            return None
        if name == "mark_non_differentiable":
            self.constants = tuple(args)
            return None
        if name == "mark_dirty":
            self.dirty = tuple(args)
            return None
        if name == "set_materialize_grads":
            self.materialize = bool(args[0]) if args else True
            return None
        if name == "save_for_forward":  # `jvp` and `backward` read the same values
            return None
        return called(self.get(name), args, f"ctx.{name}", keywords)

    def pack(self, hooks: Hooks) -> None:
        """Let the program's hooks pack the saved tensors."""
        self.saved = tuple(Packed(x, hooks) if type(x) is Tensor else x for x in self.saved or ())

    def _unpacked(self) -> tuple[Any, ...]:
        if self.saved is None:
            raise run_error(
                "backward-twice",
                "`backward` needs values that the function saved and an earlier `backward` freed",
                help="pass retain_graph=True to the first `backward`",
            )
        for value, before in zip(self.saved, self.versions, strict=True):
            if isinstance(value, Tensor) and version_of(value) != before:
                raise run_error(
                    "changed-in-place",
                    "a tensor that `save_for_backward` got has been changed in place since",
                    help="save a `clone()` of it",
                )
        saved = tuple(x.opened() if type(x) is Packed else x for x in self.saved)
        node = self.node
        if node is None or not self.results:
            return saved
        return tuple(
            _connected(value, node, self.results[i]) if i in self.results else value
            for i, value in enumerate(saved)
        )


class OwnNode(Node):
    """One recorded call of an own function."""

    __slots__ = ("_saves", "context", "function", "inputs")

    takes_batches = False

    def __init__(
        self,
        function: OwnFunction,
        context: Context,
        edges: tuple[Node | None, ...],
        outputs: tuple[int, ...],
        inputs: tuple[Like, ...],
        site: Site | None,
    ) -> None:
        visible = any(under is not None and under.visible for under in edges)
        super().__init__(edges, outputs, visible, site)
        self.function = function
        self.context = context
        self.inputs = inputs
        self._saves = bool(context.saved)

    def name(self) -> str:
        """`CubeBackward` for a class `Cube`."""
        return f"{self.function.name}Backward"

    @property
    def op_name(self) -> str:
        return self.function.name

    @property
    def saves(self) -> bool:
        return self._saves

    def pull(self, g: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        """The cotangents that the program's `backward` returns, checked."""
        return self._pulled(g, wanted, recorded=False)

    def pull_recorded(self, g: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        return self._pulled(g, wanted, recorded=True)

    def push(self, dots: Sequence[Any]) -> Any:
        """The tangent that the program's `jvp` returns, or the one computed by `backward`."""
        return self._pushed(dots, recorded=False)

    def push_recorded(self, dots: Sequence[Any]) -> Any:
        return self._pushed(dots, recorded=True)

    def moving(self, marks: Sequence[Any]) -> Any:
        """Marks for all elements, because the effect of the program's rule on each is unknown."""
        if type(self.like) is tuple:
            return tuple(data_of(_ones(like)) for like in self.like)
        return data_of(_ones(self.like))

    def reaching(self, mark: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        """Marks for all elements of the wanted edges."""
        pairs = zip(self.inputs, wanted, strict=True)
        return [data_of(_ones(like)) if want else None for like, want in pairs]

    def free(self) -> None:
        self.freed = GONE
        self.context.saved = None if self.context.saved else ()

    def _pulled(self, g: Any, wanted: Sequence[bool], *, recorded: bool) -> list[Any]:
        if type(self.like) is tuple:
            g = whole(g, self.like) if self.context.materialize else tuple(g)
        self.context.node = self
        try:
            pulled = self.function.pull(self, g, recorded)
        finally:
            self.context.node = None
        return [c if want else None for c, want in zip(pulled, wanted, strict=True)]

    def _pushed(self, dots: Sequence[Any], *, recorded: bool) -> Any:
        self.context.node = self
        try:
            return self.function.push(self, dots, recorded)
        finally:
            self.context.node = None


class OwnFunction:
    """A class of forward, backward and perhaps jvp, as the program sees it. `attributes` are what
    it has besides, and `base` the own function that it inherits from.
    """

    said = "an own function"

    def __init__(
        self,
        name: str,
        methods: Mapping[str, FunctionType],
        session: Session,
        once: bool = False,
    ) -> None:
        self.name = name
        self.once = once
        self.methods = methods
        self.session = session
        self.attributes: dict[str, Any] = {}
        self.base: OwnFunction | None = None

    def get(self, name: str) -> Any:
        """`NAME.name`."""
        owner: OwnFunction | None = self
        while owner is not None:
            if name in owner.attributes:
                return owner.attributes[name]
            owner = owner.base
        return self.name if name == "__name__" else self.method(name, None)

    def put(self, name: str, value: Any) -> None:
        """`NAME.name = value`."""
        if name == "apply" or name in self.methods or name.startswith("__"):
            message = f"`{name}` of `{self.name}` cannot be assigned"
            raise run_error("unknown-attribute", message)
        self.attributes[name] = value

    def method(self, name: str, site: Site | None) -> Callable[..., Any]:
        """`NAME.apply`, or a method that is called by its name."""
        if name == "apply":
            return lambda *args, **keywords: self._applied(args, keywords, site)
        if name in self.methods:
            return self.methods[name]
        raise run_error("unknown-attribute", f"`{self.name}` has no `{name}`")

    def _applied(self, args: Sequence[Any], keywords: Mapping[str, Any], site: Site | None) -> Any:
        if keywords:
            raise run_error("wrong-arity", "`apply` takes no arguments by name")
        return self.apply(args, site)

    def apply(self, given: Sequence[Any], site: Site | None) -> Any:
        """Do `forward` unrecorded, and record the whole as one node."""
        session = self.session
        session.passes.rules += 1
        args = [session.tensor(a, site) for a in given]
        if session.own_calls is not None:
            session.own_calls(self, args, site)
        nodes = [node_of(a) if isinstance(a, Tensor) else None for a in args]
        context = Context(tuple(n is not None for n in nodes))
        before, session.recording = session.recording, False
        try:
            out = self._forward(context, args)
        finally:
            session.recording = before
        several = isinstance(out, tuple)
        outs = tuple(map(session.tensor, out if several else (out,)))
        if not several and not isinstance(outs[0], Tensor) and type(outs[0]) not in NUMBERS:
            raise self._wrong("forward", f"returns {kind_of(out)}, not a tensor or number")
        constants = {id(c) for c in context.constants}
        numbers = {id(value): i for i, value in enumerate(outs)}
        context.results = {
            i: numbers[id(value)]
            for i, value in enumerate(context.saved or ())
            if id(value) in numbers and all(value is not a for a in args)
        }
        dirty = {id(x) for x in self._changed(context, args, outs)}
        numeric = any(type(a) is Number for a in args)  # else a number is a constant
        once = {
            id(value): value
            if id(value) in dirty
            else _shown(_result(value, numeric), value, args, session.recording)
            for value in outs
        }  # a value that is returned twice is one result
        _watch(outs, once, [a for a in context.saved or () if isinstance(a, Tensor)])
        results = [once[id(value)] for value in outs]
        node = None
        if session.recording and any(n is not None for n in nodes):
            node = self._node(args, nodes, results, several, context, site)
            if session.packing:
                context.pack(session.packing[-1])
        for i, (result, value) in enumerate(zip(results, outs, strict=True)):
            moves = isinstance(result, Tensor) and is_floating(result.data)
            if node is not None and id(value) not in constants and moves:
                if id(value) in dirty:
                    rebase(result, node, i, site)
                else:
                    result.node, result.index = node, i
        made = [r.data if type(r) is Number and r.node is None else r for r in results]
        return tuple(made) if several else made[0]

    def _forward(self, context: Context, args: Sequence[Any]) -> Any:
        """The value that `forward` returns; if there is a `setup_context`, that fills `ctx`."""
        if "setup_context" not in self.methods:
            return self._called("forward", context, args)
        forward = self.methods["forward"]
        out = called(forward, args, f"{self.name}.apply")
        self._called("setup_context", context, [tuple(args), out])
        return out

    def _changed(self, context: Context, args: Sequence[Any], outs: Sequence[Any]) -> Sequence[Any]:
        """The arguments that `forward` says it has changed in place, which its results must be."""
        for x in context.dirty:
            if all(x is not a for a in args) or all(x is not out for out in outs):
                raise self._wrong("forward", "marks as dirty what is no argument and result of it")
            if self.session.recording:
                refuse_change(x, args)
        return context.dirty

    def _node(
        self,
        args: Sequence[Any],
        nodes: Sequence[Node | None],
        results: Sequence[Any],
        several: bool,
        context: Context,
        site: Site | None,
    ) -> Node:
        outputs = tuple(a.index if n is not None else 0 for a, n in zip(args, nodes, strict=True))
        inputs = tuple(map(_like, args))
        node = OwnNode(self, context, tuple(nodes), outputs, inputs, site)
        likes = tuple(like_of(r) if isinstance(r, Tensor) else _NOTHING for r in results)
        node.like = likes if several else likes[0]
        if self.session.keep:
            kept = tuple(data_of(r) if isinstance(r, Tensor) else None for r in results)
            node.out = kept if several else kept[0]
        return node

    def pull(self, node: OwnNode, g: Any, recorded: bool) -> list[Any]:
        """Cotangents of the inputs from those of the results."""
        if "backward" not in self.methods:
            what = "has no `backward`, so it has no derivative"
            raise self._wrong("forward", what, PARAMETERS)
        session = self.session
        wrapped = [None if c is None else _tensor(c) for c in (g if type(g) is tuple else (g,))]
        before, session.recording = session.recording, recorded and not self.once
        try:
            returned = self._called("backward", node.context, wrapped)
        finally:
            session.recording = before
        if self.once and recorded:
            returned = _ended(returned, node, wrapped)
        pulled = list(returned) if isinstance(returned, tuple) else [returned]
        if len(pulled) > len(node.inputs) and all(c is None for c in pulled[len(node.inputs) :]):
            del pulled[len(node.inputs) :]
        if len(pulled) != len(node.inputs):
            raise self._wrong(
                "backward",
                f"returns {counted(len(pulled), 'gradient')}, and `forward` has "
                f"{counted(len(node.inputs), 'input')}",
            )
        return [self._checked(c, i, node, recorded) for i, c in enumerate(pulled)]

    def push(self, node: OwnNode, dots: Sequence[Any], recorded: bool) -> Any:
        """Tangents of the results from those of the inputs (None for zero).

        Without a `jvp` of the program's, J v is the derivative of the linear map u -> J'u in the
        direction v, transposed: `backward` is recorded at cotangents of one and differentiated.
        """
        session = self.session
        if "jvp" not in self.methods:
            return self._push_by_backward(node, dots, recorded)
        given = [
            _zeros(like) if dot is None else _tensor(dot)
            for dot, like in zip(dots, node.inputs, strict=True)
        ]
        before, session.recording = session.recording, recorded
        try:
            returned = self._called("jvp", node.context, given)
        finally:
            session.recording = before
        several = type(node.like) is tuple
        made = returned if isinstance(returned, tuple) else (returned,)
        likes = node.like if several else (node.like,)
        if len(made) != len(likes):
            raise self._wrong(
                "jvp",
                f"returns {counted(len(made), 'tangent')}, and `forward` has "
                f"{counted(len(likes), 'result')}",
            )
        out = tuple(
            self._tangent(dot, like, i, recorded)
            for i, (dot, like) in enumerate(zip(made, likes, strict=True))
        )
        return out if several else out[0]

    def _tangent(self, dot: Any, like: Like, i: int, recorded: bool) -> Any:
        if dot is None:
            return None
        dot = self.session.tensor(dot)
        if shape_of(dot) != like.shape:
            raise self._wrong(
                "jvp",
                f"returns a tangent of shape {list(shape_of(dot))} for result {i} of shape "
                f"{list(like.shape)}",
            )
        return dot if recorded else _floating(data_of(dot))

    def _push_by_backward(self, node: OwnNode, dots: Sequence[Any], recorded: bool) -> Any:
        several = type(node.like) is tuple
        likes = node.like if several else (node.like,)
        ones = [_ones(like) for like in likes]
        points = [None if u is None else Watchpoint("", None, 0, None) for u in ones]
        for u, point in zip(ones, points, strict=True):
            if u is not None:
                u.node = point
        pulled = self.pull(node, tuple(ones) if several else ones[0], True)
        for c, dot in zip(pulled, dots, strict=True):
            if dot is not None and self._is_cut(c):
                raise self._wrong(
                    "backward",
                    "cuts its gradient, as by `detach`, so forward mode needs a `jvp` beside it",
                )
        pairs = [
            (c, dot)
            for c, dot in zip(pulled, dots, strict=True)
            if dot is not None and isinstance(c, Tensor)
        ]
        known: dict[Node, Like] = {
            p: like for p, like in zip(points, likes, strict=True) if p is not None
        }
        line = Linearized([c for c, _ in pairs], known)
        if recorded:
            found = line.pull_recorded([dot for _, dot in pairs])
        else:
            found = line.pull([data_of(dot) for _, dot in pairs])
        out = tuple(None if point is None else found.get(point) for point in points)
        return out if several else out[0]

    def _is_cut(self, c: Any) -> bool:
        """True if a cotangent computed from ones is nonzero but not connected to them."""
        if isinstance(c, Tensor) and node_of(c) is not None:
            return False
        data = None if c is None else data_of(c)
        return data is not None and bool(data != 0 if type(data) in NUMBERS else data.any())

    def _checked(self, c: Any, i: int, node: OwnNode, recorded: bool) -> Any:
        if c is None:
            return None
        c = self.session.tensor(c)
        if not isinstance(c, Tensor) and type(c) not in NUMBERS:
            raise self._wrong("backward", f"returns {kind_of(c)} as gradient {i}")
        c = c if recorded else _floating(data_of(c))
        return self._fitted(c, node.inputs[i], i) if node.context.needs_input_grad[i] else c

    def _fitted(self, c: Any, like: Like, i: int) -> Any:
        """A gradient summed to the shape of its input."""
        shape = shape_of(c)
        wrong = self._wrong(
            "backward",
            f"returns a gradient of shape {list(shape)} for input {i} of shape {list(like.shape)}",
        )
        if shape != like.shape and len(shape) < len(like.shape):
            raise wrong
        try:
            return fit(c, like)
        except (GradError, ValueError):
            raise wrong from None

    def _called(self, method: str, context: Context, args: Sequence[Any]) -> Any:
        """The value that a method returns, called with `ctx` before the arguments."""
        function = self.methods[method]
        if misfit(function, len(args) + 1) is not None:
            most = counted(function.__code__.co_argcount - 1, "argument")
            what = f"takes {most} behind `ctx`, and gets {len(args)}"
            raise self._wrong(method, what, PARAMETERS)
        return function(context, *args)

    def _wrong(self, method: str, what: str, part: str = RESULT) -> RunError:
        message = f"`{method}` of `{self.name}` {what}"
        return wrong_function(self.methods[method], "wrong-rule", message, label=part)


class _End(Node):
    """The source of a cotangent that must not be differentiated."""

    __slots__ = ("function",)

    def __init__(self, function: str, edges: tuple[Node | None, ...]) -> None:
        super().__init__(edges, (0,) * len(edges), True, None)
        self.function = function

    def name(self) -> str:
        return f"{self.function}BackwardError"

    def pull(self, g: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        raise run_error(
            "not-differentiable",
            f"`backward` of `{self.function}` is marked with `@once_differentiable`",
            help="leave the mark out if its steps may be differentiated",
        )

    push = pull  # type: ignore[assignment]  # neither gives anything


def _ended(returned: Any, node: OwnNode, gs: Sequence[Any]) -> Any:
    """The cotangents, with a node that refuses to differentiate them by those of the results."""
    made_of = [node_of(g) for g in gs if isinstance(g, Tensor)]
    edges = tuple(edge for edge in made_of if edge is not None)
    if not edges:
        return returned

    def end(c: Any) -> Any:
        if c is None:
            return None
        made = Tensor(data_of(c))
        made.node = _End(node.function.name, edges)
        made.node.like = like_of(made)
        return made

    return tuple(map(end, returned)) if isinstance(returned, tuple) else end(returned)


def made(
    i: DefineRule, given: Sequence[Any], attributes: Mapping[str, Any], session: Session
) -> OwnFunction:
    """The own function of an instruction, of its bases and methods."""
    bases, methods = given[: len(i.bases)], given[len(i.bases) :]
    if len(bases) > 1 or not all(isinstance(base, OwnFunction) for base in bases):
        message = f"`{i.name}` can inherit from one own function and nothing else"
        raise run_error("bad-class", message)
    own = {m.__code__.co_name.rpartition(".")[2]: m for m in methods}
    base: OwnFunction | None = bases[0] if bases else None
    inherited = {} if base is None else base.methods
    once = i.once or (base is not None and base.once and "backward" not in own)
    function = OwnFunction(i.name, {**inherited, **own}, session, once)
    function.attributes.update(attributes)
    function.base = base
    return function


def _result(value: Any, numeric: bool) -> Any:
    """A value that `forward` returned, as a result of its own."""
    if type(value) in NUMBERS or type(value) is Number:
        return Number(data_of(value)) if numeric else data_of(value)
    return Tensor(data_of(value)) if isinstance(value, Tensor) else value


def _shown(result: Any, value: Any, args: Sequence[Any], recording: bool) -> Any:
    """A result of the value that `forward` returned; if that is an argument or a view of one, the
    result is a view of it, too.
    """
    if type(result) is not Tensor:
        return result
    if any(value is a for a in args):
        result.data = array_of(value)
        view = View(value, ops.reshape, {"shape": value.shape}, None)
    elif value.view is not None and any(
        isinstance(a, Tensor) and a.version is value.version for a in args
    ):
        under = value.view
        view = View(under.of, under.op, under.params, under.index)
    else:
        return result
    result.version, result.view = shared(value), view
    if recording:
        view.origin = FROM_OWN_FUNCTION
    else:
        cut(result)
    return result


def _watch(values: Sequence[Any], results: Mapping[int, Any], saved: Sequence[Tensor]) -> None:
    """Let changes in place of a result count as changes of the saved values whose memory it shares.
    `results` are those of the values that `forward` returned, by their identity.
    """
    for value in values:
        result = results[id(value)]
        if result is value or type(result) is not Tensor:
            continue
        if any(a is value or (a.version is not None and a.version is value.version) for a in saved):
            result.version = shared(value)


def _like(value: Any) -> Like:
    """Shape and dtype of an argument; anything but a tensor or number has no derivative."""
    return like_of(value) if isinstance(value, Tensor) or type(value) in NUMBERS else _NOTHING


_NOTHING = Like((), "none")


def _connected(value: Any, node: Node, index: int) -> Tensor:
    """A saved result, connected to its node of the graph."""
    kind = Tensor if type(value) is Tensor else Number
    return kind(data_of(value), node, index)


def _zeros(like: Like) -> Tensor | None:
    if not like.dtype.startswith("float"):
        return None
    return Tensor(0.0 if like.shape == () else np.zeros(like.shape, like.dtype))


def _ones(like: Like) -> Tensor | None:
    zeros = _zeros(like)
    return None if zeros is None else Tensor(zeros.data + 1.0)


def _tensor(c: Any) -> Tensor:
    return c if isinstance(c, Tensor) else Tensor(c)


def _floating(data: Data) -> Data:
    return float(data) if type(data) in NUMBERS else data
