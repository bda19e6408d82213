"""Which derivatives can be differentiated again, beside PyTorch's, recorded by
`reference/record_slopes.py`: one that has become constant can not.
"""

from __future__ import annotations

import json
from pathlib import Path

from support.checks.by_family import by_family
from support.checks.oracles import floating, samples, table, values

from gradcli.engine.autodiff.backward import gradients
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import LIVE
from gradcli.engine.tape.tensor import Tensor, leaf, node_of
from gradcli.engine.values.carrier import like_of
from gradcli.engine.values.data import Quiet, np
from gradcli.program import load

OPS = table()
RECORDED = json.loads((Path(__file__).parent / "reference" / "slopes.json").read_text("utf-8"))
BY_RESULT = "PyTorch's formula reads the result, and so goes on with zeros, one order more"
LINEAR = "the gradient does not hang on the argument; PyTorch says so by a derivative of zeros"
FURTHER = "differentiable where PyTorch's is a constant, or tells of none"
NO_ZEROS = "by itself it has none; PyTorch's is zeros"
OF_BIAS = "PyTorch's of the bias has none either"
DEPARTS = {
    **dict.fromkeys(("copysign", "prod", "relu"), BY_RESULT),
    **dict.fromkeys(("avg_pool1d", "avg_pool2d", "cummax", "cummin", "max_pool1d"), LINEAR),
    **dict.fromkeys(("max_pool2d", "nll_loss", "pad"), LINEAR),
    **dict.fromkeys(("cumprod", "det", "huber_loss", "lstsq", "mse_loss"), FURTHER),
    **dict.fromkeys(("norm", "smooth_l1_loss"), FURTHER),
    **dict.fromkeys(("conv1d", "conv2d", "layer_norm"), OF_BIAS),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d"), OF_BIAS),
    "prelu": NO_ZEROS,
}


def slopes(outs, leaves):
    roots = [(node_of(o), o.index, np.ones(like_of(o).shape, like_of(o).dtype)) for o in outs]
    targets = [node_of(x) for x in leaves]
    found = gradients(roots, targets, (), create_graph=True, left=LIVE)
    return [found.get(node) for node in targets]


def letter(g):
    return "-" if g is None else "g" if recorded(g) else "c"


def recorded(x):
    return isinstance(x, Tensor) and node_of(x) is not None


def again(g, leaves):
    if letter(g) != "g":
        return letter(g)
    return f"({''.join(map(letter, slopes([g], leaves)))})"


def told(name, number):
    """Which derivatives have a graph, as `record_slopes.py` tells it."""
    sample = samples(OPS[name])[number]
    args = [a if a is None else leaf(a) if floating(a) else Tensor(a) for a in values(sample.args)]
    leaves = [a for a in args if a is not None and node_of(a) is not None]
    with Quiet():
        out = ops[name](*args, **sample.params)
        outs = [o for o in (out if isinstance(out, tuple) else (out,)) if recorded(o)]
        return " ".join(again(g, leaves) for g in slopes(outs, leaves)) if outs else ""


@by_family(RECORDED["slopes"])
def test_a_derivative_has_a_graph_where_pytorchs_has(name):
    departs = {
        (number, expected, found)
        for expected, numbers in RECORDED["slopes"][name].items()
        for number in numbers
        if (found := told(name, number)) != expected
    }
    assert bool(departs) == (name in DEPARTS), departs


def test_what_is_written_over_as_a_whole_has_no_part_in_later_derivatives():
    text = """
x = tensor(1.5, requires_grad=True)
y = x * x
z = y * 1
z[...] = 1.7
(z.tanh() + y).backward(create_graph=True)
with no_grad():
    x.sub_(0.5)
print(x.grad, torch.autograd.grad(x.grad, x))
"""
    printed = ("tensor(3., grad_fn=<CopyBackwards>) (tensor(2.),)",)
    assert load(text).run().printed == printed
