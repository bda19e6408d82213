"""Forward mode through a rule of the program's own that has only reverse mode.

The product of the transposed Jacobian with a cotangent is linear in the cotangent. Its adjoint is
the product of the Jacobian with a tangent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.differentiate.differentials import NOTHING, Delta, Deltas
from gradcli.engine.compile.differentiate.rules import Place, possible, written
from gradcli.engine.compile.passes.activity import Flow
from gradcli.engine.compile.symbols import operand
from gradcli.engine.compile.typed import Block, Leave, NotCompilable, Operand, Program, Ruled, Value
from gradcli.engine.ops.catalog import ops


def transposed(
    i: Ruled, dots: Sequence[Operand | None], place: Place
) -> Iterator[tuple[Value, Delta]]:
    """Yield each target with its tangent, from those of the arguments (None for zero)."""
    rule, deltas = i.rule, Deltas(place.builder)
    pull = possible(rule.pull)
    gs = pull.inputs[: len(i.targets)]
    ones = [1.0] * len(gs)
    places = [k for k, a in enumerate(rule.given) if dots[a] is not None]
    _hold_whole(i, pull, places, ones, place)
    seeds = [dot for a in rule.given if (dot := dots[a]) is not None]
    again = [v for v in pull.inputs if v.type == "float"]
    found = adjoint(pull, gs, (tuple(places),), again)
    start = len(pull.block.results)
    block = found.program.block
    results = (*block.results[start:], *found.absent)
    program = Program(found.program.inputs, Block(block.body, results), ())
    numbers = written(i, program, ones, place, seeds)
    for t, value, absent in zip(i.targets, numbers, numbers[len(gs) :], strict=False):
        if absent is not True:
            yield t, Delta(deltas.unless(absent, NOTHING, value), absent, 1)


def _hold_whole(
    i: Ruled, pull: Program, places: Sequence[int], ones: Sequence[Operand], place: Place
) -> None:
    """Bail out if a nonzero cotangent does not depend on the cotangents that it comes from."""
    moving = Flow(pull).moving(pull.inputs)
    cut = [pull.block.results[k] for k in places if pull.block.results[k] not in moving]
    if any(not isinstance(c, Value) and c != 0 for c in cut):
        raise NotCompilable("a rule cuts its gradient", i.span)
    values = tuple([c for c in cut if isinstance(c, Value)])
    if values:
        block = Block(pull.block.body, values)
        for c in written(i, Program(pull.inputs, block, ()), ones, place):
            known = place.builder.known
            when = operand(ops.ne(known(c), 0.0))
            place.builder.add(Leave(i.span, when, "a rule cuts its gradient"))
