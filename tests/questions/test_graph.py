"""What graph is recorded and asked for, as plain data."""

import numpy as np
import pytest
from support.programs.sample_programs import SAMPLES

from gradcli import load
from gradcli.program import Options
from gradcli.render.graphs.picture import picture
from gradcli.render.graphs.tree import tree

TRAINING = """
w = tensor([1.0, 2.0], requires_grad=True)
for t in range(3):
    loss = (w * w).sum()
    loss.backward()
    with no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
"""


def rows(text, **asked):
    graph = load(text).graph(**asked).graph
    return [(node.variable, node.expression, node.grad) for node in graph.nodes]


def test_without_a_result_it_is_the_graph_of_the_last_backward():
    found = load(TRAINING).graph()
    assert found.output == "loss"
    assert [n.name for n in found.graph.nodes] == ["SumBackward0", "MulBackward0", "AccumulateGrad"]
    top, square, leaf = found.graph.nodes
    assert top.value == found.value
    assert leaf.value.tolist() == pytest.approx([0.64, 1.28])  # not what the last step made of it
    assert (top.grad, square.grad.tolist(), leaf.grad) == (1.0, [1.0, 1.0], None)
    assert found.graph.missing == (
        "a value that MulBackward0 saved for the gradient has been changed in place since "
        "(MulBackward0 saved it in line 4, it is changed in line 7)"
    )


def test_a_leaf_is_shown_as_it_was_used_last():
    text = """
w = tensor([1.0, 2.0], requires_grad=True)
loss = (w * w).sum()
loss.backward()
d = w.detach()
d += 1
loss
"""
    graph = load(text).graph().graph
    assert graph.nodes[-1].value.tolist() == [1.0, 2.0]


def test_a_leaf_that_a_program_ends_in_is_not_the_graph_after_a_backward():
    assert load(f"{TRAINING}w").graph().output == "loss"
    assert load("w = tensor(1.0, requires_grad=True)\nw").graph().output == "w"


def test_a_cotangent_of_the_programs_backward_weighs_its_graph():
    text = "x = tensor([1.0, 2.0], requires_grad=True)\nz = x * x\nz.backward(tensor([1.0, 10.0]))"
    assert load(text).graph().graph.nodes[-1].grad.tolist() == [2.0, 40.0]
    assert load(text).graph(cotangent=[1.0, 1.0]).graph.nodes[-1].grad.tolist() == [2.0, 4.0]


def test_without_both_it_is_the_graph_of_the_last_name_that_has_one():
    assert load("x = 2.0\ny = x * 3\nn = 1").graph(wrt="x").output == "y"


def test_a_vector_says_what_its_gradients_want():
    graph = load("param a = [1.0, 2.0]\ny = a * 3\ny").graph().graph
    assert graph.missing == "`y` has shape [2]: weigh its elements with --cotangent"
    assert [node.grad for node in graph.nodes] == [None, None]
    graph = load("param a = [1.0, 2.0]\ny = a * 3\ny").graph(cotangent=[1, 10]).graph
    assert (graph.missing, graph.nodes[-1].grad.tolist()) == ("", [3.0, 30.0])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("sum(x * x)", {"x"}),
        ("x[0] * x[2]", {"x[0]", "x[2]"}),
        ("sum(x * x) + x[1]", {"x", "x[1]"}),
        ("a, b, c = x\na * b", {"x[0]", "x[1]"}),
        ("prod(stack([x[0], x[1], x[2]]))", {"x"}),
        ("prod(stack([x[1], x[0]]))", {"x[0]", "x[1]"}),
    ],
)
def test_a_list_that_is_given_is_one_input(text, wanted):
    text = f"x = [2.0, 3.0, 4.0]\n{text}"
    graph = load(text).graph().graph
    below = {edge.source for edge in graph.edges}
    ends = {n.variable: n for n in graph.nodes if n.id not in below}
    assert ends.keys() == wanted
    gradient = load(text).grad().grad["x"]
    for name, node in ends.items():
        of_item = int(name[2]) if "[" in name else slice(None)
        np.testing.assert_array_equal(node.grad, gradient[of_item])
        np.testing.assert_array_equal(node.value, np.array([2.0, 3.0, 4.0])[of_item])


def test_a_row_of_a_matrix_that_is_given_is_an_input():
    graph = load("x = [[1.0, 2.0], [3.0, 4.0]]\nsum(x[1] * x[1]) * x[0][1]").graph().graph
    assert {n.variable for n in graph.nodes if not n.op} == {"x[1]", "x[0][1]"}


def test_expressions_are_as_they_are_written():
    assert rows("y = (x +\n     1) * 2  # twice\nsin(y)", inputs={"x": 0.0}) == [
        ("", "sin(y)", 1.0),
        ("y", "(x + 1) * 2", pytest.approx(-0.4161468365471424)),
        ("", "x + 1", pytest.approx(-0.8322936730942848)),
        ("x", "", pytest.approx(-0.8322936730942848)),
    ]
    (long, *_) = rows(f"x{' + 1' * 99}", inputs={"x": 0.0})
    assert len(long[1]) == 120
    assert long[1].endswith("+ 1 +…")


def test_the_parts_of_a_call_and_of_a_derivative_are_known():
    text = """
x = tensor([[1.0, 2.0]], requires_grad=True)
loss = cross_entropy(x, tensor([1]))
(g,) = grad(loss, x, create_graph=True)
loss + (g * g).sum()
"""
    graph = load(text).graph().graph
    parts = {n.expression: n.whole for n in graph.nodes if n.part_of is not None}
    call = "cross_entropy(x, tensor([1]))"
    assert parts[call] == "cross_entropy"
    assert any(text.startswith("∂(") for text in parts)
    heads = {n.part_of for n in graph.nodes if n.expression == call}
    assert len(heads) == 1


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_has_a_graph(path):
    if path.stem in ("two_layer", "own_relu", "descent"):  # long; TRAINING is like them
        return
    program = load(path.read_text("utf-8"))
    assert tree(picture(program.graph(options=Options(seed=1)).graph), precision=6, width=80)


def test_the_result_that_is_asked_for_is_shown_whatever_backward_was_called_on():
    text = "w = tensor(2.0, requires_grad=True)\na = w * 3\nb = w ** 2\nb.backward()\nw.grad"
    program = load(text)
    assert program.graph().output == "b"
    for name, value in {"a": 6.0, "b": 4.0}.items():
        shown = program.graph(of=name)
        assert (shown.output, shown.value) == (name, value)


def test_a_leaf_that_is_the_result_is_a_graph_of_its_own():
    found = load("tensor(2.0, requires_grad=True)").graph()
    assert [(node.name, node.value, node.grad) for node in found.graph.nodes] == [
        ("AccumulateGrad", 2.0, 1.0)
    ]


def test_powers_of_a_program_of_jax_have_a_graph():
    for power in ("x ** 2.0", "2.0 ** x", "x ** x"):
        graph = load(f"import jax.numpy as jnp\nx = 2.0\ny = {power}\ny").graph().graph
        assert any(node.expression == power for node in graph.nodes), power
