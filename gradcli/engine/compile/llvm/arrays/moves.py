"""Emits functions that copy elements, reduce arrays, or multiply matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from gradcli.engine.compile.llvm.arrays.nests import behind, loop, merged, moved, nest
from gradcli.engine.compile.llvm.arrays.steps import (
    AddRows,
    Copy,
    Fold,
    Part,
    PickRows,
    Product,
    Scan,
)
from gradcli.engine.compile.llvm.emit.inner_loops import call_loop, inner_loop
from gradcli.engine.compile.llvm.emit.writer import (
    IN_MEMORY,
    SIZES,
    WIDE,
    Number,
    Writer,
    vector_type,
)

_ARITHMETIC = {
    np.add: "fadd",
    np.multiply: "fmul",
    np.logical_or: "or",
    np.logical_and: "and",
}
"""LLVM's instructions for functions that have the same bits any way they are done."""


def copy(step: Copy) -> str:
    """The body of a function that copies the array or number `%x` to `%o`."""
    w, type_ = Writer(""), step.target.type
    held = IN_MEMORY[type_]
    source = None if isinstance(step.source, Number) else step.source
    of_number = source is None
    shape = step.to.shape
    strides = [step.to.strides, spread_strides(source, shape) if source else (0,) * len(shape)]
    number = "%x"
    if of_number and type_ == "bool":
        number = w.put("zext i1 %x to i8")
    sizes, (out, taken) = merged(shape, strides)
    starts = [behind(w, "%o", str(step.to.offset))]
    starts.append(behind(w, "%x", str(source.offset)) if source else "")

    def inner(at: Sequence[str]) -> None:
        size = SIZES[type_]
        is_dense = out[-1] == size and (of_number or taken[-1] in (0, size)) and type_ != "bool"
        width = WIDE if is_dense and sizes[-1] % WIDE == 0 else 1
        t = vector_type(held, width)
        fixed = number if of_number else ""
        if not of_number and taken[-1] == 0:
            fixed = w.put(f"load {held}, ptr {at[1]}, align {size}")
        if fixed and width > 1:
            fixed = w.splat(t, fixed)

        def each(i: str) -> None:
            x = fixed
            if not x:
                x = w.put(f"load {t}, ptr {moved(w, at[1], i, taken[-1])}, align {size}")
            w.do(f"store {t} {x}, ptr {moved(w, at[0], i, out[-1])}, align {size}")

        loop(w, sizes[-1], each, width)

    nest(w, sizes, [out, taken], starts, inner)
    w.do("ret void")
    return "\n".join(["entry:", *w.lines, "}"])


def fold(step: Fold) -> str:
    """The body of a function that reduces `%x` to `%o` with NumPy's loops, in NumPy's order."""
    w, type_ = Writer(""), step.target.type
    held, size = IN_MEMORY[type_], SIZES[type_]
    steps_out, at = [0] * len(step.operand.shape), size
    for k in reversed(range(len(steps_out))):
        if k not in step.axes:
            steps_out[k] = at
            at *= step.operand.shape[k]
    sizes, (out, taken) = merged(step.operand.shape, [steps_out, step.operand.strides])
    said = _ARITHMETIC.get(step.function) if out[-1] else None
    if said is None:
        w.do(f"%count = alloca i64\n  store i64 {sizes[-1]}, ptr %count")
        w.do("%at = alloca [3 x ptr]")
        w.array("%steps", "i64", (out[-1], taken[-1], out[-1]))
    if step.first is not None:
        first = step.first.text if type_ != "bool" else str(int(step.first.text == "true"))
        loop(
            w,
            step.target.count,
            lambda i: w.do(f"store {held} {first}, ptr {moved(w, '%o', i, size)}, align {size}"),
        )

    def inner(at: Sequence[str]) -> None:
        if said is None:
            w.fill("%at", "ptr", (at[0], at[1], at[0]))
            call_loop(w, inner_loop(step.function, (type_,) * 3), "%count", "%steps")
            return
        width = WIDE if sizes[-1] % WIDE == 0 and taken[-1] == size else 1
        t = vector_type(held, width)

        def each(i: str) -> None:
            to = moved(w, at[0], i, out[-1])
            x = w.put(f"load {t}, ptr {to}, align {size}")
            y = w.put(f"load {t}, ptr {moved(w, at[1], i, taken[-1])}, align {size}")
            w.do(f"store {t} {w.put(f'{said} {t} {x}, {y}')}, ptr {to}, align {size}")

        loop(w, sizes[-1], each, width)

    nest(w, sizes, [out, taken], ["%o", behind(w, "%x", str(step.operand.offset))], inner)
    w.do("ret void")
    return "\n".join(["entry:", *w.lines, "}"])


def scan(step: Scan) -> str:
    """The body of a function that stores the running sums, products or extremes of `%x` at `%o`."""
    w, shape, type_ = Writer(""), step.operand.shape, step.target.type
    said, size, held = _ARITHMETIC.get(step.function), SIZES[type_], IN_MEMORY[type_]
    count, inner = shape[step.axis], prod(shape[step.axis + 1 :])
    source = behind(w, "%x", str(step.operand.offset))
    if said is None:
        w.array("%count", "i64", [count - 1])
        w.array("%steps", "i64", [inner * size] * 3)
        w.do("%at = alloca [3 x ptr]")

    def along(outer: str) -> None:
        start = w.put(f"mul i64 {outer}, {count * inner * size}")
        out, x = (w.put(f"getelementptr i8, ptr {p}, i64 {start}") for p in ("%o", source))

        def first(k: str) -> None:
            found = w.put(f"load {held}, ptr {moved(w, x, k, size)}")
            w.do(f"store {held} {found}, ptr {moved(w, out, k, size)}")

        def line(k: str) -> None:
            before, on = moved(w, out, k, size), str(inner * size)
            more = behind(w, moved(w, x, k, size), on)
            w.fill("%at", "ptr", (before, more, behind(w, before, on)))
            call_loop(w, inner_loop(step.function, (type_,) * 3), "%count", "%steps")

        def following(k: str) -> None:
            so_far = w.put(f"load double, ptr {moved(w, out, k, size)}")
            at = w.put(f"add i64 {k}, {inner}")
            found = w.put(f"load double, ptr {moved(w, x, at, size)}")
            made = w.put(f"{said} double {so_far}, {found}")
            w.do(f"store double {made}, ptr {moved(w, out, at, size)}")

        loop(w, inner, first)
        if said is None and count > 1:
            loop(w, inner, line)
        elif count > 1:
            loop(w, (count - 1) * inner, following)

    loop(w, prod(shape[: step.axis]), along)
    w.do("ret void")
    return "\n".join(["entry:", *w.lines, "}"])


def rows(step: PickRows | AddRows) -> str:
    """The body of a function that copies the parts of `%x` at the places `%y` to `%o`, or adds the
    parts `%x` to `%o` there. It returns true if a place is out of range, counted from the end if
    it is negative.
    """
    w = Writer("")
    is_read = isinstance(step, PickRows)
    size = SIZES[step.target.type]
    held = IN_MEMORY[step.target.type]
    count, whole = step.at.count, step.shape if isinstance(step, AddRows) else step.source.shape
    inner = prod(whole[1:])
    source, places = behind(w, "%x", str(step.source.offset)), behind(w, "%y", str(step.at.offset))

    def each(k: str) -> None:
        at = w.put(f"load i64, ptr {moved(w, places, k, 8)}")
        from_end = w.put(f"add i64 {at}, {whole[0]}")
        place = w.put(f"select i1 {w.put(f'icmp slt i64 {at}, 0')}, i64 {from_end}, i64 {at}")
        w.rare(w.put(f"icmp uge i64 {place}, {whole[0]}"), "out")
        there = moved(w, source if is_read else "%o", place, inner * size)
        here = moved(w, "%o" if is_read else source, k, inner * size)

        def element(i: str) -> None:
            from_, to = (moved(w, base, i, size) for base in (there, here))
            if is_read:
                w.do(f"store {held} {w.put(f'load {held}, ptr {from_}')}, ptr {to}")
                return
            before, more = w.put(f"load double, ptr {from_}"), w.put(f"load double, ptr {to}")
            w.do(f"store double {w.put(f'fadd double {before}, {more}')}, ptr {from_}")

        loop(w, inner, element)

    loop(w, count, each)
    w.do("ret i1 false")
    w.start("out")
    w.do("ret i1 true")
    return "\n".join(["entry:", *w.lines, "}"])


def product(step: Product) -> str:
    """The body of a function that stores the matrix product of `%x` and `%y` at `%o`."""
    w = Writer("")
    a, b = step.a, step.b
    rows, columns = (a.shape[-2:-1] or (1,))[0], (b.shape[-1:] if len(b.shape) > 1 else (1,))[0]
    of_a = (a.strides[-2] if len(a.shape) > 1 else 0, a.strides[-1])
    of_b = (b.strides[-2], b.strides[-1]) if len(b.shape) > 1 else (b.strides[0], 0)
    across = 8 if len(b.shape) > 1 else 0
    of_out = (8 * columns if len(a.shape) > 1 else 0, across)
    heads = [Part(x.node, 0, x.shape[:-2], x.strides[: len(x.shape[:-2])]) for x in (a, b)]
    shape = np.broadcast_shapes(*(x.shape for x in heads))
    stacked = [8 * rows * columns * prod(shape[k + 1 :]) for k in range(len(shape))]
    sizes, strides = merged(shape, [*(spread_strides(x, shape) for x in heads), stacked])
    w.array("%sizes", "i64", (sizes[-1], rows, a.shape[-1], columns))
    w.array("%steps", "i64", (*(s[-1] for s in strides), *of_a, *of_b, *of_out))
    w.do("%at = alloca [3 x ptr]")

    def inner(at: Sequence[str]) -> None:
        w.fill("%at", "ptr", at)
        call_loop(w, inner_loop(np.matmul, ("float",) * 3), "%sizes", "%steps")

    bases = [behind(w, "%x", str(a.offset)), behind(w, "%y", str(b.offset)), "%o"]
    nest(w, sizes, strides, bases, inner)
    w.do("ret void")
    return "\n".join(["entry:", *w.lines, "}"])


def spread_strides(x: Part, shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of an array that is broadcast to a shape."""
    lead = (0,) * (len(shape) - len(x.shape))
    own = (0 if n == 1 else s for n, s in zip(x.shape, x.strides, strict=True))
    return (*lead, *own)
