"""Where a second backward pass is refused, beside PyTorch, as recorded by `memory/record_freed.py`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.checks.by_family import by_family
from support.checks.oracles import floating, samples, table, values

from gradcli.engine.autodiff.backward import gradients
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import GONE
from gradcli.engine.tape.tensor import Tensor, leaf
from gradcli.engine.values.data import NUMBERS, Quiet, np
from gradcli.errors import GradError, RunError
from gradcli.program import load

OPS = table()
ROWS = json.loads((Path(__file__).parent / "memory/freed.json").read_text("utf-8"))
NUMBER = 0.5
# Operation: what is differentiated where the answer is another here, and why.
OTHERWISE = {"index_put": ({0}, "with accumulate a sum here, which saves nothing")}
SESSION = Session()


def choices(given):
    """What is differentiated, and what is a number: in the order of the record."""
    floats = [i for i, a in enumerate(given) if floating(a)]
    sets = [set(floats), *({i} for i in floats)] if len(floats) > 1 else [set(floats)]
    return [(c, None) for c in sets if c] + [({i}, j) for i in floats for j in floats if i != j]


def refused(op, given, params, connected, number):
    """Whether the second pass through an op is refused."""
    args = []
    for i, a in enumerate(given):
        if i == number:
            args.append(NUMBER)
        elif a is None:
            args.append(None)
        else:
            args.append(ops.mul(leaf(a), 1.0) if i in connected else Tensor(a))
    out = SESSION.do(op, args, params)
    outs = out if isinstance(out, tuple) else (out,)
    roots = [
        (o.node, o.index, 1.0 if type(o.data) in NUMBERS else np.ones_like(o.data))
        for o in outs
        if isinstance(o, Tensor) and o.node is not None
    ]
    targets = [args[i].node for i in connected]
    for _ in range(2):
        try:
            gradients(roots, targets, [], create_graph=False, left=GONE)
        except RunError as error:
            return error.diagnostics[0].code == "backward-twice"
    return False


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("y[1] = 0.3", True),
        ("y[1:] = 0.3", True),
        ("y[[1]] = 0.3", True),
        ("v = y[1]\nv += 1", True),
        ("y[:] = x", False),
        ("y[...] = x", False),
        ("y += 1", False),
    ],
)
def test_a_second_pass_through_what_is_written_into_a_part_is_refused_as_in_pytorch(
    change, expected
):
    start = "x = tensor([1.0, 2.0], requires_grad=True)\ny = x + 0.5\n"
    program = load(f"{start}{change}\ny.sum().backward()\ny.sum().backward()")
    if not expected:
        assert program.run().grad["x"].tolist() == [2.0, 2.0]
        return
    with pytest.raises(GradError) as caught:
        program.run()
    assert caught.value.diagnostics[0].code == "backward-twice"


@by_family(ROWS)
def test_a_second_pass_is_refused_where_pytorch_refuses_it(name):
    op = OPS[name]
    defaults = {k: v for k, v in op.params.items() if not k.startswith("*")}
    wrong = []
    with Quiet():
        for s, cells in zip(samples(op), ROWS[name].split(","), strict=False):
            given = values(s.args)
            for (connected, number), cell in zip(choices(given), cells, strict=True):
                if cell == "?":
                    continue
                found = refused(op, given, defaults | s.params, connected, number)
                otherwise = connected == OTHERWISE.get(name, ({},))[0] and not found
                if found != (cell == "r") and not otherwise:
                    wrong.append(f"{name}({s.id}) by {sorted(connected)}, number {number}: {found}")
    assert not wrong, "\n".join(wrong)
