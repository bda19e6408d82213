"""Tensors and numbers that are being differentiated, and doing ops on them.

An op is recorded when one of its arguments is connected to a leaf and its result is floating. This
room knows no derivatives; the rules know no recording.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

from gradcli.engine.tape.graph import (
    FREES_DEEP,
    GONE,
    LIVE,
    CompositeNode,
    Inference,
    Node,
    NodeOfName,
    NodeOfOp,
    Site,
    Untracked,
    Version,
    Watchpoint,
    clock,
    free_in_turn,
    seen,
    whole,
)
from gradcli.engine.values import memory
from gradcli.engine.values.carrier import SCALAR, Carrier, Like, data_of, like_of
from gradcli.engine.values.data import NUMBERS, SCALARS, Data, dtype_of, is_floating, np
from gradcli.engine.values.fields import Fields
from gradcli.errors import Diagnostic, Label, RunError, run_error

if TYPE_CHECKING:  # making a protocol takes as long as importing a room
    from typing import Protocol

    from gradcli.engine.tape.graph import Recordable

    class Planned(Protocol):
        """A plan as recording needs it: it computes a node's cotangents, by steps if these are
        known. `fresh` is true if these have memory of their own, unless one is the cotangent
        itself.
        """

        fresh: bool

        @property
        def pulls(self) -> Mapping[Any, Sequence[Callable[..., Sequence[Any]]] | None]: ...

        def pull(self, node: OpNode, g: Any, wanted: tuple[bool, ...] | None) -> Sequence[Any]: ...


_REFER = ("above", "parent", "cut")
"""The fields of views by which one may be the last that refers to another."""

RECORDED, UNRECORDED, ONE_OF_SEVERAL, FROM_OWN_FUNCTION = range(4)
"""How a view was made: by an op of one result, under `no_grad`, by an op of several results, or by
`forward` of an own function. The last three may not be changed in place with recording on, as their
nodes cannot be made again from the base's.
"""


class View:
    """The relation of a tensor to another one whose memory it shares.

    `index` is that among several results of the op, else None. `above` is the parent's own view at
    that time; the parent may have been turned since. `turned` is true if the parent is the tensor
    itself before `turn`. `seen` is the version at which the tensor's node was made: after a change
    of the memory, the node is made again from the base's. A view that was made unrecorded stays a
    constant while the base has the node that it had then, `cut`. In the same way a turned tensor
    keeps its node. `origin` tells how the view was made, and `made` at which version.
    """

    __slots__ = (
        *("above", "cut", "index", "made", "op", "origin", "params", "parent", "seen"),
        "turned",
    )

    def __init__(
        self, parent: Tensor, op: Recordable, params: Mapping[str, Any], index: int | None
    ) -> None:
        self.hang(parent)
        self.op = op
        self.params = dict(params)
        self.index = index
        self.seen = self.made = shared(parent).count
        self.origin = RECORDED if index is None else ONE_OF_SEVERAL
        self.turned = False
        self.cut: Node | None = None

    def hang(self, parent: Tensor) -> None:
        """Make it a view of another one, as that is now."""
        self.parent = parent
        self.above = parent.view

    @property
    def of(self) -> Tensor:
        """The parent as it was; of one that has been turned since, that is another tensor."""
        parent = self.parent
        while parent.view is not self.above and parent.view is not None:
            parent = parent.view.parent
        return parent


if FREES_DEEP:
    View.__del__ = lambda self: free_in_turn(self, _REFER)  # type: ignore[attr-defined]


class Tensor(Carrier):
    """An array with its place in the recorded graph.

    `data` is plain data; `node` the op that made it (an `AccumulateGrad` for a leaf that requires
    grad, None where nothing is recorded) and `index` which of the op's results it is. `version` is
    the counter of changes in place, None until somebody has to watch it, and shared by all tensors
    on the same memory. `parameter` is set of those alone that are parameters of a module.
    """

    __slots__ = ("data", "grad", "index", "node", "parameter", "version", "view", "__weakref__")
    parameter: bool

    def __init__(self, data: Data, node: Node | None = None, index: int = 0) -> None:
        self.data = data
        self.node = node
        self.index = index
        self.version: Version | None = None
        self.view: View | None = None
        self.grad: Tensor | None = None

    def apply(self, op: Recordable, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """The result of the op, recorded if an argument is connected."""
        return (
            apply(op, args, params, None) if op.value.body is None else composed(op, args, params)
        )

    def plain(self) -> Data:
        """The array or number that it holds."""
        return self.data

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
    def recorded(self) -> bool:
        return node_of(self) is not None

    @property
    def is_stale(self) -> bool:
        """True for a view whose base has changed and whose node cannot be made again."""
        try:
            node_of(self)
        except RunError:
            return True
        return False

    @property
    def requires_grad(self) -> bool:
        try:
            node = node_of(self)
        except RunError:
            return True  # only a view of a value with a history is stale
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


class AccumulateGrad(Node):
    """The end of the graph at a leaf: its gradient is added to `variable.grad`.

    The leaf refers to the node, and the node to the leaf weakly: a cycle would keep every leaf of a
    loop until Python's collector runs, which recording delays. The value of a leaf may depend on
    values that only a command differentiates. For the program the graph ends here; the command
    continues at `under`.
    """

    __slots__ = ("_variable",)

    def __init__(self, variable: Tensor, under: Node | None = None, output: int = 0) -> None:
        if under is None:
            super().__init__((), (), True, None)
        else:
            super().__init__((under,), (output,), True, None)
        self._variable = ref(variable)

    @property
    def variable(self) -> Tensor | None:
        """The leaf, or None if nothing refers to it any more."""
        return self._variable()

    def name(self) -> str:
        return "AccumulateGrad"

    @property
    def shown(self) -> Sequence[tuple[Node | None, int]]:
        return ()

    def pull(self, g: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        return (g,) if self.edges else ()

    def push(self, dots: Sequence[Any]) -> Any:
        return dots[0] if dots else None


class Number(Tensor):
    """A Python number that is being differentiated: to the program it is the number it holds, also
    as a key of a dictionary.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return bool(self.data == (other.data if isinstance(other, Number) else other))

    def __hash__(self) -> int:
        return hash(self.data)

    @property
    def is_number(self) -> bool:
        return True


_WRITTEN = "CopySlices"  # a node whose function PyTorch frees


class OpNode(NodeOfOp):
    """One recorded op.

    `args` are the arguments as the rules need them: values that the rules read, of others only a
    `Like`. `data` is the same as plain data at the time of the op. Reverse mode refuses a node
    after a change in place of one of the `guards`, or of the results that `cells` count; `versions`
    are their versions at the time of the op. `whole` is the name that shows in place of its own, of
    an op that it is a part of.
    """

    __slots__ = ("__weakref__", "cells", "data", "guards", "held", "versions", "whole")
    held: tuple[Version, ...]

    def __init__(
        self,
        op: Recordable,
        edges: tuple[Node | None, ...],
        outputs: tuple[int, ...],
        args: tuple[Any, ...],
        params: Mapping[str, Any],
        visible: bool,
        site: Site | None,
    ) -> None:
        self.op = op  # all fields are set here: one call less in every step of a program
        self.edges = edges
        self.outputs = outputs
        self.args = self.data = args
        self.params = params
        self.visible = visible
        self.site = site
        self.seq = clock()
        self.out = None
        self.guards: tuple[Tensor, ...] = ()
        self.cells: tuple[Version, ...] = ()
        self.versions: tuple[int, ...] | None = None
        self.whole: str | None = None
        self.like = None
        self.hooks = None
        self.freed = LIVE
        self.keeps = False

    def name(self) -> str:
        return self.whole or super().name()

    @property
    def places(self) -> Sequence[int]:
        return self.op.node_inputs(self.args, self.params)

    @property
    def saves(self) -> bool:
        if self.versions is not None or self.name() == _WRITTEN:
            return True
        connected = [edge is not None for edge in self.edges]
        return self.op.saves_for(connected, self.args, self.params)

    @property
    def constants(self) -> Sequence[Any]:
        return [a for a in self.args if type(a) in NUMBERS]

    def pull(
        self, g: Any, wanted: Sequence[bool], still: Sequence[Any] | None = None
    ) -> Sequence[Any]:
        """Cotangents of the edges; `still` as in `rules.pull`."""
        if self.versions is not None:
            self.check_unchanged()
        if type(self.like) is tuple:
            g = whole(g, self.like)
        return self.op.pull(g, self.out, self.data, self.params, wanted, still)

    def pull_recorded(
        self, g: Any, wanted: Sequence[bool], still: Sequence[Any] | None = None
    ) -> Sequence[Any]:
        if self.versions is not None:
            self.check_unchanged()
        if type(self.like) is tuple:
            g = whole(g, self.like)
        before = clock()
        out, args = self._result(), self._arguments()
        pulled = self.op.pull(g, out, args, self.params, wanted, still)
        if self.cells and not self.op.tape.saves_out:
            for c in pulled:
                _guard_slope(c, before, self.cells)
        return pulled

    def push(self, dots: Sequence[Any]) -> Any:
        out = self.like if self.out is None else self.out
        return self.op.push(dots, out, self.data, self.params)

    def push_recorded(self, dots: Sequence[Any]) -> Any:
        out = self.like if self.out is None else self._result()
        return self.op.push(dots, out, self._arguments(), self.params)

    def moving(self, marks: Sequence[Any]) -> Any:
        out = self.like if self.out is None else self.out
        return self.op.moving(marks, out, self._unzeroed(), self.params, self.idle())

    def reaching(self, mark: Any, wanted: Sequence[bool]) -> Sequence[Any]:
        if type(self.like) is tuple:
            mark = whole(mark, self.like)
        data = self._unzeroed()
        return self.op.reaching(mark, self.out, data, self.params, wanted, self.idle())

    def _unzeroed(self) -> Sequence[Any]:
        """The arguments that carry marks through the rules of a linear op. A varying factor may be
        zero at this point only, so 1 replaces its zeros.
        """
        if self.op.derivatives.batch is None or self.op.derivatives.partials is not None:
            return self.data
        return [
            x if under is None or not isinstance(x, np.ndarray) else np.where(x == 0, 1.0, x)
            for x, under in zip(self.data, self.edges, strict=True)
        ]

    def idle(self) -> Sequence[Any]:
        """The elements at which the partial by each argument is zero for all values of the
        connected ones, for an element-wise op that does not read its result.
        """
        if self.op.derivatives.partials is None or self.op.tape.saves_out:
            return [False] * len(self.edges)
        connected = [under is not None for under in self.edges]

        def elsewhere() -> list[Any]:
            moved = enumerate(zip(self.data, connected, strict=True))
            return [_elsewhere(x, i) if moves else x for i, (x, moves) in moved]

        return self.op.idle(self.out, self.data, elsewhere, self.params, connected)

    def free(self) -> None:
        self.freed = GONE
        if self.data is not self.args:
            self.args = tuple([like_of(a) if isinstance(a, Tensor) else a for a in self.args])
            self.data = self.args
        if type(self.out) is not float:
            self.out = None

    def _result(self) -> Any:
        """The saved result as a tensor of the graph, with the version counter that watches its
        memory.
        """
        out = self.out
        if type(out) is not tuple:
            return None if out is None else self._part_of_result(out, 0)
        return tuple(
            self._part_of_result(o, i) if is_floating(o) else Tensor(o) for i, o in enumerate(out)
        )

    def _part_of_result(self, data: Data, index: int) -> Tensor:
        made = Tensor(data, self, index)
        if type(data) is not float and self.held:
            made.version = self.held[index]
        return made

    def _arguments(self) -> Sequence[Any]:
        """The arguments as tensors of the graph; those that still have their memory keep its
        version counter.
        """
        if self.data is self.args:
            return self.args
        return [
            _again(a, data, under, index) if isinstance(a, Tensor) and a.version is not None else a
            for a, data, under, index in zip(
                self.args, self.data, self.edges, self.outputs, strict=True
            )
        ]

    def check_unchanged(self) -> None:
        """Raise an error if a saved value has been changed in place since."""
        versions: Any = self.versions
        for x, before in zip(self.guards, versions):  # noqa: B905  # those of the cells follow
            version = x.version
            if version is not None and version.count != before:
                raise self._changed(version)
        if self.cells:
            for cell, before in zip(self.cells, versions[len(self.guards) :], strict=True):
                if cell.count != before:
                    raise self._changed(cell)

    def part(self, place: int) -> None:
        if place < 0:
            out = self.out
            self.out = tuple(map(_copied, out)) if type(out) is tuple else _copied(out)
            self.held = ()
        elif self.freed != GONE:
            data = list(self.data)
            data[place] = _copied(data[place])
            self.data = tuple(data)

    def _changed(self, version: Version | None) -> RunError:
        labels = []
        if self.site is not None:
            labels.append(Label(self.site.span, f"{self.name()} saved it here"))
        if version is not None and version.site is not None:
            labels.append(Label(version.site.span, "it is changed here"))
        message = (
            f"a value that {self.name()} saved for the gradient has been changed in place since"
        )
        help = "change a `clone()` of it, or make the update before the value is used"
        return RunError(Diagnostic("changed-in-place", message, labels=labels, help=help))


class PlannedNode(OpNode):
    """An op on tensors of float64 of shapes that were met before at its place, by that plan."""

    __slots__ = ("plan",)
    plan: Planned

    def pull(
        self, g: Any, wanted: Sequence[bool], still: Sequence[Any] | None = None
    ) -> Sequence[Any]:
        if still is None and type(g) is np.ndarray:
            return self.pull_all(g, tuple(wanted), 0)
        return super().pull(g, wanted, still)

    def pull_all(self, g: Any, wanted: tuple[bool, ...] | None, over: int) -> Sequence[Any]:
        """The cotangents of the wanted edges, None: of all, from that array or number; `over` tells
        what may be written over, as in `steps`.
        """
        if self.versions is not None:
            self.check_unchanged()
        plan = self.plan
        steps = plan.pulls.get(type(g) if wanted is None else (type(g), wanted))
        if steps is None:
            return plan.pull(self, g, wanted)
        return steps[over](g, self.out, *self.data)


_make = object.__new__


def planned(
    op: Recordable,
    edges: tuple[Node | None, ...],
    outputs: tuple[int, ...],
    args: tuple[Any, ...],
    data: tuple[Any, ...],
    params: Mapping[str, Any],
    visible: bool,
    site: Site | None,
    like: Like,
    plan: Planned,
) -> PlannedNode:
    """A `PlannedNode`, made by one call less than by its class."""
    node = _make(PlannedNode)
    node.op = op
    node.edges = edges
    node.outputs = outputs
    node.args = args
    node.data = data
    node.params = params
    node.visible = visible
    node.site = site
    node.seq = clock()
    node.out = None
    node.guards = node.cells = node.held = ()
    node.versions = None
    node.whole = None
    node.like = like
    node.hooks = None
    node.freed = LIVE
    node.keeps = False
    node.plan = plan
    return node


def _elsewhere(x: Any, i: int) -> Any:
    """A place at which no partial of an element-wise op is zero by chance, for argument i."""
    place = 1.0 + 0.001 * (i + 1)
    if type(x) is float:
        return place
    return np.full(x.shape, place, x.dtype) if isinstance(x, np.ndarray) else x


def _again(a: Tensor, data: Data, under: Node | None, index: int) -> Tensor:
    """A saved argument as it was in the graph."""
    made = type(a)(data, under, index)
    if data is a.data:
        made.version = a.version
    return made


def base_of(x: Tensor) -> Tensor:
    """The tensor whose memory a view shows, possibly through other views."""
    while x.view is not None:
        x = x.view.of
    return x


def shows_another(x: Tensor) -> bool:
    """True if a tensor is a view of another one, not only of its own former layout."""
    view = x.view
    while view is not None and view.turned:
        view = view.of.view
    return view is not None


def node_of(x: Tensor) -> Node | None:
    """The node of a tensor. That of a view is made again if its memory has changed."""
    view = x.view
    if view is not None and x.version is not None and view.seen != x.version.count:
        _renew(x)
    return x.node


def _renew(x: Tensor) -> None:
    """Make the node of a view again, from the base's node directly, as PyTorch does."""
    assert x.view is not None
    assert x.version is not None
    chain = []
    base = x
    while base.view is not None:
        chain.append(base)
        base = base.view.of
    if base.node is not x.view.cut or shows_another(x):
        x.node, x.index = _node_of_chain(chain, base, x.version)
    x.view.seen = x.version.count


def _node_of_chain(
    chain: Sequence[Tensor], base: Tensor, version: Version
) -> tuple[Node | None, int]:
    """The node of the first of a chain of views, from that of their base, and its place there."""
    node, index = base.node, base.index
    for tensor in reversed(chain):
        view = tensor.view
        assert view is not None
        if node is None or (view.origin == UNRECORDED and base.node is view.cut):
            return None, 0
        if view.origin != RECORDED and node.visible:
            raise fixed_view(view, version)
        node, index = _node_of_view(tensor, view, node, index), view.index or 0
    return node, index


def _node_of_view(x: Tensor, view: View, under: Node, index: int) -> OpNode:
    """A node of a view that is made of a value of the graph."""
    parent = view.of
    args = (Like(parent.shape, parent.dtype),)
    node = OpNode(view.op, (under,), (index,), args, view.params, under.visible, None)
    if view.index is None:
        node.like = Like(x.shape, x.dtype)
    else:
        assert view.op.statics.shape is not None
        shapes = view.op.statics.shape(parent.shape, **view.params)
        node.like = tuple(Like(shape, parent.dtype) for shape in shapes)
    return node


def fixed_view(view: View, version: Version | None) -> RunError:
    """The error for a change in place with recording on of a view that was made otherwise than by
    an op of one result; or, with the version of the memory, for its use after such a change of the
    base.
    """
    said, why, way_out = _FIXED[view.origin]
    if version is None:
        message = f"{said} is changed in place with recording on: {why}"
    else:
        message = f"{said} is used after a change in place of its base with recording on: {why}"
    labels = (
        []
        if version is None or version.site is None
        else [Label(version.site.span, "it is changed here")]
    )
    if view.origin == UNRECORDED:
        return RunError(Diagnostic("unrecorded-view", message, labels=labels, help=way_out))
    return RunError(Diagnostic("view-in-place", message, labels=labels, help=way_out))


_FIXED = {
    UNRECORDED: (
        "a view that was made under `no_grad`",
        "it is a constant, and its base is not",
        "make the view outside of `no_grad`, or a `clone()` of it inside",
    ),
    ONE_OF_SEVERAL: (
        "a view that is one of several results",
        "its node is that of all of them",
        "take a part by an index, as `x[0]`, or change a `clone()` of it",
    ),
    FROM_OWN_FUNCTION: (
        "a view that an own function returned",
        "its derivative is the function's",
        "let `forward` return a `clone()`",
    ),
}
"""By the origin of a view: its name, why it cannot be changed, and the way out."""


def array_of(x: Tensor) -> Any:
    """The tensor's memory as an array, so that views can share it."""
    if type(x) is Number:
        return np.asarray(x.data)
    if type(x.data) in NUMBERS:
        x.data = np.asarray(x.data)
    return x.data


def version_of(x: Tensor) -> int:
    """The number of changes in place of the tensor's memory."""
    return 0 if x.version is None else x.version.count


def saved_version(x: Tensor) -> int:
    """The number of changes of the memory of a tensor that a node saves.

    Raises:
        RunError: If it was made in inference mode.
    """
    return 0 if x.version is None else x.version.saved()


def leaf(data: Data) -> Tensor:
    """A new leaf that requires grad. `data` must be floating."""
    tensor = Tensor(data)
    tensor.node = AccumulateGrad(tensor)
    return tensor


def of_node(data: Data, name: str) -> Tensor:
    """A tensor that shows a node of this name: a leaf for that of leaves, no node for ""."""
    if name == AccumulateGrad.__name__:
        return leaf(data)
    return Tensor(data, NodeOfName(name) if name else None)


def require_grad(x: Tensor) -> None:
    """Make a leaf of a tensor that, to the program, has no history."""
    x.node, x.index = AccumulateGrad(x, node_of(x), x.index), 0
    x.view = None  # it has no history, not even that of the tensor whose memory it shares


def show(x: Tensor, other: Tensor) -> None:
    """Let a tensor have the memory and the shape of another one. A leaf is a new one: no gradient
    of what was computed of it before reaches it.
    """
    x.data, x.version = array_of(other), shared(other)
    x.version.count += 1
    if x.requires_grad:
        x.node, x.index, x.view = AccumulateGrad(x), 0, None


def freeze(x: Tensor) -> None:
    """Let a leaf no longer require grad. A command that differentiates it still does."""
    x.node, x.index = Watchpoint("", x.node, x.index, None), 0
    x.node.visible = False


def turn(
    x: Tensor, op: Recordable, params: Mapping[str, Any], node: str, site: Site | None
) -> None:
    """Give a tensor itself the layout that a view op gives it, as `x.t_()` does. Other views of the
    memory stay as they are. The recorded node shows as `node`.
    """
    before = Tensor(array_of(x), node_of(x), x.index)
    before.version, before.view = shared(x), x.view
    made = apply(op, [before], params, site)
    x.data, x.node, x.index, x.view = made.data, made.node, made.index, made.view
    if isinstance(made.node, OpNode):
        made.node.whole = node
    before.version.count += 1
    before.version.site = site
    x.view.seen = before.version.count
    x.view.turned = True
    x.view.cut = base_of(before).node


def is_said_to_require_grad(x: Tensor) -> bool:
    """True for what PyTorch says of a tensor that no gradient reaches: a view of one that requires
    grad, however the view was made, or a leaf of inference mode.
    """
    if x.view is not None:
        return base_of(x).requires_grad
    version = x.version
    return isinstance(version, Untracked) and version.leaf is not None and version.leaf() is x


def is_inference(x: Tensor) -> bool:
    """True if the tensor's memory was made in inference mode."""
    return isinstance(x.version, Untracked)


def make_inference(x: Any, mode: Inference) -> None:
    """Note that a new tensor was made in inference mode, unless it shows the memory of another."""
    if type(x) is Tensor and x.version is None:
        x.version = Untracked(mode)
        x.version.leaf = ref(x) if x.requires_grad else None
        x.node = None


def forget(x: Tensor) -> None:
    """Drop the history of a tensor that is not a view of another one."""
    for owner in (x, base_of(x)):
        owner.node, owner.index = None, 0


# doing ops ----------------------------------------------------------------------------------------


def apply(op: Recordable, args: Sequence[Any], params: Mapping[str, Any], site: Site | None) -> Any:
    """Do an op on values, at least one of them a tensor, and record it if one needs a gradient.

    Returns:
        A `Number` when every argument is a number, else a `Tensor`; a tuple of them for an op of
        several outputs.
    """
    out, kind = evaluated(op, args, params)
    if type(out) is tuple:
        return _record_many(op, args, params, out, site)
    result = kind(out)
    if op.differentiable and is_floating(out):
        node = record(op, args, params, site)
        if node is not None:
            keep_result(node, op, result)
            result.node = node
    if op.memory.view:
        share(result, args[0], op, params, None)
    return result


def composed(op: Recordable, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    """The result of an op that is made of others, recorded as one node if PyTorch has one."""
    assert op.value.body is not None
    under = [(node_of(a), a.index) if isinstance(a, Tensor) else (None, 0) for a in args]
    out = op.value.body(*args, **params)
    if isinstance(out, Tensor) and out.view is not None and not _lies_on(args, out):
        out.view = None  # nothing else refers to its base
    if not op.tape.folds and op.tape.guards is None:
        return out
    given = {node for node, _ in under if node is not None}
    results = out if isinstance(out, tuple) else (out,)
    made = [_made(r, given) for r in results]
    if op.tape.guards is not None:
        for node in {node for node, _ in made if isinstance(node, OpNode)}:
            _guard(node, args, asked(op, op.tape.guards, op.tape.guarded, [n for n, _ in under]))
            if op.tape.guards_out:
                _guard_results(node, results)
    if op.tape.folds and any(node is not None for node, _ in made):
        kept = tuple(like_of(a) if isinstance(a, Tensor) else a for a in args)
        folded = CompositeNode(op, kept, params, under, made)
        _name_parts(folded, given)
        likes = tuple(map(like_of, results))
        folded.like = likes if len(likes) > 1 else likes[0]
        folded.keeps = any(n is not None and n.keeps for n, _ in made)
        if folded.keeps:
            folded.out = out.data if isinstance(out, Tensor) else tuple(map(data_of, results))
        for i, (result, (inner, _)) in enumerate(zip(results, made, strict=True)):
            if inner is not None:
                result.node, result.index, result.view = folded, i, None
    return out


def _lies_on(args: Sequence[Any], view: Tensor) -> bool:
    """True if a view is one of an argument."""
    return any(isinstance(a, Tensor) and a.version is view.version for a in args)


def _name_parts(whole: CompositeNode, given: Collection[Node]) -> None:
    """Let the nodes of a composite's parts, up to those given to it, tell its name as theirs."""
    name, stack = whole.name(), [*whole.edges]
    while stack:
        node = stack.pop()
        if isinstance(node, OpNode) and node not in given and node.whole != name:
            node.whole = name
            stack += node.edges


def _made(result: Any, given: Collection[Node]) -> tuple[Node | None, int]:
    """The node of a composite's result, which is not that of an argument, and its place there."""
    node = node_of(result) if isinstance(result, Tensor) else None
    return (None, 0) if node is None or node in given else (node, result.index)


def unrecorded(op: Recordable, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    """Do an op without recording it, under `no_grad`; views still share their memory."""
    out, kind = evaluated(op, args, params)
    if type(out) is tuple:
        results = tuple(map(Tensor, out))
        for i, result in enumerate(results):
            share(result, args[0], op, params, i)
            cut(result)
        return named(op, results)
    result = kind(out)
    share(result, args[0] if args else None, op, params, None)
    cut(result)
    return result


def cut(x: Tensor) -> None:
    """Note that a tensor, if it is a view, was made unrecorded."""
    if x.view is not None:
        x.view.origin = UNRECORDED
        x.view.cut = base_of(x).node


def named(op: Recordable, results: Iterable[Any]) -> tuple[Any, ...]:
    """Several results, with their names where the op gives any."""
    return (
        Fields(op.name.removesuffix("_along"), op.statics.fields, results)
        if op.statics.fields
        else tuple(results)
    )


def record(
    op: Recordable, args: Sequence[Any], params: Mapping[str, Any], site: Site | None
) -> OpNode | None:
    """The node of an op on these arguments, or None where no argument is connected."""
    edges: list[Node | None] = [None] * len(args)
    outputs = [0] * len(args)
    connected = visible = keeps = False
    for i, a in enumerate(args):
        if isinstance(a, Tensor):
            under = a.node if a.view is None else node_of(a)
            if under is not None:
                edges[i] = under
                outputs[i] = a.index
                connected = True
                visible = visible or under.visible
                keeps = keeps or under.keeps
    if not connected:
        return None
    saved, data, kept = [*args], [*args], []
    for i, wanted in enumerate(asked(op, op.tape.reads, op.tape.saves, edges)):
        a = args[i]
        if isinstance(a, Tensor):
            if wanted:
                data[i] = a.data
                kept.append(i)
            else:
                saved[i] = data[i] = like_of(a.data)
    node = OpNode(op, tuple(edges), tuple(outputs), tuple(saved), params, visible, site)
    node.keeps = keeps
    if kept:
        node.data = tuple(data)
    guarded = []
    for i in kept:
        a = args[i]
        if type(a.data) not in NUMBERS:
            (a.version or counter(a)).keep(node, i)
        if type(a) is Tensor:
            guarded.append(a)
    if op.tape.guards is not None:
        _guard(node, args, asked(op, op.tape.guards, op.tape.guarded, edges))
    elif guarded:
        node.guards = tuple(guarded)
        node.versions = tuple(map(saved_version, guarded))
    return node


def _guard(node: OpNode, args: Sequence[Any], asked: Sequence[bool]) -> None:
    """Let a node refuse changes of the arguments that PyTorch saves, those that are asked for."""
    kept = [a for a, guarded in zip(args, asked, strict=False) if guarded and type(a) is Tensor]
    if kept:
        node.guards = (*kept, *node.guards)
        node.versions = (*map(saved_version, kept), *(node.versions or ()))


def _guard_results(node: OpNode, results: Sequence[Any]) -> None:
    """Let a node refuse changes of results that PyTorch saves."""
    cells = tuple(counter(r) for r in results if isinstance(r, Tensor))
    node.cells = (*node.cells, *cells)
    node.versions = (*(node.versions or ()), *(cell.count for cell in cells))


def _guard_slope(c: Any, before: int, cells: tuple[Version, ...]) -> None:
    """Let the node of a cotangent that was recorded since refuse changes of results: PyTorch's
    formula for it reads them where the rule here reads the arguments.
    """
    node = c.node if isinstance(c, Tensor) else None
    if isinstance(node, OpNode) and node.seq > before:
        node.cells = (*node.cells, *cells)
        node.versions = (*(node.versions or ()), *(cell.count for cell in cells))


def asked(
    op: Recordable,
    by_rule: Sequence[tuple[bool, ...]],
    by_all: Sequence[bool],
    edges: Sequence[Node | None],
) -> Sequence[bool]:
    """The arguments that the rules of the connected ones need; `by_all` are those that all rules
    need.
    """
    if op.variadic:
        return by_rule[0] * len(edges) if by_rule else ()
    if None not in edges:
        return by_all
    asked = [row for row, under in zip(by_rule, edges, strict=True) if under is not None]
    return asked[0] if len(asked) == 1 else [any(column) for column in zip(*asked, strict=True)]


def evaluated(
    op: Recordable, args: Sequence[Any], params: Mapping[str, Any]
) -> tuple[Any, type[Tensor]]:
    """The op's plain result, a tuple for several, and its type: `Number` or `Tensor`."""
    kind: type[Tensor] = Number if op.value.number is not None else Tensor
    data = []
    for a in args:
        if isinstance(a, Tensor):
            if type(a) is Tensor:
                kind = Tensor
            data.append(array_of(a) if op.memory.view else a.data)
        else:
            if type(a) not in SCALARS:
                kind = Tensor
            data.append(a)
    if kind is Number:
        out = op.evaluate(data, params)
    else:
        out = op.evaluate_on_tensors(args, data, params)
    if type(out) is not tuple:
        return placed(op, out, data, 0), kind
    return tuple(placed(op, part, data, i) for i, part in enumerate(out)), kind


def placed(op: Recordable, out: Data, data: Sequence[Data], i: int) -> Data:
    """A result with PyTorch's layout, which shares memory only if it does in PyTorch."""
    if type(out) in NUMBERS or (op.memory.view and memory.shares(out, data[0])):
        return out
    return memory.own(out, data, op.memory.layouts[min(i, len(op.memory.layouts) - 1)])


def keep_result(node: OpNode, op: Recordable, result: Tensor) -> None:
    """Let a new node note its result: shape and dtype, and the value where the rules read it."""
    data = result.data
    if type(data) is float:
        # an array beside float32: the fast path of floats would widen its cotangents
        node.out = np.asarray(data) if _narrow(node.args) else data
        node.held = ()
        node.like = SCALAR
    else:
        node.like = Like(data.shape, dtype_of(data))
        if op.tape.saves_out or node.keeps:
            node.out = data.copy() if node.keeps else data
            version = counter(result)
            version.keep(node, -1)
            node.held = (version,)
    if op.tape.guards_out:
        _guard_results(node, [result])


def _narrow(args: Sequence[Any]) -> bool:
    """True if float32 is among the arguments."""
    return any(type(a) not in SCALARS and dtype_of(a) == "float32" for a in args)


def _record_many(
    op: Recordable,
    args: Sequence[Any],
    params: Mapping[str, Any],
    out: tuple[Data, ...],
    site: Site | None,
) -> tuple[Any, ...]:
    results = tuple(map(Tensor, out))
    floating = tuple(map(is_floating, out))
    node = record(op, args, params, site) if op.differentiable and any(floating) else None
    if node is not None:
        node.like = tuple(map(like_of, results))
        if op.tape.saves_out or node.keeps:
            node.out = out
            node.held = tuple([counter(result) for result in results])
            for result in results:
                if type(result.data) not in NUMBERS:
                    counter(result).keep(node, -1)
        if op.tape.guards_out:
            _guard_results(node, [results[i] for i in op.tape.guarded_fields] or results)
        for i, result in enumerate(results):
            if floating[i]:
                result.node = node
                result.index = i
    if op.memory.view:
        for i, result in enumerate(results):
            share(result, args[0], op, params, i)
    return named(op, results)


def share(
    result: Tensor, base: Any, op: Recordable, params: Mapping[str, Any], index: int | None
) -> None:
    """Make a result a view of the op's first argument, whose memory it shares."""
    if op.memory.view and isinstance(base, Tensor) and memory.shares(result.data, base.data):
        result.version = shared(base)
        result.view = View(base, op, params, index)


def part(x: Tensor, others: Sequence[Any]) -> None:
    """Move a new tensor to memory of its own if it shares that of others; it keeps its node."""
    if any(isinstance(y, Tensor) and memory.shares(x.data, y.data) for y in others):
        x.data = x.data.copy(order="K")
        x.version = None
        x.view = None


def _copied(x: Any) -> Any:
    return x.copy(order="K") if isinstance(x, np.ndarray) else x


def counter(x: Tensor) -> Version:
    """The version counter of a tensor's memory, made at its first use."""
    if x.version is None:
        x.version = Version()
    return x.version


def shared(x: Tensor) -> Version:
    """The version counter of memory that another tensor will share."""
    version = counter(x)
    version.shared = True
    return version


def truth(value: Any) -> bool:
    """A condition's value: one bool, number or one-element tensor; text and lists by length."""
    if not isinstance(value, Tensor):
        return bool(value)
    data = value.data
    if type(data) in NUMBERS:
        return bool(data)
    if data.size == 1:
        return bool(data.item())
    raise run_error(
        "ambiguous-condition",
        f"a condition needs one value, got a tensor of shape {list(data.shape)}",
        help="reduce it with `.all()`, `.any()` or an index",
    )
