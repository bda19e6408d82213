"""What is done to typed programs last."""

from __future__ import annotations

import math

import pytest

from gradcli.engine.compile.control import Control
from gradcli.engine.compile.passes.finalize import final
from gradcli.engine.compile.python import code as python
from gradcli.engine.compile.text import text
from gradcli.engine.compile.typed import Block, Do, Leave, Operand, Program, Value
from gradcli.source import Span

HERE = Span(0, 0)
X, SEED = Value(0, "float"), Value(1, "float")
EDGES = (0.0, -0.0, 1.5, -2.0, 5e-324, 1e308, math.inf, -math.inf)


def _program(op: str, args: tuple[Operand, ...], *, asked: bool = False) -> Program:
    made, lost = Value(2, "float"), Value(3, "bool")
    body: list[Do | Leave] = [Do(HERE, made, op, args, ())]
    if asked:
        body += [Do(HERE, lost, "isnan", (made,), ()), Leave(HERE, lost, "it is nan")]
    return Program((X, SEED), Block(tuple(body), (made,)), ())


@pytest.mark.parametrize(
    ("op", "seed", "is_left_out"),
    [
        *[("mul", 1.0, True), ("mul", -1.0, False), ("mul", 0.0, False)],
        *[("add", -0.0, True), ("add", 0.0, False), ("sub", -0.0, False)],
    ],
)
@pytest.mark.parametrize("args", [(X, SEED), (SEED, X)])
def test_only_what_changes_no_bit_is_left_out(
    op: str, seed: float, is_left_out: bool, args: tuple[Operand, ...]
) -> None:
    before = _program(op, args)
    after = final(before, [seed])
    assert after.inputs == (X,)
    assert bool(after.block.body) is not is_left_out, text(after)
    for x in EDGES:
        (one,) = python.Code(before).call([x, seed], Control())
        (other,) = python.Code(after).call([x], Control())
        assert repr(one) == repr(other), (op, seed, x)


def test_seeds_that_each_request_has_stay_inputs() -> None:
    before = _program("mul", (X, SEED))
    assert final(before, [None]) == before


def test_a_result_is_not_asked_whether_it_is_nan() -> None:
    after = final(_program("mul", (X, SEED), asked=True), [None])
    assert [i.op for i in after.block.body if isinstance(i, Do)] == ["mul"]
    assert not any(isinstance(i, Leave) for i in after.block.body)
    inner = _program("mul", (X, SEED), asked=True)
    hidden = Program(inner.inputs, Block(inner.block.body, (1.0,)), ())
    assert final(hidden, [None]) == hidden, "what is no result is asked"
