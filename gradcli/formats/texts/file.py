"""Write a file completely or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO


def name_fault(name: str) -> str | None:
    """Why no file can have a name; None if one can."""
    try:
        bare = os.fsencode(name)
    except UnicodeEncodeError:
        return "the name holds half a character"
    return "the name holds a null character" if b"\0" in bare else None


def write_atomically(path: str, data: bytes) -> None:
    """Write `data` to `path`, as `replacing` does.

    Raises:
        OSError: If the file cannot be written; nothing is left behind.
    """
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A temporary file next to `path` that replaces it once it is complete, and is deleted after an
    error.

    An existing file keeps its mode, and a link its target. Anything but a regular file, such as a
    pipe, is written directly.

    Raises:
        OSError: If the file cannot be written.
    """
    target = os.path.realpath(path)
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb") as file:
            yield file
        return
    folder, name = os.path.split(target)
    ending = _ending(os.getpid())
    temporary = os.path.join(folder, f".{name[:100]}.{os.urandom(6).hex()}{ending}")
    try:
        with open(temporary, "xb") as file:  # a new file: no file or link of this name is followed
            yield file
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException as error:  # an interrupt may come as soon as the file is there
        others = isinstance(error, FileExistsError) and error.filename == temporary
        if not others:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        raise


def remove_unfinished(folder: str, process: int) -> None:
    """Remove the temporary files that a process has left in a folder."""
    with suppress(OSError):  # there is no such folder, or somebody else removes them
        for name in os.listdir(folder or "."):
            if name.startswith(".") and name.endswith(_ending(process)):
                os.unlink(os.path.join(folder, name))


def _ending(process: int) -> str:
    """The end of the names of a process's temporary files."""
    return f"-{process}.tmp"
