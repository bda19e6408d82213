"""The operators of the language on partly unknown values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.specialize.tracing.dynamic_index import picked
from gradcli.engine.compile.specialize.tracing.run_time_index import has_places, part, plain
from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import (
    MOST_ITEMS,
    Cell,
    Text,
    Vector,
    is_known,
    is_number,
    is_whole,
    number_type,
)
from gradcli.engine.compile.symbols import Symbol
from gradcli.engine.compile.typed import ManyItems, dtype_and_shape
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language.operators import OPS, as_tuple
from gradcli.engine.run.session.text import text
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.fields import Fields

_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%", "**"})


class Operators:
    """The operators in one program."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def __call__(self, sign: str, args: Sequence[Any]) -> Any:
        """Return the result of an operator."""
        if sign in _ARITHMETIC and all(map(is_number, args)):  # most are
            return self._trace.do(ops[OPS[sign, len(args)]], args, {})
        match sign, args:
            case "not", [x]:
                return self.negation(self._trace.truth(x))
            case "is", [x, y]:
                return self.identity(x, y)
            case "is not", [x, y]:
                return self.negation(self.identity(x, y))
            case "==", [x, y]:
                return self.equality(x, y)
            case "!=", [x, y] if _is_scalar(x) and _is_scalar(y):
                return ops.ne(x, y)
            case "!=", [x, y]:
                return self.negation(self._trace.truth(self.equality(x, y)))
            case "in", [x, container]:
                return self.membership(x, container)
            case "not in", [x, container]:
                return self.negation(self.membership(x, container))
            case "[]", [x, index]:
                return self.item(x, index)
            case "/", [x, y] if is_number(x) and isinstance(y, (Cell, Vector)):
                return self._trace.do(ops.mul, [ops.reciprocal(y), x], {})
            case (("+" | "+[]"), [x, y]) if not (_is_scalar(x) and _is_scalar(y)):
                return self.joined(x, y, written=sign == "+[]")
            case "*[]", [x, y] if type(x) is list and type(y) is int:
                return x * y
        if not all(map(_is_scalar, args)):
            raise self._trace.refused(f"`{sign.strip('[]')}` of a value that is not a number")
        return self._trace.do(ops[OPS[sign, len(args)]], args, {})

    def negation(self, test: Any) -> Any:
        """Return `not` of a bool, known or unknown."""
        return ops.logical_not(test) if isinstance(test, Symbol) else not test

    def identity(self, x: Any, y: Any) -> Any:
        """Return `x is y`; numbers are the same if they are equal and of one type."""
        if is_number(x) and is_number(y):
            return number_type(x) == number_type(y) and ops.eq(x, y)
        if isinstance(x, Cell) and isinstance(y, Cell) and x is not y and (x.frozen or y.frozen):
            raise self._trace.refused("it is not known whether two tensors are one")
        return x is y

    def equality(self, x: Any, y: Any) -> Any:
        """Return `x == y`."""
        if _is_scalar(x) and _is_scalar(y):
            return self._trace.do(ops.eq, [x, y], {})
        if type(x) is tuple and type(y) is tuple:
            same: Any = len(x) == len(y)
            for a, b in zip(x, y, strict=False) if same else ():
                same = self._both(same, self._trace.truth(self.equality(a, b)))
            return same
        if any(_is_scalar(v) for v in (x, y)) and any(v is None or type(v) is str for v in (x, y)):
            return False
        raise self._trace.refused("`==` of a value that is not a number")

    def membership(self, x: Any, container: Any) -> Any:
        """Return `x in container`."""
        if type(container) is dict and is_known(x) and not isinstance(x, Tensor):
            return x in container
        if type(container) not in (list, tuple, range):
            raise self._trace.refused("`in` of a value known only at run time")
        if container[MOST_ITEMS:]:
            raise self._trace.refused("`in` of a value of too many items")
        found: Any = False
        for item in container:
            same = self._trace.truth(self.equality(x, item))
            if not isinstance(same, Symbol) and same:
                return True
            if isinstance(same, Symbol):
                found = ops.logical_or(found, same) if isinstance(found, Symbol) else same
        return found

    def _both(self, x: Any, y: Any) -> Any:
        if isinstance(x, Symbol) and isinstance(y, Symbol):
            return ops.logical_and(x, y)
        return (x and y) if not isinstance(x, Symbol) else (x if y else False)

    def item(self, x: Any, index: Any) -> Any:
        """Return `x[index]`."""
        index = index if type(x) is dict else plain(self._trace, index)
        if (isinstance(x, (Vector, Tensor)) or is_whole(x)) and is_known(index):
            return self._trace.do(ops.getitem, [x], {"index": as_tuple(index)})
        if isinstance(x, Tensor) and x.shape:
            x = self._trace.tensors.of_known(x)
        if type(index) is tuple and has_places(index) and isinstance(x, (Vector, Cell)):
            return part(self._trace, x, index)
        place = index.number if isinstance(index, Cell) else index
        if _is_several(index) and isinstance(x, (Vector, Cell)):
            return self._parts(x, index)
        if isinstance(place, Symbol) and (isinstance(x, (Vector, list, tuple)) or is_whole(x)):
            return picked(self._trace, x, place)
        if type(x) not in (list, tuple, Fields, dict) or not is_known(index):
            raise self._trace.refused("an item is taken by a value known only at run time")
        if type(x) is not dict and type(index) not in (int, slice):
            raise self._trace.refused("an item of a list is taken by an int or a slice")
        try:
            return x[index]
        except (LookupError, TypeError, ValueError) as error:
            raise self._trace.refused(str(error)) from None

    def _parts(self, x: Any, index: Cell) -> Any:
        """Return `x[index]` of a tensor of places that are known only at run time."""
        if dtype_and_shape(number_type(index.number))[0] != "int64":
            raise self._trace.refused("elements are chosen by a mask known only at run time")
        if not is_whole(x):
            raise ManyItems("items are picked by a tensor", self._trace.span)
        return self._trace.do(ops.rows, [x, index], {})

    def joined(self, x: Any, y: Any, *, written: bool) -> Any:
        """Return `x + y` of texts, tuples and lists."""
        if isinstance(x, (str, Text)) and isinstance(y, (str, Text)):
            return Text(lambda given: "".join(map(text, given)), [x, y])
        if type(x) is tuple and type(y) is tuple:
            return x + y
        if type(x) is not list or type(y) is not list:
            raise self._trace.refused("`+` of a value that is not a number")
        if written or not (_of_numbers(x) and _of_numbers(y)):
            return x + y
        raise self._trace.refused("`+` of lists of numbers adds their items as tensors")


def _is_several(index: Any) -> bool:
    """True for a tensor of places that are known only at run time, with dimensions."""
    return is_whole(index) and bool(dtype_and_shape(number_type(index.number))[1])


def _is_scalar(value: Any) -> bool:
    return is_number(value) or isinstance(value, (Cell, Vector, Tensor))


def _of_numbers(items: Sequence[Any]) -> bool:
    return bool(items) and all(map(is_number, items))
