"""The project's source as syntax trees, read and walked once for all tests."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
HOUSE = ROOT / "gradcli"
MADE = {*HOUSE.glob("made/**/*.py")}
"""Generated code: long, and with nothing of interest but `typing.Any`."""


@cache
def nodes(text: str) -> tuple[ast.AST, ...]:
    """All nodes of a text's tree."""
    return tuple(ast.walk(ast.parse(text)))


@cache
def module_text(path: Path) -> str:
    return "" if path in MADE else path.read_text("utf-8")
