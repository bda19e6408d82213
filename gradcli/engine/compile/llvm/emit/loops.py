"""Apply ops on arrays to single elements by NumPy's inner loops, so that the bits are NumPy's.

A symbolic call finds the loops: the op's function on arrays is called with objects that emit a call
of an inner loop for each of NumPy's functions applied to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.engine.compile.llvm.emit.inner_loops import (
    BY_EXPONENT,
    Noted,
    call_loop,
    inner_loop,
    types_of,
)
from gradcli.engine.compile.llvm.emit.libm import from_library
from gradcli.engine.compile.llvm.emit.scalars import put
from gradcli.engine.compile.llvm.emit.writer import (
    IN_MEMORY,
    SIZES,
    TYPES,
    Number,
    Writer,
    constant,
)
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.form import PRIMITIVES
from gradcli.engine.compile.typed import DTYPES

_PLAIN = {
    np.add: "float_add",
    np.subtract: "float_sub",
    np.multiply: "float_mul",
    np.divide: "float_div",
    np.absolute: "float_abs",
    np.sqrt: "float_sqrt",
    np.negative: "float_neg",
    np.less: "float_lt",
    np.less_equal: "float_le",
    np.greater: "float_gt",
    np.greater_equal: "float_ge",
    np.equal: "float_eq",
    np.not_equal: "float_ne",
}
"""The functions that are a primitive of the scalar form on floats."""


class Loops:
    """The inner loops that a module calls, each wrapped in a function on numbers.

    Fields:
        lines: the text of these functions.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[Any, str] = {}

    def call(
        self,
        w: Writer,
        array: Callable[..., Any],
        args: Sequence[Any],
        wide: Sequence[bool],
        params: Mapping[str, Any],
    ) -> Number:
        """Emit the value of an op on arrays for one element.

        Raises:
            Untranslatable: If inner loops alone do not give it.
        """
        given = [
            _Traced(self, w, _said(x), is_wide) if is_wide or isinstance(x, Number) else x
            for x, is_wide in zip(args, wide, strict=True)
        ]
        try:
            found = array(*given, **params)
        except Untranslatable:
            raise
        except Exception as error:
            raise Untranslatable(f"it is not a function of single elements: {error}") from None
        if not isinstance(found, _Traced):
            raise Untranslatable("it is not a function of its arguments")
        return found.number

    def done(self, w: Writer, ufunc: Any, args: Sequence[Number], wide: Sequence[bool]) -> Number:
        """Emit the value of a NumPy function."""
        types = [a.type for a in args]
        if ufunc in _PLAIN and set(types) == {"float"}:
            primitive = _PLAIN[ufunc]
            found = put(w, primitive, *(a.text for a in args))
            return Number(found, PRIMITIVES[primitive].gives)
        *taken, type_ = types_of(ufunc, tuple(types))
        given = [_to_float(w, a) if t == "float" else a for a, t in zip(args, taken, strict=True)]
        if [a.type for a in given] != taken:
            raise Untranslatable(f"`{ufunc.__name__}` of {types} is that of {taken}")
        name = self._function(ufunc, (*taken, type_), wide)
        said = ", ".join(f"{TYPES[a.type]} {a.text}" for a in given)
        return w.number(type_, f"call {TYPES[type_]} {name}({said})")

    def product(self, w: Writer, args: Sequence[Any]) -> Number:
        """Emit the inner product of two vectors."""
        numbers = [_said(x) for x in args]
        key = (np.matmul, len(numbers))
        if key not in self._names:
            name = self._names[key] = f"@u{len(self._names)}"
            self.lines += _product_text(name, len(numbers) // 2)
        said = ", ".join(f"double {x.text}" for x in numbers)
        return w.number("float", f"call double {self._names[key]}({said})")

    def _function(self, ufunc: Any, types: tuple[str, ...], wide: Sequence[bool]) -> str:
        loop = inner_loop(ufunc, types)
        key = (*loop, *wide)
        if key not in self._names:
            name = self._names[key] = f"@u{len(self._names)}"
            self.lines += _text(name, loop, types, wide)
        return self._names[key]


def _text(
    name: str, loop: tuple[int, int], types: Sequence[str], wide: Sequence[bool]
) -> list[str]:
    """A function that calls an inner loop for one element."""
    w = Writer("")
    *taken, type_ = types
    places = [w.put(f"alloca {IN_MEMORY[t]}") for t in types]
    steps = [SIZES[t] if is_wide else 0 for t, is_wide in zip(types, (*wide, True), strict=True)]
    w.array("%count", "i64", [1])
    w.array("%at", "ptr", places)
    w.array("%steps", "i64", steps)
    for k, (t, at) in enumerate(zip(taken, places, strict=False)):
        w.write_element(Number(f"%a{k}", t), at)
    call_loop(w, loop, "%count", "%steps")
    return w.function(taken, w.read_element(type_, places[-1]), False).named(name, "noinline")


def _product_text(name: str, count: int) -> list[str]:
    """A function that stores two vectors, given as numbers, and lets NumPy multiply them."""
    w = Writer("")
    w.array("%x", "double", [f"%a{k}" for k in range(2 * count)])
    w.do("%r = alloca double")
    w.array("%at", "ptr", ["%x", w.put(f"getelementptr double, ptr %x, i64 {count}"), "%r"])
    w.array("%sizes", "i64", [1, 1, count, 1])
    bytes_ = SIZES["float"]
    steps = [0, 0, 0, 0, bytes_, bytes_, 0, 0, 0]  # 0 for missing dimensions
    w.array("%steps", "i64", steps)
    call_loop(w, inner_loop(np.matmul, ("float",) * 3), "%sizes", "%steps")
    types = ["float"] * (2 * count)
    return w.function(types, w.read_element("float", "%r"), False).named(name, "noinline")


def _to_float(w: Writer, x: Number) -> Number:
    return x if x.type == "float" else Number(put(w, f"{x.type}_to_float", x.text), "float")


def _is(w: Writer, x: Number, known: float) -> str:
    """Emit a comparison with a known number; code bails out if an int is not exact as a float."""
    if x.type == "int":
        w.fail(put(w, "int_is_inexact", x.text))
    return put(w, "float_eq", _to_float(w, x).text, _said(known).text)


def _is_negative_to_a_whole(w: Writer, x: Number, exponent: Number) -> str:
    """Emit a test for the powers that are those of a size, with a sign."""
    below = put(w, "float_lt", _to_float(w, x).text, _said(0.0).text)
    power = _to_float(w, exponent).text
    whole = put(w, "float_eq", power, w.put(from_library("trunc", [power])))
    return put(w, "bool_and", below, whole)


def _said(x: Any) -> Number:
    found = x if isinstance(x, Number) else constant(x)
    if found is None or found.type not in DTYPES:
        raise Untranslatable("an argument that is not a number of 64 bits")
    return found


class _Traced(Noted):
    """A number that emits the NumPy functions applied to it."""

    def __init__(self, loops: Loops, w: Writer, number: Number, wide: bool) -> None:
        self.loops = loops
        self.w = w
        self.number = number
        self.wide = wide

    shape = (1,)
    ndim = 1
    size = 1

    @property
    def dtype(self) -> Any:
        return np.dtype(DTYPES[self.number.type])

    def cast(self, type: str) -> _Traced:
        if type != "float":
            raise Untranslatable(f"an array of {type} is made")
        return _Traced(self.loops, self.w, _to_float(self.w, self.number), self.wide)

    def done(self, ufunc: Any, args: Sequence[Any]) -> _Traced:
        return self._made([self._operand(x) for x in args], ufunc)

    def _made(self, args: Sequence[_Traced], ufunc: Any) -> _Traced:
        if not any(x.wide for x in args):
            raise Untranslatable("an op on numbers alone")
        found = self.loops.done(self.w, ufunc, [x.number for x in args], [x.wide for x in args])
        return self._of(found)

    def _operand(self, x: Any) -> _Traced:
        """An argument as a traced number; an int becomes a float next to one."""
        if isinstance(x, _Traced):
            return x
        if isinstance(x, np.generic):
            x = x.item()
        if type(x) is int and self.number.type == "float":
            x = float(x)
        return _Traced(self.loops, self.w, _said(x), wide=False)

    def __array_function__(
        self, function: Any, types: Any, args: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        if function is np.ones_like and not options:
            return self._of(_said(1.0))
        if function is not np.where or len(args) != 3 or options:
            raise Untranslatable(f"`{function.__name__}` of arrays is called")
        test, *ways = args
        first = next((x for x in ways if isinstance(x, _Traced)), None)
        if first is None or not isinstance(test, _Traced) or test.number.type != "bool":
            raise Untranslatable("a choice between known values")
        a, b = (first._operand(x).number for x in ways)
        if a.type != b.type:
            raise Untranslatable("a choice of numbers of several types")
        llvm = TYPES[a.type]
        said = f"select i1 {test.number.text}, {llvm} {a.text}, {llvm} {b.text}"
        return self._of(self.w.number(a.type, said))

    def _of(self, number: Number) -> _Traced:
        """A new traced number."""
        return _Traced(self.loops, self.w, number, wide=True)

    def __pow__(self, exponent: Any) -> Any:
        if type(exponent) in (int, float) and exponent in BY_EXPONENT:
            return self._made([self], BY_EXPONENT[exponent])
        if isinstance(exponent, _Traced) and not exponent.wide:
            for known in (0.0, *BY_EXPONENT):
                self.w.fail(_is(self.w, exponent.number, known))
            self.w.fail(_is_negative_to_a_whole(self.w, self.number, exponent.number))
        return self._made([self, self._operand(exponent)], np.power)
