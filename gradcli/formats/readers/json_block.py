"""JSON objects, one a line, that are read together as columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from json import dumps, loads
from json.encoder import encode_basestring
from math import isfinite
from typing import Any

from gradcli.formats.readers.block import Block, Row
from gradcli.formats.readers.float_columns import certain
from gradcli.formats.readers.json_values import json_reader
from gradcli.formats.readers.table import Record
from gradcli.formats.texts.dialect import NOTHING, Dialect, inside
from gradcli.formats.texts.json_text import nested
from gradcli.formats.texts.literal import literal

_KEY = re.compile(rb'"\s*:')  # the end of a key: in a string the quote has a backslash before it
_LONG = re.compile(rb"\d{20}")  # an int that orjson reads as a float, perhaps
_EXACT = 2**53  # ints below it are exact as floats


class JsonBlock(Block):
    """Lines of one JSON object each. Objects with other keys than the first one, or the keys of
    gradcli's own output, need a reading of their own.

    Args:
        name: Their file.
        dialect: Which keys give which inputs.
        lines: The lines; none of them is blank.
        number: The first record's number.
        line: The first record's line in the file.
        names: The inputs whose values are read.
    """

    def __init__(
        self,
        name: str,
        dialect: Dialect,
        lines: bytes,
        number: int,
        line: int,
        names: Collection[str],
    ) -> None:
        self._text = lines
        self._lines = lines.removesuffix(b"\n").split(b"\n")
        super().__init__(name, number, line, len(self._lines))
        self._dialect, self._names = dialect, names

    @property
    def inputs(self) -> frozenset[str]:
        return frozenset(self._paths)

    def _read(self) -> dict[str, Any]:
        import numpy as np

        path_of = self._paths
        nothing = np.full(self.count, np.nan)
        places = [k for k, found in enumerate(self._usual) if found is not None]
        found: dict[str, Any] = {}
        for name in self._names:
            found[name] = nothing
            if name in path_of and places:
                values = [inside(x, path_of[name]) for x in self._usual if x is not None]
                read = _numbers(values)
                found[name] = np.full((self.count, *read.shape[1:]), np.nan)
                found[name][places] = read
        return found

    @cached_property
    def _objects(self) -> list[dict[str, Any] | None]:
        """The objects; None for a line that needs a reading of its own."""
        read = json_reader()
        try:
            found = [*map(read, self._lines)]
        except ValueError:
            found = [_tried(read, line) for line in self._lines]
        if read is not loads and _LONG.search(self._text):
            found = [
                _tried(loads, line) if _LONG.search(line) else x
                for x, line in zip(found, self._lines, strict=True)
            ]
        return [
            x if isinstance(x, dict) and _is_plain(x, line) else None
            for x, line in zip(found, self._lines, strict=True)
        ]

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        """The keys of the first object; none if it is one of gradcli's output."""
        first = next(filter(None, self._objects), {})
        return () if "schema" in first or "row" in first else tuple(first)

    @cached_property
    def _usual(self) -> list[dict[str, Any] | None]:
        """The objects that have the keys of the first, whose order may be another."""
        keys = {*self._keys}
        return [x if x is not None and x.keys() == keys else None for x in self._objects]

    @property
    def _paths(self) -> dict[str, str]:
        """The key, or the keys with dots between them, of each input; none if two give one."""
        named = {self._dialect.name(key): key for key in self._keys}
        if len(named) < len(self._keys):
            return {}
        first = next(filter(None, self._usual), {})
        deep = {n: c for c, n in self._dialect.renamed.items() if "." in c and c not in named}
        return named | {n: c for n, c in deep.items() if inside(first, c) is not NOTHING}

    def texts(self, title: str) -> Any:
        values = self._values(title)
        return None if values is None else [*map(text_of, values)]

    def untold(self, title: str) -> Sequence[int]:
        return [
            place for place, x in enumerate(self._usual) if x is None or inside(x, title) is NOTHING
        ]

    def json(self, title: str) -> Any:
        values = self._values(title)
        return None if values is None else [*map(json_text, values)]

    def _values(self, title: str) -> list[Any] | None:
        """The values of a key, with None for rows that need a reading of their own; None if the
        objects do not have it.
        """
        found = [NOTHING if x is None else inside(x, title) for x in self._usual]
        if title not in self._keys and all(x is NOTHING for x in found):
            return None
        return [None if x is NOTHING else x for x in found]

    def row(self, place: int) -> Row:
        text = self._lines[place].decode("utf-8", "surrogateescape")
        record = Record(self.name, self.line + place, text, [], None)
        return Row(self.number + place, record, None, self._dialect)


def _tried(read: Callable[[bytes], Any], line: bytes) -> Any:
    try:
        return read(line)
    except (ValueError, RecursionError):
        return None


def _is_plain(found: dict[str, Any], line: bytes) -> bool:
    """True if no object in a line has a key twice."""
    count = len(found)
    if line.count(b":") == count:
        return True
    return len(_KEY.findall(line)) == _keys_in(found)


def _keys_in(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_keys_in, value.values()))
    return sum(map(_keys_in, value)) if isinstance(value, list) else 0


def _numbers(values: Sequence[Any]) -> Any:
    """Values as floats, with the records first, and nan for one that needs a reading of its own."""
    import numpy as np

    kinds = {*map(type, values)}
    if kinds <= {int, float}:
        found = [x if type(x) is float or -_EXACT < x < _EXACT else np.nan for x in values]
        return certain(np.array(found, np.float64))
    if kinds == {list}:
        try:
            several = np.array(values)
        except ValueError:  # lists of different lengths
            several = np.array([None])
        if several.dtype.kind in "if":
            if several.dtype.kind == "i":
                several = np.where(np.abs(several) < _EXACT, several, np.nan)
            return certain(several.astype(np.float64))
    plain = [
        x if type(x) is float or (type(x) is int and abs(x) < _EXACT) else np.nan for x in values
    ]
    return certain(np.array(plain, np.float64))


def json_text(value: Any) -> str:
    """A value as JSON; nan and infinities are texts."""
    if type(value) is str:
        return encode_basestring(value)
    if type(value) is int:
        return str(value)
    try:
        return dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return nested(value, lambda item: literal(item, json=True))


def text_of(value: Any) -> str:
    """A value as the text of a cell; a text as it is, and nothing for null."""
    if value is None:
        return ""
    if isinstance(value, float) and not isfinite(value):
        return literal(value)
    return value if isinstance(value, str) else json_text(value)
