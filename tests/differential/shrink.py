"""A smaller program that differs in the same way."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from .program import Program

TRIES = 150


def shrunk(program: Program, differs: Callable[[Program], bool]) -> Program:
    """The smallest that is found by leaving out statements and parts of expressions, one at a time."""
    tries = TRIES
    found = True
    while found and tries:
        found = False
        for smaller in _smaller(program):
            tries -= 1
            if _is_text(smaller.body) and differs(smaller):
                program, found = smaller, True
                break
            if not tries:
                break
    return program


def _is_text(body: str) -> bool:
    """Whether what is left can be read again: a slice, say, stands in brackets alone."""
    try:
        ast.parse(body)
    except SyntaxError:
        return False
    return True


def _smaller(program: Program) -> Iterator[Program]:
    """The programs that are a step smaller, the largest steps first."""
    tree = ast.parse(program.body)
    for place in range(_count(tree, ast.stmt) - 1, -1, -1):
        for body in _without(tree, place):
            yield program.but(body=body)
    for body in _inlined(tree):
        yield program.but(body=body)
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    for i in program.inputs:
        if i.name not in used and len(program.inputs) > 1:
            yield program.but(inputs=tuple(j for j in program.inputs if j is not i))
    if program.order == 2:
        yield program.but(order=1)
    for place in range(_count(tree, ast.expr)):
        for body in _simpler(tree, place):
            yield program.but(body=body)


def _count(tree: ast.AST, kind: type) -> int:
    return sum(isinstance(n, kind) for n in ast.walk(tree))


def _without(tree: ast.Module, place: int) -> Iterator[str]:
    """The text without a statement, and with a block in the place of its statement."""
    made = copy.deepcopy(tree)
    target = [n for n in ast.walk(made) if isinstance(n, ast.stmt)][place]
    if target is made.body[-1]:
        return
    for owner in ast.walk(made):
        for field in ("body", "orelse"):
            block = getattr(owner, field, None)
            if isinstance(block, list) and target in block:
                at = block.index(target)
                rest = block[:at] + block[at + 1 :]
                if rest or field == "orelse":
                    setattr(owner, field, rest)
                    yield ast.unparse(made)
                inner = getattr(target, "body", None)
                if isinstance(inner, list) and not isinstance(
                    target, ast.FunctionDef | ast.ClassDef
                ):
                    setattr(owner, field, block[:at] + inner + block[at + 1 :])
                    yield ast.unparse(made)
                return


def _inlined(tree: ast.Module) -> Iterator[str]:
    """The text with a name replaced by the one that it is another name of."""
    for place, s in enumerate(tree.body):
        match s:
            case ast.Assign(targets=[ast.Name(id=new)], value=ast.Name(id=old)):
                made = copy.deepcopy(tree)
                del made.body[place]
                for node in ast.walk(made):
                    if isinstance(node, ast.Name) and node.id == new:
                        node.id = old
                yield ast.unparse(made)


def _simpler(tree: ast.Module, place: int) -> Iterator[str]:
    """The text with an expression replaced by each of its parts."""
    for k in range(len(_parts(_expression(tree, place)))):
        made = copy.deepcopy(tree)
        target = _expression(made, place)
        yield ast.unparse(_Replace(target, _parts(target)[k]).visit(made))


def _expression(tree: ast.Module, place: int) -> ast.expr:
    return [n for n in ast.walk(tree) if isinstance(n, ast.expr)][place]


def _parts(node: ast.expr) -> list[ast.expr]:
    """What may stand in an expression's place: its operands and arguments."""
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return []
    parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        parts = [node.func.value, *parts[1:]]
    return parts


class _Replace(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)
