"""What `elaborate` knows of a program, held against what its runs do, instruction by instruction."""

from __future__ import annotations

from contextlib import suppress
from unittest import mock

import numpy as np
import pytest
from generated_programs import written
from sample_programs import SAMPLES

from gradcli import ir
from gradcli.engine.run import execute
from gradcli.engine.run.execute import Executable
from gradcli.engine.run.inputs import Given
from gradcli.engine.run.session import Session
from gradcli.engine.static.elaborate import elaborate
from gradcli.engine.static.value import UNSURE
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.engine.values.data import NUMBERS, dtype_of, shape_of
from gradcli.errors import GradError
from gradcli.ir import visit
from gradcli.program import load_source
from gradcli.source import Source

KINDS = {str: "text", type(None): "none", list: "list", range: "range", slice: "slice"}


def kind(value):
    """The kind of a value of a run, None where the test does not tell."""
    if type(value) in NUMBERS or isinstance(value, Number):
        return "number"
    if isinstance(value, Tensor):
        return "tensor"
    if isinstance(value, tuple):
        return "tuple"
    return KINDS.get(type(value), "function" if callable(value) else None)


def observed(program):
    """The program with a `Watch` of what an instruction takes before it and of what it gives behind
    it, and the instructions.
    """
    watched = list(visit.everything(program))
    number = {id(i): n for n, i in enumerate(watched)}
    for function in list(visit.all_functions(program.main)):
        bodies = [function.body]
        while bodies:
            body = bodies.pop()
            made = []
            for i in body:
                n = number.get(id(i))
                if n is None:  # one of a loop's target, put there below
                    made.append(i)
                    continue
                own = {slot.index for slot in visit.reads(i)}.intersection(function.locals)
                if not isinstance(i, ir.While | ir.Define | ir.DefineRule | ir.Input):
                    made += [ir.Watch(i.span, slot, f"<{n}") for slot in sorted(own)]
                behind = [ir.Watch(i.span, slot, f">{n}") for slot in visit.writes(i)]
                bodies += visit.blocks(i)
                made.append(i)
                if isinstance(i, ir.For):
                    i.body[:0] = behind
                else:
                    made += behind
            body[:] = made
    return watched


def array(value):
    data = value.data if isinstance(value, Tensor) else None
    return data if isinstance(data, np.ndarray) else None


def elaborated(program, given=None):
    values = {n: Given(v, n) for n, v in (given or {}).items()}
    return elaborate(program, program.source, values, [], program.result)


def checked(text, given=None):
    """Hold what is known of a program against one run of it; how many values were seen."""
    source = Source("p", text)
    values = {n: Given(v, n) for n, v in (given or {}).items()}
    program = lowered(source, frozenset(values))
    facts = elaborated(program, given).facts
    instructions = observed(program)
    seen = []
    taken = {}

    def watch(session, name, value):
        n = int(name[1:])
        if name[0] == "<":
            taken[n] = [*taken.get(n, ()), value][-8:]
            return value
        seen.append((n, value))
        i, known = instructions[n], facts.of(instructions[n])
        where = (
            f"{text}\nline {source.position(i.span.start)[0]}: {type(i).__name__} gave {value!r}"
        )
        assert known is not None, f"{where}\nand is taken for never reached"
        assert any(fits(value, fact) for fact in known.targets), f"{where}\nnot {known.targets}"
        met = array(value)
        for other in taken.pop(n, ()):
            if met is None or array(other) is None or not np.shares_memory(met, array(other)):
                continue
            assert any(may_share(a, b) for a in known.operands for b in known.targets), (
                f"{where}\non the memory of an operand {other!r}, not {known}"
            )
        return value

    names = {
        "@watch": lambda session, name, value: (
            watch(session, name, value) if name[0] in "<>" else value
        )
    }
    with suppress(GradError), mock.patch.dict(execute._PROVIDED, names):
        Executable(program).run(Session(seed=0), values)  # up to where it fails it holds
    return seen, facts


def may_share(a, b):
    """Whether two facts allow that the values lie on one memory."""
    if a.items is not None:
        return any(may_share(item, b) for item in a.items)
    return a.memory is None or b.memory is None or not a.memory.isdisjoint(b.memory)


def fits(value, fact):
    """Whether a value of a run is one of those that a fact allows."""
    found = kind(value)
    if found is not None and fact.kind not in (None, found):
        return False
    data = value.data if isinstance(value, Tensor) else value
    if found in ("number", "tensor"):
        if fact.shape not in (None, tuple(shape_of(data))):
            return False
        if fact.dtype not in (None, dtype_of(data)):
            return False
    told = found in ("number", "text", "none", "range", "slice") and fact.constant is not UNSURE
    if told and repr(fact.constant) != repr(data):
        return False
    if fact.items is not None and found in ("list", "tuple"):
        return len(fact.items) == len(value) and all(map(fits, value, fact.items))
    return True


def lowered(source, given):
    return load_source(source, given)._loaded.program


def tells(fact, operands):
    """Whether all is known of a result; its kind only where those of the operands are."""
    told = None not in (fact.dtype, fact.shape, fact.memory)
    return told and (fact.kind is not None or not all(o.kind for o in operands))


QUICK = [p for p in SAMPLES if p.stem not in ("two_layer", "descent", "two_bodies", "doubling")]


@pytest.mark.parametrize("path", QUICK, ids=lambda p: p.stem)
def test_what_is_known_of_a_sample_is_so(path):
    seen, _ = checked(path.read_text("utf-8"))
    assert seen


@pytest.mark.parametrize("seed", range(100))
def test_what_is_known_of_a_generated_program_is_so(seed):
    text, given = written(seed)
    seen, facts = checked(text, given)
    assert seen
    unknown = [
        (type(i).__name__, text[i.span.start : i.span.end], known)
        for i, known in facts
        if isinstance(i, ir.Operator | ir.Apply | ir.Augment)
        and not all(tells(f, known.operands) for f in known.targets)
    ]
    assert not unknown, f"{text}\n{unknown[:3]}"
