"""Sums and products of ints need no check where the ranges of their arguments are known."""

import pytest

from gradcli.engine.compile.export.ranges import Ranges
from gradcli.engine.compile.export.written import Apply, Variable
from gradcli.engine.ops.catalog import ops

K, N = Variable("i", "int"), Variable("n", "int")


@pytest.fixture
def ranges():
    found = Ranges()
    found.note(K, (-3, 10))
    return found


@pytest.mark.parametrize(
    ("op", "args", "range_"),
    [
        ("add", (K, 5), (2, 15)),
        ("sub", (1, K), (-9, 4)),
        ("mul", (K, K), (-30, 100)),
        ("mul", (K, -2), (-20, 6)),
        ("add", (K, 2**63 - 11), (2**63 - 14, 2**63 - 1)),
    ],
)
def test_what_stays_within_64_bits_is_sure(ranges, op, args, range_):
    found = ranges.sure(ops[op], args, {})
    assert found == Apply(f"int_{op}", args)
    assert ranges.of(found) == range_


@pytest.mark.parametrize(
    ("op", "args", "params"),
    [
        ("add", (K, N), {}),
        ("add", (K, 2**63 - 10), {}),
        ("mul", (K, 2**62), {}),
        ("sub", (-(2**63), K), {}),
        ("add", (K, 1), {"alpha": 2}),
        ("remainder", (K, 2), {}),
    ],
)
def test_what_may_be_larger_is_not(ranges, op, args, params):
    assert ranges.sure(ops[op], args, params) is None
