"""Emits loops over the elements of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradcli.engine.compile.llvm.emit.writer import Writer


def merged(
    shape: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """Sizes and strides with neighbouring dimensions merged where every array allows it."""
    sizes: list[int] = []
    found: list[list[int]] = [[] for _ in strides]
    for k, n in enumerate(shape):
        if n == 1:
            continue
        if sizes and all(f[-1] == s[k] * n for f, s in zip(found, strides, strict=True)):
            sizes[-1] *= n
            for f, s in zip(found, strides, strict=True):
                f[-1] = s[k]
            continue
        sizes.append(n)
        for f, s in zip(found, strides, strict=True):
            f.append(s[k])
    return (sizes, found) if sizes else ([1], [[0] for _ in strides])


def behind(w: Writer, base: str, offset: str) -> str:
    """The address so many bytes behind another."""
    return base if offset == "0" else w.put(f"getelementptr i8, ptr {base}, i64 {offset}")


def moved(w: Writer, base: str, i: str, step: int) -> str:
    """The address i steps behind another; a step has so many bytes."""
    return behind(w, base, w.put(f"mul i64 {i}, {step}") if step else "0")


def nest(
    w: Writer,
    sizes: Sequence[int],
    strides: Sequence[Sequence[int]],
    bases: Sequence[str],
    inner: Callable[[Sequence[str]], None],
) -> None:
    """Emit loops over all but the last dimension, the first outermost."""
    if len(sizes) == 1:
        inner(bases)
        return

    def each(i: str) -> None:
        at = [base and moved(w, base, i, s[0]) for base, s in zip(bases, strides, strict=True)]
        nest(w, sizes[1:], [s[1:] for s in strides], at, inner)

    loop(w, sizes[0], each)


def loop(w: Writer, count: int, each: Callable[[str], None], width: int = 1) -> None:
    """Emit a loop over the numbers below a count, or over each `width`-th of them."""
    if count == width:
        each("0")
        return
    head, on, before = w.label(), w.label(), w.block
    w.go(head)
    w.start(head)
    i, following = w.name(), w.name()
    hole = len(w.lines)
    each(i)
    w.do(f"{following} = add i64 {i}, {width}")
    w.lines.insert(hole, f"  {i} = phi i64 [ 0, %{before} ], [ {following}, %{w.block} ]")
    w.branch(w.put(f"icmp ult i64 {following}, {count}"), head, on)
    w.start(on)
