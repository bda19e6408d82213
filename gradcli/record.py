"""Plain slotted records, cheap to define and to make."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from types import FunctionType
from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(eq_default=True)
class Record:
    """Base of small immutable-by-habit records whose fields are their slots.

    A subclass lists its fields twice: in ``__slots__`` for the machine and as annotations for the
    reader and the type checker. Fields of a base come first. Defining sixty of these takes a
    thirtieth of the time of sixty dataclasses, which a command that starts in milliseconds feels.

    Two records are equal when their kind and their compared fields are; ``1``, ``1.0`` and
    ``True`` differ. Fields named in ``_ignored`` do not count; those in ``_defaults`` may be left
    out.
    """

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()
    _ignored: ClassVar[frozenset[str]] = frozenset()
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        own = cls.__dict__.get("__slots__", ())
        if own:
            cls._fields = (*cls._fields, *own)
        if "__init__" not in cls.__dict__ and cls.__init__ is not Record.__init__:
            cls.__init__ = Record.__init__  # type: ignore[method-assign]  # not a base's fast one

    def __init__(self, *values: Any, **named: Any) -> None:
        """Fill the fields. The first record of a kind gives the others a faster way."""
        self._fill(values, named)
        kind = type(self)
        if kind.__init__ is Record.__init__ and (filler := _filler(kind)) is not None:
            kind.__init__ = filler  # type: ignore[method-assign]
            for other in kind.__subclasses__():
                if "__init__" not in other.__dict__:
                    other.__init__ = Record.__init__  # type: ignore[method-assign]

    def _fill(self, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        fields = self._fields
        if len(values) == len(fields) and not named:
            tuple(map(object.__setattr__, repeat(self), fields, values))
            return
        found = dict(zip(fields, values, strict=False))
        given = len(values) + len(named)
        if given != len(fields):
            found = {**self._defaults, **found}
        if named:
            found.update(named)
        twice = given > len(fields) or not named.keys().isdisjoint(fields[: len(values)])
        if twice or len(found) != len(fields):
            raise TypeError(f"{type(self).__name__} takes the fields {', '.join(fields)}")
        tuple(map(object.__setattr__, repeat(self), found, found.values()))

    def __eq__(self, other: object) -> bool:
        """True if their fields are equal. Nothing here recurses: trees may be as deep as they are
        long.
        """
        if type(self) is not type(other):
            return NotImplemented
        pending: list[tuple[Any, Any]] = [(self, other)]
        while pending:
            a, b = pending.pop()
            kind = type(a)
            if a is b:
                continue
            if kind is not type(b):
                return False
            if isinstance(a, Record):
                names = (name for name in a._fields if name not in a._ignored)
                pending += [(getattr(a, name), getattr(b, name)) for name in names]
            elif isinstance(a, (tuple, list)):
                if len(a) != len(b):
                    return False
                pending += zip(a, b, strict=True)
            elif isinstance(a, float):
                if repr(a) != repr(b):
                    return False
            elif not a == b:
                return False
        return True

    __hash__ = None  # type: ignore[assignment]  # equal by content, and content may be a list

    def __repr__(self) -> str:
        shown = (f"{n}={getattr(self, n)!r}" for n in self._fields if n not in self._ignored)
        return f"{type(self).__name__}({', '.join(shown)})"


# --- records of few fields: three times as fast as any number by any way -------------------------


def _two(self: Any, a: Any, b: Any) -> None:
    self.a = a
    self.b = b


def _three(self: Any, a: Any, b: Any, c: Any) -> None:
    self.a = a
    self.b = b
    self.c = c


def _four(self: Any, a: Any, b: Any, c: Any, d: Any) -> None:
    self.a = a
    self.b = b
    self.c = c
    self.d = d


def _five(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> None:
    self.a = a
    self.b = b
    self.c = c
    self.d = d
    self.e = e


def _six(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> None:
    self.a = a
    self.b = b
    self.c = c
    self.d = d
    self.e = e
    self.f = f


_FILLERS: dict[int, Callable[..., None]] = {2: _two, 3: _three, 4: _four, 5: _five, 6: _six}


def _filler(kind: type[Record]) -> Callable[..., None] | None:
    """A function that fills the fields of a kind of records. None if there are too many, if some
    have defaults, or if they cannot be assigned.
    """
    like = _FILLERS.get(len(kind._fields))
    if like is None or kind._defaults or kind.__setattr__ is not object.__setattr__:
        return None
    names = ("self", *kind._fields)
    code = like.__code__.replace(co_name="__init__", co_names=kind._fields, co_varnames=names)
    return FunctionType(code, {}, "__init__")
