"""Write a step of a run as text: the program's own, with the names of a trace in the place of
operands that the run has recorded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from gradcli.engine.run.execution.trace_steps import Made, Step
from gradcli.engine.run.language.operators import OPS
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import OpNode
from gradcli.engine.values.data import NUMBERS
from gradcli.ir import program as ir
from gradcli.source import Source, Span

Name: TypeAlias = Callable[[Node, int], str]
"""The name of a node's result, by its number; "" of one that has none."""

_WRITTEN = (
    *(ir.Operator, ir.Augment, ir.Apply, ir.Inplace, ir.CallBuiltin, ir.Method),
    *(ir.GetAttribute, ir.SetItem),
)
"""The instructions whose text tells what they do."""

_SIGNS = {name: sign for (sign, count), name in OPS.items() if count == 2 and "[" not in sign}


def expression(step: Step | None, node: Node, alone: bool, name: Name, source: Source) -> str:
    """The step as one line of text.

    Args:
        step: The step of the program; None if it has none.
        node: The node of its result.
        alone: True if that node alone was recorded for it.
        name: Returns the name of an operand.
        source: The program's text.
    """
    if step is not None and isinstance(step.instruction, _WRITTEN):
        return _written(step, name, source)
    if step is None or alone or isinstance(step.instruction, ir.Input):
        return _of_node(node, name)
    return _line(source.text[step.span.start : step.span.end])


def _written(step: Step, name: Name, source: Source) -> str:
    """The program's text with the operands by their names."""
    i, text = step.instruction, source.text
    called = {span: shown for span, made in step.operands if (shown := _name(made, name))}
    if isinstance(i, ir.Augment):  # x += y is shown as x + y
        sides = (_operand(o.span, called, text) for o in (i.receiver, i.value))
        return _line(f" {i.operator} ".join(sides))
    parts, at = [], step.span.start
    for span, shown in sorted(called.items()):
        start, end = _with_parentheses(span, step.span, text)
        if at <= start:
            parts += [text[at:start], shown]
            at = end
    return _line("".join([*parts, text[at : step.span.end]]))


def _operand(span: Span, called: dict[Span, str], text: str) -> str:
    return called.get(span, text[span.start : span.end])


def _with_parentheses(span: Span, within: Span, text: str) -> Span:
    """The span of an operand with the parentheses around it, but not those of a call."""
    start, end = span
    while within.start < start and end < within.end and text[start - 1] + text[end] == "()":
        before = text[within.start : start - 1].rstrip()
        if before and re.fullmatch(r"[\w\])]", before[-1]):
            break
        start, end = start - 1, end + 1
    return Span(start, end)


def _name(made: Made, name: Name) -> str:
    """An operand's name; for a list those of its items, "" if some have none."""
    if isinstance(made, list):
        items = ["" if item is None else _name(item, name) for item in made]
        return f"[{', '.join(items)}]" if all(items) else ""
    return name(*made)


def _line(text: str) -> str:
    """A text of several lines as one, without comments at their ends."""
    if "\n" in text:
        text = re.sub(r"#[^\n'\"]*\n", "\n", text)
    return " ".join(text.split())


def _of_node(node: Node, name: Name) -> str:
    """The text of an op that no instruction of the program asks for."""
    args = [_argument(node, i, name) for i in range(len(node.edges))]
    match node.op_name, args:
        case "stack" | "tensor", [*_]:
            return f"[{', '.join(args)}]"
        case "getitem", [x, *_] if isinstance(node, OpNode):
            index = node.params.get("index")
            return f"{x}[{index if isinstance(index, int) else '…'}]"
        case op, [a, b] if op in _SIGNS:
            return f"{a} {_SIGNS[op]} {b}"
    return f"{node.op_name}({', '.join(args)})"


def _argument(node: Node, i: int, name: Name) -> str:
    under = node.edges[i]
    if under is not None:
        return name(under, node.outputs[i]) or "…"
    data: Any = node.args[i] if isinstance(node, OpNode) else None
    return str(data) if type(data) in NUMBERS else "…"
