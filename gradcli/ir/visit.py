"""Visit an ops program: the slots that an instruction reads and writes, its blocks and its
functions.

All of it follows from the types of a record's fields, so that a new record needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from gradcli.ir import program as ir


def operands(i: ir.Instruction) -> Sequence[ir.Operand]:
    """The operands of an instruction without its blocks; of a function only the defaults."""
    kind: Any = type(i)
    return _through(kind)[0](i)


def reads(i: ir.Instruction) -> Iterator[ir.Slot]:
    """The slots among its operands."""
    return (operand for operand in operands(i) if isinstance(operand, ir.Slot))


def writes(i: ir.Instruction) -> Sequence[int]:
    """The numbers of the slots that an instruction itself writes, without `Parameter`s."""
    kind: Any = type(i)
    return _through(kind)[1](i)


def blocks(i: ir.Instruction) -> Sequence[ir.Body]:
    """The blocks of an instruction, in the order of the text, without those of functions."""
    kind: Any = type(i)
    return _through(kind)[2](i)


def functions(i: ir.Instruction) -> Sequence[ir.Function]:
    """The functions that an instruction defines."""
    kind: Any = type(i)
    return _through(kind)[3](i)


def instructions(body: Sequence[ir.Instruction]) -> Iterator[ir.Instruction]:
    """The instructions of a block and its inner blocks, in order, without those of functions."""
    pending = list(reversed(body))
    while pending:
        i = pending.pop()
        yield i
        kind: Any = type(i)
        found = _through(kind)[2]
        if found is not _nothing:  # most have no block
            for block in reversed(found(i)):
                pending.extend(reversed(block))


def is_generator(function: ir.Function) -> bool:
    """True if a call of a function makes a generator."""
    return any(isinstance(i, (ir.Emit, ir.EmitAll)) for i in instructions(function.body))


def written_around(function: ir.Function) -> frozenset[int]:
    """The slots of enclosing functions that a function writes."""
    written = {slot for i in instructions(function.body) for slot in writes(i)}
    return frozenset(written.difference(function.locals))


def functions_in(body: Sequence[ir.Instruction]) -> Iterator[ir.Function]:
    """The functions that a block defines, not those inside them."""
    for i in instructions(body):
        kind: Any = type(i)
        found = _through(kind)[3]
        if found is not _nothing:
            yield from found(i)


def all_functions(outermost: ir.Function) -> Iterator[ir.Function]:
    """A function and every one in it, outer ones first: of main, all functions of a program."""
    pending = [outermost]
    while pending:
        function = pending.pop()
        yield function
        pending.extend(reversed(list(functions_in(function.body))))


def everything(program: ir.Program) -> Iterator[ir.Instruction]:
    """Every instruction of a program, function by function."""
    for function in all_functions(program.main):
        yield from instructions(function.body)


# roles of fields ----------------------------------------------------------------------------------

Values = Callable[[Any], Sequence[Any]]


def _defaults(given: Sequence[ir.Parameter]) -> Sequence[ir.Operand]:
    return [p.default for p in given if p.default is not None]


def _one(value: Any) -> Sequence[Any]:
    return (value,)


def _nothing(value: Any) -> Sequence[Any]:
    return ()


def _all(value: Sequence[Any]) -> Sequence[Any]:
    return value


def _second(value: Sequence[tuple[str, Any]]) -> Sequence[Any]:
    return [part for _, part in value]


_READ: dict[str, Values] = {
    "Operand": _one,
    "Slot": _one,
    "Operand | None": lambda value: () if value is None else (value,),
    "tuple[Operand, ...]": _all,
    "Named": _second,
    "Function": lambda value: _defaults(value.parameters),
    "tuple[Function, ...]": lambda value: [d for f in value for d in _defaults(f.parameters)],
    "tuple[Handler, ...]": lambda value: [h.type for h in value if h.type is not None],
}
_WRITTEN: dict[str, Values] = {
    "Target": _one,
    "tuple[Target, ...]": _all,
    "tuple[tuple[str, Target], ...]": _second,
    "tuple[Handler, ...]": lambda value: [h.target for h in value],
}
_DONE: dict[str, Values] = {
    "Body": _one,
    "tuple[Handler, ...]": lambda value: [body for h in value for body in (h.test, h.body)],
}
_DEFINED: dict[str, Values] = {"Function": _one, "tuple[Function, ...]": _all}
ROLES = (_READ, _WRITTEN, _DONE, _DEFINED)
"""What the types of fields mean: each what such a field's value has in it."""


@cache
def _through(kind: Any) -> tuple[Values, ...]:
    """For each role, a function that returns all that the fields of an instruction contain in this
    role.
    """
    types = field_types(kind)
    return tuple(
        _together([_of(name, role[types[name]]) for name in kind._fields if types[name] in role])
        for role in ROLES
    )


def field_types(kind: type[ir.Instruction]) -> dict[str, str]:
    """The types of a record's fields, as written."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        found.update(getattr(base, "__annotations__", {}))
    return found


def _of(name: str, values: Values) -> Values:
    get = attrgetter(name)
    return get if values is _all else lambda i: values(get(i))


def _together(fields: list[Values]) -> Values:
    """A function that returns the contents of several fields; it is a single call for one field."""
    if not fields:
        return _nothing
    if len(fields) == 1:
        return fields[0]
    return lambda i: [value for field in fields for value in field(i)]
