"""A lesson: the code of a notebook or page, with the text around it and its stored outputs."""

from __future__ import annotations

from typing import Any

from gradcli.record import Record
from gradcli.source import Cell, Source, Span


class Stored(Record):
    """An output that a file has: `kind` is "stream", "result", "error" or "other"."""

    __slots__ = ("kind", "text")
    kind: str
    text: str


class Part(Record):
    """A part of a lesson.

    Fields:
        kind: "text" (Markdown), "code", "program" (a `%%grad` cell, a program of its own), or
            "passed" (a cell of another language).
        text: Its text, as written.
        number: The number of the cell of code, from 1; 0 for text.
        stored: The outputs that the file has for it.
        goes_on: True if an error in it is part of the lesson: its tag is `raises-exception`.
    """

    __slots__ = ("kind", "text", "number", "stored", "goes_on")
    kind: str
    text: str
    number: int
    stored: tuple[Stored, ...]
    goes_on: bool


class Lesson(Source):
    """The code of a lesson as one source with cells.

    Fields:
        parts: All parts, in order.
        written: The text as it is written; that of the program has comments in place of the lines
            which are passed over.
        passed: The lines and cells of other languages, which are passed over.
        notebook: The notebook as JSON; None for a page.
    """

    __slots__ = ("notebook", "parts", "passed", "written")

    def __init__(
        self,
        name: str,
        text: str,
        written: str,
        cells: tuple[Cell, ...],
        parts: tuple[Part, ...],
        passed: tuple[Span, ...],
        notebook: Any = None,
    ) -> None:
        super().__init__(name, text, 1, cells)
        self.written = written
        self.parts, self.passed, self.notebook = parts, passed, notebook

    def line(self, number: int) -> str:
        """Text of a line as it is written, by its number, without its end."""
        start = self.offset(number, 1)
        return self.written[start : start + len(super().line(number))]
