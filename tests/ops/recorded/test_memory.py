"""Which memory results lie on and in which order, beside PyTorch's, recorded by
`memory/record_memory.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.memory_layouts import LAYOUTS, laid
from support.checks.oracles import samples, table, values

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.inplace import apply_inplace
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values import memory
from gradcli.engine.values.data import NUMBERS, Quiet
from gradcli.errors import GradError

OPS = table()
ROWS = json.loads((Path(__file__).parent / "memory/results.json").read_text("utf-8"))


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


def code(made, args):
    """How a result lies, as the recorded ones tell: see `record_memory.code`."""
    if type(made) in NUMBERS:
        return "nc"
    found = "n"
    for i, a in enumerate(args):
        if made is a:
            found = f"s{i}"
        elif a is not None and memory.shares(made.data, a.data) and made.data.size:
            found = f"v{i}"
        if found != "n":
            break
    in_order = type(made.data) in NUMBERS or made.data.flags.c_contiguous
    return found + ("c" if in_order else "-")


def arrives(made, args, number):
    """Which arguments change with a result that is filled with a number that is not there."""
    before = [None if a is None else np.array(a.data) for a in args]
    apply_inplace(ops.fill, made, [number], {}, None, recording=False)
    return [
        i
        for i, (a, old) in enumerate(zip(args, before, strict=True))
        if a is not None and not np.array_equal(np.asarray(a.data), old, equal_nan=True)
    ]


@by_family(ROWS)
def test_results_lie_where_pytorchs_lie(name):
    op = OPS[name]
    defaults = {k: v for k, v in op.params.items() if not k.startswith("*")}
    wrong = []
    for layout, row in zip(LAYOUTS, ROWS[name], strict=True):
        for s, expected in zip(samples(op), row.split(","), strict=False):
            if not expected:
                continue
            given = values(s.args)
            args = [
                None if a is None else Tensor(laid(a, layout) if isinstance(a, np.ndarray) else a)
                for a in given
            ]
            try:
                out = Session().do(op, args, defaults | s.params)
            except GradError:
                refused = {"expanded", "strided"} if name == "as_strided" else {"expanded"}
                assert layout in refused, f"{s.id}: a sample is refused"
                continue  # a matrix of equal rows has no inverse, and gaps are not a tensor's own
            outs = (out if isinstance(out, tuple) else (out,))[: len(expected.split())]
            got = " ".join(code(made, args) for made in outs)
            if got != expected:
                wrong.append(f"{name}({s.id}), {layout}: {got}, not {expected}")
            for i, (made, lies) in enumerate(zip(outs, expected.split(), strict=True)):
                flag = type(made) in NUMBERS or made.dtype == "bool"
                if flag or not np.size(made.data) or memory.overlaps(made.data):
                    continue
                reached = [] if lies[0] == "n" else [int(lies[1:-1])]
                if arrives(made, args, -12345 - i) != reached:
                    wrong.append(f"{name}({s.id}), {layout}: a write arrives elsewhere")
    assert not wrong, "\n".join(wrong[:10])
