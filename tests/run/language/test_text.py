"""The text of values. What tensors look like was recorded from PyTorch 2.13, float64 by default."""

from __future__ import annotations

import subprocess
import sys
from math import inf, nan, prod

import numpy as np
import pytest

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.session.text import format_value, repr_text, text
from gradcli.engine.tape.graph import Watchpoint
from gradcli.engine.tape.tensor import Number, Tensor, leaf
from gradcli.engine.values.data import plain
from gradcli.engine.values.fields import Fields
from gradcli.errors import RunError

# what the tensor of it looks like
TENSORS = [
    ("2.5", "tensor(2.5000)"),
    ("-0.0", "tensor(-0.)"),
    ("3.0", "tensor(3.)"),
    ("0.0", "tensor(0.)"),
    ("1e-5", "tensor(1.0000e-05)"),
    ("123456789.0", "tensor(1.2346e+08)"),
    ("1e8", "tensor(100000000.)"),
    ("inf", "tensor(inf)"),
    ("nan", "tensor(nan)"),
    ("7", "tensor(7)"),
    ("True", "tensor(True)"),
    ("0.1", "tensor(0.1000)"),
    ("100000.5", "tensor(100000.5000)"),
    ("1234.5678", "tensor(1234.5678)"),
    ("[1.0, 2.0]", "tensor([1., 2.])"),
    ("[1.0, 2.5]", "tensor([1.0000, 2.5000])"),
    ("[0.0, 0.0]", "tensor([0., 0.])"),
    ("[1, 20, -3]", "tensor([ 1, 20, -3])"),
    ("[True, False]", "tensor([ True, False])"),
    ("[1e-3, 1.0]", "tensor([0.0010, 1.0000])"),
    ("[1e-3, 1.1]", "tensor([1.0000e-03, 1.1000e+00])"),
    ("[1e-5, 1.0]", "tensor([1.0000e-05, 1.0000e+00])"),
    ("[9999.5, 1.5]", "tensor([9.9995e+03, 1.5000e+00])"),
    ("[1.0, inf]", "tensor([1., inf])"),
    ("[1.5, -inf, nan]", "tensor([1.5000,   -inf,    nan])"),
    ("[nan, nan]", "tensor([nan, nan])"),
    ("[inf, 1e9]", "tensor([       inf, 1.0000e+09])"),
    ("[0.0, 1e-7]", "tensor([0.0000e+00, 1.0000e-07])"),
    ("[1e10, 2e10]", "tensor([1.0000e+10, 2.0000e+10])"),
    ("[100.0, 0.1]", "tensor([100.0000,   0.1000])"),
    ("[1000.0, 1.0]", "tensor([1000.,    1.])"),
    ("[1001.0, 1.0]", "tensor([1.0010e+03, 1.0000e+00])"),
    ("[-1.0, 0.0, 2.0]", "tensor([-1.,  0.,  2.])"),
    ("[5e-324, 1.0]", "tensor([4.9407e-324,  1.0000e+00])"),
    ("[1e308, 1e-308]", "tensor([1.0000e+308, 1.0000e-308])"),
    (
        "[[1.0, 2.0], [3.0, 4.5]]",
        "tensor([[1.0000, 2.0000],\n        [3.0000, 4.5000]])",
    ),
    (
        "[[1, 2], [3, 40]]",
        "tensor([[ 1,  2],\n        [ 3, 40]])",
    ),
    (
        "[[[1.0], [2.0]], [[3.0], [4.0]]]",
        "tensor([[[1.],\n         [2.]],\n\n        [[3.],\n         [4.]]])",
    ),
    ("[[[[1.0, 2.0]]]]", "tensor([[[[1., 2.]]]])"),
    ("[]", "tensor([])"),
    ("[[], []]", "tensor([], size=(2, 0))"),
    (
        "[[-1.5, 2.0], [nan, 1e6]]",
        "tensor([[-1.5000e+00,  2.0000e+00],\n        [        nan,  1.0000e+06]])",
    ),
]

# shape, text of the tensor of 0, 1, 2, ... in it
COUNTED = [
    (
        (30,),
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])",
    ),
    (
        (3, 20),
        "tensor([[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "         18, 19],\n"
        "        [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37,\n"
        "         38, 39],\n"
        "        [40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57,\n"
        "         58, 59]])",
    ),
    ((1001,), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (
        (2, 600),
        "tensor([[   0,    1,    2,  ...,  597,  598,  599],\n"
        "        [ 600,  601,  602,  ..., 1197, 1198, 1199]])",
    ),
    (
        (11, 100),
        "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n"
        "        [ 100,  101,  102,  ...,  197,  198,  199],\n"
        "        [ 200,  201,  202,  ...,  297,  298,  299],\n"
        "        ...,\n"
        "        [ 800,  801,  802,  ...,  897,  898,  899],\n"
        "        [ 900,  901,  902,  ...,  997,  998,  999],\n"
        "        [1000, 1001, 1002,  ..., 1097, 1098, 1099]])",
    ),
    (
        (7, 2, 80),
        "tensor([[[   0,    1,    2,  ...,   77,   78,   79],\n"
        "         [  80,   81,   82,  ...,  157,  158,  159]],\n"
        "\n"
        "        [[ 160,  161,  162,  ...,  237,  238,  239],\n"
        "         [ 240,  241,  242,  ...,  317,  318,  319]],\n"
        "\n"
        "        [[ 320,  321,  322,  ...,  397,  398,  399],\n"
        "         [ 400,  401,  402,  ...,  477,  478,  479]],\n"
        "\n"
        "        ...,\n"
        "\n"
        "        [[ 640,  641,  642,  ...,  717,  718,  719],\n"
        "         [ 720,  721,  722,  ...,  797,  798,  799]],\n"
        "\n"
        "        [[ 800,  801,  802,  ...,  877,  878,  879],\n"
        "         [ 880,  881,  882,  ...,  957,  958,  959]],\n"
        "\n"
        "        [[ 960,  961,  962,  ..., 1037, 1038, 1039],\n"
        "         [1040, 1041, 1042,  ..., 1117, 1118, 1119]]])",
    ),
]

# the same with steps of 1/8
EIGHTHS = [
    (
        (30,),
        "tensor([0.0000, 0.1250, 0.2500, 0.3750, 0.5000, 0.6250, 0.7500, 0.8750, 1.0000,\n"
        "        1.1250, 1.2500, 1.3750, 1.5000, 1.6250, 1.7500, 1.8750, 2.0000, 2.1250,\n"
        "        2.2500, 2.3750, 2.5000, 2.6250, 2.7500, 2.8750, 3.0000, 3.1250, 3.2500,\n"
        "        3.3750, 3.5000, 3.6250])",
    ),
    ((1001,), "tensor([  0.0000,   0.1250,   0.2500,  ..., 124.7500, 124.8750, 125.0000])"),
]


def values(source: str):
    return plain(np.asarray(eval(source, {"inf": inf, "nan": nan})))


@pytest.mark.parametrize(("source", "expected"), TENSORS, ids=[s for s, _ in TENSORS])
def test_tensor_text_is_that_of_pytorch(source, expected):
    got = text(Tensor(values(source)))
    assert got == expected, f"tensor({source}) prints\n{got}\nexpected\n{expected}"


@pytest.mark.parametrize(
    ("shape", "expected", "step"),
    [(*row, 1) for row in COUNTED] + [(*row, 0.125) for row in EIGHTHS],
)
def test_long_and_large_tensors_break_and_shorten_as_in_pytorch(shape, expected, step):
    data = np.arange(prod(shape)).reshape(shape)
    got = text(Tensor(data if step == 1 else data * step))
    assert got == expected, f"shape {shape} prints\n{got}\nexpected\n{expected}"


def test_the_threshold_is_a_thousand_elements():
    assert "..." not in text(Tensor(np.arange(1000)))
    assert "..." in text(Tensor(np.arange(1001)))


SUFFIXES = [
    (Tensor(np.array([1.5, 2.0], np.float32)), "tensor([1.5000, 2.0000], dtype=torch.float32)"),
    (Tensor(np.array(0.1, np.float32)), "tensor(0.1000, dtype=torch.float32)"),
    (Tensor(np.zeros((0, 3), np.int64)), "tensor([], size=(0, 3), dtype=torch.int64)"),
    (Tensor(np.zeros(0, bool)), "tensor([], dtype=torch.bool)"),
    (
        leaf(np.zeros((2, 0), np.float32)),
        "tensor([], size=(2, 0), dtype=torch.float32, requires_grad=True)",
    ),
    (leaf(3.0), "tensor(3., requires_grad=True)"),
    (
        leaf(np.arange(11.0)),
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10.],\n"
        "       requires_grad=True)",
    ),
    (
        ops.mul(leaf(np.arange(12.0)), 1.5),
        "tensor([ 0.0000,  1.5000,  3.0000,  4.5000,  6.0000,  7.5000,  9.0000, 10.5000,\n"
        "        12.0000, 13.5000, 15.0000, 16.5000], grad_fn=<MulBackward0>)",
    ),
    (
        ops.reshape(leaf(np.arange(12.0) * 1.5 + 0.25), shape=(2, 6)),
        "tensor([[ 0.2500,  1.7500,  3.2500,  4.7500,  6.2500,  7.7500],\n"
        "        [ 9.2500, 10.7500, 12.2500, 13.7500, 15.2500, 16.7500]],\n"
        "       grad_fn=<ViewBackward0>)",
    ),
]


@pytest.mark.parametrize(("x", "expected"), SUFFIXES, ids=range(len(SUFFIXES)))
def test_suffixes_are_those_of_pytorch(x, expected):
    got = text(x)
    assert got == expected, f"prints\n{got}\nexpected\n{expected}"


def test_a_watched_value_looks_as_if_nobody_watched():
    x = leaf(2.0)
    y = ops.mul(x, 3.0)
    before = text(y)
    y.node = Watchpoint("y", y.node, 0, None)
    assert text(y) == before == "tensor(6., grad_fn=<MulBackward0>)", text(y)


class Size(tuple):
    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


def f(x):
    return x


OTHERS = [
    (3, "3"),
    (2.5, "2.5"),
    (1e22, "1e+22"),
    (nan, "nan"),
    (True, "True"),
    (None, "None"),
    ("it's", "it's"),
    (Number(0.1), "0.1"),
    ([1, 2.0, "a", None], "[1, 2.0, 'a', None]"),
    ([], "[]"),
    ((), "()"),
    ((1,), "(1,)"),
    ((1, "b"), "(1, 'b')"),
    ([Tensor(1.0), [Number(2.0)]], "[tensor(1.), [2.0]]"),
    ((Tensor(1.0),), "(tensor(1.),)"),
    (range(3), "range(0, 3)"),
    (Size((2, 3)), "torch.Size([2, 3])"),
    (f, "<function f>"),
    (ops.mul(leaf(1.0), 2.0).grad_fn, "<MulBackward0>"),
    (
        Fields(
            "max", ("values", "indices"), (Tensor(np.array([2.0, 4.0])), Tensor(np.array([1, 0])))
        ),
        "torch.return_types.max(\nvalues=tensor([2., 4.]),\nindices=tensor([1, 0]))",
    ),
]


@pytest.mark.parametrize(("value", "expected"), OTHERS, ids=[e for _, e in OTHERS])
def test_text_of_other_values(value, expected):
    assert text(value) == expected, f"{value!r} prints {text(value)}, expected {expected}"


def test_strings_have_quotes_inside_lists_only():
    assert text("a") == "a"
    assert repr_text("a") == "'a'"


FORMATS = [
    (Tensor(2.5), "", "", "2.5"),
    (Tensor(2.5), "", ".3f", "2.500"),
    (Tensor(2.5), "r", "", "tensor(2.5000)"),
    (Tensor(2.5), "s", "", "tensor(2.5000)"),
    (Tensor(np.array([2.5])), "", "", "tensor([2.5000])"),
    (Tensor(3), "", ">5", "    3"),
    (Tensor(True), "", "", "True"),
    (Tensor(np.array(0.1, np.float32)), "", "", "0.10000000149011612"),
    (leaf(1.5), "", ".1e", "1.5e+00"),
    (Number(0.25), "", "", "0.25"),
    (Number(0.25), "", ".1%", "25.0%"),
    (7, "", "03d", "007"),
    ("ab", "", ">4", "  ab"),
    ("ab", "r", "", "'ab'"),
    ("\u00e9", "a", "", "'\\xe9'"),
    ([1, "a"], "", "", "[1, 'a']"),
    ([1, 2], "r", ">8", "  [1, 2]"),
    (None, "", "", "None"),
]


@pytest.mark.parametrize(("value", "conversion", "spec", "expected"), FORMATS)
def test_formats_are_those_of_python(value, conversion, spec, expected):
    got = format_value(value, conversion, spec)
    assert got == expected, f"{text(value)}!{conversion}:{spec} gives {got!r}, not {expected!r}"


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        (Tensor(np.ones(2)), ".2f"),
        ([1.0], ".2f"),
        (1.5, "d"),
        ("a", ".2f"),
        (None, ">5"),
        (1.5, "q"),
    ],
)
def test_formats_that_do_not_fit_are_refused(value, spec):
    with pytest.raises(RunError) as caught:
        format_value(value, "", spec)
    assert caught.value.diagnostics[0].code == "bad-format", text(value)


def test_numbers_are_printed_without_numpy():
    program = (
        "import sys; from gradcli.engine.run.session.text import text; "
        "from gradcli.engine.tape.tensor import leaf; "
        "print(text(leaf(2.5)), text([1.0, True])); assert 'numpy' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "tensor(2.5000, requires_grad=True) [1.0, True]\n", done.stdout
