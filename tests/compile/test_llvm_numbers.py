"""Ops on numbers as machine code: bit for bit what the ops' own values on numbers are."""

import math
import random
import struct
from itertools import product

import pytest

pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")

from gradcli.engine.compile.control import Control
from gradcli.engine.compile.llvm.code import code
from gradcli.engine.compile.typed import TYPES, Block, Do, If, Program, Value
from gradcli.engine.compile.validate import faults
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import np
from gradcli.source import Span

AT = Span(0, 0)
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
DTYPES = {"float": np.float64, "int": np.int64, "bool": np.bool_}
OPS = sorted(name for name in ops if ops[name].number is not None and ops[name].name == name)


class Case:
    """An op on arguments of these types, whose value is of type `kind`."""

    def __init__(self, name, types, params, left_out, kind):
        self.name, self.types, self.params, self.kind = name, types, params, kind
        self.left_out = left_out

    def value(self, numbers):
        """The op's own value, None where it is an error or of another type."""
        try:
            found = ops[self.name].number(*numbers, *self.left_out, **self.params)
        except Exception:
            return None
        return found if TYPES.get(type(found)) == self.kind else None

    def points(self, rng, count):
        samples = [*ops[self.name].samples(), *ops[self.name].known()]
        scalars = [s.args for s in samples if all(type(a) in TYPES for a in s.args)]
        yield from (a for a in scalars if tuple(TYPES[type(x)] for x in a) == self.types)
        edges = [NUMBERS[t] for t in self.types]
        if len(edges) < 3:
            yield from product(*edges)
        for _ in range(count):
            yield tuple(random_number(rng, t) for t in self.types)


def random_number(rng, type):
    """Of the edges, near to zero, or any bits."""
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
        several = {repr(s.params): s.params for s in (*op.samples(), *op.known())}
        for params in several.values():
            for count in range(len(op.args) - op.optional, len(op.args) + 1):
                left_out = [None] * (len(op.args) - count)
                for types in product(kinds, repeat=count):
                    try:
                        one = op.number(*map(EXAMPLE.get, types), *left_out, **params)
                    except Exception:
                        continue
                    yield Case(name, types, params, left_out, TYPES[type(one)])


def program(chosen):
    """One program for all cases: the first input says which of them is asked, the others are three
    numbers of each type; of the three results one is the answer.
    """
    which, number = Value(0, "int"), iter(range(10, 10**6))
    given = {t: [Value(1 + 3 * i + j, t) for j in range(3)] for i, t in enumerate(NUMBERS)}
    inputs = (which, *(v for values in given.values() for v in values))
    out = dict(EXAMPLE)
    body = []
    for k, case in enumerate(chosen):
        places = {t: iter(values) for t, values in given.items()}
        args = (*(next(places[t]) for t in case.types), *case.left_out)
        test, value, found = (Value(next(number), t) for t in ("bool", case.kind, case.kind))
        do = Do(AT, value, case.name, args, tuple(case.params.items()))
        sides = Block((do,), (value,)), Block((), (out[case.kind],))
        body += [Do(AT, test, "eq", (which, k), ()), If(AT, (found,), test, *sides)]
        out[case.kind] = found
    return Program(inputs, Block(tuple(body), tuple(out.values())), ())


def compare(chosen, count):
    """Asks all cases at their points, in one call; how many answers the code had."""
    made = program(chosen)
    assert faults(made) == []
    rng = random.Random(13)
    asked = [(k, case, p) for k, case in enumerate(chosen) for p in case.points(rng, count)]
    which = np.array([k for k, *_ in asked])
    columns = {t: [np.zeros(len(asked), DTYPES[t]) for _ in range(3)] for t in NUMBERS}
    for row, (_, case, point) in enumerate(asked):
        places = {t: iter(values) for t, values in columns.items()}
        for x, t in zip(point, case.types, strict=True):
            next(places[t])[row] = x
    every = [c for values in columns.values() for c in values]
    results, left = code(made).rows([which, *every], Control())
    results = {t: r.tolist() for t, r in zip(EXAMPLE, results, strict=True)}
    answers = 0
    for row, (_, case, point) in enumerate(asked):
        if left[row]:
            continue
        answers += 1
        found, wanted = results[case.kind][row], case.value(point)
        assert bits(found) == bits(wanted), (case.name, case.types, point, found, wanted)
    return answers / len(asked)


def bits(x):
    if type(x) is float:
        return float, "nan" if math.isnan(x) else struct.pack("d", x)
    return type(x), x


def test_ops_on_floats():
    assert compare([*cases(OPS, ["float"])], 10) > 0.97


def test_ops_on_ints_and_bools():
    """Beyond 2 ** 53 and 2 ** 63 the code leaves."""
    assert compare([*cases(OPS, ["int"]), *cases(OPS, ["bool"])], 3) > 0.8


MIXED = ("add", "sub", "mul", "div", "pow", "remainder", "floor_divide", "lt", "eq", "where")


def test_ops_on_numbers_of_several_types():
    assert compare([*cases(MIXED, NUMBERS)], 0) > 0.9


@pytest.mark.long
@pytest.mark.parametrize("name", OPS)
def test_an_op_at_many_points(name):
    assert compare([*cases([name], NUMBERS)], 1000) > 0.3
