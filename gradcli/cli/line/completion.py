"""What the shell completes after a program has been named: its inputs and names."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcli.program import Program

VARIABLE = "_GRADCLI_COMPLETE"
"""The variable by which a shell asks for completions, and for the text that makes it ask."""


def inputs(ctx: Any, args: list[str], incomplete: str) -> list[str]:
    """`NAME=` for the program's inputs; before a program is named, what the shell offers."""
    program = _program(ctx)
    return [] if program is None else _beginning(incomplete, [f"{n}=" for n in program.inputs])


def tangents(ctx: Any, args: list[str], incomplete: str) -> list[str]:
    """`NAME=` for the names that a direction can have."""
    program = _program(ctx)
    return [] if program is None else _beginning(incomplete, [f"{n}=" for n in program.watchable])


def watchable(ctx: Any, args: list[str], incomplete: str) -> list[str]:
    """Names that a derivative can be taken by; several are separated by commas."""
    program = _program(ctx)
    return [] if program is None else _after_comma(incomplete, program.watchable)


def names(ctx: Any, args: list[str], incomplete: str) -> list[str]:
    """All top-level names of the program."""
    program = _program(ctx)
    return [] if program is None else _after_comma(incomplete, program.names)


def operations(ctx: Any, args: list[str], incomplete: str) -> list[str]:
    """Names of built-in operations."""
    from gradcli.program import operations

    return _beginning(incomplete, [operation.name for operation in operations()])


def topics(ctx: Any, args: list[str], incomplete: str) -> list[str]:
    """Commands and pages of the documentation."""
    from gradcli.cli.terminal.shipped import TOPICS

    return _beginning(incomplete, [*ctx.find_root().command.list_commands(ctx), *TOPICS])


def codes(ctx: Any, args: list[str], incomplete: str) -> list[str]:
    """Codes of errors and warnings."""
    from gradcli.codes import CODES

    return _beginning(incomplete, list(CODES))


def samples(ctx: Any, args: list[str], incomplete: str) -> list[str]:
    """Names of sample programs and their data."""
    from gradcli.cli.terminal.shipped import samples

    return _beginning(incomplete, list(samples()))


def _program(ctx: Any) -> Program | None:
    """The program that the command line names so far, if it can be read."""
    from gradcli.cli.line.arguments import split
    from gradcli.cli.line.reading import read_program
    from gradcli.errors import GradError
    from gradcli.program import decode, load_source

    # behind an option that waits for its value, the arguments are left over
    arguments = [*(ctx.params.get("arguments") or ()), *ctx.args]
    expressions = ctx.params.get("expression")
    with suppress(GradError):
        file, texts = split(arguments)
        if file not in (None, "-") or expressions:
            source = decode(*read_program(file, expressions))
            return load_source(source, frozenset(texts))
    return None


def _after_comma(incomplete: str, known: tuple[str, ...]) -> list[str]:
    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _beginning(begun, known)]


def _beginning(begun: str, known: list[str] | tuple[str, ...]) -> list[str]:
    return [name for name in known if name.startswith(begun)]
