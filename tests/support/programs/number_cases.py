"""Ops with a value on numbers, with argument types and numbers to try."""

import math
import struct
from itertools import product

from gradcli.engine.compile.typed import TYPES
from gradcli.engine.ops.catalog import ops

INF, NAN = math.inf, math.nan
NUMBERS = {
    "float": (
        *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0, 3.0, -7.0, 0.1, -0.3, 100.7),
        *(INF, -INF, NAN, 5e-324, -5e-324, 1e-310, 1e308, -1e308, 709.9, -745.2, 88.1),
        *(2.0**53, 2.0**53 + 2, 2.0**52 - 0.5, 2.0**63, -(2.0**63)),
    ),
    "int": (
        *(0, 1, -1, 2, -2, 3, 7, -7, 63, 64, 10**9, -(10**9), 2**31, 2**32 + 1, 2**53, 2**53 + 1),
        *(-(2**53) - 1, 2**63 - 1, -(2**63), -(2**63) + 1),
    ),
    "bool": (False, True),
}
EXAMPLE = {"float": 1.5, "int": 2, "bool": True}
OPS = sorted(name for name in ops if ops[name].value.number is not None and ops[name].name == name)
OF_MACHINE_CODE = {"alone", "inner_product"}
"""Those that code in Python has not."""


class Case:
    """An op with arguments of these types, whose value has the type `kind`."""

    def __init__(self, name, types, params, left_out, kind):
        self.name, self.types, self.params, self.kind = name, types, params, kind
        self.left_out = left_out

    def outcome(self, numbers):
        """The op's own value, or the error that it raises."""
        try:
            return ops[self.name].value.number(*numbers, *self.left_out, **self.params)
        except Exception as error:
            return error

    def value(self, numbers):
        """The op's own value; None if it raises or has another type."""
        found = self.outcome(numbers)
        return found if TYPES.get(type(found)) == self.kind else None

    def points(self, rng, count):
        samples = [*ops[self.name].page.samples(), *ops[self.name].page.known()]
        scalars = [s.args for s in samples if all(type(a) in TYPES for a in s.args)]
        yield from (a for a in scalars if tuple(TYPES[type(x)] for x in a) == self.types)
        edges = [NUMBERS[t] for t in self.types]
        if len(edges) == 1:
            yield from product(*edges)
        if len(edges) == 2:  # each paired with some others in turn
            step = 1 if count > 100 else 4
            for k, x in enumerate(edges[0]):
                yield from ((x, y) for y in edges[1][k % step :: step])
        for _ in range(count):
            yield tuple(random_number(rng, t) for t in self.types)


def random_number(rng, type):
    """A number: an edge case, near zero, or of random bits."""
    way = rng.random()
    if type == "bool" or way < 0.2:
        return rng.choice(NUMBERS[type])
    if type == "int":
        return rng.randint(-20, 20) if way < 0.6 else rng.randint(-(2**63), 2**63 - 1)
    if way < 0.6:
        return rng.uniform(-10.0, 10.0)
    return struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0]


def cases(names, kinds):
    for name in names:
        op = ops[name]
        several = {repr(s.params): s.params for s in (*op.page.samples(), *op.page.known())}
        for params in several.values():
            for count in range(len(op.args) - op.optional, len(op.args) + 1):
                left_out = [None] * (len(op.args) - count)
                for types in product(kinds, repeat=count):
                    try:
                        one = op.value.number(*map(EXAMPLE.get, types), *left_out, **params)
                    except Exception:
                        continue
                    yield Case(name, types, params, left_out, TYPES[type(one)])


def bits(x):
    if type(x) is float:
        return float, "nan" if math.isnan(x) else struct.pack("d", x)
    return type(x), x
