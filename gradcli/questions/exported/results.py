"""What the function of source code gives, and what each of its numbers is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import prod

from gradcli.engine.compile.export.unit import Results, Said
from gradcli.engine.values.data import np
from gradcli.questions.exported.lowerings import Plain


def results(made: Plain, of: Sequence[str]) -> Iterator[Results]:
    """What the function gives, with the places among the results of the program."""
    named = [*zip(of or [made.output], made.shapes_of_results, strict=True)]
    outputs = _elements(named)
    is_scalar = made.width == 1 and not made.shape
    yield Results("value", range(made.width), outputs, is_scalar)
    if not made.order:
        return
    points = _elements([*made.axes()])
    before, count, width = made.before, len(made.points), made.width
    ys, xs, across = outputs.names, points.names, len(points)
    says = Said(
        len(outputs) * across,
        lambda k: f"d {outputs[k // across]} / d {points[k % across]}",
        [f"d {y} / d {x}" for y in ys for x in xs],
    )
    if made.swept is not None and made.order == 1:
        places: Sequence[int] = ()
    elif made.is_forward:
        places = [before + j * before + i for i in range(width) for j in range(count)]
    else:
        places = [*range(before, before + width * len(made.points))]
    yield Results("grad" if is_scalar else "jacobian", places, says, False)
    if made.order > 1:
        start, each = before + count, range(count)
        places = [start + j * start + before + i for i in each for j in each]
        places = places if made.swept is None else ()
        says = Said(
            across * across,
            lambda k: f"d2 {ys[0]} / d {points[k // across]} d {points[k % across]}",
            [f"d2 {ys[0]} / d {x} d {y}" for x in xs for y in xs],
        )
        yield Results("hessian", places, says, False)


def _elements(named: Sequence[tuple[str, Sequence[int]]]) -> Said:
    """The names of the elements of values, which have names and shapes."""
    starts = [0, *accumulate(prod(shape) for _, shape in named)]

    def words(k: int) -> str:
        at = bisect_right(starts, k) - 1
        name, shape = named[at]
        if not shape:
            return name
        return f"{name}[{', '.join(map(str, np.unravel_index(k - starts[at], shape)))}]"

    return Said(starts[-1], words, [name for name, _ in named])
