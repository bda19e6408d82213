"""The short way of a pass through numbers gives what the long one does."""

import math
import random
import struct

import pytest

from gradcli.engine.autodiff.backward import cotangents
from gradcli.engine.autodiff.numbers import visitor
from gradcli.engine.autodiff.paths import Paths, age, between, reachable
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.fast.call import by_place
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Number, OpNode, Tensor, leaf, node_of
from gradcli.engine.values.data import Quiet
from gradcli.errors import RunError
from gradcli.program import load

STEPS = sorted(
    name
    for name in ops
    if (op := ops[name]).name == name
    and op.number is not None
    and op.partials is not None
    and len(op.args) < 3
    and not op.optional
)
EDGES = (0.0, -0.0, 1.0, -1.0)


def graph(rng, kind):
    """Numbers or 0-d tensors that ops have made of a few leaves, and these."""
    session = Session()
    session.recording = True
    leaves = [leaf(rng.choice(EDGES) if i == 2 else rng.uniform(0.1, 0.9)) for i in range(3)]
    values = [kind(x.data, node_of(x)) for x in leaves]
    for _ in range(30):
        op = ops[rng.choice(STEPS)]
        args = [rng.choice(values[-8:]) if rng.random() < 0.8 else 0.625 for _ in op.args]
        with Quiet():
            try:
                made = by_place(op, None)(session, *args)
            except RunError:
                continue
        if isinstance(made, Tensor) and type(made.data) is float and abs(made.data) < 100:
            values.append(made)
    return leaves, values


def long_way(roots):
    """The cotangents that the nodes pull themselves, one after the other."""
    pending = {}
    for node, _, g in roots:
        pending[node] = pending.get(node, 0.0) + g
    for node in sorted(reachable(node for node, *_ in roots), key=age, reverse=True):
        if node not in pending or not node.edges:
            continue
        pulled = node.pull(pending[node], [under is not None for under in node.edges])
        for under, c in zip(node.edges, pulled, strict=True):
            if c is not None:
                pending[under] = pending[under] + c if under in pending else c
    return pending


def bits(x):
    return None if x is None else struct.pack("<d", x)


@pytest.mark.parametrize("kind", [Number, Tensor])
def test_cotangents_are_those_of_the_long_way(kind):
    compared = 0
    for seed in range(300):
        rng = random.Random(seed)
        leaves, values = graph(rng, kind)
        results = [x for x in values[-3:] if node_of(x) is not None]
        roots = [(node_of(x), 0, rng.choice((1.0, -0.3, 0.0))) for x in results]
        ends = [node_of(x) for x in (*leaves, *values) if rng.random() < 0.5]
        with Quiet():
            wanted = long_way(roots)
            if not all(map(math.isfinite, wanted.values())):
                continue  # of which a pass asks what moves at all
            found = cotangents(roots, ends)
        for node in ends:
            assert bits(found.get(node)) == bits(wanted.get(node)), (seed, node)
            compared += node in wanted
    assert compared > 300


@pytest.mark.parametrize("name", STEPS)
def test_every_op_has_the_slopes_of_its_rules(name):
    op = ops[name]
    session = Session()
    session.recording = True
    for sample in [*op.samples(), *op.known()]:
        if not all(type(a) is float for a in sample.args) or sample.params:
            continue
        for moving in range(1, 2 ** len(sample.args)):
            leaves = [leaf(x) for x in sample.args]
            args = [
                Number(x.data, node_of(x)) if moving >> i & 1 else x.data
                for i, x in enumerate(leaves)
            ]
            with Quiet():
                made = by_place(op, None)(session, *args)
                node = node_of(made) if isinstance(made, Tensor) else None
                if type(node) is not OpNode:
                    continue
                wanted = [under is not None for under in node.edges]
                for g in (1.0, -0.7):
                    pending = {}
                    paths = between([node], [node_of(x) for x in leaves])
                    if visitor(pending, paths)(node, g):
                        pulled = node.pull(g, wanted)
                        given = dict(zip(node.edges, pulled, strict=True))
                        assert {k: bits(c) for k, c in pending.items()} == {
                            k: bits(c) for k, c in given.items() if c is not None
                        }


def test_nothing_is_given_where_nothing_is_wanted():
    x = leaf(0.5)
    session = Session()
    session.recording = True
    y = by_place(ops.mul, None)(session, Number(0.5, node_of(x)), 2.0)
    pending = {}
    assert not visitor(pending, Paths([node_of(y)], {node_of(y)}))(node_of(y), 1.0)
    assert pending == {}


@pytest.mark.parametrize("change", ["y.mul_(3.0)", "y += 1.0"])
def test_a_number_that_has_been_changed_is_refused(change):
    text = "x = tensor(0.5, requires_grad=True)\ny = x * 2.0\nz = y * y\n"
    load(text + "z.backward()").run()
    with pytest.raises(RunError, match="has been changed in place"):
        load(text + f"{change}\nz.backward()").run()
