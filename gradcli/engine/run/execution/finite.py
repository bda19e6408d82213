"""Find the values in what a program holds, and tell those that are finite."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

from gradcli.cpython import LIBRARY
from gradcli.engine.autodiff.paths import reachable
from gradcli.engine.tape.tensor import AccumulateGrad, Number, Tensor, node_of
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, holds_finite, np, squares_are_finite
from gradcli.engine.values.objects import Object

WHOLE = frozenset({int, bool, type(None)})
"""The types of values that are always finite."""


def leaves_under(x: Any) -> list[Tensor]:
    """The leaves from which a tensor was made."""
    node = node_of(x) if isinstance(x, Tensor) else None
    below = () if node is None else reachable([node])
    found = (n.variable for n in below if isinstance(n, AccumulateGrad))
    return [leaf for leaf in found if leaf is not None]


def tensors_of_object(x: Any, method: str) -> list[Tensor]:
    """The tensors that an object of the library holds if its class has this method, such as the
    `step` of an optimizer; none of an object of the program, the methods of which are observed.
    """
    code = getattr(getattr(type(x), method, None), "__code__", None)
    if not isinstance(x, Object) or code is None or code.co_filename != LIBRARY:
        return []
    found, seen, waiting = [], {id(x)}, [*vars(x).values()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple, dict, Object)) and id(value) not in seen:
            seen.add(id(value))
            inside = vars(value) if isinstance(value, Object) else value
            waiting.extend(inside.values() if isinstance(inside, dict) else inside)
    return found


def is_surely_finite(out: Any) -> bool:
    """True for a number or tensor whose values are finite; it is false for very large ones, too."""
    kind = type(out)
    if kind is Tensor or kind is Number:
        out = out.data
        if type(out) is not float:
            return type(out) in WHOLE or squares_are_finite(out)
    elif kind is not float:
        return kind in WHOLE
    return bool(out - out == 0.0)


def parts_of(value: Any) -> Iterator[Any]:
    """The numbers and tensors in a value."""
    if isinstance(value, Tensor) or type(value) in NUMBERS:
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from parts_of(item)


def is_finite(x: Any) -> bool:
    """True if a number or tensor holds neither nan nor infinity."""
    data = data_of(x)
    if type(data) is np.ndarray and data.dtype.char == "d":
        total = float(np.vdot(data, data))
        if total - total == 0.0:
            return True
        if isnan(total):  # of squares only nan makes nan
            return False
    return holds_finite(data)


def made_finite(x: Any) -> Any:
    """A number or tensor with 1 in the place of nan and infinity."""
    data = data_of(x)
    if type(x) is Number or type(data) in NUMBERS:
        return 1.0
    return Tensor(np.where(np.isfinite(data), data, 1.0))
