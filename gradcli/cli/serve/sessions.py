"""Sessions of a server: questions from a stream, answers in their order into another."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from gradcli.cli.rows.workers import Watch, workers
from gradcli.cli.serve.streams import Answers, lines
from gradcli.cli.terminal.failures import unreadable
from gradcli.errors import LimitError

if TYPE_CHECKING:
    from gradcli.cli.serve.loaded import Served

_BOM = b"\xef\xbb\xbf"


def on_standard_streams(served: Served) -> None:
    """Answer the questions of standard input until it ends.

    Raises:
        UsageError: If it cannot be read.
    """
    if sys.stdin is None:
        raise unreadable("standard input", "it is closed")
    # a buffer has a lock, which a process that is forked while a thread reads would wait for
    session(served, getattr(sys.stdin.buffer, "raw", sys.stdin.buffer), sys.stdout.buffer)


def session(served: Served, questions: Any, answers: IO[bytes], place: int = 0) -> None:
    """Answer the questions of a stream. If there is a limit that may end the process, another one
    answers, and is replaced where that has happened.

    Args:
        served: What is asked.
        questions: The stream, without a buffer.
        answers: Takes the answers.
        place: The place of the other process among those that are watched.

    Raises:
        UsageError: If the questions cannot be read.
    """
    gc.enable()  # questions make reference cycles, and a server lives long
    service, writer = served.service, Answers(answers)
    if served.table is None:
        for line in _questions(questions, writer.flush):
            writer.write(service.answer(line))
        writer.flush()
        return

    service.prepare()  # each process would count it to its first question

    def answered(line: bytes | None, leave: Callable[[str], None]) -> str:
        return service.answer(line, lambda error: leave(service.failed(line, error)))

    def killed(line: bytes | None, error: LimitError) -> str:
        return service.failed(line, error)

    watch = Watch(served.table, served.limits, killed, place)
    with workers(answered, 1, 1, watch) as shared:
        for answer in shared(_questions(questions, _nothing)):
            writer.write(answer)
            writer.flush()


def _nothing() -> None:
    """Answers are written one by one."""


def _questions(stream: Any, rest: Callable[[], object]) -> Iterator[bytes | None]:
    """The lines that are not blank; None for one that is too long."""
    found = lines(stream, rest)
    try:
        first = next(found, b"")
        for line in chain([first and first.removeprefix(_BOM)], found):
            if line is None or (line and not line.isspace()):
                yield line
    except OSError as error:
        raise unreadable("the questions", error.strerror or str(error)) from None
