"""A value from outside means the same however it is given: each declaration takes each value, by
each way that can write it, in one form, or refuses it.
"""

import io
import json

import numpy as np
import pytest

from gradcli.errors import GradError, InputError
from gradcli.formats.files.compressed import Opened
from gradcli.formats.readers.json_values import json_value
from gradcli.formats.readers.read import value_of
from gradcli.formats.readers.rows import Rows, Wanted
from gradcli.program import Given, constant, load
from gradcli.source import Source


def cell(value):
    rows = Rows(
        "x.csv",
        Opened(io.BytesIO(f'x\n"{json.dumps(value)}"\n'.encode()), "x.csv", (OSError,), None),
    )
    return Wanted(frozenset("x"), ()).of(next(iter(rows)))["x"]


def column(value):
    table = "".join(f"{json.dumps(item)}\n" for item in value)
    return value_of("x.csv", f"x\n{table}".encode(), "x")


WAYS = {
    "NAME=VALUE": lambda value: constant(repr(value), "x", "").value,
    "tensor": lambda value: constant(f"tensor({value!r})", "x", "").value,
    "JSON": lambda value: json_value(Source("", json.dumps(value))),
    "CSV": cell,
    "NumPy": np.array,
    "Python": lambda value: value,
}
REFUSED = "refused"
VALUES = [2, 2.5, True, [1, 2], [1.5, 2.0], [1.0, 0.0], [True, False], [[1, 2], [3, 4]], "a", None]
TABLE = {  # what the program prints for each value
    "input x: float": ["2.0", "2.5", "1.0", *[REFUSED] * 7],
    "input x: int": ["2", REFUSED, "1", *[REFUSED] * 7],
    "input x: bool": [REFUSED, REFUSED, "True", *[REFUSED] * 7],
    "input x: float[2]": [
        *(REFUSED, REFUSED, REFUSED, "tensor([1., 2.])", "tensor([1.5000, 2.0000])"),
        *("tensor([1., 0.])", "tensor([1., 0.])", REFUSED, REFUSED, REFUSED),
    ],
    "input x: int[n]": [
        *(REFUSED, REFUSED, REFUSED, "tensor([1, 2])", REFUSED, "tensor([1, 0])"),
        *("tensor([1, 0])", REFUSED, REFUSED, REFUSED),
    ],
    "input x: bool[...]": [
        *(REFUSED, REFUSED, "tensor(True)", REFUSED, REFUSED),
        *("tensor([ True, False])", "tensor([ True, False])", REFUSED, REFUSED, REFUSED),
    ],
    "input x: float[...] = 1.0": [
        *(
            "tensor(2.)",
            "tensor(2.5000)",
            "tensor(1.)",
            "tensor([1., 2.])",
            "tensor([1.5000, 2.0000])",
        ),
        *("tensor([1., 0.])", "tensor([1., 0.])", "tensor([[1., 2.],\n        [3., 4.]])"),
        *(REFUSED, REFUSED),
    ],
    "input x = 1.0": ["2.0", "2.5", "1.0", *[REFUSED] * 7],
    "input x = 1": ["2", REFUSED, "1", *[REFUSED] * 7],
    "input x = True": [REFUSED, REFUSED, "True", *[REFUSED] * 7],
    "param x = 1": [
        *(f"tensor({text}, requires_grad=True)" for text in ("2.", "2.5000", "1.")),
        *[REFUSED] * 7,
    ],
    "x = 1.0": ["2.0", "2.5", "1.0", *[REFUSED] * 7],
    "x = 1": ["2", REFUSED, "1", *[REFUSED] * 7],
    "x = [1.0]": [
        *(REFUSED, REFUSED, REFUSED, "[1.0, 2.0]", "[1.5, 2.0]", "[1.0, 0.0]", "[1.0, 0.0]"),
        *("[[1.0, 2.0], [3.0, 4.0]]", REFUSED, REFUSED),
    ],
    "x = (1, 2)": [
        *(REFUSED, REFUSED, REFUSED, "(1, 2)", REFUSED, "(1, 0)", "(1, 0)"),
        *("([1, 2], [3, 4])", REFUSED, REFUSED),
    ],
    "x = 'b'": [*[REFUSED] * 8, "a", REFUSED],
    "param x = [1, 2]": [
        *(f"tensor({text}, requires_grad=True)" for text in ("2.", "2.5000", "1.")),
        *(f"tensor([{text}], requires_grad=True)" for text in ("1., 2.", "1.5000, 2.0000")),
        *(f"tensor([{text}], requires_grad=True)" for text in ("1., 0.", "1., 0.")),
        "tensor([[1., 2.],\n        [3., 4.]], requires_grad=True)",
        *(REFUSED, REFUSED),
    ],
    "input x = [1, 2]": [
        *("tensor(2)", REFUSED, "tensor(1)", "tensor([1, 2])", REFUSED, "tensor([1, 0])"),
        *("tensor([1, 0])", "tensor([[1, 2],\n        [3, 4]])", REFUSED, REFUSED),
    ],
}
FLOATS = [
    *("tensor(2.)", "tensor(2.5000)", "tensor(1.)", "tensor([1., 2.])", "tensor([1.5000, 2.0000])"),
    *("tensor([1., 0.])", "tensor([1., 0.])", "tensor([[1., 2.],\n        [3., 4.]])"),
    *(REFUSED, REFUSED),
]
TABLE |= {
    "input x = [200.0, 0.05]": FLOATS,
    "x = tensor([1.0])": FLOATS,
    "input x = ones(2)": FLOATS,
    "input x": ["2.0", "2.5", "1.0", *FLOATS[3:]],
    "": ["2.0", "2.5", "1.0", *FLOATS[3:]],
}


def shown(program, value):
    try:
        found = program.run(x=Given(value, "x"))
    except InputError:
        return REFUSED
    return "\n".join(found.printed)


def writes(way, value):
    """Whether a way can write a value."""
    if way in ("CSV", "NumPy") and (isinstance(value, str) or value is None):
        return False
    if way == "tensor":
        return isinstance(value, list)
    return True


@pytest.mark.parametrize("declared", TABLE)
def test_each_way_to_give_a_value_means_the_same(declared):
    program = load(f"{declared}\nprint(x)")
    for value, wanted in zip(VALUES, TABLE[declared], strict=True):
        for way, given in WAYS.items():
            if writes(way, value):
                assert shown(program, given(value)) == wanted, f"{value!r} by {way}"


@pytest.mark.parametrize(
    "declared", ["input x: float[2]", "input x = [1.0, 2.0]", "x = [1.0, 2.0]"]
)
def test_a_column_is_a_list(declared):
    program = load(f"{declared}\nprint(x)")
    assert shown(program, column([1, 2])) == shown(program, [1, 2]) != REFUSED


@pytest.mark.parametrize("kind", ["input", "param"])
@pytest.mark.parametrize("given", [{}, {"t": [200.0, 0.05]}])
def test_a_list_is_a_tensor_by_default_and_given(kind, given):
    program = load(f"{kind} t = [200.0, 0.05]\nprint(type(t))\n(t * 2)[0]")
    found = program.run(**given)
    assert found.printed == ("<class 'torch.Tensor'>",)
    assert found.result == 400
    assert program.grad(**given).grad["t"].tolist() == [2.0, 0.0]


def test_a_decimal_comma_is_told():
    with pytest.raises(GradError) as caught:
        load("input k = 1.0\nk").run(k=constant("1,5", "k", "k="))
    found = caught.value.diagnostics[0]
    assert found.message == "`k` is declared with a number, got shape [2]"
    assert found.help == "write decimals after a point"
    assert found.notes == ("given as k=1,5",)


def test_what_is_given_for_all_runs_is_not_changed_by_one():
    program = load("input x = ones(2)\nx += 1\nx")
    given = constant("ones(2)", "x", "x=")
    assert [program.run(x=given).result.tolist() for _ in range(2)] == [[2.0, 2.0]] * 2


@pytest.mark.parametrize("declared", ["input k = 1.0", "param k = 1.0", "k = 1.0"])
def test_the_way_out_of_a_number_works(declared):
    with pytest.raises(GradError) as caught:
        load(f"{declared}\nk").run(k=[1, 2])
    word = declared.split()[0].replace("k", "input")
    assert caught.value.diagnostics[0].help == (
        f"`{word} k: float[...]` takes numbers and tensors of any shape"
    )
    assert load(f"{word} k: float[...] = 1.0\nk").run(k=[1, 2]).result.tolist() == [1.0, 2.0]
