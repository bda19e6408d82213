"""Write ops on numbers from their scalar forms: in place if that reads well, else as functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.compile.export.ranges import Ranges
from gradcli.engine.compile.export.structure import Body, expression
from gradcli.engine.compile.export.written import (
    Apply,
    Called,
    Expression,
    Function,
    Math,
    Variable,
    every,
    is_atom,
    replaced,
    size,
    type_of,
)
from gradcli.engine.compile.scalar import form as scalar
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.forms import Forms, Unknown
from gradcli.engine.compile.typed import NotCompilable
from gradcli.engine.ops.op import Op
from gradcli.source import Span

_MOST = 6  # operations of an op that is written in place
_FLOATS = {"int": "int_to_float", "bool": "bool_to_float"}


Hold: TypeAlias = Callable[[Expression], Expression]
"""Makes a variable of an expression."""


class Attempted:
    """A call of a function that may refuse, which needs a statement of its own."""

    def __init__(self, function: str, args: tuple[Expression, ...], type: str) -> None:
        self.function = function
        self.args = args
        self.type = type


class Operations:
    """The functions on numbers that one program needs.

    Args:
        name: Makes a name that nothing else has.
        free: A bound of ints from which on they stand for free sizes; 0 if there are none.

    Fields:
        functions: by key, in the order in which they may be defined.
        ranges: the ranges of ints.
    """

    def __init__(self, name: Callable[[str], str], free: int = 0) -> None:
        self._name = name
        self.ranges = Ranges(free)
        self._forms = Forms()
        self._known: dict[Any, Function] = {}
        self._pieces: dict[str, Function] = {}
        self.functions: list[Function] = []

    def write(
        self,
        op: Op,
        args: Sequence[Expression | None],
        params: Mapping[str, Any],
        type: str,
        span: Span,
        hold: Hold | None = None,
    ) -> Expression | Attempted:
        """An op on numbers; `hold` makes a variable of an argument that is read more than once.

        Raises:
            NotCompilable: If the op has no scalar form.
        """
        sure = self.ranges.sure(op, args, params) if type == "int" else None
        if sure is not None:
            return sure
        number = op.value.number
        if number is None:
            raise NotCompilable(f"`{op.name}` has no formula on numbers", span)
        given: list[Any] = [
            x if x is None or not _is_open(x) else Unknown(type_of(x)) for x in args
        ]
        open_args = tuple([x for x in args if x is not None and _is_open(x)])
        try:
            form = self._forms.function(op.name, number, given, params, type)
        except Untranslatable:
            reason = f"`{op.name}` of these arguments has no formula in source code"
            raise NotCompilable(reason, span) from None
        self._write_pieces(form, span)
        found = self._in_place(form, open_args, hold)
        if found is not None:
            return found
        every = tuple([x for x in args if x is not None])
        general = self._general(op, number, args, params, type)
        if general is not None:
            form, open_args = general, every
        function = self._function(form, op, self._parameters(op, args, general is None))
        if function.refuses:
            return Attempted(function.name, open_args, type)
        return Called(function.name, open_args, type)

    def _general(
        self,
        op: Op,
        number: Any,
        args: Sequence[Expression | None],
        params: Mapping[str, Any],
        type: str,
    ) -> scalar.Function | None:
        """The form for any numbers, so that calls with other constants share it."""
        given = [None if x is None else Unknown(type_of(x)) for x in args]
        try:
            form = self._forms.function(op.name, number, given, params, type)
        except Untranslatable:
            return None
        self._write_pieces(form, Span(0, 0))
        return form

    def _parameters(self, op: Op, args: Sequence[Expression | None], known: bool) -> list[str]:
        names = [*op.args] if len(op.args) >= len(args) else [f"x{k}" for k in range(len(args))]
        pairs = zip(names, args, strict=False)
        return [n for n, x in pairs if x is not None and (not known or _is_open(x))]

    def _write_pieces(self, form: scalar.Function, span: Span) -> None:
        """Write the functions that a form calls, those first that others call."""
        called = {f.name: f for f in self._forms.called(form)}
        for name in sorted(called, key=lambda n: len(self._forms.called(called[n]))):
            if name not in self._pieces:
                said = self._name(re.sub(r"_\d+$", "", name))
                names = [f"x{k}" if k else "x" for k in range(len(called[name].params))]
                function = self._made(said, "", called[name], names)
                self._pieces[name] = function
                self.functions.append(function)

    def _in_place(
        self, form: scalar.Function, args: Sequence[Expression], hold: Hold | None
    ) -> Expression | None:
        """The form as an expression, if it is short and computes nothing twice."""
        names = [Variable(f"{k}", p.type) for k, p in enumerate(form.params)]
        found = expression(form, names, self._call, 4 * _MOST)
        if found is None:
            return None
        uses = Counter(x.name for x in every(found) if isinstance(x, Variable))
        twice = [uses[v.name] > 1 and not is_atom(x) for v, x in zip(names, args, strict=True)]
        if size(found) > _MOST or _repeats(found) or (any(twice) and hold is None):
            return None
        given = [
            hold(x) if hold and is_twice else x for x, is_twice in zip(args, twice, strict=True)
        ]
        return replaced(found, lambda v: given[int(v.name)])

    def _call(self, name: str, args: tuple[Expression, ...], type: str) -> Expression | None:
        """A call of a piecewise function in an expression; None if it may refuse."""
        piece = self._pieces[name]
        return None if piece.refuses else Called(piece.name, args, type)

    def _function(self, form: scalar.Function, op: Op, names: Sequence[str]) -> Function:
        key = repr((form.name, [p.type for p in form.params], form.type, _shape(form)))
        if key not in self._known:
            about = op.page.doc if hasattr(op.page, "doc") else ""
            made = self._made(self._name(op.name), about, form, names)
            self._known[key] = made
            self.functions.append(made)
        return self._known[key]

    def _made(self, name: str, about: str, form: scalar.Function, names: Sequence[str]) -> Function:
        body = Body(form, names, self._pieces)
        return Function(name, about, body.parameters, form.type, body.statements, body.refuses)


def _shape(form: scalar.Function) -> str:
    return repr(form.blocks)


def _is_open(x: Expression | None) -> bool:
    """True for an argument whose value is known only when the code runs."""
    return x is not None and type(x) not in (float, int, bool)


def _repeats(x: Expression) -> bool:
    """True if an expression computes something twice."""
    seen: set[str] = set()
    for part in every(x):
        if isinstance(part, (Math, Called, Apply)) and size(part) > 0:
            key = repr(part)
            if key in seen:
                return True
            seen.add(key)
    return False


def _given(x: Expression | None) -> Any:
    """An argument of a form: known if it is a constant."""
    return x if x is None or not _is_open(x) else Unknown(type_of(x))
