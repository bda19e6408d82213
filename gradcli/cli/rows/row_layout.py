"""The layout of answers, so that the output of compiled code is made from its numbers alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.cli.line.query import Question
from gradcli.cli.rows.row_writer import (
    Answer,
    Kept,
    Said,
    Text,
    Together,
    check_flat,
    json_line,
    json_lines,
)
from gradcli.formats.readers.block import Block, Row
from gradcli.formats.texts.float_texts import repeated
from gradcli.formats.texts.json_text import json_object
from gradcli.formats.texts.literal import numbers

if TYPE_CHECKING:
    from gradcli.program import Many

_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|\btrue\b|\bfalse\b)")  # a number in JSON
_SAMPLES = (
    {float: 0.5, int: 3, bool: True},
    {float: -7.25e-9, int: -(2**40), bool: True},
    {float: -0.0, int: 0, bool: True},  # an answer may add 0.0 to a number
)


class RowLayout:
    """The layout of the answers to one question: fixed texts, and places for numbers.

    Args:
        question: The question.
        many: Its compiled code.
        kind: The form, as for `RowWriter`.
        names: The inputs that rows give to this code.
        flat: Kept columns that stand beside the fields of JSON.
    """

    def __init__(
        self, question: Question, many: Many, kind: str, names: frozenset[str], flat: Sequence[str]
    ) -> None:
        self.many, self.names, self._flat = many, names, bool(flat)
        self._question, self._kind = question, kind
        # two answers that differ only in their numbers
        one, other = ([i + part for i in range(len(many.types))] for part in (0.25, 0.75))
        said = self._said(one)
        self._columns = said.columns
        check_flat(flat, said.json)
        self._warnings = many.result(one).warnings
        both = zip(self._texts(one), self._texts(other), strict=True)
        self._places: list[Any] = [a if a == b else int(float(a)) for a, b in both]
        sample = [_SAMPLES[0][type_] for type_ in many.types]
        self._types = [
            str if type(at) is str else _written_as(sample[at], text)
            for at, text in zip(self._places, self._texts(sample), strict=True)
        ]
        self._is_sure = all(
            self._filled(made) == self._texts(made)
            for made in ([by_type[type_] for type_ in many.types] for by_type in _SAMPLES)
        )

    def answer(self, row: Row, kept: Kept, made: Sequence[Any]) -> Answer | Text:
        """The written answer with these numbers."""
        texts = self._filled(made) if self._is_sure else self._texts(made)
        if self._kind == "ndjson":
            line = json_line(row.number, kept, "".join(texts), flat=self._flat)
            return Text(row.number, row.line, 1, line, self._warnings)
        return Answer(
            *(row.number, row.line, kept, self._columns, texts, {}, self._warnings, True, (), 0)
        )

    def together(
        self, block: Block, kept: Mapping[str, Any], results: Sequence[Any], part: slice
    ) -> Together | Text:
        """The written answers to part of a block. `kept` has a column of texts by name."""
        count = part.stop - part.start
        numbers, lines = block.numbers[part], block.lines[part]
        made = [result[part] for result in results]
        own = {name: column[part] for name, column in kept.items()}
        if self._is_sure:
            parts = [
                at if type(at) is str else made[at].astype(type_, copy=False)
                for at, type_ in zip(self._places, self._types, strict=True)
            ]
        else:
            parts = self._written(made)
        if self._kind == "ndjson":
            text = json_lines(numbers, own, parts, flat=self._flat)
            return Text(int(numbers[0]), int(lines[0]), count, text, self._warnings)
        cells = [repeated(part, count) if isinstance(part, str) else part for part in parts]
        return Together(numbers, lines, [*own.values()], self._columns, cells, self._warnings)

    def _written(self, made: Sequence[Any]) -> list[Any]:
        """The texts of answers, each by itself, as columns."""
        rows = zip(*(column.tolist() for column in made), strict=True)
        return [[*texts] for texts in zip(*map(self._texts, rows), strict=True)]

    def _said(self, made: Sequence[Any]) -> Said:
        return Said.of(self._question.parts(self.many.result(made)), self._kind)

    def _texts(self, made: Sequence[Any]) -> list[str]:
        """The cells of an answer, or its JSON split into numbers and other texts."""
        said = self._said(made)
        return _NUMBER.split(json_object(said.json)) if self._kind == "ndjson" else said.cells

    def _filled(self, made: Sequence[Any]) -> list[str]:
        """The texts of an answer, with the numbers filled into the layout."""
        return [
            at if type(at) is str else _text(type_(made[at]))
            for at, type_ in zip(self._places, self._types, strict=True)
        ]


def _written_as(x: Any, text: str) -> type:
    """The type as which a number is written: in a list with a float, ints are written as floats."""
    return next((type_ for type_ in (type(x), int, float) if _text(type_(x)) == text), type(x))


def _text(x: Any) -> str:
    return float.__repr__(x) if type(x) is float else "".join(numbers(x))
