"""Finds the places where the compiler gives up and the caches with a key in the syntax tree, and
reads bail_outs.toml, which names a test that reaches each of them.
"""

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from support.processes.house import HOUSE, MADE, ROOT, module_text, nodes

import gradcli
from gradcli.engine.compile.control import Left
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import NotCompilable

TABLE = ROOT / "tests" / "support" / "programs" / "bail_outs.toml"
GIVING_UP = {"Left", "NotCompilable", "Untranslatable"}
_FRAMES = 4  # functions between a place and its error, such as `refused`
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Place:
    """A place in the code: its name in the table, its file and its lines."""

    name: str
    file: str
    lines: range


@cache
def texts() -> dict[str, str]:
    paths = [p for p in sorted(HOUSE.rglob("*.py")) if p not in MADE]
    return {p.relative_to(HOUSE).as_posix(): module_text(p) for p in paths}


@cache
def errors() -> frozenset[str]:
    """The names of the errors with which code gives up, subclasses included."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for text in texts().values()
        for node in nodes(text)
        if isinstance(node, ast.ClassDef)
    }
    found = set(GIVING_UP)
    while more := {name for name, of in bases.items() if of & found} - found:
        found |= more
    return frozenset(found)


@cache
def bail_outs() -> list[Place]:
    """Every call that makes such an error, or code that raises one."""
    names = errors()
    return _places(lambda tree: (pair for node in tree for pair in _giving_up(node, names)))


@cache
def keyed_caches() -> list[Place]:
    """Every cached function, and every store into a dictionary of an object or module by a key that
    the same function looks up.
    """
    return _places(_keyed)


def table() -> dict[str, dict[str, str]]:
    """The table: for each place the test that reaches it."""
    return tomllib.loads(TABLE.read_text("utf-8"))


def _places(find) -> list[Place]:
    """The places of the finds among the nodes of each file, in the order of its text."""
    found = []
    for file, text in texts().items():
        tree = nodes(text)
        scopes = [node for node in tree if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
        counts: Counter[str] = Counter()
        for says, node in sorted(find(tree), key=lambda pair: _start(pair[1])):
            around = ".".join(s.name for s in scopes if s is not node and _holds(s, node))
            name = f"{file}: {around}: {says}"
            counts[name] += 1
            number = f" ({counts[name]})" if counts[name] > 1 else ""
            found.append(Place(name + number, file, range(node.lineno, node.end_lineno + 1)))
    return found


def _start(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _holds(scope: ast.AST, node: ast.AST) -> bool:
    """True if a function or class holds a node."""
    end = node.end_lineno, node.end_col_offset
    return _start(scope) <= _start(node) and end <= (scope.end_lineno, scope.end_col_offset)


def _giving_up(node: ast.AST, names: frozenset[str]) -> Iterator[tuple[str, ast.AST]]:
    if not isinstance(node, ast.Call):
        return
    called = node.func
    said = node.args[0] if node.args else None
    is_error = isinstance(called, ast.Name) and called.id in names
    if is_error or (isinstance(called, ast.Attribute) and called.attr == "refused"):
        yield _text(said), node
    elif isinstance(said, ast.Constant) and said.value == "Left":  # generated code that raises it
        yield "Left", node


def _text(node: ast.AST | None) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    if isinstance(node, ast.FormattedValue):
        return f"{{{ast.unparse(node.value)}}}"
    if isinstance(node, ast.Constant):
        return str(node.value)
    return f"{{{ast.unparse(node)}}}" if node is not None else ""


def _keyed(tree: Sequence[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    stores = [
        (target, n)
        for n in tree
        if isinstance(n, ast.Assign)
        for target in n.targets
        if isinstance(target, ast.Subscript)
    ]
    for node in tree:
        if not isinstance(node, FUNCTIONS):
            continue
        given = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        for decorator in node.decorator_list:
            made = decorator.func if isinstance(decorator, ast.Call) else decorator
            if isinstance(made, ast.Name) and made.id in ("cache", "lru_cache") and given:
                yield f"{node.name}({', '.join(given)})", node.body[-1]
        inside = [(target, n) for target, n in stores if _holds(node, n)]
        if inside:
            parts = [*ast.walk(node)]
            local = {n.id for n in parts if isinstance(n, ast.Name) and _is_store(n)} | {*given}
            looked = {pair for n in parts for pair in _looked_up(n)}
            for target, n in inside:
                kept, key = ast.unparse(target.value), ast.unparse(target.slice)
                if (kept, key) in looked and kept not in local:
                    yield f"{kept}[{key}]", n


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _looked_up(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The dictionary and key of `kept.get(key)`, of `key in kept` or of a lookup in a `try`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "get" and node.args:
            yield ast.unparse(node.func.value), ast.unparse(node.args[0])
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        yield ast.unparse(node.comparators[0]), ast.unparse(node.left)
    elif isinstance(node, ast.Try):
        for n in (n for statement in node.body for n in ast.walk(statement)):
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load):
                yield ast.unparse(n.value), ast.unparse(n.slice)


@contextmanager
def reached() -> Iterator[set[str]]:
    """The names of the places that are reached while the context is open."""
    found: set[str] = set()

    def new(error: type[Exception], *args: Any, **named: Any) -> Exception:
        frame = sys._getframe(1)
        for _ in range(_FRAMES):
            found.update(_at().get((frame.f_code.co_filename, frame.f_lineno), ()))
            if frame.f_back is None:
                break
            frame = frame.f_back
        return Exception.__new__(error, *args)

    errors = (Left, NotCompilable, Untranslatable)
    for error in errors:
        error.__new__ = new
    try:
        yield found
    finally:
        for error in errors:
            del error.__new__


@cache
def _at() -> dict[tuple[str, int], list[str]]:
    """The names of the places by file and line."""
    named: dict[tuple[str, int], list[str]] = {}
    package = Path(gradcli.__file__).parent  # the package may be installed elsewhere
    for place in bail_outs():
        for line in place.lines:
            named.setdefault((str(package / place.file), line), []).append(place.name)
    return named
