"""Going through an ops program: what an instruction reads and writes, and what is inside it.

It follows from the types of a record's fields, so that a new record needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from gradcli.ir.program import Body, Function, Instruction, Operand, Parameter, Program, Slot


def operands(i: Instruction) -> Iterator[Operand]:
    """What an instruction itself takes: nothing of its blocks, of a function only the defaults."""
    return _values(i, 0)


def reads(i: Instruction) -> Iterator[Slot]:
    """The slots among its operands."""
    return (operand for operand in operands(i) if isinstance(operand, Slot))


def writes(i: Instruction) -> Iterator[int]:
    """The numbers of the slots that an instruction itself writes, `Parameter`s left out."""
    return _values(i, 1)


def blocks(i: Instruction) -> Iterator[Body]:
    """The blocks of an instruction, in the order of the text, those of functions left out."""
    return _values(i, 2)


def functions(i: Instruction) -> Iterator[Function]:
    """The functions that an instruction defines."""
    return _values(i, 3)


def instructions(body: Sequence[Instruction]) -> Iterator[Instruction]:
    """The instructions of a block and of the blocks in it, in order; not those of functions."""
    pending = list(reversed(body))
    while pending:
        i = pending.pop()
        yield i
        for block in reversed(list(blocks(i))):
            pending.extend(reversed(block))


def functions_in(body: Sequence[Instruction]) -> Iterator[Function]:
    """The functions that a block defines, not those inside them."""
    for i in instructions(body):
        yield from functions(i)


def all_functions(outermost: Function) -> Iterator[Function]:
    """A function and every one in it, outer ones first: of main, all functions of a program."""
    pending = [outermost]
    while pending:
        function = pending.pop()
        yield function
        pending.extend(reversed(list(functions_in(function.body))))


def everything(program: Program) -> Iterator[Instruction]:
    """Every instruction of a program, function by function."""
    for function in all_functions(program.main):
        yield from instructions(function.body)


# what a field's type says -------------------------------------------------------------------------

Field = Callable[[Any], Iterator[Any]]


def _defaults(given: Sequence[Parameter]) -> Iterator[Operand]:
    return (p.default for p in given if p.default is not None)


def _one(value: Any) -> Iterator[Any]:
    yield value


_READ: dict[str, Field] = {
    "Operand": _one,
    "Operand | None": lambda value: iter(() if value is None else (value,)),
    "tuple[Operand, ...]": iter,
    "Named": lambda value: (operand for _, operand in value),
    "Function": lambda value: _defaults(value.parameters),
    "tuple[Function, ...]": lambda value: (d for f in value for d in _defaults(f.parameters)),
}
_WRITTEN: dict[str, Field] = {
    "Target": _one,
    "tuple[Target, ...]": iter,
    "tuple[tuple[str, Target], ...]": lambda value: (slot for _, slot in value),
}
_DONE: dict[str, Field] = {"Body": _one}
_DEFINED: dict[str, Field] = {"Function": _one, "tuple[Function, ...]": iter}
ROLES = (_READ, _WRITTEN, _DONE, _DEFINED)
"""What the types of fields mean: each what goes through such a field's value."""


def _values(i: Instruction, role: int) -> Iterator[Any]:
    kind: Any = type(i)
    for field in _fields(kind)[role]:
        yield from field(i)


@cache
def _fields(kind: Any) -> tuple[list[Field], ...]:
    """For each role, what goes through the fields of a kind of instruction that have it."""
    types = field_types(kind)
    return tuple(
        [_through(name, role[types[name]]) for name in kind._fields if types[name] in role]
        for role in ROLES
    )


def field_types(kind: type[Instruction]) -> dict[str, str]:
    """The types of a record's fields, as they are written."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        found.update(getattr(base, "__annotations__", {}))
    return found


def _through(name: str, values: Field) -> Field:
    get = attrgetter(name)
    return lambda i: values(get(i))
