"""Recognize files that are no UTF-8 text by their first bytes."""

from __future__ import annotations

from gradcli.record import Record

_LOOKED_AT = 64  # bytes


class Signature(Record):
    """The kind of a file, as messages name it, a hint how to convert it, and the encoding of its
    text, if there are any.
    """

    __slots__ = ("kind", "way", "encoding")
    kind: str
    way: str | None
    encoding: str | None


def _encoded(name: str) -> Signature:
    return Signature(name, f"`iconv -f {name} -t UTF-8` converts it", name)


def _packed(name: str, command: str) -> Signature:
    return Signature(f"{name} data", f"unpack it first: `{command}` does", None)


_NUMPY = Signature("a NumPy array", "an array is an input: NAME=@FILE takes it", None)
_OFFICE = Signature("an Office document", "a spreadsheet program saves its sheets as CSV", None)
_FIRST = (  # the longer of two that begin alike comes first
    (b"\xff\xfe\0\0", _encoded("UTF-32")),
    (b"\0\0\xfe\xff", _encoded("UTF-32")),
    (b"\xff\xfe", _encoded("UTF-16")),
    (b"\xfe\xff", _encoded("UTF-16")),
    (b"\x1f\x8b", _packed("gzip", "gunzip")),
    (b"BZh", _packed("bzip2", "bunzip2")),
    (b"\xfd7zXZ\0", _packed("xz", "unxz")),
    (b"\x28\xb5\x2f\xfd", _packed("zstd", "unzstd")),
    (b"PK\x03\x04", _packed("zip", "unzip")),
    (b"\x93NUMPY", _NUMPY),
    (b"\x89PNG", Signature("a PNG image", None, None)),
    (b"\xff\xd8\xff", Signature("a JPEG image", None, None)),
    (b"%PDF", Signature("a PDF document", None, None)),
    (b"\x7fELF", Signature("an executable", None, None)),
)


def signature(data: bytes) -> Signature | None:
    """The kind of a file that is not UTF-8 text; None if its first bytes do not tell.

    Args:
        data: Its bytes, or the first of them.
    """
    if data.startswith(b"PK\x03\x04") and b"[Content_Types].xml" in data[:64]:
        return _OFFICE
    for start, found in _FIRST:
        if data.startswith(start):
            return found
    head = data[:_LOOKED_AT]
    for order, halves in (("LE", head[1::2]), ("BE", head[::2])):
        if len(halves) > 1 and not any(halves) and any(head):
            return _encoded(f"UTF-16{order}")
    return None
