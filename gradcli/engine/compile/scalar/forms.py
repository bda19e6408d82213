"""Make the scalar forms of ops' values on numbers, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from types import FunctionType
from typing import Any

from gradcli.engine.compile.scalar.builder import Builder, Number
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.form import Call, Function
from gradcli.engine.compile.scalar.translate import call, inlined
from gradcli.record import Record

_LONGEST = 3000  # instructions of a piecewise function
_NUMBERS = count()


class Unknown(Record):
    """The type of an argument that is unknown until the code runs."""

    __slots__ = ("type",)
    type: str


class Forms:
    """Makes forms of Python functions on demand.

    Fields:
        piecewise: the forms of piecewise functions by name; they may call each other.
    """

    def __init__(self) -> None:
        self.piecewise: dict[str, Function] = {}
        self._names: dict[Any, str] = {}

    def function(
        self,
        name: str,
        function: Callable[..., Any],
        args: Sequence[Any],
        params: Mapping[str, Any],
        type: str,
    ) -> Function:
        """The form of a function with a number of a given type as its value; arguments are
        `Unknown` or known. Several threads may call this at once.

        Raises:
            Untranslatable: If it has none.
        """
        b = Builder([a.type for a in args if isinstance(a, Unknown)])
        unknown = iter(b.params)
        given = [Number(next(unknown), a.type) if isinstance(a, Unknown) else a for a in args]
        tried = Forms()  # if this fails, the piecewise functions made for it are dropped
        tried.piecewise |= self.piecewise
        tried._names |= self._names
        made = b.function(name, call(b, tried._name, function, given, params, type))
        self.piecewise |= tried.piecewise
        self._names |= tried._names
        return made

    def called(self, function: Function) -> list[Function]:
        """The piecewise functions that a function calls, directly or indirectly."""
        found: dict[str, Function] = {}
        rest = [function]
        while rest:
            for name in _calls(rest.pop()):
                if name not in found:
                    found[name] = self.piecewise[name]
                    rest.append(found[name])
        return [*found.values()]

    def _name(self, function: FunctionType, args: Mapping[str, Any]) -> str:
        """The name of a piecewise function, specialized for the known arguments; the others are
        floats.
        """
        floats = [name for name, x in args.items() if isinstance(x, Number)]
        if any(args[name].type != "float" for name in floats):
            raise Untranslatable("a piecewise function of another type than float")
        known = tuple((name, x) for name, x in args.items() if name not in floats)
        try:
            found = self._names.get(key := (function, known))
        except TypeError:
            raise Untranslatable("an argument that cannot be compared") from None
        if found is None:
            found = self._names[key] = f"{function.__name__.strip('_<>')}_{next(_NUMBERS)}"
            self.piecewise[found] = self._made(found, function, args, floats)
        return found

    def _made(
        self, name: str, function: FunctionType, args: Mapping[str, Any], floats: Sequence[str]
    ) -> Function:
        b = Builder(["float"] * len(floats))
        b.bails = True  # calls of it from within assume so
        places = zip(floats, b.params, strict=True)
        given = {**args, **{a: Number(x, "float") for a, x in places}}
        result = inlined(b, self._name, function, given)
        if b.length > _LONGEST:
            raise Untranslatable("a long function")
        return b.function(name, result)


def _calls(function: Function) -> Iterator[str]:
    for block in function.blocks:
        for i in block.body:
            if isinstance(i, Call):
                yield i.function
