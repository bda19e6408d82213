"""Emits functions that find places of elements, and that read and write at places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from gradcli.engine.compile.llvm.arrays.nests import behind, loop, merged, moved, nest
from gradcli.engine.compile.llvm.arrays.steps import (
    AddAlong,
    Locate,
    Order,
    Part,
    PickAlong,
    Recur,
)
from gradcli.engine.compile.llvm.emit.writer import IN_MEMORY, SIZES, Writer

_WORD = 8  # bytes of a place


def along(step: PickAlong | AddAlong) -> str:
    """The body of a function that copies elements of `%x` at the places `%y` to `%o`, or adds the
    elements `%x` to those of `%o` there. It returns true if a place is out of range, counted from
    the end if it is negative.
    """
    w, is_read = Writer(""), isinstance(step, PickAlong)
    whole = step.source.shape if isinstance(step, PickAlong) else step.target.shape
    held, size, count = IN_MEMORY[step.target.type], SIZES[step.target.type], whole[step.axis]
    source, places = (
        behind(w, name, str(x.offset)) for name, x in (("%x", step.source), ("%y", step.at))
    )
    strides = _strides(whole, size)
    fixed = [0 if k == step.axis else s for k, s in enumerate(strides)]
    shape = step.at.shape
    sizes, steps = merged(shape, [_strides(shape, _WORD), _strides(shape, size), fixed])

    def inner(at: Sequence[str]) -> None:
        def each(i: str) -> None:
            place, here, base = (
                moved(w, start, i, s[-1]) for start, s in zip(at, steps, strict=True)
            )
            k = w.put(f"load i64, ptr {place}")
            from_end = w.put(f"add i64 {k}, {count}")
            k = w.put(f"select i1 {w.put(f'icmp slt i64 {k}, 0')}, i64 {from_end}, i64 {k}")
            w.rare(w.put(f"icmp uge i64 {k}, {count}"), "out")
            there = moved(w, base, k, strides[step.axis])
            if is_read:
                w.do(f"store {held} {w.put(f'load {held}, ptr {there}')}, ptr {here}")
                return
            before, more = (w.put(f"load double, ptr {p}") for p in (there, here))
            w.do(f"store double {w.put(f'fadd double {before}, {more}')}, ptr {there}")

        loop(w, sizes[-1], each)

    own, other = ("%o", source) if is_read else (source, "%o")
    nest(w, sizes, steps, [places, own, other], inner)
    w.do("ret i1 false")
    w.start("out")
    w.do("ret i1 true")
    return "\n".join(["entry:", *w.lines, "}"])


def order(step: Order) -> str:
    """The body of a function that stores the places of the elements `%x` in their order at `%o`:
    each goes behind all that are less, and behind equal ones before it.
    """
    w = Writer("")
    w.do("%rank = alloca i64")
    numbers = _Numbers(w, step.operand.node.type)

    def line(x: str, out: str, step_in: int, step_out: int, count: int) -> None:
        def each(i: str) -> None:
            one = numbers.load(moved(w, x, i, step_in))
            w.do("store i64 0, ptr %rank")

            def other(j: str) -> None:
                two = numbers.load(moved(w, x, j, step_in))
                is_less, is_more = numbers.less(two, one), numbers.less(one, two)
                earlier = w.put(f"icmp ult i64 {j}, {i}")
                equal = w.put(f"select i1 {is_more}, i1 false, i1 {earlier}")
                before = w.put(f"zext i1 {w.put(f'or i1 {is_less}, {equal}')} to i64")
                rank = w.put("load i64, ptr %rank")
                w.do(f"store i64 {w.put(f'add i64 {rank}, {before}')}, ptr %rank")

            loop(w, count, other)
            place = moved(w, out, w.put("load i64, ptr %rank"), step_out)
            w.do(f"store i64 {i}, ptr {place}")

        loop(w, count, each)

    _lines(w, step.operand, step.axis, line, is_kept=True)
    w.do("ret void")
    return "\n".join(["entry:", *w.lines, "}"])


def locate(step: Locate) -> str:
    """The body of a function that stores the first places of the extreme elements of `%x` at `%o`;
    the first nan is the extreme.
    """
    w = Writer("")
    numbers = _Numbers(w, step.operand.node.type)
    w.do(f"%best = alloca {numbers.held}")
    turned = step.function is np.argmin

    def line(x: str, out: str, step_in: int, step_out: int, count: int) -> None:
        w.do(f"store {numbers.held} {numbers.load(x)}, ptr %best")
        w.do(f"store i64 0, ptr {out}")

        def each(i: str) -> None:
            one, best = numbers.load(moved(w, x, i, step_in)), numbers.load("%best")
            is_better = numbers.beats(one, best, "lt" if turned else "gt")
            chosen = w.put(f"select i1 {is_better}, {numbers.held} {one}, {numbers.held} {best}")
            w.do(f"store {numbers.held} {chosen}, ptr %best")
            before = w.put(f"load i64, ptr {out}")
            w.do(f"store i64 {w.put(f'select i1 {is_better}, i64 {i}, i64 {before}')}, ptr {out}")

        loop(w, count, each)

    _lines(w, step.operand, step.axis, line, is_kept=False)
    w.do("ret void")
    return "\n".join(["entry:", *w.lines, "}"])


def recur(step: Recur) -> str:
    """The body of a function that stores the recurrence of `%x` and `%y` at `%o`."""
    w, shape = Writer(""), step.target.shape
    count, size = shape[-1], SIZES["float"]
    starts = [behind(w, "%x", str(step.a.offset)), behind(w, "%y", str(step.b.offset)), "%o"]

    def line(k: str) -> None:
        a, b, out = (moved(w, start, k, count * size) for start in starts)
        w.do(f"store double {w.put(f'load double, ptr {b}')}, ptr {out}")

        def following(i: str) -> None:
            so_far = w.put(f"load double, ptr {moved(w, out, i, size)}")
            at = w.put(f"add i64 {i}, 1")
            factor, more = (w.put(f"load double, ptr {moved(w, p, at, size)}") for p in (a, b))
            product = w.put(f"fmul double {factor}, {so_far}")
            made = w.put(f"fadd double {more}, {product}")
            w.do(f"store double {made}, ptr {moved(w, out, at, size)}")

        if count > 1:
            loop(w, count - 1, following)

    loop(w, prod(shape[:-1]), line)
    w.do("ret void")
    return "\n".join(["entry:", *w.lines, "}"])


class _Numbers:
    """Loads and compares floats or ints."""

    def __init__(self, w: Writer, type_: str) -> None:
        self._w = w
        self._is_float = type_ == "float"
        self.held = IN_MEMORY[type_]

    def load(self, at: str) -> str:
        return self._w.put(f"load {self.held}, ptr {at}")

    def less(self, x: str, y: str) -> str:
        """A test for x < y; nan is more than all numbers."""
        return self.beats(y, x, "gt")

    def beats(self, x: str, y: str, by: str) -> str:
        """A test for x > y or x < y; nan beats all numbers."""
        w = self._w
        if not self._is_float:
            return w.put(f"icmp s{by} i64 {x}, {y}")
        more = w.put(f"fcmp o{by} double {x}, {y}")
        is_nan, is_number = w.put(f"fcmp uno double {x}, {x}"), w.put(f"fcmp ord double {y}, {y}")
        return w.put(f"or i1 {more}, {w.put(f'and i1 {is_nan}, {is_number}')}")


def _lines(
    w: Writer,
    operand: Part,
    axis: int,
    line: Callable[[str, str, int, int, int], None],
    *,
    is_kept: bool,
) -> None:
    """Emit code for each line of a contiguous array along a dimension: of its first element's
    address and of its first result's, the bytes from one element to the next, likewise of the
    result, and the number of elements. The results are as many as the elements if `is_kept`, else
    one for each line.
    """
    shape, size = operand.shape, SIZES[operand.node.type]
    count, inner = shape[axis], prod(shape[axis + 1 :])
    x = behind(w, "%x", str(operand.offset))

    def outer(o: str) -> None:
        base = moved(w, x, o, count * inner * size)
        to = moved(w, "%o", o, (count if is_kept else 1) * inner * _WORD)

        def each(k: str) -> None:
            given = moved(w, base, k, size), moved(w, to, k, _WORD)
            line(*given, inner * size, inner * _WORD, count)

        loop(w, inner, each)

    loop(w, prod(shape[:axis]), outer)


def _strides(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """The strides of a contiguous array in bytes."""
    return tuple(size * prod(shape[k + 1 :]) for k in range(len(shape)))
