"""Whether all places that source code reads and writes are in their arrays, for given sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcli.engine.compile.export.ranges import Range, combined
from gradcli.engine.compile.export.unit import Unit
from gradcli.engine.compile.export.written import (
    Apply,
    Count,
    Expression,
    Item,
    Let,
    Room,
    Statement,
    Store,
    Table,
    Total,
    Variable,
    every,
    inner,
    read,
)


def are_in_range(unit: Unit, sizes: Mapping[str, int]) -> bool:
    """True if all places are in their arrays for some sizes, by name. Places that depend on data do
    not count: the code tests them when it runs.
    """
    look = _Look({name: (n, n) for name, n in sizes.items()})
    for p in unit.parameters:
        if p.shape:
            look.declare(p.name, [look.of(x) for x in p.shape])
    look.block(unit.body)
    for run in (run for output in unit.outputs for run in output.runs):
        look.expression(run.value)
        count = look.of(run.count)
        if isinstance(run.value, Item) and count is not None and count[1]:
            look.reach(run.value.array, (0, count[1] - 1))
    return look.holds


class _Look:
    """Looks at statements for the ranges of the ints that they know."""

    def __init__(self, known: dict[str, Range]) -> None:
        self.holds = True
        self._known = known
        self._counts: dict[str, int] = {}

    def of(self, x: Expression) -> Range | None:
        """The range of an int; None if it depends on data."""
        if isinstance(x, int):
            return x, x
        if isinstance(x, Variable):
            return self._known.get(x.name)
        if isinstance(x, Apply) and x.primitive in ("int_add", "int_sub", "int_mul"):
            a, b = map(self.of, x.args)
            return None if a is None or b is None else combined(x.primitive, a, b)
        return None

    def declare(self, array: str, sizes: Sequence[Range | None]) -> None:
        """Note how many elements an array has; it has some."""
        count = 1
        for size in sizes:
            assert size is not None
            count *= size[0]
        self._counts[array] = count
        self.holds = self.holds and count > 0

    def reach(self, array: str, places: Range | None) -> None:
        """Look at places in an array."""
        if places is not None and array in self._counts:
            self.holds = self.holds and places[0] >= 0 and places[1] < self._counts[array]

    def expression(self, x: Expression) -> None:
        """Look at the places that an expression reads."""
        for part in every(x):
            if isinstance(part, Item):
                self.reach(part.array, self.of(part.at))
            elif isinstance(part, Total):
                start, count, step = map(self.of, (part.start, part.count, part.step))
                if start is None or count is None or step is None or count[0] < 0:
                    self.holds = False
                elif count[0]:
                    last = start[1] + (count[1] - 1) * step[1]
                    self.reach(part.array, (min(start[0], last), max(start[1], last)))

    def block(self, body: Sequence[Statement]) -> None:
        """Look at statements."""
        for s in body:
            for x in read(s):
                self.expression(x)
            match s:
                case Room(array=array, count=count):
                    self.declare(array, [self.of(count)])
                case Table(array=array, values=values):
                    self.declare(array, [(len(values), len(values))])
                case Store(array=array, at=at):
                    self.reach(array, self.of(at))
                case Let(variable=v, value=x, is_fixed=True) if v.type == "int":
                    found = self.of(x)
                    if found is not None:
                        self._known[v.name] = found
                case Count():
                    self._loop(s)
                    continue
            for part in inner(s):
                self.block(part)

    def _loop(self, s: Count) -> None:
        """Look at a loop, unless it has no turns."""
        start, stop = self.of(s.start), self.of(s.stop)
        self._known.pop(s.variable.name, None)
        if start is not None and stop is not None:
            found = (start[0], stop[1] - 1) if s.step > 0 else (stop[0] + 1, start[1])
            if found[0] > found[1]:
                return
            self._known[s.variable.name] = found
        self.block(s.body)
