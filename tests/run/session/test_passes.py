"""What passes of a program leave behind, and which names a command may differentiate by."""

import pytest

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.derivatives import transforms
from gradcli.engine.run.session.state import GONE, LIVE, SPENT, Passes, Session
from gradcli.engine.tape.tensor import leaf
from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import Options


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_nodes_are_freed_unless_another_derivative_may_need_them(repeated, depth):
    passes = Passes(repeated=repeated)
    passes.transforms = depth
    assert passes.left(retain=True) == LIVE
    assert passes.left(retain=False) == (SPENT if repeated or depth else GONE)


@pytest.mark.parametrize("transform", [transforms.grad, transforms.value_and_grad])
def test_a_transform_counts_while_it_runs(transform):
    session, seen = Session(), []

    def inner(x):
        seen.append(session.passes.transforms)
        return session.do(ops.mul, [x, x], {})

    def outer(x):
        seen.append(session.passes.transforms)
        transform(session, inner)(leaf(3.0))
        seen.append(session.passes.transforms)
        return session.do(ops.mul, [x, x], {})

    transform(session, outer)(leaf(2.0))
    assert seen == [1, 2, 1]
    assert session.passes.transforms == 0


def test_a_transform_that_fails_counts_no_more():
    session = Session()

    def fails(x):
        raise ZeroDivisionError

    session.recording = False
    with pytest.raises(ZeroDivisionError):
        transforms.grad(session, fails)(leaf(2.0))
    assert (session.passes.transforms, session.recording) == (0, False)


def test_a_pass_inside_a_differentiated_function_frees_nothing_that_it_needs():
    text = "def f(x):\n    y = x * x\n    y.backward()\n    return y\nx = tensor(3.0, requires_grad=True)\n"
    assert float(load(f"{text}grad(f)(x)").run().result) == 6.0
    with pytest.raises(GradError) as error:
        load(f"{text}grad(f)(x)\ny = x * x\ny.backward()\ny.backward()").run()
    assert error.value.diagnostics[0].code == "backward-twice"


@pytest.mark.parametrize(
    ("text", "gradients"),
    [
        ("x = ones(2)\nx.requires_grad_()\ny = (x * x).sum()\ny", {"x": [2.0, 2.0]}),
        (
            "x = ones(2)\nx.requires_grad_()\nx.requires_grad_(False)\n"
            "w = tensor(2.0, requires_grad=True)\ny = (x * x).sum() * w\ny",
            {"w": 2.0},
        ),
        (
            "x = ones(2, requires_grad=True)\nz = x * 2\nz.requires_grad_()\ny = (z * x).sum()\ny",
            {"x": [4.0, 4.0]},
        ),
        (
            "x = ones(2)\nw = x\nx.requires_grad_()\ny = (x * w).sum()\ny",
            {"x": [2.0, 2.0], "w": [2.0, 2.0]},
        ),
        (
            "x = ones(2)\nz = ones(2)\nx.requires_grad_()\ny = (x * z).sum()\ny",
            {"x": [1.0, 1.0]},
        ),
        (
            "x = tensor(2.0, requires_grad=True)\nx = x.detach()\n"
            "w = tensor(1.0, requires_grad=True)\nx * w",
            {"w": 2.0},
        ),
        ("x = tensor(2.0)\nx.requires_grad = True\nx * x", {"x": 4.0}),
    ],
)
def test_leaves_are_what_a_program_is_differentiated_by(text, gradients):
    found = load(text).grad(options=Options(compile="never")).grad
    told = {name: g.tolist() if hasattr(g, "tolist") else g for name, g in found.items()}
    assert told == gradients
