"""Positions in the text of a program."""

import re
from itertools import product

import pytest

from gradcli.source import Source

PIECES = ["a", "\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "é"]


@pytest.mark.parametrize("first", ["", *PIECES])
def test_lines_end_at_lf_crlf_and_cr_alone(first):
    for rest in product(PIECES, repeat=3):
        text = first + "".join(rest)
        expected = [0, *(m.end() for m in re.finditer(r"\r\n?|\n", text))]
        assert (text, Source("", text).starts) == (text, expected)


def test_positions_and_offsets_are_inverse():
    text = "a\nbc\r\n\rd\n"
    source = Source("", text, first=3)
    places = [source.position(offset) for offset in range(len(text) + 1)]
    assert places == [
        *((3, 1), (3, 2), (4, 1), (4, 2), (4, 3), (4, 4), (5, 1), (6, 1), (6, 2), (7, 1)),
    ]  # fmt: skip
    assert [source.offset(*place) for place in places] == [*range(len(text) + 1)]
    assert [source.line(number) for number in range(3, 8)] == ["a", "bc", "", "d", ""]
