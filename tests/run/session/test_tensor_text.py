"""Tensors and values as text, where lines break and formats change: as PyTorch's `_tensor_str`."""

import pytest

from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import Options

OF_FLOAT32 = "torch.tensor([1.0, 2.0], dtype=torch.float32, requires_grad=True)"
TWO_LINES = "torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True).to(torch.float32)"


def printed(text):
    lines = []
    load(f"import torch\n{text}\n").run(options=Options(echo=lines.append))
    return "".join(lines)


def with_suffixes(body, suffixes, width):
    """`_add_suffixes` of PyTorch's `_tensor_str.py`."""
    used = len(body) - body.rfind("\n") + 1
    for suffix in suffixes:
        if used + len(suffix) + 2 > width:
            body += ",\n" + " " * len("tensor(") + suffix
            used = len("tensor(") + len(suffix)
        else:
            body += ", " + suffix
            used += len(suffix) + 2
    return body + ")\n"


@pytest.mark.parametrize(
    ("value", "body", "suffixes"),
    [
        ("torch.ones(1)", "tensor([1.]", []),
        (OF_FLOAT32, "tensor([1., 2.]", ["dtype=torch.float32", "requires_grad=True"]),
        (f"{OF_FLOAT32} * 1", "tensor([1., 2.]", ["dtype=torch.float32", "grad_fn=<MulBackward0>"]),
        (
            TWO_LINES,
            "tensor([[1., 2.],\n        [3., 4.]]",
            ["dtype=torch.float32", "grad_fn=<ToCopyBackward0>"],
        ),
        ("torch.zeros(0, 3).bool()", "tensor([]", ["size=(0, 3)", "dtype=torch.bool"]),
    ],
)
def test_what_stands_behind_the_elements_goes_on_the_next_line_where_there_is_no_room(
    value, body, suffixes
):
    widths = range(25, 90)
    settings = "".join(f"torch.set_printoptions(linewidth={w})\nprint(x)\n" for w in widths)
    wanted = "".join(with_suffixes(body, suffixes, w) for w in widths)
    assert printed(f"x = {value}\n{settings}") == wanted


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (1, ["[1.,", "2.,", "3.])"]),
        (11, ["[1.,", "2.,", "3.])"]),
        (14, ["[1.,", "2.,", "3.])"]),
        (15, ["[1., 2.,", "3.])"]),
        (18, ["[1., 2.,", "3.])"]),
        (19, ["[1., 2., 3.])"]),
    ],
)
def test_a_line_holds_as_many_elements_as_fit_and_at_least_one(width, lines):
    """Each takes its width and 2, behind the 7 of `tensor(`."""
    text = printed(
        f"torch.set_printoptions(linewidth={width})\nprint(torch.tensor([1.0, 2.0, 3.0]))"
    )
    assert text == "tensor(" + ("\n" + " " * 8).join(lines) + "\n"


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ("5", "[0, 1, 2, 3, 4]"),
        ("6", "[0,  ..., 5]"),
        ("2, 3", "[[0,  ..., 2],\n        [3,  ..., 5]]"),
        ("3, 2", "[[0, 1],\n        ...,\n        [4, 5]]"),
        ("1, 6", "[[0,  ..., 5]]"),
    ],
)
def test_of_more_elements_than_the_threshold_the_edges_are_shown(shape, text):
    count = 1
    for n in shape.split(","):
        count *= int(n)
    options = "torch.set_printoptions(threshold=5, edgeitems=1)"
    assert printed(f"{options}\nprint(torch.arange({count}).reshape({shape}))") == (
        f"tensor({text})\n"
    )


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        ("1.0, 1000.0", "[   1., 1000.]"),
        ("1.0, 1001.0", "[1.0000e+00, 1.0010e+03]"),
        ("0.5, 500.0", "[  0.5000, 500.0000]"),
        ("0.5, 500.5", "[5.0000e-01, 5.0050e+02]"),
        ("1e8", "[100000000.]"),
        ("1e8 + 1", "[1.0000e+08]"),
        ("1e-4", "[0.0001]"),
        ("0.9e-4", "[9.0000e-05]"),
        ("0.0, 0.5", "[0.0000, 0.5000]"),
        ("0.0, -0.0", "[0., -0.]"),
        ("nan, 1.0", "[nan, 1.]"),
        ("inf, 2.5, -3.0", "[    inf,  2.5000, -3.0000]"),
        ("nan, inf", "[nan, inf]"),
    ],
)
def test_the_format_is_chosen_by_the_smallest_and_the_largest(elements, text):
    """Scientific beyond a ratio of 1,000, above 1e8 and below 1e-4."""
    assert printed(f"print(torch.tensor([{elements}]))") == f"tensor({text})\n"


VALUES = [
    ("sin", "<function sin>"),
    ("[sin, int]", "[<function sin>, <function int>]"),
    ("lambda x: x", "<function <lambda>>"),
    ("(v for v in [1])", "<generator>"),
    ("f()", "<generator f>"),
    ("f", "<function f>"),
    ("A", "<class '__main__.A'>"),
    ("A()", "an A"),
    ("[A()]", "[an A]"),
    ("(1,)", "(1,)"),
    ("()", "()"),
    ("{}", "{}"),
    ("set()", "set()"),
    ("{1: 'a', 'b': [2.5]}", "{1: 'a', 'b': [2.5]}"),
    ("{1: 2}.items()", "dict_items([(1, 2)])"),
    ("torch.ones(2).max(0)", "torch.return_types.max(\nvalues=tensor(1.),\nindices=tensor(0))"),
    ("f'{3.5:>{6}.2f}|'", "  3.50|"),
    ("f'{A()!s:>6}|'", "  an A|"),
    ("f'{True:d}'", "1"),
    ("f'{3:}'", "3"),
]


@pytest.mark.parametrize(("value", "text"), VALUES)
def test_values_are_printed_so(value, text):
    head = "def f(): yield 1\nclass A:\n    def __repr__(self): return 'an A'\n"
    assert printed(f"{head}print({value})") == f"{text}\n"


@pytest.mark.parametrize(
    ("program", "code", "message"),
    [
        ("f'{1.5:>a}'", "bad-format", "the format `>a` does not fit the value 1.5"),
        ("f'{\"a\":.1f}'", "bad-format", "the format `.1f` does not fit the value 'a'"),
        (
            "class A:\n    def __repr__(self): return 3\nprint(A())",
            "wrong-type",
            "`str` needs a method that returns text",
        ),
        (
            "class A:\n    def __str__(self): return len(3)\nprint(A())",
            "wrong-type",
            "3 has no length",
        ),
    ],
)
def test_text_that_cannot_be_made_is_refused(program, code, message):
    with pytest.raises(GradError) as error:
        printed(program)
    (first,) = error.value.diagnostics
    assert (first.code, first.message) == (code, message)
