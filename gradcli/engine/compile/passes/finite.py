"""A test that all results of a program are finite: where one is not, the code bails out."""

from __future__ import annotations

from math import isfinite, prod
from typing import TypeGuard

from gradcli.engine.compile.typed import (
    Block,
    Do,
    Instruction,
    Leave,
    Operand,
    Program,
    Value,
    array_type,
    dtype_and_shape,
    is_array,
    is_floating,
)
from gradcli.engine.compile.walk import Fresh
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language.operators import OPS
from gradcli.source import Span

_REASON = "a result is not finite"


def finite(program: Program) -> Program:
    """A program with the same results, that bails out if one of them is not finite.

    x - x is 0 for a finite x and nan for another, and so is the sum of these differences. Those of
    arrays of one size are added element by element first.
    """
    fresh = Fresh(program)
    body: list[Instruction] = []

    def done(type: str, op: str, *args: Operand) -> Value:
        made = fresh(type)
        body.append(Do(Span(0, 0), made, op, args, ()))
        return made

    def flat(x: Value) -> Value:
        """All elements as a vector, whatever their order in memory is."""
        dtype, shape = dtype_and_shape(x.type) if is_array(x.type) else ("", ())
        if len(shape) < 2:
            return x
        made = fresh(array_type(dtype, (prod(shape),)))
        body.append(Do(Span(0, 0), made, ops.reshape.name, (x,), (("shape", (-1,)),)))
        return made

    if any(isinstance(x, float) and not isfinite(x) for x in program.block.results):
        body.append(Leave(Span(0, 0), True, _REASON))
    floats = {x.number: x for x in program.block.results if _is_float(x)}
    found: dict[str, Value] = {}
    for x in floats.values():
        nothing = flat(done(_type(x), OPS["-", 2], x, x))
        before = found.get(nothing.type)
        type_ = nothing.type
        found[type_] = nothing if before is None else done(type_, OPS["+", 2], before, nothing)
    total: Value | None = None
    for each in found.values():
        nothing = done("float", ops.sum.name, each) if is_array(each.type) else each
        total = nothing if total is None else done("float", OPS["+", 2], total, nothing)
    if total is not None:
        is_bad = done("bool", OPS["!=", 2], total, total)
        body.append(Leave(Span(0, 0), is_bad, _REASON))
    block = Block((*program.block.body, *body), program.block.results)
    return Program(program.inputs, block, program.texts)


def _is_float(x: Operand) -> TypeGuard[Value]:
    return isinstance(x, Value) and is_floating(x.type)


def _type(x: Value) -> str:
    """The type of a value without directions: these are an axis of an array."""
    return array_type(*dtype_and_shape(x.type)) if is_array(x.type) else x.type
