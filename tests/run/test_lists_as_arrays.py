"""Functions of NumPy take a list or a tuple wherever they take an array."""

import numpy as np
import pytest

from gradcli.errors import GradError
from gradcli.grammar.meaning import modules
from gradcli.made.library_index import FILES
from gradcli.program import Options, check_source, load
from gradcli.source import Source

VALUES = {
    "A": "[3.0, 1.0, 2.0]",
    "B": "[1.0, 0.5, 2.5]",
    "M": "[[2.0, 1.0], [1.0, 3.0]]",
    "N": "[1, 2, 1]",
}
CALLS = ("A, B", "M, M", "M", "A", "A, N", "N", "A, 1", "M, 0", "M, (2, 2)", "A, 2, 3")
OTHERS = frozenset(
    f"np.{name}"
    for name in [
        "array_str",
        "array_repr",
        "copyto",
        "fill_diagonal",
        "put",
        "place",
        "putmask",
        "put_along_axis",
        "vectorize",
        "einsum",
        "linalg.multi_dot",
        "errstate",
        "ndenumerate",
        "ndindex",
        "broadcast_shapes",
        "diag_indices_from",
        "triu_indices_from",
        "tril_indices_from",
        "trim_zeros",
        "array2string",
        "iterable",
    ]
)
"""Names that change an array, want one, or give no values."""


def names(module, short):
    paths = [path.removeprefix(f"{module}.") for path in FILES if path.startswith(f"{module}.")]
    written = {name for name in paths if "." not in name}
    return sorted(f"{short}.{name}" for name in written.union(modules.names_of_others(module)))


def printed(call):
    out = []
    program = f"import numpy as np\nfound = {call}\nprint(repr(found), np.asarray(found).dtype)\n"
    load(program).run(options=Options(echo=out.append, compile="never"))
    return out


def of(call, form):
    return "".join(form(VALUES[c]) if c in VALUES else c for c in call)


def as_tuple(text):
    return text.replace("[", "(").replace("]", ")")


def answer(name, form):
    """The first call that the function takes with arrays, and what it gives with another form."""
    for call in CALLS:
        try:
            expected = printed(f"{name}({of(call, 'np.array({})'.format)})")
        except GradError:
            continue
        try:
            return expected, printed(f"{name}({of(call, form)})"), call
        except GradError as error:
            return expected, str(error), call
    return None


ALL = [*names("numpy", "np"), *names("numpy.linalg", "np.linalg")]


@pytest.mark.parametrize("form", [str, as_tuple], ids=["list", "tuple"])
def test_every_function_takes_a_list_for_an_array(form):
    answers = {name: answer(name, form) for name in ALL if name not in OTHERS}
    found = {name: pair for name, pair in answers.items() if pair is not None}
    assert len(found) > 0.7 * len(ALL)
    wrong = {name: pair for name, pair in found.items() if pair[0] != pair[1]}
    assert wrong == {}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("np.sum([a, b])", "10.0"),
        ("np.sum((a, b), axis=0)", "[4. 6.]"),
        ("np.sum([[1, 2], [3, 4]], axis=1)", "[3 7]"),
        ("np.sum([1, 2, 3])", "6"),
        ("sum([a, b])", "[4. 6.]"),
        ("np.mean((a, b))", "2.5"),
        ("np.linalg.norm((3.0, 4.0))", "5.0"),
        ("a + (1, 2)", "[2. 4.]"),
        ("(1, 2) - a", "[0. 0.]"),
        ("(1, 2) * a", "[1. 4.]"),
        ("a == (1, 3)", "[ True False]"),
        ("(1, 3) != a", "[False  True]"),
        ("a < (2, 2)", "[ True False]"),
        ("(a,) == a", "[[ True  True]]"),
        ("(1, 2) + (3, 4)", "(1, 2, 3, 4)"),
        ("np.atleast_1d([1, 2])", "[1 2]"),
        ("np.atleast_2d([1, 2], 3)", "(array([[1, 2]]), array([[3]]))"),
        ("np.vstack(np.ones((2, 2)))", "[[1. 1.]\n [1. 1.]]"),
        ("np.concatenate(np.ones((2, 2)))", "[1. 1. 1. 1.]"),
        ("np.concatenate([np.ones((1, 2)), a.reshape(2, 1)], axis=None)", "[1. 1. 1. 2.]"),
        ("np.stack(np.ones((2, 2)), axis=1).shape", "(2, 2)"),
    ],
)
def test_what_a_call_of_lists_and_tuples_prints(call, expected):
    out = []
    program = (
        f"import numpy as np\na = np.array([1.0, 2.0])\nb = np.array([3.0, 4.0])\nprint({call})\n"
    )
    load(program).run(options=Options(echo=out.append, compile="never"))
    assert "".join(out).rstrip("\n") == expected


def test_sums_of_arrays_in_a_list_are_those_of_compiled_code():
    program = (
        "import numpy as np\nparam a = np.array([1.0, 2.0])\ns = 0.0\nfor i in range(40):\n"
        "    s = s + np.sum(a * i) + np.sum(a) + np.sum([s, 1.0])\ns\n"
    )
    results = [load(program).grad(options=Options(compile=way)) for way in ("never", "always")]
    assert results[0].value == results[1].value
    assert results[0].grad["a"].tolist() == results[1].grad["a"].tolist()


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("np.sum([a * i, a])", "an array is made of a list"),
        ("np.sum(np.asarray([s, 1.0]))", "an array is made of a value known only at run time"),
    ],
)
def test_what_has_no_code_says_why(step, reason):
    program = (
        "import numpy as np\nparam a = np.array([1.0, 2.0])\ns = 0.0\nfor i in range(40):\n"
        f"    s = s + {step}\ns\n"
    )
    with pytest.raises(GradError, match=reason):
        load(program).grad(options=Options(compile="always"))


def test_asarray_is_the_array_itself():
    out = []
    program = "import numpy as np\na = np.ones(2)\nb = np.asarray(a)\nb[0] = 5.0\nc = np.array(a)\nc[1] = 7.0\nprint(a, c)\n"
    load(program).run(options=Options(echo=out.append))
    assert out == ["[5. 1.] [5. 7.]\n"]


def test_pytorchs_functions_take_no_tuple():
    for call in ("torch.sin((1.0, 2.0))", "torch.ones(2) + (1, 2)", "torch.ones(2) * (1, 2)"):
        with pytest.raises(GradError):
            load(f"import torch\n{call}\n").run(options=Options())


ITEMS = {
    "numbers": "[1.0, 2.0]",
    "arrays without dimensions": "[np.array(1.0), np.array(2.0)]",
    "arrays of one": "[np.array([1.0]), np.array([2.0])]",
    "one array of one": "[np.array([1.0])]",
    "matrices of one": "[np.ones((1, 1)), np.ones((1, 1))]",
    "arrays of two": "[np.ones(2), np.zeros(2)]",
    "lists of arrays of one": "[[np.ones(1)], [np.zeros(1)]]",
    "a tuple": "(np.ones(1), np.zeros(1))",
    "elements": "[np.ones(2)[0], np.ones(2)[1]]",
    "rows of a column": "[row * 2.0 for row in np.ones((3, 1))]",
}


@pytest.mark.parametrize("imports", ["", "import torch\n"])
@pytest.mark.parametrize("make", ["np.array", "np.asarray", "np.stack", "np.vstack"])
@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS)
def test_items_of_one_element_keep_their_dimensions(items, make, imports):
    """Also where they are connected to an input, and in what a check knows."""
    given = {"np": np}
    exec(f"y = {make}({items})", given)
    text = f"{imports}import numpy as np\ny = {make}({items})\n"
    expected = given["y"].shape, given["y"].tolist()
    program = load(f"{text}print(y.shape == {expected[0]})\ny")
    assert program.run().result.tolist() == expected[1]
    assert program.run().printed == ("True",)
    connected = items.replace("1.0", "w").replace("np.ones", "w * np.ones")
    text = f"{imports}import numpy as np\nparam w: float = 1.0\ny = {make}({connected})\n"
    assert load(f"{text}y * 1.0").run().result.tolist() == expected[1]
    source = Source("t", f"{text}(y + np.ones({expected[0]})).sum()")
    assert not check_source(source, {}).findings
