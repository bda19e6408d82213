"""Files that are opened by their suffix."""

import bz2
import gzip
import lzma
import os
import zlib

import pytest

from gradcli.formats.files.compressed import open_bytes

TEXT = b"a,b\n1,2\n"
SUFFIXES = {  # how a file is written, and the errors of reading it that are no OSError
    ".gz": (gzip.compress, (EOFError, zlib.error)),
    ".bz2": (bz2.compress, (EOFError,)),
    ".xz": (lzma.compress, (EOFError, lzma.LZMAError)),
    "": (bytes, ()),
}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_suffix_says_how_a_file_is_read(suffix, tmp_path):
    write, failures = SUFFIXES[suffix]
    path = tmp_path / f"rows.csv{suffix}"
    path.write_bytes(write(TEXT))
    found = open_bytes(str(path))
    with found.stream as stream:
        assert stream.read() == TEXT
    assert found.name == str(tmp_path / "rows.csv")
    assert found.failures == (OSError, *failures)
    assert found.size == (None if suffix else len(TEXT))


def test_what_is_no_file_has_no_size():
    with open_bytes(os.devnull).stream as stream:
        assert stream.read() == b""
    assert open_bytes(os.devnull).size is None
    with pytest.raises(OSError, match="nowhere"):
        open_bytes("nowhere.csv")
