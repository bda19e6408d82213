"""Make LLVM functions of the ops' values on numbers, each once for all modules of a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from gradcli.engine.compile.llvm.emit.libm import address_of_both
from gradcli.engine.compile.llvm.emit.scalars import definition
from gradcli.engine.compile.llvm.emit.writer import Definition, Number, Writer
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.form import Branch
from gradcli.engine.compile.scalar.forms import Forms, Unknown
from gradcli.record import Record

PAIR = "{double, double}"
"""LLVM's type of two floats."""
_MOST = 1 << 12  # functions that are kept


class Defined(Record):
    """A function on numbers that modules may define.

    Fields:
        definition: its text.
        pieces: the names of the piecewise functions that it calls, directly or indirectly.
        bails: True if it may bail out.
        is_plain: True if it neither bails out nor branches.
    """

    __slots__ = ("definition", "pieces", "bails", "is_plain")
    definition: Definition
    pieces: tuple[str, ...]
    bails: bool
    is_plain: bool


_FORMS = Forms()
_PIECES: dict[str, Definition] = {}
_BY_CALL: dict[Any, Defined | None] = {}


class Call(Record):
    """A call to emit: of a function with numbers and constants as arguments and a value of a
    type.
    """

    __slots__ = ("function", "args", "params", "type")
    function: Callable[..., Any]
    args: Sequence[Number | float | None]
    params: Mapping[str, Any]
    type: str

    @property
    def types(self) -> list[str]:
        """The types of its numbers."""
        return [a.type for a in self.args if isinstance(a, Number)]

    @property
    def key(self) -> Any:
        """The cache key: the function, the types of numbers, constants and the value's type."""
        signature = tuple(a.type if isinstance(a, Number) else repr(a) for a in self.args)
        params = repr(sorted(self.params.items())) if self.params else ""
        return self.function, signature, params, self.type


def defined(call: Call) -> Defined | None:
    """The function for a call, or None if it has no scalar form."""
    key = call.key
    if key not in _BY_CALL:
        made = _made(call)
        if len(_BY_CALL) >= _MOST:
            _BY_CALL.clear()
        _BY_CALL[key] = made
        return made
    return _BY_CALL[key]


def piece(name: str) -> Definition:
    """The definition of a piecewise function."""
    found = _PIECES.get(name)
    if found is None:
        found = _PIECES[name] = definition(_FORMS.piecewise[name])
    return found


@cache
def both(first: str, second: str) -> Definition | None:
    """The definition of a function that returns the values of two functions of a float that the C
    library computes in one call, a pair of `BOTH`; None if it has no such call.
    """
    address = address_of_both(first, second)
    if address is None:
        return None
    w = Writer("")
    places = [w.put("alloca double"), w.put("alloca double")]
    said = "".join(f", ptr {place}" for place in places)
    outside = f"inttoptr (i64 {address} to ptr)"
    w.do(f"call void {outside}(double %a0{said}) nounwind willreturn memory(argmem: write)")
    pair = "zeroinitializer"
    for k, place in enumerate(places):
        x = w.put(f"load double, ptr {place}")
        pair = w.put(f"insertvalue {PAIR} {pair}, double {x}, {k}")
    w.do(f"ret {PAIR} {pair}")
    return Definition(PAIR, "double %a0", (*w.lines, "}"), True)


def _made(call: Call) -> Defined | None:
    given = [Unknown(a.type) if isinstance(a, Number) else a for a in call.args]
    try:
        form = _FORMS.function("", call.function, given, call.params, call.type)
        pieces = tuple(f.name for f in _FORMS.called(form))
        for name in pieces:
            piece(name)
        text = definition(form)
    except Untranslatable:
        return None
    branches = any(isinstance(block.end, Branch) for block in form.blocks)
    return Defined(text, pieces, form.bails, not branches and not form.bails)
