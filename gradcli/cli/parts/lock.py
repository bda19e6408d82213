"""A lock of a folder of results: one run writes it at a time.

On this machine the system holds the lock, and lets it go when the process ends. A store has no
locks: there an object is written anew while the run lives, and counts for a minute.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.errors import UsageError
from gradcli.formats.files.places import is_url, joined, putting, read_whole, remove

_NAME = "_gradcli.lock"
_BEAT, _DEAD = 15.0, 60.0  # seconds between two signs of life, and without one


def run_of(folder: str) -> str | None:
    """The name of the run that holds the lock of a folder; None if there is none.

    Raises:
        UsageError: If the folder cannot be read.
    """
    found = _said(folder)
    return None if found is None else str(found.get("run"))


@contextmanager
def locked(folder: str, run: str) -> Iterator[None]:
    """Hold the lock of a folder for a run.

    Raises:
        UsageError: If another one holds it.
    """
    hold = _beating if is_url(folder) or not hasattr(os, "fork") else _locked_here
    with hold(folder, run):
        yield


@contextmanager
def _locked_here(folder: str, run: str) -> Iterator[None]:
    import fcntl

    path = joined(folder, [_NAME])
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise unwritable(f"`{path}`", error.strerror or str(error)) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise _taken(folder) from None
        if _is_same(descriptor, path):
            break
        os.close(descriptor)  # another run has just ended and removed it
    try:
        os.truncate(descriptor, 0)
        os.write(descriptor, _text(run))
        yield
    finally:
        remove(path)
        os.close(descriptor)


def _is_same(descriptor: int, path: str) -> bool:
    try:
        return os.path.sameopenfile(descriptor, descriptor) and os.path.samestat(
            os.fstat(descriptor), os.stat(path)
        )
    except FileNotFoundError:
        return False


@contextmanager
def _beating(folder: str, run: str) -> Iterator[None]:
    found = _said(folder)
    if found is not None and time.time() - float(found.get("time", 0.0)) < _DEAD:
        raise _taken(folder)
    path, over = joined(folder, [_NAME]), Event()

    def write() -> None:
        with putting(path) as file:
            file.write(_text(run))

    def beat() -> None:
        while not over.wait(_BEAT):
            with suppress(OSError):  # the next one may get through
                write()

    try:
        write()
    except OSError as error:
        raise unwritable(f"`{path}`", error.strerror or str(error)) from None
    beating = Thread(target=beat, daemon=True)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()
        with suppress(OSError):
            remove(path)


def _text(run: str) -> bytes:
    about = {"run": run, "host": socket.gethostname(), "process": os.getpid(), "time": time.time()}
    return json.dumps(about).encode()


def _said(folder: str) -> dict[str, Any] | None:
    path = joined(folder, [_NAME])
    try:
        data = read_whole(path)
        found = None if data is None else json.loads(data)
    except OSError as error:
        raise unwritable(f"`{path}`", error.strerror or str(error)) from None
    except ValueError:  # it is being written
        return {}
    return found if isinstance(found, dict) else {}


def _taken(folder: str) -> UsageError:
    found = _said(folder) or {}
    who = "another gradcli"
    if "host" in found:
        who += f" (process {found['process']} on {found['host']})"
    message = f"{who} is writing the parts of `{folder}`"
    help = "wait for its end, or name another folder"
    if is_url(folder):
        help += f"; without a sign of life it counts for {_DEAD:.0f} seconds"
    return usage(message, help)
