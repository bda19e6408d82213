"""Abstract values: shapes, dtypes, constants and dependence before the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from gradcli.engine.ops import statics
from gradcli.engine.ops.op import Op
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import NUMBERS, dtype_of, is_whole
from gradcli.engine.values.sizes import Shape, broadcast
from gradcli.source import Span

UNSURE = statics.UNSURE
"""The `known` of a value that is unknown."""

HERE = 0
Memory: TypeAlias = frozenset[int] | None
NEW: frozenset[int] = frozenset({HERE})
"""New memory, which no other value shares."""
NO_MEMORY: frozenset[int] = frozenset()
"""That of numbers; one object, because each takes 216 bytes."""


class Link(NamedTuple):
    """The dependence of a value on the differentiated names: whether it depends on any, whether a
    gradient passes to them, and the flat operations on the way, by name and place.
    """

    varies: bool = False
    smooth: bool = False
    flats: frozenset[tuple[str, Span]] = frozenset()

    def cut(self) -> Link:
        """The link of a value computed from this one without a gradient."""
        return Link(self.varies)


UNLINKED = Link()
LINKED = Link(True, True)


class Value(Carrier):
    """The facts known about a value. `kind`, `shape` and `dtype` are None if unknown; `known` is
    its value if it is a constant.

    `memory` are the instructions, by `id`, that may have made the memory of the value. It is None
    if any may have, and holds `HERE` for the instruction whose result this is. `fact` keeps the
    facts that `facts.py` has made of it.
    """

    __slots__ = ("dtype", "fact", "kind", "known", "link", "memory", "shape")

    def __init__(
        self,
        shape: Shape | None = None,
        dtype: str | None = None,
        link: Link = UNLINKED,
        known: Any = UNSURE,
        kind: str | None = None,
        memory: Memory = None,
    ) -> None:
        self.kind = kind
        self.memory = NO_MEMORY if kind == "number" else memory
        self.shape = shape
        self.dtype = dtype
        self.link = link
        self.known = known
        self.fact: Any = None

    @property
    def ndim(self) -> int:
        assert self.shape is not None
        return len(self.shape)

    @property
    def is_number(self) -> bool | None:
        return None if self.kind is None and self.shape in ((), None) else self.kind == "number"

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Refused, so that nothing takes this for an array of one object."""
        raise TypeError("there are no numbers to read")

    def apply(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """The result of the op; at most its shape is known."""
        found = inferred(op, args, params)
        return found if op.value.number is not None else _as_part(found, args)


def _as_part(found: Any, args: Sequence[Any]) -> Any:
    """The result of an op inside another. It may be a number if all arguments are numbers that are
    not differentiated.
    """
    numbers = all(not isinstance(a, Value) or a.kind != "tensor" for a in args)
    if isinstance(found, Value) and found.kind == "tensor" and numbers:
        return Value(found.shape, found.dtype, found.link, found.known, None, found.memory)
    return found


def unknown(link: Link = UNLINKED) -> Value:
    """A value with no known facts."""
    return Value(link=link)


def constant(value: Any) -> Value:
    """A known value."""
    if type(value) in NUMBERS:
        return number(dtype_of(value), UNLINKED, value)
    return Value(known=value, kind=_KINDS.get(type(value)), memory=NO_MEMORY)


def number(dtype: str | None, link: Link = UNLINKED, known: Any = UNSURE) -> Value:
    """A Python number."""
    return Value((), dtype, link, known, "number")


def tensor(
    shape: Shape | None, dtype: str | None, link: Link = UNLINKED, memory: Memory = NEW
) -> Value:
    """A tensor."""
    return Value(shape, dtype, link, kind="tensor", memory=memory)


def view(of: Value, shape: Shape | None) -> Value:
    """A tensor on the memory of another."""
    return tensor(shape, of.dtype, of.link, of.memory)


def relinked(value: Value, link: Link) -> Value:
    """The value with another link."""
    return Value(value.shape, value.dtype, link, value.known, value.kind, value.memory)


def made_float(value: Any) -> Any:
    """A value that is asked to be differentiated by: ints become floats, on memory of their own."""
    if not isinstance(value, Value) or not is_whole(value.dtype) or value.dtype == "bool":
        return value
    memory = None if value.memory is None else value.memory | NEW
    return Value(value.shape, None, value.link, kind=value.kind, memory=memory)


def of_any_precision(value: Any) -> Any:
    """A result where the default dtype is not known: whether tensors of floats have it is not."""
    if type(value) is tuple:
        return tuple(map(of_any_precision, value))
    if not isinstance(value, Value) or value.dtype != "float64" or value.kind == "number":
        return value
    return Value(value.shape, None, value.link, value.known, value.kind, value.memory)


_MOST_RESULTS = 1000  # of an operation that are followed
_KINDS = {
    str: "text",
    type(None): "none",
    range: "range",
    slice: "slice",
    type(Ellipsis): "ellipsis",
}


def agree(a: Any, b: Any) -> bool:
    """True if two constants are one."""
    return a is b or (type(a) is type(b) and bool(a == b))


def placed(value: Any, at: int) -> Any:
    """A value whose memory is `HERE` as the result of the instruction at a place."""
    if type(value) is tuple:
        return tuple(placed(part, at) for part in value)
    if not isinstance(value, Value) or not value.memory or HERE not in value.memory:
        return value
    memory = frozenset((at,)) if value.memory == NEW else value.memory - NEW | {at}
    return Value(value.shape, value.dtype, value.link, value.known, value.kind, memory)


def joined(links: Iterable[Link]) -> Link:
    """The link of a value that depends on others in several ways."""
    found = UNLINKED
    for link in links:
        if found is UNLINKED:
            found = link
        elif link is not UNLINKED and link is not found:
            varies, smooth, flats = link
            found = Link(found.varies or varies, found.smooth or smooth, found.flats | flats)
    return found


def of_data(data: Any, link: Link) -> Any:
    """The facts of a value from outside: of a tensor or a float without its numbers."""
    kind = "tensor" if type(data) is Tensor else "number"
    if isinstance(data, Tensor):
        data = data.data
    if type(data) in NUMBERS:
        known = UNSURE if link.varies or type(data) is float else data
        return Value((), dtype_of(data), link, known, kind, NEW)
    if hasattr(data, "dtype"):
        smooth = link if data.dtype.kind == "f" else UNLINKED
        return tensor(tuple(data.shape), dtype_of(data), smooth)
    return constant(data) if isinstance(data, str) or data is None else unknown(link)


def inferred(op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    """The result of an op, from the facts of its arguments.

    Raises:
        GradError: If the sizes cannot fit, for any values.
    """
    link = joined([a.link for a in args if isinstance(a, Value)])
    if op.value.number is not None and not link.varies:
        plain = [_known(a) for a in args]
        if all(type(p) in NUMBERS for p in plain):
            found = constant(op.value.number(*plain, **params))
            kind = _kind(op, args)
            if kind == "number" or found.dtype == _rule(op)(*args, **params):
                return Value((), found.dtype, found.link, found.known, kind, NEW)
    shapes = [_shape_of(a) for a in args]
    sized = all(s is not None or a is None for s, a in zip(shapes, args, strict=True))
    if op.value.body is not None and op.statics.shape is None:
        return _composed(op, args, params) if sized else unknown(link)
    shape: Any = None
    if sized and op.statics.shape is not None:
        shape = op.statics.shape(*shapes, **params)
    elif sized and op.elementwise:
        shape = broadcast(*(s for s in shapes if s is not None))
    if not isinstance(op.statics.dtype, list):
        return _result(op, args, shape, op.statics.dtype(*args, **params), link)
    if shape is None or len(shape) > _MOST_RESULTS:
        return unknown(link)
    rules = op.statics.dtype * len(shape) if len(op.statics.dtype) == 1 else op.statics.dtype
    return tuple(
        _result(op, args, s, rule(*args, **params), link)
        for s, rule in zip(shape, rules, strict=True)
    )


def _rule(op: Op) -> Callable[..., Any]:
    """The rule for the dtype of an op of one result."""
    assert not isinstance(op.statics.dtype, list)
    return op.statics.dtype


def _composed(op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    """The result of an op made of others; ops without arguments give known values."""
    assert op.value.body is not None
    found = op.value.body(*args, **params)
    parts = found if isinstance(found, tuple) else (found,)
    if all(isinstance(p, Value) for p in parts):
        return found
    made = tuple(p if isinstance(p, Value) else of_data(p, UNLINKED) for p in parts)
    return made if isinstance(found, tuple) else made[0]


def _result(
    op: Op, args: Sequence[Any], shape: Shape | None, dtype: str | None, link: Link
) -> Value:
    """One result of an op. A gradient passes through it only if it is of floats."""
    ways = op.differentiable or op.value.body is not None
    smooth = ways and not is_whole(dtype)
    memory = args[0].memory if op.memory.view and isinstance(args[0], Value) else NEW
    kind = _kind(op, args)
    return Value(shape, dtype, link if smooth else link.cut(), kind=kind, memory=memory)


def _kind(op: Op, args: Sequence[Any]) -> str | None:
    """Numbers where all arguments are and the op has a value on numbers, else tensors."""
    kinds = {a.kind if isinstance(a, Value) else "number" for a in args if a is not None}
    if "tensor" in kinds or op.value.number is None:
        return "tensor"
    return "number" if kinds <= {"number"} else None


def _known(a: Any) -> Any:
    return a.known if isinstance(a, Value) else a if type(a) in NUMBERS else UNSURE


def _shape_of(a: Any) -> tuple[int, ...] | None:
    if isinstance(a, Value):
        return a.shape
    return () if type(a) in NUMBERS else getattr(a, "shape", None)
