"""Read questions line by line, and write answers so that none waits while more input is awaited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic
from typing import IO, Any

_CHUNK = 1 << 18  # bytes that are read at once
_LONGEST = 1 << 30  # bytes of a line
_FULL = 1 << 16  # characters of answers that are written at once
_PATIENCE = 0.01  # seconds that a finished answer waits for others at most


def lines(stream: Any, rest: Callable[[], object]) -> Iterator[bytes | None]:
    """The lines of a stream without their ends; None for one that is longer than a line may be.

    Args:
        stream: The stream, without a buffer. All that it has is read at once.
        rest: Called before more input is awaited.
    """
    parts: list[bytes] = []
    size = 0
    while rest() or (data := stream.read(_CHUNK)):
        whole, end, last = data.rpartition(b"\n")
        if end:
            first, *others = whole.split(b"\n")
            yield b"".join([*parts, first]) if size <= _LONGEST else None
            yield from others
            parts, size = [], 0
        size += len(last)
        parts = [*parts, last] if size <= _LONGEST else []
    if size:
        yield b"".join(parts) if size <= _LONGEST else None


class Answers:
    """Writes answers, each on a line, several at once if they come fast.

    Args:
        stream: Takes the bytes.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._waiting: list[str] = []
        self._size = 0
        self._last = monotonic()

    def write(self, answer: str) -> None:
        """Write an answer, now or soon.

        Raises:
            OSError: If the stream is closed or its device is full.
        """
        self._waiting.append(answer)
        self._size += len(answer)
        if self._size > _FULL or monotonic() - self._last > _PATIENCE:
            self.flush()

    def flush(self) -> None:
        """Write all answers that wait. Errors as of `write`."""
        if self._waiting:
            text = "\n".join(self._waiting)
            self._waiting, self._size = [], 0
            self._stream.write(f"{text}\n".encode())
            self._stream.flush()
        self._last = monotonic()
