"""Nodes and edges of the recorded graph beside PyTorch's, recorded by `reference/record_graphs.py`.

An op that is one node in PyTorch is one here, of that name and made of the same arguments in the
same order. What PyTorch makes of several ops may be made of others.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.checks.by_family import by_family
from support.checks.oracles import floating, samples, table, values

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.execution.execute import Executable
from gradcli.engine.run.fast.call import changed
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import AccumulateGrad, Tensor, leaf, node_of
from gradcli.engine.values.data import Quiet, np
from gradcli.program import load

OPS = table()
RECORDED = json.loads((Path(__file__).parent / "reference" / "graphs.json").read_text("utf-8"))
NUMBER = 0.5  # in the place of an argument
REFLECTED = "with a number first the node is the operator's, of `2 + x`, in the function, too"
DEPARTS = {
    **dict.fromkeys(("add", "mul", "sub"), REFLECTED),
    "diff": "with n = 0 it is a clone",
    "cholesky": "PyTorch's old name of it has a node of its own; here both are `linalg.cholesky`",
    "linalg_lu": "the permutation counts among the results",
    "linalg_qr": "the Q that `mode='r'` leaves out is no result",
    "lstsq": "PyTorch's singular values, unasked for, are empty",
    "tensor_split": "a part that is the whole is an alias",
    "slogdet": "the sign of a real matrix is no recorded result",
}
SEVERAL = {  # of several nodes in PyTorch, and of others here
    *("bilinear", "cartesian_prod", "combinations", "cond", "cosine_similarity", "cross_entropy"),
    *(
        "cov",
        "cumulative_trapezoid",
        "fill_diagonal",
        "gaussian_nll_loss",
        "getitem",
        "hinge_embedding_loss",
        "huber_loss",
    ),
    *("inner", "l1_loss", "linalg_vander", "linear", "margin_ranking_loss", "matmul"),
    *("matrix_norm", "matrix_power", "mse_loss", "multi_dot", "nanquantile", "ndtr", "nll_loss"),
    *("normalize", "outer", "pairwise_distance", "poisson_nll_loss", "prelu", "quantile"),
    *("repeat_interleave", "rms_norm", "smooth_l1_loss", "softsign", "take_along_dim"),
    *("tanhshrink", "tensordot", "trapezoid", "vander"),
}


UNNAMED = "PyTorch records that it has no derivative"
OTHER = "PyTorch numbers the change in place as one more of that name"
TWINS_DEPART = {
    **dict.fromkeys(("floor_divide", "heaviside"), UNNAMED),
    **dict.fromkeys(("acosh", "asinh", "atanh", "fill"), OTHER),
    "fill_diagonal": "PyTorch changes a view of the diagonal in place",
}


def graph(node, leaves):
    """The graph under a node as a text, in the form of the recorded ones."""
    if node is None:
        return "-"
    if isinstance(node, AccumulateGrad):
        return leaves[id(node.variable)]
    under = ", ".join(graph(n, leaves) + (f".{i}" if i else "") for n, i in node.shown)
    return f"{node.name()}({under})"


def traced(x, leaves):
    if not isinstance(x, Tensor) or node_of(x) is None:
        return ""
    return graph(node_of(x), leaves) + (f".{x.index}" if x.index else "")


def graphs(name, key):
    """The graphs of an op's results at the call of a key, as `record_graphs.py` makes it."""
    number, _, at = key.partition("/")
    sample = samples(OPS[name])[int(number)]
    args = []
    for i, a in enumerate(values(sample.args)):
        if at and i == int(at):
            args.append(NUMBER)
        else:
            args.append(a if a is None else leaf(a) if floating(a) else Tensor(a))
    leaves = {id(a): str(i) for i, a in enumerate(args) if isinstance(a, Tensor)}
    with Quiet():
        out = ops[name](*args, **sample.params)
    return "; ".join(traced(o, leaves) for o in (out if isinstance(out, tuple) else (out,)))


@by_family(RECORDED["graphs"])
def test_graphs_are_those_of_pytorch(name):
    departs = set()
    for expected, keys in RECORDED["graphs"][name].items():
        for key in keys:
            if graphs(name, key) != expected:
                departs.add("several" if expected.count("(") > expected.count(";") + 1 else "one")
    assert departs == {
        *(["one"] if name in DEPARTS else []),
        *(["several"] if name in SEVERAL else []),
    }


@pytest.mark.parametrize("text", RECORDED["operators"])
def test_graphs_of_operators_are_those_of_pytorch(text):
    for shape in ("[[1.0, 2.0], [3.0, 4.0]]", "2.0"):
        program = load(f"x = tensor({shape}, requires_grad=True)\n[x, {text}]")
        if shape == "2.0" and any(sign in text for sign in "[@()."):
            continue
        _, (x, y) = Executable(program.loaded.program).run(Session(), {})
        assert traced(y, {id(x): "x"}) == RECORDED["operators"][text]


def test_reflected_division_is_recorded_at_its_place_and_right():
    _, y = Executable(
        load("x = tensor([2.0, -0.0], requires_grad=True)\n3 / x").loaded.program
    ).run(Session(), {})
    assert y.data.tolist() == [1.5, -np.inf]
    assert y.node.site is not None
    assert y.node.edges[0].site is not None


@by_family(RECORDED["twins"])
def test_graphs_of_changes_in_place_are_those_of_pytorch(name):
    number, expected = RECORDED["twins"][name]
    op, session = OPS[name], Session()
    args = [
        a if a is None else leaf(a) if floating(a) else Tensor(a)
        for a in values(samples(op)[number].args)
    ]
    leaves = {id(a): str(i) for i, a in enumerate(args)}
    x = session.do(ops.clone, [args[0]], {})
    with Quiet():
        changed(op, session, x, args[1:], {**op.params, **samples(op)[number].params}, None)
    assert (traced(x, leaves) != expected) == (name in TWINS_DEPART)
