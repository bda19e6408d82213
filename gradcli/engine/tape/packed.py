"""Values that nodes save in the form that the program's hooks give them (`saved_tensors_hooks`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from gradcli.engine.tape.graph import GONE, Node
from gradcli.engine.tape.tensor import OpNode, Tensor, version_of
from gradcli.engine.values.carrier import Like, like_of
from gradcli.errors import run_error


class Hooks:
    """How values are saved: `pack` makes anything of a tensor, `unpack` a tensor of that."""

    __slots__ = ("pack", "unpack")

    def __init__(self, pack: Callable[[Tensor], Any], unpack: Callable[[Any], Tensor]) -> None:
        self.pack = pack
        self.unpack = unpack


class Packed(Like):
    """A saved value: shape and dtype of the tensor, and what the hook made of it."""

    __slots__ = ("_held", "_hooks")

    def __init__(self, x: Tensor, hooks: Hooks) -> None:
        super().__init__(x.shape, x.dtype)
        self._hooks = hooks
        given = Tensor(x.data)
        self._held = hooks.pack(given)
        if version_of(given):
            raise run_error(
                "changed-in-place",
                "a hook that packs a saved tensor changes it in place",
                help="change a `clone()` of it",
            )

    def opened(self) -> Tensor:
        """The tensor that the hook makes of what was held."""
        return self._hooks.unpack(self._held)


class PackedNode(OpNode):
    """An `OpNode` whose saved values are packed: each use unpacks them. Changes in place of the
    tensors are not noticed, since it keeps none of them.
    """

    __slots__ = ()

    def pull(
        self, g: Any, wanted: Sequence[bool], still: Sequence[Any] | None = None
    ) -> Sequence[Any]:
        return self._opened().pull(g, wanted, still)

    def pull_recorded(
        self, g: Any, wanted: Sequence[bool], still: Sequence[Any] | None = None
    ) -> Sequence[Any]:
        return self._opened().pull_recorded(g, wanted, still)

    def push(self, dots: Sequence[Any]) -> Any:
        return self._opened().push(dots)

    def push_recorded(self, dots: Sequence[Any]) -> Any:
        return self._opened().push_recorded(dots)

    def moving(self, marks: Sequence[Any]) -> Any:
        return self._opened().moving(marks)

    def reaching(self, mark: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        return self._opened().reaching(mark, wanted)

    def idle(self) -> Sequence[Any]:
        return self._opened().idle()

    def part(self, place: int) -> None:
        """Leave what is saved as it is: it belongs to the program's hook."""

    def free(self) -> None:
        self.freed = GONE
        self.args = self.data = tuple([like_of(a) if type(a) is Packed else a for a in self.args])
        self.out = None

    def _opened(self) -> OpNode:
        """The node with its values unpacked, connected to the graph as they were."""
        made = _Opened(
            self.op, self.edges, self.outputs, self.args, self.params, self.visible, self.site
        )
        made.packed, made.like, made.held = self, self.like, ()
        made.out = self.out
        if type(self.out) is tuple:
            made.out = tuple(o.opened().data if type(o) is Packed else o for o in self.out)
        elif type(self.out) is Packed:
            made.out = self.out.opened().data
        opened = [a.opened().data if type(a) is Packed else a for a in self.args]
        made.data = tuple(opened)
        pairs = zip(self.args, opened, self.edges, self.outputs, strict=True)
        made.args = tuple(
            Tensor(data, under, index) if type(a) is Packed else a
            for a, data, under, index in pairs
        )
        return made


class _Opened(OpNode):
    """A node for one use of the values that were packed; its result is that of the packed one."""

    __slots__ = ("packed",)
    packed: OpNode

    def _part_of_result(self, data: Any, index: int) -> Tensor:
        return Tensor(data, self.packed, index)

    def _arguments(self) -> Sequence[Any]:
        return self.args


def pack_saved(results: Iterable[Any], given: Collection[Node], hooks: Hooks) -> None:
    """Pack what the nodes of results have saved, up to the nodes that were given to them."""
    stack = [r.node for r in results if isinstance(r, Tensor)]
    while stack:
        node = stack.pop()
        if node is None or node in given or type(node) is PackedNode:
            continue
        stack.extend(node.edges)
        if type(node) is OpNode:
            _pack(node, hooks)


def _pack(node: OpNode, hooks: Hooks) -> None:
    args = [Packed(a, hooks) if type(a) is Tensor else a for a in node.args]
    out = node.out
    if type(out) is tuple:
        out = tuple(Packed(Tensor(o), hooks) for o in out)
    elif out is not None and node.op.tape.saves_out:
        out = Packed(Tensor(out), hooks)
    if out is node.out and Packed not in map(type, args):
        return
    node.args = node.data = tuple(args)
    node.out = out
    node.guards, node.cells, node.versions = (), (), None
    node.__class__ = PackedNode
