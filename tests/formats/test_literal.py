import json
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.formats.texts.literal import literal, numbers, quote

TEXTS = [
    (None, "null"),
    (True, "true"),
    (False, "false"),
    (3, "3"),
    (-0.0, "-0.0"),
    (1e16, "1e+16"),
    (5e-324, "5e-324"),
    (1.3333333333333333, "1.3333333333333333"),
    ([1.3333333333333333, 2.0], "[1.3333333333333333,2.0]"),
    ([], "[]"),
    ([[], [1.0]], "[[],[1.0]]"),
    ((1, 2.5, "a"), '[1,2.5,"a"]'),
    ('a\n"b"\\', '"a\\n\\"b\\"\\\\"'),
    ("\x1b[31m\x7f", '"\\u001b[31m\\u007f"'),
    ("\ud800", '"\\ud800"'),
    ("größe 日本", '"größe 日本"'),
    (np.array([[1.0, 2.0], [3.0, 4.5]]), "[[1.0,2.0],[3.0,4.5]]"),
    (np.zeros((2, 0)), "[[],[]]"),
    (np.array([1, 2]), "[1,2]"),
    (np.array([True, False]), "[true,false]"),
    (np.array(2.0), "2.0"),
    (np.float64(0.1), "0.1"),
    (np.int64(7), "7"),
    (np.array([0.1, 1e10, 1 / 3], dtype=np.float32), "[0.1,10000000000.0,0.33333334]"),
    (np.float32(0.1), "0.1"),
]


@pytest.mark.parametrize(("value", "text"), TEXTS)
def test_literal_is_one_line_without_spaces(value, text):
    assert literal(value) == text
    assert literal(value, json=True) == text


@pytest.mark.parametrize("shape", [(9,), (3, 4), (1, 9), (9, 1), (2, 3, 4), (1, 1, 9), (4, 0, 9)])
@pytest.mark.parametrize("most", [1, 2, 5, 9])
def test_a_large_array_is_written_part_by_part(shape, most, monkeypatch):
    array = np.arange(math.prod(shape)).reshape(shape) / 3
    whole = literal(array), [*numbers(array)]
    monkeypatch.setattr("gradcli.formats.texts.literal._MOST_TOGETHER", most)
    assert (literal(array), [*numbers(array)]) == whole
    assert literal(np.array(0.5)) == "0.5"


@pytest.mark.parametrize(
    ("value", "plain", "in_json"),
    [
        (math.nan, "nan", '"NaN"'),
        (math.inf, "inf", '"Infinity"'),
        ([-math.inf, 1.0], "[-inf,1.0]", '["-Infinity",1.0]'),
        (np.array([np.nan, 1], dtype=np.float32), "[nan,1.0]", '["NaN",1.0]'),
    ],
)
def test_numbers_that_are_not_finite_are_strings_in_json_only(value, plain, in_json):
    assert literal(value) == plain
    assert literal(value, json=True) == in_json
    json.loads(in_json)


def bits(x):
    return struct.pack("<d", x)


@given(st.lists(st.floats(allow_nan=False)))
def test_floats_read_back_to_the_same_bits(values):
    read = [float(value) for value in json.loads(literal(values, json=True))]  # "Infinity", too
    assert [*map(bits, read)] == [*map(bits, values)], f"{values} became {read}"


@given(st.floats(width=32, allow_nan=False))
def test_float32_reads_back_to_the_same_float32(x):
    text = literal(np.array([x], dtype=np.float32))
    assert np.float32(text[1:-1]) == np.float32(x), f"{x} was written {text}"
    assert len(text[1:-1]) <= len(repr(float(np.float32(x))))


# `st.text` first writes a table of all characters, which takes seconds
characters = st.one_of(st.integers(0, 0x7F), st.integers(0, 0xD7FF), st.integers(0xE000, 0x10FFFF))


@given(st.lists(characters.map(chr)).map("".join))
def test_strings_are_what_json_reads(text):
    assert json.loads(quote(text)) == text


def test_a_list_nested_a_hundred_thousand_deep_is_written():
    value = []
    for _ in range(100_000):
        value = [value]
    assert literal(value) == "[" * 100_001 + "]" * 100_001


def test_a_function_has_no_literal():
    with pytest.raises(TypeError, match="function"):
        literal(lambda: 1)


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (1.5, ["1.5"]),
        (np.array([[1.0, 2.0], [3.0, math.nan]]), ["1.0", "2.0", "3.0", "nan"]),
        ([1, [2.0, True]], ["1", "2.0", "true"]),
        ("text", ["text"]),
        (None, []),
    ],
)
def test_numbers_are_in_row_major_order(value, texts):
    assert list(numbers(value)) == texts
