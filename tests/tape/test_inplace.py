"""Changes in place of a result that is not the first of its op."""

import numpy as np
import pytest
from support.checks.oracles import samples, table

from gradcli.engine.ops.catalog import ops
from gradcli.errors import GradError, RunError
from gradcli.program import Options, load

START = "param x = [[1.0, 2.0], [4.0, 3.0]]\nq, r = qr(x)\n"
CHANGES = {
    "the result itself": ("r *= 3.0", "r = r * 3.0"),
    "a method": ("r.mul_(3.0)", "r = r * 3.0"),
    "a view of it": ("v = r[0:1]\nv *= 3.0", "r = r * [[3.0], [1.0]]"),
    "a view of a view": ("v = r[0:2][1:]\nv *= 3.0", "r = r * [[1.0], [3.0]]"),
    "an item": ("r[1] *= 3.0", "r = r * [[1.0], [3.0]]"),
    "an item that is set": ("r[1] = r[0] * 4", "r = stack([r[0], r[0] * 4])"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_in_place_is_the_first_result_of_the_change(change):
    written, _ = CHANGES[change]
    says = "print(r.sum().grad_fn.next_functions[0][1])"
    assert load(f"{START}{says}").run().printed == ("1",), "no second result to change"
    printed = load(f"{START}{written}\n{says}").run().printed
    assert printed == ("0",), f"{change}: the sum is of another result of its node"


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "saved", ["q, r = qr(x)", "r, q = qr(x)", "v, r = eigh(x)", "u, s, r = svd(x)"]
)
def test_a_result_that_the_rules_read_is_not_to_be_changed(change, saved):
    written, _ = CHANGES[change]
    text = f"param x = [[1.0, 2.0], [2.0, 3.0]]\n{saved}\n{written}\nr.sum()"
    with pytest.raises(RunError) as caught:
        load(text).grad()
    assert caught.value.diagnostics[0].code == "changed-in-place"


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("picked", ["sort(x)", "topk(x, 2)", "cummax(x, 0)", "cummin(x, 1)"])
def test_a_result_that_the_rules_do_not_read_gets_its_gradient(change, picked):
    start = f"param x = [[1.0, 2.0], [4.0, 3.0]]\nr, at = {picked}\n"
    inplace, apart = (load(f"{start}{text}\n(r * r).sum()").grad() for text in CHANGES[change])
    assert inplace.value == apart.value, change
    assert inplace.grad["x"].tolist() == apart.grad["x"].tolist(), change


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("b *= 3.0", [[1.0, 1.0], [72.0, 54.0]]),
        ("v = b[0:1]\nv *= 3.0", [[1.0, 1.0], [72.0, 6.0]]),
        ("b[1] *= 3.0", [[1.0, 1.0], [8.0, 54.0]]),
    ],
)
def test_the_second_result_of_one_node_is_changed_in_place(change, expected):
    text = (
        f"input x = [[1.0, 2.0], [4.0, 3.0]]\na, b = unbind(x)\n{change}\n(b * b).sum() + a.sum()"
    )
    assert load(text).grad(wrt="x").grad["x"].tolist() == expected, change


def test_a_part_of_the_second_result_of_an_op_is_changed():
    text = "input x = [[1.0, 2.0], [3.0, 5.0]]\nm = var_mean(x, dim=1)[1]\nv = m[:1]\nv *= 2.0\n"
    found = load(f"{text}(m * tensor([1.0, 10.0])).sum()").grad(wrt="x").grad["x"]
    assert found.tolist() == [[1.0, 1.0], [5.0, 5.0]]


def test_a_float32_without_dimensions_is_changed_by_a_number():
    text = "y = tensor(3.0, dtype=float32) * 1\ny /= tensor(2.0)\nprint(y)\ny"
    found = load(text).run()
    assert (found.printed, float(found.result)) == (("tensor(1.5000, dtype=torch.float32)",), 1.5)


@pytest.mark.parametrize(
    ("call", "node"),
    [
        ("mse_loss(h, 2 * h)", "MseLossBackward0"),
        ("layer_norm(h, (2,)).sum()", "NativeLayerNormBackward0"),
        ("glu(h, 0).sum()", "GluBackward0"),
        ("max(h)", "MaxBackward1"),
        ("median(h)", "MedianBackward0"),
        ("sin(h).sum()", "SinBackward0"),
    ],
)
def test_a_change_of_what_is_saved_tells_the_name_and_place_of_the_call(call, node):
    text = f"param x = [0.5, 0.7]\nh = x * 1\ny = {call}\nh += 1\ny"
    with pytest.raises(RunError) as caught:
        load(text).grad()
    found = caught.value.diagnostics[0]
    assert f"a value that {node} saved" in found.message
    assert found.labels[0].text == f"{node} saved it here"


@pytest.mark.parametrize(
    ("text", "connected"),
    [
        ("t = z[1:]\nt[0:0] = y[0:0]", True),
        ("z[0:0] = y[0]", True),
        ("z[0:0] = 0", False),
        ("z[[]] = y[0:0]", True),
        ("v = z[5:].reshape(2, 0).T\nv *= y[0]", True),
        ("v = z[3:].expand(4, 0)[1:]\nv *= y[0]", True),
        ("v = z[[]]\nv *= y[0]", False),  # a copy
    ],
)
def test_what_is_written_into_an_empty_part_connects_the_whole(text, connected):
    start = "y = tensor([1.0, 2.0, 3.0], requires_grad=True)\nz = ones(3)\n"
    assert load(f"{start}{text}\nprint(z.requires_grad)").run().printed == (str(connected),)


@pytest.mark.parametrize("view", ["flatten()", "ravel()", "reshape(-1)", "unsqueeze(0)", "[None]"])
@pytest.mark.parametrize("made", ["t = h.VIEW", "with no_grad():\n    t = h.VIEW"])
def test_a_view_of_a_0d_tensor_shows_its_changes(view, made):
    made = made.replace(".VIEW" if view.startswith("[") else "VIEW", view)
    text = f"x = tensor(3.0)\nh = x * 1\n{made}\nh += 1\nprint(t)"
    assert load(text).run().printed == ("tensor([4.])",)


@pytest.mark.parametrize(
    "change", ["t[:] *= 2", "v = t[:]\n    v *= 1\n    v *= 2", "v = t[0:]\n    t[:] = v + v"]
)
def test_a_part_is_changed_more_than_once_under_no_grad(change):
    text = (
        f"param x = [3.0, 4.0]\nt = x * 2\nu = t.view(-1)\nwith no_grad():\n    {change}\nu.sum()"
    )
    found = load(text).grad()
    assert (found.value, found.grad["x"].tolist()) == (28.0, [2.0, 2.0])


@pytest.mark.parametrize("call", ["quantile(x, 0.4)", "einsum('i,j->ij', x, x)", "kron(x, x)"])
def test_what_is_made_by_a_view_of_what_nobody_has_is_no_view(call):
    text = f"x = tensor([1.0, 2.0], requires_grad=True)\ny = {call}\ny.neg_()\nprint(y.grad_fn)"
    assert load(text).run().printed == ("<NegBackward0>",)


def test_an_integral_of_no_samples_is_a_tensor():
    text = "x = tensor([], requires_grad=True)\nprint(torch.trapezoid(x * 1, dim=0).detach())"
    assert load(text).run().printed == ("tensor(0.)",)


def test_a_view_of_a_view_follows_the_base_when_that_has_changed():
    """The gradient by the view between them has no part of it: as in PyTorch."""
    text = (
        "x = tensor([1.0, 2.0, 3.0], requires_grad=True)\nb = x * 1\nv = b[:2]\nw = v[:1]\n"
        "w.mul_(2)\ny = v.sum() * w.sum()\nprint(torch.autograd.grad(y, [v, x]))"
    )
    assert load(text).run().printed == ("(tensor([2., 2.]), tensor([12.,  2.,  0.]))",)


def view_calls():
    """Calls of each op that gives views, at the shapes of its samples, with the shape."""
    found = {}
    for op in table().values():
        if (
            not op.memory.view
            or len(op.args) != 1
            or op.name == "getitem"
            or ops.is_internal(op.name)
        ):
            continue
        for s in samples(op):
            named = [f"{name.removeprefix('*')}={value!r}" for name, value in s.params.items()]
            call = f"{op.name}({', '.join(['z', *named])})"
            found.setdefault(op.name, []).append((call, np.shape(s.args[0])))
    found["expand"] += [
        ("expand(z, 2)", (2,)),
        ("z.expand(-1)", (2,)),
        ("expand(z, 1, -1)", (1, 3)),
    ]
    found["broadcast_to"] += [("broadcast_to(z, (2,))", (2,))]
    found["expand_as"] = [("expand_as(z, ones(2))", (2,))]
    found["getitem"] = [(call, (2, 2)) for call in ("z[1]", "z[:1]", "z[...]", "z[None]", "z.T")]
    return found


@pytest.mark.parametrize("op", view_calls())
def test_the_jacobian_knows_of_a_change_in_place_of_a_view(op):
    options, changed = Options(compile="never", explain=False), 0
    for call, shape in view_calls()[op]:
        text = f"param x = ones{shape}\nz = x * 1.0\ny = {call}\ny *= 3.0\nz"
        program = load(text)
        try:
            z = np.asarray(program.run(options=options).result)
        except GradError as error:
            if error.diagnostics[0].code in ("overlapping-memory", "wrong-type"):
                continue  # several elements in one place, or several results
            raise
        for mode in ("forward", "reverse"):
            found = np.asarray(program.jacobian(mode=mode, options=options).jacobian["x"])
            assert found.reshape(z.size, z.size).tolist() == np.diag(z.ravel()).tolist(), call
        changed += 1
    assert bool(changed) != (op in SEVERAL)


SEVERAL = {"meshgrid", "unbind", "split", "split_with_sizes", "chunk", "tensor_split"}
"""Ops whose results, or the tuples of them, are not changed in place."""
