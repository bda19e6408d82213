"""Find the syntax trees of Python functions."""

from __future__ import annotations

import ast
import re
from functools import cache
from types import CodeType
from typing import TypeAlias

from gradcli.engine.compile.scalar.errors import Untranslatable

Tree: TypeAlias = ast.FunctionDef | ast.Lambda

VARARGS, VARKEYWORDS = 4, 8
"""Flags of code that takes `*args`, `**kwargs`: those of `inspect`, which is slow to import."""

_BEGINNING = re.compile(r"[\w@]")
"""How the first line of a statement of a module begins."""


@cache
def tree(code: CodeType) -> Tree:
    """The tree of the function or lambda with some code."""
    statement, lines = _statement(code.co_filename, code.co_firstlineno)
    nodes = [statement] if _is_of(statement, code, lines) else _inside(statement)
    found = [node for node in nodes if isinstance(node, Tree) and _is_of(node, code, lines)]
    if not found:
        raise Untranslatable(f"`{code.co_name}` has no text")
    chosen = found[0] if len(found) == 1 else min(found, key=lambda node: len(_inside(node)))
    if _read(chosen) != _names(code):  # the file has changed
        raise Untranslatable(f"`{code.co_name}` has another text")
    return chosen


@cache
def _statement(file: str, line: int) -> tuple[ast.stmt, int]:
    """The top-level statement that contains a line, and the number of lines before it. Only that
    statement is parsed.
    """
    lines = _lines(file)
    if not 0 < line <= len(lines):
        raise Untranslatable(f"{file} has no text")
    first, last = line - 1, line
    while first and not _BEGINNING.match(lines[first]):
        first -= 1
    while last < len(lines) and not _BEGINNING.match(lines[last]):
        last += 1
    try:
        (found,) = ast.parse("".join(lines[first:last])).body
    except (SyntaxError, ValueError):
        raise Untranslatable(f"line {line} of {file} is in no statement of its own") from None
    return found, first


@cache
def _lines(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8") as text:
            return text.readlines()
    except (OSError, ValueError):
        return []


def _is_of(node: ast.AST, code: CodeType, lines: int) -> bool:
    """True if a node is the function with some code; its tree starts after so many lines."""
    if isinstance(node, ast.FunctionDef):
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        return node.name == code.co_name and first + lines == code.co_firstlineno
    if not isinstance(node, ast.Lambda) or code.co_name != "<lambda>":
        return False
    inside = (node.body.lineno + lines, node.body.col_offset)
    end = ((node.body.end_lineno or 0) + lines, node.body.end_col_offset or 0)
    found = False
    for a, b, c, d in code.co_positions():
        if a is not None and b is not None and c is not None and d is not None and (c, d) != (0, 0):
            found = True
            if (a, c) < inside or (b, d) > end:
                return False
    return found


def _read(node: Tree) -> set[str]:
    """The names that a function's body reads or writes."""
    found: set[str] = set()
    rest: list[ast.AST] = [*node.body] if isinstance(node, ast.FunctionDef) else [node.body]
    while rest:
        match rest.pop():
            case ast.Name(id=name) | ast.arg(arg=name):
                found.add(name)
            case ast.Attribute(value=value, attr=name):
                found.add(name)
                rest.append(value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                rest += target, value  # code contains no annotations
            case other:
                rest += _children(other)
    return found.difference(a.arg for a in _inside(node.args) if isinstance(a, ast.arg))


def _names(code: CodeType) -> set[str]:
    """The names that code reads or writes, except its arguments."""
    taken = code.co_argcount + code.co_kwonlyargcount
    taken += bool(code.co_flags & VARARGS) + bool(code.co_flags & VARKEYWORDS)
    return _every(code).difference(code.co_varnames[:taken])


def _every(code: CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return {*code.co_names, *code.co_varnames, *code.co_freevars}.union(*map(_every, inner))


def _inside(node: ast.AST) -> list[ast.AST]:
    """A node and all nodes in it. Finding its text takes much of the time to make a form."""
    found = [node]
    for inner in found:
        found += _children(inner)
    return found


def _children(node: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    for x in vars(node).values():
        if x.__class__ is list:
            found += [inner for inner in x if isinstance(inner, ast.AST)]
        elif isinstance(x, ast.AST) and not isinstance(x, ast.expr_context):
            found.append(x)
    return found
