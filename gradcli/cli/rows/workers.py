"""Share work among forked processes; results and output keep the order of the items."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr
from functools import partial
from io import StringIO
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.terminal import print_message
from gradcli.errors import Diagnostic, LimitError
from gradcli.machine import THREADS

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from gradcli.cli.watch.lifeline import Lifeline
    from gradcli.cli.watch.table import Table
    from gradcli.limits import Limits

Item = TypeVar("Item")
Made = TypeVar("Made")
Work: TypeAlias = "Callable[[Item, Callable[[Made], None]], Made]"
"""Makes something of an item; or hands it to the function that it gets, from another thread where
its own is stuck, which ends the process.
"""

_HELD = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]
_TOGETHER = 64


class _Failed(NamedTuple):
    """The error that ended a worker or the reading of items."""

    error: BaseException


class Watch(NamedTuple):
    """How workers are watched by another process, which kills one that does not end at a limit.

    Fields:
        table: Where they tell what they do.
        limits: The limits of an item.
        killed: Makes something of an item whose worker was killed.
        first: The place in the table of the first of them.
    """

    table: Table
    limits: Limits
    killed: Callable[[Any, LimitError], Any]
    first: int = 0

    def begin(self, number: int) -> Callable[[], AbstractContextManager[None]]:
        """Have the calling process, the worker of that number, watched in the blocks that the
        result makes.
        """
        self.table.lifeline.follow()
        place = self.table.workers[self.first + number]
        place.take()
        return partial(place.within, self.limits)

    def end(self, number: int, item: Any) -> Any:
        """What becomes of an item at which the worker of that number was lost; None if the worker
        was not killed because of a limit.
        """
        reached = self.table.workers[self.first + number].reached
        return None if reached is None else self.killed(item, reached)


class _Worker(NamedTuple):
    number: int
    process: BaseProcess
    connection: Connection


@contextmanager
def workers(
    work: Work[Item, Made], count: int, together: int = _TOGETHER, watch: Watch | None = None
) -> Iterator[Callable[[Iterable[Item]], Iterator[Made]]]:
    """A function that maps items to results in `count` processes, in order and as soon as possible.
    The processes end with the block and with this process; one that its work ended is replaced. A
    thread reads the items ahead of the workers, up to a limit.

    Args:
        work: Called in a process forked from this one.
        count: The number of processes.
        together: The most items that a worker gets at a time.
        watch: How the processes are watched, if they are.

    Raises:
        UsageError: If this system cannot fork.
        LimitError: If a worker is lost, or cannot be started.
    """
    if not can_fork():
        raise usage("`--jobs` needs a system that can fork processes")
    from gradcli.cli.watch.lifeline import Lifeline  # which needs a system that can fork

    started: list[_Worker] = []
    lifeline = Lifeline()

    def start(number: int) -> _Worker:
        with _signals_held():  # a signal in the child would meet the parent's handlers
            started.append(_started(work, number, started, watch, lifeline))
        return started[-1]

    leaves = signal.getsignal(signal.SIGPIPE)
    try:
        for number in range(count):
            start(number)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # the workers have to end first

        def shared(items: Iterable[Item]) -> Iterator[Made]:
            ahead = _read_ahead(items, 2 * count * together)
            return _results(started, ahead, start, together, watch)

        yield shared
    except BrokenPipeError:
        _end(started)
        signal.signal(signal.SIGPIPE, leaves)
        os.kill(os.getpid(), signal.SIGPIPE)
        raise
    finally:
        _end(started)
        lifeline.close()
        signal.signal(signal.SIGPIPE, leaves)


def can_fork() -> bool:
    """True if this system can fork processes."""
    return hasattr(os, "fork")


@contextmanager
def _signals_held() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _started(
    work: Work[Item, Made],
    number: int,
    before: Sequence[_Worker],
    watch: Watch | None,
    lifeline: Lifeline,
) -> _Worker:
    from multiprocessing import get_context

    context = get_context("fork")
    try:
        here, there = context.Pipe()
        ours = [*(worker.connection for worker in before), here]
        given = (work, number, there, ours, watch, lifeline)
        process = context.Process(target=_work, args=given, daemon=True)
        process.start()
    except OSError as error:  # no more processes or pipes
        reason = error.strerror or str(error)
        message = f"cannot start a process of `--jobs`: {reason[:1].lower()}{reason[1:]}"
        raise LimitError(Diagnostic("worker-lost", message, help="take fewer jobs")) from None
    there.close()
    return _Worker(number, process, here)


def _work(
    work: Work[Item, Made],
    number: int,
    connection: Connection,
    parents: Sequence[Connection],
    watch: Watch | None,
    lifeline: Lifeline,
) -> None:
    """Run a worker until its parent closes the other end of the connection."""
    lifeline.let_go()
    lifeline.follow()  # a row that does not end would outlive a parent that is killed
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles interrupts
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the parent's way to end it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD)
    for end in parents:
        end.close()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # the parent reads the rows
    os.environ[THREADS] = "1"  # each job has one processor
    limited = nullcontext if watch is None else watch.begin(number)
    try:
        while True:
            made: list[tuple[str, Made | _Failed]] = []
            for item in connection.recv():
                if made and watch is not None:  # a kill would lose it
                    connection.send((made, True))
                    made = []
                with limited():
                    made.append(_done(work, item, made, connection))
            connection.send((made, True))
    except (EOFError, OSError):
        os._exit(0)


def _done(
    work: Work[Item, Made],
    item: Item,
    before: Sequence[tuple[str, Made | _Failed]],
    connection: Connection,
) -> tuple[str, Made | _Failed]:
    """The text that the work writes to standard error, and its result."""

    def leave(made: Made) -> None:
        connection.send(([*before, (said.getvalue(), made)], False))
        os._exit(0)

    with redirect_stderr(StringIO()) as said:
        try:
            found: Made | _Failed = work(item, leave)
        except Exception as error:
            found = _Failed(error)
    return said.getvalue(), found


def _end(started: Sequence[_Worker]) -> None:
    for worker in started:
        worker.connection.close()
        worker.process.terminate()
    for worker in started:
        worker.process.join()


_ENDED = object()


def _read_ahead(items: Iterable[Any], most: int) -> Queue[Any]:
    """A queue of at most `most` items, then `_ENDED` or the error that ended them."""
    queue: Queue[Any] = Queue(most)

    def read() -> None:
        try:
            for item in items:
                queue.put(item)
        except Exception as error:
            queue.put(_Failed(error))
        else:
            queue.put(_ENDED)

    Thread(target=read, daemon=True).start()
    return queue


def _results(
    started: list[_Worker],
    queue: Queue[Any],
    start: Callable[[int], _Worker],
    together: int,
    watch: Watch | None,
) -> Iterator[Any]:
    """The results in order. A worker has one chunk at a time, so that the two sides never wait for
    each other while sending.
    """
    idle, busy = deque(started), deque[tuple[_Worker, list[Any]]]()
    made: list[Any] = []
    end: Any = None
    while end is None or busy or made:
        while idle and end is None:
            chunk, end = _chunk(queue, together, wait=not busy and not made)
            if not chunk:
                break
            _send(idle[0], chunk)
            busy.append((idle.popleft(), chunk))
        for said, outcome in made:
            print_message(said)
            if isinstance(outcome, _Failed):
                raise outcome.error
            yield outcome
        made = []
        if busy:
            worker, chunk = busy.popleft()
            made, stays = _received(worker, chunk[0], watch)
            rest = chunk[len(made) :]
            if not stays:  # its work ended it, or who watches it
                started.remove(worker)
                _end([worker])
                worker = start(worker.number)
                if rest:
                    _send(worker, rest)
            if rest:
                busy.appendleft((worker, rest))
            else:
                idle.append(worker)
    if isinstance(end, _Failed):
        raise end.error


def _chunk(queue: Queue[Any], most: int, *, wait: bool) -> tuple[list[Any], Any]:
    """Items that have been read, and `_ENDED` or an error if there are no more. `wait` waits for
    one.
    """
    chunk: list[Any] = []
    while len(chunk) < most:
        try:
            item = queue.get(block=wait and not chunk)
        except Empty:
            break
        if item is _ENDED or isinstance(item, _Failed):
            return chunk, item
        chunk.append(item)
    return chunk, None


def _send(worker: _Worker, chunk: list[Any]) -> None:
    try:
        worker.connection.send(chunk)
    except OSError:
        raise _lost() from None


def _received(worker: _Worker, item: Any, watch: Watch | None) -> tuple[list[Any], bool]:
    """A worker's results for its next items, the first of which is `item`, and True if it is still
    alive.
    """
    try:
        found: tuple[list[Any], bool] = worker.connection.recv()
    except (EOFError, OSError):
        made = None if watch is None else watch.end(worker.number, item)
        if made is None:
            raise _lost() from None
        return [("", made)], False
    return found


def _lost() -> LimitError:
    message = "a process of `--jobs` ended before its work"
    return LimitError(
        Diagnostic("worker-lost", message, help="memory may have run out: take fewer jobs")
    )
