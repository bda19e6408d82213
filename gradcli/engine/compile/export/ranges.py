"""The ranges of ints in source code: of the counters of loops, and of what is computed from them.

Sums and products that stay within 64 bits need no check, and neither do places that are within an
array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.compile.export.written import Apply, Expression, Variable, applied
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op

Range: TypeAlias = "tuple[int, int]"
"""The smallest and the largest value."""

_LEAST, _MOST = -(2**63), 2**63 - 1
_PRIMITIVES = {ops.add.name: "int_add", ops.sub.name: "int_sub", ops.mul.name: "int_mul"}


class Ranges:
    """The ranges of variables, by name.

    Args:
        free: A bound of ints from which on they stand for free sizes; 0 if there are none.
    """

    def __init__(self, free: int = 0) -> None:
        self._known: dict[str, Range] = {}
        self._free = free

    def note(self, variable: Variable, found: Range | None) -> None:
        """Note the range of a variable, if it is known."""
        self._known.pop(variable.name, None)
        if found is not None:
            self._known[variable.name] = found

    def of(self, x: Expression | None) -> Range | None:
        """The range of an int; None if it is unknown."""
        if type(x) is int:
            return x, x
        if isinstance(x, Variable):
            return self._known.get(x.name)
        if isinstance(x, Apply) and x.primitive in _PRIMITIVES.values():
            a, b = map(self.of, x.args)
            return None if a is None or b is None else combined(x.primitive, a, b)
        return None

    def sure(
        self, op: Op, args: Sequence[Expression | None], params: Mapping[str, Any]
    ) -> Expression | None:
        """A sum or product of ints that stays within 64 bits; None for another op, or if it may
        not.
        """
        primitive = _PRIMITIVES.get(op.name)
        if primitive is None or params.get("alpha", 1) != 1:
            return None
        made = applied(primitive, tuple([x for x in args if x is not None]))
        found = self._widest(made)
        return made if found is not None and found[0] >= _LEAST and found[1] <= _MOST else None

    def _widest(self, x: Expression) -> Range | None:
        """The range of an int for free sizes as large as memory may hold."""
        if isinstance(x, Apply) and x.primitive in _PRIMITIVES.values():
            a, b = map(self._widest, x.args)
            return None if a is None or b is None else combined(x.primitive, a, b)
        found = self.of(x)
        if found is None or not self._free:
            return found
        least, most = (_LARGEST * y if abs(y) > self._free // 2 else y for y in found)
        return least, most


_LARGEST = 1 << 32  # how many times larger than its stand-in a size may be


def combined(primitive: str, a: Range, b: Range) -> Range:
    """The range of a sum, a difference or a product."""
    if primitive == "int_add":
        return a[0] + b[0], a[1] + b[1]
    if primitive == "int_sub":
        return a[0] - b[1], a[1] - b[0]
    several = [x * y for x in a for y in b]
    return min(several), max(several)
