"""Every pass in reverse mode gives what the textbook's pass gives, to the last bit."""

import random
from contextlib import suppress

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.checks.by_family import by_family
from support.checks.oracles import cases, table
from support.programs import array_programs, generated_programs

from gradcli.engine.autodiff import backward, reference
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.fast.call import by_name, by_place, changed
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import LIVE
from gradcli.engine.tape.tensor import Number, Tensor, leaf, node_of
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet
from gradcli.errors import RunError
from gradcli.program import Options, load

STEP = 25


# --- what is compared ----------------------------------------------------------------------


def compare(found, wanted, told):
    """Hold cotangents against those of the textbook's pass.

    Both are the same bits, unless zero times infinity has made nan in the textbook's pass. The other
    pass asks there whether the zero has a part in the result, so that nan may be a number instead,
    and a zero the other zero.
    """
    assert found.keys() == wanted.keys(), told
    pairs = [
        (node, np.asarray(data_of(one)), np.asarray(data_of(other)))
        for node, c in wanted.items()
        for one, other in zip(parts(found[node]), parts(c), strict=True)
        if not (one is other is None)
    ]
    exact = not any(is_nan(other).any() for _, _, other in pairs)
    for node, one, other in pairs:
        same = (one.shape, one.dtype) == (other.shape, other.dtype) and (
            one.tobytes() == other.tobytes() if exact else np.all((one == other) | is_nan(other))
        )
        assert same, f"{told}: {node} has {one!r}, in the textbook's pass {other!r}"


def parts(c):
    """The cotangents of several results, or the one of one."""
    return c if type(c) is list else [c]


def is_nan(x):
    return np.isnan(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool)


def check(roots, targets, told):
    """Hold both passes that leave the graph as it is against the textbook's; its cotangents, None
    where both passes refuse.
    """
    with Quiet():
        wanted, refused = outcome(reference.cotangents, roots, targets)
        found, message = outcome(backward.cotangents, roots, targets)
        assert message == refused, told
        if wanted is None:
            return None
        compare(found, wanted, told)
        recorded = reference.recorded_cotangents(roots, targets)
        compare(backward.recorded_cotangents(roots, targets), recorded, f"{told}, recorded")
    return wanted


def outcome(work, *args):
    """What a pass gives, or the message with which it refuses."""
    try:
        return work(*args), ""
    except RunError as error:
        return None, str(error)


@pytest.fixture
def watched(monkeypatch):
    """Holds each pass of a program without hooks against the textbook's; how many there were."""
    count = []
    real = backward.run_pass

    def held(roots, paths, ends, settings):
        if any(node.hooks is not None for node in paths.live):
            return real(roots, paths, ends, settings)
        plain = reference.recorded_cotangents if settings.recorded else reference.cotangents
        wanted, refused = outcome(plain, roots, ends)
        found, visited = real(roots, paths, ends, settings)
        assert not refused
        compare(found, wanted, "a pass of the program")
        count.append(len(found))
        return found, visited

    monkeypatch.setattr(backward, "run_pass", held)
    return count


# --- graphs --------------------------------------------------------------------------------

STEPS = sorted(
    name
    for name in ops
    if (op := ops[name]).name == name
    and op.value.number is not None
    and op.derivatives.partials is not None
    and len(op.args) < 3
    and not op.optional
)


def recording():
    session = Session()
    session.recording = True
    return session


def of_numbers(rng, kind):
    """Numbers or 0-d tensors that ops have made of a few leaves, and these."""
    session, edges = recording(), (0.0, -0.0, 1.0, -1.0)
    leaves = [leaf(rng.choice(edges) if i == 2 else rng.uniform(0.1, 0.9)) for i in range(3)]
    values = [kind(x.data, node_of(x)) for x in leaves]
    for _ in range(30):
        op = ops[rng.choice(STEPS)]
        args = [rng.choice(values[-8:]) if rng.random() < 0.8 else 0.625 for _ in op.args]
        try:
            made = by_place(op, None)(session, *args)
        except RunError:
            continue
        if isinstance(made, Tensor) and type(made.data) is float and abs(made.data) < 100:
            values.append(made)
    return values


ALIKE = ("add", "sub", "mul", "div", "maximum", "pow", "atan2", "hypot")
ONE = ("tanh", "exp", "neg", "square", "relu", "sqrt", "abs", "sigmoid", "sin", "floor")
SHAPES = [(3,), (1,), (2, 3), (1, 3), (2, 1), (0,), (2, 2), ()]
OTHERS = [  # views, several results, sums
    ("transpose", 0, -1), ("reshape", -1), ("unsqueeze", 0), ("select", 0, 0), ("unbind",),
    ("chunk", 2, -1), ("sort", -1), ("max_along", 0), ("sum",), ("sum", 0), ("mean",),
    ("cumsum", 0), ("softmax", -1), ("flip", 0),
]  # fmt: skip


def of_tensors(rng):
    """Tensors that ops have made of a few leaves: several readers, views, several results, arguments
    of different shapes, changes in place.
    """
    session, shape = recording(), rng.choice(SHAPES)
    values = [leaf(elements(rng, shape)), leaf(elements(rng, shape)), Tensor(elements(rng, shape))]
    values += [leaf(elements(rng, shape[-1:])), leaf(0.75)]
    for _ in range(25):
        try:
            made = step(rng, session, values)
        except RunError:  # shapes that do not go together, a leaf that would be changed
            continue
        parts = made if isinstance(made, tuple) else (made,)
        values += [x for x in parts if isinstance(x, Tensor) and x.data is not None]
    return [x for x in values if not x.is_stale]


def step(rng, session, values):
    kind = rng.random()
    if kind < 0.25:
        return by_place(ops[rng.choice(ONE)], None)(session, rng.choice(values))
    if kind < 0.65:
        other = rng.choice([rng.choice(values[-6:]), rng.choice(values[-6:]), 0.625, 2])
        args = [rng.choice(values[-6:]), other]
        rng.shuffle(args)
        return by_place(ops[rng.choice(ALIKE)], None)(session, *args)
    if kind < 0.75:
        return by_name(ops["matmul"], None)(session, *rng.choices(values, k=2))
    if kind < 0.85:
        op = ops[rng.choice(("add", "mul", "sub"))]
        return changed(op, session, rng.choice(values[3:]), [rng.choice(values)], {}, None)
    name, *params = rng.choice(OTHERS)
    return by_name(ops[name], None)(session, rng.choice(values), *params)


def elements(rng, shape):
    some = rng.choices(rng.choice([(0.25, 1.5, 3.0)] * 3 + [(0.25, -1.5, 0.0, -0.0, 3.0)]), k=9)
    return np.resize(some, shape) if shape else some[0]


def roots_of(rng, values):
    """Cotangents of the last results, one of them twice."""
    results = [x for x in values[-4:] if node_of(x) is not None]
    results += results[:1]
    return [(node_of(x), x.index, elements(rng, x.shape)) for x in results]


def targets_of(rng, values):
    found = [x for x in values if node_of(x) is not None and (x.is_leaf or rng.random() < 0.3)]
    return [*dict.fromkeys(map(node_of, found))]


# --- tests ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Number, Tensor])
@pytest.mark.parametrize("first", chunks(200, 20_000, STEP))
def test_graphs_of_numbers(first, kind):
    for seed in range(first, first + STEP):
        rng = random.Random(seed)
        with Quiet():
            values = of_numbers(rng, kind)
        roots = [(n, i, float(np.reshape(g, ()))) for n, i, g in roots_of(rng, values)]
        check(roots, targets_of(rng, values), f"seed {seed}")


@pytest.mark.parametrize("first", chunks(400, 40_000, STEP))
def test_graphs_of_tensors(first):
    compared = refused = 0
    for seed in range(first, first + STEP):
        rng = random.Random(seed)
        with Quiet():
            values = of_tensors(rng)
        wanted = check(roots_of(rng, values), targets_of(rng, values), f"seed {seed}")
        compared += len(wanted or ())
        refused += wanted is None  # a value that a rule reads has been changed in place
    assert compared > STEP > 2 * refused


@by_family([op for op in table().values() if op.differentiable or op.value.body])
def test_samples_of_ops(op):
    for case in cases(op):
        outs = case.run.outs
        rng = random.Random(0)
        roots = [(x.node, x.index, np.asarray(elements(rng, x.shape), x.dtype)) for x in outs]
        roots = [(n, i, g if g.shape else float(g)) for n, i, g in roots]
        check(roots, [x.node for x in case.run.leaves], f"{op.name}{case.sample.args}")


@pytest.mark.parametrize("first", chunks(50, 5_000, STEP))
def test_programs(first, watched):
    for seed in range(first, first + STEP):
        text, given = generated_programs.written(seed)
        load(text).grad(given, options=Options(compile="never"))
        load(text).hvp(given, tangents=given, options=Options(compile="never"))
        writer = array_programs.Writer(seed)
        text = writer.program()
        with suppress(RunError):  # some of these are refused
            load(text).grad(writer.given(), options=Options(compile="never"))
    assert len(watched) > STEP


PROGRAMS = {
    "the program's own pass": "y = (x * x).sin()\ny.sum().backward()\nprint(x.grad)",
    "two of them": "y = (x * x).sin().sum()\ny.backward(retain_graph=True)\ny.backward()",
    "one that is recorded": "y = (x ** 3).sum()\ng, = autograd.grad(y, x, create_graph=True)\n"
    "(g * x).sum().backward()",
    "an own rule": "class F(Function):\n"
    "    def forward(ctx, a, b):\n"
    "        ctx.save_for_backward(a, b)\n"
    "        return a * b, a + b\n"
    "    def backward(ctx, g, h):\n"
    "        a, b = ctx.saved_tensors\n"
    "        return g * b + h, g * a + 2 * h\n"
    "p, q = F.apply(x.exp(), x)\n(p * q + p).sum().backward()",
    "an own rule of which one result is used": "class F(Function):\n"
    "    def forward(ctx, a):\n"
    "        return a * 2, a * 3\n"
    "    def backward(ctx, g, h):\n"
    "        return g * 5 + h * 7\n"
    "p, q = F.apply(x * x)\nq.sum().backward()",
    "an op made of others": "y = nn.functional.layer_norm(x * x, [3])\n(y * x).sum().backward()",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_own_passes(name, watched):
    load(
        "import torch\nfrom torch import nn, autograd\nx = tensor([0.5, -1.5, 2.0], requires_grad=True)\n"
        + PROGRAMS[name]
    ).run()
    assert watched, "no pass was held against the textbook's"


# --- the order of sums ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Number, Tensor, np.ndarray])
def test_sums_are_in_the_order_of_sequence_numbers(kind):
    """The youngest node's part comes first: these sums differ in every other order."""
    for seed in range(20):
        slopes = [1e16, 1.0, -1e16, 3.0, 1e-3, 7e15]
        random.Random(seed).shuffle(slopes)
        x = leaf(np.array([0.5, 0.5]) if kind is np.ndarray else 0.5)
        x = x if kind is np.ndarray else kind(x.data, node_of(x))
        session = recording()
        made = [by_place(ops["mul"], None)(session, x, slope) for slope in slopes]
        seed_of = np.ones(2) if kind is np.ndarray else 1.0
        roots = [(y.node, 0, seed_of) for y in random.Random(seed).sample(made, len(made))]
        total = 0.0
        for slope in reversed(slopes):
            total += slope
        found = check(roots, [node_of(x)], f"seed {seed}")[node_of(x)]
        assert np.all(np.asarray(data_of(found)) == total), (slopes, found, total)


def test_a_node_with_one_edge_twice_adds_in_the_order_of_its_arguments():
    x = leaf(3.0)
    made = ops.pow(x, x)
    found = check([(made.node, 0, 1.0)], [x.node], "x ** x")
    first, second = made.node.pull(1.0, [True, True])
    assert found[x.node] == first + second


def test_a_pass_is_not_recursive_and_leaves_the_nodes_as_they_are():
    x = leaf(0.5)
    y = x
    for _ in range(20_000):
        y = ops.mul(y, 1.0)
    assert check([(y.node, 0, 2.0)], [x.node], "a chain") == {x.node: 2.0}
    assert y.node.freed == LIVE
