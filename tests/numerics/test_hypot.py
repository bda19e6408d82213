"""The `hypot` of compiled code has the bits of Python's own."""

import math
import random
import struct

import pytest
from support.checks.amounts import chunks
from support.programs.number_cases import NUMBERS, bits

from gradcli.engine.numerics.hypot import hypot

EDGES = (*NUMBERS["float"], 2.0**-1022, 2.0**-1023, 2.0**-1024, 2.0**1023, 1.7976931348623157e308)


def any_float(rng):
    return struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0]


def subnormal(rng):
    return rng.getrandbits(rng.randint(1, 53)) * 5e-324


def beside(rng, x):
    """A number of nearly the same size, or so much smaller that its square hardly counts."""
    return math.ldexp(x, rng.choice((0, 0, -1, -26, -27, -30, -60))) * rng.uniform(0.5, 1.0)


def pairs(rng, count):
    for k in range(count):
        x = (any_float, subnormal, random.Random.random)[k % 3](rng)
        yield (x, beside(rng, x)) if k % 2 else (x, (any_float, subnormal)[k % 4 // 2](rng))


def wrong(several):
    return [
        (x, y, found, wanted)
        for x, y in several
        if bits(found := hypot(x, y)) != bits(wanted := math.hypot(x, y))
    ]


def test_at_edges():
    assert not wrong((x, y) for x in EDGES for y in EDGES)


@pytest.mark.parametrize("seed", chunks(few=1, many=20, size=1))
def test_at_random(seed):
    assert not wrong(pairs(random.Random(seed), 50_000))[:5]
