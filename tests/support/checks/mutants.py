"""Make mutants: copies of a file of gradcli with one small change that a test should notice.

Changes are found in the syntax tree and made in the text, so that all other lines stay in place.
Texts, annotations, raised errors and samples of ops are not changed.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

COMPARED = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"), ast.In: ("in", "not in"), ast.NotIn: (r"not\s+in", "in"),
}  # fmt: skip
COMPUTED = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"), ast.Mod: ("%", "//"), ast.Pow: ("**", "*"), ast.MatMult: ("@", "*"),
    ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"), ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"), ast.BitXor: ("^", "&"),
}  # fmt: skip
UNMEANT = {"annotation", "returns", "decorator_list"}
"""Fields of syntax nodes that are left alone."""

SAMPLES = {"sample", "samples", "known", "bad", "doc", "source"}
"""Arguments of an op's entry, and functions that make them, for tests and pages alone."""


class Mutant(NamedTuple):
    """One change of a file.

    Fields:
        file: The file, relative to the project's folder.
        kind: Comparison, boolean, arithmetic, constant, condition or deletion.
        start, end: The range of bytes that is replaced.
        new: Their replacement.
        first, last: The lines of the statement, or of its head, that runs the change.
    """

    file: str
    kind: str
    start: int
    end: int
    new: str
    first: int
    last: int

    def planted(self, text: str) -> str:
        """The file's text with the change."""
        data = text.encode()
        return (data[: self.start] + self.new.encode() + data[self.end :]).decode()

    def told(self, text: str) -> str:
        """The place, and the line before and after the change."""
        at = text.encode()[: self.start].count(b"\n")
        old, new = (t.splitlines()[at].strip() for t in (text, self.planted(text)))
        return f"{self.file}:{at + 1}: {old} -> {new}"


class _Finder:
    """Finds the mutants of one file."""

    def __init__(self, file: str, text: str) -> None:
        self.found: list[Mutant] = []
        self._file, self._data = file, text.encode()
        self._starts = _starts(self._data)
        self._first = self._last = 0
        self._bound: dict[str, int] | None = None  # in a function: how often it binds each name
        self._block(ast.parse(text).body)

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if _is_unmeant(node):
            return
        inner = [s for s in ast.iter_child_nodes(node) if isinstance(s, _BLOCKS)]
        last = min(map(_line, inner), default=(node.end_lineno or node.lineno) + 1) - 1
        self._first, self._last = node.lineno, max(last, node.lineno)
        if self._bound is not None and _can_go(node, self._bound):
            start, end = self._span(node)
            self._add("deletion", start, end, "pass" + "\n" * self._data[start:end].count(b"\n"))
        if isinstance(node, ast.Raise):
            return
        outside = self._bound
        for name, value in ast.iter_fields(node):
            if name in UNMEANT:
                continue
            if name == "body" and isinstance(node, ast.FunctionDef):
                self._bound = _bindings(node)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.stmt):
                    self._statement(child)
                elif isinstance(child, ast.ExceptHandler | ast.match_case):
                    self._first = self._last = _line(child)
                    if isinstance(child, ast.match_case) and child.guard:
                        self._expression(child.guard)
                    self._block(child.body)
                elif isinstance(child, ast.AST):
                    self._expression(child)
        self._bound = outside
        if isinstance(node, ast.AugAssign):
            sign, other = COMPUTED[type(node.op)]
            self._sign(node.target, node.value, re.escape(sign) + "=", other + "=", "arithmetic")
        if isinstance(node, ast.If | ast.While):
            self._first, self._last = node.lineno, max(last, node.lineno)
            self._condition(node.test)

    def _expression(self, node: ast.AST) -> None:
        match node:
            case ast.JoinedStr():
                return
            case ast.keyword(arg=name) | ast.Call(func=ast.Name(name)) if name in SAMPLES:
                return
            case ast.Compare():
                sides = [node.left, *node.comparators]
                for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
                    self._sign(left, right, *COMPARED[type(op)], "comparison")
            case ast.BoolOp():
                old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                for left, right in zip(node.values, node.values[1:], strict=False):
                    self._sign(left, right, old, new, "boolean")
            case ast.BinOp() if not any(map(_is_text, (node.left, node.right))):
                sign, other = COMPUTED[type(node.op)]
                self._sign(node.left, node.right, re.escape(sign), other, "arithmetic")
            case ast.Constant(bool() | int() | float() | complex() as value):
                self._add("constant", *self._span(node), _other(value))
            case ast.IfExp():
                self._condition(node.test)
            case ast.comprehension():
                for test in node.ifs:
                    self._condition(test)
        for name, value in ast.iter_fields(node):
            if name in UNMEANT:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self._expression(child)

    def _condition(self, test: ast.expr) -> None:
        if isinstance(test, ast.Constant):
            return
        start, end = self._span(test)
        text = self._data[start:end].decode()
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        self._add("condition", start, end, f"({text[3:]})" if negated else f"not ({text})")

    def _sign(self, left: ast.AST, right: ast.AST, old: str, new: str, kind: str) -> None:
        """Replace the operator between two operands."""
        start, end = self._span(left)[1], self._span(right)[0]
        between = re.sub(rb"#[^\n]*", lambda m: b" " * len(m[0]), self._data[start:end])
        if found := re.search(old.encode(), between):
            self._add(kind, start + found.start(), start + found.end(), new)

    def _span(self, node: Any) -> tuple[int, int]:
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _add(self, kind: str, start: int, end: int, new: str) -> None:
        self.found.append(Mutant(self._file, kind, start, end, new, self._first, self._last))


_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def _line(node: ast.AST) -> int:
    """The line in which a handler or a case begins."""
    return node.pattern.lineno if isinstance(node, ast.match_case) else getattr(node, "lineno", 0)


def _is_unmeant(node: ast.stmt) -> bool:
    """True if a statement concerns only types or a command line."""
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return True
        case ast.If(test=ast.Compare(left=ast.Name("__name__"))):
            return True
        case ast.AnnAssign(annotation=ast.Name("TypeAlias")):
            return True
        case ast.Expr(value=ast.Constant()):
            return True
    return False


def _can_go(node: ast.stmt, bound: dict[str, int]) -> bool:
    """True if a statement can be deleted while every name stays bound somewhere."""
    match node:
        case ast.Assign(targets=targets):
            return all(bound.get(name, 2) > 1 for target in targets for name in _names(target))
        case ast.AnnAssign(target=target, value=value):
            return value is not None and all(bound.get(name, 2) > 1 for name in _names(target))
    plain = (
        ast.Expr | ast.AugAssign | ast.Return | ast.Raise | ast.Continue | ast.Break | ast.Delete
    )
    return isinstance(node, plain)


def _names(node: ast.AST) -> list[str]:
    found = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    return [n.id for n in found if isinstance(n.ctx, ast.Store)]


def _bindings(function: ast.FunctionDef) -> dict[str, int]:
    """How often a function binds each of its names."""
    counts: dict[str, int] = {}
    arguments = [n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)]
    for name in (*arguments, *(name for s in function.body for name in _names(s))):
        counts[name] = counts.get(name, 0) + 1
    return counts


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _other(value: complex) -> str:
    """Another constant of the same type."""
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, int):
        return repr(value + 1)
    doubled = 2 * value
    return repr(doubled if value and doubled - doubled == 0 else 1.0)


def mutants(file: str, text: str) -> list[Mutant]:
    """All mutants of a file."""
    return _Finder(file, text).found


def differs(text: str, other: str) -> bool:
    """True if a text compiles to different code, apart from line numbers."""
    try:
        return _meaning(compile(text, "", "exec")) != _meaning(compile(other, "", "exec"))
    except SyntaxError:
        return False


def _meaning(code: CodeType) -> tuple[object, ...]:
    constants = [
        _meaning(c) if isinstance(c, CodeType) else (type(c), repr(c)) for c in code.co_consts
    ]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_exceptiontable


def room(file: str) -> str:
    """The room of a file of gradcli: `run` for gradcli/engine/run/code/pieces.py."""
    parts = Path(file).parts[1:-1]
    return (parts[1:2] if parts[:1] == ("engine",) and parts[1:] else parts[:1] or ("top",))[0]


def draw(root: Path, rooms: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Random mutants of the rooms, of all if none is named, in proportion to lines of code."""
    files: dict[str, dict[str, str]] = {}
    for path in sorted((root / "gradcli").rglob("*.py")):
        file = path.relative_to(root).as_posix()
        if room(file) != "made" and (not rooms or room(file) in rooms):
            files.setdefault(room(file), {})[file] = path.read_text("utf-8")
    lines = {name: sum(t.count("\n") for t in texts.values()) for name, texts in files.items()}
    shares = _shares(lines, count)
    return [
        mutant
        for name, texts in files.items()
        for mutant in _drawn(texts, shares[name], random.Random(f"{seed} {name}"))
    ]


def _shares(lines: dict[str, int], count: int) -> dict[str, int]:
    """A count divided in proportion to lines; the largest remainders are rounded up."""
    exact = {name: count * size / sum(lines.values()) for name, size in lines.items()}
    rest = count - sum(map(int, exact.values()))
    up = sorted(exact, key=lambda name: int(exact[name]) - exact[name])[:rest]
    return {name: int(share) + (name in up) for name, share in exact.items()}


def _drawn(texts: dict[str, str], count: int, chance: random.Random) -> Iterator[Mutant]:
    """Random mutants of a room: first the kind is drawn, then a mutant of it."""
    by_kind: dict[str, list[Mutant]] = {}
    for mutant in (m for file, text in texts.items() for m in mutants(file, text)):
        by_kind.setdefault(mutant.kind, []).append(mutant)
    for several in by_kind.values():
        chance.shuffle(several)
    while count:
        mutant = by_kind[chance.choice(sorted(by_kind))].pop()
        if differs(texts[mutant.file], mutant.planted(texts[mutant.file])):
            count -= 1
            yield mutant


def _starts(data: bytes) -> list[int]:
    """The offsets at which the lines of a text begin, and its end."""
    return [0, *accumulate(map(len, data.splitlines(keepends=True)))]
