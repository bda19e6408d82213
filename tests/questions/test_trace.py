"""The evaluation trace: its rows against the program's own derivatives and against each other."""

import math

import numpy as np
import pytest
from support.programs.sample_programs import ROOT

from gradcli.errors import GradError, RunError, UsageError
from gradcli.program import Options, load
from gradcli.views import TraceGap

BOOK = "log(x1) + x1 * x2 - sin(x2)"
AT = {"x1": 2.0, "x2": 5.0}

PROGRAMS = {
    "book": (BOOK, AT),
    "an input twice": ("x * x + x ** x", {"x": 1.5}),
    "assigned names": ("c = a + b\nd = (b + 1)\ne = (c) * (d)\ne", {"a": 2.0, "b": 3.0}),
    "vectors": ("sum(exp(-(w * [1.0, 2.0])) / 3 + w[0] * w)", {"w": [0.5, -1.0]}),
    "a matrix": ("x = [[1.0, 2.0], [3.0, 5.0]]\nsoftmax(inv(x) @ w, dim=0)[0]", {"w": [0.5, 2.0]}),
    "several lines": ("y = x * (x +  # more\n  1)\nsqrt(\n  y)", {"x": 2.0}),
    "views and in-place": (
        "y = x * 2\ny[0] = y[1] + 1\nz = y[1:]\ny += x[0]\ny.sum()",
        {"x": [1, 2, 3]},
    ),
    "a view that is changed": (
        "y = x * 2\nz = y[1:]\nz *= 3\ny.sum() * z[0]",
        {"x": [1.0, 2.0, 4.0]},
    ),
    "a gradient of which another is made": (
        "x = tensor(2.0, requires_grad=True)\nw = tensor(3.0, requires_grad=True)\n"
        "y = x * w\nz = y ** 3\na, b = torch.autograd.grad(z, [y, x], create_graph=True)\na * b",
        {"x": 2.0, "w": 3.0},
    ),
    "a function": ("def f(t, k=2):\n    return sin(t) * k\nf(f(x), k=x)", {"x": 0.3}),
    "a list": ("v = [x, 2 * x]\nstack(v).sum() + max([x, 0.5])", {"x": 1.25}),
    "a result of several": ("m = x.max(dim=0)\nm.values * 3 + m.values", {"x": [1.0, 4.0, 2.0]}),
    "an own function": (
        "class F(Function):\n    def forward(ctx, x, k):\n        ctx.k = k\n        return x * k\n"
        "    def backward(ctx, g):\n        return g * ctx.k, None\nF.apply(x, 3) * x",
        {"x": 2.0},
    ),
}
"""Each program with values; what it gives is a single number."""

every = pytest.mark.parametrize("name", PROGRAMS)


def rows_of(text, **asked):
    return load(text).trace(**asked).rows


def test_the_table_of_the_text_books():
    rows = rows_of(BOOK, **AT, tangents={"x1": 1.0})
    told = [(r.id, r.expression, r.value, r.partials, r.adjoint, r.tangent) for r in rows]
    cos, sin, log = math.cos(5), math.sin(5), math.log(2)
    assert told == [
        ("x1", "", 2.0, {}, 5.5, 1.0),
        ("x2", "", 5.0, {}, 2.0 - cos, 0.0),
        ("v1", "log(x1)", log, {"x1": 0.5}, 1.0, 0.5),
        ("v2", "x1 * x2", 10.0, {"x1": 5.0, "x2": 2.0}, 1.0, 5.0),
        ("v3", "v1 + v2", log + 10.0, {"v1": 1.0, "v2": 1.0}, 1.0, 5.5),
        ("v4", "sin(x2)", sin, {"x2": cos}, -1.0, 0.0),
        ("v5", "v3 - v4", log + 10.0 - sin, {"v3": 1.0, "v4": -1.0}, 1.0, 5.5),
    ]


@every
def test_inputs_and_result_have_the_values_and_derivatives_of_grad(name):
    text, values = PROGRAMS[name]
    found, traced = load(text).grad(values), load(text).trace(values)
    rows = {row.id: row for row in traced.rows}
    for wrt, grad in found.grad.items():
        assert np.array_equal(rows[wrt].adjoint, grad), wrt
    assert traced.rows[-1].value == traced.value == found.value
    assert traced.rows[-1].adjoint == 1.0


@every
def test_tangents_are_those_of_jvp(name):
    text, values = PROGRAMS[name]
    wrt, *_ = values
    direction = {wrt: np.ones(np.shape(values[wrt]))}
    rows = load(text).trace(values, mode="forward", tangents=direction).rows
    assert rows[-1].tangent == load(text).jvp(values, tangents=direction).jvp
    assert all(row.adjoint is None for row in rows)


def spread(partial, adjoint, operand):
    """What an adjoint hands on to an operand by a partial: of elements, or a Jacobian."""
    p, a, shape = np.asarray(partial), np.asarray(adjoint), np.shape(operand)
    if p.shape == (*a.shape, *shape) and (a.shape != shape or p.shape != a.shape):
        return np.tensordot(a, p, axes=a.ndim)
    each = p * a
    return each.sum(axis=tuple(range(each.ndim - len(shape)))) if each.shape != shape else each


@every
def test_adjoints_follow_from_the_partials(name):
    text, values = PROGRAMS[name]
    *above, last = load(text).trace(values).rows
    for row in above:
        users = [r for r in (*above, last) if row.id in r.partials]
        parts = [spread(r.partials[row.id], r.adjoint, row.value) for r in users]
        assert np.allclose(sum(parts), row.adjoint, atol=1e-14), row


@pytest.mark.parametrize(
    "name", ["book", "an input twice", "assigned names", "several lines", "vectors"]
)
def test_expressions_compute_their_values(name):
    text, values = PROGRAMS[name]
    known = {}
    for row in load(text).trace(values).rows:
        if row.expression:
            used = {n: v for n, v in known.items() if n in row.partials}
            assert np.array_equal(load(row.expression).run(used).result, row.value), row
        known[row.id] = row.value


def test_names_that_look_like_those_of_operations_stay_apart():
    rows = rows_of("v1 = 2 * x\nv1 * x", x=3.0)
    assert [(r.id, r.expression) for r in rows] == [("x", ""), ("w1", "2 * x"), ("w2", "w1 * x")]


def test_turns_and_calls_are_told():
    text = "def f(t):\n    return t * 2\ny = x\nfor i in range(2):\n    y = f(y) + 1\ny / 2"
    told = [r.around for r in rows_of(text, x=1.0)]
    turns = [f"turn {n} of the loop at line 4" for n in (1, 2)]
    called = "`f` called at line 5"
    assert told == [(), (turns[0], called), (turns[0],), (turns[1], called), (turns[1],), ()]


def test_long_loops_are_shortened_in_the_middle_if_not_every_row_is_wanted():
    program = load("y = x\nfor i in range(50):\n    y = y * 1.01\n    y = y + 1\ny")
    whole, short = program.trace(x=1.0), program.trace(x=1.0, every=False)
    gaps = [row for row in short.rows if isinstance(row, TraceGap)]
    assert gaps == [TraceGap(90, 45, 2)]
    assert [row for row in short.rows if row not in gaps] == [*whole.rows[:7], *whole.rows[-4:]]


@pytest.mark.parametrize("turns", range(1, 10))
def test_a_loop_is_shortened_where_that_leaves_out_more_than_one_turn(turns):
    program = load(f"y = x\nfor i in range({turns}):\n    y = y * 1.01\ny")
    rows = program.trace(x=1.0, every=False).rows
    gaps = [row for row in rows if isinstance(row, TraceGap)]
    left = turns - 5  # three at the beginning and two at the end are shown
    assert gaps == ([TraceGap(left, left, 2)] if left > 1 else [])
    assert len(rows) == len(program.trace(x=1.0).rows) - (left - 1 if gaps else 0)


def test_loops_in_loops_are_each_shortened():
    text = "y = x\nfor i in range(20):\n    for j in range(30):\n        y = y * 1.01\ny"
    rows = load(text).trace(x=1.0, every=False).rows
    gaps = [(row.count, row.turns, row.line) for row in rows if isinstance(row, TraceGap)]
    inner = (25, 25, 3)
    assert gaps == [inner, inner, inner, (450, 15, 2), inner, inner]


def test_many_operations_without_a_loop_are_cut_in_the_middle():
    rows = load("\n".join(["y = x", *["y = y + 1"] * 420, "y"])).trace(x=1.0, every=False).rows
    (gap,) = [row for row in rows if isinstance(row, TraceGap)]
    assert (gap, len(rows)) == (TraceGap(20, 0, 0), 402)  # of no loop, so of no turns and line


def test_one_number_is_its_own_direction():
    assert rows_of("x ** 2", x=3.0, mode="forward")[-1].tangent == 6.0
    with pytest.raises(UsageError, match="forward mode needs a direction"):
        rows_of("x * y", x=3.0, y=1.0, mode="forward")


def test_a_result_of_several_elements_needs_weights():
    with pytest.raises(RunError, match="each of its elements needs a weight"):
        rows_of("x * 2", x=[1.0, 2.0])
    assert rows_of("x * 2", x=[1.0, 2.0], cotangent=[1.0, 10.0])[0].adjoint.tolist() == [2.0, 20.0]


def test_what_depends_on_nothing_has_no_trace():
    with pytest.raises(GradError, match="there is no trace"):
        rows_of("x.detach()", x=[1.0])


def test_a_trace_without_all_adjoints_says_why():
    text = "w = tensor([2.0], requires_grad=True)\ny = (w * w).sum()\nwith no_grad(): w -= 1\ny"
    found = load(text).trace()
    assert [row.adjoint is None for row in found.rows] == [True, False, False]
    assert found.rows[-1].value == 4.0
    assert [(w.code, w.severity) for w in found.warnings] == [("changed-in-place", "warning")]
    assert found.warnings[0].place[1] == 3


def test_large_jacobians_are_left_out():
    product = rows_of("(A @ x).sum()", A=np.ones((30, 40)), x=np.ones(40), wrt="x")[1]
    assert product.partials == {"x": None}


SAMPLES = {
    "accumulation": {},
    "ones_like": {},
    "descent": {"steps": 3},
    "doubling": {"cotangent": 1.0},
    "hessian_vector": {"of": "product", "cotangent": 1.0},
    "higher_order": {},
    "no_grad": {},
    "own_relu": {},
    "own_scale": {},
    "two_bodies": {"cotangent": 1.0},
}


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_have_traces(name):
    text = (ROOT / "samples" / f"{name}.grad").read_text("utf-8").replace("range(200)", "range(3)")
    found = load(text).trace(every=False, options=Options(seed=1), **SAMPLES[name])
    assert np.array_equal(found.rows[-1].value, found.value)


LINES = {  # programs, and the line of each row
    "input y = 1.0\ninput x = 2.0\nx * y": [("y", 1), ("x", 2), ("v1", 3)],
    "k = 3.0\ninput x = 2.0\ny = x * k\ny": [("x", 2), ("v1", 3)],
    "input x = 2.0\n\ny = x * 2\ny": [("x", 1), ("v1", 3)],
    "input x = 1.0\nw = tensor(2.0, requires_grad=True)\nx * w": [("x", 1), ("w", 2), ("v1", 3)],
    "\nw = tensor(2.0, requires_grad=True)\nz = w * 2\nz": [("w", 2), ("v1", 3)],
}


@pytest.mark.parametrize(("text", "expected"), LINES.items(), ids=[*map(repr, LINES)])
def test_a_row_has_the_line_where_its_value_is_made(text, expected):
    assert [(row.id, row.line) for row in load(text).trace().rows] == expected
