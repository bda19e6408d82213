"""Rows of one file or of several: their form, columns, numbers and values, read one at a time."""

from io import BytesIO

import pytest

from gradcli.errors import InputError
from gradcli.formats.files.compressed import Opened
from gradcli.formats.readers import rows as rows_module
from gradcli.formats.readers.kept import Kept
from gradcli.formats.readers.many_files import ManyFiles
from gradcli.formats.readers.rows import Rows, Wanted
from gradcli.formats.texts.dialect import USUAL, Dialect
from gradcli.formats.texts.text_columns import texts_of


def read(text, name="<stdin>", dialect=USUAL):
    """The rows of a text in a stream of a name."""
    data = text.encode("utf-8", "surrogateescape")
    return Rows(name, Opened(BytesIO(data), name, (OSError,), len(data)), dialect)


def numbers_of(text, name="<stdin>", dialect=USUAL, left=()):
    """The values of each row for the inputs a, b and w."""
    wanted = Wanted(frozenset("abw"), left)
    return [wanted.of(row) for row in read(text, name, dialect)]


UNNAMED = Dialect(["a", "b"], {}, frozenset(), None, ".", None)
OTHER = Dialect(None, {"x": "a"}, frozenset({"NA", ""}), ";", ",", None)
TABLES = [  # the file's name, its text, its dialect, its form, the lines and the values of rows
    ("x.csv", "a,b\n", USUAL, "csv", [], []),
    ("x.csv", "\ufeffa,b\n1,2\n", USUAL, "csv", [2], [{"a": 1, "b": 2}]),
    ("x.csv", "\ufeff\ufeffa,b\n1,2\n", USUAL, "csv", [2], [{"a": 1, "b": 2}]),
    ("x.json", '\ufeff\ufeff[{"a": 1},\n{"a": 2}]', USUAL, "ndjson", [1, 2], [{"a": 1}, {"a": 2}]),
    ("x.csv", "\n a , b\r\n\r\n1,2\r\n \n3,4", USUAL, "csv", [4, 6], [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
    ("x.csv", "a,b\r1,2\r3,4\r", USUAL, "csv", [2, 3], [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
    ("x.csv", 'a,"c\nc"\n"1","x\ny"\n2,z\n', USUAL, "csv", [3, 5], [{"a": 1}, {"a": 2}]),
    ("x.csv", "w.0,w.1,c\n1,2,x\n", USUAL, "csv", [2], [{"w": [1, 2]}]),
    ("x.tsv", "a\tb\n1\t2\n", USUAL, "tsv", [2], [{"a": 1, "b": 2}]),
    ("<stdin>", "a\tb\n1\t2\n", USUAL, "tsv", [2], [{"a": 1, "b": 2}]),
    ("<stdin>", "a,b\n1,2\n", USUAL, "csv", [2], [{"a": 1, "b": 2}]),
    ("<stdin>", "", UNNAMED, "csv", [], []),
    ("<stdin>", "1,2\n3,4\n", UNNAMED, "csv", [1, 2], [{"a": 1, "b": 2}, {"a": 3, "b": 4}]),
    ("<stdin>", "1\t2\n", UNNAMED, "tsv", [1], [{"a": 1, "b": 2}]),
    ("x.csv", "x;b\n1,5;NA\n;2\n", OTHER, "csv", [2, 3], "[{'a': 1.5, 'b': nan}, {'a': nan, 'b': 2}]"),
    ("x.csv", "row,a,error\n0,1,\n", USUAL, "csv", [2], [{"a": 1}]),
    ("<stdin>", "", USUAL, "ndjson", [], []),
    ("x.ndjson", "", USUAL, "ndjson", [], []),
    ("<stdin>", '{"a": 1, "c": 0}\n\n{"b": [2]}', USUAL, "ndjson", [1, 3], [{"a": 1}, {"b": [2]}]),
    ("x.jsonl", '{"a": "1.5", "b": "-2", "w": "inf"}\n', USUAL, "ndjson", [1], [{"a": 1.5, "b": -2, "w": "inf"}]),
    ("x.json", '{"x": 1}\n', OTHER, "ndjson", [1], [{"a": 1}]),
    ("x.csv", '{"a": 1}\n', USUAL, "ndjson", [1], [{"a": 1}]),
    ("<stdin>", '{"schema": "gradcli.run/1", "values": {"a": 3}}\n', USUAL, "ndjson", [1], [{"a": 3}]),
    ("<stdin>", '{"row": 1, "error": "no", "a": 1}\n', USUAL, "ndjson", [1], [{"a": 1}]),
    ("<stdin>", '{"error": {"message": "no"}, "a": 1}\n', USUAL, "ndjson", [1], [{"a": 1}]),
    ("<stdin>", '{"row": 1, "error": {"code": "no"}, "a": 1}\n', USUAL, "ndjson", [1], [{"a": 1}]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "dialect", "form", "lines", "values"), TABLES)
def test_rows_have_their_form_lines_and_values(name, text, dialect, form, lines, values):
    rows = read(text, name, dialect)
    found = [(row.number, row.line) for row in rows]
    assert (rows.form, found, rows.count) == (form, [*enumerate(lines)], len(lines))
    expected = values if isinstance(values, str) else repr(values)
    assert repr(numbers_of(text, name, dialect)) == expected


NAMES = [  # a text, its dialect, the names of the inputs, the names in the file
    ("x,b\n", Dialect(None, {"x": "a"}, frozenset(), None, ".", None), ("a", "b"), ("x", "b")),
    ("w.0,w.1,\n", USUAL, ("w",), ("w.0", "w.1", "")),
    ('{"x": 1, "b": 2}\n', OTHER, ("a", "b"), ("x", "b")),
    ('{"x": 1\n', OTHER, (), ()),
    ('{"schema": "gradcli.run/1", "values": {"y": 1}}', USUAL, ("y",), ("schema", "values")),
]


@pytest.mark.parametrize(("text", "dialect", "names", "titles"), NAMES)
def test_names_of_inputs_and_of_the_file(text, dialect, names, titles):
    rows = read(text, dialect=dialect)
    assert (tuple(rows.names), rows.titles) == (names, titles)


REFUSED = [  # the file's name, its text, the message, the help
    ("x.csv", "", "`x.csv` is empty: it has no header", None),
    ("x.tsv", " \n", "`x.tsv` is empty: it has no header", None),
    ("x.csv", " , \n1,2\n", "`x.csv` has no header", None),
    ("x.json", "[1]", "the JSON in `x.json` is an array, but not of objects", "objects give values by name"),
    ("<stdin>", "[1]", "is an array, but not of objects", "objects give values by name"),
    ("x.json", "{\n", "is not one object a line", "`jq -c . x.json` writes an object"),
    ("<stdin>", "{\n", "is not one object a line", "`jq -c .` writes an object"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "message", "help"), REFUSED)
def test_files_that_hold_no_rows(name, text, message, help):
    with pytest.raises(InputError) as caught:
        read(text, name)
    found = caught.value.diagnostics[0]
    assert message in found.message
    assert (help is None) == (found.help is None)
    assert (help or "") in (found.help or "")


BROKEN = [  # a text, the message of its last row, line and columns of its place
    ("a,b\n1,2\n3\n", "1 cell, and the header has 2", (3, 2, 2)),
    ("a,b\n1,2,3\n", "3 cells, and the header has 2", (2, 5, 6)),
    ('a,b\n1,"2\n3\n', "a quote is not closed", (2, 3, 4)),
    ("a,b\n1,\udcff\n", "the byte 0xff is not UTF-8 text", (2, 3, 4)),
    ("row,a,error\n0,1,no\n", "an error of an earlier gradcli: no", (2, 5, 7)),
    ('{"a": 1}\n[1] \n', "a row is a JSON object", (2, 1, 4)),
    ('{"a": 1}\n{"c": 1}\n', "no key of this row is an input", (2, 1, 9)),
    ('{"row": 1, "error": {"message": "no"}}\n', "an error of an earlier gradcli: no", (1, 1, 39)),
]


@pytest.mark.parametrize(("text", "message", "place"), BROKEN)
def test_a_broken_row_is_told_with_its_place(text, message, place):
    *_, last = read(text)
    with pytest.raises(InputError) as caught:
        Wanted(frozenset("ab"), ()).of(last)
    found = caught.value.diagnostics[0]
    line, column = found.source.position(found.span.start)
    assert message in found.message
    assert (line, column, column + found.span.end - found.span.start) == place


def test_an_object_without_keys_gives_nothing():
    assert numbers_of("{}\n") == [{}]


def test_keys_are_checked_for_misspelt_inputs_once(monkeypatch):
    asked, check = [], rows_module.check_spelling

    def noted(what, given, *rest):
        asked.append(given)
        check(what, given, *rest)

    monkeypatch.setattr(rows_module, "check_spelling", noted)
    text = '{"width": 1}\n{"width": 2}\n{"width": 3, "c": 1}\n{"width": 1, "lenght": 2}\n'
    rows = [*read(text)]
    wanted = Wanted(frozenset({"width", "length"}), ("length",))
    assert [wanted.of(row) for row in rows[:3]] == [{"width": k} for k in (1, 2, 3)]
    assert asked == [("width",), ("width", "c")]
    with pytest.raises(InputError, match="its `lenght` is not an input"):
        wanted.of(rows[3])
    asked.clear()
    assert Wanted(frozenset({"width", "length"}), ()).of(rows[3]) == {"width": 1}
    assert asked == []


QUOTED = [  # a text, the inputs whose numbers are in quotes in its last row
    ('a,b,c\n"1",2,"3"\n', ["a"]),
    ('a,b\n1,"2"\n', ["b"]),
    ('a,b,c\n1,2,"x"\n', []),
    ('a,w.0,w.1\n1,2,"3"\n', ["w"]),
    ('a,b,c\n"[1,2]",2,"x"\n', []),
    ("a,b\n1,2\n", []),
    ('{"a": "1", "b": 2, "c": "3"}\n', ["a"]),
    ('{"a": ["1"], "b": "x"}\n', []),
    ('{"a": 1, "b": "NaN"}\n', []),
]


@pytest.mark.parametrize("noted", [False, True])
@pytest.mark.parametrize(("text", "names"), QUOTED)
def test_numbers_in_quotes_are_reported_until_they_are_noted(text, names, noted):
    *_, last = read(text)
    wanted = Wanted(frozenset("abw"), ())
    wanted.noted = noted
    assert wanted.quoted(last) == ([] if noted else names)


def test_the_share_of_a_file_that_has_been_read():
    rows = read("a,b\n" + "1,2\n" * 4)
    shares = [rows.share(), *(rows.share() for _ in rows)]
    assert shares == [0.2, 0.4, 0.6, 0.8, 1.0]
    stream = Rows("-", Opened(BytesIO(b"a\n1\n"), "-", (), None))
    assert stream.share() is None


def test_a_block_needs_plain_rows_after_a_header():
    assert read('{"a": 1}\n').block(["a"], 100) is None
    assert read("1,2\n", dialect=UNNAMED).block(["a"], 100) is None
    written = read("row,a,error\n0,1,\n1,2,\n")
    assert written.block(["a"], 100) is None
    assert [row.record.cells for row in written] == [["0", "1", ""], ["1", "2", ""]]


def test_blocks_follow_each_other_up_to_a_line_without_an_end():
    rows, found = read("row,a,errors\n0,1,2\n1,2,3\n2,3,4"), []
    while (block := rows.block(["a"], 100)) is not None:
        found.append((block.columns["a"].tolist(), block.number, block.line, block.count))
        assert block.row(0).number == block.number
        assert rows.count == block.number + block.count
    assert found == [([1.0, 2.0], 0, 2, 2), ([3.0], 2, 4, 1)]


def test_a_block_of_an_array_has_its_shape():
    block = read("w.1.0,w.0.0,a\n1,2,3\n4,5,6\n").block(["a", "w"], 100)
    assert block.columns["a"].tolist() == [3.0, 6.0]
    assert block.columns["w"].tolist() == [[[2.0], [1.0]], [[5.0], [4.0]]]


# several files ------------------------------------------------------------------------------------


def together(texts):
    """The rows of several texts by name, as if each were a file."""
    return ManyFiles([*texts], lambda name: read(texts[name], name))


@pytest.mark.parametrize("ways", ["rows", "blocks"])
def test_files_are_one_sequence_of_rows(ways):
    rows = together({"x.csv": "a,b\n1,2\n3,4\n", "y.csv": "b,a\n5,6\n", "z.csv": "a,b\n7,8\n9,0\n"})
    assert (rows.name, rows.form, rows.names) == ("x.csv, y.csv and z.csv", "csv", ("a", "b"))
    wanted, found, shares = Wanted(frozenset("ab"), ()), [], [rows.share()]
    for row in rows:
        found.append((row.record.name, row.number, row.line, wanted.of(row)))
        shares.append(rows.share())
        while ways == "blocks" and (block := rows.block(["a", "b"], 1)) is not None:
            assert block.columns["a"].tolist() == [wanted.of(block.row(0))["a"]]
            found.append((block.name, block.number, block.line, wanted.of(block.row(0))))
            shares.append(rows.share())
    assert found == [
        ("x.csv", 0, 2, {"a": 1, "b": 2}),
        ("x.csv", 1, 3, {"a": 3, "b": 4}),
        ("y.csv", 2, 2, {"a": 6, "b": 5}),
        ("z.csv", 3, 2, {"a": 7, "b": 8}),
        ("z.csv", 4, 3, {"a": 9, "b": 0}),
    ]
    parts = [4 / 12, 8 / 12, 1.0, 2.0, 2 + 8 / 12, 3.0]
    assert shares == pytest.approx([part / 3 for part in parts])


def test_the_share_of_several_streams_is_unknown():
    def opened(name):
        return Rows(name, Opened(BytesIO(b"a\n1\n"), name, (), None))

    rows = ManyFiles(["x.csv", "y.csv"], opened)
    assert [rows.share(), *(rows.share() for _ in rows)] == [None] * 3


@pytest.mark.parametrize(
    ("count", "name"), [(2, "0.csv and 1.csv"), (3, "0.csv, 1.csv and 2.csv"), (4, "0.csv and 3 more")]
)  # fmt: skip
def test_few_files_are_all_named(count, name):
    assert together({f"{k}.csv": "a\n1\n" for k in range(count)}).name == name


def test_files_can_be_read_without_waiting_unless_one_is_standard_input(tmp_path):
    names = [str(tmp_path / f"{k}.csv") for k in range(2)]
    for name in names:
        with open(name, "w") as file:
            file.write("a\n")
    assert ManyFiles(names, lambda name: read("a\n", name)).at_once
    assert not ManyFiles([names[0], "-"], lambda name: read("a\n", name)).at_once
    assert not ManyFiles(["gone.csv", names[0]], lambda name: read("a\n", name)).at_once


UNLIKE = [  # the second file, its text, the message
    ("y.ndjson", '{"a": 1}', "`y.ndjson` is ndjson, and `x.csv` csv"),
    ("y.csv", "a,c\n", "`y.csv` has the columns a, c, and `x.csv` w.0, w.1"),
    ("y.csv", "w.1,w.0,w.2\n", "`y.csv` has the columns w.1, w.0, w.2, and `x.csv` w.0, w.1"),
]


@pytest.mark.parametrize(("name", "text", "message"), UNLIKE)
def test_files_have_one_form_and_the_same_columns(name, text, message):
    with pytest.raises(InputError) as caught:
        [*together({"x.csv": "w.0,w.1\n1,2\n", name: text})]
    assert caught.value.diagnostics[0].message == message


def test_objects_in_files_may_have_other_keys():
    rows = together({"x.ndjson": '{"a": 1}\n', "y.ndjson": '{"b": 2}\n'})
    assert [Wanted(frozenset("ab"), ()).of(row) for row in rows] == [{"a": 1}, {"b": 2}]


def test_the_columns_of_an_array_are_checked():
    rows = together({"x.csv": "w.0,w.2\n1,2\n"})
    rows.check(frozenset("a"))
    with pytest.raises(InputError, match="are not all elements of an array `w`"):
        rows.check(frozenset("w"))


# kept columns -------------------------------------------------------------------------------------

TABLE = 'a,name,FILE\n1,"x ""y""",f\n007,-2.5e3,g\n'
KEPT = [  # a text, the asked names, the names, the cells and the JSON of the last row
    (TABLE, ["all"], ("a", "name", "FILE"), ["007", "-2.5e3", "g"], ['"007"', "-2.5e3", '"g"']),
    (TABLE, ["FILE", "a"], ("FILE", "a"), ["g", "007"], ['"g"', '"007"']),
    ("a,b\n1\n", ["b", "FILE"], ("b", "FILE"), ["", "<stdin>"], ['""', '"<stdin>"']),
    ('{"a": [1, 2.0], "b": null, "c": "é"}\n', ["all"], ("a", "b", "c"), ["[1,2.0]", "", "é"], ["[1,2.0]", "null", '"é"']),
    ('{"a": true}\n', ["a", "d", "FILE"], ("a", "d", "FILE"), ["true", "", "<stdin>"], ["true", "null", '"<stdin>"']),
]  # fmt: skip


@pytest.mark.parametrize(("text", "asked", "names", "cells", "json"), KEPT)
def test_kept_cells(text, asked, names, cells, json):
    rows = read(text)
    kept = Kept(rows, asked)
    *_, last = rows
    assert (kept.names, kept.cells(last)) == (names, cells)
    assert kept.json(last) == dict(zip(names, json, strict=True))


def test_kept_columns_of_a_block():
    rows = read("a,name\n1,x\n2,y\n", "x.csv")
    kept = Kept(rows, ["name", "FILE", "a"])
    block = rows.block(["a"], 100, kept.names)
    every = [["x", "y"], ["x.csv", "x.csv"], ["1", "2"]]
    assert [[*texts_of(column)] for column in kept.columns(block)] == every
    assert kept.typed_columns(block) == every


def test_only_columns_of_the_file_are_kept():
    with pytest.raises(InputError, match=r"`x\.csv and y\.csv` has no column `c`"):
        Kept(together({"x.csv": "a\n", "y.csv": "a\n"}), ["c"])
    with pytest.raises(InputError, match="has no column `nmae` to keep") as caught:
        Kept(read(TABLE), ["nmae"])
    assert "name" in caught.value.diagnostics[0].help
    with pytest.raises(InputError) as caught:
        Kept(read("a,b\n"), ["zzzzzz"])
    assert caught.value.diagnostics[0].help == "it has a, b"
