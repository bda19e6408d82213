"""Types of loop-carried values, found by fixed-point iteration over the loop body."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.compile.specialize.tracing.branches import same_number
from gradcli.engine.compile.specialize.tracing.trace import CONTENTS, Trace, content, flags
from gradcli.engine.compile.specialize.tracing.values import (
    DEAD,
    MISSING,
    Cell,
    Conflict,
    Either,
    Kind,
    Maybe,
    Vector,
    is_known,
    is_number,
    is_whole,
    kinds,
    number_type,
    origin,
)
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import Operand, nothing


class Changed(Exception):
    """A name holds another kind of number after a turn than before it, for this reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Form:
    """The form of a loop-carried value, the same at the head of every turn. `flat` takes the
    numbers out of such a value, `made` builds one from numbers. This base class is for values that
    never change; they have no numbers.
    """

    def __init__(self, same: Any) -> None:
        self.same = same

    def types(self) -> list[str]:
        """Return the types of the numbers."""
        return []

    def flat(self, value: Any) -> list[Operand] | None:
        """Return the numbers in a value; None if it has another form."""
        return [] if _is_same(self.same, value) else None

    def made(self, numbers: Iterator[Any], trace: Trace) -> Any:
        """Return a value with these numbers."""
        return self.same


class NumberForm(Form):
    """A number or array of a type; a `dense` array is contiguous."""

    def __init__(self, type_: str, *, dense: bool = False) -> None:
        self.type = type_
        self.dense = dense

    def types(self) -> list[str]:
        return [self.type]

    def flat(self, value: Any) -> list[Operand] | None:
        if value is DEAD or value is MISSING:
            return [nothing(self.type)]
        if self.dense and not is_dense(value):
            return None
        return [operand(value)] if is_number(value) and number_type(value) == self.type else None

    def made(self, numbers: Iterator[Any], trace: Trace) -> Any:
        number = next(numbers)
        if self.dense:
            trace.dense.add(number.value.number)
        return number


class MaybeForm(Form):
    """A value that may not have been assigned yet."""

    def __init__(self, inner: NumberForm) -> None:
        self.inner = inner

    def types(self) -> list[str]:
        return ["bool", *self.inner.types()]

    def flat(self, value: Any) -> list[Operand] | None:
        flag = value.assigned if isinstance(value, Maybe) else value is not MISSING
        found = self.inner.flat(value.value if isinstance(value, Maybe) else value)
        return None if found is None else [operand(flag), *found]

    def made(self, numbers: Iterator[Any], trace: Trace) -> Any:
        assigned = next(numbers)
        return Maybe(self.inner.made(numbers, trace), assigned)


class EitherForm(Form):
    """A value of one of two kinds, each with its form, in their order."""

    def __init__(self, forms: Mapping[Kind, Form]) -> None:
        self.forms = forms

    def types(self) -> list[str]:
        return ["bool", *(t for form in self.forms.values() for t in form.types())]

    def flat(self, value: Any) -> list[Operand] | None:
        found = kinds(value)
        is_nothing = value is DEAD or value is MISSING
        if not (found or is_nothing) or not found.keys() <= self.forms.keys():
            return None
        first = next(iter(self.forms))
        flat = [operand(value.test if isinstance(value, Either) else first in found)]
        for kind, form in self.forms.items():
            absent: list[Operand] = [nothing(type_) for type_ in form.types()]
            numbers = form.flat(found[kind]) if kind in found else absent
            if numbers is None:
                return None
            flat += numbers
        return flat

    def made(self, numbers: Iterator[Any], trace: Trace) -> Any:
        trace.splits = True
        test = next(numbers)
        return Either(test, *(form.made(numbers, trace) for form in self.forms.values()))


class TupleForm(Form):
    """A tuple of forms."""

    def __init__(self, items: list[Form]) -> None:
        self.items = items

    def types(self) -> list[str]:
        return [t for form in self.items for t in form.types()]

    def flat(self, value: Any) -> list[Operand] | None:
        if type(value) is not tuple or len(value) != len(self.items):
            return None
        return _flat(self.items, value)

    def made(self, numbers: Iterator[Any], trace: Trace) -> Any:
        return tuple(form.made(numbers, trace) for form in self.items)


class ListForm(TupleForm):
    """A list of forms, a new list in each turn."""

    def flat(self, value: Any) -> list[Operand] | None:
        return super().flat(tuple(value)) if type(value) is list else None

    def made(self, numbers: Iterator[Any], trace: Trace) -> Any:
        found = list(super().made(numbers, trace))
        trace.freeze(found)
        return found


class CellForm(Form):
    """A tensor, a new one in each turn; unknown code may hold it."""

    def __init__(
        self, number: Form, node: Form, leaf: bool | None, visible: bool | None, saved: bool
    ) -> None:
        self.number = number
        self.node = node
        self.leaf = leaf
        self.visible = visible
        self.saved = saved

    def types(self) -> list[str]:
        return [*self.number.types(), *self.node.types()]

    def flat(self, value: Any) -> list[Operand] | None:
        if value is DEAD or value is MISSING:
            return [nothing(type_) for type_ in self.types()]
        if not isinstance(value, Cell) or (value.saved and not self.saved):
            return None
        if value.grad is not None or (value.leaf is not self.leaf and self.leaf is not None):
            return None
        if value.visible is not self.visible and self.visible is not None:
            return None
        value.let_go()
        return _flat([self.number, self.node], [value.stored, origin(value)])

    def made(self, numbers: Iterator[Any], trace: Trace) -> Any:
        found = trace.cell(self.number.made(numbers, trace), visible=self.visible)
        found.node = self.node.made(numbers, trace)
        found.saved, found.frozen, found.leaf = self.saved, True, self.leaf
        if self.leaf and trace.graph is not None:
            trace.graph.known(found)
        return found


class UnknownForm(Form):
    """The origin of a tensor that is unknown."""

    def __init__(self) -> None:
        super().__init__(None)

    def flat(self, value: Any) -> list[Operand] | None:
        return []


class HeldForm(TupleForm):
    """The content of one list or tensor that keeps its identity, as given by `trace.content`.
    `flags` are those of a tensor.
    """

    def __init__(self, items: list[Form], flags: tuple[Any, ...]) -> None:
        super().__init__(items)
        self.flags = flags

    def flat(self, value: Any) -> list[Operand] | None:
        count = len(self.items)
        if len(value) != count + len(self.flags):
            return None
        if self.flags and flags(value[count:], self.flags) != self.flags:
            return None
        return _flat(self.items, value[:count])

    def made(self, numbers: Iterator[Any], trace: Trace) -> Any:
        return (*super().made(numbers, trace), *self.flags)


class VectorForm(TupleForm):
    """A scalarized tensor, a new one in each turn."""

    def __init__(self, items: list[Form], node: Form, like: Vector, visible: bool | None) -> None:
        super().__init__([*items, node])
        self.like = like
        self.visible = visible

    def flat(self, value: Any) -> list[Operand] | None:
        if value is DEAD or value is MISSING:
            return [nothing(type_) for type_ in self.types()]
        if not isinstance(value, Vector) or value.shape != self.like.shape:
            return None
        if value.visible is not self.visible and self.visible is not None:
            return None
        if self.like.dense and not value.dense:
            return None
        return _flat(self.items, [*value.numbers, origin(value)])

    def made(self, numbers: Iterator[Any], trace: Trace) -> Any:
        *found, node = super().made(numbers, trace)
        made = Vector(found, self.like.shape, self.visible, trace, self.like.dense)
        made.node = node
        return made


class ConflictForm(Form):
    """A value that differs in kind from turn to turn; reading it is refused."""

    def __init__(self, reason: str) -> None:
        self.same = Conflict(reason)

    def flat(self, value: Any) -> list[Operand] | None:
        return []


def _flat(forms: list[Form], values: Any) -> list[Operand] | None:
    found: list[Operand] = []
    for form, value in zip(forms, values, strict=True):
        numbers = form.flat(value)
        if numbers is None:
            return None
        found += numbers
    return found


def widened(form: Form, head: Any, end: Any, name: str, is_param: Callable[[Any], bool]) -> Form:
    """Return a form that fits both the value at the head of a turn and that at its end.

    Raises:
        Changed: If they do not fit, such as an int and a float.
    """
    if form.flat(end) is not None:
        return form
    if isinstance(head, Conflict) and head is not MISSING and head is not DEAD:
        return ConflictForm(head.reason)
    return _joined(head, end, name, is_param)


def _joined(a: Any, b: Any, name: str, is_param: Callable[[Any], bool]) -> Form:
    if _is_same(a, b) and not is_param(a):
        return Form(a)
    if is_number(a) and is_number(b):
        if number_type(a) != number_type(b):
            raise Changed(f"{name} is of type {number_type(a)} in one turn and {number_type(b)} "
                          "in another")  # fmt: skip
        return NumberForm(number_type(a), dense=is_dense(a) and is_dense(b))
    if a is DEAD and is_number(b):
        return NumberForm(number_type(b), dense=is_dense(b))
    if a is DEAD and kinds(b):
        several = {k: _of_kind([x]) for k, x in sorted(kinds(b).items())}
        return EitherForm(several) if isinstance(b, Either) else next(iter(several.values()))
    if isinstance(a, Either) and (found := either(a, b)) is not None:
        return found
    if a is MISSING or b is MISSING or isinstance(a, Maybe) or isinstance(b, Maybe):
        values = [x.value if isinstance(x, Maybe) else x for x in (a, b) if x is not MISSING]
        types = {number_type(x) if is_number(x) else "" for x in values}
        if len(types) == 1 and "" not in types:
            return MaybeForm(NumberForm(types.pop()))
        if a is MISSING and "" in types and not any(isinstance(x, Conflict) for x in values):
            raise Changed(f"{name} may have no value")  # before the first turn
        return ConflictForm(f"{name} may have no value")
    if isinstance(a, Cell) and isinstance(b, Cell):
        return _of_cells(a, b, name, lambda: _joined(a.stored, b.stored, name, is_param))
    if isinstance(a, Vector) and isinstance(b, Vector) and a.shape == b.shape and a.type == b.type:
        return _of_vectors(a, b)
    if type(a) is type(b) and type(a) in (tuple, list) and len(a) == len(b):
        items = [_joined(x, y, name, is_param) for x, y in zip(a, b, strict=True)]
        return TupleForm(items) if type(a) is tuple else ListForm(items)
    is_other = type(a) is not type(b) and not (isinstance(a, Conflict) or isinstance(b, Conflict))
    if is_other or any(is_number(x) or x is None for x in (a, b)):
        raise Changed(f"{name} holds something else in each turn")
    return ConflictForm(f"{name} holds something else in each turn")


def either(a: Any, b: Any) -> Form | None:
    """Return a form for values of two kinds; None if there are more kinds, or a value has none."""
    of_a, of_b = kinds(a), kinds(b)
    several = sorted(of_a.keys() | of_b.keys())
    is_nothing = b is DEAD or b is MISSING
    if len(several) != 2 or not of_a or not (of_b or is_nothing):
        return None
    try:
        return EitherForm({k: _of_kind([x[k] for x in (of_a, of_b) if k in x]) for k in several})
    except Changed:
        return None


def _of_kind(values: Sequence[Any]) -> Form:
    """Return a form for one or two values of one kind."""
    a, b = values[0], values[-1]
    if isinstance(a, Cell):
        if is_whole(a) and not a.shape:
            raise Changed("a tensor is an array without dimensions in some turns")
        number = NumberForm(number_type(a.number))
        return _of_cells(a, b, "a value", lambda: number)
    if isinstance(a, Vector):
        return _of_vectors(a, b)
    return NumberForm(number_type(a)) if is_number(a) else Form(a)


def _of_cells(a: Cell, b: Cell, name: str, number: Callable[[], Form]) -> Form:
    is_leaf_sometimes = a.leaf is not b.leaf
    if a.grad is not None or b.grad is not None or (is_leaf_sometimes and a.goes_back):
        raise Changed(f"{name} has another gradient in each turn")
    if a.visible is not b.visible and a.goes_back:
        raise Changed(f"{name} requires grad in one turn and not in another")
    inner = number()
    leaf, visible, saved = flags(content(a), content(b))
    return CellForm(
        inner,
        _of_origins(origin(a), origin(b)),
        None if is_leaf_sometimes else leaf,
        visible,
        saved,
    )


def _of_origins(a: Any, b: Any) -> Form:
    if a is None or b is None:
        return UnknownForm()
    return Form(a) if type(a) is type(b) is int and a == b else NumberForm("int")


def _of_vectors(a: Vector, b: Vector) -> Form:
    numbers: list[Form] = [NumberForm(a.type) for _ in a.numbers]
    like = b if a.dense else a  # which is dense if both are
    node = _of_origins(origin(a), origin(b))
    return VectorForm(numbers, node, like, a.visible if a.visible is b.visible else None)


def widened_content(
    form: Form, value: Any, head: Any, end: Any, is_param: Callable[[Any], bool]
) -> Form | None:
    """Return a form for the content of one list or tensor; None if its length changes."""
    if form.flat(end) is not None:
        return form
    if len(head) != len(end):
        return None
    if isinstance(value, dict) and head[0] != end[0]:
        return None
    is_cell = isinstance(value, Cell)
    count = CONTENTS if is_cell else len(end)
    items = [
        _joined(x, y, "an item", is_param) for x, y in zip(head[:count], end[:count], strict=True)
    ]
    if not is_cell:
        return HeldForm(items, ())
    node = _of_origins(head[CONTENTS], end[CONTENTS])
    return HeldForm([*items, node], flags(head, end))


def is_dense(value: Any) -> bool:
    """True for an array that is certainly contiguous."""
    return isinstance(value, Symbol) and value.is_dense


def _is_same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if is_number(a) and is_number(b):
        return same_number(a, b)
    is_immutable = type(a) is type(b) and type(a) not in (list, dict)
    return is_immutable and is_known(a) and is_known(b) and a == b
