"""Records as a table that grows in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.render.numbers import number
from gradcli.render.text import visible


class Padded:
    """Aligned columns, with numbers on the right. The first record decides their widths, and which
    of them hold texts.

    Args:
        precision: Significant digits of numbers.
    """

    def __init__(self, precision: int) -> None:
        self._precision = precision

    def head(self, names: Sequence[str]) -> str:
        """Keep the header until the first record is written."""
        self._names = names
        self._places: list[str] = []
        return ""

    def record(self, texts: Sequence[str]) -> str:
        """One record; the header comes with the first."""
        shown = [_short(text, self._precision) for text in texts]
        if self._places:
            return self._line(shown)
        for name, text, short in zip(self._names, texts, shown, strict=True):
            wide = self._precision + _AROUND if _is_float(text) else len(short)
            side = ">" if _is_float(text) or _is_int(text) else "<"
            self._places.append(f"{side}{max(len(name), wide)}")
        return self._line(self._names) + self._line(shown)

    def end(self) -> bytes:
        """The bytes after the last record: none."""
        return b""

    def _line(self, texts: Sequence[str]) -> str:
        padded = map(format, texts, self._places)
        return f"{'  '.join(padded).rstrip()}\n"


_AROUND = len("-.e-300")


def _short(text: str, precision: int) -> str:
    """A float for people; anything else as it is."""
    return number(float(text), precision) if _is_float(text) else visible(text)


def _is_int(text: str) -> bool:
    return text.lstrip("+-").isdigit()


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return not _is_int(text)
