"""Share work among threads; results keep the order of the items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


class _Task(Generic[Item, Made]):
    """Work on an item, and what it gives."""

    def __init__(self, item: Item) -> None:
        self._item = item
        self._over = Event()
        self._made: Made | None = None
        self._error: BaseException | None = None

    def do(self, work: Callable[[Item], Made]) -> None:
        """Do the work."""
        try:
            self._made = work(self._item)
        except BaseException as error:
            self._error = error
        finally:
            self._over.set()

    def result(self) -> Made:
        """The result, once it is there. Raises the error of the work."""
        self._over.wait()
        if self._error is not None:
            raise self._error
        return self._made  # type: ignore[return-value]  # of the work


@contextmanager
def threads(
    work: Callable[[Item], Made], count: int
) -> Iterator[Callable[[Iterable[Item]], Iterator[Made]]]:
    """A function that maps items to results in `count` threads, in order and as soon as possible.
    Another thread reads the items ahead, up to a limit. The threads take no more work once the
    block ends, and do not keep the process from ending.

    Args:
        work: Called in the threads; it pays if it mostly runs without Python's lock.
        count: The number of threads.
    """
    waiting: Queue[_Task[Item, Made] | None] = Queue()
    ordered: Queue[_Task[Item, Made] | Exception | None] = Queue(2 * count)
    ends = Event()

    def run() -> None:
        while (task := waiting.get()) is not None:
            if not ends.is_set():
                task.do(work)

    def read(items: Iterable[Item]) -> None:
        last = None
        try:
            for item in items:
                task: _Task[Item, Made] = _Task(item)
                ordered.put(task)
                waiting.put(task)
                if ends.is_set():
                    return
        except Exception as error:
            last = error
        ordered.put(last)

    def shared(items: Iterable[Item]) -> Iterator[Made]:
        _start(read, items)
        while (task := ordered.get()) is not None:
            if isinstance(task, Exception):
                raise task
            yield task.result()

    for _ in range(count):
        _start(run)
    try:
        yield shared
    finally:
        ends.set()
        with suppress(Empty):
            while True:  # the reader may wait for a place
                ordered.get_nowait()
        for _ in range(count):
            waiting.put(None)


def _start(work: Callable[..., None], *given: Any) -> None:
    Thread(target=work, args=given, daemon=True).start()
