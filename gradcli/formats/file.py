"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

import os
import stat


def write_atomically(path: str, data: bytes) -> None:
    """Write `data` to `path` by way of a temporary file beside it.

    An existing file keeps its mode, a link keeps pointing where it does, and what is no regular
    file (a pipe) is written to directly.

    Raises:
        OSError: If the file cannot be written; nothing is left behind.
    """
    target = os.path.realpath(path)
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb") as file:
            file.write(data)
        return
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name[:100]}.{os.urandom(6).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(temporary, flags, 0o666)  # the umask makes this the usual mode
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
