"""`--watch`: run a command again whenever a file that it reads changes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.terminal import is_terminal, write_message, write_output

if TYPE_CHECKING:
    from gradcli.cli.line.options import Line

_PAUSE = 0.1  # seconds between two looks at the files
_CLOSED = 141  # the status of a command whose reader has gone
_CLEARED = "\x1b[2J\x1b[H"


def watch(line: Line) -> int:
    """Run the rest of a command line, each time in a process of its own, until an interrupt ends it
    or the reader of its output has gone. A terminal is cleared before each run.

    Returns:
        The exit status.

    Raises:
        UsageError: If it reads no file.
    """
    files = list(_files(line))
    if not files:
        raise usage("`--watch` needs a FILE", "a program in -e or standard input cannot change")
    arguments = _without_watch(line.whole.arguments)
    command = [sys.executable, "-P", "-m", "gradcli", *arguments]
    told = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    for _ in changes(files):
        if is_terminal(sys.stdout):
            write_output(_CLEARED)
        status = _run(command)
        if status in (_CLOSED, -13):
            return _CLOSED
        if not line.quiet:
            write_message(f"gradcli: watching {told}; Ctrl-C ends it\n")
    raise AssertionError("files change for ever")


def changes(
    files: Iterable[str], pause: Callable[[], None] = lambda: time.sleep(_PAUSE)
) -> Iterator[None]:
    """Yield at once, and again after each change of the files. A file that an editor is replacing
    is waited for; several changes in quick succession are one.
    """
    files = [*files]
    seen = _state(files)
    yield
    while True:
        now = _state(files)
        while now != seen or None in now:
            pause()
            latest = _state(files)
            if latest == now and None not in now:
                break
            now = latest
        if now == seen:
            pause()
            continue
        seen = now
        yield


def _state(files: list[str]) -> list[Any]:
    """What tells whether a file is another than before; None for one that is not there."""
    found: list[Any] = []
    for file in files:
        with suppress(OSError):
            status = os.stat(file)
            found.append((status.st_mtime_ns, status.st_size, status.st_ino))
            continue
        found.append(None)
    return found


def _run(command: list[str]) -> int:
    """The status of a command. If this process is interrupted, the command is ended."""
    with subprocess.Popen(command) as process:
        try:
            return process.wait()
        except BaseException:
            process.terminate()
            raise


def _files(line: Line) -> Iterator[str]:
    """The files that a command line reads: programs, values and rows."""
    read = [*(line.rows or ()), *([line.values_file] if line.values_file else [])]
    for argument in line.arguments or ():
        name, equals, value = argument.partition("=")
        if not (equals and name.isidentifier()):
            read.append(argument)
        elif value.startswith("@"):
            read += [value[1:], value[1:].rpartition(":")[0]]
    yield from dict.fromkeys(file for file in read if os.path.isfile(file))


def _without_watch(arguments: list[str]) -> list[str]:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [a for a in arguments[:end] if a != "--watch"] + arguments[end:]
