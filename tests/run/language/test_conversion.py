"""Floats that become ints: cut off, and an error where there is no int, whichever the way."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.errors import GradError
from gradcli.program import check_source, load_source
from gradcli.source import Source

WAYS = {
    "long": "tensor({}).long()",
    "int": "tensor({}).int()",
    "long of several": "tensor([1.0, {}]).long()",
    "to": "tensor({}).to(int64)",
    "type": "tensor([{}]).type(int64)",
    "float32": "tensor([{}], dtype=float32).to(int64)",
    "Python's int": "int({})",
    "int of a tensor": "int(tensor([{}]))",
    "tensor": "tensor([{}], dtype=int64)",
    "tensor of a number": "tensor({}, dtype=int64)",
    "full": "full((2,), {}, dtype=int64)",
    "full_like": "full_like(tensor([1, 2]), {})",
    "fill_": "x = tensor([1, 2])\nx.fill_({})\nx",
    "fill_ without dimensions": "x = tensor(1)\nx.fill_({})\nx",
    "an item": "x = tensor([1, 2])\nx[0] = {}\nx",
    "items": "x = tensor([1, 2])\nx[[1, 0]] = tensor([1.0, {}])\nx",
    "a slice": "x = tensor([1, 2])\nx[:1] = {}\nx",
    "a mask": "x = tensor([1, 2])\nx[x > 1] = {}\nx",
    "masked_fill": "tensor([1, 2]).masked_fill(tensor([True, False]), {})",
    "masked_fill_": "x = tensor([1, 2])\nx.masked_fill_(tensor([True, False]), {})\nx",
    "index_fill": "tensor([1, 2]).index_fill(0, tensor([0]), {})",
    "sum": "tensor([1.0, {}]).sum(dtype=int64)",
    "cumsum": "tensor([1.0, {}]).cumsum(0, dtype=int64)",
}


def result(text):
    return load_source(Source("p", text), frozenset()).run({}).result


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_float_becomes_an_int_or_an_error(way):
    text = way.format("-2.75")
    assert "2.75" not in str(result(text))
    assert "-2" in str(result(text)) or "-1" in str(result(text))  # of 1 and -2.75 the sum is -1
    for value, said in (
        ("nan", "nan"),
        ("-inf", "inf"),
        ("1e19", "e+18|e+19"),
        ("2.0 ** 63", "e+18"),
    ):
        with pytest.raises(GradError) as caught:
            result(way.format(value))
        assert any(part in str(caught.value) for part in said.split("|")), str(caught.value)


def test_the_ends_of_64_bits_are_ints():
    assert result("tensor(-2.0 ** 63).long()") == -(2**63)
    assert result("-9223372036854775808") == -(2**63)
    assert result("tensor([9223372036854774784.0]).long()").tolist() == [2**63 - 1024]


@pytest.mark.parametrize(
    "text", ["9223372036854775808", "-9223372036854775809", "1 - 9223372036854775808"]
)
def test_a_literal_outside_64_bits_is_refused(text):
    with pytest.raises(GradError, match="does not fit an int of 64 bits"):
        result(text)


CASTS = {
    "x = tensor([True])\nx += 1": "int64",
    "x = tensor(True)\nx *= 2": "int64",
    "x = tensor([1, 2])\nx += 0.5": "float64",
    "x = tensor(1)\nx /= 2": "float64",
    "x = tensor([1, 2])\nx *= tensor(0.5, dtype=float32)": "float32",
    "x = tensor([True])\nx += tensor(0.5)": "float64",
    "x = tensor([1])\nx.add_(1, alpha=0.5)": "float64",
    "x = tensor([1, 2])\nx.sqrt_()": "float64",
}


@pytest.mark.parametrize(("text", "dtype"), CASTS.items(), ids=CASTS)
def test_an_update_refuses_a_result_of_another_kind(text, dtype):
    said = f"a result of dtype {dtype} cannot be put into a tensor"
    with pytest.raises(GradError, match=said):
        result(text)
    assert said in str(check_source(Source("p", text), {}).findings)


def test_an_update_keeps_the_dtype_of_the_tensor():
    text = "x = ones(2, dtype=float32)\nx += tensor([1/3, 1/3])\nx *= True\nx"
    assert result(text).dtype == np.float32
    assert result("x = tensor([1])\nx += True\nx -= 3\nx").tolist() == [-1]
    assert result("x = tensor(True)\nx += True\nx") is True


def test_a_gradient_has_the_dtype_of_its_leaf():
    text = """
x = tensor([1/3, 1.0], requires_grad=True)
y = tensor(2.0, requires_grad=True)
z = tensor(1/3, dtype=float32, requires_grad=True)
((x.to(float32) * z).sum() * y.to(float32)).backward()
print(x.grad.dtype, y.grad.dtype, z.grad.dtype)
(x * 2).backward(tensor([1.0, 1.0], dtype=float32))
(y * 2).backward(tensor(1.0, dtype=float32))
x.grad.dtype == float64 and y.grad.dtype == float64 and z.grad.dtype == float32
"""
    assert result(text) is True


@pytest.mark.parametrize(
    "value",
    ["x.grad = tensor([1.0], dtype=float32)", "x.grad = tensor([1])", "x.data = tensor([1])"],
)
def test_a_leaf_takes_no_gradient_and_no_data_of_another_kind(value):
    with pytest.raises(GradError, match="dtype"):
        result(f"x = tensor([1.0], requires_grad=True)\n{value}")


def test_numbers_give_way_to_float32_and_tensors_do_not():
    text = "z = tensor(1/3, dtype=float32)\n"
    for use in (
        "z + 1/3",
        "xlogy(z, 1/3)",
        "lerp(z, z, 0.3)",
        "add(z, z, alpha=0.3)",
        "addcmul(z, z, z, value=0.3)",
        "mse_loss(z, z * 2)",
        "z == 1/3",
        "z.clamp(0.1, 0.2)",
    ):
        expected = np.bool_ if "==" in use else np.float32
        assert np.asarray(result(text + use)).dtype == expected, use
    assert result(text + "z == 1/3") is True
    assert result(text + "z == tensor(1/3)") is False
    assert result(text + "(z + tensor(1/3)).item()") == np.float64(np.float32(1 / 3)) + 1 / 3


def test_a_range_of_large_ints_has_all_of_them():
    assert result("arange(0, 9007199254740993, 9007199254740992)").tolist() == [0, 2**53]
    assert result("arange(-2, -9223372036854775808, -9223372036854775806)").tolist() == [-2]
    ends = "arange(-9223372036854775808, 9223372036854775807, 4611686018427387904)"
    assert result(ends).tolist() == [-(2**63), -(2**62), 0, 2**62]


@pytest.mark.parametrize(
    "text",
    ["tensor(True) - tensor(True)", "-tensor(True)", "tensor(2) ** -1", "tensor(2) ** tensor(-1)"],
)
def test_what_arrays_refuse_tensors_without_dimensions_refuse(text):
    with pytest.raises(GradError):
        result(text)


def test_a_tensor_of_tensors_has_the_dtype_that_holds_all():
    text = "z = tensor(1/3, dtype=float32)\n"
    for items, dtype in (("1, z", "float32"), ("z, 0.1", "float64"), ("True, tensor(2)", "int64")):
        assert result(f"{text}tensor([{items}])").dtype == dtype


def test_the_gradient_of_both_is_of_their_digits():
    text = "z = tensor(1/3, dtype=float32)\ny = tensor(3.0, requires_grad=True)\n(y * y * z).backward()\ny.grad"
    assert result(text) == 6 * np.float64(np.float32(1 / 3))
