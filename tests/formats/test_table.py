"""Records as they are read: what is written comes back, whatever the texts."""

import csv
from io import StringIO
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.formats.readers.table import Header, Lines, header_of
from gradcli.formats.texts.delimited import record
from gradcli.formats.texts.number import TooLarge, number

TEXTS = st.lists(st.text('a",;\t\n\r \u2028', max_size=6), min_size=1, max_size=5)


def records(text, delimiter):
    """The records of a text, and what they were read from."""
    lines = Lines("f", StringIO(text, newline=""))
    while (line := lines.next()) is not None:
        yield lines.record(line, delimiter)


@given(TEXTS, st.sampled_from(",\t"))
def test_a_record_comes_back(texts, delimiter):
    text = record(texts, delimiter)
    (found,) = records(text, delimiter)
    assert (found.cells, found.text, found.unclosed) == (texts, text, None)


@given(TEXTS, st.sampled_from(",\t"))
def test_what_others_write_is_read(texts, delimiter):
    buffer = StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerow(texts)
    (found,) = records(buffer.getvalue(), delimiter)
    assert found.cells == texts


@given(TEXTS, st.integers(0, 4))
def test_a_cell_is_where_its_record_has_it(texts, index):
    index %= len(texts)
    (found,) = records(record(texts, ","), ",")
    span = found.span(",", index)
    shown = found.text[span.start : span.end]
    assert shown.strip('"').replace('""', '"') == texts[index].strip('"') or '"' in texts[index]


@pytest.mark.parametrize(
    ("names", "shapes"),
    [
        (["x", "y"], {"x": None, "y": None}),
        (["x", "", ""], {"x": None}),
        (["w.0", "x", "w.1"], {"w": (2,), "x": None}),
        (["w.1.0", "w.0.0"], {"w": (2, 1)}),
        (["w", "w.0"], {"w": None, "w.0": None}),
        (["grad.w.0", "w.00", "w.x"], {"grad.w.0": None, "w.00": None, "w.x": None}),
    ],
)
def test_columns_are_values_or_elements(names, shapes):
    columns = Header(names, ",", None).columns
    assert {name: column.shape for name, column in columns.items()} == shapes


class Counted(str):
    """A cell whose comparisons with others are counted."""

    __slots__ = ()
    __hash__ = str.__hash__
    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)

    def strip(self, *_):
        return self


@pytest.mark.parametrize("form", ["g{}", "v.{}"])
def test_a_header_compares_no_column_with_all_others(form):
    counts = []
    for width in (200, 400):
        cells = [Counted(form.format(k)) for k in range(width)]
        Counted.compared = 0
        found = header_of(SimpleNamespace(cells=cells, name="t.csv", check=lambda _: None), ",")
        assert sum(len(column.cells) for column in found.columns.values()) == width
        counts.append(Counted.compared)
    assert counts[1] <= 2 * counts[0] + 100


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        (" -3 ", -3),
        ("+0", 0),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", 2.0**63),
        ("1" + "0" * 40, 1e40),
        ("3.0", 3.0),
        ("1e3", 1000.0),
        ("-Infinity", float("-inf")),
        ("inf", float("inf")),
        ("true", True),
        ("False", False),
    ],
)
def test_numbers(text, value):
    found = number(text)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("text", ["", " ", "x", "1_0", "0x1f", "--1", "1 2", "²", "\u0661", "[1]"])
def test_no_numbers(text):
    with pytest.raises(ValueError, match=r"convert|literal|1_0|²|\u0661"):
        number(text)


@pytest.mark.parametrize("text", ["1e999", "-1e400", "9" * 5000])
def test_numbers_that_no_float_holds(text):
    with pytest.raises(TooLarge):
        number(text)
