"""Values read from the bytes of a file: for each format the value, or the place of its fault."""

import io
import json
import math
from codecs import BOM_UTF8

import numpy as np
import pytest

from gradcli.errors import InputError
from gradcli.formats.readers.read import decoded, is_arrow, split_key, value_of, values_of

NAN = math.nan
DEEP = "[" * 63 + "1" + "]" * 63  # as many lists in each other as a cell may have


def saved(array):
    """The bytes of an `.npy`."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def zipped(**arrays):
    """The bytes of an `.npz`."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def plain(value):
    """A value with its types as a text, arrays as lists."""
    return repr(value.tolist() if hasattr(value, "dtype") else value)


VALUES = [  # the file's name, its text, the key, the value
    # numbers separated by blanks
    ("x.txt", "1", None, 1),
    ("x.txt", "\ufeff1.5\n", None, 1.5),
    ("x.txt", "1 2\t3\n", None, [1, 2, 3]),
    ("x.txt", "1\n2\n3", None, [1, 2, 3]),
    ("x.txt", "1\r\n2\r\n", None, [1, 2]),
    ("x.txt", "1\r2", None, [1, 2]),
    ("x.txt", "# 9\n\n 1 2\n  # 9 9 9\n3 4\n \n", None, [[1, 2], [3, 4]]),
    ("x.txt", "nan -inf true\n", None, [NAN, -math.inf, True]),
    # tables
    ("x.csv", "a,b\n1,2\n", None, [[1, 2]]),
    ("x.csv", "a,b\r\n1,2\r\n\r\n3,4.5", None, [[1, 2], [3, 4.5]]),
    ("x.csv", "\ufeffa\n1\n2\n", None, [1, 2]),
    ("x.csv", "a\n", None, []),
    ("x.csv", ",a\n7,1\n8,2\n", None, [1, 2]),
    ("x.csv", '"a,1","b\n2"\n"1","2"\n', None, [[1, 2]]),
    ("x.csv", "1,2\n3,4\n", None, [[1, 2], [3, 4]]),
    ("x.csv", "1e999\n", "a", "no column"),
    ("x.csv", "1\n2\n", None, [1, 2]),
    ("x.csv", "1,,2\n3,x,4\n", None, [[1, 2], [3, 4]]),
    ("x.csv", "1,2\n3,4\n", "1", [2, 4]),
    ("x.csv", "a,b\n1,2\n3,4\n", "b", [2, 4]),
    ("x.csv", "a,b\n1,2\n", "b", [2]),
    ("x.csv", "a,b\n1,x\n", "a", [1]),
    ("x.csv", "w.0,w.1,b\n1,2,3\n", "w", [1, 2]),
    ("x.csv", "w.0,w.1,b\n1,2,3\n", "b", 3),
    ("x.csv", "w.0,w.1,b\n1,2,3\n4,5,6\n", "w", [[1, 2], [4, 5]]),
    ("x.csv", "w.1,w.0\n1,2\n", "w", [2, 1]),
    ("x.csv", "w.1,w.0\n1,2\n3,4\n", "w.1", [1, 3]),
    ("x.csv", "w.0.0,w.0.1,w.1.0,w.1.1,w.2.0,w.2.1\n1,2,3,4,5,6\n", "w", [[1, 2], [3, 4], [5, 6]]),
    ("x.csv", 'a,b\n"[1, [2.5, ""3""], []]",2\n', "a", [[1, [2.5, 3], []]]),
    ("x.csv", f'a\n"{DEEP}"\n', None, [json.loads(DEEP)]),
    ("x.tsv", "a\tb\n1\t2\n", "b", [2]),
    ("x.TSV", "a\tb,c\n1\t2\n", "b,c", [2]),
    # JSON
    ("x.json", '{"a": [1, 2.0, "NaN", "-Infinity", "x"]}', "a", [1, 2.0, NAN, -math.inf, "x"]),
    ("x.json", '{"a": [1, {"b": 2}]}', "a.1.b", 2),
    ("x.json", "[[1, 2], [3, 4]]", "1.0", 3),
    ("x.json", "3", None, 3),
    ("x.json", "18446744073709551616", None, 2.0**64),
    # told by the text
    ("-", "[1, 2]", None, [1, 2]),
    ("-", ' {"a": 1}', "a", 1),
    ("-", '"NaN"', None, NAN),
    ("-", "a,b\n1,2\n", None, [[1, 2]]),
    ("-", "1,2\n3,4\n", None, [[1, 2], [3, 4]]),
    ("-", "a\tb\n1\t2\n", "b", [2]),
    ("-", "a\n1\n", "a", [1]),
    ("-", "1 2\n", None, [1, 2]),
    ("-", "1\t2\n", None, [1, 2]),
    ("-", "7", None, 7),
    ("-", "1e400 1", None, "too large"),
    ("-", "x", None, "not a number"),
]  # fmt: skip
GOOD = [case for case in VALUES if not isinstance(case[3], str)]
UNREAD = [case for case in VALUES if isinstance(case[3], str)]


@pytest.mark.parametrize(("name", "text", "key", "value"), GOOD)
def test_the_value_in_a_text(name, text, key, value):
    text = text.removeprefix("\ufeff")
    for mark in (b"", BOM_UTF8):
        assert plain(value_of(name, mark + text.encode(), key)) == plain(value)


@pytest.mark.parametrize(("name", "text", "key", "message"), UNREAD)
def test_texts_without_the_value(name, text, key, message):
    with pytest.raises(InputError, match=message):
        value_of(name, text.encode(), key)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "-"])
def test_arrays_are_told_by_their_first_bytes(name):
    if name != "x.npz":
        assert plain(value_of(name, saved(np.arange(3.0)), None)) == "[0.0, 1.0, 2.0]"
    if name != "x.npy":
        data = zipped(a=np.arange(2), b=np.ones(1))
        assert plain(value_of(name, data, "a")) == "[0, 1]"
        assert values_of(name, data).names == ("a", "b")
        assert values_of(name, data).strict


FAULTS = [  # the file's name, its bytes, the key, the message, line and column of its place
    ("x.txt", b"", None, "holds no number", None),
    ("x.txt", b"# 1\n", None, "holds no number", None),
    ("x.txt", b"\n1 2\n 3 4 5 \n", None, "has lines of 2 numbers and of others", (3, 1, 7)),
    ("x.txt", b"1 2\n 3 x5\n", None, "`x5` is not a number", (2, 4, 6)),
    ("x.txt", b"1\n1e999", None, "`1e999` is too large", (2, 1, 6)),
    ("x.txt", b"1 \xc3\xa9 \xff", None, "the byte 0xff is not UTF-8 text", (1, 5, 6)),
    ("x.csv", b"a\n\xff\n", "a", "the byte 0xff is not UTF-8 text", (2, 1, 2)),
    ("x.json", b'{"a": \xff\xfe}', "a", "the byte 0xff is not UTF-8 text", (1, 7, 8)),
    ("-", b"[1, \xff]", None, "the byte 0xff is not UTF-8 text", (1, 5, 6)),
    ("-", b"", None, "is empty", None),
    ("-", b" \r\n\t", None, "is empty", None),
    ("x.csv", b"", None, "is empty", None),
    ("x.csv", b"\n \r\n", None, "is empty", None),
    ("x.csv", b"a,b\n1\n", None, "1 cell, and the header has 2", (2, 2, 2)),
    ("x.csv", b"a,b\n1,2\n1,2,3,4\n", None, "4 cells, and the header has 2", (3, 5, 8)),
    ("x.csv", b"1,2\n3\n", None, "1 cell, and the header has 2", (2, 2, 2)),
    ("x.csv", b'a,b\n1,"2\n3', None, "a quote is not closed", (2, 3, 4)),
    ("x.csv", b'a,"b\n', None, "a quote is not closed", (1, 3, 4)),
    ("x.csv", b"a,b\n1, x\n", "b", "`x` in column `b` is not a number", (2, 3, 5)),
    ("x.csv", b"a,b\n1,\n", "b", "the cell in column `b` is empty", (2, 3, 3)),
    ("x.csv", b'a,b\n1,"1,5"\n', "b", "`1,5` in column `b` is not a number", (2, 3, 8)),
    ("x.csv", b'a,b\n1,"2"3\n', "b", '`"2"3` in column `b` is not a number', (2, 3, 7)),
    ("x.csv", b"a,b\n1,1e999\n", "b", "`1e999` in column `b` is too large for a float", (2, 3, 8)),
    ("x.csv", b"a,b,a\n", None, "two columns `a`", (1, 5, 6)),
    ("x.csv", b"a;b\n1;2\n", None, "the header is one column with `;` in it", (1, 2, 3)),
    ("x.csv", b"a\tb\n1\t2\n", None, "the header is one column with a tab in it", (1, 2, 3)),
    ("x.csv", b"w.0,w.2\n1,2\n", "w", "the columns `w.0`, `w.2` are not all elements", (1, 1, 4)),
    ("x.csv", b"b,w.1,w.0.0\n1,2,3\n", "w", "columns `w.0.0`, `w.1` are not all", (1, 3, 6)),
    ("x.csv", b"a,b\n1,2\n", "c", "has no column `c`", None),
    # lists in cells
    ("x.csv", b"a\n[1\n", None, "a list is not closed", (2, 1, 3)),
    ("x.csv", b"a\n[1]2\n", None, "`2` has no place here in a list", (2, 4, 5)),
    ("x.csv", b"a\n[1 2]\n", None, "`2` has no place here in a list", (2, 4, 5)),
    ("x.csv", b"a\n[x]\n", None, "`x` in a list is not a number", (2, 2, 3)),
    ("x.csv", b"a\n []]\n", None, "`]` has no place here in a list", (2, 4, 5)),
    ("x.csv", b'a,b\n1,"[1,,2]"\n', "b", "`,` has no place here in a list", (2, 7, 8)),
    ("x.csv", b'a,b\n1,"[1,2,]"\n', "b", "`]` has no place here in a list", (2, 9, 10)),
    ("x.csv", b'a,b\n1,"[,2]"\n', "b", "`,` has no place here in a list", (2, 5, 6)),
    ("x.csv", b'a,b\n1,"[1],2"\n', "b", "`,` has no place here in a list", (2, 7, 8)),
    ("x.csv", b'a,b\n1,"[1,xy]"\n', "b", "`xy` in a list is not a number", (2, 7, 9)),
    ("x.csv", b"a\n%s\n" % (b"[" * 65), None, "more than 64 lists in each other", (2, 65, 66)),
    # JSON
    ("x.json", b"", None, "this is not valid JSON: it ends too early", (1, 1, 2)),
    ("x.json", b"[1, 2\n", None, "this is not valid JSON: it ends too early", (1, 5, 6)),
    ("x.json", b"[1,\n ?]", None, "this is not valid JSON: expecting value", (2, 2, 3)),
    ("x.json", b'["1e999", 1e999]', None, "`1e999` is too large for a float", (1, 11, 16)),
    ("x.json", b'{"a": 1, "b": 1, "a": 2}', None, "has an object with two keys `a`", None),
    ("x.json", b'{"a": [1, 2]}', "a.2", "`x.json:a` has no `2`: it is a list of 2", None),
    ("x.json", b'{"a": [1, 2]}', "a.1.b", "`x.json:a.1` has no `b`: it is no object", None),
    ("x.json", b'{"a": [1, 2]}', "b", "`x.json` has no `b`", None),
]  # fmt: skip


@pytest.mark.parametrize("mark", [b"", BOM_UTF8], ids=["no mark", "a byte order mark"])
@pytest.mark.parametrize(("name", "data", "key", "message", "place"), FAULTS)
def test_a_fault_is_told_with_its_place(name, data, key, message, place, mark):
    with pytest.raises(InputError) as caught:
        value_of(name, mark + data, key)
    found = caught.value.diagnostics[0]
    assert message in found.message
    shown = None
    if found.source is not None and found.span is not None:
        line, column = found.source.position(found.span.start)
        shown = (line, column, column + found.span.end - found.span.start)
    assert shown == place


def test_the_text_after_a_byte_that_is_none_is_not_looked_at():
    text = "é" * 5 + "\n" + "ü" * 3
    assert decoded("x", b"\xef\xbb\xbf" + text.encode()).text == text


BY_NAME = [  # a file for `-i`, its text, the names and the values, the names that declare inputs
    ("x.csv", "a,w.0,w.1\n1,2,3\n", {"a": 1, "w": [2, 3]}, ("a", "w")),
    ("x.csv", "a,b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}, ("a", "b")),
    ("x.tsv", "a\tb\n1\t2\n", {"a": [1], "b": [2]}, ("a", "b")),
    ("-", "\n a\tb\n1\t2\n,\t,\n", None, "`,` in column `a`"),
    ("-", "a\tb\r1\t2\r", {"a": [1], "b": [2]}, ("a", "b")),
    ("-", "a,b\n1,2\n", {"a": [1], "b": [2]}, ("a", "b")),
    ("-", ' {"a": 1, "b": [2]}', {"a": 1, "b": [2]}, ("a", "b")),
    ("x.json", '{"schema": "gradcli.run/1", "values": {"y": 1, "z": null}}', {"y": 1}, ()),
    ("x.json", '{"schema": "gradcli.grad/1", "output": "y", "value": 2}', {"y": 2}, ()),
    ("x.json", '{"schema": "gradcli.x/1", "output": {}, "value": {"y": 2}}', {"y": 2}, ()),
    ("x.json", '{"schema": "other/1"}', {"schema": "other/1"}, ("schema",)),
    ("x.json", '{"schema": "gradcli.ops/1"}', None, "is the gradcli.ops/1 of gradcli"),
    ("x.json", "", None, "it ends too early"),
    ("x.json", "a,b\n1,2\n", None, "not valid JSON"),
    ("x.json", "[1]", None, "must be a JSON object"),
    ("-", "[1]", None, "must be a JSON object"),
    ("-", " \n", None, "is empty"),
    ("x.csv", "", None, "is empty"),
    ("x.csv", "[1],b\n1,2\n", {"[1]": [1], "b": [2]}, ("[1]", "b")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "values", "rest"), BY_NAME)
def test_values_by_name(name, text, values, rest):
    def read():
        found = values_of(name, text.encode())
        return {n: found.get(n) for n in found.names}, tuple(sorted(found.declared))

    if values is None:
        with pytest.raises(InputError, match=rest):
            read()
    else:
        assert read() == (values, rest)


@pytest.mark.parametrize("data", [b"", saved(np.ones(1))])
def test_an_array_without_a_name_gives_no_values_by_name(data):
    for name, way in (("x.npy", "NAME=@x.npy"), ("<stdin>", "NAME=@-")):
        if name == "<stdin>" and not data:
            continue
        with pytest.raises(InputError) as caught:
            values_of(name, data)
        assert caught.value.diagnostics[0].help == f"write {way}"


@pytest.mark.parametrize(
    ("inputs", "left", "values"),
    [
        (["width"], [], {"width": 1}),
        (["width", "length"], ["length"], "unknown-input"),
        (["width", "length"], [], {"width": 1}),
        (["width", "height"], ["height"], {"width": 1}),
        (["lenght"], ["length"], {"lenght": 2}),
        (["height"], [], "unknown-input"),
    ],
)
def test_values_are_those_of_the_inputs_unless_one_is_misspelt(inputs, left, values):
    found = values_of("x.json", b'{"width": 1, "lenght": 2}').passing()
    if values == "unknown-input":
        with pytest.raises(InputError) as caught:
            found.of(inputs, left)
        assert caught.value.diagnostics[0].code == values
    else:
        assert found.of(inputs, left) == values


def test_no_values_at_all_are_no_fault():
    assert values_of("x.json", b"{}").of(["x"], ["x"]) == {}
    strict = values_of("x.npz", zipped(a=np.array(2)))
    assert plain(strict.of(["b"], ["b"])["a"]) == "2"


KEYS = [
    ("x.npz", ("x.npz", None)),
    ("x.npz:w", ("x.npz", "w")),
    ("x.json:a.0", ("x.json", "a.0")),
    ("x.csv:a:b", ("x.csv", "a:b")),
    ("x.tsv:", ("x.tsv", "")),
    ("x.parquet:a", ("x.parquet", "a")),
    ("x.feather:a", ("x.feather", "a")),
    ("x:y", ("x:y", None)),
    ("x.npy:w", "`.npy` takes no key, and `w` is one"),
    ("x.txt:w", "`.txt` takes no key, and `w` is one"),
    ("", "a file's name is missing"),
]


@pytest.mark.parametrize(("text", "parts"), KEYS)
def test_files_and_their_keys(text, parts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if isinstance(parts, tuple):
        assert split_key(text) == parts
    else:
        with pytest.raises(InputError) as caught:
            split_key(text)
        assert parts in caught.value.diagnostics[0].message


def test_a_file_may_have_the_name_of_a_file_with_a_key(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.npy:w").write_bytes(b"")
    assert split_key("x.npy:w") == ("x.npy:w", None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("x.parquet", True), ("x.ARROW", True), ("x.feather", True), ("x.csv", False), ("x", False)],
)
def test_files_of_arrow(name, expected):
    assert is_arrow(name) is expected
