"""The standard streams of the process: terminals or not, their width and colours."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TextIO

from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.errors import UsageError

_NARROWEST = 20
_COLOR = "GRADCLI_COLOR"


def is_terminal(stream: TextIO | None) -> bool:
    """True if a person reads the stream."""
    return stream is not None and not stream.closed and stream.isatty()


def width(stream: TextIO | None) -> int | None:
    """Cells in a line of the terminal; None if unknown."""
    if stream is None or not is_terminal(stream):
        return None
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        return None
    return max(columns, _NARROWEST) if columns else None


def check_colour() -> None:
    """Check the environment's choice of colours.

    Raises:
        UsageError: If there is no such choice.
    """
    chosen = os.environ.get(_COLOR, "")
    if chosen not in ("", "auto", "always", "never"):
        raise usage(f"`{_COLOR}={chosen}` is not a choice of colours", "auto, always or never")


def wants_colour(stream: TextIO | None, choice: str) -> bool:
    """True if output to a stream is coloured.

    The option decides first, then GRADCLI_COLOR, NO_COLOR, FORCE_COLOR, and last the terminal.
    """
    for decided in (choice, os.environ.get(_COLOR, "")):
        if decided in ("always", "never"):
            return decided == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def occupy_descriptors() -> None:
    """Occupy the descriptors of closed standard streams, so that no file gets their output; writing
    to them fails.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)


def prepare_streams() -> None:
    """Make the standard streams write UTF-8 in every locale."""
    occupy_descriptors()
    # with PYTHONUNBUFFERED a stream loses what a device takes only in part
    if sys.stdout is None or isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115  # as the others, it stays
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def write_output(text: str) -> None:
    """Write to standard output at once.

    Raises:
        OSError: If it is closed or its device is full.
    """
    sys.stdout.write(text)
    sys.stdout.flush()


def show_cursor() -> None:
    """Show the cursor of the terminal again."""
    if is_terminal(sys.stderr):
        write_message("\x1b[?25h")


def paged(text: str) -> None:
    """Write to standard output through the user's pager."""
    import pydoc

    os.environ.setdefault("LESS", "FRX")  # colours, and no pager for a text that fits on the screen
    pydoc.pager(text)


def output_failure(error: OSError) -> UsageError:
    """The error for a failed standard output; nothing more is written to it."""
    _abandon(sys.stdout)
    closed = error.errno == errno.EBADF
    return unwritable("standard output", "it is closed" if closed else error.strerror or str(error))


def write_message(text: str) -> None:
    """Write to standard error, or nowhere if that is impossible."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _abandon(sys.stderr)


def print_output(text: str) -> None:
    """Write a text that a program prints to standard output.

    Raises:
        OSError: If it is closed or its device is full.
    """
    write_output(_harmless(text, sys.stdout))


def print_bytes(text: bytes) -> None:
    """Write a text in UTF-8 that a program prints to standard output.

    Raises:
        OSError: If it is closed or its device is full.
    """
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None or os.linesep != "\n" or is_terminal(sys.stdout):
        print_output(text.decode())
        return
    sys.stdout.flush()
    buffer.write(text)
    buffer.flush()


def print_message(text: str) -> None:
    """Write a text that a program prints to standard error, apart from the result."""
    write_message(_harmless(text, sys.stderr))


def _harmless(text: str, stream: TextIO | None) -> str:
    """A program's text; on a terminal with escapes for all characters that are not printable, since
    the terminal might take them for commands.
    """
    if text.isprintable() or not is_terminal(stream):
        return text
    from gradcli.render.text import visible

    return "".join(c if c in "\n\t" else visible(c) for c in text)


def _abandon(stream: TextIO) -> None:
    """Redirect a broken stream to nothing, so that the interpreter's last flush succeeds."""
    with suppress(OSError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
