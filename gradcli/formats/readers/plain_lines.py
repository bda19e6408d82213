"""Tell lines that hold one record each: no blank ones, no line ends in quotes, no odd quotes."""

from __future__ import annotations

from typing import Any

_QUOTE, _LINE_END, _RETURN = b'"\n\r'
_BLANKS = [*range(ord("\t"), ord("\r") + 1), *range(0x1C, ord(" ") + 1), *range(0x80, 0x100)]


def are_plain(lines: bytes, delimiter: str | None) -> bool:
    """True if each line, up to the next LF, is one record in UTF-8 and its quotes surround cells.

    Args:
        lines: Whole lines.
        delimiter: The text between cells; None for JSON.
    """
    if b"\r" in lines and lines.count(b"\r") != lines.count(b"\r\n"):
        return False
    if not lines.isascii():
        try:
            lines.decode()
        except UnicodeDecodeError:
            return False
    if _may_be_blank(lines) and not all(map(str.strip, _split(lines))):
        return False
    if delimiter is None:
        return True
    is_single = len(delimiter.encode()) == 1
    return is_single and (b'"' not in lines or _quotes_are_regular(lines, ord(delimiter)))


def line_count(lines: bytes) -> int:
    """The number of some lines, the last of which may have no end."""
    import numpy as np  # faster than a method of bytes, and without Python's lock

    ends = np.frombuffer(lines, np.uint8) == _LINE_END
    return int(np.count_nonzero(ends)) + (not lines.endswith(b"\n"))


def _may_be_blank(lines: bytes) -> bool:
    """True if a line begins with white space, or with a sign beyond ASCII, which may be that."""
    import numpy as np

    signs = np.frombuffer(lines, np.uint8)
    is_blank = np.zeros(256, np.bool_)
    is_blank[_BLANKS] = True
    starts = np.flatnonzero(signs[:-1] == _LINE_END) + 1
    return bool(is_blank[signs[0]] or is_blank[signs[starts]].any())


def _split(lines: bytes) -> list[str]:
    return lines.decode().removesuffix("\n").split("\n")


def _quotes_are_regular(lines: bytes, delimiter: int) -> bool:
    """True if each quote opens or closes a whole cell, or is one of two in a quoted cell, and no
    line ends in quotes.
    """
    import numpy as np

    signs, inside = _inside(lines)
    if inside[-1] or (inside & (signs == _LINE_END)).any():
        return False
    places = np.flatnonzero(signs == _QUOTE)
    around = np.concatenate([[_LINE_END], signs, [_LINE_END]])
    before, behind = around[places[::2]], around[places[1::2] + 2]
    opens = (before == delimiter) | (before == _LINE_END) | (before == _QUOTE)
    closes = (
        (behind == delimiter) | (behind == _LINE_END) | (behind == _QUOTE) | (behind == _RETURN)
    )
    return bool(opens.all() and closes.all())


def quoted_places(lines: bytes, delimiter: str, width: int) -> frozenset[int]:
    """The indices of the columns that have quoted cells in some plain lines."""
    import numpy as np

    signs, inside = _inside(lines)
    is_end = ((signs == ord(delimiter)) | (signs == _LINE_END)) & ~inside
    starts = np.concatenate([[0], np.flatnonzero(is_end) + 1])
    starts = starts[starts < len(signs)]
    return frozenset(np.unique(np.flatnonzero(signs[starts] == _QUOTE) % width).tolist())


def _inside(lines: bytes) -> tuple[Any, Any]:
    """The bytes of some lines, and a mask of those in quotes."""
    import numpy as np

    signs = np.frombuffer(lines, np.uint8)
    return signs, (np.cumsum(signs == _QUOTE, dtype=np.uint8) & 1).astype(np.bool_)
