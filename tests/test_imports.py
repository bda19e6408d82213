"""Imports between the rooms of gradcli point one way."""

import ast
import re
from functools import cache

import pytest
from support.processes.house import HOUSE, module_text, nodes

ENGINE = [  # its floors from the ground up; rooms of one floor do not know each other
    *("engine.values", "engine.numerics", "engine.tape", "engine.ops", "engine.autodiff"),
    *("engine.run", "engine.report", "engine.builtins", "engine.gradcheck", "engine.static"),
    "engine.compile",
]
_LIMITS = {"limits", "machine"}
# which know none of the others
_PLAIN = {"source", "signatures", "errors", "record", "cpython"}

MAY_IMPORT = {
    "__init__": {"program", "errors", "results", "ipython"},
    "__main__": {"cli", "errors", "cpython"},
    "record": set(),
    "cpython": set(),
    "source": set(),
    "signatures": {"record"},
    "codes": {"record"},
    "limits": {"record"},
    "machine": set(),
    "errors": {"source", "record"},
    "ir": {"source", "record"},
    "results": {"source", "record", "errors"},
    "views": {"record", "source", "errors", "results"},
    "grammar": {*_PLAIN, "ir", "made"},
    "engine.values": {*_PLAIN, *_LIMITS},
    "engine.numerics": {*_PLAIN, "machine", "engine.values"},
    "engine.tape": {*_PLAIN, "engine.values"},
    "engine.ops": {*_PLAIN, "ir", "results", "made", *ENGINE[:3]},
    "engine.autodiff": {*_PLAIN, *ENGINE[:4]},
    "made": {"ir", "source"},
    "engine.run": {*_PLAIN, "ir", "limits", "made", *ENGINE[:5]},
    "engine.report": {*_PLAIN, "results", *ENGINE[:5]},
    "engine.builtins": {*_PLAIN, *ENGINE[:6]},
    "engine.gradcheck": {*_PLAIN, "results", *ENGINE[:6]},
    "engine.static": {*_PLAIN, "ir", *ENGINE[:6]},
    "engine.compile": {*_PLAIN, "ir", "limits", *ENGINE[:6], "engine.static"},
    "models": _PLAIN,
    "formats": {*_PLAIN, "lesson", "results", "views"},
    "questions": {
        *_PLAIN,
        "lesson",
        "ir",
        "limits",
        "results",
        "views",
        "render",
        "formats",
        "models",
        *ENGINE,
    },
    "lesson": {"record", "source"},
    "cells": {*_PLAIN, "ir", "grammar", "engine.run", "questions"},
    "ipython": {"errors", "program", "questions", "render", "source"},
    "program": {
        *_PLAIN,
        "ir",
        "limits",
        "results",
        "views",
        "grammar",
        "formats",
        "questions",
        "cells",
        *ENGINE,
    },
    "library_programs": {"ir", "grammar", "record", "source", "engine.run"},
    "make": {"grammar", "engine.ops", "engine.compile", "library_programs"},
    "render": {"source", "errors", "lesson", "results", "views"},
    "editor": {*_PLAIN, "ir", "made", "results", "views", "grammar", "engine.run", "program"},
    "cli": {
        "record",
        "lesson",
        "source",
        "errors",
        "codes",
        "limits",
        "machine",
        "results",
        "views",
        "cells",
        "program",
        "editor",
        "formats",
        "render",
    },
}
OUTSIDE = {  # packages that only some rooms may name
    "distributed": {"cli"},
    "fsspec": {"formats"},
    "lark": {"grammar"},
    "llvmlite": {"engine", "formats"},
    "matplotlib": {"render"},
    "plotille": {"render"},
    "lsprotocol": {"cli"},
    "prompt_toolkit": {"cli"},
    "pygls": {"cli"},
    "numpy": {"engine", "formats", "results", "render", "models"},
    "rich": {"render", "cli"},
    "scipy": {"engine", "models"},
    "typer": {"cli", "__main__"},
}

MODULES = [m for m in sorted(HOUSE.rglob("*.py")) if m != HOUSE / "engine" / "__init__.py"]


def room(module):
    """The room of a module: a file or folder of the house, or of the engine."""
    parts = module.relative_to(HOUSE).with_suffix("").parts
    return ".".join(parts[:2]) if parts[0] == "engine" and len(parts) > 2 else parts[0]


def imports(text):
    """Full names of what a module's text imports, with their lines."""
    for node in nodes(text):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in modules() and node.value != "gradcli":
                yield node.value, node.lineno
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            assert node.module is not None
            names = [alias.name for alias in node.names]
            bare = node.module in ("gradcli", "gradcli.engine")
            whole = [f"{node.module}.{n}" for n in names] if bare else [node.module]
            yield from ((name, node.lineno) for name in whole)


def wrong_imports(home, text):
    """What a module of room `home` imports and may not."""
    for name, line in imports(text):
        package, _, rest = name.partition(".")
        first, _, inner = rest.partition(".")
        target = f"engine.{inner.partition('.')[0]}" if first == "engine" else first
        if package == "gradcli":
            version = target.startswith("__")
            allowed = version or target == home or target in MAY_IMPORT[home]
        else:
            allowed = home.partition(".")[0] in OUTSIDE.get(package, {home.partition(".")[0]})
        if not allowed:
            yield f"line {line}: {name}"


def test_every_room_is_listed():
    assert {room(m) for m in MODULES} == set(MAY_IMPORT)


def test_imports_point_one_way():
    found = {m: list(wrong_imports(room(m), module_text(m))) for m in MODULES}
    wrong = {str(m.relative_to(HOUSE)): lines for m, lines in found.items() if lines}
    assert not wrong, f"modules import what their rooms may not: {wrong}"


def rooms_of_the_page():
    """The rooms that the table in docs/internals.md names, from the ground up."""
    page = (HOUSE.parent / "docs" / "internals.md").read_text("utf-8")
    table = page.partition("\n| room | what it does |\n")[2].partition("\n\n")[0]
    return [r for line in table.splitlines()[1:] for r in re.findall("`(.+?)`", line.split("|")[1])]


def test_the_page_names_every_room():
    assert sorted(rooms_of_the_page()) == sorted(MAY_IMPORT), (
        "the table of rooms in docs/internals.md does not name the rooms of MAY_IMPORT"
    )


def test_the_page_lists_a_room_below_all_that_it_imports():
    floor = {name: i for i, name in enumerate(rooms_of_the_page())}
    wrong = [
        f"{home} stands above {target}"
        for home, targets in MAY_IMPORT.items()
        for target in targets & set(floor)
        if floor[target] > floor[home] and home not in MAY_IMPORT[target]
    ]
    assert not wrong, f"docs/internals.md: {wrong}"


def test_the_page_names_files_and_folders_that_are_there():
    page = (HOUSE.parent / "docs" / "internals.md").read_text("utf-8")
    named = set(re.findall(r"`([\w/.]+(?:\.py|\.lark|/))`", page))
    places = [HOUSE, *(p for p in HOUSE.rglob("*") if p.is_dir()), HOUSE.parent]
    missing = {name for name in named if not any((place / name).exists() for place in places)}
    assert not missing, f"docs/internals.md names what is not there: {sorted(missing)}"


def test_the_page_shows_the_reference_pass():
    page = (HOUSE.parent / "docs" / "internals.md").read_text("utf-8")
    source = module_text(HOUSE / "engine/autodiff/reference.py")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert blocks
    assert all(block in source for block in blocks)


@pytest.mark.parametrize(
    ("home", "text", "count"),
    [
        ("grammar", "from gradcli.engine import execute", 1),
        ("grammar", "def f():\n    import gradcli.engine.ops", 1),
        ("engine.run", "from gradcli import program", 1),
        ("engine.ops", "import numpy as np, lark", 1),
        ("render", "from gradcli.program import load", 1),
        ("engine.run", "from gradcli.engine.tape.tensor import Tensor\nimport math", 0),
        ("engine.tape", "from gradcli.engine.ops import rules", 1),
        ("engine.ops", "from gradcli.engine import autodiff", 1),
        ("program", "from gradcli.grammar.syntax.parser import parse", 0),
    ],
)
def test_a_wrong_import_is_seen(home, text, count):
    assert len(list(wrong_imports(home, text))) == count, f"{home}: {text}"


INNER = {
    # the floors inside a room, from the ground up: a part knows those of the floors below it;
    # "" is every file and folder of the room that is not named
    "cli": (
        *(("terminal",), ("watch",), ("line",), ("rows",), ("parts",), ("asking",)),
        *(("serve", "lsp", "repl"), ("commands",), ("",)),
    ),
    "engine.builtins": (("",), ("names",)),
    "engine.compile": (
        *(("",), ("passes",), ("differentiate",)),
        *(("specialize", "python", "scalar"), ("llvm",), ("export",), ("backends",)),
    ),
    "engine.compile.llvm": (("emit",), ("arrays",), ("",)),
    "engine.compile.specialize": (("tracing",), ("",)),
    "engine.ops": (("",), ("families+internal",), ("pages", "build")),
    "engine.run": (("code",), ("session",), ("fast", "derivatives"), ("language",), ("execution",)),
    "formats": (("texts",), ("files",), ("readers", "writers", "notebooks")),
    "grammar": (("syntax",), ("meaning",)),
    "questions": (("uncertainty",), ("asked",), ("remarks",), ("coded",), ("answers",), ("",)),
    "render": (("",), ("derivatives", "graphs", "models", "notebooks"), ("looks",)),
}


def part(name, home):
    """The part of a room in which a module is, by its full name; None outside of the room."""
    start = f"gradcli.{home}."
    if not name.startswith(start):
        return None
    first = name.removeprefix(start).split(".")[0]
    named = {n: floor for floor in INNER[home] for parts in floor for n in parts.split("+")}
    if first not in named:
        return ""
    return next(parts for parts in named[first] if first in parts.split("+"))


def height(home, name):
    """The floor of a part, counted from the ground."""
    return next(i for i, floor in enumerate(INNER[home]) if name in floor)


@pytest.mark.parametrize("home", INNER)
def test_the_parts_of_a_room_point_one_way(home):
    parts = {name: part(name, home) for name in modules()}
    wrong = [
        f"{name} imports {target}"
        for name, targets in arrows().items()
        for target in targets
        if None not in (parts[name], parts[target])
        and parts[name] != parts[target]
        and height(home, parts[name]) <= height(home, parts[target])
    ]
    assert not wrong, f"a part of {home} knows another that is not below it: {wrong}"
    empty = {name for floor in INNER[home] for name in floor} - {*parts.values(), ""}
    assert not empty, f"nothing is in {empty}"


MOST_FILES = 20


def test_no_folder_has_too_many_files():
    tables = HOUSE / "engine/ops/families"
    folders = {path.parent for path in MODULES} - {tables}
    counts = {folder: len([*folder.glob("*.py")]) for folder in folders}
    wrong = {str(f.relative_to(HOUSE)): n for f, n in counts.items() if n > MOST_FILES}
    assert not wrong, f"more than {MOST_FILES} files: divide {wrong}"


BY_STRING = {  # prefixes of modules that are imported by a name that is made at run time
    "engine.ops.build": ("engine.", "the families, which it makes the index of"),
    "engine.ops.catalog": ("engine.", "the families, which made/ops_index.py names"),
    "engine.ops.pages.describe": ("engine.", "the families, which made/ops_index.py names"),
    "engine.run.session.library": ("made.", "the programs that made/library_index.py names"),
    "formats.writers.forms": ("formats.writers.", "the parts of a view, which its table names"),
    "__init__": ("", "the names of the package, each of the module in its table"),
    "render.looks": ("render.", "the functions that draw views, which its table names"),
    "questions.coded.lowerings": ("questions.coded.", "the forms in its table"),
}


def test_imports_by_names_made_at_run_time_are_listed():
    """Those by names that are written out are arrows as any others."""
    found = {}
    for name, path in modules().items():
        for node in nodes(module_text(path)):
            match node:
                case ast.Call(
                    func=ast.Name(id="import_module"),
                    args=[ast.JoinedStr(values=[ast.Constant(value=str(text)), *_])],
                ):
                    found[name.removeprefix("gradcli.").replace("gradcli", "__init__")] = (
                        text.removeprefix("gradcli.")
                    )
    assert found == {name: start for name, (start, _) in BY_STRING.items()}


@cache
def modules():
    """The modules of the house by their full names."""
    paths = {m.relative_to(HOUSE.parent).with_suffix(""): m for m in HOUSE.rglob("*.py")}
    return {".".join(p.parts).removesuffix(".__init__"): m for p, m in paths.items()}


@cache
def arrows():
    """The modules that each imports: at its top, in its functions, for types alone or by a string."""
    known = modules()
    found = {}
    for name, path in known.items():
        found_in = nodes(module_text(path))
        froms = [n for n in found_in if isinstance(n, ast.ImportFrom)]
        texts = {n.value for n in found_in if isinstance(n, ast.Constant) and n.value in known} - {
            "gradcli"
        }
        members = {f"{n.module}.{alias.name}" for n in froms for alias in n.names}
        wholes = {alias.name for n in found_in if isinstance(n, ast.Import) for alias in n.names}
        packages = {
            n.module for n in froms if any(f"{n.module}.{a.name}" not in known for a in n.names)
        }
        found[name] = {m for m in members | wholes | packages | texts if m in known} - {name}
    return found


def reached(graph, start):
    """What a module imports, by whatever way."""
    todo, seen = [start], set()
    while todo:
        for module in graph[todo.pop()] - seen:
            seen.add(module)
            todo.append(module)
    return seen


def circular(graph):
    """The modules that import themselves, by whatever way."""
    return {module for module in graph if module in reached(graph, module)}


def test_a_circle_is_seen():
    assert circular({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {"b", "c"}
    assert circular({"a": {"b"}, "b": {"c"}, "c": set()}) == set()


def test_no_module_imports_itself_through_others():
    found = circular(arrows())
    assert not found, f"in circles: {sorted(found)}"
