"""The differences from PyTorch that are on purpose: docs/kinks.md gives the reason for each by its
name.
"""

from __future__ import annotations

import ast
import math
import re
from typing import Any

from .answers import Facts
from .compare import Difference, difference, same_value
from .program import Program

REFUSALS = (  # who refuses, what is said of it, and the name of the difference
    ("PyTorch", "derivative for .* is not implemented", "PyTorch has no derivative"),
    ("PyTorch", "Subtraction, the `-` operator, with a bool", "PyTorch has no derivative"),
    ("PyTorch", "Expected LU and B to have the same dtype", "PyTorch has no derivative"),
    ("PyTorch", "some elements of the input tensor and the", "written from its own memory"),
    ("PyTorch", "function that returns multiple views", "one of several views"),
    ("gradcli", "several elements of this expanded tensor", "an expanded tensor is changed"),
    ("gradcli", "raised to a negative integer power", "an int to a negative power"),
)
CHANGED_DATA = re.compile(r"(?<!grad)\.data( [-+*/]=|\.\w+_\(|$)", re.MULTILINE)
CHANGED_SINCE = "has been modified by an inplace operation"
SINGLE = 1e-7  # how far a constant in single precision is from what it stands for


def explained(program: Program, ours: Facts, theirs: Facts, found: Difference) -> str | None:
    """The name of the known difference that a difference is, or None."""
    for who, pattern, name in REFUSALS:
        if found.kind.startswith(f"{who} refuses"):
            facts = theirs if who == "PyTorch" else ours
            if re.search(pattern, facts[found.fact]["refused"]):
                return name
    changed = found.kind.startswith("PyTorch") and CHANGED_SINCE in theirs[found.fact]["refused"]
    if changed and _same_with_copies(program, ours):
        return "changed by itself"
    connected = found.kind == "requires_grad" and "torch.func." in program.body
    if connected and difference(_numbers(ours), _numbers(theirs), program.rtol) is None:
        return "connected by a slope of zero"
    derived = found.kind in {"gradient", "jvp", "hvp", "grad"}
    if (derived or "changed-in-place" in found.kind) and CHANGED_DATA.search(program.body):
        return "changed through data"
    if derived and same_value(*_where_numbers(found.gradcli, found.pytorch), program.rtol):
        return "nothing comes through"
    if (
        derived
        and "hardsigmoid" in program.body
        and same_value(found.gradcli, found.pytorch, SINGLE)
    ):
        return "a slope in single precision"
    return None


def _same_with_copies(program: Program, ours: Facts) -> bool:
    """Whether PyTorch tells the same of the program in which what is changed in place is changed by
    copies of the operands.
    """
    from . import by_pytorch

    body = ast.unparse(_Copies().visit(ast.parse(program.body)))
    fields = {name: getattr(program, name) for name in Program.__slots__}
    copied = Program(**{**fields, "body": body})
    return difference(ours, by_pytorch.ask(copied), program.rtol) is None


class _Copies(ast.NodeTransformer):
    """Puts copies in the place of what an in-place change reads."""

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.target, ast.Subscript):
            part = ast.Subscript(node.target.value, node.target.slice, ast.Load())
            changed = ast.BinOp(part, node.op, _copy(node.value))
            return ast.Assign([node.target], _copy(changed), lineno=node.lineno)
        node.value = _copy(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if isinstance(node.targets[0], ast.Subscript):
            node.value = _copy(node.value)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        changes = isinstance(node.func, ast.Attribute) and re.search(r"[a-z0-9]_$", node.func.attr)
        if changes and node.func.attr != "requires_grad_":
            node.args = [_copy(a) for a in node.args]
        return self.generic_visit(node)


def _copy(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("kept", ast.Load()), [value], [])


def _numbers(facts: Facts) -> Facts:
    """The facts but for what is connected."""
    return {name: fact for name, fact in facts.items() if not name.startswith("requires_grad")}


def _where_numbers(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Two values without the elements for which PyTorch alone has nan."""
    if ours is None or theirs is None or ours[:2] != theirs[:2]:
        return ["", [], []], ["none", [], []]
    kept = [
        (a, b)
        for a, b in zip(ours[2], theirs[2], strict=True)
        if math.isnan(a) or not math.isnan(b)
    ]
    return [*ours[:2], [a for a, _ in kept]], [*theirs[:2], [b for _, b in kept]]
