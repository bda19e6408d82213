"""Tensors and numbers that are being differentiated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.tape.graph import AccumulateGrad, Node, Version, seen
from gradcli.engine.values.data import NUMBERS, Data, dtype_of, np, shape_of


class Like:
    """Shape and dtype of a value whose numbers nobody needs: what a rule gets for an argument
    that its op does not save.
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)


SCALAR = Like((), "float64")


class Abstract:
    """A value without numbers, of which something else is known: its name, or its shape. Ops done
    on it are done by it.
    """

    __slots__ = ()

    def apply(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """What the op makes of the arguments, this being one of them."""
        raise NotImplementedError


class View:
    """How a tensor came from another one with which it shares its memory.

    `seen` is the version at which the tensor's node was made: when the memory has changed since,
    the node is made anew from the parent's.
    """

    __slots__ = ("op", "params", "parent", "seen")

    def __init__(self, parent: Tensor, op: Any, params: dict[str, Any], seen: int) -> None:
        self.parent = parent
        self.op = op
        self.params = params
        self.seen = seen


class Tensor:
    """An array with its place in the recorded graph.

    `data` is plain data; `node` the op that made it (an `AccumulateGrad` for a leaf that requires
    grad, None where nothing is recorded) and `index` which of the op's results it is. `version` is
    the counter of changes in place, None until somebody has to watch it, and shared by all tensors
    on the same memory.
    """

    __slots__ = ("data", "grad", "index", "node", "version", "view", "__weakref__")

    def __init__(self, data: Data, node: Node | None = None, index: int = 0) -> None:
        self.data = data
        self.node = node
        self.index = index
        self.version: Version | None = None
        self.view: View | None = None
        self.grad: Tensor | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        data = self.data
        return () if type(data) in NUMBERS else data.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> str:
        return dtype_of(self.data)

    @property
    def requires_grad(self) -> bool:
        node = node_of(self)
        return node is not None and node.visible

    @property
    def is_leaf(self) -> bool:
        node = seen(node_of(self))
        return node is None or type(node) is AccumulateGrad

    @property
    def grad_fn(self) -> Node | None:
        node = seen(node_of(self))
        return None if type(node) is AccumulateGrad else node

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.data!r})"


class Number(Tensor):
    """A Python number that is being differentiated: to the program it is the number it holds."""

    __slots__ = ()


Value: TypeAlias = Any
"""What an op takes and gives: plain data or a `Tensor`."""


class Fields(tuple[Any, ...]):
    """Several results of one op, with names: `max(x, 0).values`."""

    name: str
    names: tuple[str, ...]

    def __new__(cls, name: str, names: tuple[str, ...], values: Iterable[Any]) -> Fields:
        made = super().__new__(cls, values)
        made.name = name
        made.names = names
        return made


def node_of(x: Tensor) -> Node | None:
    """Node of a tensor, made anew where a view's memory has changed under it."""
    view = x.view
    if view is not None and x.version is not None and view.seen != x.version.count:
        _renew(x)
    return x.node


def _renew(x: Tensor) -> None:
    chain = []
    while x.view is not None and x.version is not None and x.view.seen != x.version.count:
        chain.append(x)
        x = x.view.parent
    for tensor in reversed(chain):
        view = tensor.view
        assert view is not None
        assert tensor.version is not None
        view.seen = tensor.version.count
        parent = view.parent
        under = parent.node
        if under is None:
            tensor.node = None
            continue
        args = (Like(parent.shape, parent.dtype),)
        node = Node(view.op, (under,), (parent.index,), args, view.params, under.visible, None)
        node.like = Like(tensor.shape, tensor.dtype)
        tensor.node = node
        tensor.index = 0


def array_of(x: Tensor) -> Any:
    """The tensor's memory as an array, so that views can share it."""
    if type(x.data) in NUMBERS:
        x.data = np.asarray(x.data)
    return x.data


def data_of(x: Value) -> Data:
    """Plain data of a value."""
    return x.data if isinstance(x, Tensor) else x


def like_of(x: Value) -> Like:
    """Shape and dtype of a value."""
    if type(x) in NUMBERS:
        return SCALAR if type(x) is float else Like((), dtype_of(x))
    return Like(shape_of(x), dtype_of(x))


def version_of(x: Tensor) -> int:
    """How often the tensor's memory has been changed in place."""
    return 0 if x.version is None else x.version.count


def leaf(data: Data) -> Tensor:
    """A new leaf that requires grad. `data` must be floating."""
    tensor = Tensor(data)
    tensor.node = AccumulateGrad(tensor)
    return tensor
