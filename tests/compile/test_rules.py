"""Each op's rules on symbols, against the interpreter's passes: every subset of its arguments, both
modes and the four ways of second order, to the last bit.
"""

import itertools
import math

import numpy as np
import pytest
from support.checks.evaluate_typed import evaluate

from gradcli.engine.autodiff.linearize import Linearized
from gradcli.engine.autodiff.second_order import Slopes
from gradcli.engine.compile.control import Left
from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.differentiate.differentials import certain
from gradcli.engine.compile.differentiate.tangent import tangent
from gradcli.engine.compile.symbols import Builder, operand
from gradcli.engine.compile.typed import Block, Program
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import Watchpoint
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.engine.values.carrier import SCALAR
from gradcli.source import Span

OF_LISTS = {"amax", "amin", "logsumexp", "max_all", "min_all", "prod"}
"""Ops whose rules make arrays, be it of one number."""

OF_SUMS = {"scaled"}
"""Those that give a part of a sum, of which code knows no second order."""

SCALARS = sorted(
    {ops[n].name for n in ops if ops[n].value.number and ops[n].differentiable} - OF_LISTS - OF_SUMS
)


def as_float(x):
    x = np.asarray(x)
    return x if x.dtype == bool else x.astype(np.float64)


def points(op):
    """The numbers in an op's samples and known points, with its parameters."""
    for sample in (*op.page.samples(), *op.page.known()):
        args = [as_float(a) for a in sample.args if a is not None]
        if len(args) == len(op.args) and (op.elementwise or all(a.ndim == 0 for a in args)):
            each = zip(*map(np.ravel, np.broadcast_arrays(*args)), strict=True)
            for numbers in itertools.islice(each, 4):
                yield tuple(x.item() for x in numbers), sample.params


def typed(op, types, params):
    builder = Builder(Span(0, 0))
    inputs = [*map(builder.value, types)]
    with builder.block() as body:
        out = operand(op(*map(builder.known, inputs), **params))
    return Program(tuple(inputs), Block(tuple(body), (out,)), ())


def run(op, numbers, active, params):
    """The interpreter's run: outputs, and the points it is differentiated at."""
    args, found = [], {}
    for i, x in enumerate(numbers):
        args.append(Number(x) if i in active else x)
        if i in active:
            args[i].node = node = Watchpoint(str(i), None, 0, None)
            found[node] = SCALAR
    return op(*args, **params), found


def number(x):
    x = x.data if isinstance(x, Tensor) else x
    return 0.0 if x is None else float(x)


def interpreted(op, numbers, active, params, dots, way):
    """What the interpreter's passes give, in a way, for directions; without zeros for None."""
    out, nodes = run(op, numbers, active, params)
    line, along = Linearized([out], nodes), dict(zip(nodes, dots, strict=True))
    match way:
        case "reverse":
            found = line.pull([1.0])
            return [number(found.get(node)) for node in nodes]
        case "forward":
            return [number(x) for x in line.push(along)]
        case "reverse over reverse" | "forward over reverse":
            found = Slopes(line, 1.0).product(along, way.partition(" ")[0])
            return [number(found[node]) for node in nodes]
    (dot,) = line.push_recorded(along)
    again = Linearized([dot if isinstance(dot, Tensor) else number(dot)], nodes)
    if way == "forward over forward":
        return [number(x) for x in again.push(along)]
    found = again.pull([1.0])
    return [number(found.get(node)) for node in nodes]


WAYS = (
    *("reverse", "forward", "reverse over reverse", "forward over reverse"),
    *("reverse over forward", "forward over forward"),
)


def compiled(program, wrt, way):
    """A typed program of a derivative, what its further inputs are, and where its results begin:
    1.0 is a cotangent, None a direction.
    """
    if way == "reverse":
        return certain(adjoint(program, wrt)), (1.0,), 1
    if way == "forward":
        return certain(tangent(program, wrt)), (None,), 1
    second, first = way.split(" over ")
    if first == "reverse":
        made, given = certain(adjoint(program, wrt, again=wrt)), (1.0,)
    else:
        made, given = certain(tangent(program, wrt, again=wrt)), (None,)
    count = len(made.block.results)
    if second == "forward":
        return tangent(made, wrt).program, (*given, None), count + 1
    places = tuple(range(1, count))
    weights = ("each",) if first == "reverse" else (1.0,)
    return adjoint(made, wrt, (places,)).program, (*given, *weights), count


def left_or(program, inputs):
    """What a program gives, None where it leaves: where a derivative is nan, or an exponent 0."""
    try:
        return evaluate(program, inputs)
    except Left as error:
        if error.reason not in {"a derivative is nan", "a derivative is special at a number"}:
            raise
    return None


def bits(numbers):
    return ["nan" if math.isnan(x) else x.hex() for x in numbers]


@pytest.mark.parametrize("name", SCALARS)
def test_rules(name):
    op = ops[name]
    cases = {}
    for numbers, params in points(op):
        cases.setdefault(repr(params), (params, []))[1].append(numbers)
    for params, given in cases.values():
        floats = [i for i, x in enumerate(given[0]) if type(x) is float]
        program = typed(op, [type(x).__name__ for x in given[0]], params)
        for active in itertools.chain.from_iterable(
            itertools.combinations(floats, k) for k in range(1, len(floats) + 1)
        ):
            wrt = [program.inputs[i] for i in active]
            dots = (0.75, -1.25, 2.5)[: len(active)]
            for way in WAYS:
                made, further, first = compiled(program, wrt, way)
                more = [y for x in further for y in (dots if x in (None, "each") else (x,))]
                for numbers in given:
                    found = left_or(made, (*numbers, *more))
                    if found is None:
                        continue
                    want = interpreted(op, numbers, active, params, dots, way)
                    assert bits(found[first:]) == bits(want), (numbers, params, active, way)
