"""Joins a cluster, which is Dask's: a scheduler and workers that are there, or ones of its own."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from gradcli.cli.parts.task import version
from gradcli.cli.parts.tasks import CONNECTING, Tasks
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.messages import Telling
from gradcli.errors import Diagnostic, LimitError, UsageError, counted

_LOCAL = "local:"
_SIGNALS = "SIGINT", "SIGTERM", "SIGHUP"
_WARNINGS = "PYTHONWARNINGS"
_JOINING = 60  # seconds until a worker is there


@contextmanager
def joined(address: str, telling: Telling) -> Iterator[Tasks]:
    """The way to the workers of a cluster.

    Args:
        address: A scheduler's address, or `local:N` for N workers on this machine.
        telling: Where the cluster is told.

    Raises:
        UsageError: If there is no such cluster, or its workers have another gradcli.
        LimitError: If it has no workers.
    """
    count = _count(address)
    try:
        import distributed
    except ImportError:
        message = "`--cluster` needs Dask, which is not installed"
        help = "`pip install 'gradcli[cluster]'` installs it"
        raise UsageError(Diagnostic("missing-extra", message, help=help)) from None
    logging.disable(logging.CRITICAL)  # what Dask loses is told here; its loggers have own levels
    cluster = None
    try:
        if count is not None:
            with _interrupted_later(), _apart():
                cluster = _started(distributed, count)
        client = _connected(distributed, cluster or address, address)
        try:
            _check(client, address, telling)
            yield Tasks(client)
        finally:
            with suppress(Exception):
                client.close(timeout=2)
    finally:
        if cluster is not None:
            with suppress(Exception):
                cluster.close(timeout=5)


def _count(address: str) -> int | None:
    """The N of `local:N`; None for another address."""
    if not address.startswith(_LOCAL):
        if "://" not in address:
            help = "as in --cluster tcp://HOST:8786 or --cluster local:4"
            raise usage(f"`{address}` in --cluster is no address", help)
        return None
    text = address.removeprefix(_LOCAL)
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= _MOST):
        raise usage(f"`{text}` in --cluster is no number of workers from 1 to {_MOST}")
    return int(text)


_MOST = 1024


def _started(distributed: Any, count: int) -> Any:
    return distributed.LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """A block at whose end the signals are handled that have come meanwhile: processes that are
    left half started would complain.
    """
    came: list[int] = []
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = {n: signal.signal(n, lambda number, frame: came.append(number)) for n in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)


@contextmanager
def _apart() -> Iterator[None]:
    """A block in which processes are started that do not hear the Ctrl-C of the terminal. It is
    blocked for the threads that are started here, and so for their processes.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    with _quiet_warnings():
        resource_tracker.ensure_running()  # later it would let this thread hear Ctrl-C again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _quiet_warnings() -> Iterator[None]:
    """A block in which processes are started that do not warn: of what an interrupted command has
    left to them, which is theirs to remove.
    """
    before = os.environ.get(_WARNINGS)
    os.environ[_WARNINGS] = "ignore"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_WARNINGS]
        else:
            os.environ[_WARNINGS] = before


def _connected(distributed: Any, cluster: Any, address: str) -> Any:
    try:
        return distributed.Client(cluster, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise usage(
            f"no scheduler answers at `{address}`: {reason[:1].lower()}{reason[1:]}",
            "`dask scheduler` starts one, and `dask worker` its workers",
        ) from None


def _check(client: Any, address: str, telling: Telling) -> None:
    """Wait for a worker, compare the versions of gradcli, and tell the cluster."""
    try:
        client.wait_for_workers(1, timeout=_JOINING)
    except TimeoutError:
        message = f"`{address}` has no workers"
        help = f"`dask worker {address}` starts one"
        raise LimitError(Diagnostic("cluster-lost", message, help=help)) from None
    found = client.run(version, on_error="return")
    for worker, other in found.items():
        if isinstance(other, BaseException):
            raise usage(f"the worker {worker} cannot import gradcli: {other}", "install it there")
        if other != version():
            help = "install the same version there"
            raise usage(
                f"the worker {worker} has gradcli {other}, and this one is {version()}", help
            )
    text = f"{counted(len(found), 'worker')}; the dashboard is at {client.dashboard_link}"
    telling.warn([Diagnostic("cluster-joined", text, severity="note")])
