"""Positions of the language server protocol and offsets of gradcli."""

from __future__ import annotations

from lsprotocol.types import Position, Range
from pygls.workspace import PositionCodec

from gradcli.source import Source


class Places:
    """Translates the places of a text. The protocol counts lines from 0, and in a line the units
    of an encoding, which the editor chooses.
    """

    def __init__(self, source: Source, codec: PositionCodec) -> None:
        self._source, self._codec = source, codec

    def offset(self, position: Position) -> int:
        """The offset of a position; of one behind the end of a line, that end."""
        starts = self._source.starts
        if position.line >= len(starts):
            return len(self._source.text)
        line = self._source.line(position.line + 1)
        inside = self._codec.position_from_client_units([line], Position(0, position.character))
        return starts[position.line] + min(inside.character, len(line))

    def position(self, offset: int) -> Position:
        """The position of an offset."""
        number, column = self._source.position(min(offset, len(self._source.text)))
        before = self._source.line(number)[: column - 1]
        return Position(number - 1, self._codec.client_num_units(before))

    def range(self, start: int, end: int) -> Range:
        """The range of a part of the text."""
        return Range(self.position(start), self.position(end))
