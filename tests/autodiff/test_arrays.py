"""The short way of a pass through arrays gives what the long one does, on memory of its own."""

import random

import numpy as np
import pytest

from gradcli.engine.autodiff.backward import all_cotangents, cotangents
from gradcli.engine.autodiff.paths import reachable
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.extent import FEW
from gradcli.engine.run.fast.call import by_place
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import PlannedNode, Tensor, leaf, node_of
from gradcli.engine.values.data import Quiet
from gradcli.program import Options, load

UNARY = ("tanh", "exp", "neg", "square", "relu", "sqrt", "abs", "sigmoid", "sin", "floor")
BINARY = ("add", "sub", "mul", "div", "add", "sub", "mul", "maximum", "pow", "atan2")
SHAPES = [(3,), (1,), (2, 3), (1, 3), (0,), (0, 2), (2, 1)]
POSITIVE, ANY = (0.25, 1.5, 3.0), (0.25, -1.5, 0.0, -0.0, 3.0)


def graph(rng, shape):
    """Tensors that ops have made of a few leaves, each of which several may read."""
    session = Session()
    values = [leaf(made(rng, shape)) for _ in range(2)]
    values += [Tensor(made(rng, shape)), 0.625, leaf(made(rng, shape[-1:]))]
    if len(shape) == 2:
        values.append(leaf(made(rng, shape[::-1]).T))
    for _ in range(20):
        if rng.random() < 0.4:
            op, args = ops[rng.choice(UNARY)], [rng.choice(values)]
        else:
            op, args = ops[rng.choice(BINARY)], [rng.choice(values[-6:]), rng.choice(values[-6:])]
        if not any(isinstance(a, Tensor) for a in args):
            continue
        if rng.random() < 0.1:
            session.recording = False
        with Quiet():
            values.append(by_place(op, None)(session, *args))
        session.recording = True
    return [x for x in values if isinstance(x, Tensor)]


def made(rng, shape):
    some = rng.choices(rng.choice((POSITIVE, POSITIVE, POSITIVE, ANY)), k=9)
    return np.resize(some, shape) if np.prod(shape) else np.zeros(shape)


def bits(x):
    return None if x is None else (np.shape(x), np.asarray(x).strides, np.asarray(x).tobytes())


@pytest.mark.parametrize("seed", range(42))
def test_cotangents_are_those_of_the_long_way(seed):
    rng = random.Random(seed)
    values = graph(rng, SHAPES[seed % len(SHAPES)] if seed else (FEW + 1,))
    results = [x for x in values if node_of(x) is not None]
    ends = [node_of(x) for x in results if x.is_leaf or rng.random() < 0.2]
    seeds = [made(rng, x.shape) if x.shape else 0.5 for x in results[-4:]]
    roots = [(node_of(x), x.index, g) for x, g in zip(results[-4:], seeds, strict=True)]
    nodes = [n for n in reachable(node for node, *_ in roots) if type(n) is PlannedNode]
    before = [*map(bits, seeds)], [[*map(bits, arrays(n))] for n in nodes]
    with Quiet():
        found = cotangents(roots, ends)
        kept = {node: bits(g) for node, g in found.items()}
        wanted = all_cotangents(roots)
    for node in ends:
        assert kept.get(node) == bits(wanted.get(node)), node
    assert {node: bits(g) for node, g in found.items()} == kept
    assert before == ([*map(bits, seeds)], [[*map(bits, arrays(n))] for n in nodes])


def arrays(node):
    return [x for x in (*node.data, node.out) if isinstance(x, np.ndarray)]


def test_a_tensor_that_has_got_other_data():
    text = "x = ones(3, requires_grad=True)\ny = x * 2.0\ny.data = ones(2, 3)\n(y * 3.0).sum()\n"
    result = load(text + "a = (y * y).shape, (y / 2.0).tanh().shape\na").run().result
    assert result == [[2, 3], [2, 3]]


@pytest.mark.parametrize("outer", ["neg", "sub", "mul", "div", "atan2"])
def test_a_cotangent_that_is_not_contiguous(outer):
    """What is summed up later depends on how cotangents lie."""
    session, g = Session(), np.asfortranarray(np.arange(6.0).reshape(2, 3) - 2.5)
    for inner in BINARY[1:4]:
        for _ in range(4):  # by a plan from the third time on
            x, y = leaf(np.full((2, 3), 0.5)), leaf(np.linspace(0.2, 0.9, 6).reshape(2, 3))
            below = by_place(ops[inner], None)(session, y, x)
            args = [below] if outer == "neg" else [x, below]
            made = by_place(ops[outer], None)(session, *args)
            roots = [(made.node, 0, g)]
            found, wanted = cotangents(roots, [x.node, y.node]), all_cotangents(roots)
            for node in (x.node, y.node):
                assert bits(found.get(node)) == bits(wanted.get(node)), (outer, inner)


def test_cotangents_without_dimensions_add_up_however_often_it_is_asked():
    """NumPy gives numbers of its own for arrays without dimensions, which nothing can be added to in
    place; the plans of later passes meet them as the first one does.
    """
    program = load(
        "y = tensor(1.62, dtype=float32, requires_grad=True)\nt1 = square(y.abs() + 0.1)\n"
        "t2 = t1.clone()\nwith no_grad():\n    t1.add_(0.5)\nt3 = t2.sum() * t1.sum()\n"
        "w = ones(1)\n"
        "(t1.reshape(-1) @ w.to(t1.dtype)) + (t2.reshape(-1) @ w.to(t2.dtype))"
        " + (t3.reshape(-1) @ w.to(t3.dtype))"
    )
    found = [program.grad(y=1.62, options=Options(compile="never")).grad for _ in range(6)]
    assert all(grad == found[0] for grad in found)
