"""The values that a name may hold during specialization: Python values if known, a `Symbol` for an
unknown number, and the classes below.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.compile.specialize.tracing.liveness import Liveness
from gradcli.engine.compile.symbols import Builder, Symbol
from gradcli.engine.compile.typed import (
    DTYPES,
    NotCompilable,
    array_type,
    dtype_and_shape,
    is_array,
    type_of,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import NUMBERS
from gradcli.ir import program as ir

Kind: TypeAlias = tuple[str, str]
"""A class of values, and the type in it; None and each known text is a type of its own."""

MOST_ITEMS = 2**16
"""The most items of a value that are followed one by one while code is made."""


class Cell(Carrier):
    """A tensor that is one value of the typed program: 0-d, or an array. All its holders see a
    change in place.

    Fields:
        visible: it requires grad, as the program sees it; None if unknown.
        leaf: it is a leaf that requires grad; None if unknown, of what never goes back by itself.
        saved: a rule reads its number, so a change in place is no longer allowed.
        frozen: unknown code may hold the same memory.
        birth: the time of its creation, by the trace's clock.
        base: the tensor that it is a view of, and the number of that tensor then.
        viewed: another tensor is a view of it.
        whole: as a view, it shows all of its base.
        grad: the gradient left by the program's own passes.
        replaced: whether its `data` has been set, which views made before do not show.
        node: of one that requires grad and is no leaf, the place of its node's name among those of
            the trace; None if unknown. `origin` reads it.
    """

    __slots__ = (
        *("_base", "_builder", "_number", "birth", "frozen", "grad", "leaf", "node"),
        *("replaced", "saved", "viewed", "visible", "whole"),
    )

    def __init__(self, number: Any, visible: bool | None, birth: int, builder: Builder) -> None:
        self._base: tuple[Cell, Any] | None = None
        self.viewed = False
        self.grad: Cell | None = None
        self._number = number
        self.visible = visible
        self.leaf: bool | None = False
        self.saved = self.frozen = self.replaced = self.whole = False
        self.birth = birth
        self.node: Any = None
        self._builder = builder

    @property
    def number(self) -> Any:
        """Its number or array. A view shows the present number of its base."""
        if self.base is not None and self.base[0].number is not self.base[1]:
            if not self.whole or self.base[0].replaced:
                raise NotCompilable("a view is read whose base has changed", self._builder.span)
            return self._builder.cut(self.base[0].number)
        return self._number

    @number.setter
    def number(self, number: Any) -> None:
        self._number = number

    @property
    def base(self) -> tuple[Cell, Any] | None:
        return self._base

    @base.setter
    def base(self, base: tuple[Cell, Any]) -> None:
        self._base = base
        base[0].viewed = True

    @property
    def stored(self) -> Any:
        """Its number or array after a branch or turn, where a view cannot be read again."""
        if self.base is not None and self.base[0].number is not self.base[1]:
            raise NotCompilable("a view is read whose base has changed", self._builder.span)
        return self._number

    @property
    def is_leaf(self) -> bool:
        """True if it is a leaf.

        Raises:
            NotCompilable: If that depends on the path.
        """
        if self.leaf is None:
            raise NotCompilable("a tensor is a leaf on one of two paths", self._builder.span)
        return self.leaf

    @property
    def goes_back(self) -> bool:
        """True if the program itself takes gradients."""
        return self._builder.graph is not None

    def let_go(self) -> None:
        """Record that unknown code may hold its memory."""
        self.frozen = True
        if self.base is not None:
            self.base[0].let_go()

    @property
    def shape(self) -> tuple[int, ...]:
        return dtype_and_shape(number_type(self.number))[1]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> str:
        return dtype_and_shape(number_type(self.number))[0]

    @property
    def in_order(self) -> bool:
        return self._builder.is_in_order(self.number)

    def apply(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        return self._builder.do(op, args, params)

    def __array__(self, *args: Any, **named: Any) -> Any:
        raise NotCompilable("an op looks at a value known only at run time", self._builder.span)


class Vector(Carrier):
    """A scalarized tensor: one number for each element. It is immutable.

    Fields:
        numbers: its elements, in order.
        visible: it requires grad, as the program sees it; None if unknown.
        dense: the interpreter's tensor is certainly contiguous.
        node: as of a `Cell`; the place of a leaf's, too.
    """

    __slots__ = ("_builder", "dense", "node", "numbers", "shape", "visible")

    def __init__(
        self,
        numbers: Sequence[Any],
        shape: Sequence[int],
        visible: bool | None,
        builder: Builder,
        dense: bool = False,
    ) -> None:
        self.dense = dense
        self.numbers = tuple(numbers)
        self.shape = tuple(shape)
        self.visible = visible
        self.node: Any = None
        self._builder = builder

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_leaf(self) -> bool:
        """True if it is a leaf that requires grad."""
        return self.visible is True and type(self.node) is int and self.node == LEAF

    @property
    def type(self) -> str:
        """The type of its elements."""
        return number_type(self.numbers[0])

    @property
    def dtype(self) -> str:
        return DTYPES[self.type]

    def apply(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        return self._builder.do(op, args, params)


class Frame:
    """The slots of one call of a function, with the enclosing frame and the time of its
    creation.

    Fields:
        outer: the slots of enclosing functions that the function writes.
        block: the open block in which its last instruction was specialized.
    """

    __slots__ = ("birth", "block", "live", "outer", "parent", "slots")

    def __init__(self, parent: Frame | None, live: Liveness, birth: int) -> None:
        self.parent = parent
        self.live = live
        self.birth = birth
        self.block: object = None
        self.outer: Collection[int] = ()
        self.slots: dict[Any, Any] = {}

    def holder(self, slot: int) -> Frame:
        """Return the frame that has the slot."""
        frame = self
        while slot not in frame.slots and frame.parent is not None:
            frame = frame.parent
        return frame

    def nested(self) -> Iterator[Frame]:
        """Return the frame and the enclosing ones, from the inside to the outside."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent

    def around(self) -> list[Any]:
        """Return the values of the enclosing frames."""
        return [v for frame in self.nested() if frame is not self for v in frame.slots.values()]


class Closure:
    """A function of the program with the names around it and the defaults of its parameters."""

    __slots__ = ("defaults", "frame", "function")

    def __init__(self, function: ir.Function, frame: Frame, defaults: dict[str, Any]) -> None:
        self.function = function
        self.frame = frame
        self.defaults = defaults


class Range:
    """A `range` with an unknown bound and a known step."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: int) -> None:
        self.start = start
        self.stop = stop
        self.step = step


class Each:
    """An iterator made by `enumerate`, `zip` or the methods of a dictionary.

    Fields:
        items: its items; None after iteration.
        sources: the lists and dictionaries that it reads, with their items or keys at its creation.
    """

    __slots__ = ("items", "sources")

    def __init__(
        self, items: Sequence[Any], sources: Sequence[tuple[Collection[Any], Sequence[Any]]]
    ) -> None:
        self.items: Sequence[Any] | None = items
        self.sources = sources


class Row:
    """An item of a tensor in an iteration; it is read when its turn comes."""

    __slots__ = ("at", "tensor")

    def __init__(self, tensor: Vector | Cell, at: int) -> None:
        self.tensor = tensor
        self.at = at


class Entry:
    """A value of a dictionary in an iteration; it is read when its turn comes."""

    __slots__ = ("items", "key")

    def __init__(self, items: dict[Any, Any], key: Any) -> None:
        self.items = items
        self.key = key


def taken(item: Any) -> Any:
    """Return an item when its turn comes."""
    if isinstance(item, Row):
        return ops.getitem(item.tensor, index=item.at)
    if isinstance(item, Entry):
        return item.items[item.key]
    return tuple(map(taken, item)) if type(item) is tuple else item


class Text:
    """A text made from unknown values by `make`."""

    __slots__ = ("make", "values")

    def __init__(self, make: Callable[..., str], values: Sequence[Any]) -> None:
        self.make = make
        self.values = tuple(values)


class Transform:
    """A function made from another by a transform; `call` applies it to arguments."""

    __slots__ = ("call",)

    def __init__(self, call: Callable[[Sequence[Any], Mapping[str, Any]], Any]) -> None:
        self.call = call


class Either:
    """A value of one of two kinds, stored with a type flag: `then` if `test` is true, else
    `orelse`. The two are numbers, tensors, None or texts, in the order of their kinds.
    """

    __slots__ = ("orelse", "test", "then")

    def __init__(self, test: Any, then: Any, orelse: Any) -> None:
        self.test = test
        self.then = then
        self.orelse = orelse

    def kinds(self) -> dict[Kind, Any]:
        """Return its two possible values by kind."""
        return {kind(self.then): self.then, kind(self.orelse): self.orelse}


class Own:
    """A function with its own derivative rules: its methods by name."""

    __slots__ = ("methods", "name")

    def __init__(self, name: str, methods: dict[str, Closure]) -> None:
        self.name = name
        self.methods = methods


class Context:
    """The `ctx` of an own function, on which `forward` saves values for the rules.

    Fields:
        depth: the number of open blocks at its creation. Code in a branch or loop may not write to
            it.
    """

    __slots__ = ("constants", "depth", "fields", "needs_input_grad", "saved")

    def __init__(self, needs_input_grad: tuple[Any, ...], depth: int) -> None:
        self.needs_input_grad = needs_input_grad
        self.depth = depth
        self.fields: dict[str, Any] = {}
        self.saved: tuple[Any, ...] = ()
        self.constants: tuple[Any, ...] = ()


class Conflict:
    """Stands for a name with values that do not merge on different paths; reading it is refused."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Maybe:
    """A value that a name has only if `assigned` is true."""

    __slots__ = ("assigned", "value")

    def __init__(self, value: Any, assigned: Any) -> None:
        self.value = value
        self.assigned = assigned


MISSING: Any = Conflict("a name has no value")
"""The value of an unassigned name."""

DEAD: Any = Conflict("nothing reads it")
"""The value of a name on a path on which nothing reads it."""


CONSTANT = 0
LEAF = 1
"""The origins of tensors that require no grad, and of leaves; others have the places of the names
of their nodes.
"""


def origin(x: Cell | Vector) -> Any:
    """Return where a tensor comes from, as the program sees it, a number; None if unknown."""
    if x.visible is False:
        return CONSTANT
    if isinstance(x, Cell) and x.leaf:
        return LEAF
    is_stale = isinstance(x, Cell) and x.base is not None and x.base[0].number is not x.base[1]
    return None if is_stale else x.node


def joint(seen: Sequence[bool | None]) -> bool | None:
    """Return whether the result of an op requires grad, from those of its arguments."""
    return True if True in seen else None if None in seen else False


def parts(value: Any) -> Sequence[Any]:
    """Return the items of a list or tuple, the values of a dictionary, and those that a value may
    be; of others none.
    """
    if isinstance(value, dict):
        return [*value.values()]
    if isinstance(value, Either):
        return value.then, value.orelse
    if isinstance(value, Maybe):
        return (value.value,)
    return value if isinstance(value, (list, tuple)) else ()


def is_number(value: Any) -> bool:
    """True for a number, known or unknown."""
    return type(value) in NUMBERS or type(value) is Symbol


def is_whole(value: Any) -> bool:
    """True for a tensor that is one array of the typed program."""
    return isinstance(value, Cell) and is_array(number_type(value.number))


def number_type(value: Any) -> str:
    """Return the type of a number, known or unknown."""
    return type_of(value.value if type(value) is Symbol else value)


def is_word(value: Any) -> bool:
    """True for None and a known text, each of which is a kind of its own."""
    return value is None or type(value) is str


def kind(value: Any) -> Kind:
    """Return the kind of a number, tensor, None or text."""
    if is_word(value):
        return "word", repr(value)
    if isinstance(value, Vector):
        return "vector", array_type(value.dtype, value.shape)
    is_cell = isinstance(value, Cell)
    return ("tensor", number_type(value.number)) if is_cell else ("number", number_type(value))


def kinds(value: Any) -> dict[Kind, Any]:
    """Return the possible values by kind; empty unless it is a number, tensor, None or text."""
    if isinstance(value, Either):
        return value.kinds()
    has_kind = is_number(value) or is_word(value) or isinstance(value, (Cell, Vector))
    return {kind(value): value} if has_kind else {}


_UNKNOWN = (
    Symbol,
    Cell,
    Vector,
    Row,
    Entry,
    Either,
    Range,
    Each,
    Text,
    Closure,
    Transform,
    Own,
    Context,
    Conflict,
    Maybe,
)


def is_known(value: Any) -> bool:
    """True if all of a value is known."""
    if isinstance(value, (list, tuple, dict)):
        return all(map(is_known, parts(value)))
    if type(value) is slice:
        return all(map(is_known, (value.start, value.stop, value.step)))
    return not isinstance(value, _UNKNOWN)
