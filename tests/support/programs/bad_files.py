"""Wrong files, inputs and outputs with bytes made here, as rows for the table of wrong inputs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import zipfile
from collections.abc import Mapping, Sequence

from support.programs.bad_inputs import BadInput

# files --------------------------------------------------------------------------------------------


def headed(header: bytes, data: bytes = b"", version: int = 1) -> bytes:
    """An `.npy` with any text as its header."""
    size = (len(header) + 1).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes((version, 0)) + size + header + b"\n" + data


def npy(
    shape: str = "()", data: bytes = b"", dtype: str | tuple | list = "<f8", version: int = 1
) -> bytes:
    """An `.npy` whose header and data may disagree."""
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}}}"
    return headed(header.encode(), data, version)


def zipped(members: Mapping[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, how)
    return file.getvalue()


def lying(members: Mapping[str, bytes], offset: int, data: bytes) -> bytes:
    """An archive with other bytes at an offset of its directory's last entry."""
    found = bytearray(zipped(members))
    at = found.rindex(b"PK\x01\x02") + offset
    found[at : at + len(data)] = data
    return bytes(found)


ONE = npy("()", bytes(8))


# rows ---------------------------------------------------------------------------------------------


def line(
    name: str,
    argv: Sequence[str],
    status: int,
    says: str,
    *shows: str,
    stdin: bytes = b"",
    files: Mapping[str, bytes] | None = None,
) -> BadInput:
    """A command line; `says` is completed from the usual message."""
    if "error[" not in says:
        says = f"gradcli: error[bad-input]: {says}"
    return BadInput(name, tuple(argv), status, says, shows, stdin, dict(files or {}))


def program(name: str, data: bytes, *says: str) -> BadInput:
    """Bytes given as a program."""
    return line(name, ["run", "p.grad"], 3, *says, files={"p.grad": data})


def value(name: str, file: str, data: bytes, *says: str) -> BadInput:
    """A file given as a value."""
    return line(name, ["run", "-e", "x", f"x=@{file}"], 4, *says, files={file: data})


def values(name: str, data: bytes, *says: str) -> BadInput:
    """JSON given as values by name."""
    return line(name, ["run", "-e", "x", "-i", "x.json"], 4, *says, files={"x.json": data})


def rows(name: str, data: bytes, *says: str) -> BadInput:
    """Bytes given as rows on standard input."""
    return line(name, ["run", "-e", "x", "--rows", "-"], 4, *says, stdin=data)


# fmt: off
BAD_FILES = [
    # Instead of a program
    program("bytes: two byte order marks", b"\xef\xbb\xbf\xef\xbb\xbf1", "p.grad:1:1: error[bad-character]: the character U+FEFF (zero width no-break space) is not part of the language", "help: it cannot be seen: delete it"),
    program("bytes: UTF-16", "1 + 2".encode("utf-16"), "p.grad:1:1: error[bad-encoding]: this is UTF-16, not UTF-8 text", "help: `iconv -f UTF-16 -t UTF-8` converts it"),
    program("bytes: UTF-16 without a mark", "1 + 2".encode("utf-16-be"), "p.grad:1:1: error[bad-encoding]: this is UTF-16BE, not UTF-8 text", "help: `iconv -f UTF-16BE -t UTF-8` converts it"),
    program("bytes: UTF-32", "1 + 2".encode("utf-32"), "p.grad:1:1: error[bad-encoding]: this is UTF-32, not UTF-8 text", "help: `iconv -f UTF-32 -t UTF-8` converts it"),
    program("bytes: Latin-1 in a comment", b"x = 1  # \xe9", "p.grad:1:10: error[bad-encoding]: byte 0xE9 is not UTF-8"),
    program("bytes: a character cut short", b"x = 1  # \xf0\x9f\x98", "p.grad:1:10: error[bad-encoding]: byte 0xF0 is not UTF-8"),
    program("bytes: a surrogate", b"x = \xed\xa0\x80", "p.grad:1:5: error[bad-encoding]: byte 0xED is not UTF-8"),
    program("bytes: an overlong slash", b"6 \xc0\xaf 2", "p.grad:1:3: error[bad-encoding]: byte 0xC0 is not UTF-8"),
    program("bytes: NUL", b"x = 1\0\nx", "p.grad:1:6: error[bad-character]: a NUL character (U+0000): this is no text"),
    program("bytes: only NUL", bytes(100), "p.grad:1:1: error[bad-character]: a NUL character (U+0000): this is no text"),
    program("bytes: gzip", gzip.compress(b"1"), "p.grad:1:1: error[bad-encoding]: this is gzip data, not UTF-8 text", "help: unpack it first: `gunzip` does"),
    program("bytes: bzip2", bz2.compress(b"1"), "p.grad:1:1: error[bad-encoding]: this is bzip2 data, not UTF-8 text", "help: unpack it first: `bunzip2` does"),
    program("bytes: xz", lzma.compress(b"1"), "p.grad:1:1: error[bad-encoding]: this is xz data, not UTF-8 text", "help: unpack it first: `unxz` does"),
    program("bytes: zip", zipped({"a": b"1"}), "p.grad:1:1: error[bad-encoding]: this is zip data, not UTF-8 text", "help: unpack it first: `unzip` does"),
    program("bytes: PNG", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "p.grad:1:1: error[bad-encoding]: this is a PNG image, not UTF-8 text"),
    program("bytes: JPEG", b"\xff\xd8\xff\xe0\0\x10JFIF", "p.grad:1:1: error[bad-encoding]: this is a JPEG image, not UTF-8 text"),
    program("bytes: PDF", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "p.grad:1:1: error[bad-encoding]: this is a PDF document, not UTF-8 text"),
    program("bytes: an executable", b"\x7fELF\2\1\1" + bytes(9), "p.grad:1:1: error[bad-encoding]: this is an executable, not UTF-8 text"),
    program("bytes: an array for a program", npy("(1,)", bytes(8)), "p.grad:1:1: error[bad-encoding]: this is a NumPy array, not UTF-8 text", "help: an array is an input: NAME=@FILE takes it"),
    program("bytes: a line of a million characters that is wrong at its end", b"1 +" + b" " * 10**6 + b"$", "p.grad:1:1000004: error[bad-character]: `$` is not an operator"),
    program("bytes: an escape", b"x = \x1b[31m1", "p.grad:1:5: error[bad-character]: the character U+001B is not part of the language"),
    program("bytes: a bidi override in a comment", "x = 1  # \u202e".encode(), "p.grad:1:10: error[bad-character]: the character U+202E (right-to-left override) makes text look other than it is", "help: delete it"),
    program("bytes: a bidi isolate in a string", "print(\'\u2066\')".encode(), "p.grad:1:8: error[bad-character]: the character U+2066 (left-to-right isolate) makes text look other than it is", "help: delete it"),
    program("bytes: a zero-width space", "x\u200b = 1".encode(), "p.grad:1:2: error[bad-character]: the character U+200B (zero width space) is not part of the language", "help: it cannot be seen: delete it"),
    program("bytes: a non-breaking space", "x =\u00a01".encode(), "p.grad:1:4: error[bad-character]: the character U+00A0 (no-break space) is not part of the language", "help: put a plain space there"),
    program("bytes: a line separator", "x = 1\u2028y = 2".encode(), "p.grad:1:6: error[bad-character]: the character U+2028 (line separator) is not part of the language", "help: put a plain space there"),
    program("bytes: a character of no script", "x = \ue000".encode(), "p.grad:1:5: error[bad-character]: the character U+E000 is not part of the language"),
    line("bytes: a directory", ['run', '.'], 2, "gradcli: error[unreadable-file]: cannot read `.`: is a directory"),
    line("bytes: no such file", ['run', 'none.grad'], 2, "gradcli: error[unreadable-file]: cannot read `none.grad`: no such file or directory"),
    line("bytes: a file for a folder", ['run', 'f/p.grad'], 2, "gradcli: error[unreadable-file]: cannot read `f/p.grad`: not a directory", files={"f": b"1"}),
    line("bytes: a name too long", ['run', "a" * 300 + ".grad"], 2, f'gradcli: error[unreadable-file]: cannot read `{"a" * 300}.grad`: file name too long'),
    line("bytes: a name with an escape, a bidi override and a line end", ['run', '\x1b[31m\u202e\n.grad'], 2, "gradcli: error[unreadable-file]: cannot read `\\x1b[31m\\u202e\\n.grad`: no such file or directory"),
    line("bytes: a wrong program of such a name", ['run', '\x1b[31m\u202e\n.grad'], 3, "\\x1b[31m\\u202e\\n.grad:1:4: error[syntax-error]: expected a value, got the end of the text", files={"\x1b[31m\u202e\n.grad": b"1 +"}),
    line("bytes: a name with NUL", ['run', 'a\x00.grad'], 2, "gradcli: error[unreadable-file]: cannot read `a\\x00.grad`: the name holds a null character"),
    line("bytes: half a character in a name", ['run', '\ud800.grad'], 2, "gradcli: error[unreadable-file]: cannot read `\\ud800.grad`: the name holds half a character"),
    line("bytes: half a character in -e", ['run', '-e', "'\ud800'"], 3, "<expr>:1:2: error[bad-encoding]: byte 0xED is not UTF-8"),
    line("bytes: no end", ['run', '/dev/zero'], 2, "gradcli: error[unreadable-file]: cannot read `/dev/zero`: longer than 64 MiB"),
    line("bytes: rows without end", ['run', '-e', 'x', '--rows', '/dev/zero'], 4, "`/dev/zero`, line 1: longer than 64 MiB", "help: a line or record so long is a mistake; is a line end missing?"),
    line("bytes: a file that cannot be read", ['run', '/proc/self/mem'], 2, "gradcli: error[unreadable-file]: cannot read `/proc/self/mem`: input/output error"),
    line("bytes: an input that cannot be read", ['run', '-e', 'x', 'x=@/proc/self/mem'], 4, "gradcli: error[unreadable-file]: cannot read `/proc/self/mem`: input/output error"),
    line("bytes: rows that cannot be read", ['run', '-e', 'x', '--rows', '/proc/self/mem'], 4, "gradcli: error[unreadable-file]: cannot read `/proc/self/mem`: input/output error"),
    # NumPy's files
    value("npy: empty file", "x.npy", b"", "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: the magic alone", "x.npy", b"\x93NUMPY", "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: half a header", "x.npy", npy("(1,)", b"")[:40], "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: a version of the future", "x.npy", b"\x93NUMPY\x09\0" + bytes(90), "`x.npy` is an .npy of version 9.0, not 1 or 2"),
    value("npy: version 3", "x.npy", npy("(1,)", bytes(8), version=3), "`x.npy` is an .npy of version 3.0, not 1 or 2"),
    value("npy: a header of four gigabytes", "x.npy", b"\x93NUMPY\2\0\xff\xff\xff\xff{", "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: 10**12 elements", "x.npy", npy("(10**12,)".replace("10**12", str(10**12)), bytes(64)), "`x.npy` is cut short or broken: its header announces 8000000000000 bytes, and 64 follow"),
    value("npy: less than none", "x.npy", npy("(-1,)", bytes(64)), "`x.npy` is not a valid .npy file: its shape is broken"),
    value("npy: twice less than none", "x.npy", npy("(-2, -4)", bytes(64)), "`x.npy` is not a valid .npy file: its shape is broken"),
    value("npy: nothing, of too many columns", "x.npy", npy(f"(0, {10**21})"), "`x.npy` is not a valid .npy file: its shape is broken"),
    value("npy: nothing, of columns whose product is too large", "x.npy", npy("(0, " + f"{10**9}, " * 9 + ")"), "`x.npy` is not a valid .npy file: its shape is broken"),
    value("npy: 65 axes", "x.npy", npy("(" + "1, " * 65 + ")", bytes(8)), "`x.npy` is not a valid .npy file: its shape is broken"),
    value("npy: a size that is a truth value", "x.npy", npy("(True,)", bytes(8)), "`x.npy` is not a valid .npy file: its shape is broken"),
    value("npy: a size that is a text", "x.npy", npy("('1',)", bytes(8)), "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: a shape that is a number", "x.npy", npy("1", bytes(8)), "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: less data than its header tells", "x.npy", npy("(8,)", bytes(10)), "`x.npy` is cut short or broken: its header announces 64 bytes, and 10 follow"),
    value("npy: more data than its header tells", "x.npy", npy("(1,)", bytes(16)), "`x.npy` is cut short or broken: its header announces 8 bytes, and 16 follow"),
    value("npy: pickled objects", "x.npy", npy("(1,)", pickle.dumps([1]), "|O"), "`x.npy` holds pickled objects, which are not read"),
    value("npy: a pickle", "x.npy", pickle.dumps([1.0]), "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: records", "x.npy", npy("(1,)", bytes(8), [("a", "<f8")]), "`x.npy` holds records, not numbers"),
    value("npy: records of objects", "x.npy", npy("(1,)", bytes(8), [("a", "|O")]), "`x.npy` holds pickled objects, which are not read"),
    value("npy: a dtype of a dtype", "x.npy", npy("(1,)", bytes(16), ("<f8", (10**9,))), "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: complex numbers", "x.npy", npy("(1,)", bytes(16), "<c16"), "`x.npy` holds complex numbers, not numbers"),
    value("npy: texts", "x.npy", npy("(1,)", bytes(12), "<U3"), "`x.npy` holds texts, not numbers"),
    value("npy: texts of no letters", "x.npy", npy(f"({10**12},)", b"", "|S0"), "`x.npy` holds texts, not numbers"),
    value("npy: dates", "x.npy", npy("(1,)", bytes(8), "<M8[s]"), "`x.npy` holds dates, not numbers"),
    value("npy: a dtype that is not there", "x.npy", npy("(1,)", bytes(8), "<q9"), "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: ints of more than 64 bits", "x.npy", npy("(1,)", b"\xff" * 8, "<u8"), "<expr>:1:1: error[bad-input]: `x` gets an int of more than 64 bits"),
    value("npy: code for a header", "x.npy", headed(b"__import__('os').system('false')"), "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: a header that nests", "x.npy", npy("(" * 5000 + ")" * 5000), "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: a header of NUL", "x.npy", headed(bytes(70)), "`x.npy` is not a valid .npy file: its header is broken"),
    value("npy: another key in the header", "x.npy", headed(b"{'descr': '<f8', 'fortran_order': False, 'shape': (), 'a': 1}"), "`x.npy` is not a valid .npy file: its header is broken"),
    value("npz: empty file", "x.npz", b"", "`x.npz` is not a valid .npz file"),
    value("npz: no archive", "x.npz", b"PK but not so", "`x.npz` is not a valid .npz file"),
    value("npz: no array", "x.npz", zipped({"a.txt": b"1"}), "`x.npz` holds no array"),
    value("npz: two arrays and no key", "x.npz", zipped({"a.npy": ONE, "b.npy": ONE}), "`x.npz` needs a key", "help: write @x.npz:KEY, of a, b"),
    value("npz: two hundred arrays and no key", "x.npz", zipped({f"a{n}.npy": ONE for n in range(200)}), "`x.npz` needs a key", "help: write @x.npz:KEY, of a0, a1, a2, a3, a4, a5, a6, a7, ..."),
    line("npz: a key that is not there", ['run', '-e', 'x', 'x=@x.npz:c'], 4, "`x.npz` has no array `c`", "help: write @x.npz:KEY, of a", files={"x.npz": zipped({"a.npy": ONE})}),
    value("npz: a key with an escape and a line end", "x.npz", zipped({"\x1b[31m\n.npy": ONE, "b.npy": ONE}), "`x.npz` needs a key", "help: write @x.npz:KEY, of \\x1b[31m\\n, b"),
    value("npz: cut short", "x.npz", zipped({"a.npy": ONE})[:-30], "`x.npz` is not a valid .npz file"),
    value("npz: a wrong checksum", "x.npz", zipped({"a.npy": ONE}, zipfile.ZIP_STORED).replace(ONE, ONE[:-1] + b"1"), "`x.npz` is not a valid .npz file"),
    value("npz: an archive in the archive", "x.npz", zipped({"a.npy": zipped({"b.npy": ONE})}), "`x.npz:a` is not a valid .npy file: its header is broken"),
    value("npz: pickled objects", "x.npz", zipped({"a.npy": npy("(1,)", b"N.", "|O")}), "`x.npz:a` holds pickled objects, which are not read"),
    value("npz: 10**12 elements", "x.npz", zipped({"a.npy": npy(f"({10**12},)", bytes(64))}), "`x.npz:a` is cut short or broken: its header announces 8000000000000 bytes, and 64 follow"),
    value("npz: encrypted", "x.npz", lying({"a.npy": ONE}, 8, b"\1"), "`x.npz` is encrypted, which is not read"),
    value("npz: a size that lies", "x.npz", lying({"a.npy": ONE}, 24, (2**31 - 1).to_bytes(4, "little")), "`x.npz:a` is cut short or broken: its header announces 8 bytes, and 2147483583 follow"),
    value("npz: a member of four gigabytes", "x.npz", lying({"a.npy": ONE}, 24, (2**32 - 2).to_bytes(4, "little")), "`a` in `x.npz` is 4294967294 bytes long"),
    value("npz: a member behind the end", "x.npz", lying({"a.npy": ONE}, 42, (10**6).to_bytes(4, "little")), "`x.npz` is not a valid .npz file"),
    line("npy: for -i", ['run', '-e', 'x', '-i', 'x.npy'], 4, "`-i` takes no .npy, whose array has no name", "help: write NAME=@x.npy", files={"x.npy": ONE}),
    # Compressed, and other encodings
    line("compressed: gzip for rows", ['run', '-e', 'x', '--rows', 'x.csv'], 4, "`x.csv` is gzip data, not UTF-8 text", "help: unpack it first: `gunzip` does", files={"x.csv": gzip.compress(b"x\n1\n")}),
    line("compressed: bzip2 for rows", ['run', '-e', 'x', '--rows', 'x.csv'], 4, "`x.csv` is bzip2 data, not UTF-8 text", "help: unpack it first: `bunzip2` does", files={"x.csv": bz2.compress(b"x\n1\n")}),
    line("compressed: xz for rows", ['run', '-e', 'x', '--rows', 'x.csv'], 4, "`x.csv` is xz data, not UTF-8 text", "help: unpack it first: `unxz` does", files={"x.csv": lzma.compress(b"x\n1\n")}),
    value("compressed: gzip for a column", "x.csv", gzip.compress(b"x\n1\n"), "`x.csv` is gzip data, not UTF-8 text", "help: unpack it first: `gunzip` does"),
    value("compressed: gzip for JSON", "x.json", gzip.compress(b"[1]"), "`x.json` is gzip data, not UTF-8 text", "help: unpack it first: `gunzip` does"),
    values("compressed: gzip for values", gzip.compress(b"{}"), "`x.json` is gzip data, not UTF-8 text", "help: unpack it first: `gunzip` does"),
    rows("compressed: gzip on standard input", gzip.compress(b"x\n1\n"), "`<stdin>` is gzip data, not UTF-8 text", "help: unpack it first: `gunzip` does"),
    line("compressed: zip for rows", ['run', '-e', 'x', '--rows', 'x.csv'], 4, "`x.csv` is zip data, not UTF-8 text", "help: unpack it first: `unzip` does", files={"x.csv": zipped({"a.csv": b"x"})}),
    value("encoding: UTF-16 for a column", "x.csv", "x\n1\n".encode("utf-16"), "`x.csv` is UTF-16, not UTF-8 text", "help: `iconv -f UTF-16 -t UTF-8` converts it"),
    rows("encoding: UTF-16 for rows", "x\n1\n".encode("utf-16"), "`<stdin>` is UTF-16, not UTF-8 text", "help: `--encoding UTF-16` reads it"),
    value("encoding: Latin-1 in a column", "x.csv", b"x\n\xe9\n", "x.csv:2:1: error[bad-input]: the byte 0xe9 is not UTF-8 text"),
    rows("encoding: Latin-1 in a row", b"x\n1\n\xe9\n", "<stdin>:3:1: error[bad-input]: the byte 0xe9 is not UTF-8 text"),
    value("encoding: Latin-1 in JSON", "x.json", b"[\"\xe9\"]", "x.json:1:3: error[bad-input]: the byte 0xe9 is not UTF-8 text"),
    value("kind: a PNG", "x.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "`x.txt` is a PNG image, not UTF-8 text"),
    # JSON
    value("json: nothing", "x.json", b'', "x.json:1:1: error[bad-input]: this is not valid JSON: it ends too early"),
    value("json: an open list", "x.json", b'[1, 2', "x.json:1:5: error[bad-input]: this is not valid JSON: it ends too early"),
    value("json: an open object", "x.json", b'{"a": 1', "x.json:1:7: error[bad-input]: this is not valid JSON: it ends too early"),
    value("json: an open string", "x.json", b'["a', "x.json:1:2: error[bad-input]: this is not valid JSON: unterminated string"),
    value("json: a comma too many", "x.json", b'[1, 2,]', "x.json:1:7: error[bad-input]: this is not valid JSON: expecting value"),
    value("json: a bracket too many", "x.json", b'[1]]', "x.json:1:4: error[bad-input]: this is not valid JSON: extra data"),
    value("json: a bare word", "x.json", b'nul', "x.json:1:1: error[bad-input]: this is not valid JSON: expecting value"),
    value("json: two values", "x.json", b'[1] [2]', "x.json:1:5: error[bad-input]: this is not valid JSON: extra data"),
    value("json: a hexadecimal number", "x.json", b'[0x1]', "x.json:1:3: error[bad-input]: this is not valid JSON: expecting `,` delimiter"),
    value("json: a number with a zero in front", "x.json", b'[01]', "x.json:1:3: error[bad-input]: this is not valid JSON: expecting `,` delimiter"),
    value("json: single quotes", "x.json", b"['a']", "x.json:1:2: error[bad-input]: this is not valid JSON: expecting value"),
    value("json: a comment", "x.json", b'// c\n[1]', "x.json:1:1: error[bad-input]: this is not valid JSON: expecting value"),
    value("json: a number beyond a float", "x.json", b'[1, 1e999]', "x.json:1:5: error[bad-input]: `1e999` is too large for a float"),
    value("json: 400 digits", "x.json", b'[9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999]', "x.json:1:2: error[bad-input]: `99999999999999999999...` is too large for a float"),
    value("json: a text", "x.json", b'"a"', "<expr>:1:1: error[bad-input]: `x` needs a number or tensor, got a string"),
    value("json: a text in a list", "x.json", b'[1, "a"]', "<expr>:1:1: error[bad-input]: x=@x.json: a string in a list cannot become part of a tensor"),
    value("json: null", "x.json", b'null', "<expr>:1:1: error[bad-input]: `x` needs a number or tensor, got None"),
    value("json: null in a list", "x.json", b'[1, null]', "<expr>:1:1: error[bad-input]: x=@x.json: None in a list cannot become part of a tensor"),
    value("json: an object", "x.json", b'{"a": 1}', "<expr>:1:1: error[bad-input]: `x` needs a number or tensor, got a dictionary"),
    value("json: a ragged list", "x.json", b'[[1], [2, 3]]', "<expr>:1:1: error[bad-input]: x=@x.json: a list becomes a tensor only if its rows are of one shape, got a list of 1 and a list of 2"),
    value("json: a raw line end in a string", "x.json", b'["\n"]', "x.json:1:3: error[bad-input]: this is not valid JSON: invalid control character"),
    value("json: an escape cut short", "x.json", b'["\\u12"]', "x.json:1:4: error[bad-input]: this is not valid JSON: invalid \\uXXXX escape"),
    value("json: a key twice", "x.json", b'{"a": 1, "a": 2}', "`x.json` has an object with two keys `a`", "help: give each value its own name"),
    value("json: a hundred thousand brackets", "x.json", b"[" * 10**5, "the JSON in `x.json` nests too deeply"),
    value("json: a list in a list, 2,000 times", "x.json", b"[" * 2000 + b"]" * 2000, "the JSON in `x.json` nests too deeply"),
    value("json: NUL behind", "x.json", b"[1]\0", "x.json:1:4: error[bad-input]: this is not valid JSON: extra data"),
    value("json: 100 axes", "x.json", b"[" * 100 + b"1" + b"]" * 100, "<expr>:1:1: error[bad-input]: x=@x.json: a tensor has at most 64 dimensions"),
    values("values: nothing", b'', "x.json:1:1: error[bad-input]: this is not valid JSON: it ends too early"),
    values("values: a list", b'[1]', "`x.json` must be a JSON object of values, it is not an object"),
    values("values: a number", b'1', "`x.json` must be a JSON object of values, it is not an object"),
    values("values: a key that is no input", b'{"y": 1}', "gradcli: error[unknown-input]: the program has no input `y`", "help: its inputs are x"),
    values("values: a key that is nearly an input", b'{"X": 1}', "gradcli: error[unknown-input]: the program has no input `X`", "help: did you mean `x`?"),
    values("values: a key twice", b'{"x": 1, "x": 2}', "`x.json` has an object with two keys `x`", "help: give each value its own name"),
    values("values: a key with an escape and a line end", b'{"\\u001b[31m\\nerror": 1}', "gradcli: error[unknown-input]: the program has no input `\\x1b[31m\\nerror`", "note: given as \\x1b[31m\\nerror in x.json", "help: its inputs are x"),
    values("values: what another gradcli printed, without values", b'{"schema": "gradcli.check/1"}', "`x.json` is the gradcli.check/1 of gradcli, which has no `values`", "help: `gradcli run --json` prints them"),
    values("values: an object for a number", b'{"x": {}}', "<expr>:1:1: error[bad-input]: `x` needs a number or tensor, got a dictionary"),
    values("values: null", b'{"x": null}', "<expr>:1:1: error[bad-input]: `x` needs a number or tensor, got None"),
    # Rows
    rows("rows: a short row", b'x,y\n1,2\n3\n', "<stdin>:3:2: error[bad-input]: 1 cell, and the header has 2"),
    rows("rows: a long row", b'x,y\n1,2,3\n', "<stdin>:2:5: error[bad-input]: 3 cells, and the header has 2", "help: put a cell that holds the separator in quotes"),
    rows("rows: an empty cell", b'x,y\n,2\n', "<stdin>:2:1: error[bad-input]: the cell in column `x` is empty", "help: leave the record out, or write `nan`"),
    rows("rows: nothing but commas", b'x,y\n,\n', "<stdin>:2:1: error[bad-input]: the cell in column `x` is empty", "help: leave the record out, or write `nan`"),
    rows("rows: a quoted nothing", b'x\n""\n', "<stdin>:2:1: error[bad-input]: the cell in column `x` is empty", "help: leave the record out, or write `nan`"),
    rows("rows: a word", b'x\n1\noops\n', "<stdin>:3:1: error[bad-input]: `oops` in column `x` is not a number"),
    rows("rows: a decimal comma", b'x\n"1,5"\n', "<stdin>:2:1: error[bad-input]: `1,5` in column `x` is not a number", "help: write decimals after a point"),
    rows("rows: a hexadecimal number", b'x\n0x10\n', "<stdin>:2:1: error[bad-input]: `0x10` in column `x` is not a number"),
    rows("rows: digits of another script", b'x\n\xd9\xa1\n', "<stdin>:2:1: error[bad-input]: `\u0661` in column `x` is not a number"),
    rows("rows: underscores", b'x\n1_000\n', "<stdin>:2:1: error[bad-input]: `1_000` in column `x` is not a number"),
    rows("rows: beyond a float", b'x\n1e999\n', "<stdin>:2:1: error[bad-input]: `1e999` in column `x` is too large for a float"),
    rows("rows: 5,000 digits", b'x\n99999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999\n', "<stdin>:2:1: error[bad-input]: `9999999999999999999999999999999999999999` in column `x` is too large for a float"),
    rows("rows: an open quote", b'x\n"1\n', "<stdin>:2:1: error[bad-input]: a quote is not closed"),
    rows("rows: an escape", b'x\n\x1b[31m\n', "<stdin>:2:1: error[bad-input]: `\\x1b[31m` in column `x` is not a number", "note: in row 0, line 2"),
    rows("rows: a bidi override", b'x\n\xe2\x80\xae1\n', "<stdin>:2:1: error[bad-input]: `\\u202e1` in column `x` is not a number"),
    rows("rows: a column with an escape and a line end", b'"\x1b[31m\nx"\n1\n', "gradcli: error[unknown-input]: no column of `<stdin>` is an input of the program", "note: the columns are \\x1b[31m\\nx", "note: the program has x"),
    rows("rows: two columns of one name", b'x,x\n1,2\n', "<stdin>:1:3: error[bad-input]: two columns `x`", "help: give each column its own name"),
    rows("rows: another column", b'y\n1\n', "gradcli: error[unknown-input]: no column of `<stdin>` is an input of the program"),
    rows("rows: nearly the column", b'X\n1\n', "gradcli: error[unknown-input]: no column of `<stdin>` is an input of the program"),
    rows("rows: semicolons", b'x;y\n1;2\n', "<stdin>:1:2: error[bad-input]: the header is one column with `;` in it", "help: separate cells by commas: `tr ';' ,` makes a CSV of it"),
    rows("rows: NUL in the header", b'x\x00\n1\n', "gradcli: error[unknown-input]: no column of `<stdin>` is an input of the program"),
    rows("rows: NUL in a cell", b'x\n1\x00\n', "<stdin>:2:1: error[bad-input]: `1\\x00` in column `x` is not a number"),
    rows("rows: an open list", b'x\n"[1, 2"\n', "<stdin>:2:1: error[bad-input]: a list is not closed"),
    rows("rows: a list too deep", b'x\n[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n', "<stdin>:2:65: error[bad-input]: more than 64 lists in each other"),
    rows("rows: elements missing", b'x.0,x.2\n1,2\n', "<stdin>:1:1: error[bad-input]: the columns `x.0`, `x.2` are not all elements of an array `x`", "help: `x.0` is the first element"),
    rows("rows: 65 MiB in one", b"x\n" + b"1" * 2**26 + b"1", "`<stdin>`, line 2: longer than 64 MiB", "help: a line or record so long is a mistake; is a line end missing?"),
    line("rows: an empty CSV", ['run', '-e', 'x', '--rows', 'x.csv'], 4, "`x.csv` is empty: it has no header", files={"x.csv": b""}),
    rows("json lines: cut short", b'{"x": 1}\n{"x":\n', "<stdin>:2:5: error[bad-input]: this is not valid JSON: it ends too early"),
    rows("json lines: a list a line", b'[1]\n', "the JSON in `<stdin>` is an array, but not of objects", "help: objects give values by name"),
    rows("a JSON array: cut short", b'[{"x": 1},\n{"x": 2}\n', "<stdin>:2:9: error[bad-input]: the array is not closed: its `]` is missing", "help: the text may be cut short"),
    rows("json lines: two objects a line", b'{"x": 1}{"x": 2}\n', "<stdin>:1:9: error[bad-input]: this is not valid JSON: extra data"),
    rows("json lines: an object over lines", b'{\n"x": 1\n}\n', "the JSON in `<stdin>` is not one object a line", "help: `jq -c .` writes an object so"),
    rows("json lines: a list behind objects", b'{"x": 1}\n[1]\n', "<stdin>:2:1: error[bad-input]: a row is a JSON object", 'help: write values by name, as in {"x": 1}'),
    rows("json lines: a key twice", b'{"x": 1, "x": 2}\n', "`<stdin>` has an object with two keys `x`", "help: give each value its own name"),
    rows("json lines: another key", b'{"y": 1}\n', "<stdin>:1:1: error[unknown-input]: no key of this row is an input of the program"),
    rows("json lines: nothing in it", b'{}\n', "<expr>:1:1: error[missing-input]: input `x` has no value", "help: add x=VALUE"),
    rows("json lines: null", b'{"x": null}\n', "<stdin>:1:7: error[bad-input]: null for `x` is not a number"),
    rows("json lines: a text", b'{"x": "a"}\n', "<stdin>:1:7: error[bad-input]: `a` for `x` is not a number"),
    rows("json lines: an object", b'{"x": {"a": 1}}\n', "<stdin>:1:7: error[bad-input]: an object for `x` is not a number"),
    rows("json lines: beyond a float", b'{"x": 1e999}\n', "<stdin>:1:7: error[bad-input]: `1e999` is too large for a float"),
    rows("json lines: 400 digits", b'{"x": 9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999}\n', "<stdin>:1:7: error[bad-input]: `99999999999999999999...` is too large for a float"),
    rows("json lines: an error of another gradcli", b'{"row": 0, "error": {"message": "\\u001b[31mbad"}}\n', "<stdin>:1:1: error[bad-input]: this row is an error of an earlier gradcli: \\x1b[31mbad"),
    rows("json lines: a hundred thousand brackets", b'{"x": ' + b"[" * 10**5 + b"\n", "the JSON in `<stdin>` nests too deeply"),
    # Too many dimensions
    *(
        line(f"65 dimensions: {text}", ["run", "-e", text], 5, f"<expr>:1:{column}: error[bad-argument]: a tensor has at most 64 dimensions")
        for text, column in [
            ("ones([1] * 65)", 1), ("ones([1] * 64).unsqueeze(0)", 1), ("ones(1).reshape([1] * 65)", 1),
            ("stack([ones([1] * 64)])", 1), ("ones(1).expand([1] * 65)", 1), ("ones([1] * 64)[None]", 1),
        ]
    ),
    line("65 dimensions: a Jacobian's passes together", ["jacobian", "-e", "x * x", "x=ones([1] * 64)"], 5, "gradcli: error[bad-argument]: a tensor has at most 64 dimensions"),
    # Numbers between blanks
    value("txt: words", "x.txt", b'a b\n', "x.txt:1:1: error[bad-input]: `a` is not a number"),
    value("txt: one word", "x.txt", b'a\n', "x.txt:1:1: error[bad-input]: `a` is not a number"),
    value("txt: lines of several lengths", "x.txt", b'1 2\n3\n', "x.txt:2:1: error[bad-input]: `x.txt` has lines of 2 numbers and of others"),
    value("txt: a comma", "x.txt", b'1,2\n', "x.txt:1:1: error[bad-input]: `1,2` is not a number", "help: write decimals after a point"),
    value("txt: only comments", "x.txt", b'# c\n', "`x.txt` holds no number"),
    value("txt: an escape", "x.txt", b'1 \x1b[0m\n', "x.txt:1:3: error[bad-input]: `\\x1b[0m` is not a number"),
    value("txt: beyond a float", "x.txt", b'1e999\n', "x.txt:1:1: error[bad-input]: `1e999` is too large for a float"),
    value("no suffix: one word", "x", b"a", "x:1:1: error[bad-input]: `a` is not a number"),
    value("no suffix: nothing", "x", b"", "`x` is empty"),
    value("csv: beyond a float", "x.csv", b"1e999\n", "x.csv:1:1: error[bad-input]: `1e999` in column `0` is too large for a float"),
    # What the command line names
    line("input: a directory", ['run', '-e', 'x', 'x=@.'], 4, "gradcli: error[unreadable-file]: cannot read `.`: is a directory"),
    line("input: no such file", ['run', '-e', 'x', 'x=@none.csv'], 4, "gradcli: error[unreadable-file]: cannot read `none.csv`: no such file or directory"),
    line("input: no file's name", ['run', '-e', 'x', 'x=@'], 4, "a file's name is missing behind `@`", "help: write NAME=@FILE, or NAME=@- for standard input"),
    line("input: a key where none can be", ['run', '-e', 'x', 'x=@x.txt:a'], 4, "`.txt` takes no key, and `a` is one", "help: write @x.txt", files={"x.txt": b"1"}),
    line("input: no such column", ['run', '-e', 'x', 'x=@x.csv:b'], 4, "`x.csv` has no column `b`", "help: it has a", files={"x.csv": b"a\n1\n"}),
    line("input: both read standard input", ['run', '-e', 'x + y', 'x=@-', 'y=@-'], 2, "gradcli: error[usage]: `x=@-` and `y=@-` both read standard input"),
    line("input: the program and an input read standard input", ['run', 'x=@-'], 2, "gradcli: error[usage]: the program and `x=@-` both read standard input", "help: name a FILE"),
    line("input: the program's own file for a value", ['run', 'p.grad', 'x=@p.grad'], 4, "p.grad:2:1: error[bad-input]: `x` in column `input x = 1.0` is not a number", files={"p.grad": b"input x = 1.0\nx"}),
    line("output: no folder", ['run', '-e', '1', '-o', 'none/x.json'], 2, "gradcli: error[unwritable-output]: cannot write `none/x.json`: no such file or directory"),
    line("output: no suffix", ['run', '-e', '1', '-o', 'x'], 2, "gradcli: error[usage]: `x` does not say what to write: its suffix is missing", "help: known suffixes are .json, .ndjson, .csv, .tsv, .md, .npy, .npz, .parquet, .arrow, .html, .ipynb, .txt; or give `-f`"),
    line("output: an unknown suffix", ['run', '-e', '1', '-o', 'x.exe'], 2, "gradcli: error[usage]: `x.exe` does not say what to write: its suffix is `.exe`", "help: known suffixes are .json, .ndjson, .csv, .tsv, .md, .npy, .npz, .parquet, .arrow, .html, .ipynb, .txt"),
    line("output: a name with NUL", ['run', '-e', '1', '-o', 'a\x00.json'], 2, "gradcli: error[unwritable-output]: cannot write `a\\x00.json`: the name holds a null character"),
    line("output: half a character in the name", ['run', '-e', '1', '-o', '\ud800.json'], 2, "gradcli: error[unwritable-output]: cannot write `\\ud800.json`: the name holds half a character"),
    line("output: an escape in the name", ['run', '-e', '1', '-o', '\x1b[31m/x.json'], 2, "gradcli: error[unwritable-output]: cannot write `\\x1b[31m/x.json`: no such file or directory"),
    line("output: a name too long", ['run', '-e', '1', '-o', "a" * 300 + ".json"], 2, f'gradcli: error[unwritable-output]: cannot write `{"a" * 300}.json`: file name too long'),
    line("output: below a file", ['run', '-e', '1', '-o', 'p/x.json'], 2, "gradcli: error[unwritable-output]: cannot write `p/x.json`: not a directory", files={"p": b""}),
    line("output: two arrays in one", ['run', '-e', 'x = 1', '-e', 'y = 2', '-o', 'x.npy', '--show', 'x,y'], 2, "gradcli: error[usage]: `x.npy` holds one array, and the result has x, y", "help: `x.npz` holds several"),
]
# fmt: on
