"""Kinds of nodes: each knows how to pull, push and free, plain and recorded."""

from __future__ import annotations

import pytest

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.inplace import apply_inplace
from gradcli.engine.tape.graph import GONE, LIVE, Watchpoint
from gradcli.engine.tape.tensor import AccumulateGrad, OpNode, Tensor, leaf, node_of
from gradcli.engine.values.carrier import Like, data_of
from gradcli.engine.values.data import np
from gradcli.errors import RunError
from gradcli.program import load


def array(*numbers):
    return np.array(numbers, np.float64)


def test_an_op_pulls_plain_data_of_what_is_wanted_only():
    x, y = leaf(array(1.0, 2.0)), leaf(array(3.0, 4.0))
    node = ops.mul(x, y).node
    first, second = node.pull(array(1.0, 10.0), [True, False])
    assert first.tolist() == [3.0, 40.0]
    assert second is None
    assert (node.name(), node.op_name) == ("MulBackward0", "mul")


def test_an_op_pulls_a_number_the_short_way_as_the_long_one():
    x, y = leaf(1.5), leaf(-2.0)
    node = ops.pow(ops.add(ops.mul(x, y), 4.0), 2.0).node
    (short,) = [c for c in node.pull(3.0, [True, False]) if c is not None]
    (long,) = [c for c in node.pull(np.asarray(3.0), [True, False]) if c is not None]
    assert type(short) is float
    assert short == float(long) == 3.0 * 2.0 * 1.0


def test_an_op_pulls_by_recorded_ops():
    x = leaf(array(1.0, 2.0))
    node = ops.mul(x, x).node
    first, second = node.pull_recorded(array(1.0, 1.0), [True, True])
    for c in (first, second):
        assert isinstance(c, Tensor)
        assert node_of(c) is not None, "it cannot be differentiated again"
        assert c.data.tolist() == [1.0, 2.0]


def test_an_op_pushes_what_comes_to_any_argument():
    x, y = leaf(array(1.0, 2.0)), leaf(array(3.0, 4.0))
    node = ops.mul(x, y).node
    assert node.push([array(1.0, 1.0), None]).tolist() == [3.0, 4.0]
    assert node.push([array(1.0, 1.0), array(1.0, 0.0)]).tolist() == [4.0, 4.0]
    assert node_of(node.push_recorded([array(1.0, 1.0), None])) is not None


def test_results_that_nobody_used_count_as_zeros():
    out = ops.sort(leaf(array(3.0, 1.0, 2.0)), dim=0, descending=False, stable=False)
    (c,) = out[0].node.pull([array(1.0, 10.0, 100.0), None], [True])
    assert c.tolist() == [100.0, 1.0, 10.0]


def test_an_op_lets_go_of_what_it_saved():
    x = leaf(array(1.0, 2.0))
    node = ops.exp(ops.mul(x, x)).node
    under = node.edges[0]
    assert isinstance(under, OpNode)
    for each in (node, under):
        assert each.saves
        each.free()
        assert each.freed == GONE
        assert each.out is None
        assert all(type(a) is Like for a in each.args)


@pytest.mark.parametrize("viewed", [False, True])
def test_reverse_mode_refuses_values_that_have_been_changed_since_and_forward_mode_has_them(viewed):
    x, y = leaf(array(1.0, 2.0)), Tensor(array(3.0, 4.0))
    node = ops.mul(x, y).node
    changed = ops.getitem(y, index=slice(None)) if viewed else y
    apply_inplace(ops.mul, changed, [2.0], {}, None, recording=False)
    for ask in (
        lambda: node.pull(array(1.0, 1.0), [True, False]),
        lambda: node.pull_recorded(array(1.0, 1.0), [True, False]),
    ):
        with pytest.raises(RunError, match="changed in place"):
            ask()
    for push in (node.push, node.push_recorded):
        assert data_of(push([array(1.0, 1.0), None])).tolist() == [3.0, 4.0]


def test_memory_forgets_the_nodes_that_are_gone():
    x, y = leaf(array(1.0, 2.0)), Tensor(array(3.0, 4.0))
    for _ in range(1000):
        ops.mul(x, y)
    assert len(y.version.keepers) < 50


def test_an_op_refuses_a_result_that_has_been_changed_since():
    x = leaf(array(1.0, 2.0))
    y = ops.exp(x)
    node = y.node
    apply_inplace(ops.mul, y, [2.0], {}, None, recording=True)
    with pytest.raises(RunError, match="changed in place"):
        node.pull(array(1.0, 1.0), [True])


def test_a_watchpoint_is_the_identity():
    x = leaf(2.0)
    point = Watchpoint("x", x.node, 0, None)
    g = array(1.0, 2.0)
    assert point.pull(g, [True]) == (g,)
    assert point.pull_recorded(g, [True]) == (g,)
    assert point.push([g]) is g
    assert point.op_name == ""
    assert not point.saves
    assert point.visible, "what is under it requires grad"
    assert not Watchpoint("x", None, 0, None).visible


def test_a_leaf_ends_the_graph():
    x = leaf(array(1.0))
    assert isinstance(x.node, AccumulateGrad)
    assert x.node.variable is x
    assert not x.node.pull(array(1.0), [])
    assert x.node.push([]) is None
    node = x.node
    del x
    assert node.variable is None, "the node would keep its leaf"


def test_a_change_through_a_view_is_a_node_of_its_base():
    base = ops.mul(leaf(array(1.0, 2.0, 3.0)), 2.0)
    part = ops.getitem(base, index=slice(0, 2))
    apply_inplace(ops.mul, part, [10.0], {}, None, recording=True)
    node = node_of(base)
    assert node.name() == "CopySlices"
    kept, changed = node.pull(array(1.0, 1.0, 1.0), [True, True])
    assert kept.tolist() == [0.0, 0.0, 1.0]
    assert changed.tolist() == [1.0, 1.0]
    assert node.push([array(1.0, 1.0, 1.0), array(5.0, 6.0)]).tolist() == [5.0, 6.0, 1.0]
    assert data_of(base).tolist() == [20.0, 40.0, 6.0]
    assert node_of(part).edges == (node,), "the view's history follows the base's"


OWN = """
param x = [1.0, 2.0]
class Twice(Function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 2 * x
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 2 * g
Twice.apply(x)
"""


def own_node():
    from gradcli.engine.run.execution.execute import Executable
    from gradcli.engine.run.session.state import Session

    text = OWN.replace("x = [1.0, 2.0]", "x = tensor([1.0, 2.0])")
    _, out = Executable(load(text).loaded.program).run(Session(), {})
    return out.node


def test_an_own_function_pulls_pushes_and_frees_as_an_op_does():
    node = own_node()
    assert (node.name(), node.op_name) == ("TwiceBackward", "Twice")
    assert not node.takes_batches, "the program's functions would see them"
    (c,) = node.pull(array(1.0, 3.0), [True])
    assert c.tolist() == [2.0, 6.0]
    assert node.pull(array(1.0, 3.0), [False]) == [None]
    (c,) = node.pull_recorded(Tensor(array(1.0, 3.0)), [True])
    assert isinstance(c, Tensor)
    assert node.push([array(1.0, 3.0)]).tolist() == [2.0, 6.0]
    assert node.saves
    assert node.freed == LIVE
    node.free()
    assert node.freed == GONE
    with pytest.raises(RunError, match="freed"):
        node.pull(array(1.0, 3.0), [True])
