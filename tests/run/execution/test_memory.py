"""Programs that write through one name what another shows: their results are PyTorch's."""

import numpy as np
import pytest

from gradcli.errors import RunError
from gradcli.program import load

WRITES = [
    (
        "x = tensor([[1., 2., 3.], [4., 5., 6.]]); x.T[[1, 0]] = 9.0; x",
        [[9.0, 9.0, 3.0], [9.0, 9.0, 6.0]],
    ),
    (
        "y = tensor([[1., 2., 3.], [4., 5., 6.]]).T * 1; y[[1]] = 9.0; y",
        [[1.0, 4.0], [9.0, 9.0], [3.0, 6.0]],
    ),
    (
        "x = tensor([[1., 2., 3.], [4., 5., 6.]]); y = x[:, [0, 1]]; y[[0, 1], [1, 0]] = tensor([7.0, 8.0]); y",
        [[1.0, 7.0], [8.0, 5.0]],
    ),
    (
        "y = tensor([[1., 2., 3.], [4., 5., 6.]]).T * 1; y[..., [0]] += 5.0; y",
        [[6.0, 4.0], [7.0, 5.0], [8.0, 6.0]],
    ),
    ("y = tensor([[1., 2., 3.], [4., 5., 6.]]).T * 1; v = y[1]; y[[1]] = 9.0; v", [9.0, 9.0]),
    ("a = tensor([5.0]); b = a.repeat(3); a += 1; b", [5.0, 5.0, 5.0]),
    ("a = tensor([5.0]); b = a.repeat(1, 1); a += 1; b", [[5.0]]),
    ("a = tensor([5.0]); b = a.tile(3); a += 1; b", [5.0, 5.0, 5.0]),
    ("a = tensor([5.0]); b = a.tile(1); b += 1; a", [5.0]),
    (
        "a = tensor([[2.0, 1.0], [0.0, 3.0]]); b = matrix_power(a, 1); b += 1; a",
        [[2.0, 1.0], [0.0, 3.0]],
    ),
    ("a = tensor([2.0, 1.0]); b = diff(a, n=0); b += 1; a", [2.0, 1.0]),
    ("w = tensor(2.0, requires_grad=True); (w ** 2).backward(); w.grad.data.zero_(); w.grad", 0.0),
    (
        "w = tensor(2.0, requires_grad=True); (w ** 2).backward(); w.data.sub_(0.1 * w.grad); w.item()",
        1.6,
    ),
    ("w = tensor(2.0, requires_grad=True); d = w.data; d += 1; w.item()", 3.0),
    ("w = tensor(2.0, requires_grad=True); w.detach().mul_(3); w.item()", 6.0),
    (
        "w = tensor(2.0, requires_grad=True); w.data = tensor(5.0); v = w.data; v += 1; w.item()",
        6.0,
    ),
    (
        "x = tensor([[1., 2., 3.], [4., 5., 6.]]); y = x[:, [0, 1]]; v = y.view(-1); v += 10; y",
        [[11.0, 12.0], [14.0, 15.0]],
    ),
    (
        "x = tensor([[1., 2., 3.], [4., 5., 6.]]); y = index_select(x, 1, tensor([0, 2])); v = y.reshape(-1); v += 10; y",
        [[11.0, 13.0], [14.0, 16.0]],
    ),
    (
        "x = tensor([[1., 2., 3.], [4., 5., 6.]]); y = repeat_interleave(x, 2, dim=-1); v = y.view(-1); v += 10; y",
        [[11.0, 11.0, 12.0, 12.0, 13.0, 13.0], [14.0, 14.0, 15.0, 15.0, 16.0, 16.0]],
    ),
    ("x = tensor([[1., 2.], [3., 4.]]); y = x.T.reshape(-1); y += 1; x", [[1.0, 2.0], [3.0, 4.0]]),
    ("x = tensor([[1., 2.], [3., 4.]]); y = +x; y += 1; x", [[2.0, 3.0], [4.0, 5.0]]),
    ("x = tensor([[1., 2.], [3., 4.]]); y = x.contiguous(); y += 1; x", [[2.0, 3.0], [4.0, 5.0]]),
    (
        "x = tensor([[1., 2.], [3., 4.]]); y = einsum('ij->ji', x); y[0] = 7.0; x",
        [[7.0, 2.0], [7.0, 4.0]],
    ),
    ("x = tensor([1., 2.]); y = x.flatten(); y is x", True),
    (
        "x = tensor([[1., 2.], [3., 4.]]); a, b = x.unbind(1); b *= 10; x",
        [[1.0, 20.0], [3.0, 40.0]],
    ),
    ("x = tensor([1., 2., 3., 4.]); a, b = x.chunk(2); b *= 10; x", [1.0, 2.0, 30.0, 40.0]),
    (
        "x = tensor([1., 2., 3., 4.]); a, b = x.tensor_split(2); b[[0]] = 10.0; x",
        [1.0, 2.0, 10.0, 4.0],
    ),
    (
        "x = tensor([[1., 2.], [3., 4.]]); y = x.expand(2, 2, 2)[1]; y += 1; x",
        [[2.0, 3.0], [4.0, 5.0]],
    ),
    ("x = tensor([1., 2.]); y = dropout(x, 0.5, False); y += 1; x", [2.0, 3.0]),
    ("x = tensor([1., 2.]); y = x.double(); y += 1; x", [2.0, 3.0]),
    ("x = tensor([1., 2.]); y = x.expand(2, 2); y[0] = 5.0; y", [[5.0, 5.0], [5.0, 5.0]]),
    ("x = tensor([1., 2.]); y = x.expand(2, 2); y[0] += 5.0; y", [[6.0, 7.0], [6.0, 7.0]]),
    ("x = tensor([1., 2.]); y = x.expand(2, 2); y[0, 1] = 7.0; x", [1.0, 7.0]),
]


@pytest.mark.parametrize(("text", "expected"), WRITES)
def test_a_write_arrives_where_pytorchs_does(text, expected):
    found = load(text.replace("; ", "\n")).run().result
    assert (found.tolist() if hasattr(found, "tolist") else found) == expected


OTHERWISE = [
    *("x.T.clone()", "x.T * 2", "inv(x)", "x.expand(2, 2, 2)", "x.T.long()", "zeros_like(x.T)"),
    *("rand_like(x.T)", "stack([x, x]).permute(2, 1, 0)[[1, 0]]", "tensor(x.T)"),
]


@pytest.mark.parametrize("made", OTHERWISE)
def test_a_view_of_what_lies_in_another_order_is_refused(made):
    with pytest.raises(RunError, match="cannot lie over this memory"):
        load(f"x = tensor([[1.0, 2.0], [3.0, 4.0]])\n({made}).view(-1)").run()


@pytest.mark.parametrize("index", [":, 1", ":", "[0, 1]", "0:2, 0:1"])
def test_elements_that_share_a_place_are_not_changed_together(index):
    with pytest.raises(RunError) as caught:
        load(f"x = tensor([1.0, 2.0])\ny = x.expand(2, 2)\ny[{index}] = 7.0").run()
    assert caught.value.diagnostics[0].code == "overlapping-memory"


def test_a_part_of_an_expanded_tensor_has_the_gradient_of_both_modes():
    text = "input x = [1.0, 2.0]\ny = x * 1\nv = y.expand(3, 2)\nv[1, 0] = x[1] * 2\n(v * v).sum()"
    assert load(text).grad().grad["x"].tolist() == [0.0, 3 * (4.0 * 2 * 2 + 2 * 2.0)]
    assert load(text).jvp(tangents={"x": [1.0, 1.0]}).jvp == 60.0


def test_a_gradient_without_dimensions_is_added_up():
    text = "x = tensor(1.5, requires_grad=True)\n" + 2 * "x.sum().backward(retain_graph=True)\n"
    assert float(load(f"{text}x.grad").run().result) == 2.0


def test_an_empty_tensor_is_changed_in_place():
    assert list(load("y = zeros(0, 3) * 2\ny += 1\ny").run().result.shape) == [0, 3]


def test_a_flat_view_beside_a_transposed_one_has_the_gradient_of_both_modes():
    text = "param x: float[2, 2]\ny = x * 1\nw3 = y.T\nw4 = y.flatten()\nw4 *= 3\n(w3 * 0.3).sum()"
    program, given = load(text), {"x": [[1.0, 2.0], [3.0, 4.0]]}
    assert program.grad(given).grad["x"] == pytest.approx(np.full((2, 2), 0.9))
    assert program.jvp(given, tangents={"x": [[1.0, 1.0], [1.0, 1.0]]}).jvp == pytest.approx(3.6)


@pytest.mark.parametrize("flat", ["y.T.flatten()", "y.T.view(-1)", "y.T.reshape(4)[1:3]"])
def test_a_view_of_what_lies_in_columns_has_the_gradient_of_both_modes(flat):
    """`y` lies in the memory as its transpose does."""
    text = f"param x: float[2, 2]\ny = x.T * 1\nw = {flat}\nw *= x[0, 0]\n(y * y).sum()"
    program, given = load(text), {"x": [[1.5, 2.0], [3.0, 4.0]]}
    gradient = program.grad(given).grad["x"]
    steps = np.eye(4).reshape(4, 2, 2)
    pushed = [program.jvp(given, tangents={"x": step.tolist()}).jvp for step in steps]
    assert gradient.ravel() == pytest.approx(pushed)


def test_the_order_of_an_array_from_outside_has_no_effect():
    program = load("input x: float[2, 3]\nv = x.view(-1)\nv[0] = 9.0\nx[[1]] = 7.0\nx + 0")
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    results = [program.run({"x": given}).result.tolist() for given in (x, np.asfortranarray(x))]
    assert results == [[[9.0, 2.0, 3.0], [7.0, 7.0, 7.0]]] * 2
    assert x[0, 0] == 1.0, "the array itself is not changed"


VIEWS = {  # of the rows of y = x * 1, of which the second is tripled
    "unbind": ("a, b = y.unbind()", "b *= 3.0"),
    "split": ("a, b = y.split(1)", "b *= 3.0"),
    "chunk": ("a, b = y.chunk(2)", "b.mul_(3.0)"),
    "tensor_split": ("a, b = y.tensor_split(2)", "b[[0]] *= 3.0"),
    "a view of a view": ("a, b = y.T.unbind(1)", "b[:] = b * 3.0"),
    "the base": ("a, b = y.split(1)", "y[1] *= 3.0"),
    "another view": ("a, b = y.unbind()", "y.view(-1)[2:] *= 3.0"),
    "unrecorded": ("with no_grad():\n    c = y[:]\n    c[1] *= 3.0\nb = y[1] * 1", "b += 0"),
}


@pytest.mark.parametrize("way", VIEWS)
def test_several_views_of_one_tensor_have_the_gradient_of_both_modes(way):
    made, change = VIEWS[way]
    program = load(
        f"input x = [[1.0, 2.0], [4.0, 3.0]]\ny = x * 1\n{made}\n{change}\n(y[1] * b).sum()"
    )
    gradient = program.grad(wrt="x").grad["x"]
    steps = np.array([[0.5, -1.0], [2.0, 0.25]])
    pushed = program.jvp(tangents={"x": steps.tolist()}).jvp
    b = np.array([12.0, 9.0])
    slope = 6 * b if way != "unrecorded" else np.array([1.0, 1.0]) * 2 * b
    assert gradient == pytest.approx(np.array([[0.0, 0.0], slope]))
    assert pushed == pytest.approx(float(np.sum(gradient * steps)))


UNRECORDED = {
    "the view": ("v *= 2.0", ""),
    "the view by what has a history": ("v *= x[0]", ""),
    "the base": ("y *= 2.0", "v.sum()"),
    "a view of the view": ("v[0] = 1.0", ""),
}


@pytest.mark.parametrize("changed", UNRECORDED)
def test_a_view_that_was_made_unrecorded_shows_no_history(changed):
    change, use = UNRECORDED[changed]
    start = "x = tensor([1.0, 2.0, 3.0], requires_grad=True)\ny = x * 1\n"
    text = f"{start}with no_grad():\n    v = y[1:]\n{change}\n{use}\nprint(v.requires_grad)"
    with pytest.raises(RunError) as caught:
        load(text).run()
    assert caught.value.diagnostics[0].code == "unrecorded-view"


def test_a_view_that_was_made_unrecorded_stays_a_constant():
    start = "x = tensor([1.0, 2.0, 3.0], requires_grad=True)\ny = x * 1\n"
    text = f"{start}with no_grad():\n    v = y[1:]\n    y += 1\nprint(v)\n(v * 2).requires_grad"
    found = load(text).run()
    assert (found.result, found.printed) == (False, ("tensor([3., 4.], grad_fn=<Invalid>)",))


def test_forward_mode_goes_on_with_a_value_that_has_changed():
    text = "param s = 2.0\nparam x = [1.0, 3.0]\nw = x * 1\nw[0] = w[-1] * s\nw.sum()"
    assert load(text).jvp(tangents={"s": 1.0, "x": [0.0, 0.0]}).jvp == 3.0
    f = "def f(s):\n    w = x * 1\n    w[0] = w[-1] * s\n    return w.sum()\n"
    assert load(f"x = tensor([1.0, 3.0])\n{f}jacfwd(f)(tensor(2.0)).item()").run().result == 3.0


def test_an_empty_vector_beside_a_matrix_has_a_forward_jacobian():
    program = load("param x = [[1.0, 2.0], [3.0, 4.0]]\ncat([x, x[:0, 0]], dim=-1)")
    found = [program.jacobian(mode=mode).jacobian["x"] for mode in ("forward", "reverse")]
    for jacobian in found:
        assert np.asarray(jacobian).reshape(4, 4).tolist() == np.eye(4).tolist()
