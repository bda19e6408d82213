"""Parts of tables: files, row groups of Parquet files, ranges of the lines of a CSV."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import IO, NamedTuple

from gradcli.errors import InputError
from gradcli.formats.files.compressed import Opened
from gradcli.formats.files.places import facts, is_url, open_url_buffered
from gradcli.formats.readers.chosen import Choice, ChosenRows
from gradcli.formats.readers.read import is_arrow
from gradcli.formats.readers.rows import Rows, open_rows
from gradcli.formats.texts.dialect import Dialect
from gradcli.formats.texts.refusal import first_names, refused, unreadable

_CHUNK = 2**23  # bytes that are looked at together
_TOGETHER = 2**20  # bytes of records that are counted together
_LINES = (".csv", ".tsv", ".ndjson", ".jsonl")  # files that may be cut between lines
_BLANK = re.compile(  # a line of what Python strips
    rb"^(?:[ \t\r\x0b\x0c\x1c-\x1f]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]"
    rb"|\xe2\x81\x9f|\xe3\x80\x80)*\n",
    re.MULTILINE,
)


class Part(NamedTuple):
    """A part of a table.

    Fields:
        name: The file.
        size, changed: The size of the file in bytes, and what tells that it was changed.
        number: Which part of its file it is, from 0; None for a whole file.
        rows: How many records it has; None if nobody has counted them.
        first: The number of its first record in the whole table; None if it is not known.
        begin, end: The range of bytes, or of row groups.
        head: The bytes of the header at the beginning of the file.
        over: How many lines between the header and its records belong to other parts.
        read: About how many bytes of the file are read, of a part of a file.
    """

    name: str
    size: int
    changed: str
    number: int | None = None
    rows: int | None = None
    first: int | None = 0
    begin: int = 0
    end: int = 0
    head: int = 0
    over: int = 0
    read: int = 0

    @property
    def bytes(self) -> int:
        """About how many bytes are read."""
        return self.size if self.number is None else self.read

    @property
    def title(self) -> str:
        """Its name in messages."""
        return self.name if self.number is None else f"{self.name}, part {self.number}"


def parts_of(
    names: Sequence[str],
    dialect: Dialect,
    most: int | None,
    *,
    counted: bool,
    known: Mapping[str, Sequence[Part]] | None = None,
) -> Iterator[Part]:
    """The parts of some files, in order.

    Args:
        names: The files.
        dialect: How they are written.
        most: About how many bytes a part has, where a file can be cut; None for whole files.
        counted: True to count the records of each part, which reads the whole file unless its
            format has the number.
        known: By file, the parts of an earlier run that was asked the same. A file that has not
            changed is not read again.

    Raises:
        InputError: If a file cannot be read.
    """
    first: int | None = 0
    for name in names:
        before = (known or {}).get(name, ())
        for part in _of_file(name, dialect, most, before, counted=counted):
            yield part._replace(first=first)
            first = None if first is None or part.rows is None else first + part.rows


def _of_file(
    name: str, dialect: Dialect, most: int | None, before: Sequence[Part], *, counted: bool
) -> list[Part]:
    try:
        whole = Part(name, *facts(name))
    except OSError as error:
        raise unreadable(name, error) from None
    if _are_still(before, whole, counted=counted):
        return [*before]
    if is_arrow(name):
        return _of_groups(whole, most)
    is_cut = dialect.encoding is None and os.path.splitext(name)[1].lower() in _LINES
    if most is not None and whole.size > most and is_cut:
        found = _of_lines(whole, dialect, most)
        if found:
            return found
    return [whole._replace(rows=_counted(whole, dialect)) if counted else whole]


def _are_still(before: Sequence[Part], whole: Part, *, counted: bool) -> bool:
    """True if parts are those of a file, which has not changed since. Parts without records are
    not: they may not have been readable.
    """
    numbers = [part.number for part in before]
    if numbers not in ([None], [*range(len(before) or 1)]):
        return False  # none, or those of a file that was named twice
    return all(
        (part.size, part.changed) == (whole.size, whole.changed)
        and part.rows != 0
        and not (counted and part.rows is None)
        for part in before
    )


def _counted(part: Part, dialect: Dialect) -> int:
    """How many records a part has; 0 if it cannot be read, which is told when it is answered."""
    try:
        return count(open_part(part, dialect))
    except InputError:
        return 0


def _of_groups(whole: Part, most: int | None) -> list[Part]:
    """The parts of a Parquet or Arrow file: neighbouring row groups that are small together."""
    from gradcli.formats.files.arrow import row_counts

    groups = row_counts(whole.name)
    rows = [count for count, _ in groups]
    if most is None or not whole.name.lower().endswith(".parquet"):
        return [whole._replace(rows=sum(rows))]
    cuts, size = [0], 0
    for k, (_, more) in enumerate(groups):
        if size and size + more > most:
            cuts.append(k)
            size = 0
        size += more
    if len(cuts) == 1:
        return [whole._replace(rows=sum(rows))]
    sizes = [size for _, size in groups]  # before they were compressed
    found = []
    for number, (begin, end) in enumerate(pairwise([*cuts, len(groups)])):
        read = whole.size * sum(sizes[begin:end]) // (sum(sizes) or 1)
        part = whole._replace(number=number, begin=begin, end=end, read=read)
        found.append(part._replace(rows=sum(rows[begin:end])))
    return found


# lines --------------------------------------------------------------------------------------------


def _of_lines(whole: Part, dialect: Dialect, most: int) -> list[Part]:
    """The parts of a file of lines. There are none if a record may have several lines, because
    there are quotes, or if lines end otherwise than by LF.
    """
    has_quotes = os.path.splitext(whole.name)[1].lower() in (".csv", ".tsv")
    try:
        with _bytes_of(whole.name) as file:
            head = b""
            while has_quotes and dialect.columns is None and not head.strip(b"\xef\xbb\xbf \t\r\n"):
                line = file.readline(_CHUNK)
                if not line:
                    return []
                head += line
            if has_quotes and b'"' in head:
                return []
            return _cut(whole, file, head, most, has_quotes=has_quotes)
    except OSError as error:
        raise unreadable(whole.name, error) from None


def _cut(whole: Part, file: IO[bytes], head: bytes, most: int, *, has_quotes: bool) -> list[Part]:
    found: list[Part] = []
    begin = at = len(head)
    line = over = rows = 0
    while lines := file.read(min(_CHUNK, most)):
        lines += file.readline()
        if has_quotes and b'"' in lines:
            return []
        if lines.startswith(b"["):
            return []  # an array of objects
        if lines.count(b"\r") != lines.count(b"\r\n"):
            return []
        ends = lines.count(b"\n")
        rows += ends - len(_BLANK.findall(lines)) if ends else 0
        if not lines.endswith(b"\n"):  # the last
            last = lines[lines.rfind(b"\n") + 1 :]
            rows += bool(last.decode("utf-8", "surrogateescape").strip())
        line, at = line + ends, at + len(lines)
        if at - begin >= most:
            found.append(_range(whole, len(found), begin, at, len(head), over, rows))
            begin, over, rows = at, line, 0
    if at > begin:
        found.append(_range(whole, len(found), begin, at, len(head), over, rows))
    return found if len(found) > 1 else []


def _range(whole: Part, number: int, begin: int, end: int, head: int, over: int, rows: int) -> Part:
    part = whole._replace(number=number, begin=begin, end=end, head=head, over=over, rows=rows)
    return part._replace(read=end - begin)


class _Range(io.RawIOBase):
    """The first bytes of a file, then a range of it."""

    def __init__(self, file: IO[bytes], part: Part) -> None:
        self._file = file
        self._left = [(0, part.head), (part.begin, part.end)]
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, room: bytearray | memoryview) -> int:  # type: ignore[override]  # any buffer
        while self._left:
            begin, end = self._left[0]
            self._at = max(self._at, begin)
            if self._at < end:
                self._file.seek(self._at)
                data = self._file.read(min(len(room), end - self._at))
                if data:
                    self._at += len(data)
                    room[: len(data)] = data
                    return len(data)
            self._left.pop(0)
        return 0

    def close(self) -> None:
        self._file.close()
        super().close()


def _bytes_of(name: str) -> IO[bytes]:
    return open_url_buffered(name) if is_url(name) else open(name, "rb")


# records ------------------------------------------------------------------------------------------


def open_part(part: Part, dialect: Dialect) -> Rows:
    """The records of a part.

    Raises:
        InputError: If it cannot be read.
    """
    rows = _opened(part, dialect)
    rows.begin(part.first or 0, part.over)
    rows.is_numbered = part.first is not None
    return rows


def chosen_part(part: Part, dialect: Dialect, choice: Choice | None) -> Rows:
    """The records of a part that a choice takes; all without one. Errors as of `open_part`."""
    rows = open_part(part, dialect)
    return rows if choice is None else ChosenRows(rows, choice)


def _opened(part: Part, dialect: Dialect) -> Rows:
    if is_arrow(part.name):
        from gradcli.formats.readers.arrow_rows import ArrowRows

        groups = None if part.number is None else range(part.begin, part.end)
        return ArrowRows(part.name, dialect, groups)
    if part.number is None:
        return open_rows(part.name, None, dialect)
    try:
        stream = io.BufferedReader(_Range(_bytes_of(part.name), part), _TOGETHER)
    except OSError as error:
        raise unreadable(part.name, error) from None
    return Rows(part.name, Opened(stream, part.name, (OSError,), None), dialect)


def count(rows: Rows) -> int:
    """How many records there are, which are read."""
    reading, begun = iter(rows), rows.count
    next(reading, None)
    while rows.block((), _TOGETHER) is not None or next(reading, None) is not None:
        pass
    return rows.count - begun


def check_alike(rows: Rows, form: str, titles: Sequence[str], first: str) -> None:
    """Check that records have the form and the columns of those of the first file.

    Raises:
        InputError: If they do not.
    """
    if rows.form != form:
        raise refused(f"`{rows.name}` is {rows.form}, and `{first}` {form}")
    if form != "ndjson" and {*rows.titles} != {*titles}:
        mine, theirs = (first_names(t) or "none" for t in (rows.titles, titles))
        raise refused(f"`{rows.name}` has the columns {mine}, and `{first}` {theirs}")
