"""Every argument of every op, given what it cannot take: a refusal that names it, never a bug."""

from __future__ import annotations

import random

import numpy as np
import pytest
from oracles import samples, table, values

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED
from gradcli.engine.run.call import by_name
from gradcli.engine.run.session import Session
from gradcli.engine.tape.tensor import Number, Tensor, leaf
from gradcli.engine.values.data import Quiet
from gradcli.engine.values.dtypes import FLOAT32
from gradcli.errors import GradError


def identity(*args):
    return args[0] if args else 1.0


NAMED = {"text": "abc", "None": None, "a function": identity}
"""What few arguments take: who refuses it names the argument."""
ODD = {
    **NAMED,
    "a list of text": ["a"],
    "no list": [],
    "ragged": [[1.0, 2.0], [3.0]],
    "no tuple": (),
    "negative": -1,
    "huge": 10**12,
    "largest": 2**63 - 1,
    "smallest": -(2**63),
    "bool": True,
    "nan": float("nan"),
    "inf": float("inf"),
    "half": 0.5,
    "a slice": slice(0, 1),
    "a tensor": Tensor(np.ones((2, 3, 2))),
    "empty": Tensor(np.ones(0)),
    "...": Ellipsis,
    "ints": Tensor(np.array([5, -7])),
    "floats": [0.5, 0.5],
    "a range": range(3),
}
MORE = (2, 1.0, 0, 1, (2, 2), Number(2.0), FLOAT32, "linear", "mean", leaf(np.ones((2, 2))))
OPS = [
    op
    for op in table().values()
    if ".internal" not in ops.families[op.name] and op.constant is REQUIRED
]
TRANSFORMS = {op.name for op in OPS if op.transform is not None or op.name in ("grad", "vjp")}
NO_FUNCTION = {"print", *TRANSFORMS}  # which print, or call what they are given


def given(value):
    if isinstance(value, np.ndarray):
        return leaf(value) if value.dtype.kind == "f" else Tensor(value)
    return value


def calls(op, sample):
    """The sample with each odd value in the place of each argument."""
    args = [given(a) for a in values(sample.args)]
    params = {k.removeprefix("*"): v for k, v in sample.params.items()}
    for slot in (*op.args, *(name.removeprefix("*") for name in op.params)):
        for what, odd in ODD.items():
            if op.variadic:
                listed = [*args[:-1], odd] if slot in op.args else args
                named = params if slot in op.args else {**params, slot: odd}
                yield slot, what, (listed,), named
            else:
                known = {k: a for k, a in zip(op.args, args, strict=False) if a is not None}
                yield slot, what, (), {**known, **params, slot: odd}


def refusal(op, args, keywords):
    """The message of a call, "" where it is taken."""
    try:
        by_name(op, None)(Session(), *args, **keywords)
    except GradError as error:
        return error.diagnostics[0].message
    return ""


@pytest.mark.parametrize("op", [op for op in OPS if samples(op)], ids=lambda op: op.name)
def test_an_argument_that_cannot_be_taken_is_refused_by_its_name(op):
    with Quiet():
        for slot, what, args, keywords in calls(op, samples(op)[0]):
            said = refusal(op, args, keywords)
            if said and what in NAMED and op.name != "getitem":  # which the brackets do
                assert f"`{slot}`" in said, f"{op.name}({slot}={what})"


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_no_call_is_a_bug(op):
    if op.name in NO_FUNCTION:
        return
    pick = random.Random(op.name)
    slots = [*op.args, *(name.removeprefix("*") for name in op.params)]
    with Quiet():
        for _ in range(5 if op.host is None else 60):
            count = pick.randint(0, min(4, len(slots) + 1))
            args = [pick.choice((*ODD.values(), *MORE)) for _ in range(count)]
            named = [slot for slot in slots[count:] if pick.random() < 0.3]
            refusal(op, args, {slot: pick.choice((*ODD.values(), *MORE)) for slot in named})


def test_a_refusal_in_a_program_is_an_error_of_the_program(cli):
    for text in ("round('a')", "median(None)", "quantile(ones(2), 'a')", "equal(1.0, None)"):
        status, out, err = cli("run", "-e", text)
        assert (status, out) == (5, "")
        assert "<expr>:1:1: error[" in err
