"""A result and its derivative over one input: at points, and where it has kinks between them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic, GradError, InputError, RunError, UsageError, nearest
from gradcli.ir.program import Program as Ops
from gradcli.questions.asked.request import Options
from gradcli.record import Record
from gradcli.results import JvpResult
from gradcli.source import Source, Span
from gradcli.views import Break, Curve, PlotResult

_TOGETHER = 16, 4096  # points that are asked together, at first and at most
_CURVES = 8  # elements of a result that are drawn
_BREAKS = 24  # intervals in which a kink is looked for
_HALVINGS = 60


def plot(
    program: Any,
    given: Mapping[str, Given],
    over: str,
    at: Sequence[float],
    of: Sequence[str | None],
    options: Options,
    source: Source,
    ops: Ops,
) -> PlotResult:
    """The curves of results over an input.

    Args:
        program: The `Program`, which is asked for value and derivative at each point.
        given: Values of the other inputs.
        over: The input.
        at: Its values, in order.
        of: The names of the results, None for that of the program.
        options: How to run; printed text is dropped.
        source: The program's text.
        ops: The ops program.
    """
    if over not in program.inputs:
        known = f"its inputs are {', '.join(program.inputs)}" if program.inputs else None
        help = nearest(over, program.inputs) or known
        message = f"the program has no input `{over}` to go over"
        raise InputError(Diagnostic("unknown-input", message, help=help))
    if over in given:
        message = f"`{over}` is given by {given[over].origin}, and --over gives it, too"
        raise UsageError(Diagnostic("usage", message))
    seed = int.from_bytes(os.urandom(8)) if options.seed is None else options.seed
    silent = options.changed(seed=seed, echo=lambda text: None, explain=False)
    curves: list[Curve] = []
    warnings: dict[str, Diagnostic] = {}
    total = len(at) * len(of)
    for number, name in enumerate(of):
        ask = _Ask(program, given, over, name, silent)
        found = []
        for result in ask.many(at):
            found.append(result)
            options.progress(number * len(at) + len(found), total)
        for each in found:
            for warning in each.warnings:
                if warning.code != "non-finite":
                    warnings.setdefault(warning.code, warning)
        title = _title(source, ops, name)
        curves += _curves(ask, at, found, _label(title, _unit_of_result(source, ops, name)))
    return PlotResult(
        over,
        _label(over, _unit_of_input(source, ops, over)),
        tuple(at),
        tuple(curves),
        tuple(warnings.values()),
    )


class _Ask(Record):
    """Asks for a result and its derivative at values of an input."""

    __slots__ = ("program", "given", "over", "of", "options")
    program: Any
    given: Mapping[str, Given]
    over: str
    of: str | None
    options: Options

    def __call__(self, x: float) -> JvpResult:
        try:
            found: JvpResult = self.program.jvp(
                self._at(x), tangents={self.over: 1.0}, of=self.of, options=self.options
            )
        except GradError as error:
            first = error.diagnostics[0]
            first.notes = (*first.notes, f"at {self.over} = {x!r}")
            raise
        return found

    def many(self, at: Sequence[float]) -> Iterator[JvpResult]:
        """The answers at many values, by code as soon as there is any."""
        start, count = 0, _TOGETHER[0]
        while start < len(at):
            together = at[start : start + count]
            first, along = self._at(together[0]), {self.over: 1.0}
            many = self.program.many("jvp", first, options=self.options, tangents=along, of=self.of)
            if many is None or self.options.check_nan:
                yield from map(self, together)
            else:
                found = many.numbers([self._plain(x) for x in together])
                for x, numbers in zip(together, found, strict=True):
                    yield self(x) if numbers is None else many.result(numbers)
            start, count = start + count, min(2 * count, _TOGETHER[1])

    def _at(self, x: float) -> dict[str, Given]:
        return {**self.given, self.over: Given(x, f"--over {self.over}={x!r}")}

    def _plain(self, x: float) -> dict[str, Any]:
        return {**{name: given.value for name, given in self.given.items()}, self.over: x}


def _curves(
    ask: _Ask, at: Sequence[float], found: Sequence[JvpResult], label: str
) -> Iterator[Curve]:
    """A curve for each element of a result."""
    shape = np.shape(found[0].value)
    for x, result in zip(at, found, strict=True):
        if np.shape(result.value) != shape:
            message = (
                f"`{result.output}` has the shape {list(np.shape(result.value))} at {ask.over} = "
                f"{x!r}, and {list(shape)} at {at[0]!r}"
            )
            raise RunError(Diagnostic("shape-mismatch", message))
    count = math.prod(shape)
    if count > _CURVES:
        message = f"`{found[0].output}` has {count} elements, a curve for each is too many"
        help = f"take some of them, or their sum: at most {_CURVES} are drawn"
        raise RunError(Diagnostic("needs-cotangent", message, help=help))
    for k, index in enumerate(np.ndindex(*shape)):
        element = f"[{', '.join(map(str, index))}]" if shape else ""

        def of(result: JvpResult, k: int = k) -> tuple[float, float]:
            return float(np.ravel(result.value)[k]), float(np.ravel(result.jvp)[k])

        pairs = [of(result) for result in found]
        yield Curve(
            found[0].output + element,
            label + element,
            tuple(value for value, _ in pairs),
            tuple(slope for _, slope in pairs),
            tuple(_breaks(list(zip(at, pairs, strict=True)), lambda x, of=of: of(ask(x)))),  # type: ignore[misc]
        )


# kinks --------------------------------------------------------------------------------------------

Pair: TypeAlias = tuple[float, float]
Point: TypeAlias = tuple[float, Pair]
Change: TypeAlias = Callable[[Point, Point], float]


def _breaks(points: Sequence[Point], ask: Callable[[float], Pair]) -> Iterator[Break]:
    """Find jumps of value or derivative between two points. Halving an interval makes the change of
    a smooth function ever smaller, but not a jump.
    """
    found: dict[int, Break] = {}
    for change, halved in ((_beyond, _rise), (_turn, _turn)):
        for i in _sudden(points, change):
            made = None if i in found else _halved(points[i], points[i + 1], halved, ask)
            if made is not None:
                found[i] = made
    yield from (found[i] for i in sorted(found))


def _rise(a: Point, b: Point) -> float:
    """By how much the value changes."""
    return abs(b[1][0] - a[1][0])


def _beyond(a: Point, b: Point) -> float:
    """By how much more a value changes than the derivatives at both ends account for."""
    return abs(b[1][0] - a[1][0] - 0.5 * (a[1][1] + b[1][1]) * (b[0] - a[0]))


def _turn(a: Point, b: Point) -> float:
    """By how much the derivative changes."""
    return abs(b[1][1] - a[1][1])


def _sudden(points: Sequence[Point], change: Change) -> list[int]:
    """The intervals in which something changes by more than in one beside them."""
    changes = [change(a, b) for a, b in pairwise(points)]
    found = []
    for i, size in enumerate(changes):
        a, b = points[i][1], points[i + 1][1]
        least = _NOISE * max(map(abs, (*a, *b)))
        beside = [c for c in (*changes[max(i - 1, 0) : i], *changes[i + 1 : i + 2]) if c >= 0]
        if math.isfinite(size) and size > least and size > _SUDDEN * min(beside, default=0.0):
            found.append((size / (min(beside, default=0.0) + least), i))
    return [i for _, i in sorted(found, reverse=True)[:_BREAKS]]


_NOISE = 1e-9  # of values and derivatives: what rounding does
_SUDDEN = 2.0


def _halved(a: Point, b: Point, change: Change, ask: Callable[[float], Pair]) -> Break | None:
    """The jump of derivative or value between two points, None if there is none."""
    left, right, whole = a, b, change(a, b)
    for _ in range(_HALVINGS):
        x = 0.5 * (left[0] + right[0])
        if not left[0] < x < right[0]:
            break
        middle = x, ask(x)
        before, after = change(left, middle), change(middle, right)
        if not math.isfinite(before):
            break
        if max(before, after) < _KEPT * whole:
            return None
        left, right = (left, middle) if before > after else (middle, right)
    width = b[0] - a[0]
    at = round(right[0], 10 - math.floor(math.log10(width)))
    return _break(at, width, max(abs(a[1][0]), abs(b[1][0])), ask)


_KEPT = 0.2  # of a change: each halving halves the change of a smooth function


def _break(at: float, width: float, most: float, ask: Callable[[float], Pair]) -> Break | None:
    """The kink at a point, from values and slopes beside it in an interval of a width; a pole is a
    jump between infinities. None if there is no kink.
    """
    step = 1e-6 * width
    (value, slope), (other, further) = ask(at - step), ask(at + step)
    if not all(map(math.isfinite, (value, slope, other, further))):
        return None
    if min(abs(value), abs(other)) > 1e3 * most:
        ends = math.copysign(math.inf, value), math.copysign(math.inf, other)
        return Break(at, math.copysign(math.inf, slope), math.copysign(math.inf, further), ends)
    jumps = abs(other - value - step * (slope + further)) > 1e-4 * max(abs(value), abs(other))
    if not jumps and abs(further - slope) <= 1e-3 * max(abs(slope), abs(further)):
        return None
    return Break(at, slope, further, (value, other) if jumps else None)


# labels -------------------------------------------------------------------------------------------

_LONGEST = 24  # characters of a comment that is taken for a unit


def _label(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name


def _unit_of_input(source: Source, ops: Ops, name: str) -> str:
    return next((_comment(source, i.span) for i in ops.inputs if i.name == name), "")


def _title(source: Source, ops: Ops, name: str | None) -> str:
    """The title of a result: its name, or its text if that is short."""
    if name is not None or ops.result is None or ops.output in ops.names:
        return name or ops.output
    written = source.text[ops.result.span.start : ops.result.span.end]
    return written if "\n" not in written and len(written) <= _LONGEST_TITLE else ops.output


_LONGEST_TITLE = 50


def _unit_of_result(source: Source, ops: Ops, name: str | None) -> str:
    """The comment behind the only assignment of the result's name."""
    wanted = ops.output if name is None else name
    slot = ops.names.get(wanted)
    spans = [i.span for i in ops.main.body if getattr(i, "target", None) == slot is not None]
    return _comment(source, spans[0]) if len(spans) == 1 else ""


def _comment(source: Source, span: Span) -> str:
    """A short comment that ends the line of a statement: the unit of what it makes."""
    line, _ = source.position(span.end)
    rest = source.line(line)[span.end - source.offset(line, 1) :].strip()
    text = rest.removeprefix("#").strip()
    return text if rest.startswith("#") and len(text) <= _LONGEST else ""
