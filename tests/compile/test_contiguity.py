"""How arrays lie in memory, as a compiler takes it for granted."""

from itertools import product

import numpy as np
import pytest

from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import Quiet
from gradcli.errors import GradError

WAYS = (
    lambda x: np.full((3, 4), x),
    lambda x: np.full((3, 1), x),
    lambda x: np.full((1, 4), x),
    lambda x: np.broadcast_to(x, (3, 4)),
    lambda x: x,
)
"""How the elements of an argument may lie; the last two are one number at all places."""
ELEMENTWISE = [
    name
    for name in sorted(ops)
    if (op := ops[name]).name == name and op.elementwise and op.value.array
]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_elementwise_value_lies_in_order_as_its_arguments_do(name):
    op = ops[name]
    params = {n.removeprefix("*"): value for n, value in op.params.items()}
    for s in op.page.samples():
        first = [None if a is None else np.asarray(a).reshape(-1)[:1] for a in s.args]
        if any(a is None or not a.size for a in first):
            continue
        for ways in product(WAYS, repeat=len(first)):
            given = [way(a[0]) for way, a in zip(ways, first, strict=True)]
            try:
                with Quiet():
                    found = op.value.array(*given, **params | s.params)
            except (GradError, TypeError, ValueError):  # which code leaves to the interpreter
                continue
            is_held = any(way in WAYS[:3] for way in ways)
            assert not is_held or found.flags.c_contiguous, (s, ways)
