"""The program and the input values that the command line gives."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from gradcli.cli.line.arguments import split
from gradcli.cli.line.reading import program_source
from gradcli.cli.terminal.failures import usage
from gradcli.errors import InputError, ProgramError
from gradcli.source import Source

if TYPE_CHECKING:
    from gradcli.cli.line.options import Line
    from gradcli.cli.line.records import Batch
    from gradcli.formats.readers.read import Values
    from gradcli.program import Given, Program


def load(
    line: Line, records: Batch | None, limited: Callable[[], AbstractContextManager[None]]
) -> tuple[Program, dict[str, Given]]:
    """Load the program of a command line and its input values.

    Args:
        line: The command line; its arguments take precedence over the file of -i.
        records: The rows that will give further values.
        limited: A block for work that is limited; waiting for input is not.
    """
    from gradcli import program

    source, texts, values = _asked(line)
    names = {*texts, *(() if values is None else values.declared)}
    names.update(() if records is None else records.rows.names)
    with limited():
        shows = type(source) is not Source and "expect" in line.takes and records is None
        make = program.load_notebook if shows else program.load_source
        loaded = make(source, frozenset(names))
    elsewhere = {*texts, *(() if records is None else records.rows.names)}
    return loaded, _given(values, loaded, elsewhere) | constants(texts)


def load_source(line: Line) -> tuple[Any, dict[str, Given]]:
    """The text of the program, for a command that only reads it, and the input values."""
    from gradcli import program

    source, texts, values = _asked(line)
    if values is None:
        return source, constants(texts)
    try:
        loaded = program.load_source(source, frozenset({*texts, *values.declared}))
    except ProgramError:  # the command reports it
        return source, constants(texts)
    return source, _given(values, loaded, texts) | constants(texts)


def _given(values: Values | None, loaded: Program, elsewhere: Collection[str]) -> dict[str, Given]:
    """The values of -i for inputs of the program, except those in `elsewhere`."""
    if values is None:
        return {}
    from gradcli.formats.texts.refusal import first_names

    left = [name for name in loaded.optional if name not in elsewhere]
    found = {
        name: _in_file(name, value, f"{first_names([name])} in {values.name}", values.printed)
        for name, value in values.of(loaded.inputs, left).items()
    }
    try:
        loaded.check_given(found)
    except InputError as error:
        for extra in error.diagnostics:
            extra.notes = (*extra.notes, "`--ignore-extra` passes over it")
        raise
    return found


def _in_file(name: str, value: Any, origin: str, printed: Mapping[str, Any]) -> Given:
    """A value of a file, with its uncertainty if it has one."""
    from gradcli import program

    if "covariance" in printed or isinstance(value, dict):
        return program.given_in_file(name, value, origin, printed)
    return program.Given(value, origin)


def _asked(line: Line) -> tuple[Any, dict[str, str], Values | None]:
    """The program's text, the texts of NAME=VALUE, and the values of -i."""
    file, texts = split(line.arguments or ())
    takers = [f"{name}=@-" for name, text in texts.items() if text == "@-"]
    takers += ["-i -"] if line.values_file == "-" else []
    takers += ["--rows -"] if "-" in (line.rows or ()) else []
    beside = [
        f"--cotangent {line.cotangent}",
        *(f"--tangent {text}" for text in line.tangent or ()),
    ]
    takers += [option for option in beside if option.endswith(("=@-", " @-"))]
    if len(takers) > 1:
        raise usage(f"`{takers[0]}` and `{takers[1]}` both read standard input")
    if takers and not line.expression and file in (None, "-"):
        raise usage(f"the program and `{takers[0]}` both read standard input", "name a FILE")
    source = program_source(file, line.expression, marked=line.cells)
    if line.values_file is None and line.ignore_extra:
        raise usage("`--ignore-extra` needs `-i`")
    return source, texts, None if line.values_file is None else _values(line, line.values_file)


def _values(line: Line, name: str) -> Values:
    from gradcli.formats.readers.read import read_bytes, values_of

    data = _stdin() if name == "-" else read_bytes(name)
    found = values_of("<stdin>" if name == "-" else name, data)
    return found.passing() if line.ignore_extra else found


def _stdin() -> bytes:
    from gradcli.formats.readers.read import read_stream
    from gradcli.formats.texts.refusal import refused

    if sys.stdin is None:
        raise refused("standard input is closed")
    return read_stream("<stdin>", sys.stdin.buffer)


def constants(texts: Mapping[str, str]) -> dict[str, Given]:
    """The values of NAME=VALUE texts, by name: constant expressions, or files after `@`."""
    return {name: _constant(text, name, f"{name}=") for name, text in texts.items()}


def _constant(text: str, name: str, before: str) -> Given:
    from gradcli import program

    if text.startswith("@"):
        return _in_file(name, _from_file(text[1:]), before + text, {})
    try:
        return program.constant(text, name, before)
    except InputError as error:
        if os.path.isfile(text):
            error.diagnostics[0].help = f"`{before}@{text}` reads the file `{text}`"
        raise


def _from_file(reference: str) -> Any:
    from gradcli.formats.readers.read import read_bytes, split_key, value_of

    file, key = split_key(reference)
    if file == "-":
        return value_of("<stdin>", _stdin(), None)
    return value_of(file, read_bytes(file), key)


def constant(text: str | None, name: str) -> Given | None:
    """The value of an option that takes a constant; None if it is not given."""
    return None if text is None else _constant(text, name, f"{name} ")


def constant_of(text: str, name: str, before: str) -> float:
    """The finite number in a part of an option, written as a constant expression.

    Raises:
        UsageError: If it is not one.
    """
    import math

    value = _constant(text, name, before).value
    option, _, _ = before.partition(" ")
    if type(value) not in (int, float) or not math.isfinite(value):
        raise usage(f"`{text}` in {option} is not a finite number")
    return float(value)


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
        name: _constant(text, f"the tangent of `{name}`", f"--tangent {name}=")
        for name, text in texts.items()
    }
