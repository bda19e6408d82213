"""Write `index.py` anew from the entries: `python -m gradcli.engine.ops.build`.

A family is a file of one of the rooms below that holds entries. What programs may name has a
heading, and stands in the pages in the order of its number: `FAMILY = 70, "Comparison and logic"`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from gradcli.engine.ops.catalog import entries

ENGINE = Path(__file__).parent.parent
ROOMS = ("ops.families", "builtins", "builtins.names", "ops.internal")
_HEAD = '''"""Where the ops are: `python -m gradcli.engine.ops.build` writes it from the entries."""

from typing import Any

'''
INDEX = Path(__file__).with_name("index.py")


def families() -> dict[str, ModuleType]:
    """The modules that hold entries, in the order of their pages; then those without a heading."""
    names = [
        f"{room}.{path.stem}"
        for room in ROOMS
        for path in sorted(ENGINE.joinpath(*room.split(".")).glob("*.py"))
    ]
    modules = {name: import_module(f"gradcli.engine.{name}") for name in names}
    found = {name: module for name, module in modules.items() if entries(vars(module))}
    return dict(sorted(found.items(), key=lambda item: _place(item[1])))


def _place(family: ModuleType) -> float:
    return family.FAMILY[0] if hasattr(family, "FAMILY") else float("inf")


def index() -> str:
    """Text of the index, a module: Python reads its own faster than any other text."""
    lines = "".join(f"    {key!r}: {value!r},\n" for key, value in contents().items())
    return f"{_HEAD}INDEX: dict[str, Any] = {{\n{lines}}}\n"


def contents() -> dict[str, Any]:
    """Headings, the names of each family, and the names of results' fields."""
    found = families()
    named = {family: entries(vars(module)) for family, module in found.items()}
    fields = {field for ops in named.values() for op in ops.values() for field in op.fields}
    return {
        "titles": {f: m.FAMILY[1] for f, m in found.items() if hasattr(m, "FAMILY")},
        "families": {family: sorted(names) for family, names in named.items()},
        "fields": sorted(fields),
    }


if __name__ == "__main__":
    INDEX.write_text(index(), "utf-8")
