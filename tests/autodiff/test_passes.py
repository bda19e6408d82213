"""The two passes: the program's own, and a look at the graph; and how much they visit."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine.autodiff import backward, forward, paths
from gradcli.engine.autodiff import visits as visiting
from gradcli.engine.autodiff.backward import (
    all_cotangents,
    cotangents,
    gradients,
    recorded_cotangents,
)
from gradcli.engine.autodiff.forward import recorded_tangents, tangents
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import GONE, LIVE, SPENT, Watchpoint
from gradcli.engine.tape.tensor import OpNode, Tensor, leaf, node_of
from gradcli.errors import RunError
from gradcli.program import load


def root(out):
    return node_of(out), out.index, 1.0


def cube(x):
    return ops.mul(ops.mul(x, x), x)


def chain(x, steps):
    for _ in range(steps):
        x = ops.mul(ops.sin(x), 0.9)
    return x


@pytest.fixture
def pulled(monkeypatch):
    """The nodes that passes pull or push."""
    seen = []
    for name in ("pull", "pull_recorded", "push", "push_recorded"):
        real = getattr(OpNode, name)

        def noted(node, *args, real=real):
            seen.append(node)
            return real(node, *args)

        monkeypatch.setattr(OpNode, name, noted)
    shortly = visiting.visitor_of_numbers

    def noting(*args):
        visit = shortly(*args)

        def noted(node, g):
            gone = visit(node, g)
            seen.extend([node] * gone)
            return gone

        return noted

    monkeypatch.setattr(visiting, "visitor_of_numbers", noting)
    return seen


@pytest.fixture
def looked_at(monkeypatch):
    """How many nodes each search for paths finds."""
    counts = []
    real = paths.Paths

    def noted(order, *args, **named):
        counts.append(len(order))
        return real(order, *args, **named)

    monkeypatch.setattr(paths, "Paths", noted)
    return counts


# --- the program's own pass ----------------------------------------------------------------


def test_the_own_pass_adds_to_the_leaves():
    x, y = leaf(2.0), leaf(3.0)
    out = ops.mul(cube(x), y)
    backward.backward([root(out)], None, (), create_graph=False, left=LIVE)
    backward.backward([root(out)], None, (), create_graph=False, left=LIVE)
    assert (x.grad.data, y.grad.data) == (2 * 3 * 4.0 * 3.0, 2 * 8.0)


def test_the_own_pass_adds_to_those_that_are_asked_for_only():
    x, y = leaf(2.0), leaf(3.0)
    backward.backward([root(ops.mul(x, y))], [node_of(y)], (), create_graph=False, left=LIVE)
    assert x.grad is None
    assert y.grad.data == 2.0


def test_the_own_pass_does_not_see_what_only_the_command_differentiates():
    hidden = Tensor(2.0, Watchpoint("x", None, 0, None))
    x = leaf(3.0)
    out = ops.mul(x, cube(hidden))
    before = node_of(hidden)
    backward.backward([root(out)], None, (), create_graph=False, left=GONE)
    assert x.grad.data == 8.0
    inner = out.node.edges[1]
    assert inner.freed == LIVE, "the pass went below what is visible"
    assert before is hidden.node


@pytest.mark.parametrize(("left", "kept"), [(LIVE, True), (SPENT, True), (GONE, False)])
def test_what_the_own_pass_leaves(left, kept):
    x = leaf(2.0)
    out = cube(x)
    backward.backward([root(out)], None, (), create_graph=False, left=left)
    assert out.node.freed == left
    assert any(isinstance(a, Tensor) for a in out.node.args) is kept
    if left != LIVE:
        with pytest.raises(RunError, match="earlier `backward` has freed"):
            backward.backward([root(out)], None, (), create_graph=False, left=LIVE)
    if kept:
        assert cotangents([(out.node, 0, 1.0)], [x.node])[x.node] == 12.0
    else:
        with pytest.raises(RunError, match="earlier `backward` has freed"):
            cotangents([(out.node, 0, 1.0)], [x.node])


def test_the_own_pass_by_targets_frees_what_it_visits_only():
    x, y = leaf(2.0), leaf(3.0)
    one, other = cube(x), cube(y)
    out = ops.add(one, other)
    found = gradients([(out.node, 0, 1.0)], [x.node], (), create_graph=False, left=GONE)
    assert found == {x.node: 12.0}
    assert (one.node.freed, other.node.freed) == (GONE, LIVE)
    assert x.grad is None


def test_a_recorded_own_pass_leaves_gradients_with_a_history():
    x = leaf(2.0)
    backward.backward([root(cube(x))], None, (), create_graph=True, left=LIVE)
    assert x.grad.data == 12.0
    assert cotangents([(x.grad.node, x.grad.index, 1.0)], [x.node])[x.node] == 12.0


# --- a look --------------------------------------------------------------------------------


def test_a_look_leaves_everything_as_it_was():
    x = leaf(2.0)
    out = cube(x)
    for _ in range(2):
        assert cotangents([(out.node, 0, 1.0)], [x.node]) == {x.node: 12.0}
    assert out.node.freed == LIVE
    assert x.grad is None


def test_a_recorded_look_can_be_differentiated():
    x = leaf(2.0)
    out = cube(x)
    first = recorded_cotangents([(out.node, 0, 1.0)], [x.node])[x.node]
    second = recorded_cotangents([(first.node, first.index, 1.0)], [x.node])[x.node]
    assert (first.data, second.data) == (12.0, 12.0)
    third = recorded_tangents([second.node], {x.node: 1.0})[second.node]
    assert data(third) == 6.0


def data(x):
    return x.data if isinstance(x, Tensor) else x


def test_a_look_at_everything_gives_the_cotangent_of_every_node():
    x = leaf(2.0)
    inner = ops.mul(x, x)
    out = ops.mul(inner, x)
    assert all_cotangents([(out.node, 0, 1.0)]) == {out.node: 1.0, inner.node: 2.0, x.node: 12.0}


def test_both_modes_agree():
    x = leaf(np.linspace(0.1, 1, 4))
    out = chain(x, 3)
    v, u = np.arange(4.0), np.array([1.0, -1.0, 2.0, 0.5])
    back = cotangents([(out.node, 0, v)], [x.node])[x.node]
    ahead = tangents([out.node], {x.node: u})[out.node]
    assert float(back @ u) == pytest.approx(float(v @ ahead), rel=1e-14)


# --- how much is visited -------------------------------------------------------------------


def test_a_pass_stops_at_the_oldest_target(pulled, looked_at):
    x = leaf(0.7)
    middle = chain(x, 100)
    out = chain(middle, 5)
    found = cotangents([(out.node, 0, 1.0)], [middle.node])
    assert set(found) == {middle.node}
    assert len(pulled) == 10, "5 steps of 2 ops"
    assert looked_at == [11]


def test_a_forward_pass_stops_at_the_oldest_seed(pulled, looked_at):
    x = leaf(0.7)
    middle = chain(x, 100)
    out = chain(middle, 5)
    found = tangents([out.node], {middle.node: 1.0})
    assert len(found) == 11
    assert len(pulled) == 10
    assert looked_at == [11]


def test_the_oldest_of_several_targets_counts(looked_at):
    x = leaf(0.7)
    early = chain(x, 10)
    late = chain(early, 10)
    out = chain(late, 5)
    found = cotangents([(out.node, 0, 1.0)], [late.node, early.node])
    assert set(found) == {late.node, early.node}
    assert looked_at == [31]


def test_an_older_target_that_nothing_leads_to_is_not_found():
    stray, x = leaf(1.0), leaf(2.0)
    out = cube(x)
    assert cotangents([(out.node, 0, 1.0)], [stray.node]) == {}
    assert forward.tangents([out.node], {stray.node: 1.0}) == {stray.node: 1.0}


NESTED = """
param p = 0.3
f = lambda x: sin(x) * x
x = p
for i in range(TURNS):
    x = x - 0.1 * grad(f)(x)
x
"""


def visits(turns, counts):
    counts.clear()
    load(NESTED.replace("TURNS", str(turns))).grad()
    return sum(counts)


def test_a_gradient_in_each_step_of_a_loop_looks_at_its_own_step_only(looked_at):
    few, many = visits(40, looked_at), visits(160, looked_at)
    assert many <= 4.5 * few, f"{few} nodes in 40 steps, {many} in 160"


ELSEWHERE = """
w = tensor(2.0, requires_grad=True)
f = lambda x: sin(x) * x WEIGHT
x = 0.3
for i in range(TURNS):
    x = x - 0.1 * grad(f)(x)
x
"""


@pytest.mark.parametrize("weight", ["", "* w"])
def test_what_else_is_differentiated_is_seen_without_a_walk_through_all(weight, monkeypatch):
    steps = []
    real = paths.Node.edges.__get__

    class Counted:
        def __get__(self, node, owner):
            steps.append(1)
            return real(node, owner)

        def __set__(self, node, value):
            slot.__set__(node, value)

    slot = paths.Node.edges
    monkeypatch.setattr(paths.Node, "edges", Counted())
    counts = {}
    for turns in (20, 80):
        steps.clear()
        load(ELSEWHERE.replace("WEIGHT", weight).replace("TURNS", str(turns))).run()
        counts[turns] = len(steps)
    assert counts[80] <= 4.5 * counts[20], counts


def test_a_nan_of_a_pass_that_frees_the_graph_asks_what_was_saved():
    text = "x = tensor([0.0], requires_grad=True)\nw = tensor([0.0])\n"
    text += "(sqrt(x) * (w * 1)).sum().backward()\nprint(x.grad)"
    assert load(text).run().printed == ("tensor([0.])",)
