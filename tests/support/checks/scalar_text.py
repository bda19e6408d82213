"""Print a function of the scalar form for people."""

from __future__ import annotations

from collections.abc import Iterable

from gradcli.engine.compile.scalar.form import (
    Bail,
    Block,
    Branch,
    Call,
    Do,
    Edge,
    End,
    Function,
    Give,
    GiveUp,
    Instruction,
    Jump,
    Library,
    Operand,
    Repeat,
    Undefined,
    Value,
)


def text(function: Function) -> str:
    """A line for the function, and for each block, instruction and end of a block."""
    bails = ", or bails out" if function.bails else ""
    head = f"function {function.name}{_params(function.params)}: {function.type}{bails}"
    lines = [head, *(line for block in function.blocks for line in _block(block))]
    return "".join(f"{line}\n" for line in lines)


def _block(block: Block) -> list[str]:
    params = _params(block.params) if block.params else ""
    inside = [*map(_instruction, block.body), _end(block.end)]
    return [f"block {block.label}{params}:", *(f"  {line}" for line in inside)]


def _instruction(i: Instruction) -> str:
    match i:
        case Do(target=target, primitive=primitive, args=args):
            return f"{_operand(target)} = {primitive} {_operands(args)}"
        case Library(target=target, function=function, args=args):
            return f"{_operand(target)} = library {function}({_operands(args)})"
        case Call(target=target, function=function, args=args):
            return f"{_operand(target)} = call {function}({_operands(args)})"
        case Bail(when=when, kind=kind):
            return f"bail out if {_operand(when)}: {kind}"
    raise AssertionError(i)


def _end(end: End) -> str:
    match end:
        case Jump(to=to):
            return f"go to {_edge(to)}"
        case Repeat(to=to, most=most):
            return f"go back to {_edge(to)}, at most {most} times"
        case Branch(test=test, yes=yes, no=no, rare=rare):
            seldom = "rarely " if rare else ""
            return f"if {_operand(test)} {seldom}go to {_edge(yes)}, else to {_edge(no)}"
        case Give(result=result):
            return f"give {_operand(result)}"
        case GiveUp(kind=kind):
            return f"bail out: {kind}"


def _edge(edge: Edge) -> str:
    return f"{edge.label}({_operands(edge.args)})" if edge.args else f"{edge.label}"


def _params(params: Iterable[Value]) -> str:
    return f"({', '.join(f'{_operand(p)}: {p.type}' for p in params)})"


def _operands(several: Iterable[Operand]) -> str:
    return ", ".join(map(_operand, several))


def _operand(x: Operand) -> str:
    match x:
        case Value(number=number):
            return f"%{number}"
        case Undefined(type=type):
            return f"any {type}"
    return repr(x)
