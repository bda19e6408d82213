"""A server on a Unix socket: each client is served by a process of its own."""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from gradcli.cli.serve.sessions import session
from gradcli.cli.terminal.failures import usage
from gradcli.cli.watch.lifeline import Lifeline
from gradcli.cli.watch.table import WORKERS
from gradcli.errors import Diagnostic, GradError, UsageError

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from gradcli.cli.serve.loaded import Served

_MOST = WORKERS  # clients at once; others wait until one leaves
_PATIENCE = 1.0  # seconds in which a server that lives takes a connection


def on_socket(served: Served, path: str) -> None:
    """Serve clients on a socket until a signal ends it.

    Raises:
        UsageError: If the socket cannot be made, or another server has it.
    """
    served.service.prepare()
    gc.collect()
    gc.freeze()  # the processes of clients share this memory
    with _listening(path) as listening, _Clients(served, listening) as clients:
        while True:
            clients.wait()


class _Clients:
    """The processes of the clients of a server. They end with the block and with this process."""

    def __init__(self, served: Served, listening: socket.socket) -> None:
        self._served, self._listening = served, listening
        self._lifeline = Lifeline()
        self._places = [*range(_MOST)]
        self._started: dict[BaseProcess, int] = {}

    def __enter__(self) -> _Clients:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            process.terminate()
        for process in self._started:
            process.join()
        self._lifeline.close()

    def wait(self) -> None:
        """Wait until a client comes or leaves."""
        from multiprocessing.connection import wait

        by_end = {process.sentinel: process for process in self._started}
        coming = [self._listening] if self._places else []
        for event in wait([*coming, *by_end]):
            if event is self._listening:
                self._begin()
            else:
                self._end(by_end[event])  # type: ignore[index]  # it is none of others

    def _begin(self) -> None:
        """Start the process of a client that has come."""
        from multiprocessing import get_context

        with suppress(ConnectionError):  # it has left again
            connection, _ = self._listening.accept()
            place = self._places.pop()
            process = get_context("fork").Process(target=self._serve, args=(connection, place))
            process.start()
            connection.close()
            self._started[process] = place

    def _end(self, process: BaseProcess) -> None:
        """Forget the process of a client that has left."""
        process.join()
        place = self._started.pop(process)
        self._places.append(place)
        if self._served.table is not None:
            self._served.table.workers[place].leave()
        process.close()

    def _serve(self, connection: socket.socket, place: int) -> None:
        """Serve a client, in its process."""
        self._lifeline.let_go()
        self._lifeline.follow()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends this process
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._listening.close()
        questions = connection.makefile("rb", buffering=0)
        with suppress(GradError, OSError):  # the client has left
            session(self._served, questions, connection.makefile("wb"), place)
        connection.close()
        os._exit(0)


@contextmanager
def _listening(path: str) -> Iterator[socket.socket]:
    """A socket at a path, which only its owner may use, and which is removed with the block."""
    folder = os.path.dirname(path) or "."
    with socket.socket(socket.AF_UNIX) as listening:
        try:
            lock = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)  # another server may begin at the same time
                _make_way(path)
                before = os.umask(0o177)
                try:
                    listening.bind(path)
                finally:
                    os.umask(before)
                listening.listen(_MOST)
            finally:
                os.close(lock)
            own = os.lstat(path)
        except OSError as error:
            raise _not_made(path, error) from None
        try:
            yield listening
        finally:
            with suppress(OSError):
                if os.path.samestat(os.lstat(path), own):
                    os.unlink(path)


def _make_way(path: str) -> None:
    """Remove a socket that no server has any more.

    Raises:
        UsageError: If a server has it, or it is no socket.
    """
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise usage(f"`{path}` is a file, not a socket", "name another path for the socket")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(_PATIENCE)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
        except TimeoutError:
            pass  # it is busy
    raise usage(f"another server has the socket `{path}`", "end it, or name another path")


def _not_made(path: str, error: OSError) -> UsageError:
    reason = error.strerror or "its path is longer than some 100 bytes"
    message = f"cannot make the socket `{path}`: {reason[:1].lower()}{reason[1:]}"
    return UsageError(Diagnostic("unwritable-output", message))
