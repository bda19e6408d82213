"""The recorded graph: a node for every op whose result somebody may want to differentiate."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol
from weakref import ref

from gradcli.engine.values.carrier import Like
from gradcli.engine.values.data import np
from gradcli.errors import run_error

if TYPE_CHECKING:  # making a protocol takes as long as importing a room
    from gradcli.engine.values.entry import Derivatives, Memory, Static, Tape, Value
    from gradcli.source import Span

    class Recordable(Protocol):
        """The part of an op that recording uses: its value on plain data, the values that a call
        saves, and the rules of its node.
        """

        name: str
        variadic: bool
        differentiable: bool
        value: Value
        derivatives: Derivatives
        tape: Tape
        statics: Static
        memory: Memory

        def evaluate(self, args: Sequence[Any], params: Mapping[str, Any]) -> Any: ...

        def evaluate_on_tensors(
            self, args: Sequence[Any], data: Sequence[Any], params: Mapping[str, Any]
        ) -> Any: ...

        def node_name(self, args: tuple[Any, ...], params: Mapping[str, Any]) -> str: ...

        def node_inputs(
            self, args: tuple[Any, ...], params: Mapping[str, Any]
        ) -> Sequence[int]: ...

        def saves_for(
            self, connected: Sequence[bool], args: tuple[Any, ...], params: Mapping[str, Any]
        ) -> bool: ...

        def pull(
            self,
            g: Any,
            out: Any,
            args: Sequence[Any],
            params: Mapping[str, Any],
            wanted: Sequence[bool],
            still: Sequence[Any] | None = None,
        ) -> Sequence[Any]: ...

        def push(
            self, dots: Sequence[Any], out: Any, args: Sequence[Any], params: Mapping[str, Any]
        ) -> Any: ...

        def moving(
            self,
            marks: Sequence[Any],
            out: Any,
            args: Sequence[Any],
            params: Mapping[str, Any],
            idle: Sequence[Any],
        ) -> Any: ...

        def reaching(
            self,
            mark: Any,
            out: Any,
            args: Sequence[Any],
            params: Mapping[str, Any],
            wanted: Sequence[bool],
            idle: Sequence[Any],
        ) -> Sequence[Any]: ...

        def idle(
            self,
            out: Any,
            args: Sequence[Any],
            elsewhere: Callable[[], Sequence[Any]],
            params: Mapping[str, Any],
            connected: Sequence[bool],
        ) -> Sequence[Any]: ...


clock = count(1).__next__
"""Numbers the nodes in the order of recording: all the state that this house has."""


class Whole:
    """The call that several nodes belong to in a picture of the graph: of an op that is made of
    others, by its name, or with `slope` of the derivative of an op.
    """

    __slots__ = ("name", "slope")

    def __init__(self, name: str, slope: bool) -> None:
        self.name = name
        self.slope = slope


class Site:
    """The place of an op in the program, the variable that its result goes to ("" for none), and
    the `Whole` that it is part of, which only a picture needs.
    """

    __slots__ = ("span", "variable", "whole")

    def __init__(self, span: Span, variable: str, whole: Whole | None = None) -> None:
        self.span = span
        self.variable = variable
        self.whole = whole


ARRIVING, LEAVING, ACCUMULATED = range(3)
"""When a hook runs: on the cotangents that come to a node, on those that it gives to its edges, or
when a leaf has its gradient.
"""


class Hook:
    """A function of the program that runs during a pass. `change` gets the cotangent that arrives
    at or leaves the node, and whether the pass is recorded; it returns the cotangent to pass on.
    `index` is that of a result of the node, or None for all.
    """

    __slots__ = ("change", "index", "when")

    def __init__(
        self, index: int | None, change: Callable[[Any, bool], Any], when: int = ARRIVING
    ) -> None:
        self.index = index
        self.change = change
        self.when = when


LIVE, SPENT, GONE = range(3)
"""Saved values of a node: kept; kept, but freed to the program; dropped."""


class Version:
    """The number of changes in place of some memory, and the place of the last one. `shared` is
    true if several tensors may share the memory; `keepers` are the nodes with values saved there.
    """

    __slots__ = ("count", "keepers", "most", "shared", "site")

    def __init__(self) -> None:
        self.count = 0
        self.shared = False
        self.site: Site | None = None
        self.keepers: list[tuple[ref[Node], int]] = []
        self.most = _FEW

    def keep(self, node: Node, place: int) -> None:
        """Note that a node has saved a value on the memory."""
        keepers = self.keepers
        if len(keepers) >= self.most:  # drops nodes that are gone
            keepers[:] = [keeper for keeper in keepers if keeper[0]() is not None]
            self.most = 2 * len(keepers) + _FEW
        keepers.append((ref(node), place))

    def saved(self) -> int:
        """The count, for a node that saves a value on the memory, which may refuse it."""
        return self.count

    def check_change(self) -> None:
        """Refuse a change in place of memory that may not change now."""

    def part(self) -> None:
        """Copy the saved values of the nodes: the memory is about to be written."""
        for keeper, place in self.keepers:
            node = keeper()
            if node is not None:
                node.part(place)
        self.keepers.clear()


_FEW = 16


class Inference:
    """The inference mode of a run: true while it is on."""

    __slots__ = ("on",)

    def __init__(self) -> None:
        self.on = False


class Untracked(Version):
    """The version of memory that was made in inference mode: only there it may change, and no
    derivative may save it.
    """

    __slots__ = ("leaf", "mode")

    def __init__(self, mode: Inference) -> None:
        super().__init__()
        self.mode = mode
        self.leaf: ref[Any] | None = None  # a tensor said to require grad: nothing is recorded

    def saved(self) -> int:
        raise run_error(
            "inference-tensor",
            "a tensor that was made in inference mode is saved for a gradient",
            help="use a `clone()` of it, or `no_grad` in place of `inference_mode`",
            raises=RuntimeError(_SAVED),
        )

    def check_change(self) -> None:
        """Refuse a change in place outside of inference mode."""
        if not self.mode.on:
            raise run_error(
                "inference-tensor",
                "a tensor that was made in inference mode is changed in place outside of it",
                help="change a `clone()` of it",
                raises=RuntimeError(_CHANGED),
            )


_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd. To work around this, you can make a clone "
    "to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
    "`torch.inference_mode()`."
)
_CHANGED = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone "
    "to get a normal tensor before doing inplace update.See "
    "https://github.com/pytorch/rfcs/pull/17 for more details."
)


class Node:
    """A node of the recorded graph: a value that may be differentiated.

    `edges` are the nodes of its operands (None where no gradient is wanted), and `outputs` the
    indices of the operands among the results of these nodes. `like` is shape and dtype of its
    value, a tuple for several, and `out` the plain value if the rules read it. `seq` grows in the
    order of recording, so that sorting by it is a topological order. `freed` is how far a
    `backward` has freed it, `hooks` are the program's hooks, and `keeps` is true if its value, and
    those of the ops that use it, are kept for a picture of the graph. `visible` is false for a node
    that only the command differentiates, not the program.

    Each kind of node knows its derivative, so that passes need not check the kind. `pull` and
    `push` return plain data from plain data; the results of `pull_recorded` and `push_recorded` can
    be differentiated again.
    """

    __slots__ = (
        "edges",
        "freed",
        "hooks",
        "keeps",
        "like",
        "out",
        "outputs",
        "seq",
        "site",
        "visible",
    )

    takes_batches = True
    """True if several directions may come at once: no function of the program sees them."""

    def __init__(
        self,
        edges: tuple[Node | None, ...],
        outputs: tuple[int, ...],
        visible: bool,
        site: Site | None,
    ) -> None:
        self.edges = edges
        self.outputs = outputs
        self.visible = visible
        self.site = site
        self.seq = clock()
        self.out: Any = None
        self.like: Any = None
        self.hooks: list[Hook] | None = None
        self.freed = LIVE
        self.keeps = False

    def name(self) -> str:
        """The name that PyTorch prints, such as `MulBackward0`."""
        raise NotImplementedError

    @property
    def op_name(self) -> str:
        """Name of the op that it records, "" for none."""
        return ""

    @property
    def places(self) -> Sequence[int]:
        """The numbers of the edges that the program sees."""
        return range(len(self.edges))

    @property
    def shown(self) -> Sequence[tuple[Node | None, int]]:
        """The edges as the program sees them: PyTorch's `next_functions`."""
        return tuple((self.edges[i], self.outputs[i]) for i in self.places)

    @property
    def saves(self) -> bool:
        """True if it saved values that its derivative needs."""
        return False

    @property
    def constants(self) -> Sequence[Any]:
        """The numbers among its operands that have no edge."""
        return ()

    def pull(self, g: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        """Cotangents of its edges, None where unwanted, from that of its value. For several results
        this is a list, with None for an unused result.
        """
        raise NotImplementedError

    def pull_recorded(self, g: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        """Cotangents of its edges, as `pull` gives them, made of recorded ops."""
        return self.pull(g, wanted)

    def push(self, dots: Sequence[Any]) -> Any:
        """Tangent of its value, a tuple for several results, from those of its edges (None for
        zero).
        """
        raise NotImplementedError

    def push_recorded(self, dots: Sequence[Any]) -> Any:
        """The tangent of its value, as `push` gives it, made of recorded ops."""
        return self.push(dots)

    def moving(self, marks: Sequence[Any]) -> Any:
        """Marks of the elements of its value that depend on marked elements of its edges: a mark is
        a nonzero number, None marks nothing; a tuple for several results.
        """
        return self.push(marks)

    def reaching(self, mark: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        """Marks of the elements of its edges on which marked elements of its value depend: for
        several results a list, None in the place of one without marks.
        """
        return self.pull(mark, wanted)

    def part(self, place: int) -> None:
        """Copy the value saved at a position, before its memory changes: that of an argument, or
        with -1 of the result.
        """

    def free(self) -> None:
        """Drop the saved values."""
        self.freed = GONE

    def __repr__(self) -> str:
        return f"<{self.name()}>"


FREES_DEEP = sys.version_info[:2] == (3, 13)
"""Only Python 3.13 frees 10,000 nested objects regardless of the stack; earlier versions stop at
50, and later ones check the stack.
"""


def free_in_turn(
    owner: object,
    fields: Sequence[str],
    waiting: list[list[Any]] = [],  # noqa: B006  # of all owners
    busy: list[bool] = [],  # noqa: B006  # true while some call frees it
) -> None:
    """Drop what the fields of an object refer to, as far as it has them. What is freed thereby
    calls this in its turn, and waits in the list, so that long chains need no deep recursion. Calls
    of several threads share the work.
    """
    held = []
    for name in fields:
        if hasattr(owner, name):
            held.append(getattr(owner, name))
            setattr(owner, name, None)
    waiting.append(held)
    del held
    if busy:
        return
    busy.append(True)
    with suppress(IndexError):  # another thread has taken the last
        while waiting:
            waiting.pop()
    busy.pop()


_REFER = ("edges", "args", "data", "guards", "under", "context")
"""The fields of nodes by which one may be the last that refers to another."""

if FREES_DEEP:
    Node.__del__ = lambda self: free_in_turn(self, _REFER)  # type: ignore[attr-defined]


class Watchpoint(Node):
    """A place where the command, unseen by the program, takes a derivative: the identity."""

    __slots__ = ("variable",)

    def __init__(self, variable: str, under: Node | None, output: int, site: Site | None) -> None:
        edges = () if under is None else (under,)
        outputs = () if under is None else (output,)
        super().__init__(edges, outputs, under is not None and under.visible, site)
        self.variable = variable

    def name(self) -> str:
        return "Input"

    def pull(self, g: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        return (g,)

    def push(self, dots: Sequence[Any]) -> Any:
        return dots[0]


class NodeOfName(Node):
    """A node of which only the name is known: compiled code has made its tensor."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        super().__init__((), (), True, None)
        self._name = name

    def name(self) -> str:
        return self._name


class NodeOfOp(Node):
    """A node that programs see as an op on these arguments with these parameters."""

    __slots__ = ("args", "op", "params")
    args: tuple[Any, ...]
    op: Recordable
    params: Mapping[str, Any]

    def name(self) -> str:
        return self.op.node_name(self.args, self.params)

    @property
    def op_name(self) -> str:
        return self.op.name


class CompositeNode(NodeOfOp):
    """An op made of several that the program sees as one: the identity over their nodes.

    `args` describe the arguments, and `under` are the nodes that these come from.
    """

    __slots__ = ("under",)

    def __init__(
        self,
        op: Recordable,
        args: tuple[Any, ...],
        params: Mapping[str, Any],
        under: Sequence[tuple[Node | None, int]],
        results: Sequence[tuple[Node | None, int]],
    ) -> None:
        edges = tuple(node for node, _ in results)
        visible = any(node is not None and node.visible for node in edges)
        super().__init__(edges, tuple(index for _, index in results), visible, None)
        self.op = op
        self.args = args
        self.params = params
        self.under = under

    @property
    def shown(self) -> Sequence[tuple[Node | None, int]]:
        return tuple(self.under[i] for i in self.op.node_inputs(self.args, self.params))

    def pull(self, g: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        return g if type(self.like) is tuple else (g,)

    def push(self, dots: Sequence[Any]) -> Any:
        return tuple(dots) if type(self.like) is tuple else dots[0]


def seen(node: Node | None) -> Node | None:
    """The node as the program sees it: watchpoints are not there."""
    while type(node) is Watchpoint and node.visible:
        node = node.edges[0]
    return node if node is not None and node.visible else None


def whole(gs: Sequence[Any], likes: Sequence[Like]) -> tuple[Any, ...]:
    """The cotangents of several results, with zeros for unused ones."""
    return tuple(_zeros(like) if g is None else g for g, like in zip(gs, likes, strict=True))


def _zeros(like: Like) -> Any:
    if not like.dtype.startswith("float"):
        return None
    return 0.0 if like.shape == () else np.zeros(like.shape, like.dtype)


def settle(node: Node | None, before: Collection[Node], site: Site) -> None:
    """Give the nodes that were made for an op of the program that op's place: `node`, which has its
    value, and those from which it was made, up to the nodes of before.
    """
    stack = [node]
    while stack:
        node = stack.pop()
        if node is None or node in before or node.site is not None or not node.op_name:
            continue
        node.site = site
        site = Site(site.span, "", site.whole) if site.variable else site
        stack.extend(node.edges)
