"""Work and memory of checking programs of many statements."""

import gc

import pytest

from gradcli.engine.static import check as static_check
from gradcli.engine.static import inference
from gradcli.engine.static.elaborate import elaborate
from gradcli.engine.static.facts import fact
from gradcli.engine.static.rehearsal import MOST_REHEARSED
from gradcli.engine.static.value import number
from gradcli.grammar.meaning import names
from gradcli.program import check_source, load
from gradcli.source import Source

MIXED = (
    "y = y * x",
    "y = y + 1.5",
    "n = n + 1",
    "t = sin(t) * y",
    "t = t @ ones(3, 3)",
    "s = t.sum() / 2",
)


def _mixed(count):
    return _program(MIXED[k % len(MIXED)] for k in range(count))


def _program(lines):
    head = ("input x: float", "y = x", "n = 1", "t = ones(3) * x", "s = y")
    return "\n".join((*head, *lines, "s + y + n")) + "\n"


def _codes(lines):
    found = check_source(Source("p.grad", _program(lines)), {}).findings
    return [finding.code for finding in found]


@pytest.fixture
def counted(monkeypatch):
    """A function that counts the calls of a function of a module."""

    def count(module, name):
        calls = []
        before = getattr(module, name)

        def called(*args, **named):
            calls.append(args)
            return before(*args, **named)

        monkeypatch.setattr(module, name, called)
        return calls

    return count


def test_a_large_program_is_checked_without_garbage_collection():
    """Its trees and facts have few cycles; looking through them took a quarter of the time."""
    text = "input x = 1.0\n" + "".join(f"y{k % 9} = x * {k}.5 + 1\n" for k in range(4_000)) + "y1\n"
    seen = []
    before = gc.get_threshold()

    def count(phase, info):
        seen.append(phase)

    gc.callbacks.append(count)
    gc.set_threshold(700, 10, 10)
    try:
        load(text).check()
        parted = len(seen)
        check_source(Source("p.grad", text), {})
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(count)
    assert parted < 40  # 250 without
    assert len(seen) - parted <= 4


def test_numbers_share_what_is_alike():
    assert number("float64").memory is number("int64").memory
    one = number("float64")
    assert fact(one) is fact(one)


def test_operands_of_equal_facts_are_inferred_once(counted):
    """Only what differs in a fact is inferred again: here `n`, a known number."""
    calls = counted(inference, "inferred")
    assert check_source(Source("p.grad", _mixed(60)), {}).findings
    few = len(calls)
    check_source(Source("p.grad", _mixed(660)), {})
    assert len(calls) - few <= few + 100  # of `n`; 600 with the others


def test_a_walk_visits_common_statements_by_the_short_way(counted):
    """A generator for each node took half of the time of the checks of names."""
    parts = counted(names, "_parts")
    check_source(Source("p.grad", _program(["y = exp(y) * x + 1.5"] * 300)), {})
    assert len(parts) < 60  # of the declaration, the module and the other lines


def test_facts_are_noted_as_far_as_they_are_read(counted):
    calls = counted(static_check, "rehearsed")
    check_source(Source("p.grad", _mixed(2 * MOST_REHEARSED)), {})
    ((program, _, _, facts),) = calls
    noted = sum(1 for _ in facts)
    assert len(program.main.body) > 2 * MOST_REHEARSED >= noted >= MOST_REHEARSED
    assert sum(1 for _ in elaborate(program, program.source, {}, [], [], None).facts) > 2 * noted


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("0.0 + 0.0", "float64 = 0.0"),
        ("-0.0 + -0.0", "float64 = -0.0"),
        ("1.0 * 1", "float64 = 1.0"),
        ("1 * 1", "int64 = 1"),
        ("True | True", "bool = True"),
        ("1 | 1", "int64 = 1"),
    ],
)
def test_constants_that_are_equal_are_not_taken_for_each_other(line, known):
    others = ("0.0 + 0.0", "-0.0 + -0.0", "1 * 1", "1.0 * 1", "True | True", "1 | 1")
    text = "".join(f"y = {other}\n" for other in (*others, line, "2 * 3"))
    listed = load(f"{text}y\n").listing().splitlines()
    (found,) = [part for part in listed if f"# {len(others) + 1}:" in part]
    assert found.endswith(known)


def test_findings_are_told_at_each_place():
    assert _codes(["s = y == 1.5"] * 3).count("float-equality") == 3
    flat = _codes([f"s = s + floor(y * {k} + 1)" for k in range(3)])
    assert flat.count("flat-operation") == 3
    assert _codes(["s = t + ones(4)"] * 3).count("shape-mismatch") == 3


def test_a_change_of_one_tensor_leaves_those_of_equal_facts():
    lines = ("u = t * 2", "v = t * 2", "u.detach_()", "s = floor(v).sum()")
    assert _codes(lines).count("flat-operation") == 1
    lines = ("u = t * 2", "v = t * 2", "u.detach_()", "s = floor(u).sum()")
    assert _codes(lines).count("flat-operation") == 0
