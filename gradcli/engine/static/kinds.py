"""Kinds of abstract values, and facts about single ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from gradcli.engine.static.inference import stand_in, zero
from gradcli.engine.static.lists import List, linked
from gradcli.engine.static.value import (
    UNLINKED,
    UNSURE,
    Link,
    Value,
    constant,
    number,
    relinked,
    unknown,
    view,
)
from gradcli.engine.values.data import is_whole
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Span

State: TypeAlias = dict[int, Any]


class Slots:
    """The values in a function's own slots, and in those of the functions around it.

    A block that may not run writes on a layer of its own, so that its changes are known without a
    comparison of all slots. `own` is the topmost layer.
    """

    __slots__ = ("_below", "_outer", "own")

    def __init__(self, outer: Slots | None = None) -> None:
        self.own: State = {}
        self._below: list[State] = []
        self._outer = outer

    @property
    def depth(self) -> int:
        """The number of layers below the topmost."""
        return len(self._below)

    def push(self) -> None:
        """Begin a layer."""
        self._below.append(self.own)
        self.own = {}

    def pop(self) -> State:
        """End a layer and return the changes on it."""
        changed = self.own
        self.own = self._below.pop()
        return changed

    def get(self, slot: int) -> Any:
        """The value in a slot; None if there is none."""
        found = self.own.get(slot)
        return self.under(slot) if found is None else found

    def under(self, slot: int) -> Any:
        """The value of a slot below the topmost layer."""
        for layer in reversed(self._below):
            found = layer.get(slot)
            if found is not None:
                return found
        return None if self._outer is None else self._outer.get(slot)

    def since(self, depth: int) -> State:
        """The changes on the layer of that depth and those above it."""
        changed: State = {}
        for layer in (*self._below[depth:], self.own):
            changed.update(layer)
        return changed


class Closure:
    """A function of the program with the slots that it sees and the defaults of its parameters."""

    def __init__(self, function: ir.Function, slots: Slots, defaults: dict[str, Any]) -> None:
        self.function = function
        self.slots = slots
        self.defaults = defaults


class Derivative:
    """The transform of a function; `others` if not by its first argument."""

    def __init__(self, name: str, function: Any, others: Any) -> None:
        self.name = name
        self.function = function
        self.others = others


class Rule:
    """An own differentiable function: its methods by name."""

    def __init__(self, methods: dict[str, Closure]) -> None:
        self.methods = methods


class Applied:
    """`NAME.apply` of an own differentiable function, as a value."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule


class Each:
    """The iterator that `zip` or `enumerate` makes: the items of the parts, behind a number from
    `start` on if there is one.
    """

    def __init__(self, parts: list[Any], start: int | None) -> None:
        self.parts = parts
        self.start = start

    def numbers(self, number: int) -> list[Any]:
        """The number before the items, or nothing."""
        return [] if self.start is None else [constant(self.start + number)]


FUNCTIONS = (Closure, Derivative, Rule, Applied)
"""Callable values of a program, besides built-ins."""


def reached(values: Iterable[Any]) -> Iterator[ir.Function]:
    """The functions of the program among the values, and those that they may call."""
    met: set[int] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if id(value) in met:
            continue
        met.add(id(value))
        if isinstance(value, Closure):
            if id(value.function) not in met:  # many closures may have it
                met.add(id(value.function))
                yield from visit.all_functions(value.function)
            stack += value.defaults.values()
            held = map(value.slots.get, value.function.captures)
            stack += [part for part in held if part is not None]
        elif isinstance(value, Derivative):
            stack.append(value.function)
        elif isinstance(value, Rule):
            stack += value.methods.values()
        elif isinstance(value, Applied):
            stack.append(value.rule)
        elif isinstance(value, List):
            stack += value.any
        elif isinstance(value, (tuple, Each)):
            stack += value.parts if isinstance(value, Each) else value


def example(value: Any) -> Any:
    """A value of the kind of one, for what asks for no more; None if nothing is known."""
    if isinstance(value, (List, tuple)):
        return [] if isinstance(value, List) else ()
    tensor = stand_in(value)
    if tensor is not None or not isinstance(value, Value):
        return tensor
    if value.known is not UNSURE:
        return value.known
    if value.shape is None:
        return None
    return zero(value.dtype)


def identical(left: Any, right: Any, name: str) -> Any:
    """True if two values are one, where one of them is None."""
    nones = [isinstance(v, Value) and v.known is None for v in (left, right)]
    if any(nones):
        other = left if nones[1] else right
        if all(nones) or not isinstance(other, Value) or other.shape is not None:
            return constant(all(nones) is (name == "is"))
    return number("bool")


def attribute(value: Any, name: str) -> Any:
    """`value.name` of a tensor."""
    if not isinstance(value, Value) or value.shape is None:
        return unknown(linked([value]))
    match name:
        case "shape":
            return constants(value.shape)
        case "ndim":
            return constant(len(value.shape))
        case "T":
            return view(value, value.shape[::-1])
        case "mT" if len(value.shape) > 1:
            *rest, rows, columns = value.shape
            return view(value, (*rest, columns, rows))
        case "data":
            return relinked(view(value, value.shape), UNLINKED)
    return unknown()


def constants(value: Any) -> Any:
    """An int, or a tuple of them, that is known."""
    return tuple(map(constant, value)) if isinstance(value, tuple) else constant(value)


def parts(value: Any) -> list[Any] | None:
    """The items of a list or tuple, if they are known."""
    if isinstance(value, List):
        return None if value.items is None else list(value.items)
    return list(value) if type(value) is tuple else None


def is_text(value: Any) -> bool:
    """True if a value is a string that is known."""
    return isinstance(value, Value) and type(value.known) is str


def flattened(found: Any, name: str, span: Span, args: Sequence[Any]) -> Any:
    """The value of a flat operation: no gradient passes through it."""
    link = linked(args)
    numbers = all(isinstance(a, Value) and is_whole(a.dtype) for a in args)
    if not isinstance(found, Value) or not link.smooth or numbers:
        return found
    return relinked(found, Link(True, False, link.flats | {(name, span)}))


def steady(found: Any) -> Any:
    """A value that was not recorded."""
    if isinstance(found, tuple):
        return tuple(map(steady, found))
    return relinked(found, UNLINKED) if isinstance(found, Value) else found
