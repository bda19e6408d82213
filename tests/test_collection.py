"""Every test is collected, once, in the room of what it tests."""

import ast
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GRADCLI = HERE.parent / "gradcli"
FILES = sorted(HERE.rglob("*.py"))
DATA = {
    "golden",
    "memory",
    "reference",
    "differential",
    "fuzz",
    "cluster",
    "support",
}  # folders of what tests compare with or use


def is_test(node):
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")


def hidden(text, collected):
    """The tests of a file that pytest does not see, or sees twice."""
    tree = ast.parse(text)
    nodes = [*ast.walk(tree)]
    tests = [node.name for node in nodes if is_test(node)]
    seen = [node.name for node in tree.body if is_test(node)] if collected else []
    imported = [
        alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name.startswith("test_")
    ]
    unseen = Counter(tests) - Counter(seen)
    twice = [name for name, count in Counter(seen).items() if count > 1]
    switches = [n.attr for n in nodes if isinstance(n, ast.Attribute) and n.attr == "__test__"]
    return sorted([*unseen, *twice, *imported, *switches])


def test_no_test_is_hidden_or_collected_twice():
    found = {p: hidden(p.read_text("utf-8"), p.name.startswith("test_")) for p in FILES}
    assert {str(path.relative_to(HERE)): tests for path, tests in found.items() if tests} == {}


ONE = "def test_a(): pass\n"


@pytest.mark.parametrize(
    ("text", "collected", "found"),
    [
        (ONE, True, []),
        (ONE, False, ["test_a"]),
        (ONE * 2, True, ["test_a"]),
        (f"{ONE}test_a.__test__ = False\n", True, ["__test__"]),
        ("from test_b import test_a\n", True, ["test_a"]),
        ("def f():\n    def test_a(): pass\n", True, ["test_a"]),
        ("class A:\n    def test_a(self): pass\n", True, ["test_a"]),
    ],
)
def test_what_is_hidden_is_found(text, collected, found):
    assert hidden(text, collected) == found


def rooms(start):
    """The names of the files and folders of a folder of the house, where there is one."""
    return {path.name for path in start.iterdir()} if start.is_dir() else set()


def test_rooms_have_the_names_of_those_that_they_test():
    folders = {p for p in HERE.rglob("*") if p.is_dir() and p.name != "__pycache__"}
    named = {p for p in folders if not DATA & set(p.relative_to(HERE).parts)}
    wrong = [
        str(path.relative_to(HERE))
        for path in named
        if not any(
            path.name in rooms(start.joinpath(*path.relative_to(HERE).parts[:-1]))
            for start in (GRADCLI, GRADCLI / "engine")
        )
        and path != HERE / "ops" / "recorded"  # PyTorch's answers for all ops
    ]
    assert not wrong, f"folders of tests that have the name of no room: {wrong}"


def test_what_several_rooms_use_stands_beside_them():
    tests = [path for path in FILES if path.parent != HERE and not DATA & set(path.parts)]
    assert [path.name for path in tests if not path.name.startswith("test_")] == []
