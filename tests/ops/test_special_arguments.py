"""Values and derivatives at arguments for which an operation is easily taken for another."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from support.checks.oracles import Run, floating, forward, reverse, table, values, zeros

from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import Quiet
from gradcli.errors import GradError
from gradcli.program import load_source
from gradcli.source import Source

CUBE = "arange(24.0).reshape(2, 3, 4)"

VALUES = {  # PyTorch's, or for `math` Python's
    # the module decides
    f"torch.linalg.diagonal({CUBE})": [[0.0, 5.0, 10.0], [12.0, 17.0, 22.0]],
    f"torch.diagonal({CUBE})": [[0.0, 16.0], [1.0, 17.0], [2.0, 18.0], [3.0, 19.0]],
    f"{CUBE}.diagonal()": [[0.0, 16.0], [1.0, 17.0], [2.0, 18.0], [3.0, 19.0]],
    "torch.vander(tensor([2.0, 3.0]))": [[2.0, 1.0], [3.0, 1.0]],
    "torch.linalg.vander(tensor([2.0, 3.0]))": [[1.0, 2.0], [1.0, 3.0]],
    "torch.norm(tensor([[3.0, 0.0], [0.0, 4.0]]), 2)": 5.0,
    "torch.linalg.norm(tensor([[3.0, 0.0], [0.0, 4.0]]), 2)": 4.0,
    "math.floor(2.5)": 2,
    "math.ceil(2.5)": 3,
    "math.trunc(-2.5)": -2,
    "torch.floor(tensor(2.5))": 2.0,
    "math.remainder(5.0, 3.0)": -1.0,
    "math.remainder(7.0, 2.0)": -1.0,
    "torch.remainder(tensor(5.0), 3.0)": 2.0,
    "math.isclose(1.0, 1.000001)": False,
    "torch.isclose(tensor(1.0), tensor(1.000001))": True,
    "math.pow(2, 3)": 8.0,
    # a margin that is cut off is no part of the circle
    "pad(tensor([[1.0, 2.0, 3.0]]), (-1, 1), 'circular')": [[2.0, 3.0, 2.0]],
    "pad(tensor([[1.0, 2.0, 3.0, 4.0]]), (2, -1), 'circular')": [[2.0, 3.0, 1.0, 2.0, 3.0]],
    "pad(tensor([[1.0, 2.0, 3.0]]), (-2, 1), 'circular')": [[3.0, 3.0]],
    # no difference is taken of what is not joined
    "diff(tensor([1.0, 4.0]), 0, prepend=tensor([7.0]))": [1.0, 4.0],
    "diff(tensor([1.0, 4.0]), 1, prepend=tensor([7.0]))": [-6.0, 3.0],
    "mode(zeros(0, 3)).values": [],
    # derivatives
    "grad(lambda q: quantile(tensor([1.0, 2.0, 4.0, 8.0, 9.0]), q))(0.6)": 16.0,
    "grad(lambda q: quantile(tensor([1.0, 2.0, 4.0, 8.0, 9.0]), q))(0.5)": 12.0,
    "grad(lambda q: quantile(tensor([1.0, 2.0, 4.0, 8.0, 9.0]), q))(0.0)": 4.0,
    "grad(lambda q: quantile(tensor([1.0, 2.0, 4.0, 8.0, 9.0]), q))(1.0)": 4.0,
    "grad(lambda q: quantile(tensor([1.0, 2.0, 4.0]), q, interpolation='midpoint'))(0.6)": 0.0,
    "jacfwd(lambda q: nanquantile(tensor([1.0, 2.0, nan, 4.0]), q))(tensor([0.25, 0.75]))": [
        [2.0, 0.0],
        [0.0, 4.0],
    ],
    "hessian(lambda x: logcumsumexp(x, 0).sum())(zeros(2))": [[0.25, -0.25], [-0.25, 0.25]],
    "grad(lambda x: median(x) + nanmedian(x))(2.0)": 2.0,
    "grad(lambda x: math.remainder(x, 1.5) * math.floor(x))(2.5)": 2.0,
}

REFUSED = {
    "normal(zeros(5, 5), 0, 5)": "must be numbers",
    "celu(tensor([1.0, -1.0]), alpha=0)": "cannot be 0",
    "celu(-1.0, 0.0)": "cannot be 0",
    "repeat_interleave(tensor(1.0), 2, dim=1)": "0-d",
    "roll(tensor(1.0), 1, 0)": "0-d",
    "take_along_dim(tensor(1.0), tensor(0), 0)": "0-d",
    "torch.linalg.cond(eye(2), tensor([1.0, 2.0]))": "must be a number",
    "torch.linalg.matrix_norm(eye(2), tensor([1.0, 2.0]))": "one text or number",
    "torch.linalg.norm(eye(2), tensor([1.0, 2.0]))": "must be a number",
    "torch.linalg.norm(ones(2), [1.0, 2.0])": "number",
    "torch.linalg.vector_norm(ones(2), tensor([1.0, 2.0]))": "number",
    "norm(ones(2), tensor([1.0, 2.0]))": "number",
    "pad(ones(1, 2), (-2, 1), 'circular')": "nothing is left",
    "math.floor(nan)": "cannot be rounded",
}


@pytest.mark.parametrize("text", VALUES)
def test_value(text):
    found = load_source(Source("p", text)).run().result
    assert np.shape(found) == np.shape(VALUES[text])
    assert np.allclose(found, VALUES[text], rtol=1e-15, atol=0)
    assert isinstance(found, int) == isinstance(VALUES[text], int)


@pytest.mark.parametrize("text", REFUSED)
def test_refusal(text):
    with pytest.raises(GradError, match=REFUSED[text]):
        load_source(Source("p", text)).run()


@pytest.mark.parametrize("kind", [float, np.array, lambda a: np.zeros((0, 3))])
def test_numbers_0d_and_empty_tensors_are_refused_or_differentiated(kind):
    """Of every op: in place of its samples' tensors."""

    def other(a):
        return kind(np.ravel(a)[0]) if floating(a) and np.size(a) else a

    with Quiet():
        for op in table().values():
            if op.host.call is not None or ".internal." in ops.families[op.name]:
                continue
            for s in op.page.samples()[:2]:
                with suppress(GradError):
                    run = Run(op, list(map(other, values(s.args))), s.params)
                    pulled = reverse(run.outs, [zeros(o) + 1.0 for o in run.outs], run.leaves)
                    pushed = forward(run.outs, [zeros(x) + 1.0 for x in run.leaves], run.leaves)
                    assert [np.shape(c) for c in pulled] == [x.shape for x in run.leaves], op
                    assert [np.shape(c) for c in pushed] == [o.shape for o in run.outs], op


@pytest.mark.parametrize("offset", [2**62, -(2**62), 7])
def test_a_diagonal_outside_of_the_matrix_is_empty_in_both_modes(offset):
    text = f"param x: float[2, 3] = [[1, 2, 3], [4, 5, 6]]\nsum(diagonal(x, {offset}) * 2) + sum(x)"
    program = load_source(Source("p", text))
    assert program.grad({}).grad["x"].tolist() == [[1.0] * 3] * 2
    assert np.asarray(program.jacobian(mode="forward").jacobian["x"]).tolist() == [[1.0] * 3] * 2


def test_the_cosine_of_a_zero_vector_is_pytorchs():
    """The loss adds 1e-12 to the squares of the norms, PyTorch in single precision."""
    text = "x = zeros(2)\nF.cosine_embedding_loss(x, tensor([3.0, 4.0]), tensor(1))"
    found = load_source(Source("", text)).grad(wrt=["x"])
    pytorchs = [-600000.0011987289, -800000.0015983052]
    np.testing.assert_allclose(found.grad["x"], pytorchs, rtol=1e-8)
