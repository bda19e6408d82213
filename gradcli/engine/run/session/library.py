"""Members of the library by full path: exceptions, and modules written in the language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcli.engine.run.session import exceptions

if TYPE_CHECKING:
    from gradcli.ir.program import Program


def has(path: str) -> bool:
    """True if there is something of that path."""
    return path == "object" or exceptions.is_name(path) or file(path) is not None


def file(path: str) -> str | None:
    """The file in which a path is, such as `library/nn/linear`; None of an exception."""
    if "." not in path:
        return None
    from gradcli.made.library_index import FILES

    return FILES.get(path)


def names_in(module: str) -> list[str]:
    """The names directly in a module."""
    from gradcli.made.library_index import FILES

    paths = (path.rpartition(".") for path in FILES)
    return [name for root, _, name in paths if root == module]


def is_member(name: str) -> bool:
    """True if something of the library has an attribute of that name."""
    from gradcli.made.library_index import MEMBERS

    return name in MEMBERS


def names_later(path: str) -> bool:
    """True if this path has attributes whose names only a run knows."""
    from gradcli.made.library_index import NAMED_LATER

    return path in NAMED_LATER


def program(name: str) -> Program:
    """The ops program of a file."""
    from importlib import import_module

    module: Any = import_module(f"gradcli.made.{name.replace('/', '.')}")
    return module.PROGRAM  # type: ignore[no-any-return]
