"""Loops as people write them: most of them compile, and code gives the interpreter's bits."""

from support.programs.natural_loops import ON_PRINCIPLE, natural, outcome

SAMPLE = [natural(seed) for seed in range(0, 500, 12)]
COMPILED = 0.9
"""The least part that compiles, of the programs that are not refused on principle."""


def test_most_natural_loops_compile_and_have_the_bits_of_a_run():
    reasons = {}
    for one in SAMPLE:
        found = outcome(one)
        assert not found.differing, found.differing
        if found.reason and one.kind not in ON_PRINCIPLE:
            reasons[one.text] = found.reason
    others = [one for one in SAMPLE if one.kind not in ON_PRINCIPLE]
    assert len(reasons) <= (1 - COMPILED) * len(others), reasons
