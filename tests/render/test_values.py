import re

import numpy as np
import pytest

from gradcli.render.derivatives.answers import derivative_view
from gradcli.render.numbers import align, block, number, shape_of
from gradcli.render.text import cells, plain_text, shorten, visible
from gradcli.render.values import run_view
from gradcli.results import Binding, GradResult, RunResult

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("value", "precision", "text"),
    [
        (1.23456789, 6, "1.23457"),
        (1.23456789, 3, "1.23"),
        (2.0, 6, "2"),
        (1e10, 6, "1e+10"),
        (float("nan"), 6, "nan"),
        (True, 6, "True"),
        (12345678, 3, "12345678"),
        ("a\x1b", 6, "'a\\x1b'"),
    ],
)
def test_number(value, precision, text):
    assert number(value, precision) == text


def test_points_stand_under_each_other():
    texts = ["0.1", "90", "-12.345", "1e+06", "nan"]
    assert align(texts) == ["  0.1  ", " 90    ", "-12.345", "  1e+06", "nan    "]


STACK = ["[[[0, 1],", "  [2, 3]],", " [[4, 5],", "  [6, 7]]]"]


@pytest.mark.parametrize(
    ("value", "width", "lines"),
    [
        ([1.0, 2.5], 20, ["[1, 2.5]"]),
        (np.arange(100.0), 24, ["[0, 1, 2, …, 97, 98, 99]"]),
        (np.arange(100.0), 12, ["[0, …, 99]"]),
        (np.arange(100.0), 5, ["[0, …"]),
        (np.array([[1.0, -2.25], [10.5, 3.0]]), 30, ["[[ 1,   -2.25],", " [10.5,  3]]"]),
        (np.zeros((0, 3)), 30, ["[]"]),
        (np.arange(8.0).reshape(2, 2, 2), 30, STACK),
        (np.arange(99.0).reshape(3, 33, 1), 30, ["99 numbers, 0 to 98"]),
        ([1, np.zeros((2, 2)), "a"], 30, ["[1, [2×2], 'a']"]),
        ([1, [2, 3]], 30, ["[1, [2, 3]]"]),
        ([[1, [2, 3]], np.ones(2)], 30, ["[[1, [2, 3]], [1, 1]]"]),
        ([[[[[5], 1], 1], 1], 1], 30, ["[[[[[…], 1], 1], 1], 1]"]),
        ([[1.0], [1.0, 2.0]], 30, ["[[1], [1, 2]]"]),
        (np.array(2.0), 30, ["2"]),
        (None, 30, [""]),
    ],
)
def test_block(value, width, lines):
    assert block(value, 6, width) == lines


def test_a_tall_matrix_shows_its_ends():
    lines = block(np.arange(40.0).reshape(20, 2), 6, 40)
    assert lines == [
        "[[ 0,  1],",
        " [ 2,  3],",
        " [ 4,  5],",
        " …",
        " [36, 37],",
        " [38, 39]]",
    ]


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (1.0, ()),
        ("abc", ()),
        ([1, 2], (2,)),
        ([[1, 2, 3], [4, 5, 6]], (2, 3)),
        ([[1], [2, 3]], ()),
        (np.zeros((2, 3, 4)), (2, 3, 4)),
    ],
)
def test_shape_of(value, shape):
    assert shape_of(value) == shape


GRAD = GradResult(
    "loss",
    1.6666666666666667,
    {"w": np.array([4 / 3, 2.0]), "k": -12.5, "T0": 0.25},
    {"w": np.array([1.0, 2.0]), "k": 0.1, "T0": 90.0},
)


def test_gradient_table():
    assert (
        plain_text(derivative_view(GRAD, precision=6, width=80))
        == """\
loss = 1.66667

name  shape  value   gradient
w     [2]    [1, 2]  [1.33333, 2]
k             0.1    -12.5
T0           90        0.25
"""
    )


def test_gradient_table_of_twenty_columns():
    assert (
        plain_text(derivative_view(GRAD, precision=3, width=20))
        == """\
loss = 1.67

w
  shape     [2]
  value     [1, 2]
  gradient  [1.33, …
k
  value     0.1
  gradient  -12.5
T0
  value     90
  gradient  0.25
"""
    )


def test_run_table_leaves_empty_columns_out():
    result = RunResult(
        "y", 4.0, (Binding("x", 2.0, 4.0, "", True), Binding("y", 4.0, None, "<PowBackward0>"))
    )
    assert (
        plain_text(run_view(result, precision=6, width=80))
        == """\
name  dtype    value  grad  grad_fn
x     float64  2      4
y     float64  4            <PowBackward0>

y = 4
"""
    )


def test_a_run_of_nothing_shows_nothing():
    assert run_view(RunResult("result", None, ()), precision=6, width=80) == []


@pytest.mark.parametrize("width", [20, 21, 33, 40, 57, 80, 132])
def test_no_line_is_wider_than_the_terminal(width):
    values = {
        "k": -12.3456,
        "n": 123456789012345,
        "a_long_name": RNG.normal(size=(3, 4)) * 100,
        "x": RNG.normal(size=1000),
        "big": RNG.normal(size=(40, 50)),
        "cube": RNG.normal(size=(2, 3, 4)),
        "text": "a text of some length\n",
        "mixed": [1, 2.5, RNG.normal(size=(2, 2))],
        "日本": 1.5,
    }
    bindings = tuple(Binding(n, v, v, "<MeanBackward0>") for n, v in values.items())
    run = run_view(RunResult("y", values["big"], bindings), precision=6, width=width)
    grad = derivative_view(GradResult("y", 1.0, values, values), precision=6, width=width)
    for line in plain_text([*run, *grad]).splitlines():
        assert cells(line) <= width, f"{cells(line)} cells in {line!r}"


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("é", 1)],
)
def test_cells(text, width):
    assert cells(text) == width


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 4, "日…"), ("abc", 0, "")],
)
def test_shorten(text, width, short):
    assert shorten(text, width) == short


def test_nothing_invisible_stays_invisible():
    shown = visible("".join(map(chr, range(0x3000))))
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]", shown)
