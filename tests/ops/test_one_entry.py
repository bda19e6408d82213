"""What is true of an op stands in its entry: nowhere else is there a list of op names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from support.processes.house import nodes

from gradcli.engine.ops.catalog import ops
from gradcli.engine.values import dtypes

ENGINE = Path(__file__).parents[2] / "gradcli/engine"
ENTRIES = {
    ENGINE / "ops/families",
    ENGINE / "ops/internal",
    ENGINE / "builtins",
    ENGINE / "builtins/names",
}
MODULES = [m for m in sorted(ENGINE.rglob("*.py")) if m.parent not in ENTRIES]
DTYPES = {"float", "int", "long", "short", "double", "half", *dtypes.DTYPES}
TYPES = {name for name in ops if name.endswith("Tensor")}
NAMES = {*ops} - DTYPES - TYPES  # dtypes are named after the ops that make them

ELSEWHERE = {
    "compile/scalar/form.py": "the functions of C's library that the scalar form calls by name",
    "compile/scalar/numbers.py": "which primitive of the scalar form a sign of Python stands for",
    "compile/llvm/emit/scalars.py": "which instruction of LLVM a primitive of the form is",
    "compile/export/arrays/functions.py": "which primitive or function of C one of NumPy's is",
    "compile/export/languages/latex.py": "which command or sign of LaTeX a function or a test is",
    "compile/export/languages/python_support.py": "which functions of Python's `math` raise errors where C's do not",
    "run/language/members.py": "which methods of a tensor do something else than the op of that name",
    "run/language/operators.py": "which op a sign of the language stands for, or for tensors only",
    "run/language/updates.py": "which op a method of JAX's `x.at[i]` does",
    "run/session/classes.py": "which of Python's operators an object of the program has for one of those",
}


def lists(text):
    """The op names in each collection of a text that holds three or more, with their line."""
    exports = {
        id(node.value)
        for node in nodes(text)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("__all__", "__slots__")
    }
    for node in nodes(text):
        if id(node) in exports:
            continue
        match node:
            case ast.List() | ast.Tuple() | ast.Set():
                parts = node.elts
            case ast.Dict():
                parts = [*node.keys, *node.values]
            case ast.MatchOr():
                parts = [p.value for p in node.patterns if isinstance(p, ast.MatchValue)]
            case _:
                continue
        found = [p.value for p in parts if isinstance(p, ast.Constant) and p.value in NAMES]
        if len(found) >= 3:
            yield getattr(node, "lineno", 0), found


def test_no_list_of_op_names_stands_outside_entries():
    found = {str(m.relative_to(ENGINE)): [*lists(m.read_text("utf-8"))] for m in MODULES}
    exceptions = [name for name in ELSEWHERE if not found[name]]
    assert not exceptions, f"are no exceptions any more: {exceptions}"
    wrong = {name: names for name, names in found.items() if names and name not in ELSEWHERE}
    assert not wrong, f"what is said of these ops belongs into their entries: {wrong}"


@pytest.mark.parametrize(
    "text",
    [
        'X = {"sin", "cos", "tan"}',
        'X = frozenset(["argmax", *("eq", "ne", "lt")])',
        'X = {"add": 1, "sub": 2, "mul": 3}',
        'match n:\n    case "zeros" | "ones" | "rand":\n        pass',
        'X = ("reshape", "nobody", "view", "flatten")',
    ],
)
def test_a_list_is_seen(text):
    assert list(lists(text))
