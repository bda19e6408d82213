"""The short way of a pass through numbers gives what the long one does."""

import struct
from math import inf, isnan, nan

import pytest

from gradcli.engine.autodiff.numbers import visitor
from gradcli.engine.autodiff.paths import Paths, between
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
    and op.value.number is not None
    and op.derivatives.partials is not None
    and len(op.args) < 3
    and not op.optional
)


def bits(x):
    return None if x is None else struct.pack("<d", abs(x) if isnan(x) else x)


@pytest.mark.parametrize("name", STEPS)
def test_every_op_has_the_slopes_of_its_rules(name):
    op = ops[name]
    session = Session()
    session.recording = True
    for sample in [*op.page.samples(), *op.page.known()]:
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
                for g in (1.0, -0.7, 0.0, inf, nan):
                    pending = {}
                    paths = between([node], [node_of(x) for x in leaves])
                    if visitor(pending, paths)(node, g):
                        pulled = node.pull(g, wanted)
                        given = dict(zip(node.edges, pulled, strict=True))
                        assert {k: bits(c) for k, c in pending.items()} == {
                            k: bits(c) for k, c in given.items() if c is not None
                        }


def test_a_number_that_is_both_arguments_gets_both_cotangents():
    x = leaf(3.0)
    session = Session()
    session.recording = True
    both = Number(3.0, node_of(x))
    node = node_of(by_place(ops.mul, None)(session, both, both))
    pending = {}
    assert visitor(pending, between([node], [node_of(x)]))(node, 2.0)
    assert pending == {node_of(x): 12.0}


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
