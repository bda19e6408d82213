"""What is known of values before a program runs: shapes, dtypes, constants, dependence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gradcli.engine.ops.op import Op
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import NUMBERS, dtype_of
from gradcli.engine.values.sizes import Shape, broadcast
from gradcli.source import Span

UNSURE = object()
"""The known value of what has none."""


class Link(NamedTuple):
    """How a value hangs on what is differentiated: whether it does at all, whether a gradient goes
    through it, and which flat operations, by name and place, are on the way.
    """

    varies: bool = False
    smooth: bool = False
    flats: frozenset[tuple[str, Span]] = frozenset()

    def cut(self) -> Link:
        """Of a value made from this one by a way that no gradient goes."""
        return Link(self.varies)


UNLINKED = Link()
LINKED = Link(True, True)


class Value(Carrier):
    """What is known of a value. `shape` and `dtype` are None where they are not known, `known` is
    its value where it is a constant.
    """

    __slots__ = ("dtype", "known", "link", "shape")

    def __init__(
        self,
        shape: Shape | None = None,
        dtype: str | None = None,
        link: Link = UNLINKED,
        known: Any = UNSURE,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.link = link
        self.known = known

    @property
    def ndim(self) -> int:
        assert self.shape is not None
        return len(self.shape)

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Refused, so that nothing takes this for an array of one object."""
        raise TypeError("there are no numbers to read")

    def apply(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """What the op gives, of which the shape at most is known."""
        return inferred(op, args, params)


def unknown(link: Link = UNLINKED) -> Value:
    """A value of which no more is known."""
    return Value(link=link)


def constant(value: Any) -> Value:
    """A value that is known."""
    if type(value) in NUMBERS:
        return Value((), dtype_of(value), known=value)
    return Value(known=value)


def joined(links: Iterable[Link]) -> Link:
    """How a value hangs on what is differentiated by any of several ways."""
    found = UNLINKED
    for varies, smooth, flats in links:
        found = Link(found.varies or varies, found.smooth or smooth, found.flats | flats)
    return found


def of_data(data: Any, link: Link) -> Any:
    """What is known of a value from outside: of a tensor or a float not its numbers."""
    if isinstance(data, Tensor):
        data = data.data
    if type(data) in NUMBERS:
        known = UNSURE if link.varies or type(data) is float else data
        return Value((), dtype_of(data), link, known)
    if hasattr(data, "dtype"):
        return Value(
            tuple(data.shape), dtype_of(data), link if data.dtype.kind == "f" else UNLINKED
        )
    return constant(data) if isinstance(data, str) or data is None else unknown(link)


def inferred(op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    """What an op gives for what is known of its arguments.

    Raises:
        GradError: If the sizes cannot fit, whatever the values.
    """
    link = joined(a.link for a in args if isinstance(a, Value))
    plain = [_known(a) for a in args]
    if op.number is not None and not link.varies and all(type(p) in NUMBERS for p in plain):
        return constant(op.number(*plain, **params))
    shapes = [_shape_of(a) for a in args]
    sized = all(s is not None or a is None for s, a in zip(shapes, args, strict=True))
    if op.body is not None and op.shape is None:
        return _composed(op, args, params) if sized else unknown(link)
    shape: Any = None
    if sized and op.shape is not None:
        shape = op.shape(*shapes, **params)
    elif sized and op.elementwise:
        shape = broadcast(*(s for s in shapes if s is not None))
    if not isinstance(op.dtype, list):
        return _result(op, shape, op.dtype(*args, **params), link)
    if shape is None:
        return unknown(link)
    rules = op.dtype * len(shape) if len(op.dtype) == 1 else op.dtype
    return tuple(
        _result(op, s, rule(*args, **params), link) for s, rule in zip(shape, rules, strict=True)
    )


def _composed(op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    """What an op made of others gives; what they make of no argument is known."""
    assert op.body is not None
    found = op.body(*args, **params)
    parts = found if isinstance(found, tuple) else (found,)
    if all(isinstance(p, Value) for p in parts):
        return found
    made = tuple(p if isinstance(p, Value) else of_data(p, UNLINKED) for p in parts)
    return made if isinstance(found, tuple) else made[0]


def _result(op: Op, shape: Shape | None, dtype: str | None, link: Link) -> Value:
    """One result of an op; a gradient goes through it only if it is of floats."""
    ways = op.differentiable or op.body is not None
    smooth = ways and dtype not in ("int64", "bool")
    return Value(shape, dtype, link if smooth else link.cut())


def _known(a: Any) -> Any:
    return a.known if isinstance(a, Value) else a if type(a) in NUMBERS else UNSURE


def _shape_of(a: Any) -> tuple[int, ...] | None:
    if isinstance(a, Value):
        return a.shape
    return () if type(a) in NUMBERS else getattr(a, "shape", None)
