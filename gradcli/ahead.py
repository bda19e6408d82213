"""The library's modules as programs of ops, made ahead: `python -m gradcli.ahead` writes them.

Each becomes a Python module that makes the records, which Python reads faster than any text. They
have no places: what goes wrong in them is told where the program calls them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from gradcli import ir
from gradcli.engine.run.language.names import Builtins
from gradcli.grammar.meaning.check import check
from gradcli.grammar.meaning.lower import lower
from gradcli.grammar.meaning.names import Names, analyse, sets_by_key, walk
from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.parser import parse
from gradcli.ir import visit
from gradcli.record import Record
from gradcli.source import Source, Span

LIBRARY = Path(__file__).parent / "library"
INDEX = LIBRARY / "index.py"


def sources() -> list[Path]:
    """The modules that are written in the language."""
    return sorted(LIBRARY.rglob("*.grad"))


@cache
def _read(path: Path) -> tuple[Source, ast.Module, Names]:
    source = Source(path.name, path.read_text("utf-8"))
    module = parse(source)
    return source, module, analyse(module, Builtins(), frozenset())


def package(path: Path) -> str:
    """The module whose names are those of a file: PyTorch's, or one that stands under `python`."""
    first, *others = path.relative_to(LIBRARY).parts[:-1]
    return ".".join(others if first == "python" else ("torch", first, *others))


def index() -> str:
    """The text of the index: in which file each full path is, and the attributes of all classes."""
    found = {
        f"{package(path)}.{name}": path.relative_to(LIBRARY).with_suffix("").as_posix()
        for path in sources()
        for name in _read(path)[2].top
        if not name.startswith("_")
    }
    named_later = sorted(
        path for path, file in found.items() if _names_later(LIBRARY / f"{file}.grad")
    )
    members = sorted({name for path in sources() for name in _read(path)[2].members})
    paths = "".join(f"    {path!r}: {file!r},\n" for path, file in sorted(found.items()))
    later = "".join(f"        {path!r},\n" for path in named_later)
    attributes = "".join(f"        {name!r},\n" for name in members)
    return (
        '"""Where the names of the library are: `python -m gradcli.ahead` writes this."""\n\n'
        f"FILES = {{\n{paths}}}\nNAMED_LATER = frozenset(\n    {{\n{later}    }}\n)\n"
        f"MEMBERS = frozenset(\n    {{\n{attributes}    }}\n)\n"
    )


def _names_later(path: Path) -> bool:
    """Whether objects of a module have attributes whose names are known only when it runs, which
    are those that it puts into their `__dict__`.
    """
    return any(sets_by_key(node) for node, _, _ in walk(_read(path)[1]))


def program(path: Path) -> ir.Program:
    """The ops program of a module.

    Raises:
        ValueError: If it is refused, or takes values from outside.
    """
    source, module, found = _read(path)
    findings = check(module, source, Builtins(), frozenset(), found)
    if findings:
        raise ValueError(f"{path}: {findings[0].message} at {findings[0].place}")
    made = lower(module, found, source)
    if made.inputs:
        raise ValueError(f"{path}: {made.inputs[0].name} is an input")
    return made


def text(path: Path) -> str:
    """The text of the Python module that makes the program of a module."""
    made = program(path)
    made.main.body = [i for i in made.main.body if not isinstance(i, ir.Watch)]
    used = sorted({type(i).__name__ for i in visit.everything(made)})
    parts = [*used, "Builtin", "Const", "Function", "Handler", "Imported", "Parameter", "Slot"]
    return (
        f'"""{path.name}, as a program of ops: `python -m gradcli.ahead` writes this."""\n\n'
        f"from gradcli.ir import {', '.join(sorted(set(parts)))}, Program\n"
        "from gradcli.source import Source, Span\n\n"
        f"S = Span(0, 0)\nPROGRAM = {_written(made)}\n"
    )


def _written(value: object) -> str:
    """An expression that makes a value again."""
    if isinstance(value, Span):
        return "S"
    if isinstance(value, Source):
        return f"Source({value.name!r}, '')"
    if isinstance(value, Record):
        fields = (_written(getattr(value, name)) for name in value._fields)
        return f"{type(value).__name__}({', '.join(fields)})"
    if isinstance(value, tuple):
        return f"({''.join(f'{_written(v)}, ' for v in value)})"
    if isinstance(value, list):
        return f"[{''.join(f'{_written(v)},' + chr(10) for v in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {_written(v)}' for k, v in value.items())}}}"
    return "..." if value is ... else repr(value)


def main() -> None:
    """Write all of them anew."""
    INDEX.write_text(index(), "utf-8")
    for path in sources():
        path.with_suffix(".py").write_text(text(path), "utf-8")


if __name__ == "__main__":
    main()
