"""Parts answered by the workers of a cluster, which is Dask's."""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any

from gradcli.cli.parts.task import Job, Piece, Report, Runner, failed, version
from gradcli.cli.parts.worker import work
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.messages import Telling
from gradcli.errors import Diagnostic, GradError, LimitError, UsageError, counted

_LOCAL = "local:"
_CONNECTING, _JOINING = 10, 60  # seconds until a scheduler answers, and until a worker is there
_LOOK = 1.0  # seconds between two looks at the cluster while no part ends
_LOST = 15.0  # seconds without a scheduler
_RETRIES = 3
_AHEAD = 3  # parts for each thread of a worker that are handed to the scheduler


@contextmanager
def joined(address: str, telling: Telling) -> Iterator[Runner]:
    """A function that has parts answered by the workers of a cluster.

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
    cluster = None if count is None else _started(distributed, count)
    try:
        client = _connected(distributed, cluster or address, address)
        try:
            _check(client, address, telling)
            yield _Answers(client).of
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


def _connected(distributed: Any, cluster: Any, address: str) -> Any:
    try:
        return distributed.Client(cluster, timeout=_CONNECTING, set_as_default=False)
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


class _Answers:
    """Parts on their way through a cluster.

    Args:
        client: The cluster.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._ended: SimpleQueue[Any] = SimpleQueue()
        self._running: dict[str, tuple[int, Any]] = {}

    def of(self, job: Job, todo: Sequence[Piece]) -> Iterator[tuple[int, Report]]:
        """The reports on parts, each as soon as it is there.

        Raises:
            LimitError: If the scheduler is lost.
        """
        data = _pickled(job)
        left = iter(todo)
        try:
            while True:
                self._submit(data, job.run, left)
                if not self._running:
                    return
                future = self._next()
                if future.key in self._running:
                    k, _ = self._running.pop(future.key)
                    yield k, self._report(future)
        finally:
            with suppress(Exception):  # it may be gone
                self._client.cancel([future for _, future in self._running.values()])

    def _submit(self, data: bytes, run: str, left: Iterator[Piece]) -> None:
        """Hand further parts to the scheduler, a few for each thread of a worker."""
        threads = sum(self._client.nthreads().values()) if len(self._running) < 2 else 0
        self._room = max(_AHEAD * threads, getattr(self, "_room", 2))
        while len(self._running) < self._room:
            piece = next(left, None)
            if piece is None:
                return
            k, part, output = piece
            future = self._client.submit(
                *(work, data, part, output, version()),
                key=f"gradcli-{run}-{k}",
                pure=False,
                retries=_RETRIES,
            )
            self._running[future.key] = k, future
            future.add_done_callback(self._ended.put)

    def _next(self) -> Any:
        """The next part that has ended.

        Raises:
            LimitError: If the scheduler is lost.
        """
        since = time.monotonic()
        while True:
            with suppress(Empty):
                return self._ended.get(timeout=_LOOK)
            if self._client.status == "running":
                since = time.monotonic()
            elif self._client.status == "closed" or time.monotonic() - since > _LOST:
                raise _scheduler_lost()

    def _report(self, future: Any) -> Report:
        """The report on a part that has ended."""
        from distributed.scheduler import KilledWorker

        try:
            report: Report = future.result(timeout=_CONNECTING)
        except KilledWorker:
            times = _RETRIES + 1
            message = f"the workers that answered a part were lost, {times} times"
            help = "their memory may have run out: take smaller parts"
            return failed(LimitError(Diagnostic("worker-lost", message, help=help)))
        except GradError as error:
            return failed(error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if future.status in ("lost", "cancelled") or self._client.status != "running":
                raise _scheduler_lost() from None
            text = (
                f"a part failed at a worker, {_RETRIES + 1} times: {type(error).__name__}: {error}"
            )
            return failed(LimitError(Diagnostic("worker-lost", text)))
        return report


def _pickled(job: Job) -> bytes:
    """A job as bytes for workers, without what belongs to this process."""
    return pickle.dumps(job.elsewhere(), protocol=5)


def _scheduler_lost() -> LimitError:
    return LimitError(Diagnostic("cluster-lost", "the scheduler of the cluster is lost"))
