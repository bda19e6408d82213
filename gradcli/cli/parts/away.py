"""The records of a fit with the workers of a cluster, which keep them from step to step."""

from __future__ import annotations

import os
import pickle
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import chdir, nullcontext, redirect_stderr
from functools import lru_cache
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from gradcli.cli.parts.task import version
from gradcli.cli.parts.tasks import Call, Tasks
from gradcli.cli.parts.worker import ALONE, keep_memory, other_version
from gradcli.cli.terminal.failures import usage
from gradcli.errors import GradError
from gradcli.formats.files.places import is_url
from gradcli.formats.readers.parts import Part, chosen_part
from gradcli.formats.readers.whole_table import read_whole
from gradcli.formats.texts.dialect import Dialect
from gradcli.machine import free
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.formats.readers.chosen import Choice

_SHARE = 4  # of the memory of a worker: what it may keep
_BESIDE = 4  # columns that are made beside those that are read
_LEAST = 1 << 16  # bytes of a column that is worth a file
_RUNS = 2  # commands for which a worker keeps records


class Reading(Record):
    """How the parts of a table are read for a fit.

    Fields:
        run: The name of the command.
        names, either: As of `read_whole`.
        skips: True if a bad record is left out.
        dialect: How the files are written.
        choice: Judges which records count; None if all do.
        at: The folder in which names of files begin.
    """

    __slots__ = ("run", "names", "either", "skips", "dialect", "choice", "at")
    run: str
    names: Sequence[str]
    either: Sequence[Collection[str]]
    skips: bool
    dialect: Dialect
    choice: Choice | None
    at: str


# the command --------------------------------------------------------------------------------------


class Away:
    """The records of a fit in parts, with the workers of a cluster.

    Args:
        tasks: The way to the workers.
        reading: How they are read.
        parts: The parts.
    """

    def __init__(self, tasks: Tasks, reading: Reading, parts: Sequence[Part]) -> None:
        self._tasks, self._reading, self._parts = tasks, reading, parts
        self._workers: dict[int, str] = {}  # those that have a part
        self._data: dict[str, bytes] = {}

    def each(self, setup: Any, function: Callable[..., Any], *more: Any) -> Iterator[Any]:
        """The answers of a function to each part, and to more, in the order of the parts.

        Raises:
            GradError: Of the first part that has one; or if the scheduler is lost.
        """
        if setup.name not in self._data:
            self._data[setup.name] = pickle.dumps((setup, self._reading), protocol=5)
        asked = self._data[setup.name], pickle.dumps((function, more), protocol=5)
        waiting: dict[int, Any] = {}
        following = 0
        for k, found in self._tasks.of(self._reading.run, self._calls(*asked)):
            waiting[k] = found
            while following in waiting:
                yield self._content(following, waiting.pop(following))
                following += 1

    def _calls(self, data: bytes, question: bytes) -> Iterator[Call]:
        for k, part in enumerate(self._parts):
            yield Call(k, answer, (data, part, question, version()), self._workers.get(k))

    def _content(self, k: int, found: Any) -> Any:
        """What a worker has answered, as which the part is known from now on."""
        if isinstance(found, GradError):
            raise found
        self._workers[k] = found.worker
        if found.error is not None:
            raise found.error
        return found.content

    def joined(self) -> NoReturn:
        """Refuse to bring all records into this process.

        Raises:
            UsageError: Always.
        """
        help = "leave out `--cluster`"
        raise usage("a model of whole columns cannot be asked part by part", help)


# the workers --------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """What a worker answers: its address, and the content or an error."""

    worker: str
    content: Any
    error: GradError | None


def answer(data: bytes, part: Part, question: bytes, client: str) -> Answer:
    """Ask a part.

    Args:
        data: The setup of the fit and how parts are read, which are loaded once.
        part: The part, which is read unless it is kept.
        question: The function that is asked, and what it takes beside the part.
        client: The version of gradcli that asks.

    Raises:
        InputError: If a store does not answer; another try may succeed.
    """
    from distributed import get_worker

    address = get_worker().address
    other = other_version(client)
    if other is not None:
        return Answer(address, None, other)
    with ALONE, redirect_stderr(StringIO()):
        setup, reading = _loaded(data)
        function, more = pickle.loads(question)
        try:
            with chdir(reading.at) if os.path.isdir(reading.at) else nullcontext():
                share = _KEPT.share(setup, reading, part)
                content = setup.within(lambda: share.ask(0, function, *more))
        except GradError as error:
            if is_url(part.name) and error.diagnostics[0].code == "unreadable-file":
                raise
            return Answer(address, None, error)
    return Answer(address, content, None)


@lru_cache(maxsize=4)
def _loaded(data: bytes) -> tuple[Any, Reading]:
    keep_memory()
    found: tuple[Any, Reading] = pickle.loads(data)
    return found


class _Kept:
    """The parts that this worker keeps: as many as have room in a part of its memory, for the last
    commands that asked. Others are read again at each step.
    """

    def __init__(self) -> None:
        self._runs: OrderedDict[str, dict[tuple[str, int | None], _Read]] = OrderedDict()

    def share(self, setup: Any, reading: Reading, part: Part) -> Any:
        """A part, ready to be compared with a model.

        Raises:
            GradError: If it cannot be read.
        """
        kept = self._runs.setdefault(reading.run, {})
        self._runs.move_to_end(reading.run)
        while len(self._runs) > _RUNS:
            self._runs.popitem(last=False)
        found = kept.get((part.name, part.number))
        if found is None:
            room = max(_memory() // _SHARE - self._bytes, 0)
            found = _Read(reading, part, room)
            if found.bytes <= room:
                kept[part.name, part.number] = found
        return found.share(setup)

    @property
    def _bytes(self) -> int:
        return sum(found.bytes for kept in self._runs.values() for found in kept.values())

    def forget(self, run: str) -> None:
        """Let go of the parts of a command."""
        self._runs.pop(run, None)


class _Read:
    """A part that was read.

    Fields:
        bytes: About what it takes in memory.
    """

    def __init__(self, reading: Reading, part: Part, room: int) -> None:
        columns = len(reading.names) + _BESIDE
        rows = chosen_part(part, reading.dialect, reading.choice)
        most = max(room // columns, _LEAST)
        self._data = read_whole(
            *([rows], reading.names, ()), skips=reading.skips, either=reading.either, most=most
        )
        self.bytes = sum(8 * _size(column) for column in self._data.columns.values())
        self.bytes += 8 * _BESIDE * self._data.count
        self._shares: dict[str, Any] = {}

    def share(self, setup: Any) -> Any:
        """The part as a fit compares it."""
        if setup.name not in self._shares:
            self._shares[setup.name] = setup.share(self._data)
        return self._shares[setup.name]


def _size(column: Any) -> int:
    """How many numbers a column has."""
    found = 1
    for length in column.shape:
        found *= length
    return found


def _memory() -> int:
    """The bytes of memory that this worker may take."""
    from distributed import get_worker

    limit: int | None = get_worker().memory_manager.memory_limit
    return limit or free()


_KEPT = _Kept()


async def forget(run: str) -> None:  # Dask waits for the end of others
    """Let go of the parts of a command."""
    _KEPT.forget(run)
