"""Functions with the program's own derivative rules: `class NAME(Function)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from gradcli.engine.arrays import NUMBERS, Data, is_floating
from gradcli.engine.graph import Node, Site
from gradcli.engine.session import Session, kind_of
from gradcli.engine.tensor import Number, Tensor, data_of, like_of, node_of, version_of
from gradcli.errors import Diagnostic, RunError, run_error
from gradcli.source import Source, Span

OWN_NAMES = frozenset(
    {
        "apply",
        "mark_non_differentiable",
        "needs_input_grad",
        "save_for_backward",
        "saved_tensors",
    }
)
"""Names that stand behind the point of an own function or of its `ctx`."""


class Context:
    """What an own function's `ctx` is: `forward` leaves on it what `backward` needs."""

    __slots__ = ("constants", "fields", "needs_input_grad", "saved", "versions")

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved: tuple[Any, ...] | None = ()
        self.versions: tuple[int, ...] = ()
        self.fields: dict[str, Any] = {}
        self.constants: tuple[Any, ...] = ()

    def get(self, name: str) -> Any:
        """`ctx.name`."""
        if name == "saved_tensors":
            return self._unpacked()
        if name == "needs_input_grad":
            return self.needs_input_grad
        if name in self.fields:
            return self.fields[name]
        raise run_error("unknown-attribute", f"nothing was put on `ctx` as `{name}`")

    def call(self, name: str, args: Sequence[Any]) -> Any:
        """`ctx.name(args)`."""
        if name == "save_for_backward":
            self.saved = tuple(args)
            self.versions = tuple(version_of(a) if isinstance(a, Tensor) else 0 for a in args)
            return None
        if name == "mark_non_differentiable":
            self.constants = tuple(args)
            return None
        found = self.get(name)
        if callable(found):
            return found(*args)
        raise run_error("not-callable", f"`{name}` of `ctx` is {kind_of(found)}, not a function")

    def _unpacked(self) -> tuple[Any, ...]:
        if self.saved is None:
            raise run_error(
                "backward-twice",
                "`backward` needs what the function saved, and an earlier `backward` has freed it",
                help="pass retain_graph=True to the first `backward`",
            )
        for value, before in zip(self.saved, self.versions, strict=True):
            if isinstance(value, Tensor) and version_of(value) != before:
                raise run_error(
                    "changed-in-place",
                    "a tensor that `save_for_backward` got has been changed in place since",
                    help="save a `clone()` of it",
                )
        return self.saved


class OwnRule:
    """One call of an own function, in the place that an op has in a recorded node."""

    def __init__(self, function: OwnFunction, context: Context, count: int) -> None:
        self.function = function
        self.context = context
        self.count = count
        self.name = function.name
        self.saves = (bool(context.saved),)
        self.saves_out = False

    def node_name(self, args: tuple[Any, ...], params: Mapping[str, Any]) -> str:
        """`CubeBackward` for a class `Cube`."""
        return f"{self.name}Backward"

    def pull(self, g: Any, create_graph: bool) -> list[Any]:
        """Cotangents of the inputs: what the program's `backward` returns, checked."""
        return self.function.pull(self, g, create_graph)

    def free(self) -> None:
        """Let go of what `forward` saved."""
        self.context.saved = None if self.context.saved else ()


class OwnFunction:
    """A class of forward, backward and perhaps jvp, as the program sees it."""

    def __init__(
        self,
        name: str,
        methods: Sequence[FunctionType],
        spans: Mapping[str, Span],
        source: Source,
        session: Session,
    ) -> None:
        self.name = name
        self.methods = {m.__code__.co_name.rpartition(".")[2]: m for m in methods}
        self.spans = spans
        self.source = source
        self.session = session

    def method(self, name: str, site: Site | None) -> Callable[..., Any]:
        """`NAME.apply`, or a method that is called by its name."""
        if name == "apply":
            return lambda *args: self.apply(args, site)
        if name in self.methods:
            return self.methods[name]
        raise run_error("unknown-attribute", f"`{self.name}` has no `{name}`")

    def apply(self, given: Sequence[Any], site: Site | None) -> Any:
        """Do `forward` unrecorded, and record the whole as one node."""
        session = self.session
        args = [session.tensor(a, site) for a in given]
        nodes = [node_of(a) if isinstance(a, Tensor) else None for a in args]
        context = Context(tuple(n is not None and n.visible for n in nodes))
        before, session.recording = session.recording, False
        try:
            out = self.methods["forward"](context, *args)
        finally:
            session.recording = before
        several = isinstance(out, tuple)
        outs = tuple(map(session.tensor, out if several else (out,)))
        for value in outs:
            if not isinstance(value, Tensor) and type(value) not in NUMBERS:
                raise self._wrong("forward", f"returns {kind_of(value)}, not a tensor or number")
        constants = {id(c) for c in context.constants}
        kind = Tensor if any(type(v) is Tensor for v in outs) else Number
        results = [kind(data_of(value)) for value in outs]
        node = None
        if session.recording and any(n is not None for n in nodes):
            node = self._node(args, nodes, results, several, context, site)
        for i, (result, value) in enumerate(zip(results, outs, strict=True)):
            if node is not None and id(value) not in constants and is_floating(result.data):
                result.node, result.index = node, i
        made = [r.data if type(r) is Number and r.node is None else r for r in results]
        return tuple(made) if several else made[0]

    def _node(
        self,
        args: Sequence[Any],
        nodes: Sequence[Node | None],
        results: Sequence[Tensor],
        several: bool,
        context: Context,
        site: Site | None,
    ) -> Node:
        rule: Any = OwnRule(self, context, len(args))
        outputs = tuple(a.index if n is not None else 0 for a, n in zip(args, nodes, strict=True))
        shapes = tuple(map(like_of, args))
        visible = any(n is not None and n.visible for n in nodes)
        node = Node(rule, tuple(nodes), outputs, shapes, {}, visible, site)
        likes = tuple(map(like_of, results))
        node.like = likes if several else likes[0]
        if self.session.keep:
            node.out = tuple(r.data for r in results) if several else results[0].data
        return node

    def pull(self, rule: OwnRule, g: Any, create_graph: bool) -> list[Any]:
        """Cotangents of the inputs from those of the results."""
        if "backward" not in self.methods:
            raise self._wrong("forward", "has no `backward` beside it, so it has no derivative")
        session = self.session
        wrapped = [None if c is None else _tensor(c) for c in (g if type(g) is tuple else (g,))]
        before, session.recording = session.recording, create_graph
        try:
            returned = self.methods["backward"](rule.context, *wrapped)
        finally:
            session.recording = before
        pulled = list(returned) if isinstance(returned, tuple) else [returned]
        if len(pulled) > rule.count and all(c is None for c in pulled[rule.count :]):
            del pulled[rule.count :]
        if len(pulled) != rule.count:
            raise self._wrong(
                "backward",
                f"returns {len(pulled)} gradients, and `forward` has {rule.count} inputs",
            )
        return [self._checked(c, i, rule, create_graph) for i, c in enumerate(pulled)]

    def _checked(self, c: Any, i: int, rule: OwnRule, create_graph: bool) -> Any:
        if c is None:
            return None
        c = self.session.tensor(c)
        if not isinstance(c, Tensor) and type(c) not in NUMBERS:
            raise self._wrong("backward", f"returns {kind_of(c)} as gradient {i}")
        return c if create_graph else _floating(data_of(c))

    def fitted(self, shape: tuple[int, ...], wanted: tuple[int, ...], i: int) -> RunError:
        """The error for a gradient of the wrong shape."""
        return self._wrong(
            "backward",
            f"returns a gradient of shape {list(shape)} for input {i} of shape {list(wanted)}",
        )

    def _wrong(self, method: str, what: str) -> RunError:
        message = f"`{method}` of `{self.name}` {what}"
        return RunError(Diagnostic("wrong-rule", message, self.source, self.spans[method]))


def _tensor(c: Any) -> Tensor:
    return c if isinstance(c, Tensor) else Tensor(c)


def _floating(data: Data) -> Data:
    return float(data) if type(data) in NUMBERS else data
