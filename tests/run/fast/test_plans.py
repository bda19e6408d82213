"""What is done by a plan is what is done without one."""

import itertools
import random

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.checks.by_family import by_family
from support.checks.oracles import samples, table, values
from support.processes.taken_down import cotangents, kept, plain, told

from gradcli.engine.autodiff import backward
from gradcli.engine.ops.extent import FEW
from gradcli.engine.run.fast import call, plans, scalars
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import PlannedNode, Tensor, leaf
from gradcli.engine.values.data import Quiet
from gradcli.engine.values.limits import QUESTION, Meter
from gradcli.errors import GradError, LimitError
from gradcli.limits import DEFAULT, Limits
from gradcli.program import load
from gradcli.questions.asked.request import Options
from gradcli.source import Span

OPS = [op for op in {id(op): op for op in table().values()}.values() if op.host.call is None]


def given(x):
    """An argument of a sample as what a program would have."""
    if x is None or isinstance(x, (bool, int, str)):
        return x
    data = np.asarray(x) if not isinstance(x, float) else x
    floats = isinstance(data, float) or data.dtype.kind == "f"
    return leaf(data) if floats and np.size(data) else Tensor(data)


def ways(op, params):
    """The op without plans, and with them."""

    def general(session, site, *args):
        return call._run(op, session, args, params, site)

    return general, plans.by_plan(op, params, general, call._part)


def calls(op):
    """The arguments of each sample, with the op done without plans, and with them."""
    for sample in samples(op):
        args = [given(x) for x in values(sample.args)]
        if args and type(args[0]) is Tensor:
            params = {**op.defaults, **sample.params}
            yield args, params, *ways(op, params)


@by_family([op for op in OPS if op.value.body is None])
def test_a_plan_takes_down_what_is_taken_down_without_one(op):
    session = Session()
    with Quiet():
        for args, params, general, planned in calls(op):
            if type(planned(session, None, *args)) is not Tensor:
                continue
            planned(session, None, *args)
            made = []
            for way in (planned, general):
                before = [*map(kept, args)]
                made.append(told(way(session, None, *args), args, before))
            assert made[0] == made[1], params


def graph_of(node, seen=None):
    """The graph above a node: the ops, their places and what they hold, leaves by themselves."""
    seen = {} if seen is None else seen
    if node is None or node in seen or not node.op_name:
        return seen.get(node, node)
    seen[node] = len(seen)
    return (
        node.name(),
        node.site and (node.site.span, node.site.variable),
        [*((graph_of(under, seen), index) for under, index in node.shown)],
    )


def derived(result, args):
    """A result with its graph and the cotangents of the arguments."""
    node = result.node
    made = [plain(result.data), graph_of(node)]
    for g in [] if node is None else cotangents(result.data):
        leaves = [x.node for x in args if isinstance(x, Tensor) and x.node]
        found = backward.cotangents([(node, result.index, g)], leaves)
        pulled = [found.get(x) for x in leaves]
        made.append([None if c is None else np.asarray(c).tobytes() for c in pulled])
    return made


@by_family([op for op in OPS if op.value.body is not None])
def test_the_parts_of_an_op_are_recorded_as_without_plans(op):
    session, site = Session(), Site(Span(1, 2), "y")
    with Quiet():
        for args, params, general, planned in calls(op):
            if plans._parts(op, args, params, call._part) is None:
                continue
            for _ in range(4):  # its own plan, then those of its parts
                result = planned(session, site, *args)
            if type(result) is not Tensor:
                continue
            made = [derived(way(session, site, *args), args) for way in (planned, general)]
            assert made[0] == made[1], params


OTHERS = {
    "of the other sign": lambda x: 0.01 - 0.7 * x,
    "zeros": np.zeros_like,
    "ones": np.ones_like,
    "zeros between": lambda x: np.where(np.arange(x.size).reshape(x.shape) % 2, x, 0.0),
}


def other(x, change):
    """A tensor of floats with other values; what else is an argument stays."""
    data = np.asarray(x.data) if isinstance(x, Tensor) else None
    if data is None or data.dtype.kind != "f":
        return x
    changed = np.asarray(change(data), data.dtype)
    values_ = float(changed) if type(x.data) is float else changed
    return leaf(values_) if x.node is not None else Tensor(values_)


@pytest.mark.long
@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_a_plan_does_not_hang_on_the_values_that_it_was_made_with(change):
    session, wrong = Session(), []
    for op in OPS:
        for args, params, general, planned in calls(op):
            with Quiet():
                results = [planned(session, None, *args) for _ in range(3)]
                if type(results[-1]) is not Tensor:
                    continue
                derived(results[-1], args)  # plans its rules, too
                others = [other(x, change) for x in args]
                made = []
                for way in (planned, general):
                    try:
                        made.append(derived(way(session, None, *others), others))
                    except GradError as error:
                        made.append(str(error))
            if made[0] != made[1]:
                wrong.append((op.name, params))
    assert not wrong


def test_plans_are_made():
    made = set()
    for name in NAMES:
        for args, _, _, planned in calls(table()[name]):
            with Quiet():
                for _ in range(5):  # its own plan, then those of its parts
                    result = planned(Session(), None, *args)
            if type(result.node) is PlannedNode:
                made.add(name)
    assert made == NAMES


NAMES = {"cat", "dot", "expand", "getitem", "matmul", "mean", "relu", "reshape", "softmax"}


STATEMENTS = """h = M @ h
M = M.mm(W) * 0.3
M = M.T
h = h + M.sum(dim=0)
M = M - M.mean(dim=1, keepdim=True)
s = s + torch.dot(h, v)
s = s + h[0] * W[1, 2]
h = h + M[i]
h = torch.stack([s, h[1], s * 0.5, h[0]])
h = torch.cat([h[:2], h[2:]])
h = torch.softmax(h, dim=0)
s = s + torch.logsumexp(h, dim=0)
M = torch.relu(M) + v
M = M.reshape(2, 8).reshape(4, 4)
h = h.unsqueeze(0).expand(2, 4).sum(0)
M = torch.outer(h, v) + M.t()
h = h.clamp(min=0)
h = torch.where(h > 0, h, v) ** 2
h[1] = s
M[0] += h
h = h + h.view(4)
g = h; h = h.flip(0); h += g
s = (M * M).sum() * 0.1""".splitlines()
PROGRAM = """import torch
param W: float[n, n]
param v: float[n]
h = v * 1.0
M = W * 1.0
s = v.sum()
for i in range(4):
    {}
h.sum() + (M * M).sum() + s
"""


@pytest.mark.parametrize("seed", chunks(40, 2000, 40))
def test_programs_have_the_same_derivatives_without_plans(seed, monkeypatch):
    for k in range(seed, seed + 40):
        chance = random.Random(k)
        body = [s for line in chance.sample(STATEMENTS, 4) for s in line.split("; ")]
        text = PROGRAM.format("\n    ".join(body))
        given = {"W": np.eye(4) + 0.1 * np.arange(16.0).reshape(4, 4), "v": np.arange(4.0) - 1.5}
        answers = []
        for planned in (True, False):
            with monkeypatch.context() as without:
                if not planned:
                    without.setattr(plans, "by_plan", lambda op, params, general, part: general)
                call._keyed.cache_clear()
                call.in_order.cache_clear()
                program = load(text)
                try:
                    found = program.grad(**given, options=Options(compile="never"))
                except GradError as error:
                    answers.append(str(error))
                else:
                    answers.append(repr((found.value, found.grad)))
        call._keyed.cache_clear()
        call.in_order.cache_clear()
        assert answers[0] == answers[1], text


def test_plans_are_of_numbers_or_tensors():
    general, planned = ways(table()["pow"], {})
    args = [[leaf(np.ones(2)), x] for x in (1.0, leaf(1.0), Tensor(1.0), 1, leaf(np.ones(())))]
    with Quiet():
        for x, y in args * 3:
            made = []
            for way in (planned, general):
                before = [*map(kept, (x, y))]
                made.append(told(way(Session(), None, x, y), (x, y), before))
            assert made[0] == made[1]


CONSTANTS = (0.625, 2.0, 0.0, -0.0, 1.0, -1.0, np.inf, 2, 0, -1, 3, 2**53, True)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow", "atan2", "maximum", "hypot"])
def test_a_plan_is_of_all_numbers_that_are_treated_alike(name):
    """Plans of one op meet one number after the other, on both sides of a tensor."""
    general, planned = ways(table()[name], {})
    with Quiet():
        for number in CONSTANTS * 3:
            x = leaf(np.array([0.5, 2.0, 0.0, -1.5]))
            for args in ((x, number), (number, x)):
                made = []
                for way in (planned, general):
                    before = [*map(kept, args)]
                    result = way(Session(), None, *args)
                    made.append((told(result, args, before), derived(result, args)))
                assert made[0] == made[1], (name, args)


@pytest.mark.parametrize("line", ["y / (1.5 + y * y)", "y.tanh() * x - y", "(y * x).exp() ** 2"])
def test_large_tensors_have_the_same_derivatives_without_plans(line, monkeypatch):
    text = f"param x: float[n]\ny = x\nfor i in range(4):\n    y = {line}\ny.sum()\n"
    x = np.linspace(-0.7, 0.9, FEW + 1)
    answers = []
    for _ in range(2):
        call.in_order.cache_clear()
        call.of_tensors.cache_clear()
        scalars.unary.cache_clear()
        scalars.binary.cache_clear()
        found = load(text).grad(x=x, options=Options(compile="never"))
        answers.append((found.value, found.grad["x"].tobytes()))
        monkeypatch.setattr(plans, "by_plan", lambda op, params, general, part: general)
    assert answers[0] == answers[1]


def test_what_a_plan_does_to_large_tensors_is_no_more_than_there_is_memory_for():
    _, planned = ways(table()["mul"], {})
    x = leaf(np.ones(1 << 20))
    for _ in range(3):
        planned(Session(), None, x, 2.0)
    QUESTION.meter = Meter(Limits(DEFAULT.steps, DEFAULT.seconds, 1 << 20, DEFAULT.depth))
    try:
        with pytest.raises(LimitError):
            planned(Session(), None, x, 2.0)
    finally:
        QUESTION.meter = None


def test_plans_are_of_what_is_connected():
    session, made = Session(), {}
    kinds = [*itertools.product((leaf, Tensor), repeat=2)]
    general, planned = ways(table()["matmul"], {})
    for way, left, right in [(planned, *k) for k in kinds * 3] + [(general, *k) for k in kinds]:
        args = [left(np.eye(2)), right(np.ones((2, 2)))]
        node = way(session, None, *args).node
        found = node and ([under is not None for under in node.edges], *map(plain, node.data))
        assert made.setdefault((left, right), found) == found
