"""Completes words for the shell: inputs and names of the program, operations, codes, samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcli.program import Program


def complete(what: str, ctx: Any, begun: str) -> list[str]:
    """The possible completions of a word.

    Args:
        what: The kind of words: the name of a function below, without its underscore.
        ctx: The command line so far, as typer's context.
        begun: The word so far.
    """
    before, comma, name = begun.rpartition(",") if what in _SEPARATED else ("", "", begun)
    return [f"{before}{comma}{word}" for word in _WORDS[what](ctx) if word.startswith(name)]


def _inputs(ctx: Any) -> list[str]:
    """`NAME=` for the program's inputs; before a program is named, the shell's own completions."""
    program = _program(ctx)
    return [] if program is None else [f"{name}=" for name in program.inputs]


def _tangents(ctx: Any) -> list[str]:
    """`NAME=` for the names that a direction may have."""
    return [f"{name}=" for name in _watchable(ctx)]


def _watchable(ctx: Any) -> Sequence[str]:
    """Names that a derivative may be taken with respect to."""
    program = _program(ctx)
    return () if program is None else program.watchable


def _names(ctx: Any) -> Sequence[str]:
    """All top-level names of the program."""
    program = _program(ctx)
    return () if program is None else program.names


def _operations(ctx: Any) -> list[str]:
    """Names of built-in operations."""
    from gradcli.program import operations

    return [operation.name for operation in operations()]


def _topics(ctx: Any) -> list[str]:
    """Commands and pages of the documentation."""
    from gradcli.cli.terminal.shipped import TOPICS

    return [*ctx.find_root().command.list_commands(ctx), *TOPICS]


def _codes(ctx: Any) -> Iterable[str]:
    """Codes of errors and warnings."""
    from gradcli.codes import CODES

    return CODES


def _samples(ctx: Any) -> Iterable[str]:
    """Names of sample programs and their data."""
    from gradcli.cli.terminal.shipped import samples

    return samples()


def _program(ctx: Any) -> Program | None:
    """The program in the command line so far, or None if it cannot be read."""
    from gradcli.cli.line.arguments import split
    from gradcli.cli.line.reading import program_source
    from gradcli.errors import GradError
    from gradcli.program import load_source

    # while an option waits for its value, typer leaves the arguments in `args`
    named = ctx.params.get("arguments") or ctx.params.get("served") or ()
    arguments = [*named, *ctx.args]
    expressions = ctx.params.get("expression")
    with suppress(GradError):
        file, texts = split(arguments)
        if file not in (None, "-") or expressions:
            source = program_source(file, expressions, marked=False)
            return load_source(source, frozenset(texts))
    return None


_WORDS: dict[str, Callable[[Any], Iterable[str]]] = {
    found.__name__.removeprefix("_"): found
    for found in (
        *(_inputs, _tangents, _watchable, _names),
        *(_operations, _topics, _codes, _samples),
    )
}
_SEPARATED = ("watchable", "names")  # separated by commas
