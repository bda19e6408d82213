"""The plan of an element-wise op does what is done without one, on values of all kinds."""

import itertools

import numpy as np
from support.checks.oracles import table
from support.processes.taken_down import kept, told

from gradcli.engine.ops.binding import needs_no_binding
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.inplace import apply_inplace
from gradcli.engine.run.fast import call, plans
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Number, Tensor, leaf
from gradcli.engine.values.data import Quiet

OPS = [
    op
    for op in {id(op): op for op in table().values()}.values()
    if op.value.number is not None
    and op.derivatives.partials is not None
    and len(op.args) in (1, 2)
    and needs_no_binding(op)
]
SQUARE, OTHER = np.array([[0.3, 0.6], [0.2, 0.8]]), np.array([[0.9, 0.4], [0.5, 0.1]])
VALUES = {
    "vectors": (np.array([0.3, -0.0, 0.7, 0.0, np.inf]), np.array([0.9, 0.4, -0.0, 0.7, 2.0])),
    "matrices": (SQUARE, OTHER),
    "turned": (SQUARE.T, OTHER),
    "other shapes": (np.array([[0.3, 0.6]]), np.array([0.9, 0.4])),
    "empty": (np.zeros((0, 2)), np.zeros((0, 2))),
    "float32": (np.array([0.3, 0.5], np.float32), np.array([0.9, 0.2])),
    "ints": (np.array([1, 2]), np.array([0.9, 0.2])),
}
KINDS = {
    "leaf": lambda x: leaf(x) if x.dtype.kind == "f" else Tensor(x),
    "constant": Tensor,
    "number": lambda x: 0.625,
    "int": lambda x: 3,
    "watched": lambda x: Number(0.625, leaf(0.625).node),
    "0-d": lambda x: leaf(0.625),
    "view": lambda x: changed_view(np.ascontiguousarray(x)),
}
SOME = ("leaf", "constant", "view")


def changed_view(x):
    """A view of memory that has been changed since, by what a leaf has made."""
    base = Tensor(x.copy(order="K"))
    view = Session().do(ops.transpose, [base], {"dim0": 0, "dim1": 0})
    if x.dtype == float:
        apply_inplace(ops.mul, base, [leaf(np.ones(x.shape))], {}, None, recording=True)
    return view


class Long(Exception):
    """The plan does not do it."""


def planned(op):
    """The op by a plan, after two calls without one, which make it; then what is not planned is
    refused.
    """
    calls = []

    def general(session, site, *args):
        calls.append(args)
        if len(calls) > 2:
            raise Long
        return call._run(op, session, args, op.params, site)

    return plans.by_plan(op, op.params, general, call._part)


def test_a_plan_takes_down_what_is_taken_down_without_one():
    wrong, short = [], set()
    session = Session()
    for op, (name, values) in itertools.product(OPS, VALUES.items()):
        of_all = KINDS if name == "vectors" else SOME
        for kinds in itertools.product(of_all, repeat=len(op.args)):
            given = list(zip(kinds, values, strict=False))
            args, *others = [[KINDS[k](x.copy(order="K")) for k, x in given] for _ in range(3)]
            for session.recording in (True, False) if name == "vectors" else (True,):
                way = planned(op)
                with Quiet():
                    for other in others:
                        way(session, None, *other)
                    before = [*map(kept, args)]
                    try:
                        made = told(way(session, None, *args), args, before)
                    except Long:
                        continue
                    short.add((op.name, name, kinds))
                    before = [*map(kept, args)]
                    wanted = told(call._run(op, session, args, op.params, None), args, before)
                if made != wanted:
                    wrong.append((op.name, name, kinds, session.recording, made, wanted))
    assert not wrong, f"{len(wrong)}: {wrong[:2]}"
    for name in ("add", "mul", "div", "pow"):
        for kinds in (("leaf", "leaf"), ("leaf", "number"), ("number", "leaf"), ("constant",) * 2):
            assert (name, "vectors", kinds) in short, (name, kinds)
        for kinds in (("leaf", "int"), ("0-d", "leaf"), ("leaf", "watched"), ("view", "leaf")):
            assert (name, "vectors", kinds) in short, (name, kinds)
        assert (name, "other shapes", ("leaf", "leaf")) in short, name
    for name in ("tanh", "exp", "sigmoid", "sech_square"):
        assert (name, "matrices", ("leaf",)) in short, name
    assert not [at for at in short if at[1] in ("float32", "ints") and at[2] == ("leaf", "leaf")]
