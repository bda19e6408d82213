"""Parts of messages: values in few words, turns of loops, lists of calls."""

import numpy as np
import pytest

from gradcli.engine.run.session import messages
from gradcli.engine.tape.tensor import Number, Tensor, leaf
from gradcli.source import Source, Span

SHORT = [
    (0.1, "0.1"),
    (1 / 3, "0.333333"),
    (1234567.0, "1.23457e+06"),
    (1234567, "1234567"),
    (True, "True"),
    (Number(2.5), "2.5"),
    (leaf(2.5), "2.5"),
    (Tensor(np.asarray(2.5)), "2.5"),
    (Tensor(np.array([1.0])), "[1]"),
    (Tensor(np.array([[1.0, 2.5], [1 / 3, 4.0]])), "[1, 2.5, 0.333333, 4]"),
    (Tensor(np.array([3, 1, 2, 5, 4])), "a tensor of shape [5] from 1 to 5"),
    (Tensor(np.array([3.0, np.nan, 2.0, np.inf, 4.0])), "a tensor of shape [5] from 2 to 4, 2 not finite"),
    (Tensor(np.full((5, 1), np.nan)), "a tensor of shape [5, 1], 5 not finite"),
    (Tensor(np.zeros((0, 2))), "a tensor of shape [0, 2]"),
    (Tensor(np.array([True, False])), "a tensor of shape [2]"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), SHORT)
def test_a_value_in_few_words(value, text):
    assert messages.short(value) == text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (2.5, "2.5"),
        (leaf(2.5), "2.5"),
        (Tensor(np.zeros(2)), "[0, 0]"),
        ("2.5", None),
        ([2.5], None),
        (None, None),
    ],
)
def test_the_label_of_a_value(value, said):
    source, span = Source("<text>", "x + y"), Span(4, 5)
    label = messages.value_label(source, span, value)
    assert label == (None if said is None else messages.Label(span, f"`y` is {said}"))


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("y", "`y`"),
        ("y" * 20, f"`{'y' * 20}`"),
        ("y" * 21, "this"),
        ("(x +\ny)", "this"),
    ],
)
def test_the_label_of_an_operand(written, name):
    source, span = Source("<text>", f"x + {written} + z"), Span(4, 4 + len(written))
    assert messages.operand_label(source, span, "a").text == f"{name} is a string"
    assert messages.operand_label(source, span, [1]).text == f"{name} is a list"


ORDINALS = {
    1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 9: "9th", 10: "10th", 11: "11th", 12: "12th",
    13: "13th", 14: "14th", 20: "20th", 21: "21st", 22: "22nd", 23: "23rd", 24: "24th",
    100: "100th", 101: "101st", 102: "102nd", 111: "111th", 112: "112th", 113: "113th",
    121: "121st", 1011: "1,011th", 1021: "1,021st", 1203: "1,203rd", 1100: "1,100th",
    1302: "1,302nd",
}  # fmt: skip


@pytest.mark.parametrize(("number", "ordinal"), ORDINALS.items())
def test_the_turn_of_a_loop_is_an_ordinal(number, ordinal):
    assert messages.turn_note(number, "line 7") == f"in the {ordinal} turn of the loop at line 7"


@pytest.mark.parametrize("count", range(8))
def test_of_many_calls_three_are_told(count):
    lines = [messages.call_note(n) for n in range(count)]
    told = messages.shortened(lines)
    assert told == (lines if count < 5 else [*lines[:3], f"... and {count - 3} calls further out"])
    assert told is not lines
