"""Text in another encoding than UTF-8, which becomes UTF-8 while it is read."""

from __future__ import annotations

import codecs
import re
from typing import IO, Any

_STRANGE = "\udcff"  # as `surrogateescape` decodes the byte 0xff, which is in no UTF-8
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # halves of signs, as UTF-7 may have
_ERRORS = "gradcli.strange"


def is_encoding(name: str) -> bool:
    """True for the name of an encoding of text, such as `latin-1`."""
    try:
        "".encode(name)  # `hex` is one of bytes
        codecs.getincrementaldecoder(name)(_ERRORS).decode(b"a", final=True)
    except (LookupError, ValueError):  # `idna` decodes names of hosts alone
        return False
    return True


class Encoded:
    """A stream of bytes in an encoding, as UTF-8. Bytes that are no text there become a byte that
    is no text in UTF-8, so that readers tell its place.

    Args:
        stream: The stream.
        encoding: The name of its encoding.
    """

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._stream: Any = stream
        self._decoder = codecs.getincrementaldecoder(encoding)(_ERRORS)

    def tell(self) -> int:
        """The place in the stream."""
        found: int = self._stream.tell()
        return found

    def read1(self, most: int) -> bytes:
        """Some bytes of UTF-8; none after the last."""
        while True:
            piece = self._stream.read1(most)
            text = self._decoder.decode(piece, final=not piece)
            if text or not piece:
                return _HALF.sub(_STRANGE, text).encode("utf-8", "surrogateescape")


def _strange(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError), "it is for decoding"
    return _STRANGE, error.end


codecs.register_error(_ERRORS, _strange)
