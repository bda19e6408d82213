"""Imports between the rooms of gradcli point one way."""

import ast
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent / "gradcli"

MAY_IMPORT = {
    "__init__": {"program", "errors", "results"},
    "__main__": {"cli", "errors"},
    "record": set(),
    "source": set(),
    "errors": {"source", "record"},
    "ir": {"source", "record"},
    "results": {"source", "record", "errors"},
    "grammar": {"source", "errors", "ir", "record"},
    "engine": {"source", "errors", "ir", "results", "record"},
    "formats": {"source", "errors", "results"},
    "runs": {"source", "errors", "record", "engine"},
    "questions": {"source", "errors", "ir", "results", "engine", "runs"},
    "program": {
        *("source", "errors", "ir", "results", "record"),
        *("grammar", "engine", "formats", "runs", "questions"),
    },
    "render": {"source", "errors", "results"},
    "cli": {"errors", "results", "program", "formats", "render"},
}
OUTSIDE = {  # packages that only some rooms may name
    "lark": {"grammar"},
    "numpy": {"engine", "formats", "results", "program", "render"},
    "rich": {"render", "cli"},
    "typer": {"cli", "__main__"},
}

MODULES = sorted(HOUSE.rglob("*.py"))


def room(module):
    return module.relative_to(HOUSE).parts[0].removesuffix(".py")


def imports(text):
    """Full names of what a module's text imports, with their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            assert node.module is not None
            names = [alias.name for alias in node.names]
            whole = [f"gradcli.{n}" for n in names] if node.module == "gradcli" else [node.module]
            yield from ((name, node.lineno) for name in whole)


def wrong_imports(home, text):
    """What a module of room `home` imports and may not."""
    for name, line in imports(text):
        package, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if package == "gradcli":
            version = target.startswith("__")
            allowed = version or target == home or target in MAY_IMPORT[home]
        else:
            allowed = home in OUTSIDE.get(package, {home})
        if not allowed:
            yield f"line {line}: {name}"


def test_every_room_is_listed():
    assert {room(m) for m in MODULES} == set(MAY_IMPORT)


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(HOUSE)))
def test_imports_point_one_way(module):
    found = list(wrong_imports(room(module), module.read_text("utf-8")))
    assert not found, f"{module.relative_to(HOUSE)} imports {found}"


@pytest.mark.parametrize(
    ("home", "text", "count"),
    [
        ("grammar", "from gradcli.engine import execute", 1),
        ("grammar", "def f():\n    import gradcli.engine.ops", 1),
        ("engine", "from gradcli import program", 1),
        ("engine", "import numpy as np, lark", 1),
        ("render", "from gradcli.program import load", 1),
        ("engine", "from gradcli.engine.tape.tensor import Tensor\nimport math", 0),
        ("program", "from gradcli.grammar.parser import parse", 0),
    ],
)
def test_a_wrong_import_is_seen(home, text, count):
    assert len(list(wrong_imports(home, text))) == count, f"{home}: {text}"
