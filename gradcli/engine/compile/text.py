"""Print a typed program: one line for each instruction, blocks indented."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.engine.compile.typed import (
    Block,
    Blockwise,
    Do,
    DoSeveral,
    If,
    Instruction,
    Leave,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Ruled,
    Tell,
    Value,
)

_INDENT = "  "


def text(program: Program) -> str:
    """Return the program's text, with a newline at the end."""
    head = f"inputs {_typed(program.inputs)}"
    return "".join(f"{line}\n" for line in (head, *_lines(program.block, 0, "give")))


def _lines(block: Block, depth: int, word: str) -> Iterator[str]:
    for i in block.body:
        for inner, line in _instruction(i):
            if isinstance(line, Block):
                yield from _lines(line, depth + inner, "yield")
            else:
                yield f"{_INDENT * (depth + inner)}{line}"
    yield f"{_INDENT * depth}{word} {_said(block.results)}".rstrip()


def _instruction(i: Instruction) -> Iterator[tuple[int, str | Block]]:
    match i:
        case Do():
            yield 0, f"{_typed((i.target,))} = {_called(i)}"
        case DoSeveral():
            yield 0, f"{_typed(i.targets)} = {_called(i)}"
        case If():
            yield 0, f"{_typed(i.targets)} = if {_operand(i.test)}:".removeprefix(" = ")
            yield 1, i.then
            yield 0, "else:"
            yield 1, i.orelse
        case Loop():
            yield 0, f"{_typed((*i.targets, i.turns))} = loop:"
            for param, first in zip(i.params, i.initial, strict=True):
                yield 1, f"param {_typed((param,))} from {_operand(first)}"
            yield 1, i.body
        case Blockwise():
            pushed = "" if i.stack is None else f" pushing {i.stack}"
            yield 0, f"{_typed(i.targets)} = blockwise({_said(i.args)}){pushed}:"
            yield 1, f"inputs {_typed(i.program.inputs)}"
            yield 1, i.program.block
        case Push():
            yield 0, f"push {i.stack}: {_said(i.values)}"
        case Pop():
            yield 0, f"{_typed(i.targets)} = pop {i.stack}"
        case Ruled():
            yield 0, f"{_typed(i.targets)} = {_said(i.values)} by a rule of {_said(i.args)}"
        case Leave():
            yield 0, f"leave if {_operand(i.when)}: {i.reason}"
        case Tell():
            yield 0, f"tell {i.text}: {_said(i.args)}"
        case _:
            raise AssertionError(f"no text of {type(i).__name__}")


def _called(i: Do | DoSeveral) -> str:
    words = [*map(_operand, i.args), *(f"{name}={value!r}" for name, value in i.params)]
    return f"{i.op}({', '.join(words)})"


def _operand(x: Operand | None) -> str:
    return f"%{x.number}" if isinstance(x, Value) else repr(x)


def _said(operands: Sequence[Operand]) -> str:
    return ", ".join(map(_operand, operands))


def _typed(values: Sequence[Value]) -> str:
    return ", ".join(f"%{v.number}: {v.type}" for v in values)
