"""Rows that are read, answered and written many at a time, as if it were one by one."""

import math
import os
from io import BytesIO

import numpy as np
import pytest

from gradcli.formats.files.compressed import Opened
from gradcli.formats.readers import float_columns, line_blocks
from gradcli.formats.readers.float_columns import columns_of
from gradcli.formats.readers.line_blocks import LineBlocks, TooLong
from gradcli.formats.readers.plain_lines import are_plain, quoted_places
from gradcli.formats.readers.rows import Rows
from gradcli.formats.texts import float_texts, machine_texts
from gradcli.formats.texts.delimited import record
from gradcli.formats.texts.dialect import USUAL, Dialect
from gradcli.formats.texts.number import number
from gradcli.formats.texts.shortest import delimited
from gradcli.formats.texts.text_columns import lines as lines_of
from gradcli.formats.texts.text_columns import texts_of

# texts of numbers ---------------------------------------------------------------------------------


def random_floats() -> np.ndarray:
    """Of all bits, of the sizes that `repr` writes without an exponent, near and at ties of their
    shortest texts, and what they end in.
    """
    rng = np.random.default_rng(11)
    bits = rng.integers(0, 2**64, 2_000, dtype=np.uint64).view(np.float64)
    sizes = 10 ** rng.uniform(-4.1, 16.1, 4_000) * rng.choice([-1, 1], 4_000)
    fractions = [2.0**k + rng.integers(0, 2**20, 300) / 2.0 ** (53 - k) for k in range(44, 54)]
    round_ones = np.round(rng.uniform(-1e6, 1e6, 2_000), 3)
    powers = np.concatenate([2.0 ** np.arange(-15, 55), 10.0 ** np.arange(-5, 18)])
    beside = [powers, np.nextafter(powers, 0), np.nextafter(powers, np.inf), np.arange(-99, 99) / 8]
    odd = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1.7976931348623157e308]
    return np.concatenate([bits, sizes, *fractions, round_ones, *beside, odd])


FLOATS = random_floats()
REPRS = "".join(f"{x!r}\n" for x in FLOATS.tolist())


def test_numpy_writes_the_text_of_repr():
    assert delimited(FLOATS[:, None], b",").decode() == REPRS


def test_orjson_writes_the_text_of_repr():
    pytest.importorskip("orjson")
    assert float_texts.records([FLOATS], ",").decode() == REPRS


EDGES = np.concatenate([2.0 ** np.arange(-1074, 1024), 10.0 ** np.arange(-323, 309)])
NEAR = [EDGES, -EDGES, np.nextafter(EDGES, 0), np.nextafter(EDGES, np.inf), np.arange(99) * 5e-324]


@pytest.mark.parametrize("floats", [FLOATS, *NEAR], ids=lambda x: f"{x[0]}, {x[1]}, ...")
def test_machine_code_writes_the_text_of_repr(floats):
    pytest.importorskip("llvmlite")
    signs, ends = machine_texts.lines(floats[:, None], ",")
    assert signs.tobytes().decode() == "".join(f"{x!r}\n" for x in floats.tolist())
    assert ends.tolist() == np.flatnonzero(signs == ord("\n")).tolist()


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (1, 4), (5, 3)])
def test_machine_code_writes_the_rows_of_a_matrix(shape):
    pytest.importorskip("llvmlite")
    rows = FLOATS[: math.prod(shape)].reshape(shape)
    signs, ends = machine_texts.lines(rows, "\t")
    assert signs.tobytes().decode() == "".join(
        "\t".join(map(repr, r)) + "\n" for r in rows.tolist()
    )
    assert len(ends) == len(rows)


def test_large_blocks_are_written_by_machine_code(monkeypatch):
    pytest.importorskip("llvmlite")
    columns = [FLOATS[:40], FLOATS[40:80], FLOATS[80:120]]
    as_ever = float_texts.written(columns, ";")
    monkeypatch.setattr(float_texts, "_MANY", 120)
    found = float_texts.written(columns, ";")
    assert found.signs.tobytes() == as_ever.signs.tobytes()
    assert found.ends.tolist() == as_ever.ends.tolist()


@pytest.mark.parametrize("delimiter", [",", "\t", "\n"])
@pytest.mark.parametrize("count", [1, 3, 300])
def test_records_are_those_that_are_written_one_by_one(delimiter, count):
    columns = [FLOATS[:count], -FLOATS[-count:], np.arange(count), np.arange(count) > 1]
    for some in (columns[:2], columns[:1], columns):
        texts = [[repr(x).lower() for x in column.tolist()] for column in some]
        lines = map(delimiter.join, zip(*texts, strict=True))
        text = "".join(f"{line}\n" for line in lines)
        assert float_texts.records(some, delimiter).decode() == text
    assert [float_texts.texts(column) for column in columns] == texts


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("last", [[], [["x"] * 300]])
def test_lines_are_those_that_are_written_one_by_one(delimiter, last):
    pytest.importorskip("pyarrow")
    names = [f"a{delimiter}{k}" for k in range(300)]
    columns = [names, FLOATS[:300], FLOATS[-300:], *last]
    rows = zip(*map(texts_of, columns), strict=True)
    text = "".join(record(row, delimiter) for row in rows)
    assert lines_of(columns, delimiter).decode() == text


# numbers of texts ---------------------------------------------------------------------------------

CELLS = [
    "1",
    "1.5",
    "-2e3",
    "+4",
    ".5",
    "1.",
    "1e5",
    "1E5",
    "007",
    "1e-400",
    "0x10",
    "1_0",
    "nan",
    "NaN",
    "NAN",
    "inf",
    "Infinity",
    "-inf",
    "1e999",
    "true",
    "True",
    "1d5",
    "--1",
    "1e",
    "e5",
    "1e+",
    "1.2.3",
    "9007199254740993",
    "123456789012345678901",
    "1.7976931348623157e308",
    "4.9e-324",
    "2.4703282292062328e-324",
    "nan(1)",
    "0.1e1",
    "1e0.5",
    "infinit",
    "-0",
    "-0.0",
    "0e0",
    "1.0f",
    "1L",
    "5;",
    "1e00005",
    "00.5",
    ".e1",
    ".",
    "NA",
    "0.1000000000000000055511151231257827",
    "9007199254740991.5",
    "-17",
    "1,5",
    "\N{ARABIC-INDIC DIGIT ONE}",
    "\N{MINUS SIGN}1",
]
CELLS += ["", " 3", "3 ", "3\t", "1 2", "- 1", "\x0b5", "5\x00", "é", "\N{NO-BREAK SPACE}1"]
ODD = {"inf", "Infinity", "-inf", "true", "True", "-0", "-0.0", "\x0b5", "\N{NO-BREAK SPACE}1"}
BY = ["numpy", "pyarrow"]


def floats(block, width, places, delimiter=",", dialect=USUAL):
    """The columns of numbers at some places; None if the lines are no plain ones."""
    if not are_plain(block, delimiter):
        return None
    count = block.count(b"\n") + (not block.endswith(b"\n"))
    return columns_of(block, count, width, places, [], delimiter, dialect)[0]


@pytest.fixture(params=BY)
def by(request, monkeypatch):
    if request.param == "pyarrow":
        pytest.importorskip("pyarrow")
    else:
        monkeypatch.setattr(float_columns, "find_spec", lambda name: None)
    return request.param


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_have_the_numbers_of_their_cells_or_leave_them(by, end):
    left = []
    for cell in CELLS:
        try:
            want = float(number(cell))
        except ValueError:
            want = math.nan
        for lines in ([f"a,{cell},7", "b,2,8"], [f"{cell}"]):
            width, place = (3, 1) if len(lines) > 1 else (1, 0)
            block = (end.join(lines) + end).encode()
            found = floats(block, width, [place])
            got = math.nan if found is None else found[0][0]
            assert math.isnan(got) or (got, math.copysign(1, got)) == (want, math.copysign(1, want))
        if math.isnan(got) and not math.isnan(want):
            left.append(cell)
    assert {*left} <= ODD


BROKEN = [
    "1,2\n3\n4,5,6\n",
    "1,2\n\n3,4\n",
    "1,2\n  \n",
    "1,2\r3,4\n",
    "\n",
    '1,"2\n',
    '1,2"\n',
    '1,"2" \n',
    '1,""2"\n',
    '1,"2\n3"\n',
    '1,"2""\n',
]


@pytest.mark.parametrize("text", BROKEN)
def test_lines_that_are_no_plain_records_are_left(by, text):
    found = floats(text.encode(), 2, [0, 1])
    assert found is None or all(np.isnan(column).all() for column in found)
    assert floats(b"\xff,1\n", 2, [1]) is None


QUOTED = b'"1",2,"a"\r\n3,4,"b,""c"""\r\n"5",x,\r\n'


def test_quoted_cells_are_read_as_the_others(by):
    assert are_plain(QUOTED, ",")
    numbers, texts = columns_of(QUOTED, 3, 3, [0, 1], [2, 0], ",", USUAL)
    assert str([column.tolist() for column in numbers]) == "[[1.0, 3.0, 5.0], [2.0, 4.0, nan]]"
    assert [[*texts_of(column)] for column in texts] == [["a", 'b,"c"', ""], ["1", "3", "5"]]
    assert quoted_places(QUOTED, ",", 3) == {0, 2}


def test_few_of_many_columns_are_cut_out(by):
    rows = [[f"{100 * i + k}" for k in range(50)] for i in range(5)]
    for end in ("\n", "\r\n"):
        block = (end.join(map(",".join, rows)) + end).encode()
        for place in (0, 7, 49):
            (numbers,), (texts,) = columns_of(block, 5, 50, [place], [49 - place], ",", USUAL)
            assert numbers.tolist() == [float(row[place]) for row in rows]
            assert [*texts_of(texts)] == [row[49 - place] for row in rows]
        short = block + b"1,2\n"
        assert np.isnan(columns_of(short, 6, 50, [0], [], ",", USUAL)[0][0]).all()


def test_columns_are_given_in_the_order_in_which_they_are_wanted(by):
    found = floats(b"1;x;3;4\n5;y;7;8", 4, [3, 0], ";")
    assert [column.tolist() for column in found] == [[4.0, 8.0], [1.0, 5.0]]


def test_pyarrow_reads_other_ways_of_writing():
    pytest.importorskip("pyarrow")
    dialect = Dialect(None, {}, frozenset({"NA"}), ";", ",", None)
    (found,) = floats(b"1,5;a\nNA;b\n", 2, [0], ";", dialect)
    assert str(found.tolist()) == "[1.5, nan]"


def test_rows_of_blocks_know_their_lines_and_values(by):
    text = b"a,b\n" + b"".join(b"%d,%d.5\r\n" % (k, 2 * k) for k in range(50))
    rows = Rows("rows.csv", Opened(BytesIO(text), "rows.csv", (), len(text)))
    first = [next(iter(rows)) for _ in range(3)]
    found = [(row.number, row.line, row.record.cells) for row in first]
    while (block := rows.block({"a", "b"}, 60)) is not None:
        assert block.count > 1
        for place in range(block.count):
            row = block.row(place)
            found.append((row.number, row.line, row.record.cells))
    assert found == [(k, k + 2, [f"{k}", f"{2 * k}.5"]) for k in range(50)]


@pytest.mark.parametrize(
    ("text", "count", "numbers"),
    [
        ("1,2.5,", 2, [1.0, 2.5]),
        ("1,2.5,", 3, None),
        ("1,2.5,", 1, None),
        ("1,x,", 2, None),
        ("x,", 1, None),
    ],
)
def test_numbers_before_commas(text, count, numbers):
    found = float_columns._numbers(text, count)
    assert (found if found is None else found.tolist()) == numbers


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("wanted", [[0], [1], [2], [0, 2], [2, 0, 1]])
def test_wanted_columns_of_lines(monkeypatch, wanted, end):
    monkeypatch.setattr(float_columns, "find_spec", lambda name: None)
    rows = [[1.0, -2.5, 3e300], [4.0, 0.0, -5e-300], [6.0, 7.0, 8.0]]
    text = (end or "\n").join(",".join(map(repr, row)) for row in rows) + end
    found = floats(text.encode(), 3, wanted)
    assert [column.tolist() for column in found] == [[row[i] for row in rows] for i in wanted]


# lines --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_come_one_by_one_and_as_blocks(end, monkeypatch):
    monkeypatch.setattr("gradcli.formats.readers.line_blocks._BLOCK", 7)
    mark = b"\xef\xbb\xbf"  # which is one at the very beginning alone
    texts = [mark * (i % 4 == 1) + b"%d" % i * (i % 11) for i in range(60)]
    data = mark + end.join(texts)
    whole = LineBlocks(BytesIO(data), 1000)
    lines = []
    while line := whole.readline(1000):
        lines.append(line.encode())
    assert b"".join(lines) == data[3:] == end.join(texts)
    mixed, found = LineBlocks(BytesIO(data), 1000), []
    while piece := (len(found) % 3 and mixed.block(20)) or mixed.readline(1000).encode():
        if len(found) % 5 == 4:
            mixed.put_back(piece)
            assert mixed.block(1000) == b""
            piece = mixed.readline(1000).encode()
        found.append(piece)
    assert b"".join(found) == data[3:]


def test_a_block_does_not_wait_for_lines_that_are_not_there():
    read, write = os.pipe()
    with open(read, "rb") as stream, open(write, "wb", 0) as pipe:
        lines = LineBlocks(stream, 1000)
        pipe.write(b"a\nb\nc")
        assert (lines.readline(9), lines.at_hand) == ("a\n", True)
        assert (lines.block(1000), lines.at_hand) == (b"b\n", False)
        pipe.write(b"d\ne\n")
        assert lines.block(1000) == b"cd\ne\n"


def test_a_line_without_an_end_is_not_read_on_and_on():
    with pytest.raises(TooLong):
        LineBlocks(BytesIO(b"\0" * 3 * 2**20), 2**20).readline(9)


LINES = b"1\n22\n\n4444\r\n55555\n6"


@pytest.mark.parametrize("most", [1, 2, 3, 5, 6, 12, 18, 19, 100])
def test_a_block_holds_as_many_lines_as_fit_and_one_at_least(most):
    lines, rest, waiting = LineBlocks(BytesIO(LINES), 100), LINES, []
    while block := lines.block(most):
        whole = rest[: rest.rfind(b"\n") + 1] or rest  # a line without an end comes by itself
        first = whole.find(b"\n") + 1 or len(whole)
        fit = len(whole) if len(whole) <= most else max(whole.rfind(b"\n", 0, most) + 1, first)
        assert block == rest[:fit]
        rest = rest[fit:]
        waiting.append((lines.waiting, len(rest), lines.at_hand))
    assert rest == b""
    assert [left for left, *_ in waiting] == [left for _, left, _ in waiting]
    assert [at_hand for *_, at_hand in waiting] == [left > 1 for _, left, _ in waiting]


@pytest.mark.parametrize("before", [b"", b"ab\n"])
@pytest.mark.parametrize("extra", [0, 1])
def test_a_line_is_as_long_as_it_may_be(monkeypatch, before, extra):
    monkeypatch.setattr(line_blocks, "_BLOCK", 4)
    line = b"x" * (20 + extra)
    lines = LineBlocks(BytesIO(before + line), 20)
    if before:
        assert lines.readline(100) == before.decode()
    if extra:
        with pytest.raises(TooLong):
            lines.readline(100)
    else:
        assert lines.readline(100) == line.decode()
