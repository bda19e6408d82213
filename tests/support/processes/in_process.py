"""Run a command line in this process, which saves a start."""

from __future__ import annotations

import io
import sys
from functools import cache
from unittest.mock import patch

import typer
from support.pages.schemas import hold, printed

from gradcli.__main__ import _run
from gradcli.cli import app
from gradcli.engine.compile import backends

backends.failures_are_errors = True  # in the forked processes of tests, too


def make_commands_once() -> None:
    """Keep typer's commands: making one takes longer than running most of them."""
    app.build = cache(app.build)
    typer.main.get_command = cache(typer.main.get_command)


make_commands_once()


def command(*arguments: object, stdin: str | bytes = "") -> tuple[int, str, str]:
    """Status, standard output and standard error of a command line with a given standard input."""
    data = stdin if isinstance(stdin, bytes) else stdin.encode("utf-8", "surrogateescape")
    given, out, err = (io.TextIOWrapper(io.BytesIO(b), "utf-8") for b in (data, b"", b""))
    with patch.multiple(sys, stdin=given, stdout=out, stderr=err):
        status = _run([str(a) for a in arguments])
    said, told = (_written(stream) for stream in (out, err))
    if "--flat" not in arguments:  # which puts any names beside those of the schema
        for found in (*printed(said), *printed(told)):
            hold(found)
    return status, said, told


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    held = stream.buffer
    assert isinstance(held, io.BytesIO)
    return held.getvalue().decode()
