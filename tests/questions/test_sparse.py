"""Sparse Jacobians and Hessians: their entries are those of the dense ones, bit for bit, and what
they leave out is zero.
"""

from contextlib import suppress

import numpy as np
import pytest
from support.checks.sparse_agreement import dense, faults
from support.programs.generated_programs import Writer

from gradcli import GradError, load
from gradcli.engine.compile import backends
from gradcli.errors import ProgramError
from gradcli.program import Options

X = [1.0, 2.0, 4.0, 8.0, 3.0, 1.0, 2.0]
LONG = [0.013 * k for k in range(90)]

FIRST = {  # text, inputs, entries by name, products, what counts as dense
    "stencil": ("x[1:] - x[:-1]", {"x": X}, [12], 2, ()),
    "items in a loop": (
        "y = zeros(90)\nfor i in range(89): y[i] = x[i] * x[i + 1]\ny",
        {"x": LONG},
        [178],
        2,
        (),
    ),
    "gather": ("x[[3, 1, 1, 0]] * x[:4]", {"x": X}, [7], 2, ()),
    "gather by data": (
        "input x: float[7]\ninput i: int[4]\nx[i] * x[:4]",
        {"x": X, "i": [3, 1, 1, 0]},
        [7],
        2,
        (),
    ),
    "stack": ("stack([x[0] * x[1], x[2], x[3] ** 2])", {"x": X}, [4], 1, ()),
    "cat": ("cat([x[1:4] ** 2, x[:2] * y])", {"x": X, "y": 3.0}, [5, 2], 2, ()),
    "reshape": ("reshape(x[:6], 2, 3).sum(0)", {"x": X}, [6], 1, ()),
    "broadcast": ("x[:3, None] * y[None, :]", {"x": X, "y": [1.0, 2.0]}, [6, 6], 2, ()),
    "product": ("W @ x", {"W": [[1.0, 2.0], [3.0, 4.0]], "x": [5.0, 6.0]}, [4, 4], 2, ()),
    "rows": (
        "tanh(A @ W).sum(1)",
        {"A": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "W": [[0.5, 0.25], [0.1, -0.3]]},
        [6, 12],
        3,
        (),
    ),
    "where": ("where(x > 1.5, x ** 2, x * y)", {"x": [1.0, 2.0], "y": [3.0, 4.0]}, [2, 2], 1, ()),
    "relu": ("relu(x[1:] - x[:-1])", {"x": X}, [12], 2, ()),
    "time steps": (
        "u = x\nfor t in range(3):\n"
        "    u = u + 0.1 * cat([zeros(1), u[2:] - 2 * u[1:-1] + u[:-2], zeros(1)])\nu",
        {"x": LONG[:12]},
        [66],
        7,
        (),
    ),
    "a branch": ("if x[0] > 0: y = x[1:]\nelse: y = x[:-1] * 2\ny", {"x": X}, [12], 2, ()),
    "an unknown end": ("u = x\nwhile u[0] < 100: u = u * 2\nu", {"x": X}, [7], 1, ()),
    "softmax": ("softmax(reshape(x[:6], 3, 2), 1)", {"x": X}, [12], 2, ()),
    "sort": ("sort(reshape(x[:6], 3, 2), 1).values", {"x": X}, [12], 2, ()),
    "a list": ("[x[0] * y, x[1]]", {"x": X, "y": 2.0}, [2, 1], 1, ()),
    "numbers": ("[a * b, b, c ** 2]", {"a": 1.0, "b": 2.0, "c": 3.0}, [1, 2, 1], 2, ()),
    "an unknown place": ("x[argmax(x)] ** 2 + x[0]", {"x": X}, [7], 1, ("row",)),
    "an arrow": ("cat([x.sum(0, keepdim=True), x[1:]])", {"x": X}, [13], 2, ()),
    "one column": ("x * a", {"x": X, "a": 2.0}, [7, 7], 2, ()),
    "one element": ("x ** 2", {"x": [3.0]}, [1], 1, ()),
}

SECOND = {
    "local terms in a loop": (
        "s = 0.0\nfor i in range(89): s = s + (x[i + 1] - x[i]) ** 2 * x[i]\ns",
        {"x": LONG},
        [268],
        3,
        (),
    ),
    "local terms": ("sum((x[1:] - x[:-1]) ** 2 * x[1:])", {"x": X}, [19], 3, ()),
    "items in a loop": (
        "y = zeros(90)\nfor i in range(89): y[i] = x[i] * x[i + 1]\nsum(y ** 2)",
        {"x": LONG},
        [268],
        3,
        (),
    ),
    "a branch in a loop": (
        "s = 0.0\nfor i in range(80):\n    if x[i] > 0.5: s = s + x[i] ** 3 * x[i + 1]\n"
        "    else: s = s - x[i + 2] ** 2\ns",
        {"x": LONG},
        [242],
        3,
        (),
    ),
    "gather by data": (
        "input x: float[7]\ninput i: int[4]\ny = x[i] * x[:4]\nsum(y ** 2)",
        {"x": X, "i": [3, 1, 1, 0]},
        [8],
        2,
        (),
    ),
    "two names": (
        "sum(cat([x[1:4] ** 2, x[:2] * y]) ** 2)",
        {"x": X, "y": 3.0},
        [4, 2, 2, 1],
        3,
        (),
    ),
    "broadcast": (
        "sum((x[:3, None] * y[None, :]) ** 2)",
        {"x": X[:3], "y": [1.0, 2.0]},
        [3, 6, 6, 2],
        5,
        (),
    ),
    "blocks": ("logsumexp(reshape(x[:6], 2, 3), 1).sum()", {"x": X[:6]}, [18], 3, ()),
    "an arrow": ("sum(x[1:] ** 2 * x[0])", {"x": X}, [18], 7, ()),
    "pentadiagonal": ("sum((x[2:] - 2 * x[1:-1] + x[:-2]) ** 4)", {"x": LONG}, [444], 5, ()),
    "a number beside a tensor": (
        "param x = [0.5, -1.0, 2.0]\nparam c = -3.0\n(x ** 3 / c).sum() * x.sum()",
        {},
        [9, 3, 3, 1],
        4,
        (),
    ),
    "linear": ("sum(x)", {"x": X}, [0], 0, ()),
    "numbers": (
        "a * b + c ** 3",
        {"a": 1.0, "b": 2.0, "c": 3.0},
        [0, 1, 0, 1, 0, 0, 0, 0, 1],
        3,
        (),
    ),
    "an unknown end": (
        "u = x\nwhile u[0] < 100: u = u * u + 1\nsum(u ** 2)",
        {"x": X[:3]},
        [9],
        3,
        ("a loop with an unknown end",),
    ),
}


def blocks(found):
    if hasattr(found, "hessian"):
        return [block for row in found.hessian.values() for block in row.values()]
    return [*found.jacobian.values()]


@pytest.mark.parametrize("compile", ["never", "always"])
@pytest.mark.parametrize(
    ("question", "name"),
    [*(("jacobian", name) for name in FIRST), *(("hessian", name) for name in SECOND)],
)
def test_the_entries_are_those_of_the_dense_matrix(question, name, compile):
    text, given, counts, products, told = (FIRST if question == "jacobian" else SECOND)[name]
    said, found = faults(load(text), question, given, compile)
    assert not said
    assert [len(block.data) for block in blocks(found)] == counts
    assert (found.products, found.dense) == (products, told)


@pytest.mark.parametrize("seed", range(24))
def test_the_entries_of_random_programs_are_those_of_the_dense_matrices(seed):
    writer = Writer(seed)
    text, given = writer.program(), writer.given()
    last = text.rpartition("\n")[0] + f"\n{writer.vectors[-1]}"
    compile = "always" if seed % 3 == 0 else "never"
    for program, question in ((text, "hessian"), (text, "jacobian"), (last, "jacobian")):
        for mode in ("forward", "reverse") if program is last else ("reverse",):
            with suppress(ProgramError):  # which code there is none for
                said, _ = faults(load(program), question, given, compile, wrt="v", mode=mode)
                assert not said, (text, given)


BENT = {  # derivatives that are not finite
    "jacobian": (
        ("sqrt(x[1:] * x[:-1])", {"x": [1.0, 0.0, 2.0, 3.0]}),
        ("1 / x[1:] + x[:-1]", {"x": [0.0, 0.0, 2.0, 3.0]}),
        ("log(x)", {"x": [0.0, 1.0, 2.0]}),
        ("x ** 0.5 * y", {"x": [0.0, 4.0], "y": [float("inf"), 1.0]}),
        ("log(x) * x", {"x": [float("nan"), 1.0, 0.0]}),
    ),
    "hessian": (
        ("sum(sqrt(x[1:] * x[:-1]))", {"x": [1.0, 0.0, 2.0, 3.0]}),
        ("sum(sqrt(x) * x)", {"x": [0.0, 0.0, 2.0, 3.0]}),
        ("sum(log(x[1:]) * x[:-1])", {"x": [1.0, 0.0, 2.0, 3.0]}),
    ),
}


@pytest.mark.parametrize("compile", ["never", "always"])
@pytest.mark.parametrize(
    ("question", "text", "given"), [(q, *case) for q, cases in BENT.items() for case in cases]
)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_one_entry_that_is_not_finite_spoils_no_other(question, text, given, mode, compile):
    if question == "hessian" and mode == "forward":
        return
    said, _ = faults(load(text), question, given, compile, mode=mode)
    assert not said


def test_directions_of_a_color_with_a_spoiled_one_go_singly(monkeypatch):
    from gradcli.questions.answers import sparse

    asked = []
    single = sparse._singly
    monkeypatch.setattr(
        sparse, "_singly", lambda group, colors, *rest: asked.append(single(group, colors, *rest))
    )
    never = Options(compile="never")
    load("sqrt(x)").sparse_jacobian(x=[1.0, 4.0, 9.0], options=never)
    assert not asked
    found = load("sqrt(x)").sparse_jacobian(x=[1.0, 0.0, 9.0], options=never)
    assert asked
    assert found.jacobian["x"].data.tolist() == [0.5, float("inf"), 1 / 6]


def test_a_program_that_cannot_be_followed_has_all_entries():
    said, found = faults(load("x[x > 1]"), "jacobian", {"x": X})
    assert not said
    assert [*found.jacobian["x"].shape] == [5, 7]
    assert len(found.jacobian["x"].data) == 35
    (why,) = found.dense
    assert why == "the program: an item is taken by a value known only at run time"
    with pytest.raises(GradError, match="known only at run time"):
        load("x[x > 1]").sparse_jacobian(x=X, options=Options(compile="always"))


@pytest.mark.parametrize(("text", "count"), [("x ** 2", 0), ("x ** 2", 1)])
def test_few_elements(text, count):
    said, found = faults(load(text), "jacobian", {"x": X[:count]})
    assert not said
    assert found.jacobian["x"].shape == (count, count)
    said, found = faults(load(f"sum({text})"), "hessian", {"x": X[:count]})
    assert not said
    assert found.hessian["x"]["x"].shape == (count, count)


def test_without_machine_code_the_entries_are_the_same(monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    for name in ("a number beside a tensor", "local terms in a loop", "broadcast"):
        text, given, *_ = SECOND[name]
        said, _ = faults(load(text), "hessian", given, "always")
        assert not said


def test_what_is_printed_is_printed_once():
    text = "print('once')\nx[1:] * x[:-1]"
    for compile in ("never", "always"):
        printed = []
        options = Options(compile=compile, echo=printed.append)
        found = load(text).sparse_jacobian(x=X, options=options)
        assert (printed, found.printed) == (["once\n"], ("once",))


def test_an_entry_that_is_zero_stays():
    found = load("where(x > 10, x ** 2, 0 * x)").sparse_jacobian(x=X)
    assert found.jacobian["x"].data.tolist() == [0.0] * 7


def test_another_mode_of_second_derivatives_is_refused():
    with pytest.raises(GradError, match="in reverse mode, not forward"):
        load("sum(x ** 2)").sparse_hessian(x=X, mode="forward")


def test_weights_of_a_result_that_is_not_scalar():
    given = {"x": X}
    said, found = faults(load("x[1:] * x[:-1]"), "hessian", given, cotangent=[1.0] * 6)
    assert not said
    assert len(found.hessian["x"]["x"].data) == 12


def test_a_block_as_an_array_of_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    block = load("x[1:] - x[:-1]").sparse_jacobian(x=X).jacobian["x"]
    assert isinstance(block.to_scipy(), sparse.coo_array)
    assert (block.to_scipy().toarray() == dense(block)[0]).all()
    assert (dense(block)[0] == np.eye(6, 7, 1) - np.eye(6, 7)).all()
