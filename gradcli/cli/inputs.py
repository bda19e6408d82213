"""The program and the values that the command line gives."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.cli.failures import unreadable, usage
from gradcli.cli.terminal import is_terminal
from gradcli.errors import ProgramError

if TYPE_CHECKING:
    from gradcli.cli.records import Batch
    from gradcli.formats.read import Values
    from gradcli.program import Given, Program

_LONGEST_PROGRAM = 64 * 2**20  # bytes; /dev/zero has no end


def load(
    arguments: Sequence[str] | None,
    expressions: Sequence[str] | None,
    values_file: str | None = None,
    records: Batch | None = None,
    beside: Iterable[str] = (),
) -> tuple[Program, dict[str, Given]]:
    """The program that the arguments name and the values that they give it.

    Args:
        arguments: FILE and NAME=VALUE.
        expressions: The texts of -e.
        values_file: The file of -i; what the arguments give counts more.
        records: The rows that give values later.
        beside: Options that take values, as they were written; read after these.
    """
    from gradcli import program

    source, texts, values = _asked(arguments, expressions, values_file, records, beside)
    names = {*texts, *(() if values is None else values.declared)}
    names.update(() if records is None else records.rows.names)
    loaded = program.load_source(source, frozenset(names))
    return loaded, _given(values, loaded) | constants(texts)


def load_source(
    arguments: Sequence[str] | None,
    expressions: Sequence[str] | None,
    values_file: str | None = None,
) -> tuple[Any, dict[str, Given]]:
    """The text of the program, for a command that looks at it alone, and the values given."""
    from gradcli import program

    source, texts, values = _asked(arguments, expressions, values_file, None, ())
    if values is None:
        return source, constants(texts)
    try:
        loaded = program.load_source(source, frozenset({*texts, *values.declared}))
    except ProgramError:  # which the command tells
        return source, constants(texts)
    return source, _given(values, loaded) | constants(texts)


def _given(values: Values | None, loaded: Program) -> dict[str, Given]:
    """The values of -i that are inputs of the program."""
    from gradcli import program

    if values is None:
        return {}
    found = values.of(loaded.inputs)
    return {name: program.Given(value, f"{name} in {values.name}") for name, value in found.items()}


def _asked(
    arguments: Sequence[str] | None,
    expressions: Sequence[str] | None,
    values_file: str | None,
    records: Batch | None,
    beside: Iterable[str],
) -> tuple[Any, dict[str, str], Values | None]:
    """The program's text, the texts of NAME=VALUE, and what -i gives."""
    from gradcli import program

    file, texts = split(arguments or ())
    takers = [f"{name}=@-" for name, text in texts.items() if text == "@-"]
    takers += ["-i -"] if values_file == "-" else []
    takers += ["--rows -"] if records is not None and records.rows.name == "<stdin>" else []
    takers += [option for option in beside if option.endswith(("=@-", " @-"))]
    if len(takers) > 1:
        raise usage(f"`{takers[0]}` and `{takers[1]}` both read standard input")
    if takers and not expressions and file in (None, "-"):
        raise usage(f"the program and `{takers[0]}` both read standard input", "name a FILE")
    source = program.decode(*read_program(file, expressions))
    return source, texts, None if values_file is None else _values(values_file)


def _values(name: str) -> Values:
    from gradcli.formats.read import read_bytes, values_of

    data = _stdin() if name == "-" else read_bytes(name)
    return values_of("<stdin>" if name == "-" else name, data)


def _stdin() -> bytes:
    from gradcli.formats.read import read_stream

    if sys.stdin is None:
        raise usage("standard input is closed")
    return read_stream("<stdin>", sys.stdin.buffer)


def constants(texts: Mapping[str, str]) -> dict[str, Given]:
    """The values of NAME=VALUE texts, by name: constant expressions, and files behind `@`."""
    return {name: _constant(text, name, f"{name}={text}") for name, text in texts.items()}


def _constant(text: str, name: str, origin: str) -> Given:
    from gradcli import program

    if text.startswith("@"):
        return program.Given(_from_file(text[1:]), origin)
    return program.constant(text, name, origin)


def _from_file(reference: str) -> Any:
    from gradcli.formats.read import read_bytes, split_key, value_of

    file, key = split_key(reference)
    if file == "-":
        return value_of("<stdin>", _stdin(), None)
    return value_of(file, read_bytes(file), key)


def constant(text: str | None, name: str) -> Given | None:
    """The value of an option that takes a constant; None without it."""
    return None if text is None else _constant(text, name, f"{name} {text}")


def directions(options: Sequence[str] | None) -> dict[str, Given]:
    """The values of --tangent options, by name.

    Raises:
        UsageError: If there is none, or one is not written NAME=VALUE.
    """
    texts = {}
    for option in options or ():
        name, equals, text = option.partition("=")
        if not (equals and name.isidentifier()):
            raise usage(f"`{option}` in --tangent has no name", "a direction is NAME=VALUE")
        texts[name] = text
    if not texts:
        raise usage("no direction", "give --tangent NAME=VALUE")
    return {
        name: _constant(text, f"the tangent of `{name}`", f"--tangent {name}={text}")
        for name, text in texts.items()
    }


def split(arguments: Sequence[str]) -> tuple[str | None, dict[str, str]]:
    """FILE, if there is one, and the texts of the inputs by name; the last of a name counts."""
    file = None
    texts = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if equals and name.isidentifier():
            texts[name] = text
        elif file is None:
            file = argument
        else:
            raise usage(
                f"two programs, `{file}` and `{argument}`", "an input is written NAME=VALUE"
            )
    return file, texts


def split_names(options: Sequence[str] | None, flag: str) -> list[str] | None:
    """The names of a repeatable option that takes `NAME,..`, each once; None without one."""
    if not options:
        return None
    names = [name.strip() for option in options for name in option.split(",")]
    if not all(names):
        raise usage(f"an empty name in {flag}", f"names are written {flag} a,b")
    return list(dict.fromkeys(names))


def read_program(file: str | None, expressions: Sequence[str] | None) -> tuple[str, bytes]:
    """Name and bytes of the program, from the one place that the command line names."""
    if expressions:
        if file is not None:
            raise usage(
                f"a program in -e and another in `{file}`", "an input is written NAME=VALUE"
            )
        return "<expr>", "\n".join(expressions).encode("utf-8", "surrogateescape")
    if file is None or file == "-":
        return "<stdin>", _standard_input(asked_for=file == "-")
    return file, _file(file)


def _standard_input(*, asked_for: bool) -> bytes:
    if sys.stdin is None:
        raise usage("no program: standard input is closed", "name a FILE or give -e TEXT")
    if not asked_for and is_terminal(sys.stdin):
        raise usage(
            "no program", "name a FILE, give -e TEXT, or pipe a program into standard input"
        )
    try:
        return _bounded(sys.stdin.buffer.read(_LONGEST_PROGRAM + 1), "standard input")
    except OSError as error:
        raise unreadable("standard input", error.strerror or str(error)) from None


def _file(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return _bounded(file.read(_LONGEST_PROGRAM + 1), f"`{name}`")
    except OSError as error:
        hint = None
        if "=" in name:
            hint = f"an input is NAME=VALUE, and `{name.partition('=')[0]}` is no name"
        raise unreadable(f"`{name}`", error.strerror or str(error), hint) from None
    except ValueError:
        raise unreadable(f"`{name}`", "the name holds a null character") from None


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > _LONGEST_PROGRAM:
        raise unreadable(name, f"longer than {_LONGEST_PROGRAM // 2**20} MiB")
    return data
