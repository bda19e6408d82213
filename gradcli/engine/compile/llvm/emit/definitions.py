"""Make LLVM functions of the ops' values on numbers, each once for all modules of a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.compile.llvm.emit.scalars import definition
from gradcli.engine.compile.llvm.emit.writer import (
    Definition,
    Number,
    Steps,
    constant,
)
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.form import Branch
from gradcli.engine.compile.scalar.forms import Forms, Unknown
from gradcli.record import Record

_MOST = 1 << 12  # functions that are kept


class Defined(Record):
    """A function on numbers that modules may define.

    Fields:
        definition: its text.
        pieces: the names of the piecewise functions that it calls, directly or indirectly.
        bails: True if it may bail out.
        is_plain: True if it neither bails out nor branches.
        steps: its instructions in place of a call, if it is plain and small.
    """

    __slots__ = ("definition", "pieces", "bails", "is_plain", "steps")
    definition: Definition
    pieces: tuple[str, ...]
    bails: bool
    is_plain: bool
    steps: Steps | None


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
    def of_types(self) -> Any:
        """The function, the kinds of its arguments and the value's type."""
        types = tuple([a.type if type(a) is Number else _kind(a) for a in self.args])
        params = repr(sorted(self.params.items())) if self.params else ""
        return self.function, types, params, self.type

    @property
    def key(self) -> Any:
        """The cache key: the function, the types of numbers, constants and the value's type."""
        signature = tuple(a.type if isinstance(a, Number) else repr(a) for a in self.args)
        params = repr(sorted(self.params.items())) if self.params else ""
        return self.function, signature, params, self.type


def _kind(a: Any) -> Any:
    """The type of a constant. One that LLVM's numbers do not hold is a kind of its own."""
    return type(a) if a is None or constant(a) is not None else a


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
    is_plain = not branches and not form.bails
    return Defined(text, pieces, form.bails, is_plain, text.steps if is_plain else None)
