"""The recorded graph: a node for every op whose result somebody may want to differentiate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol
from weakref import ref

if TYPE_CHECKING:
    from gradcli.engine.tape.tensor import Tensor
    from gradcli.source import Span

_clock = count(1).__next__


class Recordable(Protocol):
    """What recording wants of an op: its value on plain data, what is saved of a call, and the
    rules that its node will ask for.
    """

    name: str
    fields: tuple[str, ...]
    number: Callable[..., Any] | None
    body: Callable[..., Any] | None
    view: bool
    variadic: bool
    reads: tuple[tuple[bool, ...], ...]
    saves: tuple[bool, ...]
    saves_out: bool

    @property
    def differentiable(self) -> bool: ...

    def value(self, args: Sequence[Any], params: Mapping[str, Any]) -> Any: ...

    def node_name(self, args: tuple[Any, ...], params: dict[str, Any]) -> str: ...

    def pull(
        self,
        g: Any,
        out: Any,
        args: Sequence[Any],
        params: Mapping[str, Any],
        wanted: Sequence[bool],
    ) -> Sequence[Any]: ...

    def push(
        self, dots: Sequence[Any], out: Any, args: Sequence[Any], params: Mapping[str, Any]
    ) -> Any: ...


class Site:
    """Where in the program an op stands, and the variable its result goes to ("" for none)."""

    __slots__ = ("span", "variable")

    def __init__(self, span: Span, variable: str) -> None:
        self.span = span
        self.variable = variable


LIVE, SPENT, GONE = range(3)
"""What of a node is left: all; all, but to the program it is freed; no saved values."""


class Version:
    """How often memory has been changed in place, and where it was last. `shared` tells whether
    several tensors may lie on that memory.
    """

    __slots__ = ("count", "shared", "site")

    def __init__(self) -> None:
        self.count = 0
        self.shared = False
        self.site: Site | None = None


class Node:
    """One recorded op.

    `edges` are the nodes of its arguments (None where no gradient is wanted) and `outputs` which of
    their results the arguments were. `args` are the arguments as the rules want them: what the
    rules read is kept (with `versions`, the state in which it was), of the rest only a `Like`.
    `out` is the op's plain value where the rules read it, `cell` that value's version counter.
    `seq` grows in the order of recording, so that sorting by it is a topological order. `freed`
    tells what a `backward` has freed, `keeps` that its value, and those of the ops above, are kept
    for a picture of the graph. `visible` is false for a node that only the command differentiates,
    not the program.
    """

    __slots__ = (
        "args",
        "cell",
        "edges",
        "freed",
        "hooks",
        "keeps",
        "like",
        "op",
        "out",
        "outputs",
        "params",
        "seq",
        "site",
        "versions",
        "visible",
    )

    def __init__(
        self,
        op: Recordable | None,
        edges: tuple[Node | None, ...],
        outputs: tuple[int, ...],
        args: Any,
        params: dict[str, Any],
        visible: bool,
        site: Site | None,
    ) -> None:
        self.op = op
        self.edges = edges
        self.outputs = outputs
        self.args = args
        self.params = params
        self.visible = visible
        self.site = site
        self.seq = _clock()
        self.out: Any = None
        self.cell: Version | None = None
        self.versions: tuple[int, ...] | None = None
        self.like: Any = None
        self.hooks: list[Any] | None = None
        self.freed = LIVE
        self.keeps = False

    def name(self) -> str:
        """The name that PyTorch prints, such as `MulBackward0`."""
        assert self.op is not None
        return self.op.node_name(self.args, self.params)

    def __repr__(self) -> str:
        return f"<{self.name()}>"


class AccumulateGrad(Node):
    """The end of the graph at a leaf: its gradient is added to `variable.grad`.

    The leaf holds the node and the node the leaf, but weakly: a cycle would keep every leaf that a
    loop makes until Python's collector came by, which recording keeps away.
    """

    __slots__ = ("_variable",)

    def __init__(self, variable: Tensor) -> None:
        super().__init__(None, (), (), (), {}, True, None)
        self._variable = ref(variable)

    @property
    def variable(self) -> Tensor | None:
        """The leaf, None if nobody holds it any more."""
        return self._variable()

    def name(self) -> str:
        return "AccumulateGrad"


class Watchpoint(Node):
    """A place where the command, unseen by the program, takes a derivative: the identity."""

    __slots__ = ("variable",)

    def __init__(self, variable: str, under: Node | None, output: int, site: Site | None) -> None:
        edges = () if under is None else (under,)
        outputs = () if under is None else (output,)
        super().__init__(None, edges, outputs, (), {}, under is not None and under.visible, site)
        self.variable = variable

    def name(self) -> str:
        return "Input"


def seen(node: Node | None) -> Node | None:
    """The node as the program sees it: watchpoints are not there."""
    while type(node) is Watchpoint:
        node = node.edges[0] if node.edges else None
    return node if node is not None and node.visible else None


def settle(node: Node | None, before: Collection[Node], site: Site) -> None:
    """Give the nodes that were made for an op of the program that op's place: those from which
    `node` was made, up to the nodes of before.
    """
    stack = [node]
    while stack:
        node = stack.pop()
        if node is None or node in before or node.site is not None or node.op is None:
            continue
        node.site = site
        stack.extend(node.edges)
