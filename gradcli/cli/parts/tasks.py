"""Calls on their way through a cluster: each ends with its answer, or with the error to tell."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from gradcli.errors import Diagnostic, GradError, LimitError

CONNECTING = 10  # seconds until a scheduler answers
_LOOK = 1.0  # seconds between two looks at the cluster while no call ends
_LOST = 15.0  # seconds without a scheduler
_RETRIES = 3
_AHEAD = 3  # calls for each thread of a worker that are handed to the scheduler


class Call(NamedTuple):
    """A call of a function by a worker.

    Fields:
        number: The number of the part that it is about.
        function, arguments: What is called.
        worker: The address of a worker that has the part, which it should go to; None for any.
    """

    number: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    worker: str | None = None


class Tasks:
    """The way to the workers of a cluster.

    Args:
        client: The cluster.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._rounds = self._room = 0

    def of(self, run: str, calls: Iterable[Call]) -> Iterator[tuple[int, Any]]:
        """The number and the answer of each call, as soon as it is there; a `GradError` in place of
        the answer of one that has none.

        Args:
            run: The name of the run, for Dask's dashboard.
            calls: The calls, which are handed over as workers have room for them.

        Raises:
            LimitError: If the scheduler is lost.
        """
        self._rounds += 1
        prefix = f"gradcli-{run}-{self._rounds}"
        left, ended = iter(calls), SimpleQueue[Any]()
        running: dict[str, tuple[int, Any]] = {}
        try:
            while True:
                self._submit(prefix, left, running, ended)
                if not running:
                    return
                future = self._next(ended)
                if future.key in running:
                    number, _ = running.pop(future.key)
                    yield number, self._answer(future)
        finally:
            with suppress(Exception):  # it may be gone
                self._client.cancel([future for _, future in running.values()])

    def everywhere(self, function: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        """Call an asynchronous function in all workers, without waiting for it."""
        with suppress(Exception):
            self._client.run(function, *arguments, wait=False)

    def _submit(
        self,
        prefix: str,
        left: Iterator[Call],
        running: dict[str, tuple[int, Any]],
        ended: SimpleQueue[Any],
    ) -> None:
        """Hand further calls to the scheduler, a few for each thread of a worker."""
        threads = sum(self._client.nthreads().values()) if len(running) < 2 else 0
        self._room = max(_AHEAD * threads, self._room, 2)
        while len(running) < self._room:
            call = next(left, None)
            if call is None:
                return
            where = {} if call.worker is None else {"workers": [call.worker]}
            future = self._client.submit(
                *(call.function, *call.arguments),
                key=f"{prefix}-{call.number}",
                pure=False,
                retries=_RETRIES,
                allow_other_workers=bool(where),
                **where,
            )
            running[future.key] = call.number, future
            future.add_done_callback(ended.put)

    def _next(self, ended: SimpleQueue[Any]) -> Any:
        """The next call that has ended.

        Raises:
            LimitError: If the scheduler is lost.
        """
        since = time.monotonic()
        while True:
            with suppress(Empty):
                return ended.get(timeout=_LOOK)
            if self._client.status == "running":
                since = time.monotonic()
            elif self._client.status == "closed" or time.monotonic() - since > _LOST:
                raise scheduler_lost()

    def _answer(self, future: Any) -> Any:
        """The answer of a call that has ended, or the error in its place."""
        from distributed.scheduler import KilledWorker

        try:
            return future.result(timeout=CONNECTING)
        except KilledWorker:
            times = _RETRIES + 1
            message = f"the workers that answered a part were lost, {times} times"
            help = "their memory may have run out: take smaller parts"
            return LimitError(Diagnostic("worker-lost", message, help=help))
        except GradError as error:
            return error
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if future.status in ("lost", "cancelled") or self._client.status != "running":
                raise scheduler_lost() from None
            text = (
                f"a part failed at a worker, {_RETRIES + 1} times: {type(error).__name__}: {error}"
            )
            return LimitError(Diagnostic("worker-lost", text))


def scheduler_lost() -> LimitError:
    """The error for a scheduler that is gone."""
    return LimitError(Diagnostic("cluster-lost", "the scheduler of the cluster is lost"))
