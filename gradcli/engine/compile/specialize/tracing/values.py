"""What a name may hold while a program is specialized: Python's own values where they are known, a
`Symbol` for a number that is not, and these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli import ir
from gradcli.engine.compile.specialize.tracing.liveness import Liveness
from gradcli.engine.compile.symbols import Builder, Symbol
from gradcli.engine.compile.typed import (
    DTYPES,
    NotCompilable,
    dtype_and_shape,
    is_array,
    type_of,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import NUMBERS


class Cell(Carrier):
    """A tensor that is one value of the typed program, be it 0-d or an array: what holds it sees
    each change in place.

    Fields:
        visible: whether it requires grad, as the program sees it; None where that is not known.
        leaf: whether it is a leaf that does.
        saved: whether a rule reads the number, which must not be changed in place any more.
        frozen: whether it is not known who else holds the same memory.
        birth: when it was made, by the trace's clock.
        base: the tensor of which it is a view, and what that was then.
        whole: whether as a view it shows all of that.
        grad: what the program's own passes have left there.
        replaced: whether its `data` has been set, which views made before do not show.
    """

    __slots__ = (
        *("_builder", "_number", "base", "birth", "frozen", "grad", "leaf"),
        *("replaced", "saved", "visible", "whole"),
    )

    def __init__(self, number: Any, visible: bool | None, birth: int, builder: Builder) -> None:
        self.base: tuple[Cell, Any] | None = None
        self.grad: Cell | None = None
        self._number = number
        self.visible = visible
        self.leaf = self.saved = self.frozen = self.replaced = self.whole = False
        self.birth = birth
        self._builder = builder

    @property
    def number(self) -> Any:
        """The number in it, or the array that it is: a view shows what its base is now."""
        if self.base is not None and self.base[0].number is not self.base[1]:
            if not self.whole or self.base[0].replaced:
                raise NotCompilable("a view is read whose base has changed", self._builder.span)
            return self._builder.cut(self.base[0].number)
        return self._number

    @number.setter
    def number(self, number: Any) -> None:
        self._number = number

    @property
    def stored(self) -> Any:
        """Likewise behind a branch or turn, where it is too late to read a view anew."""
        if self.base is not None and self.base[0].number is not self.base[1]:
            raise NotCompilable("a view is read whose base has changed", self._builder.span)
        return self._number

    @property
    def goes_back(self) -> bool:
        """Whether the program goes back through the graph that it may be in."""
        return self._builder.graph is not None

    def let_go(self) -> None:
        """Note that it is not known any more who holds its memory."""
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
        raise NotCompilable("an op looks at what is known only when it runs", self._builder.span)


class Vector(Carrier):
    """A tensor with dimensions, of known shape: `numbers` are its elements, in their order. It is
    never changed. `visible` is as of a 0-d tensor; it is `dense` if it is known that its elements
    lie side by side in memory.
    """

    __slots__ = ("_builder", "dense", "numbers", "shape", "visible")

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
        self._builder = builder

    @property
    def ndim(self) -> int:
        return len(self.shape)

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
    """The names of one call of a function: what its slots hold, the frame around it, and when it
    was made.
    """

    __slots__ = ("birth", "live", "parent", "slots")

    def __init__(self, parent: Frame | None, live: Liveness, birth: int) -> None:
        self.parent = parent
        self.live = live
        self.birth = birth
        self.slots: dict[Any, Any] = {}

    def holder(self, slot: int) -> Frame:
        """The frame whose slot it is."""
        frame = self
        while slot not in frame.slots and frame.parent is not None:
            frame = frame.parent
        return frame

    def around(self) -> list[Any]:
        """What the names of the frames around hold."""
        found: list[Any] = []
        outer = self.parent
        while outer is not None:
            found += outer.slots.values()
            outer = outer.parent
        return found


class Closure:
    """A function of the program with the names around it and the defaults of its parameters."""

    __slots__ = ("defaults", "frame", "function")

    def __init__(self, function: ir.Function, frame: Frame, defaults: dict[str, Any]) -> None:
        self.function = function
        self.frame = frame
        self.defaults = defaults


class Range:
    """A `range` of which a bound is not known; its step is."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: int) -> None:
        self.start = start
        self.stop = stop
        self.step = step


class Each:
    """What `enumerate` and `zip` give: items that are gone through once, of lists with what these
    hold.
    """

    __slots__ = ("items", "sources")

    def __init__(
        self, items: Sequence[Any], sources: Sequence[tuple[list[Any], Sequence[Any]]]
    ) -> None:
        self.items: Sequence[Any] | None = items
        self.sources = sources


class Row:
    """An item of a tensor that something goes through: it is taken when its turn has come."""

    __slots__ = ("at", "tensor")

    def __init__(self, tensor: Vector | Cell, at: int) -> None:
        self.tensor = tensor
        self.at = at


def taken(item: Any) -> Any:
    """What an item is, when its turn has come."""
    if isinstance(item, Row):
        return ops.getitem(item.tensor, index=item.at)
    return tuple(map(taken, item)) if type(item) is tuple else item


class Text:
    """A text made of values that are not known: `make` of them."""

    __slots__ = ("make", "values")

    def __init__(self, make: Callable[..., str], values: Sequence[Any]) -> None:
        self.make = make
        self.values = tuple(values)


class Transform:
    """A function made of another: `call` gives what it gives for arguments."""

    __slots__ = ("call",)

    def __init__(self, call: Callable[[Sequence[Any], Mapping[str, Any]], Any]) -> None:
        self.call = call


class Either:
    """A value that is one thing where `test` is true, else another: numbers of two types, or a
    number and a 0-d tensor, in the order of their kinds.
    """

    __slots__ = ("orelse", "test", "then")

    def __init__(self, test: Any, then: Any, orelse: Any) -> None:
        self.test = test
        self.then = then
        self.orelse = orelse

    def kinds(self) -> dict[tuple[bool, str], Any]:
        """What it may be, by kind."""
        return {kind(self.then): self.then, kind(self.orelse): self.orelse}


class Own:
    """A function with derivative rules of its own: its methods by name."""

    __slots__ = ("methods", "name")

    def __init__(self, name: str, methods: dict[str, Closure]) -> None:
        self.name = name
        self.methods = methods


class Context:
    """What an own function's `ctx` is: `forward` leaves on it what the rules need.

    Fields:
        depth: of how many open blocks it is: it is written to in no branch and no loop.
    """

    __slots__ = ("constants", "depth", "fields", "needs_input_grad", "saved")

    def __init__(self, needs_input_grad: tuple[Any, ...], depth: int) -> None:
        self.needs_input_grad = needs_input_grad
        self.depth = depth
        self.fields: dict[str, Any] = {}
        self.saved: tuple[Any, ...] = ()
        self.constants: tuple[Any, ...] = ()


class Conflict:
    """What a name holds that got different things on different ways: reading it cannot be said."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Maybe:
    """A value that a name has only where `assigned` is true."""

    __slots__ = ("assigned", "value")

    def __init__(self, value: Any, assigned: Any) -> None:
        self.value = value
        self.assigned = assigned


MISSING: Any = Conflict("a name has no value")
"""What a name holds that has got nothing."""

DEAD: Any = Conflict("nothing reads it")
"""What a name holds on a way on which nobody reads it."""


def is_number(value: Any) -> bool:
    """Whether it is a number, known or not."""
    return type(value) in NUMBERS or type(value) is Symbol


def is_whole(value: Any) -> bool:
    """Whether it is a tensor that is one array of the typed program."""
    return isinstance(value, Cell) and is_array(number_type(value.number))


def number_type(value: Any) -> str:
    """The type of a number, known or not."""
    return type_of(value.value if type(value) is Symbol else value)


def kind(value: Any) -> tuple[bool, str]:
    """Whether it is a tensor, and the type of its number."""
    is_cell = isinstance(value, Cell)
    return is_cell, number_type(value.number if is_cell else value)


def kinds(value: Any) -> dict[tuple[bool, str], Any]:
    """What a value may be, by kind; nothing where it is no number or 0-d tensor."""
    if isinstance(value, Either):
        return value.kinds()
    return {kind(value): value} if is_number(value) or isinstance(value, Cell) else {}


_UNKNOWN = (
    Symbol,
    Cell,
    Vector,
    Row,
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
    """Whether all of a value is known: nothing in it is specialized."""
    if isinstance(value, (list, tuple)):
        return all(map(is_known, value))
    if type(value) is slice:
        return all(map(is_known, (value.start, value.stop, value.step)))
    return not isinstance(value, _UNKNOWN)
