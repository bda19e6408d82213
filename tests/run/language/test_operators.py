"""Operators and the built-ins of their names."""

import math

import pytest

from gradcli.errors import RunError
from gradcli.program import load


def result(text):
    return load(text).run().result


def printed(text):
    return list(load(text).run().printed)


@pytest.mark.parametrize("name", ["add", "sub", "eq", "ne"])
@pytest.mark.parametrize("values", ["'a', 'b'", "(1, 2), (3, 4)"])
def test_a_built_in_is_not_the_operator_of_its_name(name, values):
    with pytest.raises(RunError) as caught:
        load(f"print({name}({values}))").run()
    first = caught.value.diagnostics[0]
    assert first.code == "wrong-type", first.message
    assert first.message.startswith(f"`{name}` needs a number or tensor as `input`, got a "), name


def test_operators_join_and_compare_what_is_no_number():
    assert printed('print("a" + "b", (1, 2) + (3,), "a" == "a", (1, 2) != (1, 2))') == [
        "ab (1, 2, 3) True False"
    ]
    assert printed('s = "a"\ns += "b"\nprint(s)') == ["ab"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1 < 3 < 2", False),
        ("1 < 2 < 3", True),
        ("3 > 1 < 2", True),
        ("1 < 3 > 2 > 1", True),
        ("1 < 3 > 2 < 2", False),
        ("0 == 0 != 1 == 1", True),
    ],
)
def test_a_chain_compares_neighbours(text, wanted):
    assert result(f"1.0 if {text} else 0.0") == float(wanted), text


def test_a_chain_and_the_words_stop_at_what_decides():
    text = """
def f(x):
    print(x)
    return x
a = f(1) < f(0) < f(2)
b = f(0) and f(3)
c = f(4) or f(5)
d = f(6) if f(0) else f(7)
e = f(8) and f(0) or f(9)
print(a, b, c, d, e)
"""
    lines = ["1", "0", "0", "4", "0", "7", "8", "0", "9", "False 0 4 7 9"]
    assert printed(text) == lines


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("-7.5 % 2.0", 0.5), ("7.5 % -2.0", -0.5), ("-7 % 3", 2), ("-0.5 % 3.0", 2.5)],
)
def test_the_remainder_has_the_sign_of_the_divisor(text, wanted):
    assert result(text) == wanted, text
    left, _, right = text.partition(" % ")
    assert result(f"(tensor({left}) % tensor({right})).item()") == wanted, text
    assert result(f"(tensor([{left}]) % {right}).sum().item()") == wanted, text
    assert result(f"x = {left}\nx %= {right}\nx") == wanted, text


def test_the_smallest_int_is_one_and_what_is_below_is_refused():
    smallest = -(2**63)
    assert result("-9223372036854775807 - 1") == smallest
    assert result("(tensor([-9223372036854775807]) - 1).sum().item()") == smallest
    assert result("-4611686018427387904 * 2") == smallest
    assert result("(-2) ** 63") == smallest
    for text in ("x - 1", "-x", "abs(x)", "x * 2", "x // -1"):
        for start in ("-9223372036854775807 - 1", "tensor([-9223372036854775807]) - 1"):
            with pytest.raises(RunError) as caught:
                result(f"x = {start}\n{text}")
            assert caught.value.diagnostics[0].code == "integer-overflow", (start, text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1.5 + 1.0 in [1.0, 2.5]", True),
        ("tensor(2.0) in [tensor(1.0), tensor(2.0)]", True),
        ("tensor(2.0) in (1.0, 2.0)", True),
        ("2.0 in tensor([1.0, 2.0])", True),
        ("(1, 2) in [(1, 3), (1, 2)]", True),
        ("3 in (1, 2)", False),
        ("3.0 not in tensor([1.0, 2.0])", True),
    ],
)
def test_membership_is_by_value(text, wanted):
    assert printed(f"print({text})") == [str(wanted)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a, b, c = (1.0, 2.0)", "2 values cannot be unpacked into 3 names"),
        ("a, b = [1.0]", "1 values cannot be unpacked into 2 names"),
        ("a, b = tensor([1.0, 2.0, 3.0])", "3 values cannot be unpacked into 2 names"),
        ("a, b, c = zip([1, 2], [3, 4])", "2 values cannot be unpacked into 3 names"),
        ("a, b = enumerate([1, 2, 3])", "3 values cannot be unpacked into 2 names"),
        ("for a, b in [(1, 2, 3)]: print(a)", "3 values cannot be unpacked into 2 names"),
    ],
)
def test_as_many_values_are_unpacked_as_there_are_names(text, message):
    with pytest.raises(RunError) as caught:
        load(text).run()
    first = caught.value.diagnostics[0]
    assert (first.code, first.message) == ("wrong-count", message)


@pytest.mark.parametrize(
    ("places", "meant"),
    [
        ("[[0], [1]]", "[0], [1]"),
        ("[[1]]", "[1],"),
        ("[[0, 1], 1]", "[0, 1], 1"),
        ("[tensor(0), tensor(1)]", "0, 1"),
        ("[tensor([0, 1]), [1, 0]]", "tensor([0, 1]), [1, 0]"),
        ("[None, 1]", "None, 1"),
        ("[..., 0]", "..., 0"),
        ("[(0, 1), 1]", "(0, 1), 1"),
        ("[[True, False], [0]]", "[True, False], [0]"),
        ("[0, 1]", "tensor([0, 1])"),
        ("[True, False]", "tensor([True, False])"),
        ("([[0], [1]], 0)", "tensor([[0], [1]]), 0"),
        (f"[{', '.join(['[0]'] * 32)}]", "tensor([[0]] * 32)"),
    ],
)
def test_a_list_with_more_in_it_than_numbers_is_a_tuple_of_places(places, meant):
    read = f"x = arange(8.0).reshape(2, 2, 2)\nx[{places}].tolist() == x[{meant}].tolist()"
    assert load(read).run().result is True
    written = "y = zeros(2, 2, 2)\nz = zeros(2, 2, 2)\n"
    text = f"{written}y[{places}] = 1\nz[{meant}] = 1\ny.tolist() == z.tolist()"
    assert load(text).run().result is True
    assert not load(f"{read}\n").check().findings


def test_sets_have_no_remainder():
    for text in ("{1} % {1}", "{1: 2}.keys() % {1}"):
        with pytest.raises(RunError, match="`%` does not take"):
            load(f"print({text})").run()


LARGE = range(7, 10**15, 5)


@pytest.mark.parametrize("value", [7, 12, 8, 6, 10**15, 17.0, 17.5, -0.0, math.nan, math.inf, True])
def test_a_number_is_found_in_a_large_range_without_a_look_at_each_item(value):
    program = load(f"input x\nx in range({LARGE.start}, {LARGE.stop}, {LARGE.step})")
    wanted = value in (7, 12, 17) if value != 10**15 else False
    assert program.run(x=value).result is wanted
